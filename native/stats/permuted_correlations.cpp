// Correlations of two metrics (x and y) with people (z) when the metrics' scores are exchanged at
// random: the scores of whole systems, of whole items, of both (a cell whose system and item are
// exchanged stays), or of single cells.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/arrays.h"
#include "core/parallel.h"
#include "core/random_stream.h"
#include "kernels.h"
#include "stats/agreement.h"
#include "stats/exchanged_sums.h"
#include "stats/pair_signs.h"

namespace nb = nanobind;

namespace wellput {

namespace {

// Which systems, items or cells are exchanged in one resample.
class Exchange {
public:
    Exchange(const std::string& swapped, std::size_t systems, std::size_t items)
        : by_system_(swapped == "systems" || swapped == "both"),
          by_item_(swapped == "items" || swapped == "both"), by_cell_(swapped == "cells"),
          items_count_(items), systems_(systems), items_(items),
          cells_(by_cell_ ? systems * items : 0) {}

    // Resample 0 exchanges nothing.
    void set(std::uint64_t seed, std::size_t resample) {
        if (resample == 0) {
            for (auto* swapped : {&systems_, &items_, &cells_})
                std::fill(swapped->begin(), swapped->end(), Weight{0});
            return;
        }
        if (by_system_) flip(Stream(seed, 2 * resample), systems_.size(), systems_.data());
        if (by_item_) flip(Stream(seed, 2 * resample + 1), items_.size(), items_.data());
        if (by_cell_) flip(Stream(seed, 2 * resample), cells_.size(), cells_.data());
    }

    bool is_by_cell() const { return by_cell_; }
    const std::vector<Weight>& systems() const { return systems_; }
    const std::vector<Weight>& items() const { return items_; }
    Weight at(std::size_t system, std::size_t item) const {
        return by_cell_ ? cells_[system * items_count_ + item] : systems_[system] ^ items_[item];
    }

private:
    bool by_system_, by_item_, by_cell_;
    std::size_t items_count_;
    std::vector<Weight> systems_, items_, cells_;
};

// What stays the same in all resamples.
struct Plan {
    Coefficient coefficient;
    Grouping grouping;
    std::size_t systems, items;
    const double *x, *y, *z;
    std::string swapped;
    std::uint64_t seed;
    Groups groups;
    std::vector<Rank> rank_x, rank_y, rank_z;  // of each cell: x and y of a group together
    std::vector<std::size_t> classes;          // distinct values of x and y in each group
    std::unique_ptr<PairSigns> signs;          // instead of ranks, for Kendall in small groups
    std::unique_ptr<ExchangedSums> sums;       // instead of cells, for Pearson over all of them

    bool is_present(std::size_t k) const {
        return !std::isnan(x[k]) && !std::isnan(y[k]) && !std::isnan(z[k]);
    }
};

void rank_groups(Plan& plan) {
    const Groups& groups = plan.groups;
    plan.rank_x.resize(groups.cells.size());
    plan.rank_y.resize(groups.cells.size());
    plan.rank_z.resize(groups.cells.size());
    std::vector<double> values(2 * groups.largest);
    std::vector<Rank> ranks(2 * groups.largest);
    std::vector<std::size_t> order;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const std::size_t begin = groups.starts[g], n = groups.starts[g + 1] - begin;
        const Cell* cells = groups.cells.data() + begin;
        for (std::size_t k = 0; k < n; ++k) {
            values[k] = plan.x[cells[k].place];
            values[n + k] = plan.y[cells[k].place];
        }
        plan.classes.push_back(dense_ranks(values.data(), 2 * n, order, ranks.data()));
        std::copy_n(ranks.data(), n, plan.rank_x.data() + begin);
        std::copy_n(ranks.data() + n, n, plan.rank_y.data() + begin);
        for (std::size_t k = 0; k < n; ++k) values[k] = plan.z[cells[k].place];
        dense_ranks(values.data(), n, order, plan.rank_z.data() + begin);
    }
}

void sign_pairs(Plan& plan) {
    const bool by_item = plan.grouping == Grouping::ITEM;
    const std::size_t groups = by_item ? plan.items : plan.systems;
    const std::size_t points = by_item ? plan.systems : plan.items;
    plan.signs = std::make_unique<PairSigns>(points);
    std::vector<double> x(points), y(points), z(points);
    for (std::size_t g = 0; g < groups; ++g) {
        for (std::size_t p = 0; p < points; ++p) {
            const std::size_t place = by_item ? p * plan.items + g : g * plan.items + p;
            x[p] = plan.x[place], y[p] = plan.y[place];
            z[p] = plan.is_present(place) ? plan.z[place] : UNDEFINED_VALUE;
        }
        plan.signs->add_group(x.data(), y.data(), z.data());
    }
}

void sum_cells(Plan& plan) {
    plan.sums = std::make_unique<ExchangedSums>(plan.systems, plan.items);
    plan.sums->add_cells(plan.x, plan.y, plan.z, plan.items,
                         [&](std::size_t k) { return plan.is_present(k); });
}

// One worker thread: computes the two correlations of one resample after another.
class Permuter {
public:
    explicit Permuter(const Plan& plan)
        : plan_(&plan), exchange_(plan.swapped, plan.systems, plan.items), first_(plan.coefficient),
          second_(plan.coefficient), masks_(plan.signs ? plan.signs->points() : 0),
          chosen_(plan.sums ? plan.sums->stride() : 0) {}

