#include "tokenize.h"

#include <stdexcept>

#include "kernels.h"

namespace wellput {

Tokenizer tokenizer_named(std::string_view name) {
    if (name == "none") return Tokenizer::none;
    if (name == "13a") return Tokenizer::v13a;
    if (name == "char") return Tokenizer::character;
    throw std::invalid_argument("unknown tokenizer: " + std::string(name));
}

int whitespace_at(const char* p, const char* end) {
    const auto a = static_cast<unsigned char>(p[0]);
    if (a < 0x80) return (a >= 0x09 && a <= 0x0d) || (a >= 0x1c && a <= 0x20);
    const auto left = end - p;
    if (a == 0xc2 && left >= 2) {  // U+0085, U+00A0
        const auto b = static_cast<unsigned char>(p[1]);
        return b == 0x85 || b == 0xa0 ? 2 : 0;
    }
    if (left < 3) return 0;
    const auto b = static_cast<unsigned char>(p[1]);
    const auto c = static_cast<unsigned char>(p[2]);
    if (a == 0xe1) return b == 0x9a && c == 0x80 ? 3 : 0;  // U+1680
    if (a == 0xe2) {
        // U+2000..U+200A, U+2028, U+2029, U+202F, U+205F
        if (b == 0x80) return (c >= 0x80 && c <= 0x8a) || c == 0xa8 || c == 0xa9 || c == 0xaf ? 3 : 0;
        return b == 0x81 && c == 0x9f ? 3 : 0;
    }
    return a == 0xe3 && b == 0x80 && c == 0x80 ? 3 : 0;  // U+3000
}

static void split_whitespace(std::string_view text, std::vector<std::string_view>& tokens) {
    const char* p = text.data();
    const char* const end = p + text.size();
    const char* start = nullptr;
    while (p < end) {
        if (const int space = whitespace_at(p, end)) {
            if (start) tokens.emplace_back(start, static_cast<std::size_t>(p - start));
            start = nullptr;
            p += space;
        } else {
            if (!start) start = p;
            ++p;
        }
    }
    if (start) tokens.emplace_back(start, static_cast<std::size_t>(p - start));
}

void tokenize(Tokenizer tokenizer, std::string_view text, std::string& buffer,
              std::vector<std::string_view>& tokens) {
    tokens.clear();
    (void)tokenizer;
    (void)buffer;
    split_whitespace(text, tokens);
}

void add_tokenize(nanobind::module_&) {}

}  // namespace wellput
