// The probabilities of the head-driven model; docs/language/head-driven-parser.md has the formula.
//
// Words come from left to right: a head's left modifiers from the outermost in, its own word, its
// right modifiers from the innermost out. So the left side depends on the head's tag only, the
// right side also on its word, and every word on the words before it.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace wellput {

// Distributions that back off, in hash tables (backoff_tables.py makes them and has the formula). A
// family is a kind of distribution. Its contexts have levels: 0 is the longest context, and those of
// further levels are shorter. An event is an outcome in a context.

// Adds a number to a hash.
inline std::uint64_t mixed(std::uint64_t key, std::uint64_t value) {
    key = (key ^ (value + 1)) * 0x9E3779B97F4A7C15ull;
    return key ^ (key >> 32);
}

// Values by the upper 32 bits of a key: 16 of them choose a bucket, 16 are compared. Bucket b has the
// entries from starts[b] to before starts[b + 1].
template <typename Value>
struct BackoffTable {
    const std::uint32_t* starts = nullptr;
    const std::uint16_t* keys = nullptr;
    const Value* values = nullptr;

    // The place of the key's value, or null.
    const Value* find(std::uint64_t key) const {
        const std::size_t bucket = key >> 48;
        const auto low = static_cast<std::uint16_t>(key >> 32);
        for (std::uint32_t at = starts[bucket]; at < starts[bucket + 1]; ++at)
            if (keys[at] == low) return values + at;
        return nullptr;
    }
};

struct BackoffTables {
    static constexpr double EVENT_STEPS = 16, WEIGHT_STEPS = 4096;
    static constexpr std::size_t WEIGHT_STEPS_PER_EVENT_STEP = 256;
    // The shares of events, each stored as a number of steps: exp(-steps / EVENT_STEPS); and the
    // weights that contexts give to the next shorter context: exp(-steps / WEIGHT_STEPS).
    BackoffTable<std::uint8_t> events;
    BackoffTable<std::uint16_t> contexts;
    // The weights of contexts whose outcomes are listed. The context at place i of this table has the
    // `outcomes` from begins[i] to before begins[i + 1], and `steps` are their shares.
    BackoffTable<std::uint16_t> lists;
    const std::uint32_t* begins = nullptr;
    const std::uint16_t* outcomes = nullptr;
    const std::uint8_t* steps = nullptr;
    std::array<double, 256> shares;  // by number of steps

    BackoffTables() {
        for (std::size_t step = 0; step < shares.size(); ++step)
            shares[step] = std::exp(-static_cast<double>(step) / EVENT_STEPS);
        for (std::size_t step = 0; step < WEIGHT_STEPS_PER_EVENT_STEP; ++step)
            fine_weights_[step] = std::exp(-static_cast<double>(step) / WEIGHT_STEPS);
    }

    double weight(std::uint16_t steps) const {
        static_assert(WEIGHT_STEPS == EVENT_STEPS * WEIGHT_STEPS_PER_EVENT_STEP);
        return shares[steps / WEIGHT_STEPS_PER_EVENT_STEP] *
               fine_weights_[steps % WEIGHT_STEPS_PER_EVENT_STEP];
    }

private:
    std::array<double, WEIGHT_STEPS_PER_EVENT_STEP> fine_weights_;
};

template <typename... Ids>
std::uint64_t context_key(std::uint64_t family, std::uint64_t level, Ids... ids) {
    std::uint64_t key = mixed(mixed(0, family), level);
    ((key = mixed(key, static_cast<std::uint64_t>(ids))), ...);
    return key;
}

// The contexts of one distribution, the shortest first; built once, used for many outcomes.
class BackoffChain {
public:
    static constexpr std::size_t MAX_LEVELS = 8;

    BackoffChain(const BackoffTables& tables, std::uint64_t family)
        : tables_(&tables), family_(family) {}

    // Adds the next longer context, unless it was never seen.
    template <typename... Ids>
    void add(std::uint64_t level, Ids... ids) {
        const std::uint64_t key = context_key(family_, level, ids...);
        const std::uint16_t* steps = tables_->contexts.find(key);
        if (!steps) return;
        keys_[size_] = key;
        weights_[size_++] = tables_->weight(*steps);
    }

