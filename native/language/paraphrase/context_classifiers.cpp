// Examples from the contexts of words in an indexed corpus, and linear models over contexts.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/texts.h"
#include "kernels.h"
#include "text/hash.h"

namespace wellput {
namespace {

// The context of a gap in a sentence (the place of a word or of several words) has features: which
// n-grams stand around the gap, and where. A feature is a number, its key.
//
// What stands in the gap is left out: two words on either side make 4 neighbors and 10 local
// collocations, each an n-gram (n = 1..4) of neighbors with its length and place. Beyond the ends of
// the sentence stands BOUNDARY_KEY. Class collocations are the same n-grams of the words' classes. Bag
// n-grams are those of the whole sentence without the gap, in any place.

constexpr std::size_t WORDS_ON_A_SIDE = 2;
constexpr std::uint64_t BOUNDARY_KEY = 0x9ae16a3b2f90404full;

enum FeatureKind : std::uint64_t { COLLOCATION = 1, BAG = 2, CLASS_COLLOCATION = 3 };

std::uint64_t mixed(std::uint64_t h) {  // the finalizer of MurmurHash3
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdull;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ull;
    return h ^ (h >> 33);
}

std::uint64_t word_key(std::string_view word) { return mixed(fnv1a(word)); }

// 32 bits of the key of an n-gram: a classifier knows a few hundred keys and a context has some
// tens, so one context in a million has a wrong match.
std::uint32_t ngram_key(FeatureKind kind, std::size_t place, const std::uint64_t* words,
                        std::size_t n) {
    std::uint64_t h = mixed(kind * 256 + place * 16 + n);
    for (std::size_t i = 0; i < n; ++i) h = mixed(h ^ words[i]) + i;
    return static_cast<std::uint32_t>(h >> 32);
}

struct ContextShape {
    std::size_t bag_order = 1;  // 0 for none
    bool has_collocations = true;
    bool has_classes = false;
};

// Appends the features of the gap [first, last) in a sentence of `length` words; `classes` may be null.
// A feature may come twice. `rest` is working memory.
void add_context(const ContextShape& shape, const std::uint64_t* words,
                 const std::uint64_t* classes, std::size_t length, std::size_t first,
                 std::size_t last, std::vector<std::uint32_t>& features,
                 std::vector<std::uint64_t>& rest) {
    auto add_collocations = [&](FeatureKind kind, const std::uint64_t* keys) {
        std::uint64_t near[2 * WORDS_ON_A_SIDE];
        for (std::size_t i = 0; i < WORDS_ON_A_SIDE; ++i) {
            near[i] =
                first + i >= WORDS_ON_A_SIDE ? keys[first + i - WORDS_ON_A_SIDE] : BOUNDARY_KEY;
            near[WORDS_ON_A_SIDE + i] = last + i < length ? keys[last + i] : BOUNDARY_KEY;
        }
        for (std::size_t n = 1; n <= 2 * WORDS_ON_A_SIDE; ++n)
            for (std::size_t place = 0; place + n <= 2 * WORDS_ON_A_SIDE; ++place)
                features.push_back(ngram_key(kind, place, near + place, n));
    };
    if (shape.has_collocations) add_collocations(COLLOCATION, words);
    if (shape.has_classes && classes) add_collocations(CLASS_COLLOCATION, classes);
    if (shape.bag_order == 0) return;
    rest.assign(words, words + first);
    rest.insert(rest.end(), words + last, words + length);
    for (std::size_t n = 1; n <= std::min(shape.bag_order, rest.size()); ++n)
        for (std::size_t place = 0; place + n <= rest.size(); ++place)
            features.push_back(ngram_key(BAG, 0, rest.data() + place, n));
}

// Numbers for keys in order of first appearance; open addressing. A slot is empty unless it has the
// current stamp, so `clear` need not touch the slots.
class FeatureNumbers {
public:
    void clear() {
        keys_.clear();
        ++stamp_;
    }
    std::uint32_t add(std::uint32_t key) {
        if ((keys_.size() + 1) * 2 > slots_.size()) grow();
        for (std::size_t at = (key * 0x9e3779b1u) & mask_;; at = (at + 1) & mask_) {
            Slot& slot = slots_[at];
            if (slot.stamp != stamp_) {
                slot = {stamp_, static_cast<std::uint32_t>(keys_.size())};
                keys_.push_back(key);
                return slot.number;
            }
            if (keys_[slot.number] == key) return slot.number;
        }
    }
    const std::vector<std::uint32_t>& keys() const { return keys_; }

private:
    struct Slot {
        std::uint32_t stamp = 0, number = 0;
    };
    void grow() {
        slots_.assign(slots_.empty() ? 1024 : slots_.size() * 2, Slot{});
        mask_ = slots_.size() - 1;
        stamp_ = 1;
        for (std::uint32_t number = 0; number < keys_.size(); ++number) {
            std::size_t at = (keys_[number] * 0x9e3779b1u) & mask_;
            while (slots_[at].stamp == stamp_) at = (at + 1) & mask_;
            slots_[at] = {stamp_, number};
        }
    }
    std::vector<std::uint32_t> keys_;
    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
    std::uint32_t stamp_ = 1;
};

using Examples =
    std::tuple<NewArray<std::uint32_t>, NewArray<std::uint64_t>, NewArray<std::uint32_t>>;

// Examples are the contexts of the words at `places` of a corpus. Returns (keys, rows, columns): the
// keys of the features that at least `min_count` examples have; and the features of each example e,
// each once and as a place in `keys`, from columns[rows[e]] to columns[rows[e + 1]], without the end.
Examples context_examples(Array<std::uint32_t> tokens, Array<std::uint64_t> sentence_starts,
                          Array<std::uint64_t> keys_of_words, Array<std::uint64_t> keys_of_classes,
                          Array<std::uint64_t> places, std::size_t bag_order, bool has_collocations,
                          std::uint32_t min_count) {
    const bool has_classes = keys_of_classes.size() > 0;
    const ContextShape shape{bag_order, has_collocations, has_classes};
    require_pieces(values_of(sentence_starts), tokens.size(),
                   "the beginnings of the sentences are out of order");
    require_below(values_of(tokens), keys_of_words.size(), "a word is out of range");
    require(!has_classes || keys_of_classes.size() == keys_of_words.size(),
            "a class is needed for each word, or none");
    const std::uint64_t first_place = sentence_starts.data()[0];
    const std::uint64_t last_place = sentence_starts.data()[sentence_starts.size() - 1];
    for (const std::uint64_t place : values_of(places))
        require(place >= first_place && place < last_place, "a place is outside all sentences");
    std::vector<std::uint64_t> rows{0};
    std::vector<std::uint32_t> columns, kept_keys;
    {
        nb::gil_scoped_release release;
        static thread_local FeatureNumbers table;
        table.clear();
        std::vector<std::uint32_t> counts, features;
        std::vector<std::uint64_t> words, classes, rest;
        const std::uint64_t* starts = sentence_starts.data();
        for (std::size_t e = 0; e < places.size(); ++e) {
            const std::uint64_t place = places.data()[e];
            const std::uint64_t* end =
                std::upper_bound(starts, starts + sentence_starts.size(), place);
            const std::uint64_t begin = end[-1], length = *end - begin;
            words.clear();
            classes.clear();
            for (std::uint64_t t = begin; t < begin + length; ++t) {
                words.push_back(keys_of_words.data()[tokens.data()[t]]);
                if (has_classes) classes.push_back(keys_of_classes.data()[tokens.data()[t]]);
            }
            features.clear();
            add_context(shape, words.data(), has_classes ? classes.data() : nullptr, length,
                        place - begin, place - begin + 1, features, rest);
            for (auto& feature : features) feature = table.add(feature);
            std::sort(features.begin(), features.end());
            features.erase(std::unique(features.begin(), features.end()), features.end());
            counts.resize(table.keys().size());
            for (const auto feature : features) ++counts[feature];
            columns.insert(columns.end(), features.begin(), features.end());
            rows.push_back(columns.size());
        }
        std::vector<std::uint32_t> renumbered(counts.size());
        for (std::size_t f = 0; f < counts.size(); ++f) {
            renumbered[f] = static_cast<std::uint32_t>(kept_keys.size());
            if (counts[f] >= min_count) kept_keys.push_back(table.keys()[f]);
        }
        std::uint64_t kept = 0, read = 0;
        for (std::size_t e = 0; e + 1 < rows.size(); ++e) {
            for (; read < rows[e + 1]; ++read)
                if (counts[columns[read]] >= min_count) columns[kept++] = renumbered[columns[read]];
            rows[e + 1] = kept;
        }
        columns.resize(kept);
    }
    return {as_array(std::move(kept_keys)), as_array(std::move(rows)),
            as_array(std::move(columns))};
}

// Linear models over contexts, one per word; the keys of a model are sorted. The arrays may be those of
// a mapped file.
class ContextModels {
public:
    ContextModels(nb::object begins, nb::object keys, nb::object weights, nb::object biases,
                  std::size_t bag_order, bool has_collocations)
        : owners_{begins, keys, weights, biases}, begins_(nb::cast<Array<std::uint32_t>>(begins)),
          keys_(nb::cast<Array<std::uint32_t>>(keys)), weights_(nb::cast<Array<float>>(weights)),
          biases_(nb::cast<Array<float>>(biases)), shape_{bag_order, has_collocations, false} {
        require_pieces(values_of(begins_), keys_.size(),
                       "the beginnings of the models are out of order");
        require(weights_.size() == keys_.size() && biases_.size() + 1 == begins_.size(),
                "a weight is needed for each key, a bias for each model");
    }

