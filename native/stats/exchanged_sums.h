// Pearson's r of two metrics (x and y) with people (z) over all cells of a systems × items array, when
// the metrics' scores of whole systems and whole items are exchanged. It is not computed from the cells
// again, but from sums: an exchange moves a part of each sum from one metric to the other.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/clones.h"
#include "core/random_stream.h"
#include "stats/rank_statistics.h"

namespace wellput {

constexpr std::size_t SUM_LANES = 4;
constexpr std::size_t SUMS_PER_METRIC = 3;

// Adds values[i] where chosen[i] is 1, in four separate sums (lanes). So the additions have the same
// order, and the result the same digits, with and without vector instructions.
WELLPUT_CLONES
static void add_chosen(const double* values, const double* chosen, std::size_t n, double* lanes) {
    double sums[SUM_LANES] = {};
    for (std::size_t i = 0; i < n; i += SUM_LANES)
        for (std::size_t lane = 0; lane < SUM_LANES; ++lane)
            sums[lane] += values[i + lane] * chosen[i + lane];
    for (std::size_t lane = 0; lane < SUM_LANES; ++lane) lanes[lane] += sums[lane];
}

// A cell is exchanged if its system is exchanged or its item is, but not both. `moved_` has what each
// cell moves if it is exchanged (its y term minus its x term); `row_sums_` has the sums of `moved_` over
// each system's row. A system that is not exchanged moves the sum over the exchanged items of its row;
// a system that is exchanged moves the rest of its row.
class ExchangedSums {
public:
    ExchangedSums(std::size_t systems, std::size_t items)
        : systems_(systems), stride_((items + SUM_LANES - 1) / SUM_LANES * SUM_LANES),
          moved_(SUMS_PER_METRIC * systems * stride_), row_sums_(SUMS_PER_METRIC * systems) {}

    // x, y and z are systems × items arrays; present(place) says whether no score of a cell is missing.
    template <typename Present>
    void add_cells(const double* x, const double* y, const double* z, std::size_t items,
                   Present present) {
        std::vector<double> seen_z;
        double middle = 0, middle_z = 0;  // r does not change when all scores are shifted
        for (std::size_t k = 0; k < systems_ * items; ++k)
            if (present(k)) {
                seen_z.push_back(z[k]);
                middle += x[k] + y[k], middle_z += z[k];
            }
        count_ = static_cast<double>(seen_z.size());
        if (seen_z.empty()) return;
        middle /= 2 * count_, middle_z /= count_;
        is_defined_ = seen_z.size() > 1 && !is_constant(seen_z.data(), seen_z.size());
        for (std::size_t i = 0; i < systems_; ++i)
            for (std::size_t j = 0; j < items; ++j) {
                const std::size_t k = i * items + j;
                if (!present(k)) continue;
                const double a = x[k] - middle, b = y[k] - middle, c = z[k] - middle_z;
                add_cell(i, j, {a, a * a, a * c}, {b, b * b, b * c});
                z_ += c, zz_ += c * c;
            }
    }

    // Both metrics' r under one exchange: `systems` and `items` are 1 where exchanged, else 0. `items`
    // must be padded with 0 to `stride()`.
    std::array<double, 2> correlations(const Weight* systems, const double* items) const {
        std::array<double, SUMS_PER_METRIC> first = x_, second = y_;
        for (std::size_t i = 0; i < systems_; ++i)
            for (std::size_t s = 0; s < SUMS_PER_METRIC; ++s) {
                std::array<double, SUM_LANES> lanes{};
                add_chosen(&moved_[(s * systems_ + i) * stride_], items, stride_, lanes.data());
                const double chosen = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
                const double moved = systems[i] ? row_sums_[s * systems_ + i] - chosen : chosen;
                first[s] += moved, second[s] -= moved;
            }
        return {pearson_of(first), pearson_of(second)};
    }

    std::size_t stride() const { return stride_; }

private:
    // Adds a cell. x and y have the three terms of each metric: its value, its square, its product with
    // z.
    void add_cell(std::size_t i, std::size_t j, const std::array<double, SUMS_PER_METRIC>& x,
                  const std::array<double, SUMS_PER_METRIC>& y) {
        for (std::size_t s = 0; s < SUMS_PER_METRIC; ++s) {
            moved_[(s * systems_ + i) * stride_ + j] = y[s] - x[s];
            row_sums_[s * systems_ + i] += y[s] - x[s];
            x_[s] += x[s], y_[s] += y[s];
        }
    }

    double pearson_of(const std::array<double, SUMS_PER_METRIC>& sums) const {
        // Rounding errors can leave a constant metric a variance of this share of its squares.
        constexpr double ROUNDING_SHARE = 1e-13;
        const double variance = sums[1] - sums[0] * sums[0] / count_;
        if (!is_defined_ || !(variance > ROUNDING_SHARE * sums[1])) return UNDEFINED_VALUE;
        const double product = sums[2] - sums[0] * z_ / count_;
        return std::clamp(product / (std::sqrt(variance) * std::sqrt(zz_)), -1.0, 1.0);
    }

    std::size_t systems_, stride_;
    std::vector<double> moved_, row_sums_;
    std::array<double, SUMS_PER_METRIC> x_{}, y_{};  // the sums when nothing is exchanged
    double count_ = 0, z_ = 0, zz_ = 0;  // the number of cells, the sums of z and of its square
    bool is_defined_ = false;
};

}  // namespace wellput
