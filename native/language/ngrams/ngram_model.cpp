// Scores from an n-gram model in arrays, which may be those of a mapped file; and the parts of
// unpacking a compact model that NumPy cannot do.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/parallel.h"
#include "core/texts.h"
#include "kernels.h"
#include "language/ngrams/ngram_trie.h"
#include "language/ngrams/ngram_view.h"
#include "text/tokenize.h"
#include "text/word_table.h"

namespace wellput {
namespace {

// A word's log10 probability, the length of the n-gram that gives it, and whether the word is unknown.
struct WordScore {
    double log_prob;
    std::size_t length;
    bool is_unknown;
};

class NgramModel {
public:
    NgramModel(nb::handle vocabulary, nb::handle levels) : view_(vocabulary, levels) {}

    // For each text: its log10 probability and its number of words, then the same two for its unknown
    // words alone. </s> counts as a word.
    Matrix scores(nb::handle sequence, const char* tokenizer_name, int threads) const {
        const Tokenizer tokenizer = tokenizer_named(tokenizer_name);
        const Texts texts(sequence);
        double* rows = nullptr;
        Matrix result = new_matrix(texts.size(), 4, &rows);
        nb::gil_scoped_release release;
        parallel_for(texts.size(), threads,
                     [&, buffer = std::string(), tokens = std::vector<std::string_view>()](
                         std::size_t begin, std::size_t end) mutable {
                         for (std::size_t i = begin; i < end; ++i) {
                             tokenize(tokenizer, texts[i], buffer, tokens);
                             double* row = rows + 4 * i;
                             walk(tokens, [row](const WordScore& word) {
                                 row[0] += word.log_prob;
                                 row[1] += 1;
                                 if (!word.is_unknown) return;
                                 row[2] += word.log_prob;
                                 row[3] += 1;
                             });
                         }
                     });
        return result;
    }

    // For each word of one text, and for </s> after them: the values of its WordScore.
    Matrix word_scores(nb::handle text, const char* tokenizer_name) const {
        std::vector<nb::object> owners;
        std::string buffer;
        std::vector<std::string_view> tokens;
        tokenize(tokenizer_named(tokenizer_name), utf8_of(text, owners), buffer, tokens);
        double* row = nullptr;
        Matrix result = new_matrix(tokens.size() + 1, 3, &row);
        walk(tokens, [&row](const WordScore& word) {
            *row++ = word.log_prob;
            *row++ = static_cast<double>(word.length);
            *row++ = word.is_unknown;
        });
        return result;
    }

