// The features of a gap in a sentence, as numbers: which n-grams stand around it, and where.
//
// The gap is closed: with two words on either side there are 4 neighbors, and 10 local collocations,
// each an n-gram (n = 1..4) of neighbors with its length and place. Beyond the sentence stands the
// boundary. Bag n-grams are those of the whole sentence without the gap, wherever they stand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace wellput {

constexpr std::size_t SIDE = 2;
constexpr std::uint64_t BOUNDARY = 0x9ae16a3b2f90404full;

enum FeatureKind : std::uint64_t { COLLOCATION = 1, BAG = 2, CLASS_COLLOCATION = 3 };

inline std::uint64_t mixed(std::uint64_t h) {  // the finalizer of MurmurHash3
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdull;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ull;
    return h ^ (h >> 33);
}

inline std::uint64_t word_key(std::string_view word) {  // FNV-1a, then mixed
    std::uint64_t h = 0xcbf29ce484222325ull;
    for (const char c : word) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    return mixed(h);
}

// 32 bits of the key of an n-gram: a classifier knows a few hundred keys, a context has some tens,
// so that a wrong match is one in a million.
inline std::uint32_t ngram_key(FeatureKind kind, std::size_t place, const std::uint64_t* words,
                               std::size_t n) {
    std::uint64_t h = mixed(kind * 256 + place * 16 + n);
    for (std::size_t i = 0; i < n; ++i) h = mixed(h ^ words[i]) + i;
    return static_cast<std::uint32_t>(h >> 32);
}

struct ContextShape {
    std::size_t bag_order = 1;  // 0 for none
    bool has_collocations = true;
    bool has_classes = false;
};

// Appends the features of the gap [first, last) in a sentence of `length` word keys; `classes` may be
// null. A feature may come twice.
inline void add_context(const ContextShape& shape, const std::uint64_t* words,
                        const std::uint64_t* classes, std::size_t length, std::size_t first,
                        std::size_t last, std::vector<std::uint32_t>& features,
                        std::vector<std::uint64_t>& rest) {
    auto add_collocations = [&](FeatureKind kind, const std::uint64_t* keys) {
        std::uint64_t near[2 * SIDE];
        for (std::size_t i = 0; i < SIDE; ++i) {
            near[i] = first + i >= SIDE ? keys[first + i - SIDE] : BOUNDARY;
            near[SIDE + i] = last + i < length ? keys[last + i] : BOUNDARY;
        }
        for (std::size_t n = 1; n <= 2 * SIDE; ++n)
            for (std::size_t place = 0; place + n <= 2 * SIDE; ++place)
                features.push_back(ngram_key(kind, place, near + place, n));
    };
    if (shape.has_collocations) add_collocations(COLLOCATION, words);
    if (shape.has_classes && classes) add_collocations(CLASS_COLLOCATION, classes);
    if (shape.bag_order == 0) return;
    rest.assign(words, words + first);
    rest.insert(rest.end(), words + last, words + length);
    for (std::size_t n = 1; n <= std::min(shape.bag_order, rest.size()); ++n)
        for (std::size_t place = 0; place + n <= rest.size(); ++place)
            features.push_back(ngram_key(BAG, 0, rest.data() + place, n));
}

}  // namespace wellput
