// Correlations of a metric with people that arise by chance: the metric's systems and items are put
// into a random order, and people's stay in theirs. The scores and their ties stay the same, and so
// does what the scores of a system, or of an item, have in common.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
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

// What stays the same in all exchanges. A group of x moves as a whole, so the ranks within it do not
// change.
struct Plan {
    Coefficient coefficient;
    std::size_t systems, items;
    const double *x, *z;
    std::uint64_t seed;
    Groups people;                     // the cells that have a score of people
    std::vector<Rank> rank_x, rank_z;  // of each place within its group of x or of z
    std::size_t classes = 0;           // ranks of x are below this
};

// Sets the rank of each cell's score within its group. `classes` becomes the greatest number of ranks.
void rank_places(const Groups& groups, const double* scores, std::vector<Rank>& ranks,
                 std::size_t& classes) {
    std::vector<double> values(groups.largest);
    std::vector<Rank> found(groups.largest);
    std::vector<std::size_t> order;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const std::size_t begin = groups.starts[g], n = groups.starts[g + 1] - begin;
        for (std::size_t k = 0; k < n; ++k) values[k] = scores[groups.cells[begin + k].place];
        classes = std::max(classes, dense_ranks(values.data(), n, order, found.data()));
        for (std::size_t k = 0; k < n; ++k) ranks[groups.cells[begin + k].place] = found[k];
    }
}

// One worker thread: computes the correlation of one exchange after another.
class Exchanger {
public:
    explicit Exchanger(const Plan& plan)
        : plan_(&plan), agreement_(plan.coefficient), systems_(plan.systems), items_(plan.items) {}

    double score(std::size_t exchange) {
        reorder(systems_, 2 * exchange), reorder(items_, 2 * exchange + 1);
        agreement_.begin();
        const Groups& groups = plan_->people;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            rank_x_.clear(), rank_z_.clear(), x_.clear(), z_.clear();
            for (std::size_t k = groups.starts[g]; k < groups.starts[g + 1]; ++k) {
                const Cell& cell = groups.cells[k];
                const std::size_t from = systems_[cell.system] * plan_->items + items_[cell.item];
                if (std::isnan(plan_->x[from])) continue;
                if (uses_ranks(plan_->coefficient)) {
                    rank_x_.push_back(plan_->rank_x[from]);
                    rank_z_.push_back(plan_->rank_z[cell.place]);
                } else {
                    x_.push_back(plan_->x[from]), z_.push_back(plan_->z[cell.place]);
                }
            }
            if (uses_ranks(plan_->coefficient))
                agreement_.add_ranks(rank_x_.data(), rank_z_.data(), rank_x_.size(),
                                     plan_->classes);
            else
                agreement_.add_values(x_.data(), z_.data(), x_.size());
        }
        return agreement_.finish();
    }

private:
    void reorder(std::vector<std::size_t>& places, std::size_t stream) {
        std::iota(places.begin(), places.end(), std::size_t{0});
        shuffle(places, Stream(plan_->seed, stream));
    }

    const Plan* plan_;
    Agreement agreement_;
    std::vector<std::size_t> systems_, items_;  // of the metric, in their random order
    std::vector<Rank> rank_x_, rank_z_;
    std::vector<double> x_, z_;
};

// A matrix (1, exchanges) with the correlation of each exchange, NaN where it is undefined.
Matrix exchanged_correlations(const Scores& x, const Scores& z, const std::string& grouping,
                              const std::string& coefficient, std::size_t exchanges,
                              std::uint64_t seed, int threads) {
    require_same_shape(x, z);
    const Grouping by = grouping_named(grouping);
    require(by != Grouping::MEANS, "grouping must not be 'means'");
    Plan plan{.coefficient = coefficient_named(coefficient),
              .systems = x.shape(0),
              .items = x.shape(1),
              .x = x.data(),
              .z = z.data(),
              .seed = seed,
              .people = {},
              .rank_x = {},
              .rank_z = {}};
    double* result = nullptr;
    Matrix matrix = new_matrix(1, exchanges, &result);

    nb::gil_scoped_release release;
    const auto groups_of = [&](const double* scores) {
        return make_groups(by, plan.systems, plan.items, scores,
                           [scores](std::size_t k) { return !std::isnan(scores[k]); });
    };
    plan.people = groups_of(plan.z);
    if (uses_ranks(plan.coefficient)) {
        plan.rank_x.resize(plan.systems * plan.items),
            plan.rank_z.resize(plan.systems * plan.items);
        std::size_t classes_z = 0;  // not needed
        rank_places(groups_of(plan.x), plan.x, plan.rank_x, plan.classes);
        rank_places(plan.people, plan.z, plan.rank_z, classes_z);
    }
    for_items(
        exchanges, threads, Exchanger(plan),
        [result](Exchanger& own, std::size_t r) { result[r] = own.score(r); }, /*chunk=*/8);
    return matrix;
}

}  // namespace

void add_exchanged_correlations(nb::module_& m) {
    m.def("exchanged_correlations", &exchanged_correlations, nb::arg("x"), nb::arg("z"),
          nb::arg("grouping"), nb::arg("coefficient"), nb::arg("exchanges"), nb::arg("seed"),
          nb::arg("threads"));
}

}  // namespace wellput
