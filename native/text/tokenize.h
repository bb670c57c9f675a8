// Splits UTF-8 text into tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wellput {

// sacreBLEU's tokenizers that need no model; `NONE` is Python's str.split().
enum class Tokenizer { NONE, V13A, CHARACTER, ZH, INTL };

// Throws std::invalid_argument for a name that is not "none", "13a", "char", "zh" or "intl".
Tokenizer tokenizer_named(std::string_view name);

// Replaces `tokens` by the tokens of `text`, as sacreBLEU's BLEU makes them: trailing whitespace is
// removed, the text tokenized, then split at whitespace. Tokens point into `text` or into `buffer`,
// which may be overwritten: keep one buffer for each text while its tokens are in use.
void tokenize(Tokenizer tokenizer, std::string_view text, std::string& buffer,
              std::vector<std::string_view>& tokens);

// Whether an ASCII character is whitespace to Python: \t to \r, space, and the four separators.
constexpr bool is_ascii_whitespace(unsigned char c) {
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20);
}

// The length in bytes of the whitespace character (one of Python's 29) that starts at p; 0 if there
// is none.
int whitespace_at(const char* p, const char* end);

// The length in bytes of the character that begins with this byte.
inline int character_size(char lead) {
    const auto a = static_cast<unsigned char>(lead);
    return a < 0x80 ? 1 : a < 0xe0 ? 2 : a < 0xf0 ? 3 : 4;
}

// The code point of the character at p, which may be a lone surrogate (half of a UTF-16 pair).
inline char32_t code_point_at(const char* p) {
    const auto byte = [p](int i) -> char32_t { return static_cast<unsigned char>(p[i]); };
    switch (character_size(*p)) {
        case 1: return byte(0);
        case 2: return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
        case 3: return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
        default:
            return (byte(0) & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 |
                   (byte(3) & 0x3f);
    }
}

}  // namespace wellput
