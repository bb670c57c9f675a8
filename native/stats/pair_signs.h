// Kendall's tau-b of two metrics with people when the metrics' scores are exchanged, for many pairs of
// points at a time.
//
// A point has a score of each metric (x and y) and of people (z). An exchange decides for each point
// which of x and y counts for the first metric; the other counts for the second. So a pair of points
// has four *faces*: the four choices of x or y for its two points. For each face, three bit strings
// with a bit for each pair say which pairs are concordant with z, which are discordant, and which are
// tied. An exchange picks one face for every pair: four masks, one for each face, have a bit for each
// pair that has this face. Bitwise "and" with the masks and a count of bits (popcount) then count the
// pairs. The second metric has the opposite face in every pair, so one pass serves both metrics.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/clones.h"
#include "core/random_stream.h"
#include "stats/rank_statistics.h"

namespace wellput {

constexpr std::size_t FACES_PER_PAIR = 4;
// The most points of a group; for more, sorting is faster.
constexpr std::size_t MAX_PAIR_SIGN_POINTS = 512;

// A bit string over all pairs for each face: words × FACES_PER_PAIR, the four words of 64 pairs side by
// side.
using Faces = std::vector<std::uint64_t>;

// For each of `groups` consecutive bit strings, counts the set bits that the masks pick: counts[2 g]
// for the picked faces, counts[2 g + 1] for the opposite faces.
WELLPUT_CLONES
static void count_faces(const std::uint64_t* strings, const std::uint64_t* masks, std::size_t words,
                        std::size_t groups, std::int32_t* counts) {
    for (std::size_t g = 0; g < groups; ++g, strings += words * FACES_PER_PAIR) {
        std::int32_t picked = 0, opposite = 0;
        for (std::size_t w = 0; w < words; ++w) {
            const std::uint64_t* s = strings + FACES_PER_PAIR * w;
            const std::uint64_t* m = masks + FACES_PER_PAIR * w;
            picked += std::popcount((s[0] & m[0]) | (s[1] & m[1]) | (s[2] & m[2]) | (s[3] & m[3]));
            opposite +=
                std::popcount((s[3] & m[0]) | (s[2] & m[1]) | (s[1] & m[2]) | (s[0] & m[3]));
        }
        counts[2 * g] = picked;
        counts[2 * g + 1] = opposite;
    }
}

// The number of 64-bit words with a bit for each pair of points.
inline std::size_t pair_words(std::size_t points) {
    return (static_cast<std::size_t>(pairs_of(static_cast<std::int64_t>(points))) + 63) / 64;
}

// The masks of one exchange. Pairs of points are ordered (0, 1), (0, 2), …, (1, 2), …
class FaceMasks {
public:
    explicit FaceMasks(std::size_t points)
        : points_(points), masks_(pair_words(points) * FACES_PER_PAIR) {}

    const std::uint64_t* data() const { return masks_.data(); }

    // `swapped` has for each point 1 if its scores are exchanged, else 0.
    void set(const Weight* swapped) {
        // A bit for each pair: whether its first point is swapped, and its second.
        Appender first, second;
        std::size_t word = 0;
        const auto flush = [&](std::size_t used) {
            const std::uint64_t all = used == 64 ? ~0ull : (1ull << used) - 1;
            const std::uint64_t a = first.take(), b = second.take();
            std::uint64_t* masks = masks_.data() + FACES_PER_PAIR * word++;
            masks[0] = ~a & ~b & all, masks[1] = a & ~b & all, masks[2] = ~a & b & all;
            masks[3] = a & b & all;
        };
        bits_.assign((points_ + 63) / 64 + 1, 0);
        for (std::size_t k = 0; k < points_; ++k)
            bits_[k / 64] |= static_cast<std::uint64_t>(swapped[k]) << (k % 64);
        std::size_t filled = 0;
        for (std::size_t i = 0; i + 1 < points_; ++i) {
            for (std::size_t k = i + 1; k < points_;) {
                const std::size_t count = std::min(points_ - k, 64 - filled);
                first.append(swapped[i] ? ~0ull : 0, filled, count);
                second.append(bits_from(k), filled, count);
                k += count, filled += count;
                if (filled == 64) flush(64), filled = 0;
            }
        }
        if (filled) flush(filled);
    }

private:
    // Collects bits until a word is full.
    struct Appender {
        std::uint64_t word = 0;
        void append(std::uint64_t bits, std::size_t at, std::size_t count) {
            if (count < 64) bits &= (1ull << count) - 1;
            word |= bits << at;
        }
        std::uint64_t take() {
            const std::uint64_t taken = word;
            word = 0;
            return taken;
        }
    };

