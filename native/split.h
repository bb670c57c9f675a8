// Text to words at gaps of whitespace.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "tokenize.h"

namespace wellput {

// The bytes that whitespace begins with: those of ASCII, and the leads of U+0085 to U+3000.
inline constexpr auto may_begin_gap = [] {
    std::array<bool, 256> table{};
    for (const int c : {0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0xc2, 0xe1,
                        0xe2, 0xe3})
        table[static_cast<std::size_t>(c)] = true;
    return table;
}();

inline bool gap_may_begin_at(const char* p) { return may_begin_gap[static_cast<unsigned char>(*p)]; }

// The first place from p on where whitespace may begin, or the end.
inline const char* find_gap(const char* p, const char* end) {
    if constexpr (std::endian::native == std::endian::little) {
        constexpr std::uint64_t each = 0x0101010101010101u;
        while (end - p >= 8) {
            std::uint64_t bytes;
            std::memcpy(&bytes, p, 8);
            // The high bit of every byte that is below 0x21 or not ASCII; a borrow may set more, but
            // only above the first.
            const std::uint64_t flagged = ((bytes - 0x21 * each) | bytes) & (0x80 * each);
            if (!flagged) {
                p += 8;
                continue;
            }
            p += std::countr_zero(flagged) / 8;
            if (gap_may_begin_at(p)) return p;
            ++p;
        }
    }
    while (p < end && !gap_may_begin_at(p)) ++p;
    return p;
}

// Replaces `words` by the words of `text`. A gap between words is a run of whitespace for which
// separates(its first byte, its number of characters) holds; any other is part of a word. At the
// edges of the text whitespace always goes.
template <typename Separates>
void split_at_gaps(std::string_view text, std::vector<std::string_view>& words,
                   Separates separates) {
    words.clear();
    const char* word = text.data();
    const char* const end = word + text.size();
    const char* p = word;
    while (p < end) {
        const char* const gap = find_gap(p, end);
        int characters = 0;
        for (p = gap; p < end && gap_may_begin_at(p); ++characters) {
            const int size = *p == ' ' ? 1 : whitespace_at(p, end);
            if (!size) break;
            p += size;
        }
        if (p == end || gap == word || (characters && separates(*gap, characters))) {
            if (gap > word) words.emplace_back(word, static_cast<std::size_t>(gap - word));
            word = p;
        }
        if (!characters) ++p;  // a letter that begins like whitespace
    }
}

}  // namespace wellput
