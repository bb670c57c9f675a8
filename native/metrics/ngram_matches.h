// Clipped n-gram matches between a hypothesis and its references, counted exactly.
//
// Texts come as symbols: 1, 2, 3, ... for tokens of the references, 0 for other tokens and for the end
// of every text. Each different n-gram of the references gets a number, order by order (n = 1, 2, ...).
// The key of an n-gram is (number of its first n - 1 symbols, last symbol), which is a place in a plain
// array unless the texts are very long. An n-gram can match only if both (n-1)-grams in it match, so
// each order looks only at the positions that still can match, in the references and in the hypothesis.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wellput {

// The numbers of the n-grams of one order, in an array. An n-gram is found by its key, (number of its
// first n - 1 symbols, last symbol): it is a child of its first n - 1 symbols. A slot with an earlier
// stamp counts as empty, so nothing needs to be cleared.
class DenseChildren {
public:
    struct Slot {
        std::uint16_t stamp = 0;
        std::uint16_t number = 0;
    };
    struct Table {
        Slot* slots;
        std::uint16_t stamp;

        Slot& at(std::size_t key) const { return slots[key]; }
    };
    static constexpr std::size_t MAX_SLOTS = 1 << 18;
    static constexpr std::size_t MAX_NUMBERS = 0xffff;

    // Begins a new order: an empty table.
    Table start(std::size_t slots) {
        if (slots_.size() < slots) slots_.resize(slots);
        if (++stamp_ == 0) {
            std::fill(slots_.begin(), slots_.end(), Slot{});
            stamp_ = 1;
        }
        return {slots_.data(), stamp_};
    }

private:
    std::vector<Slot> slots_;
    std::uint16_t stamp_ = 0;
};

// The same in a hash table, for texts so long that the array would be too large.
class HashedChildren {
public:
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t stamp = 0;
        std::uint32_t number = 0;
    };
    struct Table {
        Slot* slots;
        std::size_t mask;
        std::uint32_t stamp;

        // The slot of this key, or the empty one that it may take.
        Slot& at(std::uint64_t key) const {
            std::size_t place = (key * 0x9e3779b97f4a7c15ull >> 32) & mask;
            while (slots[place].stamp == stamp && slots[place].key != key)
                place = (place + 1) & mask;
            slots[place].key = key;
            return slots[place];
        }
    };

    // Begins a new order: an empty table, with room for this many numbers.
    Table start(std::size_t numbers) {
        std::size_t size = std::max<std::size_t>(slots_.size(), 1024);
        while (size < 2 * numbers) size *= 2;
        if (slots_.size() < size) slots_.assign(size, Slot{});
        if (++stamp_ == 0) {
            std::fill(slots_.begin(), slots_.end(), Slot{});
            stamp_ = 1;
        }
        return {slots_.data(), slots_.size() - 1, stamp_};
    }

private:
    std::vector<Slot> slots_;
    std::uint32_t stamp_ = 0;
};

class NgramMatches {
public:
    void clear() {
        references_.symbols.clear();
        hypothesis_.symbols.clear();
        ends_.clear();
    }
    // Returns room for the symbols of one more reference, at most `size` of them.
    std::uint32_t* add_reference(std::size_t size) { return references_.add(size); }
    // To be called when the symbols are written; `end` is where they end.
    void end_reference(const std::uint32_t* end) { ends_.push_back(references_.close(end)); }
    // The same for the hypothesis.
    std::uint32_t* add_hypothesis(std::size_t size) { return hypothesis_.add(size); }
    void end_hypothesis(const std::uint32_t* end) { hypothesis_.close(end); }

