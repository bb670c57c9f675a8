// Random draws of resamples (random selections of rows). Each resample has its own random stream, made
// from the seed and the number of the resample: the number of threads does not change the draws.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace wellput {

// How often a row was drawn. If a row were drawn 256 times, the number would overflow. With up to 255
// rows this cannot happen; with more, its probability for each row is below 1 / 256! (256 factorial).
using Weight = std::uint8_t;

// A stream of random 64-bit numbers: SplitMix64 (Steele, Lea & Flood 2014).
class Stream {
public:
    Stream(std::uint64_t seed, std::uint64_t resample)
        : state_(mix(mix(seed + GOLDEN_GAMMA) + resample)) {}
    std::uint64_t next() { return mix(state_ += GOLDEN_GAMMA); }

private:
    static constexpr std::uint64_t GOLDEN_GAMMA = 0x9e3779b97f4a7c15ull;
    static std::uint64_t mix(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    std::uint64_t state_;
};

// Draws n rows out of n with replacement; `weights` says how often each was drawn. A draw is half of a
// 64-bit number, the low half first, mapped to [0, n) by Lemire's multiplication with rejection, which
// makes every row equally probable.
inline void draw(Stream stream, std::size_t n, Weight* weights) {
    if (n == 0) return;
    std::fill_n(weights, n, Weight{0});
    const auto bound = static_cast<std::uint32_t>(n);
    const std::uint32_t threshold = -bound % bound;
    std::size_t remaining = n;
    const auto take = [&](std::uint32_t half) {
        const std::uint64_t product = std::uint64_t{half} * bound;
        if (static_cast<std::uint32_t>(product) < threshold) return;
        ++weights[product >> 32];
        --remaining;
    };
    while (remaining >= 2) {
        const std::uint64_t word = stream.next();
        take(static_cast<std::uint32_t>(word));
        take(static_cast<std::uint32_t>(word >> 32));
    }
    while (remaining) take(static_cast<std::uint32_t>(stream.next()));
}

// Puts things into a random order (Fisher-Yates).
template <typename Thing>
void shuffle(std::vector<Thing>& things, Stream stream) {
    for (std::size_t unplaced = things.size(); unplaced > 1; --unplaced)
        std::swap(things[unplaced - 1], things[stream.next() % unplaced]);
}

// Draws 0 or 1 for each of n rows: row i gets bit i mod 64 of the random number i / 64.
inline void flip(Stream stream, std::size_t n, Weight* weights) {
    for (std::size_t start = 0; start < n; start += 64) {
        const std::uint64_t word = stream.next();
        const std::size_t size = std::min<std::size_t>(64, n - start);
        for (std::size_t i = 0; i < size; ++i)
            weights[start + i] = static_cast<Weight>(word >> i & 1);
    }
}

// The same bits as `flip`, but eight in a byte: row i gets bit i mod 8 of byte i / 8. `words` is the
// number of random numbers, of eight bytes each.
inline void flip_packed(Stream stream, std::size_t words, std::uint8_t* bytes) {
    for (std::size_t word = 0; word < words; ++word) {
        const std::uint64_t bits = stream.next();
        for (int i = 0; i < 8; ++i)
            bytes[8 * word + i] = static_cast<std::uint8_t>(bits >> (8 * i));
    }
}

}  // namespace wellput
