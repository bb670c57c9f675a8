// BLEU's statistics: lengths, clipped n-gram matches and n-gram totals.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/checks.h"
#include "kernels.h"
#include "metrics/ngram_matches.h"
#include "metrics/scoring.h"
#include "text/tokenize.h"
#include "text/vocabulary.h"

namespace wellput {

namespace {

struct Options {
    Tokenizer tokenizer;
    int orders;
    bool shortest;  // whether the shortest reference gives the reference length, not the closest
};

class BleuScorer {
public:
    explicit BleuScorer(const Options& options) : options_(options) {}

    // row: the length of the hypothesis, that of the reference, then the matches of each order, then
    // the numbers of the hypothesis's n-grams of each order.
    void score(std::string_view hypothesis, References references, double* row) {
        const std::size_t n_references = references.size();
        if (buffers_.size() < n_references + 1) buffers_.resize(n_references + 1);
        vocabulary_.clear();
        matches_.clear();
        lengths_.clear();
        for (std::size_t r = 0; r < n_references; ++r) {
            tokenize(options_.tokenizer, references[r], buffers_[r], tokens_);
            matches_.end_reference(
                vocabulary_.add(tokens_, matches_.add_reference(tokens_.size())));
            lengths_.push_back(tokens_.size());
        }
        tokenize(options_.tokenizer, hypothesis, buffers_[n_references], tokens_);
        const std::size_t length = tokens_.size();
        matches_.end_hypothesis(vocabulary_.find(tokens_, matches_.add_hypothesis(length)));
        const std::size_t orders = static_cast<std::size_t>(options_.orders);
        row[0] = static_cast<double>(length);
        row[1] = static_cast<double>(reference_length(length));
        matches_.count(vocabulary_.bound(), options_.orders, row + 2);
        for (std::size_t n = 1; n <= orders; ++n)
            row[1 + orders + n] = static_cast<double>(length >= n ? length - n + 1 : 0);
    }

private:
    // The length of the shortest reference, or of the one closest in length to the hypothesis; of two
    // equally close ones, the shorter.
    std::size_t reference_length(std::size_t length) const {
        const auto distance = [length](std::size_t other) {
            return other > length ? other - length : length - other;
        };
        return *std::min_element(lengths_.begin(), lengths_.end(), [&](auto a, auto b) {
            if (options_.shortest || distance(a) == distance(b)) return a < b;
            return distance(a) < distance(b);
        });
    }

    Options options_;
    NgramMatches matches_;
    Vocabulary vocabulary_;
    std::vector<std::string> buffers_;  // one for each text: the vocabulary's tokens lie in them
    std::vector<std::string_view> tokens_;
    std::vector<std::size_t> lengths_;
};

Matrix bleu_statistics(nb::handle hypotheses, nb::handle reference_lists, const char* tokenizer,
                       int max_ngram_order, bool shortest, int threads) {
    constexpr int MAX_ORDER = 1000;
    require(max_ngram_order > 0 && max_ngram_order <= MAX_ORDER,
            "max_ngram_order must be at least 1, and at most 1000");
    const TextLists references(reference_lists);
    require_references(references);
    const std::size_t columns = 2 + 2 * static_cast<std::size_t>(max_ngram_order);
    return score_items(Texts(hypotheses), references, columns, threads,
                       BleuScorer({tokenizer_named(tokenizer), max_ngram_order, shortest}));
}

}  // namespace

void add_bleu(nb::module_& m) {
    m.def("bleu_statistics", &bleu_statistics, nb::arg("hypotheses"), nb::arg("references"),
          nb::arg("tokenizer"), nb::arg("max_ngram_order"), nb::arg("shortest"),
          nb::arg("threads"));
}

}  // namespace wellput
