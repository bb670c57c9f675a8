// Tags for the words of sentences, from right to left. Each tag is the best by an averaged perceptron,
// given the words around it, the two tags after it and, if there are any, the tags of another kind
// that the words around it already have.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "core/arrays.h"
#include "core/parallel.h"
#include "core/random_stream.h"
#include "core/texts.h"
#include "kernels.h"
#include "language/learning/class_trainers.h"
#include "language/learning/class_weights.h"
#include "language/learning/feature_keys.h"
#include "language/learning/word_atoms.h"
#include "text/hash.h"

namespace wellput {
namespace {

using Tags = Array<std::int32_t>;
using TagArray = NewArray<std::int32_t, 2>;

// Sentences, and the tags of another kind that their words already have: one for each word, or none
// at all.
struct TagInput {
    TextLists words, given;
    TagInput(nb::handle own_words, nb::handle own_given) : words(own_words), given(own_given) {
        if (!has_given()) return;
        bool is_parallel = words.size() == given.size();
        for (std::size_t s = 0; is_parallel && s < words.size(); ++s)
            is_parallel = words.count(s) == given.count(s);
        if (!is_parallel) throw nb::value_error("a given tag is needed for each word");
    }
    bool has_given() const { return given.size() > 0; }
};

// The features of one decision. Templates are numbered in the order in which they are added; the
// oracle in tests/language/models/perceptron_oracle.py lists the same.
class TagFeatures {
public:
    void start(const TagInput& input, std::size_t sentence) {
        words_.clear();
        given_.clear();
        for (std::size_t i = 0; i < input.words.count(sentence); ++i) {
            words_.push_back(atoms_of(input.words.at(sentence, i)));
            if (input.has_given()) given_.push_back(fnv1a(input.given.at(sentence, i)));
        }
    }
    std::size_t size() const { return words_.size(); }

