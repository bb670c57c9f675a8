// Tokens to symbols 1, 2, 3, ... for one item at a time. No collisions: the hash only finds the
// place, the bytes decide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace wellput {

class TokenSymbols {
public:
    void clear();
    // The greatest symbol so far.
    std::uint32_t size() const { return count_; }
    // Writes the symbols of one text's tokens, new ones for new tokens, and returns their end. The
    // text must stay where it is.
    std::uint32_t* add(const std::vector<std::string_view>& tokens, std::uint32_t* symbols);
    // The same, with 0 for a token that was not added.
    std::uint32_t* find(const std::vector<std::string_view>& tokens, std::uint32_t* symbols);

private:
    // A token with its first and last eight bytes, which is all of it up to sixteen. Below eight
    // there is no tail, and zeros fill the head.
    struct Key {
        std::uint64_t head = 0;
        std::uint64_t tail = 0;
        std::size_t size = 0;
        const char* data = nullptr;
    };
    // The keys are kept apart, so that the table is small and stays in the cache.
    struct Slot {
        std::uint32_t stamp = 0;  // another stamp than ours: the slot is empty
        std::uint32_t symbol = 0;
    };

    void read(const std::vector<std::string_view>& tokens);
    std::size_t place(const Key& key) const;
    template <bool adding>
    void walk(std::size_t size, std::uint32_t* symbols);
    void reserve(std::size_t count);

    std::vector<Slot> slots_;
    std::vector<Key> read_;  // of the text at hand
    std::vector<Key> keys_;  // by symbol; those above count_ are of earlier items
    std::uint32_t count_ = 0;
    std::uint32_t stamp_ = 1;
    int shift_ = 0;
};

}  // namespace wellput
