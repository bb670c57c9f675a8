// The chooser of labels: one label of a given set for each word of an unordered tree, such that the
// whole tree scores best. The score of a label depends on the word and the words around it in the tree
// (local features), and on the mother's label (edge features): tree Viterbi over the best few labels of
// each word by itself. label_training.cpp learns the weights.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/parallel.h"
#include "core/texts.h"
#include "kernels.h"
#include "language/learning/class_weights.h"
#include "language/learning/feature_keys.h"
#include "language/learning/linear_weights.h"
#include "language/realize/label_features.h"
#include "language/realize/label_marginals.h"
#include "language/realize/label_scores.h"
#include "language/realize/unordered_trees.h"

namespace wellput {
namespace {

using Ints = Array<std::int32_t>;
using Keys = Array<std::uint32_t>;
using Labels = Array<std::uint16_t>;
using Masks = Array<std::uint8_t>;

class TreeViterbi {
public:
    TreeViterbi(const ClassWeights& local, const LinearWeights& edges, const LabelParts& parts,
                std::size_t width)
        : local_(local), edges_(edges), parts_(parts), width_(width), scores_(parts.size()) {}

    // `mask_rows` has the row of `masks` for each word; it is null where all labels are allowed. A row
    // has a value for each label, which is not 0 if the label is allowed.
    const std::vector<std::uint16_t>& choose(LabelFeatures& features, const std::int32_t* mask_rows,
                                             const std::uint8_t* masks) {
        const auto& tree = features.tree();
        candidates_.resize(tree.size());
        for (std::uint32_t i = 0; i < tree.size(); ++i)
            propose(i, features.keys_of(i),
                    mask_rows ? masks + static_cast<std::size_t>(mask_rows[i]) * parts_.size()
                              : nullptr);
        const auto& downwards = tree.downwards();
        for (auto word = downwards.rbegin(); word != downwards.rend(); ++word)
            join_daughters(*word, features);
        chosen_.assign(tree.size(), 0);
        for (const std::uint32_t word : downwards) pick(word, tree);
        return chosen_;
    }

private:
    struct Candidate {
        std::uint16_t label;
        float score;  // with the best labels of all words below
    };

    void propose(std::uint32_t i, const std::vector<FeatureKey>& keys, const std::uint8_t* mask) {
        std::fill(scores_.begin(), scores_.end(), 0);
        local_.add_scores(keys, scores_.data());
        std::size_t width = width_;
        if (mask) {
            std::size_t n_allowed = 0;
            for (std::size_t c = 0; c < scores_.size(); ++c)
                if (mask[c])
                    ++n_allowed;
                else
                    scores_[c] = std::numeric_limits<std::int32_t>::min();
            width = std::min(width, n_allowed);
        }
        best_labels<std::int32_t>(scores_, width, ranked_);
        auto& own = candidates_[i];
        own.clear();
        for (const std::uint16_t label : ranked_)
            own.push_back({label, static_cast<float>(scores_[label])});
    }

    float edge(std::uint16_t mother_label, std::uint16_t label, const WordAtoms& mother_word,
               const WordAtoms& word) const {
        return edge_score(edges_, parts_, mother_label, label, mother_word, word);
    }

    void join_daughters(std::uint32_t word, const LabelFeatures& features) {
        const auto& tree = features.tree();
        best_.resize(tree.size());
        for (const std::uint32_t daughter : tree.daughters(word)) {
            auto& best = best_[daughter];
            best.clear();
            for (Candidate& own : candidates_[word]) {
                float top = -std::numeric_limits<float>::infinity();
                std::uint16_t label = 0;
                for (const Candidate& candidate : candidates_[daughter]) {
                    const float score =
                        candidate.score + edge(own.label, candidate.label, features.word(word),
                                               features.word(daughter));
                    if (score > top) top = score, label = candidate.label;
                }
                own.score += top;
                best.emplace_back(own.label, label);
            }
        }
    }

