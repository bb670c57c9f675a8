// Sparse features. A feature is a 32-bit key: a hash (made with `FeatureHash`) of a template's number
// and of values. The template says what the values are, such as a word and the tag of the next word.
// A `KeyTable` finds the weights of a feature.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace wellput {

using FeatureKey = std::uint32_t;

// Combines values into a key, one after the other: the order matters.
class FeatureHash {
public:
    explicit FeatureHash(std::uint64_t template_number) : state_(template_number) { stir(); }
    FeatureHash& add(std::uint64_t value) {
        state_ ^= value;
        stir();
        return *this;
    }
    FeatureKey key() const { return static_cast<FeatureKey>(state_ >> 32); }
    std::uint64_t value() const { return state_; }

private:
    // One round of SplitMix64's finalizer.
    void stir() {
        state_ += 0x9e3779b97f4a7c15ull;
        state_ = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9ull;
        state_ ^= state_ >> 27;
    }
    std::uint64_t state_;
};

// A hash table from keys to numbers, with open addressing (a key whose place is taken goes to the
// next free one).
class KeyTable {
public:
    static constexpr std::uint32_t NO_NUMBER = std::numeric_limits<std::uint32_t>::max();

    explicit KeyTable(std::size_t expected_keys = 0) {
        std::size_t size = 16;
        while (size < 2 * expected_keys) size *= 2;
        slots_.assign(size, {0, NO_NUMBER});
    }
    void prefetch(std::span<const FeatureKey> keys) const {
        for (const FeatureKey key : keys) __builtin_prefetch(&slots_[key & (slots_.size() - 1)]);
    }
    // The number of a key, or NO_NUMBER.
    std::uint32_t find(FeatureKey key) const { return slots_[place_of(key)].number; }
    // The key must be new. The table grows before it is more than half full.
    void insert(FeatureKey key, std::uint32_t number) {
        if (2 * ++count_ > slots_.size()) grow();
        slots_[place_of(key)] = {key, number};
    }
    // The number of a key; a new key gets the number `next`.
    std::uint32_t find_or_insert(FeatureKey key, std::size_t next) {
        std::uint32_t number = find(key);
        if (number == NO_NUMBER) insert(key, number = static_cast<std::uint32_t>(next));
        return number;
    }

private:
    struct Slot {
        FeatureKey key;
        std::uint32_t number;
    };
    std::size_t place_of(FeatureKey key) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t place = key & mask;
        while (slots_[place].number != NO_NUMBER && slots_[place].key != key)
            place = (place + 1) & mask;
        return place;
    }
    void grow() {
        std::vector<Slot> old(2 * slots_.size(), {0, NO_NUMBER});
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.number != NO_NUMBER) slots_[place_of(slot.key)] = slot;
    }
    std::vector<Slot> slots_;
    std::size_t count_ = 0;
};

// Features are looked up in blocks: their weights are far apart in memory, and prefetching them
// together hides the wait.
constexpr std::size_t BLOCK_FEATURES = 64;
template <typename Look>
void for_blocks(std::span<const FeatureKey> features, Look look) {
    for (std::size_t i = 0; i < features.size(); i += BLOCK_FEATURES)
        look(features.subspan(i, std::min(BLOCK_FEATURES, features.size() - i)));
}

}  // namespace wellput
