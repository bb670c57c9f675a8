// Splits text into words at gaps: runs of whitespace.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "text/tokenize.h"

namespace wellput {

// The first bytes of whitespace characters: ASCII whitespace, and the first bytes of the others, from
// U+0085 to U+3000.
inline constexpr auto GAP_FIRST_BYTES = [] {
    std::array<bool, 256> table{};
    for (const int c :
         {0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0xc2, 0xe1, 0xe2, 0xe3})
        table[static_cast<std::size_t>(c)] = true;
    return table;
}();

inline bool gap_may_begin_at(const char* p) {
    return GAP_FIRST_BYTES[static_cast<unsigned char>(*p)];
}

// A bit for each of the eight bytes at p, set if the byte is below 0x21 or not ASCII: a suspect, where
// whitespace may begin.
inline std::uint64_t suspects_among_eight(const char* p) {
    constexpr std::uint64_t ONE_IN_EACH_BYTE = 0x0101010101010101u;
    std::uint64_t bytes;
    std::memcpy(&bytes, p, 8);
    if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
    // The high bit of each byte of `printable` says that the low seven bits are 0x21 or more.
    const std::uint64_t printable = (bytes & 0x7f * ONE_IN_EACH_BYTE) + 0x5f * ONE_IN_EACH_BYTE;
    const std::uint64_t suspect = ((~printable | bytes) >> 7) & ONE_IN_EACH_BYTE;
    return (suspect * 0x0102040810204080u) >> 56;  // the lowest bits of the eight bytes
}

// A bit for each of the next 64 bytes (or up to `end`), set where whitespace may begin.
inline std::uint64_t suspects(const char* p, const char* end) {
    std::uint64_t bits = 0;
    int at = 0;
    for (; at < 64 && end - p >= 8; at += 8, p += 8) bits |= suspects_among_eight(p) << at;
    for (; at < 64 && p < end; ++at, ++p)
        bits |= static_cast<std::uint64_t>(gap_may_begin_at(p)) << at;
    return bits;
}

// Calls take(word) for every word of `text`. A run of whitespace separates words if
// separates(first byte of the run, number of its characters) is true; any other run is part of a word.
// Whitespace at the edges of the text is dropped.
template <typename Separates, typename Take>
void split_at_gaps(std::string_view text, Separates separates, Take take) {
    const char* word = text.data();
    const char* const end = word + text.size();
    const char* p = word;  // everything before it is done
    for (const char* chunk = word; chunk < end; chunk += 64) {
        for (std::uint64_t bits = suspects(chunk, end); bits; bits &= bits - 1) {
            const char* const gap = chunk + std::countr_zero(bits);
            if (gap < p) continue;
            int characters = 0;
            for (p = gap; p < end && gap_may_begin_at(p); ++characters) {
                const int size = *p == ' ' ? 1 : whitespace_at(p, end);
                if (!size) break;
                p += size;
            }
            if (!characters) continue;
            if (gap > word) {
                if (p < end && !separates(*gap, characters)) continue;
                take(std::string_view(word, static_cast<std::size_t>(gap - word)));
            }
            word = p;
        }
    }
    if (word < end) take(std::string_view(word, static_cast<std::size_t>(end - word)));
}

}  // namespace wellput
