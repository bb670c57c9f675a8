// Two learners of linear functions over sparse binary features: real AdaBoost with decision stumps
// (Schapire & Singer 1999; BoosTexter), and logistic regression with an L2 penalty.
//
// Features are numbered below `width`. Examples are rows of the features that they have: those of
// example i stand in `columns` from rows[i] to rows[i + 1], without the end.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "kernels.h"

namespace wellput {
namespace {

namespace nb = nanobind;
template <typename T>
using Input = Array<T>;

struct Examples {
    Examples(const Input<std::uint64_t>& rows, const Input<std::uint32_t>& columns,
             const Input<std::uint8_t>& labels, std::size_t width)
        : n(rows.size() - 1), rows(rows.data()), columns(columns.data()) {
        require_pieces(values_of(rows), columns.size(),
                       "the beginnings of the rows are out of order");
        require_below(values_of(columns), width, "a column is out of range");
        require(labels.size() == n, "a label is needed for each row");
        require_below(values_of(labels), 2, "a label is neither 0 nor 1");
        begins.resize(width + 1);
        for (std::uint64_t k = 0; k < this->rows[n]; ++k) ++begins[this->columns[k] + 1];
        for (std::size_t f = 0; f < width; ++f) begins[f + 1] += begins[f];
        by_feature.resize(this->rows[n]);
        std::vector<std::uint64_t> next(begins.begin(), begins.end() - 1);
        for (std::size_t i = 0; i < n; ++i)
            for (std::uint64_t k = this->rows[i]; k < this->rows[i + 1]; ++k)
                by_feature[next[this->columns[k]]++] = static_cast<std::uint32_t>(i);
    }
    std::size_t n;
    const std::uint64_t* rows;
    const std::uint32_t* columns;
    std::vector<std::uint64_t> begins;      // by feature, where its examples begin in `by_feature`
    std::vector<std::uint32_t> by_feature;  // the examples that have a feature, feature by feature
};

// Votes by whether an example has one feature.
struct Stump {
    std::uint32_t feature;
    double present, absent;
};

// The weight of an example is weights_[i], times a scale that all examples with its label share. So a
// round changes `weights_` only for the examples that have the chosen feature.
class Boosting {
public:
    Boosting(const Examples& examples, const std::uint8_t* labels, double smoothing)
        : examples_(examples), labels_(labels), smoothing_(smoothing),
          weights_(examples.n, 1.0 / static_cast<double>(examples.n)),
          with_feature_{std::vector<double>(examples.begins.size() - 1),
                        std::vector<double>(examples.begins.size() - 1)} {
        for (std::size_t i = 0; i < examples.n; ++i) {
            total_[labels[i]] += weights_[i];
            for (std::uint64_t k = examples.rows[i]; k < examples.rows[i + 1]; ++k)
                with_feature_[labels[i]][examples.columns[k]] += weights_[i];
        }
    }

    // Finds the stump with the smallest normalizer Z, the first of equal ones, and changes the weights;
    // returns false if no stump helps.
    bool round(Stump& best) {
        const std::size_t width = examples_.begins.size() - 1;
        double least = 1.0 - 1e-9;
        bool is_found = false;
        const double total[2] = {total_[0] * scale_[0], total_[1] * scale_[1]};
        double with[2] = {0, 0};
        for (std::size_t f = 0; f < width; ++f) {
            const double n = with_feature_[0][f] * scale_[0], p = with_feature_[1][f] * scale_[1];
            const double z = 2 * (std::sqrt(std::max(0.0, p * n)) +
                                  std::sqrt(std::max(0.0, (total[1] - p) * (total[0] - n))));
            if (z < least - 1e-12) {
                least = z;
                best.feature = static_cast<std::uint32_t>(f);
                with[0] = std::max(0.0, n);
                with[1] = std::max(0.0, p);
                is_found = true;
            }
        }
        if (!is_found) return false;
        best.present = vote(with[1], with[0]);
        best.absent = vote(total[1] - with[1], total[0] - with[0]);
        reweight(best);
        return true;
    }

private:
    double vote(double positive, double negative) const {
        return 0.5 * std::log((std::max(0.0, positive) + smoothing_) /
                              (std::max(0.0, negative) + smoothing_));
    }

