// The agreement of a metric with people: groups of points, and the mean of their correlations.
//
// Scores are systems × items arrays, NaN where missing: x is the metric's, z people's. One correlation
// is computed over each group of points: all cells, the systems of one item, the items of one system,
// or the systems' mean scores.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "stats/rank_statistics.h"
#include "stats/tie_calibration.h"

namespace wellput {

using Scores = Array<double, 2>;

inline void require_same_shape(const Scores& x, const Scores& other) {
    require(x.shape(0) == other.shape(0) && x.shape(1) == other.shape(1),
            "the scores have different systems or items");
}

// KENDALL is tau-b, KENDALL_C tau-c; ACC_T is pairwise accuracy with tie calibration.
enum class Coefficient { PEARSON, SPEARMAN, KENDALL, KENDALL_C, ACC_T };

inline Coefficient coefficient_named(const std::string& name) {
    if (name == "pearson") return Coefficient::PEARSON;
    if (name == "spearman") return Coefficient::SPEARMAN;
    if (name == "kendall") return Coefficient::KENDALL;
    if (name == "kendall-c") return Coefficient::KENDALL_C;
    if (name == "acc-t") return Coefficient::ACC_T;
    throw std::invalid_argument("unknown coefficient " + name);
}

inline bool uses_ranks(Coefficient coefficient) {
    return coefficient != Coefficient::PEARSON && coefficient != Coefficient::ACC_T;
}

enum class Grouping { POOLED, ITEM, SYSTEM, MEANS };

inline Grouping grouping_named(const std::string& name) {
    if (name == "pooled") return Grouping::POOLED;
    if (name == "item") return Grouping::ITEM;
    if (name == "system") return Grouping::SYSTEM;
    if (name == "means") return Grouping::MEANS;
    throw std::invalid_argument("no grouping " + name);
}

struct Cell {
    std::uint32_t system, item;
    std::size_t place;  // in the systems × items array
};

// The present cells of every group one after the other, within a group in ascending order of z.
struct Groups {
    std::vector<Cell> cells;
    std::vector<std::size_t> starts{0};
    std::size_t largest = 0;

    std::size_t size() const { return starts.size() - 1; }

    // Ends a group: sorts its cells by z. Cells that the caller will average stay in the order of items
    // instead.
    void close(const double* z, bool is_sorted_by_z = true) {
        if (is_sorted_by_z)
            std::sort(cells.begin() + static_cast<std::ptrdiff_t>(starts.back()), cells.end(),
                      [z](const Cell& a, const Cell& b) {
                          return z[a.place] != z[b.place] ? z[a.place] < z[b.place]
                                                          : a.place < b.place;
                      });
        largest = std::max(largest, cells.size() - starts.back());
        starts.push_back(cells.size());
    }
};

// `present(place)` says whether no score of a cell is missing. For `MEANS`, a group has the cells of
// one system, which the caller averages.
template <typename Present>
Groups make_groups(Grouping grouping, std::size_t systems, std::size_t items, const double* z,
                   Present present) {
    Groups groups;
    const auto add = [&](std::size_t i, std::size_t j) {
        const std::size_t place = i * items + j;
        if (present(place))
            groups.cells.push_back(
                {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), place});
    };
    if (grouping == Grouping::ITEM) {
        for (std::size_t j = 0; j < items; ++j) {
            for (std::size_t i = 0; i < systems; ++i) add(i, j);
            groups.close(z);
        }
        return groups;
    }
    for (std::size_t i = 0; i < systems; ++i) {
        for (std::size_t j = 0; j < items; ++j) add(i, j);
        if (grouping != Grouping::POOLED) groups.close(z, grouping != Grouping::MEANS);
    }
    if (grouping == Grouping::POOLED) groups.close(z);
    return groups;
}

// The weighted mean of a coefficient over the groups where it is defined.
class Agreement {
public:
    explicit Agreement(Coefficient coefficient) : coefficient_(coefficient) {}

    void begin() {
        sum_ = weights_ = 0;
        ties_.begin();
    }

    // Adds a group by the ranks of its points, in ascending order of z. Ranks of x are below `classes`.
    void add_ranks(const Rank* x, const Rank* z, std::size_t n, std::size_t classes,
                   double weight = 1) {
        if (n < 2) return;
        add(coefficient_ == Coefficient::SPEARMAN  ? ranks_.spearman(x, z, n, classes)
            : coefficient_ == Coefficient::KENDALL ? ranks_.kendall_b(x, z, n, classes)
                                                   : ranks_.kendall_c(x, z, n, classes),
            weight);
    }

    // Adds a group by the values of its points in any order, for a coefficient without ranks.
    void add_values(const double* x, const double* z, std::size_t n, double weight = 1) {
        if (coefficient_ == Coefficient::ACC_T)
            ties_.add(x, z, n, weight);
        else
            add(pearson(x, z, n), weight);
    }

    // As `add_values`, but for any coefficient: ranks are made here if needed.
    void add_points(const double* x, const double* z, std::size_t n) {
        if (!uses_ranks(coefficient_)) return add_values(x, z, n);
        rank_x_.resize(n), rank_z_.resize(n), sorted_x_.resize(n), sorted_z_.resize(n);
        const std::size_t classes = dense_ranks(x, n, order_, rank_x_.data());
        dense_ranks(z, n, order_, rank_z_.data());  // leaves the points' order by z in order_
        for (std::size_t i = 0; i < n; ++i) {
            sorted_x_[i] = rank_x_[order_[i]];
            sorted_z_[i] = rank_z_[order_[i]];
        }
        add_ranks(sorted_x_.data(), sorted_z_.data(), n, classes);
    }

    // Adds the coefficient of a group.
    void add(double value, double weight) {
        if (std::isnan(value)) return;
        sum_ += weight * value;
        weights_ += weight;
    }

    double finish() {
        if (coefficient_ == Coefficient::ACC_T) return ties_.finish();
        return weights_ > 0 ? sum_ / weights_ : UNDEFINED_VALUE;
    }
    // The number of groups in the mean; a group counts as often as its weight says.
    double groups() const {
        return coefficient_ == Coefficient::ACC_T ? ties_.weights() : weights_;
    }
    // The tie threshold of pairwise accuracy (tie_calibration.h).
    double epsilon() const {
        return coefficient_ == Coefficient::ACC_T ? ties_.epsilon() : UNDEFINED_VALUE;
    }

private:
    Coefficient coefficient_;
    RankStatistics ranks_;
    TieCalibration ties_;
    std::vector<std::size_t> order_;
    std::vector<Rank> rank_x_, rank_z_, sorted_x_, sorted_z_;
    double sum_ = 0, weights_ = 0;
};

}  // namespace wellput
