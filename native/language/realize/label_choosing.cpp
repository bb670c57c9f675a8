// The chooser of labels: one label of a given set for each word of an unordered tree, such that the
// whole tree scores best. The score of a label depends on the word, the words around it in the
// tree, and the mother's label: tree Viterbi over the best few labels of each word.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/parallel.h"
#include "core/random_stream.h"
#include "core/texts.h"
#include "kernels.h"
#include "language/learning/class_trainers.h"
#include "language/learning/class_weights.h"
#include "language/learning/feature_keys.h"
#include "language/learning/linear_weights.h"
#include "language/realize/label_features.h"
#include "language/realize/label_marginals.h"
#include "language/realize/unordered_trees.h"
#include "text/hash.h"

namespace wellput {
namespace {

// The labels that score best, the best first.
template <typename Score>
void best_labels(std::span<const Score> scores, std::size_t width,
                 std::vector<std::uint16_t>& best) {
    best.resize(scores.size());
    std::iota(best.begin(), best.end(), std::uint16_t{0});
    const std::size_t n = std::min(width, best.size());
    std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(n), best.end(),
                      [&](std::uint16_t a, std::uint16_t b) {
                          return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
                      });
    best.resize(n);
}

using Ints = Array<std::int32_t>;
using Keys = Array<std::uint32_t>;
using Labels = Array<std::uint16_t>;
using Masks = Array<std::uint8_t>;

// A label's parts: its category (part of speech) and its relation, as numbers.
struct LabelParts {
    std::vector<std::uint64_t> categories, relations;
    LabelParts(const Texts& category_texts, const Texts& relation_texts) {
        require(category_texts.size() == relation_texts.size() && category_texts.size() > 0 &&
                    category_texts.size() < MAX_CLASSES,
                "a relation is needed for each category, and not too many of them");
        for (std::size_t c = 0; c < category_texts.size(); ++c) {
            categories.push_back(fnv1a(category_texts[c]));
            relations.push_back(fnv1a(relation_texts[c]));
        }
    }
    std::size_t size() const { return categories.size(); }
};

// Features of a daughter's label under her mother's.
template <typename Visit>
void edge_features(const LabelParts& parts, std::size_t mother, std::size_t daughter,
                   const WordAtoms& mother_word, const WordAtoms& word, Visit visit) {
    const std::uint64_t mc = parts.categories[mother], mr = parts.relations[mother];
    const std::uint64_t dc = parts.categories[daughter], dr = parts.relations[daughter];
    visit(FeatureHash(1).add(mother).add(daughter).key());
    visit(FeatureHash(2).add(mc).add(dr).key());
    visit(FeatureHash(3).add(mr).add(dr).key());
    visit(FeatureHash(4).add(mc).add(dc).add(dr).key());
    visit(FeatureHash(5).add(mother).add(dr).key());
    visit(FeatureHash(6).add(mother_word.lower).add(mc).add(dr).key());
    visit(FeatureHash(7).add(mother).add(dr).add(word.lower).key());
    visit(FeatureHash(8).add(mr).add(daughter).add(word.lower).key());
}

template <typename Edges>
float edge_score(const Edges& edges, const LabelParts& parts, std::size_t mother,
                 std::size_t daughter, const WordAtoms& mother_word, const WordAtoms& word) {
    float sum = 0;
    edge_features(parts, mother, daughter, mother_word, word,
                  [&](FeatureKey key) { sum += edges.weight(key); });
    return sum;
}

class TreeViterbi {
public:
    TreeViterbi(const ClassWeights& local, const LinearWeights& edges, const LabelParts& parts,
                std::size_t width)
        : local_(local), edges_(edges), parts_(parts), width_(width), scores_(parts.size()) {}

    // `allowed` has the places of each word's labels in `masks`, or is null where all are allowed.
    const std::vector<std::uint16_t>& choose(LabelFeatures& features, const std::int32_t* allowed,
                                             const std::uint8_t* masks) {
        const auto& tree = features.tree();
        candidates_.resize(tree.size());
        for (std::uint32_t i = 0; i < tree.size(); ++i)
            propose(
                i, features.of(i),
                allowed ? masks + static_cast<std::size_t>(allowed[i]) * parts_.size() : nullptr);
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
        float score;  // with all below
    };

