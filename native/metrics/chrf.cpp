// chrF's statistics: n-grams of the hypothesis, of the best reference, and of both, by order.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/parallel.h"
#include "core/texts.h"
#include "kernels.h"
#include "metrics/ngram_matches.h"
#include "metrics/references.h"
#include "text/character_symbols.h"
#include "text/token_symbols.h"
#include "text/tokenize.h"

namespace wellput {

namespace {

struct Options {
    int char_order;
    int word_order;
    double beta_squared;
    bool whitespace;
    bool eps_smoothing;

    int orders() const { return char_order + word_order; }
};

// The F score of one row, in sacreBLEU's order of operations: which of two references that score
// alike is the better one depends on the last digit.
double f_score(const double* row, const Options& options) {
    constexpr double eps = 1e-16;
    const double factor = options.beta_squared;
    double sum = 0, precision_sum = 0, recall_sum = 0;
    int effective = 0;
    for (int n = 0; n < options.orders(); ++n) {
        const double in_hypothesis = row[3 * n], in_reference = row[3 * n + 1];
        const double matches = row[3 * n + 2];
        const double precision = in_hypothesis > 0 ? matches / in_hypothesis : eps;
        const double recall = in_reference > 0 ? matches / in_reference : eps;
        const double denominator = factor * precision + recall;
        sum += denominator > 0 ? (1 + factor) * precision * recall / denominator : eps;
        if (in_hypothesis > 0 && in_reference > 0) {
            precision_sum += precision;
            recall_sum += recall;
            ++effective;
        }
    }
    if (options.eps_smoothing) return 100 * sum / options.orders();
    if (effective == 0 || precision_sum + recall_sum == 0) return 0;
    const double precision = precision_sum / effective;
    const double recall = recall_sum / effective;
    return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

bool is_ascii_punctuation(char c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}

// Words at whitespace, with one punctuation character split off: the last, or else the first.
void split_words(std::string_view text, std::vector<std::string_view>& scratch,
                 std::vector<std::string_view>& words) {
    std::string unused;
    tokenize(Tokenizer::none, text, unused, scratch);
    words.clear();
    for (const std::string_view word : scratch) {
        const std::size_t rest = word.size() - 1;
        if (rest > 0 && is_ascii_punctuation(word.back())) {
            words.push_back(word.substr(0, rest));
            words.push_back(word.substr(rest));
        } else if (rest > 0 && is_ascii_punctuation(word.front())) {
            words.push_back(word.substr(0, 1));
            words.push_back(word.substr(1));
        } else {
            words.push_back(word);
        }
    }
}

// One worker's scratch space.
class ChrfCounter {
public:
    explicit ChrfCounter(const Options& options)
        : options_(options), characters_(options.whitespace),
          row_(3 * static_cast<std::size_t>(options.orders())),
          matched_(static_cast<std::size_t>(options.orders())) {}

    void count(const Texts& hypotheses, const TextLists& references, std::size_t item,
               double* best) {
        const std::string_view hypothesis = hypotheses[item];
        if (options_.word_order > 0) split_words(hypothesis, scratch_, words_);
        double best_score = -1;
        for (std::size_t r = 0; r < references.count(item); ++r) {
            if (options_.char_order > 0) count_characters(hypothesis, references.at(item, r));
            if (options_.word_order > 0) count_words(references.at(item, r));
            const bool only = references.count(item) == 1;
            const double score = only ? 0 : f_score(row_.data(), options_);
            if (score > best_score) {
                best_score = score;
                std::copy(row_.begin(), row_.end(), best);
            }
        }
    }

private:
    void count_characters(std::string_view hypothesis, std::string_view reference) {
        matches_.clear();
        characters_.clear();
        std::uint32_t* start = matches_.add_reference(reference.size());
        const std::uint32_t* end = characters_.add(reference, start);
        const auto reference_length = static_cast<std::size_t>(end - start);
        matches_.end_reference(end);
        start = matches_.add_hypothesis(hypothesis.size());
        end = characters_.find(hypothesis, start);
        const auto length = static_cast<std::size_t>(end - start);
        matches_.end_hypothesis(end);
        matches_.count(characters_.size(), options_.char_order, matched_.data());
        fill(length, reference_length, options_.char_order, row_.data());
    }
    void count_words(std::string_view reference) {
        split_words(reference, scratch_, reference_words_);
        matches_.clear();
        word_symbols_.clear();
        const std::size_t size = reference_words_.size();
        matches_.end_reference(word_symbols_.add(reference_words_, matches_.add_reference(size)));
        matches_.end_hypothesis(word_symbols_.find(words_, matches_.add_hypothesis(words_.size())));
        matches_.count(word_symbols_.size(), options_.word_order, matched_.data());
        fill(words_.size(), size, options_.word_order, row_.data() + 3 * options_.char_order);
    }
    // An order of which the reference has no n-grams does not count the hypothesis' either.
    void fill(std::size_t length, std::size_t reference_length, int orders, double* row) const {
        const auto ngrams = [](std::size_t size, std::size_t n) {
            return static_cast<double>(size >= n ? size - n + 1 : 0);
        };
        for (int n = 0; n < orders; ++n) {
            const auto order = static_cast<std::size_t>(n) + 1;
            const double in_reference = ngrams(reference_length, order);
            row[3 * n] = in_reference > 0 ? ngrams(length, order) : 0;
            row[3 * n + 1] = in_reference;
            row[3 * n + 2] = matched_[static_cast<std::size_t>(n)];
        }
    }

    Options options_;
    NgramMatches matches_;
    CharacterSymbols characters_;
    TokenSymbols word_symbols_;
    std::vector<std::string_view> scratch_, words_, reference_words_;
    std::vector<double> row_;      // the statistics with one reference
    std::vector<double> matched_;  // by order
};

}  // namespace

static Matrix chrf_statistics(nb::handle hypothesis_texts, nb::handle reference_texts,
                              int char_order, int word_order, double beta_squared, bool whitespace,
                              bool eps_smoothing, int threads) {
    constexpr int most = 1000;
    require(char_order >= 0 && word_order >= 0 && char_order <= most && word_order <= most &&
                char_order + word_order > 0,
            "the orders of chrF must be from 0 to 1000, and one of them 1 or more");
    const Options options{char_order, word_order, beta_squared, whitespace, eps_smoothing};
    const Texts hypotheses(hypothesis_texts);
    const TextLists references(reference_texts);
    require_references(hypotheses, references);
    const std::size_t n = hypotheses.size();
    const std::size_t columns = 3 * static_cast<std::size_t>(options.orders());
    double* rows = nullptr;
    Matrix result = new_matrix(n, columns, &rows);
    nb::gil_scoped_release release;
    parallel_for(n, threads, [&, counter = ChrfCounter(options)](auto begin, auto end) mutable {
        for (std::size_t i = begin; i < end; ++i)
            counter.count(hypotheses, references, i, rows + i * columns);
    });
    return result;
}

void add_chrf(nb::module_& m) {
    m.def("chrf_statistics", &chrf_statistics, nb::arg("hypotheses"), nb::arg("references"),
          nb::arg("char_order"), nb::arg("word_order"), nb::arg("beta_squared"),
          nb::arg("whitespace"), nb::arg("eps_smoothing"), nb::arg("threads"));
}

}  // namespace wellput
