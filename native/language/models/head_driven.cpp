// The head-driven parser: best forests and log probabilities of sentences over lattices of tags.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/parallel.h"
#include "kernels.h"
#include "language/models/head_driven_chart.h"
#include "language/models/head_driven_model.h"

namespace wellput {
namespace {

namespace nb = nanobind;

template <typename T>
using OutArray = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The columns of a sentence's row; logs are natural.
enum Column : std::size_t {
    LOG_PROBABILITY,
    BEST_LOG_PROBABILITY,
    UNIGRAM_LOG_PROBABILITY,
    SENTENCE_COLUMNS
};

class HeadDriven {
public:
    HeadDriven(const HeadDriven&) = delete;
    // `tables`: starts, keys and values of events, of contexts and of lists, then begins, outcomes and
    // steps of what is listed (BackoffTables has all these). `tags`: the coarser, the coarsest tag and
    // the class of each. `continuing` is the probability of one more fragment.
    HeadDriven(nb::handle tables, nb::handle tags, nb::handle unigrams, std::size_t n_classes,
               std::uint32_t sentence_start, double head_share, double after_share,
               double continuing) {
        const auto coarse = hold<std::int32_t>(tags[0]), coarsest = hold<std::int32_t>(tags[1]);
        const auto classes = hold<std::int32_t>(tags[2]);
        const std::size_t n_tags = coarse.size();
        require(n_tags > 0 && coarsest.size() == n_tags && classes.size() == n_tags,
                "two coarser tags and a class are needed for each tag");
        require_below(coarsest, n_tags, "a coarser tag is out of range");
        require_below(classes, n_classes, "a class is out of range");
        hold_tables(tables, n_tags);
        model_.n_tags = n_tags;
        model_.coarse = coarse.data();
        model_.coarsest = coarsest.data();
        model_.classes = classes.data();
        const auto words = hold<float>(unigrams);
        model_.unigrams = words.data();
        model_.n_words = words.size();
        model_.n_classes = n_classes;
        model_.sentence_start = sentence_start;
        model_.head_share = head_share;
        model_.after_share = after_share;
        model_.log_continue = std::log(continuing);
        model_.log_end = std::log1p(-continuing);
    }

    // `words` has the numbers of the words of all sentences; sentence i begins at sentences[i]. Returns
    // a row of `Column`s for each sentence. If `heads` is not empty, each word's head and tag are
    // written into `heads` and `tags`. In a sentence of more than limits.first words nothing reaches
    // further than limits.second words.
    Matrix parse(Array<std::int64_t> sentences, Array<std::int32_t> words,
                 Array<std::int64_t> lattice_starts, Array<std::int32_t> lattice_tags,
                 Array<float> weights, OutArray<std::int32_t> heads, OutArray<std::int32_t> tags,
                 std::pair<std::size_t, std::size_t> limits, int threads) {
        check_lattices(sentences, words, lattice_starts, lattice_tags);
        const std::size_t n = sentences.shape(0) - 1;
        const bool is_tree_wanted = heads.shape(0) > 0;
        require(weights.shape(0) == lattice_tags.shape(0), "a weight is needed for each tag");
        require(heads.shape(0) == tags.shape(0) &&
                    (!is_tree_wanted || heads.shape(0) == words.shape(0)),
                "room for a head and a tag is needed for each word, or none");
        double* rows = nullptr;
        Matrix result = new_matrix(n, SENTENCE_COLUMNS, &rows);
        std::int32_t *heads_out = heads.data(), *tags_out = tags.data();
        nb::gil_scoped_release release;
        for_items(
            n, threads, HeadDrivenChart(model_),
            [&](HeadDrivenChart& chart, std::size_t i) {
                const auto from = static_cast<std::size_t>(sentences.data()[i]);
                const auto size = static_cast<std::size_t>(sentences.data()[i + 1]) - from;
                if (size == 0) return;
                chart.prepare({size, words.data() + from, lattice_starts.data() + from,
                               lattice_tags.data(), weights.data()},
                              size > limits.first ? limits.second : size);
                double* row = rows + i * SENTENCE_COLUMNS;
                row[UNIGRAM_LOG_PROBABILITY] = chart.log_unigrams();
                row[LOG_PROBABILITY] = chart.sum() + row[UNIGRAM_LOG_PROBABILITY];
                if (!is_tree_wanted) return;
                row[BEST_LOG_PROBABILITY] =
                    chart.best(heads_out + from, tags_out + from) + row[UNIGRAM_LOG_PROBABILITY];
            },
            4);
        return result;
    }

private:
    static constexpr std::size_t TABLE_BUCKETS = 1u << 16;