    // Sets matches[n - 1] for n = 1 ... orders: how many n-grams of the hypothesis occur in a
    // reference, each counted at most as often as in the reference that has it most often. Every symbol
    // is below `bound`. To be called only once after each clear(): counting changes the texts' data.
    void count(int bound, int orders, double* matches) {
        references_.start();
        hypothesis_.start();
        const auto width = static_cast<std::size_t>(bound);
        const std::size_t numbers = std::max(width, references_.symbols.size() + 1);
        if (unmatched_.size() < numbers) {
            unmatched_.resize(numbers);
            unmatched_before_.resize(numbers);
            in_reference_.resize(numbers);
        }
        std::fill(matches, matches + orders, 0.0);
        matches[0] = match_symbols(width);
        std::size_t parents = width;
        for (int n = 2; n <= orders && matches[n - 2] > 0; ++n) {
            const bool dense = parents * width <= DenseChildren::MAX_SLOTS &&
                               references_.n_live <= DenseChildren::MAX_NUMBERS;
            matches[n - 1] = dense
                                 ? match(dense_.start(parents * width), width, n, parents)
                                 : match(hashed_.start(references_.n_live + 1), width, n, parents);
        }
    }

private:
    // The texts of the references, or the hypothesis: `symbols` has a 0 after each text; `numbers` has
    // for every position the number of the n-gram that begins there, 0 if there is none or it cannot
    // match; the first `n_live` of `positions` are those where an n-gram can still match.
    struct Side {
        std::vector<std::uint32_t> symbols;
        std::vector<std::uint32_t> numbers;
        std::vector<std::uint32_t> positions;
        std::size_t n_live = 0;

        std::uint32_t* add(std::size_t size) {
            const std::size_t start = symbols.size();
            symbols.resize(start + size + 1);
            return symbols.data() + start;
        }
        std::size_t close(const std::uint32_t* end) {
            symbols.resize(static_cast<std::size_t>(end - symbols.data()) + 1);
            symbols.back() = 0;
            return symbols.size();
        }
        void start() {
            n_live = symbols.size();
            numbers.assign(symbols.begin(), symbols.end());
            numbers.push_back(0);  // every position has a next one
            if (positions.size() < n_live) positions.resize(2 * n_live);
            for (std::size_t i = 0; i < n_live; ++i) positions[i] = static_cast<std::uint32_t>(i);
        }
    };

    // The matches of order 1, where a symbol is its own number.
    double match_symbols(std::size_t width) {
        std::fill_n(unmatched_.begin(), width, 0u);
        std::size_t i = 0;
        for (std::size_t text = 0; text < ends_.size(); ++text) {
            if (text) std::fill_n(in_reference_.begin(), width, 0u);
            for (; i < ends_[text]; ++i) {
                const std::uint32_t number = references_.symbols[i];
                unmatched_[number] = text ? std::max(unmatched_[number], ++in_reference_[number])
                                          : unmatched_[number] + 1;
            }
        }
        unmatched_[0] = 0;
        std::size_t matched = 0;
        for (const std::uint32_t number : hypothesis_.symbols)
            matched += take(unmatched_[number], number != 0);
        return static_cast<double>(matched);
    }

    // The matches of order n > 1. `parents` is one more than the greatest number of an (n-1)-gram, and
    // afterwards of an n-gram.
    template <typename Table>
    double match(Table table, std::size_t width, int n, std::size_t& parents) {
        unmatched_.swap(unmatched_before_);
        std::uint32_t last = 0;
        std::size_t from = 0;
        std::size_t kept = 0;
        for (std::size_t text = 0; text < ends_.size(); ++text) {
            const std::size_t start = kept;
            kept = keep_live(references_, from, ends_[text], start);
            from = ends_[text];
            ends_[text] = kept;
            if (text == 0) {
                number_reference<true>(table, width, n, start, kept, last);
            } else {
                std::fill_n(in_reference_.begin(), last + 1, 0u);
                number_reference<false>(table, width, n, start, kept, last);
            }
        }
        references_.n_live = kept;
        parents = last + std::size_t{1};
        hypothesis_.n_live = keep_live(hypothesis_, 0, hypothesis_.n_live, 0);
        return match_hypothesis(table, width, n);
    }

    // The loops below use arithmetic instead of branches, because the processor cannot predict whether
    // an n-gram is new, is known or may match.
    static std::uint32_t all_bits_if(bool claim) { return 0u - std::uint32_t{claim}; }