    // By query: bias plus the weights of the context's features. A query is a sentence, the gap's first
    // word and the one after its last, and the model's number. `classes` are the names of the words'
    // classes, sentence by sentence, or empty.
    NewArray<double> margins(nb::handle sentences, Array<std::int64_t> queries,
                             nb::handle classes) const {
        const TextLists texts(sentences), class_names(classes);
        check(queries, texts, class_names);
        ContextShape shape = shape_;
        shape.has_classes = class_names.size() > 0;
        std::vector<double> result(queries.size() / 4);
        {
            nb::gil_scoped_release release;
            std::vector<std::uint64_t> words, classes_here, rest;
            std::vector<std::uint32_t> features;
            std::int64_t hashed_sentence = -1;
            for (std::size_t q = 0; q < result.size(); ++q) {
                const std::int64_t* query = queries.data() + 4 * q;
                if (query[0] != hashed_sentence) {
                    hashed_sentence = query[0];
                    words.clear();
                    for (std::size_t j = 0; j < texts.count(hashed_sentence); ++j)
                        words.push_back(word_key(texts.at(hashed_sentence, j)));
                    classes_here.clear();
                    for (std::size_t j = 0; shape.has_classes && j < words.size(); ++j)
                        classes_here.push_back(word_key(class_names.at(hashed_sentence, j)));
                }
                features.clear();
                add_context(shape, words.data(), classes_here.data(), words.size(), query[1],
                            query[2], features, rest);
                std::sort(features.begin(), features.end());
                features.erase(std::unique(features.begin(), features.end()), features.end());
                result[q] = margin(static_cast<std::size_t>(query[3]), features);
            }
        }
        return as_array(std::move(result));
    }

private:
    void check(const Array<std::int64_t>& queries, const TextLists& texts,
               const TextLists& classes) const {
        require(queries.size() % 4 == 0, "a query is four numbers");
        require(classes.size() == 0 || classes.size() == texts.size(),
                "classes are needed for each sentence, or none");
        for (std::size_t i = 0; i < classes.size(); ++i)
            require(classes.count(i) == texts.count(i), "a class is needed for each word");
        for (std::size_t q = 0; q < queries.size(); q += 4) {
            const std::int64_t* query = queries.data() + q;
            require(query[0] >= 0 && static_cast<std::size_t>(query[0]) < texts.size(),
                    "a query asks for a sentence that does not exist");
            require(query[1] >= 0 && query[1] <= query[2] &&
                        static_cast<std::size_t>(query[2]) <= texts.count(query[0]),
                    "a gap is outside its sentence");
            require(query[3] >= 0 && static_cast<std::size_t>(query[3]) < biases_.size(),
                    "a query asks for a model that does not exist");
        }
    }

