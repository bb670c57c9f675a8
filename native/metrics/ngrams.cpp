// Kernels over n-grams and lengths: NIST, distinct n-grams, token counts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays.h"
#include "core/parallel.h"
#include "core/texts.h"
#include "kernels.h"
#include "metrics/ngram_counter.h"
#include "metrics/nist.h"
#include "text/tokenize.h"
#include "text/vocabulary.h"

namespace wellput {
namespace {

Matrix nist_statistics(nb::handle hypotheses, nb::handle references, const NgramCounter& weights,
                       int threads) {
    const Texts texts(hypotheses);
    const TextLists lists(references);
    if (texts.size() != lists.size()) throw std::invalid_argument("one row of references per text");
    const std::size_t width = 2 * weights.order() + 2;
    double* rows = nullptr;
    Matrix result = new_matrix(texts.size(), width, &rows);
    nb::gil_scoped_release release;
    parallel_for(texts.size(), threads,
                 [&, scorer = NistScorer(weights)](std::size_t begin, std::size_t end) mutable {
                     for (std::size_t i = begin; i < end; ++i)
                         scorer.score(texts[i], lists, i, rows + i * width);
                 });
    return result;
}

// Per text: different n-grams of order n, and all of them.
Matrix distinct_ngrams(nb::handle sequence, std::uint8_t n, std::string_view tokenizer_name,
                       int threads) {
    const Texts texts(sequence);
    const Tokenizer tokenizer = tokenizer_named(tokenizer_name);
    double* rows = nullptr;
    Matrix result = new_matrix(texts.size(), 2, &rows);
    nb::gil_scoped_release release;
    const auto body = [&, n, tokenizer, vocabulary = Vocabulary(), trie = Trie(),
                       ids = std::vector<Token>(), tokens = std::vector<std::string_view>(),
                       buffer = std::string()](std::size_t begin, std::size_t end) mutable {
        for (std::size_t i = begin; i < end; ++i) {
            tokenize(tokenizer, texts[i], buffer, tokens);
            vocabulary.clear();
            ids.clear();
            for (const auto token : tokens)
                ids.push_back(static_cast<Token>(vocabulary.add(token)));
            trie.clear();
            std::size_t distinct = 0;
            for (std::size_t start = 0; start + n <= ids.size(); ++start) {
                std::size_t before = 0;
                Node node = kRoot;
                for (std::size_t j = 0; j < n; ++j) {
                    before = trie.size();
                    node = trie.add(node, ids[start + j]);
                }
                distinct += trie.size() - before;
            }
            rows[2 * i] = static_cast<double>(distinct);
            rows[2 * i + 1] = ids.size() < n ? 0.0 : static_cast<double>(ids.size() - n + 1);
        }
    };
    parallel_for(texts.size(), threads, body);
    return result;
}

// Per text: its tokens, and those of the reference closest in length, of two the shorter; 0 without
// a reference.
Matrix token_counts(nb::handle hypotheses, nb::handle references, std::string_view tokenizer_name,
                    int threads) {
    const Texts texts(hypotheses);
    const TextLists lists(references);
    if (texts.size() != lists.size()) throw std::invalid_argument("one row of references per text");
    const Tokenizer tokenizer = tokenizer_named(tokenizer_name);
    double* rows = nullptr;
    Matrix result = new_matrix(texts.size(), 2, &rows);
    nb::gil_scoped_release release;
    const auto body = [&, tokenizer, tokens = std::vector<std::string_view>(),
                       buffer = std::string()](std::size_t begin, std::size_t end) mutable {
        const auto count = [&](std::string_view text) {
            tokenize(tokenizer, text, buffer, tokens);
            return static_cast<std::int64_t>(tokens.size());
        };
        for (std::size_t i = begin; i < end; ++i) {
            const std::int64_t length = count(texts[i]);
            std::int64_t closest = 0;
            for (std::size_t j = 0; j < lists.count(i); ++j) {
                const std::int64_t other = count(lists.at(i, j));
                const std::int64_t farther = std::abs(closest - length) - std::abs(other - length);
                if (j == 0 || farther > 0 || (farther == 0 && other < closest)) closest = other;
            }
            rows[2 * i] = static_cast<double>(length);
            rows[2 * i + 1] = static_cast<double>(closest);
        }
    };
    parallel_for(texts.size(), threads, body);
    return result;
}

}  // namespace

void add_ngrams(nb::module_& m) {
    nb::class_<NgramCounter>(m, "NgramCounter")
        .def(nb::init<std::uint8_t, std::string>(), nb::arg("order"), nb::arg("tokenizer"))
        // Holds the GIL: a counter is one thread's until it is complete.
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
            new (&counter) NgramCounter(NgramCounter::of(state));
        });
    m.def("nist_statistics", &nist_statistics, nb::arg("hypotheses"), nb::arg("references"),
          nb::arg("weights"), nb::arg("threads"));
    m.def("distinct_ngrams", &distinct_ngrams, nb::arg("texts"), nb::arg("n"), nb::arg("tokenizer"),
          nb::arg("threads"));
    m.def("token_counts", &token_counts, nb::arg("hypotheses"), nb::arg("references"),
          nb::arg("tokenizer"), nb::arg("threads"));
}

}  // namespace wellput
