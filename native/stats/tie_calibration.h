// Pairwise accuracy with tie calibration (Deutsch, Foster & Freitag 2023).
//
// A pair of points counts as right if the metric and people give it the same order, or both tie it.
// Metric scores that differ by at most epsilon count as tied. One epsilon is chosen for all groups: the
// one with the greatest mean accuracy. When epsilon grows past the distance of a pair's metric scores,
// only this pair changes: if people tie it, it becomes right; if it was in the same order as people's,
// it becomes wrong; otherwise it stays wrong.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stats/rank_statistics.h"

namespace wellput {

class TieCalibration {
public:
    void begin() {
        changes_.clear();
        right_ = weights_ = 0;
        is_undefined_ = false;
    }

    void add(const double* x, const double* z, std::size_t n, double weight) {
        if (n < 2) return;
        // A mean of infinities of both signs is NaN; a pair with it is neither ordered nor tied.
        const auto is_nan = [](double value) { return std::isnan(value); };
        if (std::any_of(x, x + n, is_nan) || std::any_of(z, z + n, is_nan)) is_undefined_ = true;
        if (is_undefined_) return;
        const double share = weight / static_cast<double>(pairs_of(static_cast<std::int64_t>(n)));
        weights_ += weight;
        std::int64_t right = 0;
        for (std::size_t i = 0; i + 1 < n; ++i) {
            for (std::size_t j = i + 1; j < n; ++j) {
                const double dx = apart(x[i], x[j]), dz = apart(z[i], z[j]);
                if (dz == 0) {
                    if (dx == 0)
                        ++right;
                    else
                        changes_.push_back({std::abs(dx), share});
                } else if (dx != 0 && (dx > 0) == (dz > 0)) {
                    ++right;
                    changes_.push_back({std::abs(dx), -share});
                }
            }
        }
        right_ += share * static_cast<double>(right);
    }

    // The greatest mean accuracy; `epsilon()` is then the smallest threshold that gives it.
    double finish() {
        // Sums of shares have rounding errors: a threshold must be better by more than these.
        constexpr double ROUNDING_SHARE = 1e-12;
        epsilon_ = 0;
        if (weights_ == 0 || is_undefined_) return UNDEFINED_VALUE;
        std::sort(changes_.begin(), changes_.end(),
                  [](const Change& a, const Change& b) { return a.distance < b.distance; });
        double right = right_, best = right_;
        for (std::size_t i = 0; i < changes_.size();) {
            const double distance = changes_[i].distance;
            for (; i < changes_.size() && changes_[i].distance == distance; ++i)
                right += changes_[i].gain;
            if (right > best + ROUNDING_SHARE * weights_) best = right, epsilon_ = distance;
        }
        return best / weights_;
    }

    double epsilon() const { return epsilon_; }
    double weights() const { return weights_; }

private:
    // The difference of two scores; 0 for equal infinities.
    static double apart(double a, double b) { return a == b ? 0 : a - b; }

    struct Change {
        double distance, gain;
    };
    std::vector<Change> changes_;
    double right_ = 0, weights_ = 0, epsilon_ = 0;
    bool is_undefined_ = false;
};

}  // namespace wellput
