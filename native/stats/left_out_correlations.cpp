// Correlations of a metric (x) with people (z), and the correlations that remain when each single cell
// is left out, for a jackknife.
//
// The correlation without a cell is not computed anew. For Pearson's r, the cell's terms are taken out
// of the sums of squares. For rank correlations one number per point is enough: the sum over all other
// points of (1 if the other's x is greater, 1/2 if equal) times (the same for z). From it follow the
// point's concordant minus discordant pairs, and the change of the sum of rank products when the point
// is left out. A Fenwick tree (a tree of partial counts) over the ranks of z computes this number for
// all points in n log n steps.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/arrays.h"
#include "kernels.h"
#include "stats/agreement.h"

namespace nb = nanobind;

namespace wellput {
namespace {

// A correlation from sums of products and squares of deviations from the mean.
double ratio(double product, double squares_x, double squares_z) {
    if (!(squares_x > 0 && squares_z > 0)) return UNDEFINED_VALUE;
    return std::clamp(product / std::sqrt(squares_x) / std::sqrt(squares_z), -1.0, 1.0);
}

// Counts inserted ranks (a Fenwick tree).
class Tally {
public:
    void reset(std::size_t classes) {
        tree_.assign(classes + 1, 0);
        counts_.assign(classes, 0);
        total_ = 0;
    }
    void insert(Rank rank) {
        ++counts_[static_cast<std::size_t>(rank)];
        ++total_;
        for (auto i = static_cast<std::size_t>(rank) + 1; i < tree_.size(); i += i & (~i + 1))
            ++tree_[i];
    }
    // The number of inserted ranks above this rank, plus half the number of equal ones.
    double above(Rank rank) const {
        std::int64_t upto = 0;
        for (auto i = static_cast<std::size_t>(rank) + 1; i > 0; i &= i - 1) upto += tree_[i];
        return static_cast<double>(total_ - upto) +
               0.5 * static_cast<double>(counts_[static_cast<std::size_t>(rank)]);
    }

private:
    std::vector<std::int64_t> tree_, counts_;
    std::int64_t total_ = 0;
};

// The ranks of one variable's values. A class is a set of points with equal values.
struct Ranked {
    std::vector<Rank> ranks;           // dense, from 0
    std::vector<std::size_t> order;    // of the points, ascending
    std::vector<std::int64_t> counts;  // of each class
    std::vector<double> above;         // of each point: points above it, plus half of its equals

    void set(const std::vector<double>& values) {
        const std::size_t n = values.size();
        ranks.resize(n), above.resize(n);
        counts.assign(dense_ranks(values.data(), n, order, ranks.data()), 0);
        for (const Rank rank : ranks) ++counts[static_cast<std::size_t>(rank)];
        std::vector<double> class_above(counts.size());
        std::int64_t greater = 0;
        for (std::size_t c = counts.size(); c-- > 0;) {
            class_above[c] =
                static_cast<double>(greater) + 0.5 * static_cast<double>(counts[c] - 1);
            greater += counts[c];
        }
        for (std::size_t p = 0; p < n; ++p)
            above[p] = class_above[static_cast<std::size_t>(ranks[p])];
    }
    std::int64_t equals(std::size_t p) const {
        return counts[static_cast<std::size_t>(ranks[p])] - 1;
    }
    // For each point: the sum of `values` over the points above it, plus half of the sum over its
    // equals.
    std::vector<double> sums_above(const std::vector<double>& values) const {
        std::vector<double> sums(counts.size(), 0.0);
        for (std::size_t p = 0; p < ranks.size(); ++p)
            sums[static_cast<std::size_t>(ranks[p])] += values[p];
        std::vector<double> greater(counts.size(), 0.0);
        for (std::size_t c = counts.size(); c-- > 1;) greater[c - 1] = greater[c] + sums[c];
        std::vector<double> result(ranks.size());
        for (std::size_t p = 0; p < ranks.size(); ++p) {
            const auto c = static_cast<std::size_t>(ranks[p]);
            result[p] = greater[c] + 0.5 * (sums[c] - values[p]);
        }
        return result;
    }
};

// The points of one group, the coefficient of all of them (`value`), and the coefficients when each
// point is left out (`without`).
class Group {
public:
    std::vector<double> x, z, without;
    double value = UNDEFINED_VALUE;

