#include "text/character_symbols.h"

#include <algorithm>

#include "text/tokenize.h"

namespace wellput {

// Latin, Greek, Cyrillic, Hebrew, Arabic, ...: the characters of at most two bytes.
static constexpr std::size_t direct_size = 0x800;

void CharacterSymbols::clear() {
    count_ = 0;
    if (++stamp_ == 0) {  // after 2^32 pairs the stamps start over
        std::fill(direct_.begin(), direct_.end(), Slot{});
        std::fill(hashed_.begin(), hashed_.end(), Slot{});
        stamp_ = 1;
    }
}

std::uint32_t* CharacterSymbols::add(std::string_view text, std::uint32_t* symbols) {
    reserve(count_ + text.size());
    return walk<true>(text, symbols);
}

std::uint32_t* CharacterSymbols::find(std::string_view text, std::uint32_t* symbols) {
    reserve(count_);
    return walk<false>(text, symbols);
}

// The slot of a character that has no place, or the empty one that it may take.
CharacterSymbols::Slot& CharacterSymbols::slot_of(char32_t character) {
    const std::size_t mask = hashed_.size() - 1;
    std::size_t at = (character * 0x9e3779b1u >> 7) & mask;
    while (hashed_[at].stamp == stamp_ && characters_[at] != character) at = (at + 1) & mask;
    characters_[at] = character;
    return hashed_[at];
}

template <bool adding>
std::uint32_t* CharacterSymbols::walk(std::string_view text, std::uint32_t* symbols) {
    Slot* const direct = direct_.data();
    const std::uint32_t stamp = stamp_;
    const bool with_whitespace = with_whitespace_;
    std::uint32_t count = count_;
    const char* p = text.data();
    const char* const end = p + text.size();
    while (p < end) {
        const auto byte = static_cast<unsigned char>(*p);
        Slot* slot = direct + byte;
        bool is_space;
        if (byte < 0x80) {
            is_space = is_ascii_whitespace(byte);
            ++p;
        } else {
            const char32_t character = code_point_at(p);
            slot = character < direct_size ? direct + character : &slot_of(character);
            is_space = whitespace_at(p, end) != 0;
            p += character_size(*p);
        }
        const bool is_new = slot->stamp != stamp;
        const std::uint32_t old = 0u - std::uint32_t{!is_new};
        const bool is_kept = with_whitespace | !is_space;
        if constexpr (adding) {
            count += is_new & is_kept;
            *symbols = (slot->symbol & old) | (count & ~old);
            *slot = {stamp, *symbols};
        } else {
            *symbols = slot->symbol & old;
        }
        symbols += is_kept;
    }
    count_ = count;
    return symbols;
}

// Before a text is read: so that nothing moves meanwhile.
void CharacterSymbols::reserve(std::size_t count) {
    if (direct_.empty()) direct_.resize(direct_size);
    std::size_t size = std::max<std::size_t>(hashed_.size(), 512);
    while (size < 2 * count) size *= 2;
    if (size == hashed_.size()) return;
    std::vector<Slot> old(size);
    std::vector<char32_t> old_characters(size);
    old.swap(hashed_);
    old_characters.swap(characters_);
    for (std::size_t at = 0; at < old.size(); ++at)
        if (old[at].stamp == stamp_) slot_of(old_characters[at]) = old[at];
}

}  // namespace wellput
