// sacreBLEU's tokenizers without its regular expressions.
//
// sacreBLEU's `13a`, `zh` and `intl` insert spaces into a text in several passes, then split it. Here
// one pass gives the same tokens, by a rule for each kind of character and its neighbors:
//   - a character that stands apart (most punctuation; symbols in `intl`) is a token;
//   - a hyphen after a digit is a token (not in `intl`);
//   - stops (`.` and `,`; all punctuation in `intl`) come in runs. sacreBLEU has two passes over them,
//     which consume characters in pairs, so that the length of a run matters. Between two stops of a
//     run there is always a cut. Before the run there is a cut, unless it is a single stop between
//     digits. After the run there is a cut, unless a digit follows and the length of the run is odd
//     (if a digit stands before the run) or even (if something else stands before it).
// At the edges of the text, `13a` sees a space; `zh` and `intl` see nothing, which acts like a digit.
#include "text/tokenize.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "core/parallel.h"
#include "core/texts.h"
#include "kernels.h"
#include "text/unicode_categories.h"

namespace wellput {

namespace {

// The kinds of characters; `WIDE` if the first byte does not decide, `MARKUP` where markup may begin.
enum Kind : std::uint8_t { WORD, SPACE, APART, STOP, HYPHEN, WIDE, MARKUP };

bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_alphanumeric(unsigned char c) {
    return static_cast<unsigned char>((c | 0x20) - 'a') < 26 ||
           static_cast<unsigned char>(c - '0') < 10;
}

// Whether whitespace outside ASCII may begin with this byte.
constexpr bool may_lead_space(unsigned char c) { return c == 0xc2 || (c >= 0xe1 && c <= 0xe3); }

using KindTable = std::array<Kind, 256>;

constexpr Kind western_kind(unsigned char c) {
    if (is_ascii_whitespace(c)) return SPACE;
    if (c == '.' || c == ',') return STOP;
    if (c == '-') return HYPHEN;
    const bool is_apart = (c >= '!' && c <= '&') || (c >= '(' && c <= '+') || c == '/' ||
                          (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
                          (c >= '{' && c <= '~');
    return is_apart ? APART : may_lead_space(c) ? WIDE : WORD;
}

// A table of the kinds of all bytes, from a function of the byte.
template <typename KindOf>
constexpr KindTable kinds_by(KindOf kind_of) {
    KindTable kinds{};
    for (unsigned c = 0; c < kinds.size(); ++c) kinds[c] = kind_of(static_cast<unsigned char>(c));
    return kinds;
}

// The kind of the character at p: `SPACE`, or else the result of `other`, which may use `size`. Sets
// `size` to the character's length in bytes.
template <typename Other>
Kind space_or(const char* p, const char* end, int& size, const Other& other) {
    if (const int blank = whitespace_at(p, end)) {
        size = blank;
        return SPACE;
    }
    size = character_size(*p);
    return other();
}

// The structs below are the rules of tokenizers. `is_plain` says which bytes are always part of a word,
// `KINDS_OF_BYTES` the kinds of the other bytes, and `wide_kind` the kind and the size of a character
// whose first byte does not decide. `EDGE_IS_DIGIT`, `digit_before` and `digit_at` are for runs of
// stops.

// Splits at whitespace only.
struct Blanks {
    static constexpr KindTable KINDS_OF_BYTES = kinds_by([](unsigned char c) {
        return is_ascii_whitespace(c) ? SPACE : may_lead_space(c) ? WIDE : WORD;
    });
    static constexpr bool EDGE_IS_DIGIT = false;

    static bool is_plain(unsigned char c) { return c > 0x20 && !may_lead_space(c); }
    static Kind wide_kind(const char* p, const char* end, int& size) {
        const int blank = whitespace_at(p, end);
        size = blank ? blank : 1;
        return blank ? SPACE : WORD;
    }
    static bool digit_before(const char* p) { return is_digit(p[-1]); }
    static bool digit_at(const char* p) { return is_digit(*p); }
};

// `13a` (mteval-v13a): a character outside ASCII is part of a word, or whitespace.
struct Western : Blanks {
    static constexpr KindTable KINDS_OF_BYTES = kinds_by(western_kind);

    static bool is_plain(unsigned char c) {
        return is_alphanumeric(c) || (c >= 0x80 && !may_lead_space(c));
    }
};

// The same, except that a character that may begin markup has the kind `MARKUP`.
struct WesternWithoutMarkup : Western {
    static constexpr KindTable KINDS_OF_BYTES = kinds_by([](unsigned char c) {
        return c == '&' || c == '<' || c == '\n' ? MARKUP : western_kind(c);
    });
};

// `zh`: as Western, but every Chinese character stands apart.
struct Chinese : Western {
    static constexpr KindTable KINDS_OF_BYTES =
        kinds_by([](unsigned char c) { return c >= 0xc0 ? WIDE : western_kind(c); });
    static constexpr bool EDGE_IS_DIGIT = true;

    static bool is_plain(unsigned char c) { return is_alphanumeric(c) || (c >= 0x80 && c < 0xc0); }

    static Kind wide_kind(const char* p, const char* end, int& size) {
        return space_or(p, end, size,
                        [&] { return size == 3 && is_chinese(code_point_at(p)) ? APART : WORD; });
    }

    // The same Unicode blocks as in sacreBLEU, with its error: it writes Extension B and its supplement
    // as u'\u20000'..u'\u2a6d6' and u'\u2f800'..u'\u2fa1d', which Python reads as strings of two
    // characters. These include U+2001..U+2A6D and U+2F81..U+2FA1 and leave out the real extensions.
    static bool is_chinese(char32_t c) {
        const auto within = [c](char32_t first, char32_t last) { return first <= c && c <= last; };
        return within(0x4e00, 0x9fbb) || within(0x2001, 0x2a6d) || within(0x2e80, 0x2eff) ||
               within(0x2f00, 0x2fdf) || within(0x2ff0, 0x303f) || within(0x3100, 0x312f) ||
               within(0x31a0, 0x31bf) || within(0x31c0, 0x31ef) || within(0x3200, 0x4db5) ||
               within(0xf900, 0xfa2d) || within(0xfa30, 0xfa6a) || within(0xfa70, 0xfad9) ||
               within(0xfe10, 0xfe1f) || within(0xfe30, 0xfe4f) || within(0xff00, 0xffef);
    }
};

constexpr Kind kind_of(char category) {
    return category == 'P' ? STOP : category == 'S' ? APART : WORD;
}

constexpr Kind international_kind(unsigned char c) {
    if (c >= 0x80) return c >= 0xc0 ? WIDE : WORD;
    for (const auto& range : CATEGORY_RANGES)
        if (range.first <= c && c <= range.last) return kind_of(range.category);
    return is_ascii_whitespace(c) ? SPACE : WORD;
}

// `intl` (mteval-v14, international): in any script, punctuation characters are stops and symbols
// stand apart.
struct International {
    static constexpr KindTable KINDS_OF_BYTES = kinds_by(international_kind);
    static constexpr bool EDGE_IS_DIGIT = true;

    static bool is_plain(unsigned char c) { return is_alphanumeric(c) || (c >= 0x80 && c < 0xc0); }

    static Kind wide_kind(const char* p, const char* end, int& size) {
        return space_or(p, end, size, [&] { return kind_of(category(code_point_at(p))); });
    }
    static bool digit_before(const char* p) {
        do --p;
        while ((static_cast<unsigned char>(*p) & 0xc0) == 0x80);
        return digit_at(p);
    }
    static bool digit_at(const char* p) { return category(code_point_at(p)) == 'N'; }

    static char category(char32_t c) {
        const auto* range = std::upper_bound(
            std::begin(CATEGORY_RANGES), std::end(CATEGORY_RANGES), c,
            [](char32_t point, const CategoryRange& one) { return point < one.first; });
        if (range == std::begin(CATEGORY_RANGES)) return '-';
        --range;
        return c <= range->last ? range->category : '-';
    }
};

// A bit for each of up to 64 bytes, set where the byte is not plain and so may end a token. The loop
// is arithmetic on bytes, which compilers turn into vector instructions; no character needs a branch.
template <typename Rules>
std::uint64_t notable(const char* p, std::size_t size) {
    std::array<unsigned char, 64> bytes;
    if (size >= bytes.size()) {
        std::memcpy(bytes.data(), p, bytes.size());
    } else {
        bytes.fill('a');
        std::memcpy(bytes.data(), p, size);
    }
    for (auto& c : bytes) c = !Rules::is_plain(c);
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
        std::uint64_t flags;
        std::memcpy(&flags, bytes.data() + i, 8);
        mask |= (flags * 0x0102040810204080ull >> 56) << i;  // the lowest bits of the eight bytes
    }
    return mask;
}

// Splits a text into tokens. Returns false if the text has markup that must be removed first.
template <typename Rules>
bool split(std::string_view text, std::vector<std::string_view>& tokens) {
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const char* start = begin;  // of the current token
    const char* done = begin;   // everything before it is done
    const auto emit = [&](const char* from, const char* to) {
        tokens.emplace_back(from, static_cast<std::size_t>(to - from));
    };
    const auto kind_at = [end](const char* at, int& size) {
        size = 1;
        const Kind kind = Rules::KINDS_OF_BYTES[static_cast<unsigned char>(*at)];
        return kind == WIDE ? Rules::wide_kind(at, end, size) : kind;
    };
    int size = 1;
    for (std::size_t block = 0; block < text.size(); block += 64) {
        std::uint64_t mask = notable<Rules>(begin + block, text.size() - block);
        for (; mask; mask &= mask - 1) {
            const char* p = begin + block + std::countr_zero(mask);
            if (p < done) continue;
            const Kind kind = kind_at(p, size);
            if (kind == SPACE) {
                if (start < p) emit(start, p);
                start = done = p + size;
                continue;
            }
            if (kind == WORD || (kind == HYPHEN && !(p > begin && is_digit(p[-1])))) {
                done = p + size;
                continue;
            }
            if (kind == MARKUP) return false;
            if (kind != STOP) {
                if (start < p) emit(start, p);
                emit(p, p + size);
                start = done = p + size;
                continue;
            }
            const char* last = p;  // of the run
            done = p + size;
            bool odd = true;
            while (done < end && kind_at(done, size) == STOP) {
                last = done;
                done += size;
                odd = !odd;
            }
            const bool digit_before = p > begin ? Rules::digit_before(p) : Rules::EDGE_IS_DIGIT;
            const bool digit_after = done < end ? Rules::digit_at(done) : Rules::EDGE_IS_DIGIT;
            if (digit_before && digit_after && last == p) continue;
            if (start < p) emit(start, p);
            while (p < last) {
                kind_at(p, size);
                emit(p, p + size);
                p += size;
            }
            start = last;
            if (!(digit_after && digit_before == odd)) {
                emit(last, done);
                start = done;
            }
        }
    }
    if (start < end) emit(start, end);
    return true;
}

void split_characters(std::string_view text, std::vector<std::string_view>& tokens) {
    const char* p = text.data();
    const char* const end = p + text.size();
    while (p < end) {
        if (const int space = whitespace_at(p, end)) {
            p += space;
        } else {
            const int size = character_size(*p);
            tokens.emplace_back(p, static_cast<std::size_t>(size));
            p += size;
        }
    }
}

std::string_view left_stripped(std::string_view text) {
    const char* const end = text.data() + text.size();
    while (!text.empty()) {
        const int size = whitespace_at(text.data(), end);
        if (!size) break;
        text.remove_prefix(static_cast<std::size_t>(size));
    }
    return text;
}

std::string_view right_stripped(std::string_view text) {
    while (!text.empty()) {
        std::size_t at = text.size() - 1;
        while (at && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
        if (!whitespace_at(text.data() + at, text.data() + text.size())) break;
        text = text.substr(0, at);
    }
    return text;
}

void replace_all(std::string& text, std::string_view old, std::string_view with) {
    std::size_t kept = 0;  // `text` is rewritten up to here, from what lies before `from`
    std::size_t from = 0;
    const auto keep = [&](std::string_view part) {
        std::memmove(text.data() + kept, part.data(), part.size());
        kept += part.size();
    };
    const std::string_view whole = text;
    for (std::size_t at; (at = whole.find(old, from)) != whole.npos; from = at + old.size()) {
        keep(whole.substr(from, at - from));
        keep(with);  // which is never longer than `old`
    }
    if (from == 0) return;
    keep(whole.substr(from));
    text.resize(kept);
}

// Removes the markup that mteval-v13a removes before it tokenizes.
void remove_markup(std::string_view text, std::string& buffer) {
    buffer = right_stripped(text);  // so that a hyphen before a final line break stays
    replace_all(buffer, "<skipped>", "");
    replace_all(buffer, "-\n", "");
    replace_all(buffer, "&quot;", "\"");
    replace_all(buffer, "&amp;", "&");  // before the next two: "&amp;lt;" becomes "<"
    replace_all(buffer, "&lt;", "<");
    replace_all(buffer, "&gt;", ">");
}

// Markup is rare, so the text is first read as if it had none, and read again only if it has some.
void split_13a(std::string_view text, std::string& buffer, std::vector<std::string_view>& tokens) {
    if (split<WesternWithoutMarkup>(text, tokens)) return;
    tokens.clear();
    remove_markup(text, buffer);
    split<Western>(buffer, tokens);
}

}  // namespace

Tokenizer tokenizer_named(std::string_view name) {
    if (name == "none") return Tokenizer::NONE;
    if (name == "13a") return Tokenizer::V13A;
    if (name == "char") return Tokenizer::CHARACTER;
    if (name == "zh") return Tokenizer::ZH;
    if (name == "intl") return Tokenizer::INTL;
    throw std::invalid_argument("unknown tokenizer: " + std::string(name));
}

int whitespace_at(const char* p, const char* end) {
    const auto a = static_cast<unsigned char>(p[0]);
    if (a < 0x80) return is_ascii_whitespace(a);
    const auto bytes_left = end - p;
    if (a == 0xc2 && bytes_left >= 2) {  // U+0085, U+00A0
        const auto b = static_cast<unsigned char>(p[1]);
        return b == 0x85 || b == 0xa0 ? 2 : 0;
    }
    if (bytes_left < 3) return 0;
    const auto b = static_cast<unsigned char>(p[1]);
    const auto c = static_cast<unsigned char>(p[2]);
    if (a == 0xe1) return b == 0x9a && c == 0x80 ? 3 : 0;  // U+1680
    if (a == 0xe2) {
        // U+2000..U+200A, U+2028, U+2029, U+202F, U+205F
        if (b == 0x80)
            return (c >= 0x80 && c <= 0x8a) || c == 0xa8 || c == 0xa9 || c == 0xaf ? 3 : 0;
        return b == 0x81 && c == 0x9f ? 3 : 0;
    }
    return a == 0xe3 && b == 0x80 && c == 0x80 ? 3 : 0;  // U+3000
}

void tokenize(Tokenizer tokenizer, std::string_view text, std::string& buffer,
              std::vector<std::string_view>& tokens) {
    tokens.clear();
    switch (tokenizer) {
        case Tokenizer::NONE: split<Blanks>(text, tokens); break;
        case Tokenizer::V13A: split_13a(text, buffer, tokens); break;
        case Tokenizer::CHARACTER: split_characters(text, tokens); break;
        case Tokenizer::ZH: split<Chinese>(left_stripped(right_stripped(text)), tokens); break;
        case Tokenizer::INTL: split<International>(right_stripped(text), tokens); break;
    }
}

static nb::list tokenize_all(nb::handle sequence, std::string_view name, int threads) {
    const Tokenizer tokenizer = tokenizer_named(name);
    const Texts texts(sequence);
    std::vector<std::string> buffers(texts.size());
    std::vector<std::vector<std::string_view>> rows(texts.size());
    {
        nb::gil_scoped_release release;
        parallel_for(texts.size(), threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                tokenize(tokenizer, texts[i], buffers[i], rows[i]);
        });
    }
    nb::list result;
    for (const auto& row : rows) {
        nb::list tokens;
        for (const auto token : row) {
            PyObject* text = PyUnicode_DecodeUTF8(
                token.data(), static_cast<Py_ssize_t>(token.size()), "surrogatepass");
            if (!text) throw nb::python_error();
            tokens.append(nb::steal(text));
        }
        result.append(tokens);
    }
    return result;
}

void add_tokenize(nb::module_& m) {
    m.def(
        "tokenize",
        [](nb::handle texts, const char* tokenizer, int threads) {
            return tokenize_all(texts, tokenizer, threads);
        },
        nb::arg("texts"), nb::arg("tokenizer"), nb::arg("threads"));
}

}  // namespace wellput
