#include "character_symbols.h"

#include <algorithm>

#include "tokenize.h"

namespace wellput {

// Latin, Greek, Cyrillic, Hebrew, Arabic, ...: the characters of at most two bytes.
static constexpr std::size_t direct_size = 0x800;

void read_characters(std::string_view text, bool with_whitespace,
                     std::vector<char32_t>& characters) {
    characters.resize(text.size());
    char32_t* to = characters.data();
    const char* p = text.data();
    const char* const end = p + text.size();
    while (p < end) {
        const auto byte = static_cast<unsigned char>(*p);
        if (byte < 0x80) {
            const bool is_space = (byte >= 0x09 && byte <= 0x0d) || (byte >= 0x1c && byte <= 0x20);
            *to = byte;
            to += !is_space | with_whitespace;
            ++p;
        } else {
            *to = code_point_at(p);
            to += !whitespace_at(p, end) | with_whitespace;
            p += character_size(*p);
        }
    }
    characters.resize(static_cast<std::size_t>(to - characters.data()));
}

void CharacterSymbols::clear() {
    count_ = 0;
    if (++stamp_ == 0) {  // after 2^32 pairs the stamps start over
        std::fill(direct_.begin(), direct_.end(), Slot{});
        std::fill(hashed_.begin(), hashed_.end(), Slot{});
        stamp_ = 1;
    }
}

inline CharacterSymbols::Slot& CharacterSymbols::slot_of(char32_t character) {
    if (character < direct_size) return direct_[character];
    const std::size_t mask = hashed_.size() - 1;
    std::size_t at = (character * 0x9e3779b1u >> 7) & mask;
    while (hashed_[at].stamp == stamp_ && hashed_[at].character != character) at = (at + 1) & mask;
    hashed_[at].character = character;
    return hashed_[at];
}

void CharacterSymbols::add(const std::vector<char32_t>& characters, std::uint32_t* symbols) {
    reserve(count_ + characters.size());
    for (const char32_t character : characters) {
        Slot& slot = slot_of(character);
        const bool is_new = slot.stamp != stamp_;
        count_ += is_new;
        slot.symbol = is_new ? count_ : slot.symbol;
        slot.stamp = stamp_;
        *symbols++ = slot.symbol;
    }
}

void CharacterSymbols::find(const std::vector<char32_t>& characters, std::uint32_t* symbols) {
    reserve(count_);
    for (const char32_t character : characters) {
        const Slot& slot = slot_of(character);
        *symbols++ = slot.stamp == stamp_ ? slot.symbol : 0;
    }
}

// Before a text is read: so that nothing moves meanwhile.
void CharacterSymbols::reserve(std::size_t count) {
    direct_.resize(direct_size);
    std::size_t size = std::max<std::size_t>(hashed_.size(), 512);
    while (size < 2 * count) size *= 2;
    if (size == hashed_.size()) return;
    std::vector<Slot> old(size);
    old.swap(hashed_);
    for (const Slot& slot : old)
        if (slot.stamp == stamp_) slot_of(slot.character) = slot;
}

}  // namespace wellput
