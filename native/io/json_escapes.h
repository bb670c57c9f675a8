// Replaces the escapes in a JSON text, such as \n and \u00e9, by the characters that they stand for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wellput {

inline int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// The number that the next four hexadecimal digits write; -1 if there are not four of them.
inline long hex_unit(const char* at, const char* end) {
    if (end - at < 4) return -1;
    long unit = 0;
    for (int i = 0; i < 4; ++i) {
        const int digit = hex_digit(at[i]);
        if (digit < 0) return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

inline void append_utf8(std::string& out, long point) {
    if (point < 0x80) {
        out += static_cast<char>(point);
    } else if (point < 0x800) {
        out += static_cast<char>(0xC0 | (point >> 6));
        out += static_cast<char>(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        out += static_cast<char>(0xE0 | (point >> 12));
        out += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
        out += static_cast<char>(0x80 | (point & 0x3F));
    } else {
        out += static_cast<char>(0xF0 | (point >> 18));
        out += static_cast<char>(0x80 | ((point >> 12) & 0x3F));
        out += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
        out += static_cast<char>(0x80 | (point & 0x3F));
    }
}

// Sets `out` to the text that `raw` writes. `raw` is what stands between the quotes, so its last
// character is not a lone backslash. Returns false for an escape that JSON does not have, and for half
// a surrogate pair.
inline bool unescape(std::string_view raw, std::string& out) {
    static constexpr std::string_view ESCAPE_LETTERS = "\"\\/bfnrt",
                                      ESCAPED_CHARACTERS = "\"\\/\b\f\n\r\t";
    out.clear();
    const char* at = raw.data();
    const char* end = at + raw.size();
    while (at != end) {
        if (*at != '\\') {
            out += *at++;
            continue;
        }
        const char letter = at[1];
        at += 2;
        if (letter != 'u') {
            const std::size_t place = ESCAPE_LETTERS.find(letter);
            if (place == std::string_view::npos) return false;
            out += ESCAPED_CHARACTERS[place];
            continue;
        }
        long point = hex_unit(at, end);
        if (point < 0 || (point >= 0xDC00 && point < 0xE000)) return false;
        at += 4;
        if (point >= 0xD800 && point < 0xDC00) {
            if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return false;
            const long low = hex_unit(at + 2, end);
            if (low < 0xDC00 || low >= 0xE000) return false;
            point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
            at += 6;
        }
        append_utf8(out, point);
    }
    return true;
}

}  // namespace wellput
