// Pearson's r of two metrics with people over all cells, when whole systems and whole items are
// exchanged. It is computed from sums that an exchange moves from one metric to the other, not from
// the cells.
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

constexpr std::size_t kLanes = 4;
constexpr std::size_t kSums = 3;

// Adds values[i] where chosen[i] is 1, in four lanes: the same digits with and without vector
// instructions.
WELLPUT_CLONES
static void add_chosen(const double* values, const double* chosen, std::size_t n, double* lanes) {
    double sums[kLanes] = {};
    for (std::size_t i = 0; i < n; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            sums[lane] += values[i + lane] * chosen[i + lane];
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += sums[lane];
}

// A cell is exchanged if its system or its item is, but not both. With t_i the sum over system i's
// chosen items, a system that is not exchanged moves t_i, and one that is exchanged moves the rest
// of its row.
class ExchangedSums {
public:
    ExchangedSums(std::size_t systems, std::size_t items)
        : systems_(systems), stride_((items + kLanes - 1) / kLanes * kLanes),
          moved_(kSums * systems * stride_), rows_(kSums * systems) {}

    // Systems × items arrays; `present` says of a place whether all three have it.
    template <typename Present>
    void add_cells(const double* x, const double* y, const double* z, std::size_t items,
                   Present present) {
        std::vector<double> seen_x, seen_y, seen_z;
        double middle = 0, middle_z = 0;  // r does not change when all scores are shifted
        for (std::size_t k = 0; k < systems_ * items; ++k)
            if (present(k)) {
                seen_x.push_back(x[k]), seen_y.push_back(y[k]), seen_z.push_back(z[k]);
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

    // `systems` and `items` are 1 where exchanged; `items` must be padded with 0 to `stride()`.
    std::array<double, 2> correlations(const Weight* systems, const double* items) const {
        std::array<double, kSums> first = x_, second = y_;
        for (std::size_t i = 0; i < systems_; ++i)
            for (std::size_t s = 0; s < kSums; ++s) {
                std::array<double, kLanes> lanes{};
                add_chosen(&moved_[(s * systems_ + i) * stride_], items, stride_, lanes.data());
                const double chosen = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
                const double moved = systems[i] ? rows_[s * systems_ + i] - chosen : chosen;
                first[s] += moved, second[s] -= moved;
            }
        return {pearson_of(first), pearson_of(second)};
    }

    std::size_t stride() const { return stride_; }

private:
    // Both metrics' value, square and product with z.
    void add_cell(std::size_t i, std::size_t j, const std::array<double, kSums>& x,
                  const std::array<double, kSums>& y) {
        for (std::size_t s = 0; s < kSums; ++s) {
            moved_[(s * systems_ + i) * stride_ + j] = y[s] - x[s];
            rows_[s * systems_ + i] += y[s] - x[s];
            x_[s] += x[s], y_[s] += y[s];
        }
    }

    double pearson_of(const std::array<double, kSums>& sums) const {
        constexpr double kRounding = 1e-13;  // remainder of the squares of a constant
        const double variance = sums[1] - sums[0] * sums[0] / count_;
        if (!is_defined_ || !(variance > kRounding * sums[1])) return kUndefined;
        const double product = sums[2] - sums[0] * z_ / count_;
        return std::clamp(product / (std::sqrt(variance) * std::sqrt(zz_)), -1.0, 1.0);
    }

    std::size_t systems_, stride_;
    std::vector<double> moved_, rows_;
    std::array<double, kSums> x_{}, y_{};
    double count_ = 0, z_ = 0, zz_ = 0;
    bool is_defined_ = false;
};

}  // namespace wellput