    // Lines of an ARPA file: n-grams begin to end of those with depth + 1 words.
    nb::bytes arpa_lines(std::size_t depth, std::size_t begin, std::size_t end) const {
        require(depth < view_.order() && begin <= end && end <= view_.levels()[depth].size,
                "the model has fewer n-grams than asked for");
        std::string lines;
        std::vector<std::size_t> path(depth + 1);  // the node at each depth on the way to an n-gram
        char number[32];
        const auto put = [&](float value) {
            // Adding 0.0f turns -0 into 0.
            lines.append(number, std::to_chars(number, number + sizeof number, value + 0.0f).ptr);
        };
        for (std::size_t x = begin; x < end; ++x) {
            path[depth] = x;
            // The parent of a node is the last one whose children begin at or before the node.
            for (std::size_t d = depth; d-- > 0;) {
                const auto* begins = view_.levels()[d].begins;
                const std::size_t size = view_.levels()[d].size;
                if (x == begin) {
                    const auto* next = std::upper_bound(begins, begins + size, path[d + 1]);
                    path[d] = next == begins ? 0 : static_cast<std::size_t>(next - begins - 1);
                }
                while (path[d] + 1 < size && begins[path[d] + 1] <= path[d + 1]) ++path[d];
            }
            put(view_.levels()[depth].log_probs[x]);
            for (std::size_t d = depth + 1; d-- > 0;) {
                lines += d == depth ? '\t' : ' ';
                lines += view_.words()[d == 0 ? static_cast<std::uint32_t>(path[0])
                                              : view_.levels()[d].words[path[d]]];
            }
            if (depth + 1 < view_.order()) {
                lines += '\t';
                put(view_.levels()[depth].backoffs[x]);
            }
            lines += '\n';
        }
        return nb::bytes(lines.data(), lines.size());
    }

private:
    // Calls seen(WordScore) for each token of a sentence, which begins with <s>, and for </s>.
    template <typename Seen>
    void walk(const std::vector<std::string_view>& tokens, Seen seen) const {
        const std::size_t order = view_.order();
        std::vector<std::uint32_t> history{SENTENCE_BEGIN};
        // By length: the n-grams that end in the word before, and those that end in this word.
        std::vector<std::uint32_t> contexts{SENTENCE_BEGIN}, nodes;
        history.reserve(tokens.size() + 2);
        for (std::size_t i = 0; i <= tokens.size(); ++i) {
            const std::uint32_t word =
                i == tokens.size() ? SENTENCE_END : find_in_text(view_.words(), tokens[i]);
            nodes.assign(1, word);
            while (nodes.size() < order && nodes.size() <= history.size()) {
                const std::uint32_t child = view_.longer(nodes.size(), nodes.back(),
                                                         history[history.size() - nodes.size()]);
                if (child == NO_NODE) break;
                nodes.push_back(child);
            }
            double log_prob = view_.levels()[nodes.size() - 1].log_probs[nodes.back()];
            for (std::size_t n = nodes.size(); n <= contexts.size() && n < order; ++n)
                log_prob += view_.levels()[n - 1].backoffs[contexts[n - 1]];
            seen(WordScore{log_prob, nodes.size(), word == UNKNOWN_WORD});
            history.push_back(word);
            contexts.swap(nodes);
        }
    }

    NgramView view_;
};

// The slots of a vocabulary (its third array), made from its offsets and its text.
NewArray<std::uint32_t> word_slots(const Array<std::uint64_t>& offsets,
                                   const Array<std::uint8_t>& text) {
    require_pieces(values_of(offsets), text.shape(0),
                   "the beginnings of the words are out of order");
    const WordView view{.offsets = offsets.data(),
                        .n_words = offsets.shape(0) - 1,
                        .text = reinterpret_cast<const char*>(text.data()),
                        .text_size = text.shape(0)};
    WordTable words(SPECIAL_WORDS);
    words.reserve(offsets.shape(0) - 1);
    for (std::uint32_t id = FIRST_PLAIN_WORD; id + 1 < offsets.shape(0); ++id) words.add(view[id]);
    return as_array(std::move(words.slots()));
}

// Running sums of `steps`, which start anew at each beginning.
NewArray<std::uint32_t> sums_within(const Array<std::uint32_t>& steps,
                                    const Array<std::uint32_t>& begins) {
    const std::size_t size = steps.shape(0);
    std::vector<std::uint32_t> sums(size);
    for (std::size_t x = 0; x + 1 < begins.shape(0); ++x) {
        std::uint32_t sum = 0;
        const std::size_t end = std::min<std::size_t>(begins.data()[x + 1], size);
        for (std::size_t i = begins.data()[x]; i < end; ++i) sums[i] = sum += steps.data()[i];
    }
    return as_array(std::move(sums));
}

}  // namespace

void add_ngram_model(nb::module_& m) {
    nb::class_<NgramModel>(m, "NgramModel")
        .def(nb::init<nb::handle, nb::handle>(), nb::arg("vocabulary"), nb::arg("levels"))
        .def("scores", &NgramModel::scores, nb::arg("texts"), nb::arg("tokenizer"),
             nb::arg("threads"))
        .def("word_scores", &NgramModel::word_scores, nb::arg("text"), nb::arg("tokenizer"))
        .def("arpa_lines", &NgramModel::arpa_lines, nb::arg("depth"), nb::arg("begin"),
             nb::arg("end"));
    m.def("word_slots", &word_slots, nb::arg("offsets"), nb::arg("text"));
    m.def("sums_within", &sums_within, nb::arg("steps"), nb::arg("begins"));
}

}  // namespace wellput