    // The probability of an outcome; `p` is its probability without any of these contexts.
    double probability(std::uint64_t outcome, double p) const {
        for (std::size_t level = 0; level < size_; ++level) {
            p *= weights_[level];
            if (const std::uint8_t* steps = tables_->events.find(mixed(keys_[level], outcome)))
                p += tables_->shares[*steps];
        }
        return p;
    }

private:
    const BackoffTables* tables_;
    std::uint64_t family_;
    std::array<std::uint64_t, MAX_LEVELS> keys_{};
    std::array<double, MAX_LEVELS> weights_{};
    std::size_t size_ = 0;
};

// What the families give: the next tag on the left or right side of a head; the tag of a root; a word,
// given the words before it, or given its head; the next tag on a side, given the word before it.
enum Family : std::uint64_t { LEFT, RIGHT, ROOT, NEXT_WORD, HEAD_WORD, LEFT_AFTER, RIGHT_AFTER };

constexpr std::size_t DISTANCE_CLASSES = 4;

// How far a head's right side reaches: nothing, up to 2 words, up to 6, more.
inline std::size_t distance_class(std::size_t words) {
    return words == 0 ? 0 : words <= 2 ? 1 : words <= 6 ? 2 : 3;
}

struct HeadDrivenModel {
    BackoffTables tables;
    std::size_t n_tags = 0, n_classes = 0, n_words = 0;
    // By tag: two coarser tags, and the class of a modifier with this tag. What comes next depends on
    // the class of a head's last modifier; n_classes stands for no modifier yet.
    const std::int32_t *coarse = nullptr, *coarsest = nullptr, *classes = nullptr;
    const float* unigrams = nullptr;  // natural logarithms, by word
    // The shares of HEAD_WORD in a word's probability, and of LEFT_AFTER or RIGHT_AFTER in a tag's.
    double head_share = 0, after_share = 0;
    double log_continue = 0, log_end = 0;  // of one more fragment, and of no more
    std::uint32_t sentence_start = 0;      // stands for the words before the first one

    // The outcome that ends a side.
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

    // A word's probability given also the two words before it.
    double next_word(std::uint32_t word, std::size_t tag, std::uint32_t before,
                     std::uint32_t before_that, double plain) const {
        BackoffChain chain(tables, NEXT_WORD);
        chain.add(1, tag, before);
        chain.add(0, tag, before, before_that);
        return chain.probability(word, plain);
    }

    // A word's probability given its tag and its head, which stands on the left: the context with the
    // head's word, and the probability by the head's tag, to which it backs off.
    BackoffChain under_head(std::size_t tag, std::uint32_t head) const {
        BackoffChain chain(tables, HEAD_WORD);
        chain.add(0, tag, head);
        return chain;
    }
    double under_head_tag(std::uint32_t word, std::size_t tag, std::size_t head_tag,
                          double plain) const {
        BackoffChain chain(tables, HEAD_WORD);
        chain.add(1, tag, coarse[head_tag]);
        return chain.probability(word, plain);
    }

    // In the next functions `last` is the class of the last modifier on the side.

    // The context that adds the head's word to its tag, for its right side.
    std::uint64_t lexical_right(std::size_t tag, std::uint32_t word, std::size_t last) const {
        return context_key(RIGHT, 0, tag, word, last);
    }

    // The context that adds the last word to the head, for what comes next on a side.
    std::uint64_t after_word(Family family, std::size_t tag, std::uint32_t word) const {
        return context_key(family, 0, coarsest[tag], word);
    }

    // The contexts of a side without words: the empty one, the one with the head's coarsest tag, then
    // the two longer ones.
    std::uint64_t empty_context(Family side) const {
        return context_key(side, side == LEFT ? 3 : 4);
    }
    std::uint64_t coarsest_context(Family side, std::size_t tag, std::size_t last) const {
        return context_key(side, side == LEFT ? 2 : 3, coarsest[tag], last);
    }
    std::array<std::uint64_t, 2> left_contexts(std::size_t tag, std::size_t last) const {
        return {context_key(LEFT, 1, coarse[tag], last), context_key(LEFT, 0, tag, last)};
    }
    std::array<std::uint64_t, 2> right_contexts(std::size_t tag, std::size_t last,
                                                std::size_t distance) const {
        return {context_key(RIGHT, 2, coarse[tag], last, distance),
                context_key(RIGHT, 1, tag, last, distance)};
    }
};

}  // namespace wellput