    // Uses up one of the remaining matches of an n-gram, if there is one, and marks that the hypothesis
    // has the n-gram. Returns whether it matched.
    static bool take(std::uint32_t& unmatched, bool is_known) {
        const std::uint32_t count = unmatched & ~SEEN_BIT;
        unmatched = (count - (count != 0)) | (all_bits_if(is_known) & SEEN_BIT);
        return count != 0;
    }

    // Keeps the positions from `from` to `to` where an n-gram may match, because the hypothesis has
    // both (n-1)-grams in it. Moves them together, from the place `kept` on, and returns their end.
    std::size_t keep_live(Side& side, std::size_t from, std::size_t to, std::size_t kept) const {
        const std::uint32_t* const unmatched = unmatched_before_.data();
        std::uint32_t* const numbers = side.numbers.data();
        std::uint32_t* const positions = side.positions.data();
        for (std::size_t a = from; a < to; ++a) {
            const std::uint32_t i = positions[a];
            const std::uint32_t number = numbers[i];
            const bool is_live = (unmatched[number] & unmatched[numbers[i + 1]] & SEEN_BIT) != 0;
            numbers[i] = number & all_bits_if(is_live);
            positions[kept] = i;
            kept += is_live;
        }
        return kept;
    }

    // Numbers and counts the n-grams of one reference, at the positions from `from` to `to`.
    // `last_number` is the last number given to an n-gram of this order.
    template <bool is_first, typename Table>
    void number_reference(Table table, std::size_t width, int n, std::size_t from, std::size_t to,
                          std::uint32_t& last_number) {
        const std::uint32_t* const symbols = references_.symbols.data() + (n - 1);
        const std::uint32_t* const positions = references_.positions.data();
        std::uint32_t* const numbers = references_.numbers.data();
        std::uint32_t* const unmatched = unmatched_.data();
        std::uint32_t* const in_reference = in_reference_.data();
        std::uint32_t last = last_number;
        for (std::size_t a = from; a < to; ++a) {
            const std::uint32_t i = positions[a];
            auto& slot = table.at(numbers[i] * width + symbols[i]);
            const bool is_new = slot.stamp != table.stamp;
            last += is_new;
            const std::uint32_t known_mask = all_bits_if(!is_new);
            const std::uint32_t number = (slot.number & known_mask) | (last & ~known_mask);
            slot.stamp = table.stamp;
            slot.number = static_cast<decltype(slot.number)>(number);
            numbers[i] = number;
            if constexpr (is_first) {
                unmatched[number] = (unmatched[number] & known_mask) + 1;
            } else {
                const std::uint32_t count = (in_reference[number] & known_mask) + 1;
                in_reference[number] = count;
                unmatched[number] = std::max(unmatched[number] & known_mask, count);
            }
        }
        last_number = last;
    }

    template <typename Table>
    double match_hypothesis(Table table, std::size_t width, int n) {
        const std::uint32_t* const symbols = hypothesis_.symbols.data() + (n - 1);
        const std::uint32_t* const positions = hypothesis_.positions.data();
        std::uint32_t* const numbers = hypothesis_.numbers.data();
        std::uint32_t* const unmatched = unmatched_.data();
        const std::size_t n_live = hypothesis_.n_live;
        std::size_t matched = 0;
        unmatched[0] = 0;
        for (std::size_t a = 0; a < n_live; ++a) {
            const std::uint32_t i = positions[a];
            const auto& slot = table.at(numbers[i] * width + symbols[i]);
            const bool is_known = slot.stamp == table.stamp;
            const std::uint32_t number = slot.number & all_bits_if(is_known);
            numbers[i] = number;
            matched += take(unmatched[number], is_known);
        }
        return static_cast<double>(matched);
    }

    static constexpr std::uint32_t SEEN_BIT = 1u << 31;

    Side references_;
    Side hypothesis_;
    std::vector<std::size_t> ends_;  // of each reference, among the positions
    // By the number of an n-gram: how many matches are left, and in the highest bit whether the
    // hypothesis has it; the same for the order before; and how often it is in the current reference.
    std::vector<std::uint32_t> unmatched_;
    std::vector<std::uint32_t> unmatched_before_;
    std::vector<std::uint32_t> in_reference_;
    DenseChildren dense_;
    HashedChildren hashed_;
};

}  // namespace wellput
