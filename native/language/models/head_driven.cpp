// The head-driven parser: best forests and log probabilities of sentences over lattices of tags.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <cmath>
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

// What comes back of a sentence: logs are natural.
enum Column : std::size_t {
    LOG_PROBABILITY,
    BEST_LOG_PROBABILITY,
    UNIGRAM_LOG_PROBABILITY,
    COLUMNS
};

class HeadDriven {
public:
    // tables: starts, keys and values of events, of contexts and of lists, then begins, outcomes and
    // steps of what is listed; tags: coarse, coarsest, class.
    HeadDriven(const HeadDriven&) = delete;
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

    // Word numbers of all sentences after each other, sentence i from sentences[i] on; a row of
    // Columns per sentence, and by word its head and tag where `heads` is not empty.
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
        Matrix result = new_matrix(n, COLUMNS, &rows);
        std::int32_t *heads_out = heads.data(), *tags_out = tags.data();
        nb::gil_scoped_release release;
        parallel_for(
            n, threads,
            [&, chart = HeadDrivenChart(model_)](std::size_t begin, std::size_t end) mutable {
                for (std::size_t i = begin; i < end; ++i) {
                    const auto from = static_cast<std::size_t>(sentences.data()[i]);
                    const auto size = static_cast<std::size_t>(sentences.data()[i + 1]) - from;
                    if (size == 0) continue;
                    chart.prepare({size, words.data() + from, lattice_starts.data() + from,
                                   lattice_tags.data(), weights.data()},
                                  size > limits.first ? limits.second : size);
                    double* row = rows + i * COLUMNS;
                    row[UNIGRAM_LOG_PROBABILITY] = chart.log_unigrams();
                    row[LOG_PROBABILITY] = chart.sum() + row[UNIGRAM_LOG_PROBABILITY];
                    if (!is_tree_wanted) continue;
                    row[BEST_LOG_PROBABILITY] = chart.best(heads_out + from, tags_out + from) +
                                                row[UNIGRAM_LOG_PROBABILITY];
                }
            },
            4);
        return result;
    }

private:
    static constexpr std::size_t BUCKETS = 1u << 16;

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
        require_pieces(begins, outcomes.size(), "lists that are no pieces of the outcomes");
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
        require(starts.size() == BUCKETS + 1 && values.size() == keys.size(),
                "the buckets of a table do not fit together");
        require_pieces(starts, keys.size(), "buckets that are no pieces of the keys");
        return {starts.data(), keys.data(), values.data()};
    }

    void check_lattices(const Array<std::int64_t>& sentences, const Array<std::int32_t>& words,
                        const Array<std::int64_t>& starts, const Array<std::int32_t>& tags) const {
        require_pieces(values_of(sentences), words.shape(0),
                       "sentences that are no pieces of the text");
        require_below(values_of(words), model_.n_words, "a word is out of range");
        require_below(values_of(tags), model_.n_tags, "a tag is out of range");
        require(starts.shape(0) == words.shape(0) + 1, "tags are needed for each word");
        require_pieces(values_of(starts), tags.shape(0), "words that are no pieces of the lattice");
        for (std::size_t i = 0; i < words.shape(0); ++i)
            require(starts(i) < starts(i + 1), "a word has no tag");
    }

    template <typename T>
    std::span<const T> hold(nb::handle object) {
        auto array = nb::cast<Array<T>>(object);
        // The array itself, which is not the object where its numbers had another type.
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