    // The features of word i. `tag` and `tag2` are the tags of the next word and of the word after
    // that, -1 and -2 outside the sentence.
    const std::vector<FeatureKey>& of(std::size_t i, std::int64_t tag, std::int64_t tag2) {
        const WordAtoms& word = words_[i];
        const WordAtoms &left = at(i, -1), &left2 = at(i, -2), &right = at(i, 1),
                        &right2 = at(i, 2);
        keys_.clear();
        template_number_ = 0;
        put();  // the same for every word
        put(word.form);
        put(word.lower);
        for (const std::uint64_t suffix : word.suffixes) put(suffix);
        for (const std::uint64_t prefix : word.prefixes) put(prefix);
        put(word.shape);
        put(word.shape, i == 0);
        put(word.shape, left.shape, right.shape);
        put(tag);
        put(tag, tag2);
        put(tag, word.lower);
        put(tag, word.suffixes[2]);
        put(tag, left.lower);
        put(tag, left.suffixes[1]);
        put(tag, word.shape);
        put(tag, tag2, word.lower);
        put(left.lower);
        put(left2.lower);
        put(right.lower);
        put(right2.lower);
        put(left.suffixes[2]);
        put(right.suffixes[2]);
        put(left.shape);
        put(left.lower, word.lower);
        put(word.lower, right.lower);
        put(left.lower, right.lower);
        put(left.suffixes[2], word.suffixes[2]);
        put(left2.lower, left.lower);
        put(right.lower, right2.lower);
        if (!given_.empty()) put_given(i, tag, tag2);
        return keys_;
    }

private:
    void put_given(std::size_t i, std::int64_t tag, std::int64_t tag2) {
        const std::uint64_t word = words_[i].lower, left = at(i, -1).lower, right = at(i, 1).lower;
        const std::uint64_t own = given(i, 0), before = given(i, -1), before2 = given(i, -2);
        const std::uint64_t next = given(i, 1), next2 = given(i, 2), next3 = given(i, 3);
        for (int step = -3; step <= 3; ++step) put(given(i, step));
        put(before, own);
        put(own, next);
        put(next, next2);
        put(before2, before, own);
        put(before, own, next);
        put(own, next, next2);
        put(next, next2, next3);
        put(before2, before, own, next);
        put(before, own, next, next2);
        put(own, next, next2, next3);
        put(word, own);
        put(word, before);
        put(word, next);
        put(word, own, next);
        put(left, own);
        put(own, right);
        put(left, own, next);
        put(tag, own);
        put(tag, own, next);
        put(tag, tag2, own);
        put(tag, before, own);
    }
    std::uint64_t given(std::size_t i, int step) const {
        const auto place = static_cast<std::ptrdiff_t>(i) + step;
        if (place < 0 || place >= static_cast<std::ptrdiff_t>(given_.size())) return 1;
        return given_[static_cast<std::size_t>(place)];
    }
    const WordAtoms& at(std::size_t i, int step) const {
        static const WordAtoms OUTSIDE_WORD{};
        const auto place = static_cast<std::ptrdiff_t>(i) + step;
        if (place < 0 || place >= static_cast<std::ptrdiff_t>(words_.size())) return OUTSIDE_WORD;
        return words_[static_cast<std::size_t>(place)];
    }
    template <typename... Values>
    void put(Values... values) {
        FeatureHash hash(template_number_++);
        (hash.add(static_cast<std::uint64_t>(values)), ...);
        keys_.push_back(hash.key());
    }
    std::vector<WordAtoms> words_;
    std::vector<std::uint64_t> given_;
    std::vector<FeatureKey> keys_;
    std::uint64_t template_number_ = 0;
};

std::int32_t best_of(const std::vector<std::int32_t>& scores) {
    return static_cast<std::int32_t>(std::max_element(scores.begin(), scores.end()) -
                                     scores.begin());
}

// Goes over a sentence from right to left; decide(i, features, scores) says which tag word i gets,
// where `scores` are those of all tags by `weights`.
template <typename Weights, typename Decide>
void walk(TagFeatures& features, const Weights& weights, std::vector<std::int32_t>& scores,
          Decide decide) {
    std::int64_t tag = -1, tag2 = -2;
    for (std::size_t i = features.size(); i-- > 0;) {
        const auto& keys = features.of(i, tag, tag2);
        std::fill(scores.begin(), scores.end(), 0);
        weights.add_scores(keys, scores.data());
        tag2 = tag;
        tag = decide(i, keys, scores);
    }
}

std::size_t checked_classes(std::size_t classes) {
    if (classes == 0 || classes >= MAX_CLASSES) throw nb::value_error("too few or too many tags");
    return classes;
}

nb::bytes train_tagger(nb::handle sequence, const Tags& tags, std::size_t classes, int epochs,
                       int min_updates, double weight_unit, std::uint64_t seed,
                       nb::callable on_epoch, nb::handle given) {
    const TagInput input(sequence, given);
    const TextLists& sentences = input.words;
    if (tags.size() != sentences.total()) throw nb::value_error("a tag is needed for each word");
    const std::int32_t* gold = tags.data();
    for (std::size_t i = 0; i < tags.size(); ++i)
        if (gold[i] < 0 || static_cast<std::size_t>(gold[i]) >= checked_classes(classes))
            throw nb::value_error("a tag is out of range");
    checked_unit(weight_unit);
    std::string bytes;
    {
        nb::gil_scoped_release release;
        PerceptronTrainer trainer(min_updates);
        TagFeatures features;
        std::vector<std::int32_t> scores(classes);
        std::vector<std::size_t> order(sentences.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (int epoch = 0; epoch < epochs; ++epoch) {
            shuffle(order, Stream(seed, static_cast<std::uint64_t>(epoch)));
            for (const std::size_t s : order) {
                const std::int32_t* right = gold + sentences.first(s);
                features.start(input, s);
                walk(features, trainer, scores, [&](std::size_t i, const auto& keys, const auto&) {
                    const std::int32_t guess = best_of(scores);
                    if (guess != right[i]) {
                        trainer.update(keys, static_cast<std::uint16_t>(right[i]), 1);
                        trainer.update(keys, static_cast<std::uint16_t>(guess), -1);
                    }
                    trainer.tick();
                    return guess;
                });
            }
            nb::gil_scoped_acquire acquire;
            on_epoch(epoch + 1);
        }
        bytes = trainer.finish(weight_unit);
    }
    return nb::bytes(bytes.data(), bytes.size());
}

class TaggerModel {
public:
    TaggerModel(const nb::bytes& weights, std::size_t classes)
        : weights_({weights.c_str(), weights.size()}, checked_classes(classes)), classes_(classes) {
    }

    // The numbers of the best tags, a row for each word of all sentences.
    TagArray tag(nb::handle sequence, int threads, nb::handle given) const {
        const TagInput input(sequence, given);
        TagArray result = new_table<std::int32_t>(input.words.total(), 1);
        std::int32_t* out = result.data();
        nb::gil_scoped_release release;
        for_each(input, threads, [&](std::size_t place, const auto& scores) {
            return out[place] = best_of(scores);
        });
        return result;
    }

    // The k best tags of every word with the logs of their probabilities, which are a softmax of
    // sharpness * score.
    nb::tuple candidates(nb::handle sequence, std::size_t k, double sharpness, int threads) const {
        const TagInput input(sequence, nb::tuple());
        const TextLists& sentences = input.words;
        k = std::min(k, classes_);
        TagArray tags = new_table<std::int32_t>(sentences.total(), k);
        std::int32_t* tags_out = tags.data();
        double* logs_out = nullptr;
        Matrix logs = new_matrix(sentences.total(), k, &logs_out);
        {
            nb::gil_scoped_release release;
            for_each(input, threads,
                     [=, this, ranked = std::vector<std::int32_t>(classes_)](
                         std::size_t place, const auto& scores) mutable {
                         std::iota(ranked.begin(), ranked.end(), 0);
                         std::partial_sort(
                             ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(k),
                             ranked.end(), [&](std::int32_t a, std::int32_t b) {
                                 return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
                             });
                         const double top = scores[ranked[0]];
                         double sum = 0;
                         for (const std::int32_t score : scores)
                             sum += std::exp(sharpness * (score - top));
                         for (std::size_t j = 0; j < k; ++j) {
                             tags_out[place * k + j] = ranked[j];
                             logs_out[place * k + j] =
                                 sharpness * (scores[ranked[j]] - top) - std::log(sum);
                         }
                         return ranked[0];
                     });
        }
        return nb::make_tuple(tags, logs);
    }

private:
    // decide(place among all words, scores) says which tag a word gets.
    template <typename Decide>
    void for_each(const TagInput& input, int threads, Decide decide) const {
        const TextLists& sentences = input.words;
        parallel_for(
            sentences.size(), threads,
            [&, decide, features = TagFeatures(), scores = std::vector<std::int32_t>(classes_)](
                std::size_t begin, std::size_t end) mutable {
                for (std::size_t s = begin; s < end; ++s) {
                    features.start(input, s);
                    walk(features, weights_, scores,
                         [&](std::size_t i, const auto&, const auto& found) {
                             return decide(sentences.first(s) + i, found);
                         });
                }
            },
            8);
    }

    ClassWeights weights_;
    std::size_t classes_;
};

// One model that decides as several models do together.
nb::bytes mean_of(const std::vector<nb::bytes>& models, std::size_t classes, double smallest) {
    std::vector<std::string_view> weights;
    for (const nb::bytes& model : models) weights.emplace_back(model.c_str(), model.size());
    const std::string bytes = mean_weights(weights, checked_classes(classes), smallest);
    return nb::bytes(bytes.data(), bytes.size());
}

}  // namespace

void add_tagger(nb::module_& m) {
    m.def("train_tagger", &train_tagger, nb::arg("sentences"), nb::arg("tags"), nb::arg("classes"),
          nb::arg("epochs"), nb::arg("min_updates"), nb::arg("weight_unit"), nb::arg("seed"),
          nb::arg("on_epoch"), nb::arg("given") = nb::tuple());
    m.def("mean_weights", &mean_of, nb::arg("models"), nb::arg("classes"), nb::arg("smallest"));
    nb::class_<TaggerModel>(m, "TaggerModel")
        .def(nb::init<nb::bytes, std::size_t>(), nb::arg("weights"), nb::arg("classes"))
        .def("tag", &TaggerModel::tag, nb::arg("sentences"), nb::arg("threads"),
             nb::arg("given") = nb::tuple())
        .def("candidates", &TaggerModel::candidates, nb::arg("sentences"), nb::arg("k"),
             nb::arg("sharpness"), nb::arg("threads"));
}

}  // namespace wellput
