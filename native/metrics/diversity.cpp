// Distinct n-grams, of each text and of all texts together.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays.h"
#include "core/parallel.h"
#include "core/texts.h"
#include "kernels.h"
#include "metrics/ngram_counter.h"
#include "metrics/scoring.h"
#include "text/tokenize.h"
#include "text/vocabulary.h"

namespace wellput {
namespace {

class DistinctNgrams {
public:
    DistinctNgrams(std::uint8_t n, Tokenizer tokenizer) : n_(n), tokenizer_(tokenizer) {}

    // row: the number of distinct n-grams, and of all n-grams.
    void count(std::string_view text, double* row) {
        tokenize(tokenizer_, text, buffer_, tokens_);
        vocabulary_.clear();
        ids_.resize(tokens_.size());
        vocabulary_.add(tokens_, ids_.data());
        trie_.clear();
        std::size_t distinct = 0;
        for (std::size_t start = 0; start + n_ <= ids_.size(); ++start) {
            std::size_t before = 0;  // nodes before the whole n-gram is added
            Node node = ROOT_NODE;
            for (std::size_t j = 0; j < n_; ++j) {
                before = trie_.size();
                node = trie_.add(node, ids_[start + j]);
            }
            distinct += trie_.size() - before;
        }
        row[0] = static_cast<double>(distinct);
        row[1] = ids_.size() < n_ ? 0.0 : static_cast<double>(ids_.size() - n_ + 1);
    }

private:
    std::size_t n_;
    Tokenizer tokenizer_;
    Vocabulary vocabulary_;
    Trie trie_;
    std::string buffer_;
    std::vector<std::string_view> tokens_;
    std::vector<Token> ids_;
};

Matrix distinct_ngrams(nb::handle sequence, std::uint8_t n, std::string_view tokenizer,
                       int threads) {
    const Texts texts(sequence);
    const DistinctNgrams counter(n, tokenizer_named(tokenizer));
    double* rows = nullptr;
    Matrix result = new_matrix(texts.size(), 2, &rows);
    nb::gil_scoped_release release;
    for_items_that_fit(texts.size(), threads, counter, [&](DistinctNgrams& own, std::size_t i) {
        own.count(texts[i], rows + 2 * i);
    });
    return result;
}

}  // namespace

void add_diversity(nb::module_& m) {
    nb::class_<NgramCounter>(m, "NgramCounter")
        .def(nb::init<std::uint8_t, std::string>(), nb::arg("order"), nb::arg("tokenizer"))
        // Holds the GIL (Python's global lock), since only one thread may use a counter at a time.
        .def(
            "add",
            [](NgramCounter& counter, nb::handle sequence) {
                const Texts texts(sequence);
                for (std::size_t i = 0; i < texts.size(); ++i) counter.add(texts[i]);
            },
            nb::arg("texts"))
        .def("total", &NgramCounter::total, nb::arg("n"))
        .def("distinct", &NgramCounter::distinct, nb::arg("n"))
        .def("__getstate__", &NgramCounter::state)
        .def("__setstate__", [](NgramCounter& counter, const nb::tuple& state) {
            new (&counter) NgramCounter(NgramCounter::from_state(state));
        });
    m.def("distinct_ngrams", &distinct_ngrams, nb::arg("texts"), nb::arg("n"), nb::arg("tokenizer"),
          nb::arg("threads"));
}

}  // namespace wellput
