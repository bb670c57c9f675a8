// Tokens to small integers, anew for every item: equal tokens get equal numbers, 0, 1, 2, ... in
// order of first appearance. No collisions: a hash only finds the place, the bytes decide.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace wellput {

class Vocabulary {
public:
    void clear() {
        tokens_.clear();
        if (++stamp_ == 0) {  // after 2^32 items the stamps start over
            for (auto& slot : slots_) slot.stamp = 0;
            stamp_ = 1;
        }
    }
    int size() const { return static_cast<int>(tokens_.size()); }
    std::string_view operator[](int id) const { return tokens_[static_cast<std::size_t>(id)]; }

    // The token's number. The bytes must stay where they are until clear().
    int add(std::string_view token) { return add(token, key_of(token)); }

    // The same for a token of a text that ends at `text_end`: the bytes after the token may be read,
    // which saves asking for its length, and a word's length is hard to predict.
    int add(std::string_view token, const char* text_end) {
        const std::size_t n = token.size();
        if (std::endian::native != std::endian::little || n == 0 || n > 8 ||
            text_end - token.data() < 8)
            return add(token);
        return add(token, load(token.data(), 8) & (~std::uint64_t{0} >> (64 - 8 * n)));
    }

private:
    int add(std::string_view token, std::uint64_t key) {
        if ((tokens_.size() + 1) * 2 > slots_.size()) grow();
        for (std::size_t at = place(key, token.size());; at = (at + 1) & mask_) {
            Slot& slot = slots_[at];
            if (slot.stamp != stamp_) {
                slot = {key, stamp_, static_cast<int>(tokens_.size())};
                tokens_.push_back(token);
                return slot.id;
            }
            if (slot.key == key && equal(tokens_[static_cast<std::size_t>(slot.id)], token))
                return slot.id;
        }
    }

    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t stamp = 0;
        int id = 0;
    };

    // Equal keys are taken for granted: up to eight bytes the key is the token.
    static bool equal(std::string_view a, std::string_view b) {
        return a.size() == b.size() &&
               (a.size() <= 8 || std::memcmp(a.data(), b.data(), a.size()) == 0);
    }

    static std::uint64_t load(const char* p, std::size_t bytes) {
        std::uint64_t word = 0;
        std::memcpy(&word, p, bytes);
        return word;
    }

    // The bytes themselves, padded with zeros, where there are no more than eight; else a hash.
    static std::uint64_t key_of(std::string_view token) {
        const char* p = token.data();
        const std::size_t n = token.size();
        if (n > 8) {
            std::uint64_t h = 0;
            for (std::size_t i = 0; i + 8 < n; i += 8)
                h = (h ^ load(p + i, 8)) * 0xff51afd7ed558ccdull, h ^= h >> 32;
            return (h ^ load(p + n - 8, 8)) * 0xff51afd7ed558ccdull;
        }
        if (n == 8) return load(p, 8);
        if (n >= 4) return load(p, 4) | load(p + n - 4, 4) << (8 * (n - 4));
        if (n == 0) return 0;
        return load(p, 1) | load(p + n / 2, 1) << (8 * (n / 2)) |
               load(p + n - 1, 1) << (8 * (n - 1));
    }

    std::size_t place(std::uint64_t key, std::size_t length) const {
        const std::uint64_t h = (key ^ length) * 0x9e3779b97f4a7c15ull;
        return static_cast<std::size_t>(h >> 40) & mask_;
    }

    void grow() {
        const std::size_t size = slots_.empty() ? 256 : slots_.size() * 2;
        slots_.assign(size, Slot{});
        mask_ = size - 1;
        for (std::size_t id = 0; id < tokens_.size(); ++id) {
            const std::uint64_t key = key_of(tokens_[id]);
            std::size_t at = place(key, tokens_[id].size());
            while (slots_[at].stamp == stamp_) at = (at + 1) & mask_;
            slots_[at] = {key, stamp_, static_cast<int>(id)};
        }
    }

    std::vector<std::string_view> tokens_;
    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
    std::uint32_t stamp_ = 1;
};

}  // namespace wellput