    void pick(std::uint32_t word, const UnorderedTree& tree) {
        const std::uint32_t mother = tree.mother(word);
        if (mother == word) {
            const auto& own = candidates_[word];
            chosen_[word] = std::max_element(own.begin(), own.end(),
                                             [](const Candidate& a, const Candidate& b) {
                                                 return a.score < b.score;
                                             })
                                ->label;
            return;
        }
        for (const auto& [mother_label, label] : best_[word])
            if (mother_label == chosen_[mother]) chosen_[word] = label;
    }

    const ClassWeights& local_;
    const LinearWeights& edges_;
    const LabelParts& parts_;
    std::size_t width_;
    std::vector<std::int32_t> scores_;
    std::vector<std::uint16_t> ranked_, chosen_;
    std::vector<std::vector<Candidate>> candidates_;
    // For each word: pairs of a label of the mother and the word's best label under it.
    std::vector<std::vector<std::pair<std::uint16_t, std::uint16_t>>> best_;
};

// The probabilities of a chooser's labels, over all labelings of the whole tree.
class LabelProbabilities {
public:
    LabelProbabilities(const ClassWeights& local, const LinearWeights& edges,
                       const LabelParts& parts, std::size_t width, float weight_unit)
        : local_(local), edges_(edges), parts_(parts), width_(width), unit_(weight_unit),
          scores_(parts.size()) {}

    // `labels` and `probabilities` have room for `width` values a word.
    void compute(LabelFeatures& features, std::int32_t* labels, float* probabilities) {
        const auto& tree = features.tree();
        candidates_.resize(tree.size());
        local_scores_.resize(tree.size());
        for (std::uint32_t i = 0; i < tree.size(); ++i) propose(i, features.keys_of(i));
        marginals_.compute(tree, local_scores_, [&](std::uint32_t i, std::size_t m, std::size_t d) {
            const std::uint32_t mother = tree.mother(i);
            return unit_ * edge_score(edges_, parts_, candidates_[mother][m], candidates_[i][d],
                                      features.word(mother), features.word(i));
        });
        for (std::uint32_t i = 0; i < tree.size(); ++i)
            for (std::size_t c = 0; c < candidates_[i].size(); ++c) {
                labels[i * width_ + c] = candidates_[i][c];
                probabilities[i * width_ + c] = marginals_.of_label(i, c);
            }
    }

private:
    void propose(std::uint32_t i, const std::vector<FeatureKey>& keys) {
        std::fill(scores_.begin(), scores_.end(), 0);
        local_.add_scores(keys, scores_.data());
        best_labels<std::int32_t>(scores_, width_, candidates_[i]);
        local_scores_[i].clear();
        for (const std::uint16_t label : candidates_[i])
            local_scores_[i].push_back(unit_ * static_cast<float>(scores_[label]));
    }

    const ClassWeights& local_;
    const LinearWeights& edges_;
    const LabelParts& parts_;
    std::size_t width_;
    float unit_;
    LabelMarginals marginals_;
    std::vector<std::int32_t> scores_;
    std::vector<std::vector<std::uint16_t>> candidates_;
    std::vector<std::vector<float>> local_scores_;
};

class LabelChooser {
public:
    LabelChooser(const nb::bytes& local, const nb::bytes& edges, nb::handle categories,
                 nb::handle relations, const Keys& usual_words, const Labels& usual)
        : parts_(Texts(categories), Texts(relations)),
          usual_({usual_words.data(), usual_words.size()}, {usual.data(), usual.size()}),
          local_(std::string_view(local.c_str(), local.size()), parts_.size()),
          edges_(std::string_view(edges.c_str(), edges.size())) {
        require(usual.size() == usual_words.size(), "a usual label is needed for each word");
    }