    void propose(std::uint32_t i, const std::vector<FeatureKey>& keys, const std::uint8_t* mask) {
        std::fill(scores_.begin(), scores_.end(), 0);
        local_.add_scores(keys, scores_.data());
        std::size_t width = width_;
        if (mask) {
            std::size_t n = 0;
            for (std::size_t c = 0; c < scores_.size(); ++c)
                if (mask[c])
                    ++n;
                else
                    scores_[c] = std::numeric_limits<std::int32_t>::min();
            width = std::min(width, n);
        }
        best_labels<std::int32_t>(scores_, width, ranked_);
        auto& own = candidates_[i];
        own.clear();
        for (const std::uint16_t label : ranked_)
            own.push_back({label, static_cast<float>(scores_[label])});
    }

    float edge(std::uint16_t mother, std::uint16_t daughter, const WordAtoms& mother_word,
               const WordAtoms& word) const {
        return edge_score(edges_, parts_, mother, daughter, mother_word, word);
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
        for (const auto& [of_mother, label] : best_[word])
            if (of_mother == chosen_[mother]) chosen_[word] = label;
    }

    const ClassWeights& local_;
    const LinearWeights& edges_;
    const LabelParts& parts_;
    std::size_t width_;
    std::vector<std::int32_t> scores_;
    std::vector<std::uint16_t> ranked_, chosen_;
    std::vector<std::vector<Candidate>> candidates_;
    // For each word: under each label of the mother, its own best.
    std::vector<std::vector<std::pair<std::uint16_t, std::uint16_t>>> best_;
};

// The probabilities of a chooser's labels, over all labelings of the whole tree.
class LabelSums {
public:
    LabelSums(const ClassWeights& local, const LinearWeights& edges, const LabelParts& parts,
              std::size_t width, float unit)
        : local_(local), edges_(edges), parts_(parts), width_(width), unit_(unit),
          scores_(parts.size()) {}

    // `labels` and `shares` have room for `width` values a word.
    void compute(LabelFeatures& features, std::int32_t* labels, float* shares) {
        const auto& tree = features.tree();
        candidates_.resize(tree.size());
        local_scores_.resize(tree.size());
        for (std::uint32_t i = 0; i < tree.size(); ++i) propose(i, features.of(i));
        marginals_.compute(tree, local_scores_, [&](std::uint32_t i, std::size_t m, std::size_t d) {
            const std::uint32_t mother = tree.mother(i);
            return unit_ * edge_score(edges_, parts_, candidates_[mother][m], candidates_[i][d],
                                      features.word(mother), features.word(i));
        });
        for (std::uint32_t i = 0; i < tree.size(); ++i)
            for (std::size_t c = 0; c < candidates_[i].size(); ++c) {
                labels[i * width_ + c] = candidates_[i][c];
                shares[i * width_ + c] = marginals_.of(i, c);
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
    for (const auto& [word, of_word] : counts) {
        int total = 0, most = 0;
        std::int32_t best = 0;
        for (const auto& [label, count] : of_word) {
            total += count;
            if (count > most) most = count, best = label;
        }
        if (total < 2) continue;
        words.push_back(word);
        usual.push_back(static_cast<std::uint16_t>(best));
    }
    return nb::make_tuple(as_array(std::move(words)), as_array(std::move(usual)));
}

void check_sizes(const TextLists& forms, const TextLists& known, const Ints& heads) {
    if (heads.size() != forms.total() || (known.size() && !forms.has_counts_of(known)))
        throw nb::value_error("every word needs a head, and a known label if any word has one");
    for (std::size_t t = 0; t < forms.size(); ++t)
        if (!is_tree({heads.data() + forms.first(t), forms.count(t)}))
            throw nb::value_error("no tree");
}

void check_labels(const TextLists& forms, const Ints& labels, std::size_t n_labels) {
    if (n_labels == 0 || n_labels >= MAX_CLASSES) throw nb::value_error("too few or many labels");
    if (labels.size() != forms.total()) throw nb::value_error("a label is needed for each word");
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels.data()[i] >= static_cast<std::int32_t>(n_labels))
            throw nb::value_error("a label is out of range");
}

// For each tree, one step up the log probability of the right labels.
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
    nb::tuple finish(double unit, double smallest) {
        const std::string local = local_.finish(unit, smallest);
        const std::string edges = edges_.finish(unit, smallest);
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
            // A label that is too rare to be learned does not count as a mistake.
            if (right[i] < 0 || right[m] < 0) continue;
            climb_local(i, right[i]);
            if (m != i) climb_edges(m, i, right);
        }
    }
    // The best labels by themselves, and the right one.
    void propose(std::uint32_t i, std::int32_t right) {
        keys_[i] = features_.of(i);
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
            const float share = marginals_.of(i, c);
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

    static constexpr float FLAT_SLOPE = 0.01f;  // slopes not worth a step
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
                              int min_updates, double unit, double smallest, std::size_t width,
                              std::uint64_t seed, nb::callable on_epoch) {
    const TextLists forms(form_lists), known(known_lists);
    const LabelParts parts{Texts(categories), Texts(relations)};
    check_sizes(forms, known, heads);
    check_labels(forms, labels, parts.size());
    checked_unit(unit);
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
    return training.finish(unit, smallest);
}

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

