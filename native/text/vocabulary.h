// Numbers for the tokens of one item: 1, 2, 3, ... in order of first appearance. Equal tokens get
// equal numbers; 0 stands for a token that was not added. Different tokens never get the same number,
// since a hash only finds the place in the table, and the bytes are compared there.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace wellput {

class Vocabulary {
public:
    using Tokens = std::span<const std::string_view>;

    void clear() {
        tokens_.resize(1);
        // A new stamp makes all slots empty. After 2^32 items the stamps start over.
        if (++stamp_ == 0) {
            for (auto& slot : slots_) slot.stamp = 0;
            stamp_ = 1;
        }
    }
    // Every number is below this.
    int bound() const { return static_cast<int>(tokens_.size()); }
    std::string_view operator[](int number) const {
        return tokens_[static_cast<std::size_t>(number)];
    }

    // The token's number, a new one for a new token. The bytes must stay where they are until clear().
    int add(std::string_view token) { return add(token, key_of(token)); }
    // The same for a token of a text that ends at `text_end`: bytes after the token may be read, which
    // saves branches on the token's length that the processor cannot predict.
    int add(std::string_view token, const char* text_end) {
        return add(token, key_of(token, text_end));
    }

    // The same for the tokens of one text, in their order. Returns the end of the written numbers.
    std::uint32_t* add(Tokens tokens, std::uint32_t* numbers) {
        const char* const end = end_of(tokens);
        for (const auto token : tokens) *numbers++ = static_cast<std::uint32_t>(add(token, end));
        return numbers;
    }
    void add(Tokens tokens, std::vector<int>& numbers) {
        const char* const end = end_of(tokens);
        numbers.clear();
        for (const auto token : tokens) numbers.push_back(add(token, end));
    }
    // The same without adding tokens: 0 for a token that was not added.
    std::uint32_t* find(Tokens tokens, std::uint32_t* numbers) const {
        const char* const end = end_of(tokens);
        for (const auto token : tokens)
            *numbers++ = static_cast<std::uint32_t>(find(token, key_of(token, end)));
        return numbers;
    }

private:
    static_assert(std::endian::native == std::endian::little,
                  "a token's key is masked by its size");

    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t stamp = 0;  // a slot with another stamp than stamp_ is empty
        int number = 0;
    };

    int add(std::string_view token, std::uint64_t key) {
        if (tokens_.size() * 2 > slots_.size()) grow();
        Slot& slot = slots_[place(token, key)];
        if (slot.stamp != stamp_) {
            slot = {key, stamp_, bound()};
            tokens_.push_back(token);
        }
        return slot.number;
    }
    int find(std::string_view token, std::uint64_t key) const {
        if (slots_.empty()) return 0;
        const Slot& slot = slots_[place(token, key)];
        return slot.stamp == stamp_ ? slot.number : 0;
    }

    // Where the token is, or the empty slot where it would be.
    std::size_t place(std::string_view token, std::uint64_t key) const {
        const std::size_t mask = slots_.size() - 1;
        const std::uint64_t h = (key ^ token.size()) * 0x9e3779b97f4a7c15ull;
        for (std::size_t at = static_cast<std::size_t>(h >> 40) & mask;; at = (at + 1) & mask) {
            const Slot& slot = slots_[at];
            if (slot.stamp != stamp_) return at;
            if (slot.key == key && equal((*this)[slot.number], token)) return at;
        }
    }

    // Whether two tokens with equal keys are equal. Up to eight bytes, the key has the whole token.
    static bool equal(std::string_view a, std::string_view b) {
        return a.size() == b.size() &&
               (a.size() <= 8 || std::memcmp(a.data(), b.data(), a.size()) == 0);
    }

    static const char* end_of(Tokens tokens) {
        return tokens.empty() ? nullptr : tokens.back().data() + tokens.back().size();
    }

    static std::uint64_t load(const char* p, std::size_t bytes) {
        std::uint64_t word = 0;
        std::memcpy(&word, p, bytes);
        return word;
    }

    // The key of a token: its bytes, padded with zeros, if there are at most eight, else a hash of
    // them.
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
    static std::uint64_t key_of(std::string_view token, const char* text_end) {
        const std::size_t n = token.size();
        if (n == 0 || n > 8 || text_end - token.data() < 8) return key_of(token);
        return load(token.data(), 8) & (~std::uint64_t{0} >> (64 - 8 * n));
    }

    void grow() {
        slots_.assign(slots_.empty() ? 256 : slots_.size() * 2, Slot{});
        for (int number = 1; number < bound(); ++number) {
            const std::string_view token = (*this)[number];
            const std::uint64_t key = key_of(token);
            slots_[place(token, key)] = {key, stamp_, number};
        }
    }

    std::vector<std::string_view> tokens_ = std::vector<std::string_view>(1);  // by number
    std::vector<Slot> slots_;
    std::uint32_t stamp_ = 1;
};

}  // namespace wellput
