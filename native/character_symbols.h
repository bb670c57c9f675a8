// Characters to symbols 1, 2, 3, ... for one pair of texts at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace wellput {

// Replaces `characters` by the code points of `text`, with or without its whitespace.
void read_characters(std::string_view text, bool with_whitespace,
                     std::vector<char32_t>& characters);

class CharacterSymbols {
public:
    void clear();
    // The greatest symbol so far.
    std::uint32_t size() const { return count_; }
    // The symbols of a text's characters, new ones for new characters.
    void add(const std::vector<char32_t>& characters, std::uint32_t* symbols);
    // The same, with 0 for a character that was not added.
    void find(const std::vector<char32_t>& characters, std::uint32_t* symbols);

private:
    struct Slot {
        char32_t character = 0;
        std::uint32_t stamp = 0;  // another stamp than ours: the slot is empty
        std::uint32_t symbol = 0;
    };

    Slot& slot_of(char32_t character);
    void reserve(std::size_t count);

    // Those of the first code points have their place, the others are found by hash.
    std::vector<Slot> direct_;
    std::vector<Slot> hashed_;
    std::uint32_t count_ = 0;
    std::uint32_t stamp_ = 1;
};

}  // namespace wellput
