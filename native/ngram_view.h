// An n-gram model that lies in arrays, perhaps those of a mapped file, for kernels to ask.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "arrays.h"
#include "ngram_trie.h"
#include "word_table.h"

namespace wellput {

struct LevelView {
    const std::uint32_t *words, *begins;
    const float *log_probs, *backoffs;
    std::size_t size;
};

// Holds the arrays alive; making and dropping it needs the GIL, asking it does not.
class NgramView {
public:
    // (offsets, text, slots) and [(words, begins, log_probs, backoffs), ...].
    NgramView(nanobind::handle vocabulary, nanobind::handle levels) {
        const auto offsets = hold<std::uint64_t>(vocabulary[0]);
        const auto slots = hold<std::uint32_t>(vocabulary[2]);
        words_ = {offsets.first,
                  reinterpret_cast<const char*>(hold<std::uint8_t>(vocabulary[1]).first),
                  slots.first, slots.second - 1};
        for (nanobind::handle level : levels) {
            const auto log_probs = hold<float>(level[2]);
            levels_.push_back({hold<std::uint32_t>(level[0]).first,
                               hold<std::uint32_t>(level[1]).first, log_probs.first,
                               hold<float>(level[3]).first, log_probs.second});
        }
    }

    const WordView& words() const { return words_; }
    const std::vector<LevelView>& levels() const { return levels_; }
    std::size_t order() const { return levels_.size(); }

    // The n-gram one word longer to the left than `node`, which has `length` words.
    std::uint32_t longer(std::size_t length, std::uint32_t node, std::uint32_t word) const {
        const auto& level = levels_[length - 1];
        return child_with(levels_[length].words, level.begins[node], level.begins[node + 1], word);
    }

    // log10 of the probability of `word` after `n` words, the nearest first; n < order.
    double log_prob(std::uint32_t word, const std::uint32_t* before, std::size_t n) const {
        std::uint32_t node = word;
        std::size_t length = 1;
        for (; length <= n; ++length) {
            const std::uint32_t next = longer(length, node, before[length - 1]);
            if (next == NO_NODE) break;
            node = next;
        }
        double result = levels_[length - 1].log_probs[node];
        // What was not found is paid for by the back-off weights of the contexts that were tried.
        std::uint32_t context = n ? before[0] : NO_NODE;
        for (std::size_t size = 1; size <= n && context != NO_NODE; ++size) {
            if (size >= length) result += levels_[size - 1].backoffs[context];
            context = size < n ? longer(size, context, before[size]) : NO_NODE;
        }
        return result;
    }

private:
    template <typename T>
    std::pair<const T*, std::size_t> hold(nanobind::handle object) {
        auto array = nanobind::cast<Array<T>>(object);
        arrays_.push_back(nanobind::borrow(object));
        return {array.data(), array.shape(0)};
    }

    std::vector<nanobind::object> arrays_;
    WordView words_;
    std::vector<LevelView> levels_;
};

}  // namespace wellput
