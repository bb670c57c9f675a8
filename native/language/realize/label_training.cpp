// Training of the chooser of labels (label_choosing.cpp): for each tree, one step up the log
// probability of the right labels, under a log-linear model of all labelings of the tree.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/random_stream.h"
#include "core/texts.h"
#include "kernels.h"
#include "language/learning/class_trainers.h"
#include "language/learning/class_weights.h"
#include "language/learning/feature_keys.h"
#include "language/learning/linear_weights.h"
#include "language/realize/label_features.h"
#include "language/realize/label_marginals.h"
#include "language/realize/label_scores.h"

namespace wellput {
namespace {

using Ints = Array<std::int32_t>;
using Keys = Array<std::uint32_t>;
using Labels = Array<std::uint16_t>;

// The usual label of each word seen at least twice, by rising key.
nb::tuple usual_labels(nb::handle sequence, const Ints& labels) {
    const TextLists forms(sequence);
    require(labels.size() == forms.total(), "a label is needed for each word");
    std::map<FeatureKey, std::map<std::int32_t, int>> counts;
    for (std::size_t t = 0; t < forms.size(); ++t)
        for (std::size_t i = 0; i < forms.count(t); ++i)
            if (const std::int32_t label = labels.data()[forms.first(t) + i]; label >= 0)
                ++counts[UsualLabels::key(atoms_of(forms.at(t, i)))][label];
    std::vector<std::uint32_t> words;
    std::vector<std::uint16_t> usual;
    for (const auto& [word, label_counts] : counts) {
        int total = 0, most = 0;
        std::int32_t best = 0;
        for (const auto& [label, count] : label_counts) {
            total += count;
            if (count > most) most = count, best = label;
        }
        if (total < 2) continue;
        words.push_back(word);
        usual.push_back(static_cast<std::uint16_t>(best));
    }
    return nb::make_tuple(as_array(std::move(words)), as_array(std::move(usual)));
}

void check_labels(const TextLists& forms, const Ints& labels, std::size_t n_labels) {
    if (n_labels == 0 || n_labels >= MAX_CLASSES) throw nb::value_error("too few or many labels");
    if (labels.size() != forms.total()) throw nb::value_error("a label is needed for each word");
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels.data()[i] >= static_cast<std::int32_t>(n_labels))
            throw nb::value_error("a label is out of range");
}

class ChooserTraining {
public:
    ChooserTraining(const TextLists& forms, const TextLists& known, const std::int32_t* heads,
                    const std::int32_t* labels, const LabelParts& parts, const UsualLabels& usual,
                    std::size_t width, int min_updates, std::uint64_t seed)
        : forms_(forms), known_(known), heads_(heads), labels_(labels), parts_(parts),
          usual_(usual), width_(width), seed_(seed), local_(min_updates), edges_(min_updates),
          scores_(parts.size()) {}

