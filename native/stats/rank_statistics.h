// Pearson, Spearman and Kendall correlations of one group of points with the values x and z.
//
// Rank correlations take ranks: small integers, equal for equal values, of points in ascending order of
// z. A stable counting sort by the rank of x then orders the points by (x, z). Knight's algorithm
// (1966) counts the discordant pairs: they are the inversions in the new sequence of z (pairs in
// descending order), which a merge sort counts in n log n steps. An undefined coefficient is NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace wellput {

constexpr double UNDEFINED_VALUE = std::numeric_limits<double>::quiet_NaN();

using Rank = std::int32_t;

inline bool is_constant(const double* values, std::size_t n) {
    return std::all_of(values, values + n, [&](double value) { return value == values[0]; });
}

// Whether a sum of squares has neither overflowed nor lost digits near the smallest numbers. Deviations
// of 1e-170, for example, have squares of 0, and a correlation computed from these would be wrong.
inline bool is_exact_square(double sum) { return sum > 1e-280 && sum < 1e300; }

inline double pearson(const double* x, const double* z, std::size_t n) {
    if (n < 2 || is_constant(x, n) || is_constant(z, n)) return UNDEFINED_VALUE;
    double mean_x = 0, mean_z = 0;
    for (std::size_t i = 0; i < n; ++i) mean_x += x[i], mean_z += z[i];
    mean_x /= static_cast<double>(n), mean_z /= static_cast<double>(n);
    double xx = 0, zz = 0, xz = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double dx = x[i] - mean_x, dz = z[i] - mean_z;
        xx += dx * dx, zz += dz * dz, xz += dx * dz;
    }
    if (!is_exact_square(xx) || !is_exact_square(zz)) return UNDEFINED_VALUE;
    return std::clamp(xz / (std::sqrt(xx) * std::sqrt(zz)), -1.0, 1.0);
}

// The number of pairs i < j with sequence[i] > sequence[j]. Sorts the sequence.
inline std::int64_t count_inversions(std::vector<Rank>& sequence, std::vector<Rank>& spare) {
    // Runs of this length are sorted by insertion, then merged.
    constexpr std::size_t RUN_RANKS = 16;
    const std::size_t n = sequence.size();
    std::int64_t inversions = 0;
    for (std::size_t begin = 0; begin < n; begin += RUN_RANKS) {
        const std::size_t end = std::min(n, begin + RUN_RANKS);
        for (std::size_t i = begin + 1; i < end; ++i) {
            const Rank value = sequence[i];
            std::size_t j = i;
            for (; j > begin && sequence[j - 1] > value; --j) sequence[j] = sequence[j - 1];
            sequence[j] = value;
            inversions += static_cast<std::int64_t>(i - j);
        }
    }
    spare.resize(n);
    for (std::size_t width = RUN_RANKS; width < n; width *= 2) {
        for (std::size_t begin = 0; begin < n; begin += 2 * width) {
            const std::size_t middle = std::min(n, begin + width);
            const std::size_t end = std::min(n, begin + 2 * width);
            std::size_t left = begin, right = middle, out = begin;
            while (left < middle && right < end) {  // without branches: the order is random
                const Rank a = sequence[left], b = sequence[right];
                const bool inverted = b < a;
                inversions += inverted ? static_cast<std::int64_t>(middle - left) : 0;
                spare[out++] = inverted ? b : a;
                left += !inverted;
                right += inverted;
            }
            std::copy(sequence.begin() + left, sequence.begin() + middle, spare.begin() + out);
            std::copy(sequence.begin() + right, sequence.begin() + end,
                      spare.begin() + out + (middle - left));
        }
        sequence.swap(spare);
    }
    return inversions;
}

// Dense ranks of values: 0 for the smallest value, equal ranks for equal values, no gaps. Returns the
// number of different ranks. `order` gets the places of the values in ascending order.
inline std::size_t dense_ranks(const double* values, std::size_t n, std::vector<std::size_t>& order,
                               Rank* ranks) {
    order.resize(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    Rank rank = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (i && values[order[i]] != values[order[i - 1]]) ++rank;
        ranks[order[i]] = rank;
    }
    return n ? static_cast<std::size_t>(rank) + 1 : 0;
}

inline std::int64_t pairs_of(std::int64_t n) { return n * (n - 1) / 2; }

