// Characters to symbols 1, 2, 3, ... for one pair of texts at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace wellput {

class CharacterSymbols {
public:
    explicit CharacterSymbols(bool with_whitespace) : with_whitespace_(with_whitespace) {}

    void clear();
    // The greatest symbol so far.
    std::uint32_t size() const { return count_; }
    // Writes the symbols of a text's characters, new ones for new characters, and returns their
    // end. There must be room for as many as the text has bytes.
    std::uint32_t* add(std::string_view text, std::uint32_t* symbols);
    // The same, with 0 for a character that was not added.
    std::uint32_t* find(std::string_view text, std::uint32_t* symbols);

private:
    struct Slot {
        std::uint32_t stamp = 0;  // another stamp than ours: the slot is empty
        std::uint32_t symbol = 0;
    };

    template <bool adding>
    std::uint32_t* walk(std::string_view text, std::uint32_t* symbols);
    Slot& slot_of(char32_t character);
    void reserve(std::size_t count);

    bool with_whitespace_;
    // The first code points have their places, the others are found by hash.
    std::vector<Slot> direct_;
    std::vector<Slot> hashed_;
    std::vector<char32_t> characters_;  // of the hashed slots
    std::uint32_t count_ = 0;
    std::uint32_t stamp_ = 1;
};

}  // namespace wellput
