// The head-driven parser: best forests and log probabilities of sentences over lattices of tags.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <cmath>
#include <tuple>
#include <utility>

#include "arrays.h"
#include "head_driven_chart.h"
#include "head_driven_model.h"
#include "kernels.h"
#include "parallel.h"

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
        model_.tables.events = {hold<std::uint32_t>(tables[0]).first,
                                hold<std::uint16_t>(tables[1]).first,
                                hold<std::uint8_t>(tables[2]).first};
        model_.tables.contexts = {hold<std::uint32_t>(tables[3]).first,
                                  hold<std::uint16_t>(tables[4]).first,
                                  hold<std::uint16_t>(tables[5]).first};
        model_.tables.lists = {hold<std::uint32_t>(tables[6]).first,
                               hold<std::uint16_t>(tables[7]).first,
                               hold<std::uint16_t>(tables[8]).first};
        model_.tables.begins = hold<std::uint32_t>(tables[9]).first;
        model_.tables.outcomes = hold<std::uint16_t>(tables[10]).first;
        model_.tables.steps = hold<std::uint8_t>(tables[11]).first;
        std::tie(model_.coarse, model_.n_tags) = hold<std::int32_t>(tags[0]);
        model_.coarsest = hold<std::int32_t>(tags[1]).first;
        model_.classes = hold<std::int32_t>(tags[2]).first;
        std::tie(model_.unigrams, model_.n_words) = hold<float>(unigrams);
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
        const std::size_t n = sentences.shape(0) - 1;
        double* rows = nullptr;
        Matrix result = new_matrix(n, COLUMNS, &rows);
        const bool is_tree_wanted = heads.shape(0) > 0;
        std::int32_t *heads_out = heads.data(), *tags_out = tags.data();
        nb::gil_scoped_release release;
        parallel_for(
            n, threads,
            [&, chart = HeadDrivenChart(model_)](std::size_t begin,
                                                                std::size_t end) mutable {
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
                    row[BEST_LOG_PROBABILITY] =
                        chart.best(heads_out + from, tags_out + from) +
                        row[UNIGRAM_LOG_PROBABILITY];
                }
            },
            4);
        return result;
    }

private:
    template <typename T>
    std::pair<const T*, std::size_t> hold(nb::handle object) {
        auto array = nb::cast<Array<T>>(object);
        arrays_.push_back(nb::borrow(object));
        return {array.data(), array.shape(0)};
    }

    std::vector<nb::object> arrays_;
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
