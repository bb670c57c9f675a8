// The probabilities of the head-driven model; docs/language/head-driven-parser.md has the formula.
//
// Words come from left to right: a head's left modifiers from the outermost in, its own word, its
// right modifiers from the innermost out. So the left side knows the head's tag alone, the right
// side its word too, and every word the words before it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backoff_table.h"

namespace wellput {

enum Family : std::uint64_t { LEFT, RIGHT, ROOT, NEXT_WORD, HEAD_WORD, LEFT_AFTER, RIGHT_AFTER };

constexpr std::size_t DISTANCES = 4;

// How far a head's right side reaches already: nothing, up to 2 words, up to 6, more.
inline std::size_t distance_class(std::size_t words) {
    return words == 0 ? 0 : words <= 2 ? 1 : words <= 6 ? 2 : 3;
}

struct HeadDrivenModel {
    BackoffTables tables;
    std::size_t n_tags = 0, n_classes = 0, n_words = 0;
    // By tag: two coarser tags, and the class that a head remembers; n_classes is none.
    const std::int32_t *coarse = nullptr, *coarsest = nullptr, *classes = nullptr;
    const float* unigrams = nullptr;  // natural logarithms, by word
    double head_share = 0, after_share = 0, log_continue = 0, log_end = 0;
    std::uint32_t sentence_start = 0;

    std::size_t stop() const { return n_tags; }

    double root(std::size_t tag) const {
        BackoffChain chain(tables, ROOT);
        chain.add(0);
        return chain.probability(tag, 1.0 / static_cast<double>(n_tags));
    }

    // A word's probability given its tag alone.
    double plain_word(std::uint32_t word, std::size_t tag) const {
        BackoffChain chain(tables, NEXT_WORD);
        chain.add(5);
        chain.add(4, coarsest[tag]);
        chain.add(3, coarse[tag]);
        chain.add(2, tag);
        return chain.probability(word, 1.0 / static_cast<double>(n_words));
    }

    // The same given the two words before it too.
    double next_word(std::uint32_t word, std::size_t tag, std::uint32_t before,
                     std::uint32_t before_that, double plain) const {
        BackoffChain chain(tables, NEXT_WORD);
        chain.add(1, tag, before);
        chain.add(0, tag, before, before_that);
        return chain.probability(word, plain);
    }

    // The same given its tag and its head, which stands to the left.
    double head_word(std::uint32_t word, std::size_t tag, std::size_t head_tag, std::uint32_t head,
                     double plain) const {
        BackoffChain chain(tables, HEAD_WORD);
        chain.add(1, tag, coarse[head_tag]);
        chain.add(0, tag, head);
        return chain.probability(word, plain);
    }

    // What a head's word says of its right side, over what its tag alone says.
    BackoffChain lexical_right(std::size_t tag, std::uint32_t word, std::size_t last) const {
        BackoffChain chain(tables, RIGHT);
        chain.add(0, tag, word, last);
        return chain;
    }

    // What the last word says of what comes next on a side, over what the head says.
    BackoffChain after_word(Family family, std::size_t tag, std::uint32_t word) const {
        BackoffChain chain(tables, family);
        chain.add(0, coarsest[tag], word);
        return chain;
    }

    // Probabilities of all outcomes (tags, then stopping) of a side without words.
    void fill_left(std::size_t tag, std::size_t last, float* row) const {
        BackoffChain chain(tables, LEFT);
        chain.add(3);
        chain.add(2, coarsest[tag], last);
        chain.add(1, coarse[tag], last);
        chain.add(0, tag, last);
        fill(chain, row);
    }
    void fill_right(std::size_t tag, std::size_t last, std::size_t distance, float* row) const {
        BackoffChain chain(tables, RIGHT);
        chain.add(4);
        chain.add(3, coarsest[tag], last);
        chain.add(2, coarse[tag], last, distance);
        chain.add(1, tag, last, distance);
        fill(chain, row);
    }

private:
    void fill(const BackoffChain& chain, float* row) const {
        const double base = 1.0 / static_cast<double>(n_tags + 1);
        for (std::size_t x = 0; x <= n_tags; ++x)
            row[x] = static_cast<float>(chain.probability(x, base));
    }
};

// Rows of probabilities that are computed when first asked for, by any thread, and kept.
class RowCache {
public:
    explicit RowCache(std::size_t rows) : rows_(rows) {}
    RowCache(const RowCache&) = delete;
    RowCache& operator=(const RowCache&) = delete;
    ~RowCache() {
        for (auto& row : rows_) delete[] row.load();
    }
    template <typename Fill>
    const float* get(std::size_t at, std::size_t size, Fill fill) {
        if (float* row = rows_[at].load(std::memory_order_acquire)) return row;
        auto fresh = std::make_unique<float[]>(size);
        fill(fresh.get());
        float* expected = nullptr;
        if (rows_[at].compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel))
            return fresh.release();
        return expected;
    }

private:
    std::vector<std::atomic<float*>> rows_;
};

}  // namespace wellput