    // A row of `masks` has 1 for each label that is allowed; `mask_rows` has the row of each word. Both
    // are empty where all labels are allowed.
    NewArray<std::int32_t> choose(nb::handle form_lists, nb::handle known_lists, const Ints& heads,
                                  std::size_t width, int threads, const Ints& mask_rows,
                                  const Masks& masks) const {
        require(width > 0, "width must be at least 1");
        const TextLists forms(form_lists), known(known_lists);
        check_trees(forms, known, heads);
        check_masks(mask_rows, masks, forms.total());
        std::vector<std::int32_t> labels(forms.total());
        {
            nb::gil_scoped_release release;
            parallel_for(
                forms.size(), threads,
                [&, features = LabelFeatures()](std::size_t begin, std::size_t end) mutable {
                    TreeViterbi viterbi(local_, edges_, parts_, width);
                    for (std::size_t t = begin; t < end; ++t) {
                        features.start(forms, known, t, heads.data(), usual_);
                        const auto& chosen = viterbi.choose(
                            features,
                            mask_rows.size() ? mask_rows.data() + forms.first(t) : nullptr,
                            masks.data());
                        std::copy(chosen.begin(), chosen.end(), labels.data() + forms.first(t));
                    }
                });
        }
        return as_array(std::move(labels));
    }

    // For each word `width` labels with their probabilities, in the order of the labels' own (local)
    // scores; if there are fewer labels, the others have probability 0.
    nb::tuple probabilities(nb::handle form_lists, nb::handle known_lists, const Ints& heads,
                            std::size_t width, double weight_unit, int threads) const {
        require(width > 0 && width < MAX_CLASSES, "width is out of range");
        checked_unit(weight_unit);
        const TextLists forms(form_lists), known(known_lists);
        check_trees(forms, known, heads);
        std::vector<std::int32_t> labels(forms.total() * width);
        std::vector<float> found(forms.total() * width);
        {
            nb::gil_scoped_release release;
            parallel_for(
                forms.size(), threads,
                [&, features = LabelFeatures()](std::size_t begin, std::size_t end) mutable {
                    LabelProbabilities tree(local_, edges_, parts_, width,
                                            static_cast<float>(weight_unit));
                    for (std::size_t t = begin; t < end; ++t) {
                        features.start(forms, known, t, heads.data(), usual_);
                        const std::size_t first = forms.first(t) * width;
                        tree.compute(features, labels.data() + first, found.data() + first);
                    }
                });
        }
        return nb::make_tuple(as_array(std::move(labels)), as_array(std::move(found)));
    }

private:
    void check_masks(const Ints& mask_rows, const Masks& masks, std::size_t words) const {
        require(mask_rows.size() == 0 || mask_rows.size() == words,
                "a row is needed for each word");
        require(masks.size() % parts_.size() == 0, "a mask is needed for each label");
        const std::size_t rows = masks.size() / parts_.size();
        for (const std::int32_t row : values_of(mask_rows))
            require(row >= 0 && static_cast<std::size_t>(row) < rows, "a row is out of range");
        for (std::size_t row = 0; row < rows; ++row)
            require(
                std::ranges::any_of(values_of(masks).subspan(row * parts_.size(), parts_.size()),
                                    [](std::uint8_t one) { return one != 0; }),
                "a row allows no label");
    }

    LabelParts parts_;
    UsualLabels usual_;
    ClassWeights local_;   // of a word's label by itself
    LinearWeights edges_;  // of a label under the mother's label
};

}  // namespace

void add_label_choosing(nb::module_& m) {
    nb::class_<LabelChooser>(m, "LabelChooser")
        .def(nb::init<const nb::bytes&, const nb::bytes&, nb::handle, nb::handle, const Keys&,
                      const Labels&>(),
             nb::arg("local"), nb::arg("edges"), nb::arg("categories"), nb::arg("relations"),
             nb::arg("usual_words"), nb::arg("usual"))
        .def("choose", &LabelChooser::choose, nb::arg("forms"), nb::arg("known"), nb::arg("heads"),
             nb::arg("width"), nb::arg("threads"), nb::arg("allowed"), nb::arg("masks"))
        .def("probabilities", &LabelChooser::probabilities, nb::arg("forms"), nb::arg("known"),
             nb::arg("heads"), nb::arg("width"), nb::arg("weight_unit"), nb::arg("threads"));
}

}  // namespace wellput
