// What the chooser of labels and its training share: the parts of a label, the score of a label under
// the mother's label, the best labels of a word by itself, and a check of the trees.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/texts.h"
#include "language/learning/class_weights.h"
#include "language/learning/feature_keys.h"
#include "language/learning/word_atoms.h"
#include "text/hash.h"

namespace wellput {

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

// The features of an edge: a daughter's label under her mother's. Calls visit(key) for each.
template <typename Visit>
void edge_features(const LabelParts& parts, std::size_t mother_label, std::size_t label,
                   const WordAtoms& mother_word, const WordAtoms& word, Visit visit) {
    const std::uint64_t mc = parts.categories[mother_label], mr = parts.relations[mother_label];
    const std::uint64_t dc = parts.categories[label], dr = parts.relations[label];
    visit(FeatureHash(1).add(mother_label).add(label).key());
    visit(FeatureHash(2).add(mc).add(dr).key());
    visit(FeatureHash(3).add(mr).add(dr).key());
    visit(FeatureHash(4).add(mc).add(dc).add(dr).key());
    visit(FeatureHash(5).add(mother_label).add(dr).key());
    visit(FeatureHash(6).add(mother_word.lower).add(mc).add(dr).key());
    visit(FeatureHash(7).add(mother_label).add(dr).add(word.lower).key());
    visit(FeatureHash(8).add(mr).add(label).add(word.lower).key());
}

template <typename Edges>
float edge_score(const Edges& edges, const LabelParts& parts, std::size_t mother_label,
                 std::size_t label, const WordAtoms& mother_word, const WordAtoms& word) {
    float sum = 0;
    edge_features(parts, mother_label, label, mother_word, word,
                  [&](FeatureKey key) { sum += edges.weight(key); });
    return sum;
}

// The `width` labels that score best, the best first.
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

// Requires trees that have a head for each word and, if `known` is not empty, a known label.
inline void check_trees(const TextLists& forms, const TextLists& known,
                        const Array<std::int32_t>& heads) {
    if (heads.size() != forms.total() || (known.size() && !forms.has_counts_of(known)))
        throw nb::value_error("every word needs a head, and a known label if any word has one");
    for (std::size_t t = 0; t < forms.size(); ++t)
        if (!is_tree({heads.data() + forms.first(t), forms.count(t)}))
            throw nb::value_error("no tree");
}

}  // namespace wellput