    void correlate(Coefficient coefficient, double epsilon) {
        without.assign(x.size(), UNDEFINED_VALUE);
        value = UNDEFINED_VALUE;
        if (x.size() < 2) return;
        if (coefficient == Coefficient::PEARSON) return pearsons_r();
        if (coefficient == Coefficient::ACC_T) return accuracy(epsilon);
        x_.set(x), z_.set(z);
        count_above_both();
        if (coefficient == Coefficient::SPEARMAN) return spearman();
        kendall(coefficient == Coefficient::KENDALL_C);
    }

private:
    void pearsons_r() {
        const auto n = static_cast<double>(x.size());
        double mean_x = 0, mean_z = 0, xx = 0, zz = 0, xz = 0;
        for (std::size_t p = 0; p < x.size(); ++p) mean_x += x[p], mean_z += z[p];
        mean_x /= n, mean_z /= n;
        for (std::size_t p = 0; p < x.size(); ++p) {
            const double dx = x[p] - mean_x, dz = z[p] - mean_z;
            xx += dx * dx, zz += dz * dz, xz += dx * dz;
        }
        value = pearson(x.data(), z.data(), x.size());
        if (x.size() < 3 || std::isnan(value)) return;
        // Without a point, a sum of products of deviations is less by the point's own product times
        // n / (n - 1). If what is left is no larger than rounding errors, it counts as 0.
        constexpr double ROUNDING_SHARE = 1e-12;
        for (std::size_t p = 0; p < x.size(); ++p) {
            const double dx = x[p] - mean_x, dz = z[p] - mean_z, share = n / (n - 1);
            const double left_x = xx - share * dx * dx, left_z = zz - share * dz * dz;
            if (left_x > ROUNDING_SHARE * xx && left_z > ROUNDING_SHARE * zz)
                without[p] = ratio(xz - share * dx * dz, left_x, left_z);
        }
    }

    // Pairwise accuracy: metric scores that differ by at most epsilon are tied; a tie is right if
    // people tie the pair, too.
    void accuracy(double epsilon) {
        const std::size_t n = x.size();
        std::vector<std::int64_t> right(n, 0);
        std::int64_t all = 0;
        for (std::size_t p = 0; p + 1 < n; ++p) {
            for (std::size_t q = p + 1; q < n; ++q) {
                const double dx = x[p] - x[q], dz = z[p] - z[q];
                const bool is_tied = std::abs(dx) <= epsilon;
                const std::int64_t is_right = dz == 0 ? is_tied : !is_tied && (dx > 0) == (dz > 0);
                right[p] += is_right, right[q] += is_right, all += is_right;
            }
        }
        const auto size = static_cast<std::int64_t>(n);
        value = static_cast<double>(all) / static_cast<double>(pairs_of(size));
        if (n < 3) return;
        for (std::size_t p = 0; p < n; ++p)
            without[p] =
                static_cast<double>(all - right[p]) / static_cast<double>(pairs_of(size - 1));
    }

    // Sets for each point the number that the top of this file describes, in descending order of x.
    void count_above_both() {
        const std::size_t n = x.size();
        above_both_.assign(n, 0.0);
        tally_.reset(z_.counts.size());
        for (std::size_t end = n; end > 0;) {
            std::size_t begin = end;
            while (begin > 0 && x_.ranks[x_.order[begin - 1]] == x_.ranks[x_.order[end - 1]])
                --begin;
            // Half of the count before the point's own class of x is inserted, plus half of the count
            // after: so points with equal x count half.
            for (std::size_t k = begin; k < end; ++k)
                above_both_[x_.order[k]] = 0.5 * tally_.above(z_.ranks[x_.order[k]]);
            for (std::size_t k = begin; k < end; ++k) tally_.insert(z_.ranks[x_.order[k]]);
            for (std::size_t k = begin; k < end; ++k)  // without the 1/2 of the point itself
                above_both_[x_.order[k]] += 0.5 * (tally_.above(z_.ranks[x_.order[k]]) - 0.5);
            end = begin;
        }
    }

    void spearman() {
        const auto n = static_cast<double>(x.size());
        std::vector<double> ranks_x(x.size()), ranks_z(x.size());
        double products = 0;
        for (std::size_t p = 0; p < x.size(); ++p) {
            ranks_x[p] = n - x_.above[p], ranks_z[p] = n - z_.above[p];
            products += ranks_x[p] * ranks_z[p];
        }
        const double ties_x = tied_cubes(x_), ties_z = tied_cubes(z_);
        const auto rho = [](double m, double product, double tied_x, double tied_z) {
            const double squares = (m * m * m - m) / 12;
            return ratio(product - m * (m + 1) * (m + 1) / 4, squares - tied_x, squares - tied_z);
        };
        value = rho(n, products, ties_x, ties_z);
        if (x.size() < 3) return;
        // Without a point, the ranks of the points above it are 1 less, those of its equals 1/2 less.
        const std::vector<double> lost_z = x_.sums_above(ranks_z), lost_x = z_.sums_above(ranks_x);
        for (std::size_t p = 0; p < x.size(); ++p) {
            const double left =
                products - ranks_x[p] * ranks_z[p] - lost_z[p] - lost_x[p] + above_both_[p];
            without[p] = rho(n - 1, left, ties_x - lost_cubes(x_, p), ties_z - lost_cubes(z_, p));
        }
    }
    // The sum over classes of (t³ − t) / 12, where t is the number of points in the class.
    static double tied_cubes(const Ranked& ranked) {
        double sum = 0;
        for (const std::int64_t count : ranked.counts) {
            const auto t = static_cast<double>(count);
            sum += (t * t * t - t) / 12;
        }
        return sum;
    }
    // How much smaller this sum is without a point.
    static double lost_cubes(const Ranked& ranked, std::size_t p) {
        const auto t = static_cast<double>(ranked.equals(p) + 1);
        return t * (t - 1) / 4;
    }

