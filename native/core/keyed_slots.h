// `KeyedSlots`: a hash table of values by a 64-bit key, with open addressing (a value whose place is
// taken goes to the next free one). It doubles before it is more than half full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wellput {

// A `Slot` is a struct with the values and a `key`, which is 0 in an empty slot. So no value can have
// the key 0.
template <typename Slot>
class KeyedSlots {
public:
    // Empties the table and gives it `size` slots, a power of two.
    void clear(std::size_t size) {
        slots_.assign(size, {});
        filled_ = 0;
    }
    // The slot of a key. A new key gets a slot with default values.
    Slot& at(std::uint64_t key) {
        if (2 * (filled_ + 1) > slots_.size()) grow();
        Slot& slot = slots_[place(key)];
        filled_ += slot.key == 0;
        slot.key = key;
        return slot;
    }
    // The slot of a key; null if the key has none.
    const Slot* find(std::uint64_t key) const {
        if (slots_.empty()) return nullptr;
        const Slot& slot = slots_[place(key)];
        return slot.key ? &slot : nullptr;
    }

private:
    static constexpr std::size_t FIRST_SLOTS = 64;

    std::size_t place(std::uint64_t key) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = (key * 0x9e3779b97f4a7c15ull >> 24) & mask;
        while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & mask;
        return at;
    }
    void grow() {
        std::vector<Slot> old(slots_.empty() ? FIRST_SLOTS : 2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.key) slots_[place(slot.key)] = slot;
    }

    std::vector<Slot> slots_;
    std::size_t filled_ = 0;
};

}  // namespace wellput