    void hold_tables(nb::handle tables, std::size_t n_tags) {
        model_.tables.events = hold_table<std::uint8_t>(tables, 0);
        model_.tables.contexts = hold_table<std::uint16_t>(tables, 3);
        model_.tables.lists = hold_table<std::uint16_t>(tables, 6);
        const std::size_t n_lists = hold<std::uint16_t>(tables[8]).size();
        const auto begins = hold<std::uint32_t>(tables[9]);
        const auto outcomes = hold<std::uint16_t>(tables[10]);
        const auto steps = hold<std::uint8_t>(tables[11]);
        require(begins.size() == n_lists + 1 && steps.size() == outcomes.size(),
                "the lists of a table do not fit together");
        require_pieces(begins, outcomes.size(), "the beginnings of the lists are out of order");
        require_below(outcomes, n_tags + 1, "an outcome is out of range");
        model_.tables.begins = begins.data();
        model_.tables.outcomes = outcomes.data();
        model_.tables.steps = steps.data();
    }

    template <typename Value>
    BackoffTable<Value> hold_table(nb::handle tables, std::size_t first) {
        const auto starts = hold<std::uint32_t>(tables[first]);
        const auto keys = hold<std::uint16_t>(tables[first + 1]);
        const auto values = hold<Value>(tables[first + 2]);
        require(starts.size() == TABLE_BUCKETS + 1 && values.size() == keys.size(),
                "the buckets of a table do not fit together");
        require_pieces(starts, keys.size(), "the beginnings of the buckets are out of order");
        return {starts.data(), keys.data(), values.data()};
    }

    void check_lattices(const Array<std::int64_t>& sentences, const Array<std::int32_t>& words,
                        const Array<std::int64_t>& starts, const Array<std::int32_t>& tags) const {
        require_pieces(values_of(sentences), words.shape(0),
                       "the beginnings of the sentences are out of order");
        require_below(values_of(words), model_.n_words, "a word is out of range");
        require_below(values_of(tags), model_.n_tags, "a tag is out of range");
        require(starts.shape(0) == words.shape(0) + 1, "tags are needed for each word");
        require_pieces(values_of(starts), tags.shape(0),
                       "the beginnings of the words are out of order");
        for (std::size_t i = 0; i < words.shape(0); ++i)
            require(starts(i) < starts(i + 1), "a word has no tag");
    }

    // The values of an array, which is kept as long as the model.
    template <typename T>
    std::span<const T> hold(nb::handle object) {
        auto array = nb::cast<Array<T>>(object);
        // The converted array: another object than `object` if its numbers had another type.
        arrays_.emplace_back(array.handle());
        return values_of(array);
    }

    std::vector<nb::ndarray<>> arrays_;
    HeadDrivenModel model_;
};

}  // namespace

void add_head_driven(nb::module_& m) {
    nb::class_<HeadDriven>(m, "HeadDriven")
        .def(nb::init<nb::handle, nb::handle, nb::handle, std::size_t, std::uint32_t, double,
                      double, double>(),
             nb::arg("tables"), nb::arg("tags"), nb::arg("unigrams"), nb::arg("n_classes"),
             nb::arg("sentence_start"), nb::arg("head_share"), nb::arg("after_share"),
             nb::arg("continuing"))
        .def("parse", &HeadDriven::parse, nb::arg("sentences"), nb::arg("words"),
             nb::arg("lattice_starts"), nb::arg("lattice_tags"), nb::arg("weights"),
             nb::arg("heads"), nb::arg("tags"), nb::arg("limits"), nb::arg("threads"));
}

}  // namespace wellput
