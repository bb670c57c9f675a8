// An n-gram model in arrays, which may be those of a mapped file, for other kernels to use.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "language/ngrams/ngram_trie.h"
#include "text/word_table.h"

namespace wellput {

struct LevelView {
    const std::uint32_t *words, *begins;
    const float *log_probs, *backoffs;
    std::size_t size;
};

// Keeps the arrays alive: make and drop it with the GIL held, use it without. The lengths of the
// arrays are checked at once. The numbers in them may come from a damaged file that is too large to
// read through, so they are checked where they are used.
class NgramView {
public:
    // (offsets, text, slots) and [(words, begins, log_probs, backoffs), ...].
    NgramView(nanobind::handle vocabulary, nanobind::handle levels) {
        const auto offsets = hold<std::uint64_t>(vocabulary[0]);
        const auto text = hold<std::uint8_t>(vocabulary[1]);
        const auto slots = hold<std::uint32_t>(vocabulary[2]);
        require(offsets.second > FIRST_PLAIN_WORD, "an n-gram model without the special words");
        require(slots.second > 0 && (slots.second & (slots.second - 1)) == 0,
                "the number of slots of a vocabulary is not a power of two");
        words_ = {offsets.first, offsets.second - 1, reinterpret_cast<const char*>(text.first),
                  text.second,   slots.first,        slots.second - 1};
        for (nanobind::handle level : levels) add_level(level);
        require(!levels_.empty(), "an n-gram model without n-grams");
    }

    const WordView& words() const { return words_; }
    const std::vector<LevelView>& levels() const { return levels_; }
    std::size_t order() const { return levels_.size(); }

    // The n-gram of `word` and the `length` words of `node`; NO_NODE if the model does not have it.
    std::uint32_t longer(std::size_t length, std::uint32_t node, std::uint32_t word) const {
        const auto& level = levels_[length - 1];
        const std::uint32_t begin = level.begins[node], end = level.begins[node + 1];
        if (begin > end || end > levels_[length].size) return NO_NODE;
        return child_with(levels_[length].words, begin, end, word);
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
        // The n-gram found has length - 1 words of context. Each longer context that the model has
        // adds its back-off weight.
        std::uint32_t context = n ? before[0] : NO_NODE;
        for (std::size_t size = 1; size <= n && context != NO_NODE; ++size) {
            if (size >= length) result += levels_[size - 1].backoffs[context];
            context = size < n ? longer(size, context, before[size]) : NO_NODE;
        }
        return result >= -MAX_LOG_PROB_SIZE && result <= MAX_LOG_PROB_SIZE ? result
                                                                           : -MAX_LOG_PROB_SIZE;
    }

private:
    // No logarithm of a probability is as large; in a damaged file there may be larger ones, or
    // NaN.
    static constexpr double MAX_LOG_PROB_SIZE = 1e6;

    // Each level but the last has begins and back-off weights, each but the first has words.
    void add_level(nanobind::handle level) {
        const auto words = hold<std::uint32_t>(level[0]);
        const auto begins = hold<std::uint32_t>(level[1]);
        const auto log_probs = hold<float>(level[2]);
        const auto backoffs = hold<float>(level[3]);
        const std::size_t size = log_probs.second;
        if (levels_.empty()) {
            require(size == words_.n_words, "unigrams and words differ in number");
        } else {
            require(words.second == size, "n-grams and their words differ in number");
            require(n_begins_ == levels_.back().size + 1 && n_backoffs_ == levels_.back().size,
                    "the levels of an n-gram model do not fit together");
        }
        n_begins_ = begins.second;
        n_backoffs_ = backoffs.second;
        levels_.push_back({words.first, begins.first, log_probs.first, backoffs.first, size});
    }

    template <typename T>
    std::pair<const T*, std::size_t> hold(nanobind::handle object) {
        auto array = nanobind::cast<Array<T>>(object);
        // The converted array: another object than `object` if its numbers had another type.
        arrays_.emplace_back(array.handle());
        return {array.data(), array.shape(0)};
    }

    std::vector<nanobind::ndarray<>> arrays_;
    WordView words_;
    std::vector<LevelView> levels_;
    std::size_t n_begins_ = 0, n_backoffs_ = 0;  // of the last level
};

}  // namespace wellput
