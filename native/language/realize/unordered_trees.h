// Dependency trees whose words have no order. The order of a word's daughters follows from what
// they and all below them are, so nothing computed from a tree depends on the numbering of its
// words. Only words that are equal in every way, with all below them, can change places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/checks.h"
#include "language/learning/feature_keys.h"

namespace wellput {

class UnorderedTree {
public:
    // `heads` are as in CoNLL-U: the mother's number, counted from 1, and 0 at the root. The caller
    // has checked that they make a tree. `looks` has a number for each word's own properties.
    void assign(std::span<const std::int32_t> heads, std::span<const std::uint64_t> looks) {
        const std::size_t n = heads.size();
        heads_ = heads;
        begins_.assign(n + 2, 0);
        for (const std::int32_t head : heads) ++begins_[static_cast<std::size_t>(head) + 1];
        for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
        daughters_.resize(n);
        filled_.assign(begins_.begin(), begins_.end());
        for (std::size_t i = 0; i < n; ++i)
            daughters_[filled_[static_cast<std::size_t>(heads[i])]++] =
                static_cast<std::uint32_t>(i);
        walk();
        sort_daughters(looks);
        walk();
    }
    std::size_t size() const { return heads_.size(); }
    std::uint32_t root() const { return daughters_[0]; }
    // The mother's index; of the root its own.
    std::uint32_t mother(std::uint32_t word) const {
        return heads_[word] ? static_cast<std::uint32_t>(heads_[word] - 1) : word;
    }
    std::span<const std::uint32_t> daughters(std::uint32_t word) const {
        return {daughters_.data() + begins_[word + 1], begins_[word + 2] - begins_[word + 1]};
    }
    // Mothers before their daughters; backwards, daughters before their mothers.
    const std::vector<std::uint32_t>& downwards() const { return downwards_; }

private:
    void walk() {
        downwards_.assign(1, root());
        for (std::size_t i = 0; i < downwards_.size(); ++i)
            for (const std::uint32_t daughter : daughters(downwards_[i]))
                downwards_.push_back(daughter);
    }
    void sort_daughters(std::span<const std::uint64_t> looks) {
        whole_.resize(size());
        for (auto word = downwards_.rbegin(); word != downwards_.rend(); ++word) {
            auto* begin = daughters_.data() + begins_[*word + 1];
            auto* end = daughters_.data() + begins_[*word + 2];
            std::sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
                return whole_[a] != whole_[b] ? whole_[a] < whole_[b] : a < b;
            });
            std::uint64_t hash = FeatureHash(looks[*word]).value();
            for (auto* daughter = begin; daughter != end; ++daughter)
                hash = FeatureHash(hash).add(whole_[*daughter]).value();
            whole_[*word] = hash;
        }
    }

    std::span<const std::int32_t> heads_;
    std::vector<std::uint32_t> begins_;  // by head as in `heads_`: its first place in daughters_
    std::vector<std::uint32_t> filled_, daughters_, downwards_;
    std::vector<std::uint64_t> whole_;  // what a word and all below it look like
};

}  // namespace wellput
