// Correlations of a metric with people under the bootstrap: systems, items or both are drawn with
// replacement (Deutsch, Dror & Roth 2021). A system that is drawn twice counts as two points.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/arrays.h"
#include "core/parallel.h"
#include "core/random_stream.h"
#include "kernels.h"
#include "stats/agreement.h"

namespace nb = nanobind;

namespace wellput {
namespace {

// What stays the same in all resamples: the groups and their ranks.
struct Plan {
    Coefficient coefficient;
    Grouping grouping;
    std::size_t systems, items;
    const double *x, *z;
    bool draws_systems, draws_items;
    std::uint64_t seed;
    Groups groups;
    std::vector<Rank> rank_x, rank_z;  // of each cell within its group
    std::vector<std::size_t> classes;  // distinct values of x in each group
};

// Sets the ranks of the cells within their groups.
void rank_groups(Plan& plan) {
    const Groups& groups = plan.groups;
    plan.rank_x.resize(groups.cells.size());
    plan.rank_z.resize(groups.cells.size());
    std::vector<double> values(groups.largest);
    std::vector<std::size_t> order;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const std::size_t begin = groups.starts[g], n = groups.starts[g + 1] - begin;
        for (std::size_t k = 0; k < n; ++k) values[k] = plan.x[groups.cells[begin + k].place];
        plan.classes.push_back(dense_ranks(values.data(), n, order, plan.rank_x.data() + begin));
        for (std::size_t k = 0; k < n; ++k) values[k] = plan.z[groups.cells[begin + k].place];
        dense_ranks(values.data(), n, order, plan.rank_z.data() + begin);
    }
}

// One worker thread: computes the correlation of one resample after another.
class Resampler {
public:
    explicit Resampler(const Plan& plan)
        : plan_(&plan), agreement_(plan.coefficient), system_draws_(plan.systems, 1),
          item_draws_(plan.items, 1) {}

    // Resample 0 is the sample itself. `result` gets the correlation, the number of groups in the mean,
    // and the tie threshold.
    void score(std::size_t resample, double* result) {
        if (resample) {
            if (plan_->draws_systems)
                draw(Stream(plan_->seed, 2 * resample), plan_->systems, system_draws_.data());
            if (plan_->draws_items)
                draw(Stream(plan_->seed, 2 * resample + 1), plan_->items, item_draws_.data());
        } else {
            system_draws_.assign(plan_->systems, 1);
            item_draws_.assign(plan_->items, 1);
        }
        agreement_.begin();
        if (plan_->grouping == Grouping::MEANS)
            add_means();
        else
            for (std::size_t g = 0; g < plan_->groups.size(); ++g) add_group(g);
        result[0] = agreement_.finish();
        result[1] = agreement_.groups();
        result[2] = agreement_.epsilon();
    }

private:
    void add_group(std::size_t g) {
        const Groups& groups = plan_->groups;
        const std::size_t begin = groups.starts[g], end = groups.starts[g + 1];
        if (begin == end) return;
        const Cell& first = groups.cells[begin];
        const Weight weight = plan_->grouping == Grouping::ITEM     ? item_draws_[first.item]
                              : plan_->grouping == Grouping::SYSTEM ? system_draws_[first.system]
                                                                    : Weight{1};
        if (!weight) return;
        if (uses_ranks(plan_->coefficient)) {
            rank_x_.clear(), rank_z_.clear();
            for (std::size_t k = begin; k < end; ++k) {
                const std::size_t copies = copies_of(groups.cells[k]);
                rank_x_.insert(rank_x_.end(), copies, plan_->rank_x[k]);
                rank_z_.insert(rank_z_.end(), copies, plan_->rank_z[k]);
            }
            agreement_.add_ranks(rank_x_.data(), rank_z_.data(), rank_x_.size(), plan_->classes[g],
                                 weight);
            return;
        }
        x_.clear(), z_.clear();
        for (std::size_t k = begin; k < end; ++k) {
            const Cell& cell = groups.cells[k];
            const std::size_t copies = copies_of(cell);
            x_.insert(x_.end(), copies, plan_->x[cell.place]);
            z_.insert(z_.end(), copies, plan_->z[cell.place]);
        }
        agreement_.add_values(x_.data(), z_.data(), x_.size(), weight);
    }

    // How often a cell counts as a point of its group. (How often the group itself was drawn is its
    // weight in the mean.)
    std::size_t copies_of(const Cell& cell) const {
        const std::size_t systems =
            plan_->grouping == Grouping::SYSTEM ? 1 : system_draws_[cell.system];
        const std::size_t items = plan_->grouping == Grouping::ITEM ? 1 : item_draws_[cell.item];
        return systems * items;
    }

    void add_means() {
        const Groups& groups = plan_->groups;
        x_.clear(), z_.clear();
        for (std::size_t i = 0; i < groups.size(); ++i) {
            double sum_x = 0, sum_z = 0, count = 0;
            for (std::size_t k = groups.starts[i]; k < groups.starts[i + 1]; ++k) {
                const Cell& cell = groups.cells[k];
                const double weight = item_draws_[cell.item];
                sum_x += weight * plan_->x[cell.place];
                sum_z += weight * plan_->z[cell.place];
                count += weight;
            }
            if (count == 0) continue;
            x_.insert(x_.end(), system_draws_[i], sum_x / count);
            z_.insert(z_.end(), system_draws_[i], sum_z / count);
        }
        agreement_.add_points(x_.data(), z_.data(), x_.size());
    }

    const Plan* plan_;
    Agreement agreement_;
    std::vector<Weight> system_draws_, item_draws_;  // how often each system and item was drawn
    std::vector<Rank> rank_x_, rank_z_;
    std::vector<double> x_, z_;
};

// A matrix (1 + n_resamples, 3) with the correlation, the number of groups in the mean, and the tie
// threshold of each resample; row 0 is for the sample itself.
Matrix bootstrapped_correlations(const Scores& x, const Scores& z, const std::string& grouping,
                                 const std::string& coefficient, const std::string& drawn,
                                 std::size_t n_resamples, std::uint64_t seed, int threads) {
    require_same_shape(x, z);
    Plan plan{.coefficient = coefficient_named(coefficient),
              .grouping = grouping_named(grouping),
              .systems = x.shape(0),
              .items = x.shape(1),
              .x = x.data(),
              .z = z.data(),
              .draws_systems = drawn != "items",
              .draws_items = drawn != "systems",
              .seed = seed,
              .groups = {},
              .rank_x = {},
              .rank_z = {},
              .classes = {}};
    double* result = nullptr;
    Matrix matrix = new_matrix(n_resamples + 1, 3, &result);

    nb::gil_scoped_release release;
    plan.groups = make_groups(plan.grouping, plan.systems, plan.items, plan.z, [&](std::size_t k) {
        return !std::isnan(plan.x[k]) && !std::isnan(plan.z[k]);
    });
    if (uses_ranks(plan.coefficient) && plan.grouping != Grouping::MEANS) rank_groups(plan);
    for_items(
        n_resamples + 1, threads, Resampler(plan),
        [result](Resampler& own, std::size_t r) { own.score(r, result + 3 * r); }, /*chunk=*/8);
    return matrix;
}

}  // namespace

void add_bootstrapped_correlations(nb::module_& m) {
    m.def("bootstrapped_correlations", &bootstrapped_correlations, nb::arg("x"), nb::arg("z"),
          nb::arg("grouping"), nb::arg("coefficient"), nb::arg("drawn"), nb::arg("n_resamples"),
          nb::arg("seed"), nb::arg("threads"));
}

}  // namespace wellput