    void epoch(int number) {
        std::vector<std::size_t> order(forms_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        shuffle(order, Stream(seed_, static_cast<std::uint64_t>(number)));
        mistakes_ = 0;
        for (const std::size_t t : order) {
            features_.start(forms_, known_, t, heads_, usual_);
            learn(labels_ + forms_.first(t));
            local_.tick();
            edges_.tick();
        }
    }
    std::size_t mistakes() const { return mistakes_; }
    nb::tuple finish(double weight_unit, double min_weight) {
        const std::string local = local_.finish(weight_unit, min_weight);
        const std::string edges = edges_.finish(weight_unit, min_weight);
        return nb::make_tuple(nb::bytes(local.data(), local.size()),
                              nb::bytes(edges.data(), edges.size()));
    }

private:
    void learn(const std::int32_t* right) {
        const auto& tree = features_.tree();
        const auto size = static_cast<std::uint32_t>(tree.size());
        keys_.resize(size);
        candidates_.resize(size);
        local_scores_.resize(size);
        for (std::uint32_t i = 0; i < size; ++i) propose(i, right[i]);
        marginals_.compute(tree, local_scores_, [&](std::uint32_t i, std::size_t m, std::size_t d) {
            const std::uint32_t mother = tree.mother(i);
            return edge_score(edges_, parts_, candidates_[mother][m], candidates_[i][d],
                              features_.word(mother), features_.word(i));
        });
        for (std::uint32_t i = 0; i < size; ++i) {
            const std::uint32_t m = tree.mother(i);
            // Labels that are too rare to be learned have the number -1: they give no steps.
            if (right[i] < 0 || right[m] < 0) continue;
            climb_local(i, right[i]);
            if (m != i) climb_edges(m, i, right);
        }
    }
    // The labels of a word that are best by their own scores, and the right label.
    void propose(std::uint32_t i, std::int32_t right) {
        keys_[i] = features_.keys_of(i);
        std::fill(scores_.begin(), scores_.end(), 0.0f);
        local_.add_scores(keys_[i], scores_.data());
        auto& own = candidates_[i];
        best_labels<float>(scores_, width_, own);
        if (right >= 0 && std::find(own.begin(), own.end(), right) == own.end())
            own.push_back(static_cast<std::uint16_t>(right));
        local_scores_[i].clear();
        for (const std::uint16_t label : own) local_scores_[i].push_back(scores_[label]);
    }
    void climb_local(std::uint32_t i, std::int32_t right) {
        for (std::size_t c = 0; c < candidates_[i].size(); ++c) {
            const bool is_right = candidates_[i][c] == right;
            const float share = marginals_.of_label(i, c);
            mistakes_ += is_right && share < 0.5f;
            if (const float slope = is_right - share; std::fabs(slope) > FLAT_SLOPE)
                local_.update(keys_[i], candidates_[i][c], slope);
        }
    }
    void climb_edges(std::uint32_t mother, std::uint32_t i, const std::int32_t* right) {
        const auto &above = candidates_[mother], &own = candidates_[i];
        for (std::size_t m = 0; m < above.size(); ++m)
            for (std::size_t d = 0; d < own.size(); ++d) {
                const bool is_right = above[m] == right[mother] && own[d] == right[i];
                const float slope = is_right - marginals_.of_pair(mother, i, m, d);
                if (std::fabs(slope) > FLAT_SLOPE)
                    edge_features(parts_, above[m], own[d], features_.word(mother),
                                  features_.word(i),
                                  [&](FeatureKey key) { edges_.climb(key, slope); });
            }
    }

    static constexpr float FLAT_SLOPE = 0.01f;  // up to this, a slope is not worth a step
    const TextLists &forms_, &known_;
    const std::int32_t *heads_, *labels_;
    const LabelParts& parts_;
    const UsualLabels& usual_;
    std::size_t width_;
    std::uint64_t seed_;
    GradientTrainer local_;
    LinearTrainer edges_;
    LabelFeatures features_;
    LabelMarginals marginals_;
    std::vector<std::vector<FeatureKey>> keys_;
    std::vector<std::vector<std::uint16_t>> candidates_;
    std::vector<std::vector<float>> local_scores_;
    std::vector<float> scores_;
    std::size_t mistakes_ = 0;
};

nb::tuple train_label_chooser(nb::handle form_lists, nb::handle known_lists, const Ints& heads,
                              const Ints& labels, nb::handle categories, nb::handle relations,
                              const Keys& usual_words, const Labels& usual, int epochs,
                              int min_updates, double weight_unit, double min_weight,
                              std::size_t width, std::uint64_t seed, nb::callable on_epoch) {
    const TextLists forms(form_lists), known(known_lists);
    const LabelParts parts{Texts(categories), Texts(relations)};
    check_trees(forms, known, heads);
    check_labels(forms, labels, parts.size());
    checked_unit(weight_unit);
    require(width > 0, "width must be at least 1");
    require(usual.size() == usual_words.size(), "a usual label is needed for each word");
    const UsualLabels table({usual_words.data(), usual_words.size()}, {usual.data(), usual.size()});
    ChooserTraining training(forms, known, heads.data(), labels.data(), parts, table, width,
                             min_updates, seed);
    for (int epoch = 0; epoch < epochs; ++epoch) {
        {
            nb::gil_scoped_release release;
            training.epoch(epoch);
        }
        on_epoch(epoch + 1, training.mistakes());
    }
    return training.finish(weight_unit, min_weight);
}

}  // namespace

void add_label_training(nb::module_& m) {
    m.def("usual_labels", &usual_labels, nb::arg("forms"), nb::arg("labels"));
    m.def("train_label_chooser", &train_label_chooser, nb::arg("forms"), nb::arg("known"),
          nb::arg("heads"), nb::arg("labels"), nb::arg("categories"), nb::arg("relations"),
          nb::arg("usual_words"), nb::arg("usual"), nb::arg("epochs"), nb::arg("min_updates"),
          nb::arg("weight_unit"), nb::arg("min_weight"), nb::arg("width"), nb::arg("seed"),
          nb::arg("on_epoch"));
}

}  // namespace wellput
