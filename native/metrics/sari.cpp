// Statistics of SARI: the n-grams of the source that a simplification keeps and deletes, and those that
// it adds, compared with the references. They are counted as in EASSE: counts of kept and deleted
// n-grams are multiplied by the number of references.
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "kernels.h"
#include "metrics/ngram_counter.h"
#include "metrics/scoring.h"
#include "text/tokenize.h"
#include "text/vocabulary.h"

namespace wellput {

namespace {

constexpr int NGRAM_ORDERS = 4;
constexpr int COUNTS_PER_ORDER = 9;

class SariScorer {
public:
    explicit SariScorer(Tokenizer tokenizer) : tokenizer_(tokenizer) {}

    // The first of `texts` is the source, the others are references. row: for each order, the numbers
    // of n-grams that were correctly added, that the hypothesis added, and that the references added;
    // then the same for kept and for deleted n-grams. All are 0 if there is no reference.
    void score(std::string_view hypothesis, References texts, double* row) {
        if (texts.size() < 2) return;
        vocabulary_.clear();
        trie_.clear();
        buffers_.clear();
        for (auto& nodes : nodes_of_order_) nodes.clear();
        counts_.clear();
        count(texts[0], &GramCounts::source);
        count(hypothesis, &GramCounts::hypothesis);
        for (const auto reference : texts.subspan(1)) count(reference, &GramCounts::references);
        const int n_references = static_cast<int>(texts.size()) - 1;
        for (int n = 0; n < NGRAM_ORDERS; ++n)
            for (const Node node : nodes_of_order_[n])
                add(counts_[node], n_references, row + n * COUNTS_PER_ORDER);
    }

private:
    struct GramCounts {
        int source = 0, hypothesis = 0, references = 0;
    };

    void count(std::string_view text, int GramCounts::* whose) {
        tokenize(tokenizer_, text, buffers_.emplace_back(), tokens_);
        vocabulary_.add(tokens_, words_);
        for (std::size_t i = 0; i < words_.size(); ++i) {
            Node node = ROOT_NODE;
            const std::size_t longest = std::min<std::size_t>(NGRAM_ORDERS, words_.size() - i);
            for (std::size_t n = 0; n < longest; ++n) {
                node = trie_.add(node, static_cast<Token>(words_[i + n]));
                if (node >= counts_.size()) {
                    counts_.resize(node + 1);
                    nodes_of_order_[n].push_back(node);
                }
                ++(counts_[node].*whose);
            }
        }
    }

    static void add(const GramCounts& gram, int n_references, double* row) {
        if (gram.source == 0) {
            row[0] += gram.hypothesis > 0 && gram.references > 0;
            row[1] += gram.hypothesis > 0;
            row[2] += gram.references > 0;
            return;
        }
        const int source = gram.source * n_references;
        const int hypothesis = gram.hypothesis * n_references;
        const int kept = std::min(source, hypothesis);
        const int kept_by_references = std::min(source, gram.references);
        row[3] += std::min(kept, kept_by_references);
        row[4] += kept;
        row[5] += kept_by_references;
        const int deleted = source - kept;
        const int deleted_by_references = source - kept_by_references;
        row[6] += std::min(deleted, deleted_by_references);
        row[7] += deleted;
        row[8] += deleted_by_references;
    }

    Tokenizer tokenizer_;
    Vocabulary vocabulary_;
    Trie trie_;
    std::deque<std::string> buffers_;  // one for each text: the vocabulary points into them
    std::vector<std::string_view> tokens_;
    std::vector<int> words_;
    std::array<std::vector<Node>, NGRAM_ORDERS> nodes_of_order_;
    std::vector<GramCounts> counts_;
};

Matrix sari_statistics(nb::handle hypotheses, nb::handle sources_and_references,
                       std::string_view tokenizer, int threads) {
    return score_items(Texts(hypotheses), TextLists(sources_and_references),
                       NGRAM_ORDERS * COUNTS_PER_ORDER, threads,
                       SariScorer(tokenizer_named(tokenizer)));
}

}  // namespace

void add_sari(nb::module_& m) { m.def("sari_statistics", &sari_statistics); }

}  // namespace wellput
