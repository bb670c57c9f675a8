// The parts (atoms) of a word that features use: its form, endings, beginnings and shape, each as a
// hash.
//
// Characters outside ASCII are never lowercased, and have one kind (u) in a shape.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/hash.h"

namespace wellput {

// All parts are 1 where there is no word.
struct WordAtoms {
    std::uint64_t form = 1;   // the word as it is written
    std::uint64_t lower = 1;  // the word in lower case, every digit a 0
    std::array<std::uint64_t, 5> suffixes{1, 1, 1, 1, 1};  // the last 1 to 5 characters of `lower`
    std::array<std::uint64_t, 4> prefixes{1, 1, 1, 1};     // the first 1 to 4 characters of `form`
    std::uint64_t shape = 1;  // Xx for "Word", d-x for "20-minute": a run of one kind counts once
};

// In lower case; digits become 0.
inline char lowered(char c) {
    if (c >= 'A' && c <= 'Z') return static_cast<char>(c + 32);
    return c >= '0' && c <= '9' ? '0' : c;
}

// What stands for a character in a shape.
inline char kind_of(char c) {
    if (c >= 'A' && c <= 'Z') return 'X';
    if (c >= 'a' && c <= 'z') return 'x';
    if (c >= '0' && c <= '9') return 'd';
    return static_cast<unsigned char>(c) >= 0x80 ? 'u' : c;
}

// Whether a byte of UTF-8 is a further byte of a character.
inline bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

inline WordAtoms atoms_of(std::string_view form) {
    std::string lower, shape;
    for (const char c : form) {
        lower += lowered(c);
        if (shape.empty() || shape.back() != kind_of(c)) shape += kind_of(c);
    }
    WordAtoms atoms;
    atoms.form = fnv1a(form);
    atoms.lower = fnv1a(lower);
    atoms.shape = fnv1a(shape);
    std::size_t begin = lower.size();
    for (std::uint64_t& suffix : atoms.suffixes) {
        while (begin > 0 && continues_character(lower[--begin])) {
        }
        suffix = fnv1a(std::string_view(lower).substr(begin));
    }
    std::size_t end = 0;
    for (std::uint64_t& prefix : atoms.prefixes) {
        if (end < form.size()) ++end;
        while (end < form.size() && continues_character(form[end])) ++end;
        prefix = fnv1a(form.substr(0, end));
    }
    return atoms;
}

}  // namespace wellput