// The rank correlations, with the scratch space that they need. Ranks of x are below `classes`, and the
// points are in ascending order of z.
class RankStatistics {
public:
    double spearman(const Rank* x, const Rank* z, std::size_t n, std::size_t classes) {
        tally(x, n, classes);
        // Twice the mid-rank minus its mean: with the factor two, all sums are whole numbers.
        const auto mean = static_cast<double>(n + 1);
        double xx = 0, zz = 0, xz = 0, before = 0;
        centered_.resize(classes);
        for (std::size_t c = 0; c < classes; ++c) {
            const double count = counts_[c];
            centered_[c] = 2 * before + count + 1 - mean;
            xx += count * centered_[c] * centered_[c];
            before += count;
        }
        for (std::size_t begin = 0, end; begin < n; begin = end) {
            double sum = 0;
            for (end = begin; end < n && z[end] == z[begin]; ++end) sum += centered_[x[end]];
            const double rank = static_cast<double>(begin + end + 1) - mean;
            zz += static_cast<double>(end - begin) * rank * rank;
            xz += rank * sum;
        }
        if (xx == 0 || zz == 0) return UNDEFINED_VALUE;
        return std::clamp(xz / (std::sqrt(xx) * std::sqrt(zz)), -1.0, 1.0);
    }

    double kendall_b(const Rank* x, const Rank* z, std::size_t n, std::size_t classes) {
        count_pairs(x, z, n, classes);
        if (tied_x_ == pairs_ || tied_z_ == pairs_) return UNDEFINED_VALUE;
        return clamped(static_cast<double>(net_) /
                       std::sqrt(static_cast<double>(pairs_ - tied_x_)) /
                       std::sqrt(static_cast<double>(pairs_ - tied_z_)));
    }

    double kendall_c(const Rank* x, const Rank* z, std::size_t n, std::size_t classes) {
        count_pairs(x, z, n, classes);
        const auto fewer = static_cast<double>(std::min(classes_x_, classes_z_));
        if (fewer < 2) return UNDEFINED_VALUE;
        const auto size = static_cast<double>(n);
        return clamped(2 * static_cast<double>(net_) / (size * size * (fewer - 1) / fewer));
    }

private:
    static double clamped(double value) { return std::clamp(value, -1.0, 1.0); }

    // Counts the points of each class (of equal ranks) of x.
    void tally(const Rank* x, std::size_t n, std::size_t classes) {
        counts_.assign(classes, 0);
        for (std::size_t i = 0; i < n; ++i) ++counts_[x[i]];
    }

    void count_pairs(const Rank* x, const Rank* z, std::size_t n, std::size_t classes) {
        tally(x, n, classes);
        pairs_ = pairs_of(static_cast<std::int64_t>(n));
        tied_x_ = tied_z_ = classes_x_ = classes_z_ = 0;
        place_.resize(classes);
        std::uint32_t place = 0;
        for (std::size_t c = 0; c < classes; ++c) {
            tied_x_ += pairs_of(counts_[c]);
            classes_x_ += counts_[c] > 0;
            place_[c] = place;
            place += counts_[c];
        }
        sequence_.resize(n);
        for (std::size_t begin = 0, end; begin < n; begin = end) {
            for (end = begin; end < n && z[end] == z[begin]; ++end)
                sequence_[place_[x[end]]++] = z[end];
            tied_z_ += pairs_of(static_cast<std::int64_t>(end - begin));
            ++classes_z_;
        }
        std::int64_t tied_both = 0;
        for (std::size_t c = 0, begin = 0; c < classes; ++c) {
            const std::size_t stop = place_[c];  // where the points of class c end
            for (std::size_t end; begin < stop; begin = end) {
                for (end = begin; end < stop && sequence_[end] == sequence_[begin];) ++end;
                tied_both += pairs_of(static_cast<std::int64_t>(end - begin));
            }
        }
        const std::int64_t discordant = count_inversions(sequence_, spare_);
        net_ = pairs_ - tied_x_ - tied_z_ + tied_both - 2 * discordant;
    }

    std::vector<std::uint32_t> counts_;  // of the points in each class of x
    std::vector<std::uint32_t> place_;   // of the next point of each class
    std::vector<double> centered_;
    std::vector<Rank> sequence_, spare_;
    std::int64_t pairs_ = 0, tied_x_ = 0, tied_z_ = 0;
    std::int64_t net_ = 0;  // concordant minus discordant pairs
    std::int64_t classes_x_ = 0, classes_z_ = 0;
};

}  // namespace wellput