    void reweight(const Stump& stump) {
        const double change[2] = {std::exp(stump.present - stump.absent),
                                  std::exp(stump.absent - stump.present)};
        for (std::uint64_t k = examples_.begins[stump.feature];
             k < examples_.begins[stump.feature + 1]; ++k) {
            const std::uint32_t i = examples_.by_feature[k];
            const std::uint8_t label = labels_[i];
            const double gain = weights_[i] * (change[label] - 1);
            weights_[i] += gain;
            total_[label] += gain;
            for (std::uint64_t j = examples_.rows[i]; j < examples_.rows[i + 1]; ++j)
                with_feature_[label][examples_.columns[j]] += gain;
        }
        scale_[0] *= std::exp(stump.absent);
        scale_[1] *= std::exp(-stump.absent);
        const double sum = total_[0] * scale_[0] + total_[1] * scale_[1];
        scale_[0] /= sum;
        scale_[1] /= sum;
    }

    const Examples& examples_;
    const std::uint8_t* labels_;
    double smoothing_;
    std::vector<double> weights_;
    std::vector<double> with_feature_[2];  // by label and feature: the sum of `weights_`
    double total_[2] = {0, 0};             // by label: the sum of `weights_`
    double scale_[2] = {1, 1};             // by label
};

using Stumps = std::tuple<std::vector<std::uint32_t>, std::vector<double>, std::vector<double>>;

// By round: the stump's feature, its vote where the feature is present, its vote where it is not.
// Votes are smoothed by the weight that `smoothing` examples have at the start.
Stumps boost(Input<std::uint64_t> rows, Input<std::uint32_t> columns, Input<std::uint8_t> labels,
             std::size_t width, std::size_t rounds, double smoothing) {
    Stumps result;
    nb::gil_scoped_release release;
    const Examples examples(rows, columns, labels, width);
    Boosting boosting(examples, labels.data(), smoothing / static_cast<double>(examples.n));
    Stump stump{};
    for (std::size_t t = 0; t < rounds && boosting.round(stump); ++t) {
        std::get<0>(result).push_back(stump.feature);
        std::get<1>(result).push_back(stump.present);
        std::get<2>(result).push_back(stump.absent);
    }
    return result;
}

// The bias, then a weight w per feature, that minimize Σ log(1 + exp(−y m)) + penalty / 2 Σ w². For an
// example, y is 1 or −1 by its label, and the margin m is the bias plus the weights of its features.
// The bias has no penalty. Cyclic coordinate descent with guarded Newton steps (Genkin, Lewis & Madigan
// 2007).
std::vector<double> fit_logistic(Input<std::uint64_t> rows, Input<std::uint32_t> columns,
                                 Input<std::uint8_t> labels, std::size_t width, double penalty,
                                 std::size_t passes, double tolerance) {
    std::vector<double> weights(width + 1);
    nb::gil_scoped_release release;
    const Examples examples(rows, columns, labels, width);
    // reach[w]: the most by which weight w may change in its next step.
    std::vector<double> margins(examples.n), reach(width + 1, 1.0);
    std::vector<std::uint32_t> all(examples.n);
    for (std::size_t i = 0; i < examples.n; ++i) all[i] = static_cast<std::uint32_t>(i);
    auto step = [&](std::size_t which, const std::uint32_t* first, const std::uint32_t* last,
                    double ridge) {
        double slope = ridge * weights[which], curvature = ridge;
        for (const std::uint32_t* at = first; at != last; ++at) {
            const double p = 1 / (1 + std::exp(-margins[*at]));
            slope += p - labels.data()[*at];
            curvature += std::max(p * (1 - p), 1e-6);
        }
        const double change =
            std::clamp(-slope / std::max(curvature, 1e-9), -reach[which], reach[which]);
        reach[which] = std::max(2 * std::abs(change), reach[which] / 2);
        weights[which] += change;
        for (const std::uint32_t* at = first; at != last; ++at) margins[*at] += change;
        return std::abs(change);
    };
    for (std::size_t pass = 0; pass < passes; ++pass) {
        double largest_change = step(0, all.data(), all.data() + all.size(), 0.0);
        for (std::size_t f = 0; f < width; ++f)
            largest_change = std::max(
                largest_change, step(f + 1, examples.by_feature.data() + examples.begins[f],
                                     examples.by_feature.data() + examples.begins[f + 1], penalty));
        if (largest_change < tolerance) break;
    }
    return weights;
}

}  // namespace

void add_boosting(nb::module_& m) {
    m.def("boost", &boost, nb::arg("rows"), nb::arg("columns"), nb::arg("labels"), nb::arg("width"),
          nb::arg("rounds"), nb::arg("smoothing"));
    m.def("fit_logistic", &fit_logistic, nb::arg("rows"), nb::arg("columns"), nb::arg("labels"),
          nb::arg("width"), nb::arg("penalty"), nb::arg("passes"), nb::arg("tolerance"));
}

}  // namespace wellput