    void score(std::size_t resample, double* result) {
        exchange_.set(plan_->seed, resample);
        first_.begin(), second_.begin();
        if (plan_->signs)
            add_pair_signs();
        else if (plan_->sums)
            add_sums();
        else if (plan_->grouping == Grouping::MEANS)
            add_means();
        else
            for (std::size_t g = 0; g < plan_->groups.size(); ++g) add_group(g);
        result[0] = first_.finish();
        result[1] = second_.finish();
    }

private:
    // If a whole group is exchanged, its two correlations change places between the metrics.
    void add_pair_signs() {
        const PairSigns& signs = *plan_->signs;
        const bool by_item = plan_->grouping == Grouping::ITEM;
        if (exchange_.is_by_cell()) {
            swapped_.resize(signs.points());
            for (std::size_t g = 0; g < signs.groups(); ++g) {
                for (std::size_t p = 0; p < signs.points(); ++p)
                    swapped_[p] = by_item ? exchange_.at(p, g) : exchange_.at(g, p);
                masks_.set(swapped_.data());
                signs.score(g, g + 1, masks_, counts_, [&](std::size_t, double a, double b) {
                    first_.add(a, 1), second_.add(b, 1);
                });
            }
            return;
        }
        const auto& points = by_item ? exchange_.systems() : exchange_.items();
        const auto& groups = by_item ? exchange_.items() : exchange_.systems();
        masks_.set(points.data());
        signs.score(0, signs.groups(), masks_, counts_, [&](std::size_t g, double a, double b) {
            first_.add(groups[g] ? b : a, 1), second_.add(groups[g] ? a : b, 1);
        });
    }

    void add_sums() {
        const auto& items = exchange_.items();
        std::copy(items.begin(), items.end(), chosen_.begin());
        const auto [a, b] = plan_->sums->correlations(exchange_.systems().data(), chosen_.data());
        first_.add(a, 1), second_.add(b, 1);
    }

    void add_group(std::size_t g) {
        const Groups& groups = plan_->groups;
        const std::size_t begin = groups.starts[g], n = groups.starts[g + 1] - begin;
        const Cell* cells = groups.cells.data() + begin;
        if (uses_ranks(plan_->coefficient)) {
            rank_a_.resize(n), rank_b_.resize(n);
            for (std::size_t k = 0; k < n; ++k) {
                const bool swap = exchange_.at(cells[k].system, cells[k].item);
                const Rank x = plan_->rank_x[begin + k], y = plan_->rank_y[begin + k];
                rank_a_[k] = swap ? y : x;
                rank_b_[k] = swap ? x : y;
            }
            const Rank* z = plan_->rank_z.data() + begin;
            first_.add_ranks(rank_a_.data(), z, n, plan_->classes[g]);
            second_.add_ranks(rank_b_.data(), z, n, plan_->classes[g]);
            return;
        }
        a_.resize(n), b_.resize(n), z_.resize(n);
        for (std::size_t k = 0; k < n; ++k) {
            const bool swap = exchange_.at(cells[k].system, cells[k].item);
            const double x = plan_->x[cells[k].place], y = plan_->y[cells[k].place];
            a_[k] = swap ? y : x;
            b_[k] = swap ? x : y;
            z_[k] = plan_->z[cells[k].place];
        }
        first_.add_values(a_.data(), z_.data(), n);
        second_.add_values(b_.data(), z_.data(), n);
    }

