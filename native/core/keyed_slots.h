// `KeyedSlots`: values by a 64-bit key, in an open-addressing table that doubles before it is half full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wellput {

// A `Slot` has a `key`, which is 0 in an empty slot; so 0 is the key of nothing.
template <typename Slot>
class KeyedSlots {
public:
    // The table without values. `size` is a power of two.
    void clear(std::size_t size) {
        slots_.assign(size, {});
        filled_ = 0;
    }
    // The slot of a key; that of a new key has the values of an empty one.
    Slot& at(std::uint64_t key) {
        if (2 * (filled_ + 1) > slots_.size()) grow();
        Slot& slot = slots_[place(key)];
        filled_ += slot.key == 0;
        slot.key = key;
        return slot;
    }
    // Null for a key that has no slot.
    const Slot* find(std::uint64_t key) const {
        if (slots_.empty()) return nullptr;
        const Slot& slot = slots_[place(key)];
        return slot.key ? &slot : nullptr;
    }

private:
    static constexpr std::size_t kFirstSize = 64;

    std::size_t place(std::uint64_t key) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = (key * 0x9e3779b97f4a7c15ull >> 24) & mask;
        while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & mask;
        return at;
    }
    void grow() {
        std::vector<Slot> old(slots_.empty() ? kFirstSize : 2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.key) slots_[place(slot.key)] = slot;
    }

    std::vector<Slot> slots_;
    std::size_t filled_ = 0;
};

}  // namespace wellput