    // A row of `masks` has 1 for each label that is allowed; `allowed` has the row of each word. Both
    // are empty where all labels are allowed.
    NewArray<std::int32_t> choose(nb::handle form_lists, nb::handle known_lists, const Ints& heads,
                                  std::size_t width, int threads, const Ints& allowed,
                                  const Masks& masks) const {
        require(width > 0, "width must be at least 1");
        const TextLists forms(form_lists), known(known_lists);
        check_sizes(forms, known, heads);
        check_masks(allowed, masks, forms.total());
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
                            features, allowed.size() ? allowed.data() + forms.first(t) : nullptr,
                            masks.data());
                        std::copy(chosen.begin(), chosen.end(), labels.data() + forms.first(t));
                    }
                });
        }
        return as_array(std::move(labels));
    }

    // For each word `width` labels with their probabilities, the best by themselves first; where there
    // are fewer labels, the others have probability 0. `unit` is that of the weights.
    nb::tuple probabilities(nb::handle form_lists, nb::handle known_lists, const Ints& heads,
                            std::size_t width, double unit, int threads) const {
        require(width > 0 && width < MAX_CLASSES, "width is out of range");
        checked_unit(unit);
        const TextLists forms(form_lists), known(known_lists);
        check_sizes(forms, known, heads);
        std::vector<std::int32_t> labels(forms.total() * width);
        std::vector<float> shares(forms.total() * width);
        {
            nb::gil_scoped_release release;
            parallel_for(
                forms.size(), threads,
                [&, features = LabelFeatures()](std::size_t begin, std::size_t end) mutable {
                    LabelSums sums(local_, edges_, parts_, width, static_cast<float>(unit));
                    for (std::size_t t = begin; t < end; ++t) {
                        features.start(forms, known, t, heads.data(), usual_);
                        const std::size_t first = forms.first(t) * width;
                        sums.compute(features, labels.data() + first, shares.data() + first);
                    }
                });
        }
        return nb::make_tuple(as_array(std::move(labels)), as_array(std::move(shares)));
    }

private:
    void check_masks(const Ints& allowed, const Masks& masks, std::size_t words) const {
        require(allowed.size() == 0 || allowed.size() == words, "a row is needed for each word");
        require(masks.size() % parts_.size() == 0, "a mask is needed for each label");
        const std::size_t rows = masks.size() / parts_.size();
        for (const std::int32_t row : values_of(allowed))
            require(row >= 0 && static_cast<std::size_t>(row) < rows, "a row is out of range");
        for (std::size_t row = 0; row < rows; ++row)
            require(
                std::ranges::any_of(values_of(masks).subspan(row * parts_.size(), parts_.size()),
                                    [](std::uint8_t one) { return one != 0; }),
                "a row allows no label");
    }

    LabelParts parts_;
    UsualLabels usual_;
    ClassWeights local_;
    LinearWeights edges_;
};

}  // namespace

void add_label_choosing(nb::module_& m) {
    m.def("usual_labels", &usual_labels, nb::arg("forms"), nb::arg("labels"));
    m.def("train_label_chooser", &train_label_chooser, nb::arg("forms"), nb::arg("known"),
          nb::arg("heads"), nb::arg("labels"), nb::arg("categories"), nb::arg("relations"),
          nb::arg("usual_words"), nb::arg("usual"), nb::arg("epochs"), nb::arg("min_updates"),
          nb::arg("unit"), nb::arg("smallest"), nb::arg("width"), nb::arg("seed"),
          nb::arg("on_epoch"));
    nb::class_<LabelChooser>(m, "LabelChooser")
        .def(nb::init<const nb::bytes&, const nb::bytes&, nb::handle, nb::handle, const Keys&,
                      const Labels&>(),
             nb::arg("local"), nb::arg("edges"), nb::arg("categories"), nb::arg("relations"),
             nb::arg("usual_words"), nb::arg("usual"))
        .def("choose", &LabelChooser::choose, nb::arg("forms"), nb::arg("known"), nb::arg("heads"),
             nb::arg("width"), nb::arg("threads"), nb::arg("allowed"), nb::arg("masks"))
        .def("probabilities", &LabelChooser::probabilities, nb::arg("forms"), nb::arg("known"),
             nb::arg("heads"), nb::arg("width"), nb::arg("unit"), nb::arg("threads"));
}

}  // namespace wellput