    void add_means() {
        const Groups& groups = plan_->groups;
        a_.clear(), b_.clear(), z_.clear();
        for (std::size_t i = 0; i < groups.size(); ++i) {
            const std::size_t begin = groups.starts[i], end = groups.starts[i + 1];
            if (begin == end) continue;
            double a = 0, b = 0, z = 0;
            for (std::size_t k = begin; k < end; ++k) {
                const Cell& cell = groups.cells[k];
                const bool swap = exchange_.at(i, cell.item);
                const double x = plan_->x[cell.place], y = plan_->y[cell.place];
                a += swap ? y : x;
                b += swap ? x : y;
                z += plan_->z[cell.place];
            }
            const auto count = static_cast<double>(end - begin);
            a_.push_back(a / count), b_.push_back(b / count), z_.push_back(z / count);
        }
        first_.add_points(a_.data(), z_.data(), a_.size());
        second_.add_points(b_.data(), z_.data(), b_.size());
    }

    const Plan* plan_;
    Exchange exchange_;
    Agreement first_, second_;
    FaceMasks masks_;
    std::vector<double> chosen_;  // which items are exchanged, as 0 and 1, padded for `sums`
    std::vector<Weight> swapped_;
    std::vector<std::int32_t> counts_;
    std::vector<Rank> rank_a_, rank_b_;
    std::vector<double> a_, b_, z_;
};

// A matrix (1 + n_resamples, 2) with the correlations of both metrics; in row 0 nothing is exchanged.
Matrix permuted_correlations(const Scores& x, const Scores& y, const Scores& z,
                             const std::string& grouping, const std::string& coefficient,
                             const std::string& swapped, std::size_t n_resamples,
                             std::uint64_t seed, int threads) {
    require_same_shape(x, y);
    require_same_shape(x, z);
    Plan plan{.coefficient = coefficient_named(coefficient),
              .grouping = grouping_named(grouping),
              .systems = x.shape(0),
              .items = x.shape(1),
              .x = x.data(),
              .y = y.data(),
              .z = z.data(),
              .swapped = swapped,
              .seed = seed,
              .groups = {},
              .rank_x = {},
              .rank_y = {},
              .rank_z = {},
              .classes = {},
              .signs = {},
              .sums = {}};
    double* result = nullptr;
    Matrix matrix = new_matrix(n_resamples + 1, 2, &result);

    nb::gil_scoped_release release;
    const std::size_t points = plan.grouping == Grouping::ITEM     ? plan.systems
                               : plan.grouping == Grouping::SYSTEM ? plan.items
                                                                   : MAX_PAIR_SIGN_POINTS + 1;
    if (plan.coefficient == Coefficient::KENDALL && points <= MAX_PAIR_SIGN_POINTS) {
        sign_pairs(plan);
    } else if (plan.coefficient == Coefficient::PEARSON && plan.grouping == Grouping::POOLED &&
               plan.swapped != "cells") {
        sum_cells(plan);
    } else {
        plan.groups = make_groups(plan.grouping, plan.systems, plan.items, plan.z,
                                  [&](std::size_t k) { return plan.is_present(k); });
        if (uses_ranks(plan.coefficient) && plan.grouping != Grouping::MEANS) rank_groups(plan);
    }
    for_items(
        n_resamples + 1, threads, Permuter(plan),
        [result](Permuter& own, std::size_t r) { own.score(r, result + 2 * r); }, /*chunk=*/8);
    return matrix;
}

}  // namespace

void add_permuted_correlations(nb::module_& m) {
    m.def("permuted_correlations", &permuted_correlations, nb::arg("x"), nb::arg("y"), nb::arg("z"),
          nb::arg("grouping"), nb::arg("coefficient"), nb::arg("swapped"), nb::arg("n_resamples"),
          nb::arg("seed"), nb::arg("threads"));
}

}  // namespace wellput