    // The bits of 64 points, from point k on.
    std::uint64_t bits_from(std::size_t k) const {
        const std::size_t shift = k % 64;
        const std::uint64_t low = bits_[k / 64] >> shift;
        return shift ? low | bits_[k / 64 + 1] << (64 - shift) : low;
    }

    std::size_t points_;
    std::vector<std::uint64_t> masks_, bits_;
};

// The bit strings of groups of points. All groups have the same number of points; some may be missing.
class PairSigns {
public:
    explicit PairSigns(std::size_t points) : points_(points), words_(pair_words(points)) {}

    std::size_t groups() const { return pairs_.size(); }
    std::size_t points() const { return points_; }

    // Scores of one more group, NaN in z where a point is missing.
    void add_group(const double* x, const double* y, const double* z) {
        const std::size_t start = concordant_.size();
        concordant_.resize(start + words_ * FACES_PER_PAIR);
        discordant_.resize(start + words_ * FACES_PER_PAIR);
        tied_.resize(start + words_ * FACES_PER_PAIR);
        std::int64_t pairs = 0, tied_z = 0;
        bool has_ties = false;
        std::size_t pair = 0;
        for (std::size_t i = 0; i + 1 < points_; ++i) {
            for (std::size_t k = i + 1; k < points_; ++k, ++pair) {
                if (std::isnan(z[i]) || std::isnan(z[k])) continue;
                ++pairs;
                tied_z += z[i] == z[k];
                for (std::size_t face = 0; face < FACES_PER_PAIR; ++face) {
                    const double a = face & 1 ? y[i] : x[i], b = face & 2 ? y[k] : x[k];
                    const std::uint64_t bit = 1ull << (pair % 64);
                    const std::size_t at = start + FACES_PER_PAIR * (pair / 64) + face;
                    if (a == b) {
                        tied_[at] |= bit;
                        has_ties = true;
                    } else if (z[i] != z[k]) {
                        ((a < b) == (z[i] < z[k]) ? concordant_ : discordant_)[at] |= bit;
                    }
                }
            }
        }
        pairs_.push_back(pairs);
        untied_z_.push_back(pairs - tied_z);
        untied_scale_.push_back(pairs == 0 || pairs == tied_z
                                    ? UNDEFINED_VALUE
                                    : 1 / std::sqrt(static_cast<double>(pairs - tied_z)));
        all_scale_.push_back(1 / std::sqrt(static_cast<double>(pairs)));
        has_ties_.push_back(has_ties);
    }

    // Calls use(group, tau-b of the first metric, tau-b of the second) for the groups [begin, end)
    // under one exchange. `counts` is scratch space.
    template <typename Use>
    void score(std::size_t begin, std::size_t end, const FaceMasks& masks,
               std::vector<std::int32_t>& counts, Use use) const {
        counts.resize(2 * (end - begin) + 4);
        const std::size_t width = words_ * FACES_PER_PAIR;
        count_faces(concordant_.data() + begin * width, masks.data(), words_, end - begin,
                    counts.data());
        // Of one group: the discordant pairs of each metric, then the tied pairs of each.
        std::int32_t* rest = counts.data() + 2 * (end - begin);
        for (std::size_t g = begin; g < end; ++g) {
            const std::int32_t* concordant = counts.data() + 2 * (g - begin);
            if (!has_ties_[g]) {  // a pair that is neither concordant nor tied in z is discordant
                const double untied = static_cast<double>(untied_z_[g]);
                const double scale = untied_scale_[g] * all_scale_[g];
                use(g, (2.0 * concordant[0] - untied) * scale,
                    (2.0 * concordant[1] - untied) * scale);
                continue;
            }
            count_faces(discordant_.data() + g * width, masks.data(), words_, 1, rest);
            count_faces(tied_.data() + g * width, masks.data(), words_, 1, rest + 2);
            use(g, tau(g, concordant[0], rest[0], rest[2]),
                tau(g, concordant[1], rest[1], rest[3]));
        }
    }

private:
    double tau(std::size_t g, std::int64_t concordant, std::int64_t discordant,
               std::int64_t tied) const {
        if (tied == pairs_[g]) return UNDEFINED_VALUE;
        return static_cast<double>(concordant - discordant) /
               std::sqrt(static_cast<double>(pairs_[g] - tied)) * untied_scale_[g];
    }

    std::size_t points_, words_;
    Faces concordant_, discordant_, tied_;
    std::vector<std::int64_t> pairs_, untied_z_;
    std::vector<double> untied_scale_;  // 1 / sqrt of the pairs untied in z
    std::vector<double> all_scale_;     // 1 / sqrt of all pairs
    std::vector<char> has_ties_;
};

}  // namespace wellput