    void kendall(bool is_tau_c) {
        const auto n = static_cast<double>(x.size());
        std::vector<double> signs(x.size());  // concordant minus discordant pairs of each point
        double sum = 0, untied_x = 0, untied_z = 0;
        for (std::size_t p = 0; p < x.size(); ++p) {
            // The sum over the other points of (2 a - 1) (2 b - 1), where a is 1 if the other's x is
            // greater, 1/2 if equal, else 0, and b is the same for z.
            signs[p] = 4 * above_both_[p] - 2 * x_.above[p] - 2 * z_.above[p] + n - 1;
            sum += signs[p] / 2;
            untied_x += untied(x_, p) / 2, untied_z += untied(z_, p) / 2;
        }
        const auto tau = [&](double m, double concordance, double pairs_x, double pairs_z,
                             std::size_t classes_x, std::size_t classes_z) {
            if (!is_tau_c) return ratio(concordance, pairs_x, pairs_z);
            const auto fewer = static_cast<double>(std::min(classes_x, classes_z));
            return fewer < 2 ? UNDEFINED_VALUE : 2 * concordance / (m * m * (fewer - 1) / fewer);
        };
        const std::size_t classes_x = x_.counts.size(), classes_z = z_.counts.size();
        value = tau(n, sum, untied_x, untied_z, classes_x, classes_z);
        if (x.size() < 3) return;
        for (std::size_t p = 0; p < x.size(); ++p)
            without[p] =
                tau(n - 1, sum - signs[p], untied_x - untied(x_, p), untied_z - untied(z_, p),
                    classes_x - (x_.equals(p) == 0), classes_z - (z_.equals(p) == 0));
    }
    // The number of points that are not tied with this one.
    static double untied(const Ranked& ranked, std::size_t p) {
        return static_cast<double>(static_cast<std::int64_t>(ranked.ranks.size()) - 1 -
                                   ranked.equals(p));
    }

    Ranked x_, z_;
    Tally tally_;
    std::vector<double> above_both_;
};

// Two matrices: the coefficient of every group (1, groups), and for each cell the coefficient of its
// group without this cell (systems, items). NaN where it is undefined or the cell is missing.
nb::tuple left_out_correlations(const Scores& x, const Scores& z, const std::string& grouping,
                                const std::string& coefficient, double epsilon) {
    require_same_shape(x, z);
    const Grouping by = grouping_named(grouping);
    require(by != Grouping::MEANS, "grouping must not be 'means'");
    const Coefficient kind = coefficient_named(coefficient);
    const std::size_t systems = x.shape(0), items = x.shape(1);
    const std::size_t n_groups = by == Grouping::POOLED ? 1
                                 : by == Grouping::ITEM ? items
                                                        : systems;
    double *values = nullptr, *without = nullptr;
    Matrix value_matrix = new_matrix(1, n_groups, &values);
    Matrix without_matrix = new_matrix(systems, items, &without);
    {
        nb::gil_scoped_release release;
        std::fill(without, without + systems * items, UNDEFINED_VALUE);
        const Groups groups = make_groups(by, systems, items, z.data(), [&](std::size_t k) {
            return !std::isnan(x.data()[k]) && !std::isnan(z.data()[k]);
        });
        Group group;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const std::size_t begin = groups.starts[g], n = groups.starts[g + 1] - begin;
            group.x.resize(n), group.z.resize(n);
            for (std::size_t k = 0; k < n; ++k) {
                group.x[k] = x.data()[groups.cells[begin + k].place];
                group.z[k] = z.data()[groups.cells[begin + k].place];
            }
            group.correlate(kind, epsilon);
            values[g] = group.value;
            for (std::size_t k = 0; k < n; ++k)
                without[groups.cells[begin + k].place] = group.without[k];
        }
    }
    return nb::make_tuple(value_matrix, without_matrix);
}

}  // namespace

void add_left_out_correlations(nb::module_& m) {
    m.def("left_out_correlations", &left_out_correlations, nb::arg("x"), nb::arg("z"),
          nb::arg("grouping"), nb::arg("coefficient"), nb::arg("epsilon"));
}

}  // namespace wellput
