#include "text/token_symbols.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace wellput {

static_assert(std::endian::native == std::endian::little, "a token's head is masked by its size");

static constexpr std::array<std::uint64_t, 9> head_masks = {
    0,
    0xff,
    0xffff,
    0xffffff,
    0xffffffff,
    0xffffffffff,
    0xffffffffffff,
    0xffffffffffffff,
    0xffffffffffffffff,
};

void TokenSymbols::clear() {
    count_ = 0;
    if (++stamp_ == 0) {  // after 2^32 items the stamps start over
        std::fill(slots_.begin(), slots_.end(), Slot{});
        stamp_ = 1;
    }
}

std::uint32_t* TokenSymbols::add(const std::vector<std::string_view>& tokens,
                                 std::uint32_t* symbols) {
    reserve(count_ + tokens.size());
    read(tokens);
    walk<true>(tokens.size(), symbols);
    return symbols + tokens.size();
}

std::uint32_t* TokenSymbols::find(const std::vector<std::string_view>& tokens,
                                  std::uint32_t* symbols) {
    reserve(count_);
    read(tokens);
    walk<false>(tokens.size(), symbols);
    return symbols + tokens.size();
}

// The keys of one text's tokens, in a pass of its own: it has no branches that go wrong.
void TokenSymbols::read(const std::vector<std::string_view>& tokens) {
    if (read_.size() < tokens.size()) read_.resize(2 * tokens.size());
    if (tokens.empty()) return;
    // The tokens lie in one text in order: eight bytes may be read up to the end of the last.
    const char* const limit = tokens.back().data() + tokens.back().size();
    Key* to = read_.data();
    for (const std::string_view token : tokens) {
        const char* const data = token.data();
        const std::size_t size = token.size();
        std::uint64_t head = 0;
        std::uint64_t tail = 0;
        if (limit - data >= 8) {
            const bool is_long = size >= 8;
            std::memcpy(&head, data, 8);
            std::memcpy(&tail, is_long ? data + size - 8 : data, 8);
            head &= head_masks[std::min<std::size_t>(size, 8)];
            tail = is_long ? tail : 0;
        } else {
            std::memcpy(&head, data, size);
        }
        *to++ = {head, tail, size, data};
    }
}

inline std::size_t TokenSymbols::place(const Key& key) const {
    return (key.head * 0x9e3779b97f4a7c15ull + key.tail * 0xc2b2ae3d27d4eb4full) >> shift_;
}

template <bool adding>
void TokenSymbols::walk(std::size_t size, std::uint32_t* symbols) {
    Slot* const slots = slots_.data();
    Key* const keys = keys_.data();
    const std::size_t mask = slots_.size() - 1;
    const std::uint32_t stamp = stamp_;
    std::uint32_t count = count_;
    const Key* const end = read_.data() + size;
    for (const Key* key = read_.data(); key != end; ++key) {
        std::size_t at = place(*key);
        for (;; at = (at + 1) & mask) {
            const Key& other = keys[slots[at].symbol];
            const std::uint64_t is_taken = slots[at].stamp == stamp;
            const std::uint64_t difference =
                (other.head ^ key->head) | (other.tail ^ key->tail) | (other.size ^ key->size);
            // One branch, not two: whether a token is new cannot be predicted, that this is its
            // slot can.
            if (difference & -is_taken) continue;
            if (key->size <= 16 || !is_taken || std::memcmp(other.data, key->data, key->size) == 0)
                break;
        }
        const bool is_new = slots[at].stamp != stamp;
        if constexpr (adding) {
            count += is_new;
            const std::uint32_t symbol = is_new ? count : slots[at].symbol;
            slots[at].stamp = stamp;
            slots[at].symbol = symbol;
            keys[symbol] = *key;
            *symbols++ = symbol;
        } else {
            *symbols++ = is_new ? 0 : slots[at].symbol;
        }
    }
    count_ = count;
}

// Before the tokens of a text: so that nothing moves while they are added.
void TokenSymbols::reserve(std::size_t count) {
    if (keys_.size() <= count) keys_.resize(2 * count + 64);
    std::size_t size = std::max<std::size_t>(slots_.size(), 512);
    while (size < 2 * count) size *= 2;
    if (size == slots_.size()) return;
    slots_.assign(size, Slot{});
    shift_ = 64 - std::countr_zero(size);
    for (std::uint32_t symbol = 1; symbol <= count_; ++symbol) {
        std::size_t at = place(keys_[symbol]);
        while (slots_[at].stamp == stamp_) at = (at + 1) & (size - 1);
        slots_[at] = {stamp_, symbol};
    }
}

}  // namespace wellput