    double margin(std::size_t model, const std::vector<std::uint32_t>& features) const {
        const std::uint32_t* first = keys_.data() + begins_.data()[model];
        const std::uint32_t* last = keys_.data() + begins_.data()[model + 1];
        double sum = biases_.data()[model];
        for (const auto feature : features) {
            const std::uint32_t* found = std::lower_bound(first, last, feature);
            if (found != last && *found == feature) sum += weights_.data()[found - keys_.data()];
        }
        return sum;
    }

    std::vector<nb::object> owners_;
    Array<std::uint32_t> begins_, keys_;
    Array<float> weights_, biases_;
    ContextShape shape_;
};

NewArray<std::uint64_t> word_keys(nb::handle words) {
    const Texts texts(words);
    std::vector<std::uint64_t> keys(texts.size());
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = word_key(texts[i]);
    return as_array(std::move(keys));
}

// For each number below `size`: where its places begin in the second array, which has the places where
// the number stands (by counting sort).
std::pair<NewArray<std::uint64_t>, NewArray<std::uint32_t>> postings(Array<std::uint32_t> numbers,
                                                                     std::size_t size) {
    require_below(values_of(numbers), size, "a number is out of range");
    std::vector<std::uint64_t> begins(size + 1);
    std::vector<std::uint32_t> places(numbers.size());
    {
        nb::gil_scoped_release release;
        const std::uint32_t* data = numbers.data();
        for (std::size_t i = 0; i < places.size(); ++i) ++begins[data[i] + 1];
        for (std::size_t word = 0; word < size; ++word) begins[word + 1] += begins[word];
        std::vector<std::uint64_t> next(begins.begin(), begins.end() - 1);
        for (std::size_t i = 0; i < places.size(); ++i)
            places[next[data[i]]++] = static_cast<std::uint32_t>(i);
    }
    return {as_array(std::move(begins)), as_array(std::move(places))};
}

}  // namespace

void add_context_classifiers(nb::module_& m) {
    m.def("word_keys", &word_keys, nb::arg("words"));
    m.def("postings", &postings, nb::arg("numbers"), nb::arg("size"));
    m.def("context_examples", &context_examples, nb::arg("tokens"), nb::arg("sentence_starts"),
          nb::arg("keys_of_words"), nb::arg("keys_of_classes"), nb::arg("places"),
          nb::arg("bag_order"), nb::arg("has_collocations"), nb::arg("min_count"));
    nb::class_<ContextModels>(m, "ContextModels")
        .def(nb::init<nb::object, nb::object, nb::object, nb::object, std::size_t, bool>(),
             nb::arg("begins"), nb::arg("keys"), nb::arg("weights"), nb::arg("biases"),
             nb::arg("bag_order"), nb::arg("has_collocations"))
        .def("margins", &ContextModels::margins, nb::arg("sentences"), nb::arg("queries"),
             nb::arg("classes"));
}

}  // namespace wellput
