// Statistics of NIST (Doddington 2002), as NLTK computes it: a matched n-gram is weighted by its
// information, which says how rare, in all references, its last token is after its other tokens.
#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <stdexcept>
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

// Computes the statistics of one hypothesis at a time, with a small trie of its n-grams. `weights`
// counts the n-grams of all references.
class NistScorer {
public:
    explicit NistScorer(const NgramCounter& weights)
        : weights_(&weights), n_(weights.order()), by_order_(n_), best_(n_) {}

    // row: the information of the matches of order 1 to n, the numbers of n-grams of order 1 to n, the
    // length of the hypothesis, and the sum over the orders of the length of the best reference.
    void score(std::string_view hypothesis, References references, double* row) {
        read_hypothesis(hypothesis, row);
        std::fill(best_.begin(), best_.end(), Best{});
        if (buffers_.size() < references.size()) buffers_.resize(references.size());
        for (std::size_t j = 0; j < references.size(); ++j) {
            const std::size_t length = match(references[j], buffers_[j]);
            for (std::size_t i = 0; i < n_; ++i) {
                look_up(by_order_[i]);
                // NLTK takes the reference with the highest precision, of equal ones the longest.
                const double sum = information_of(i);
                const double precision = row[n_ + i] > 0 ? sum / row[n_ + i] : 0.0;
                best_[i] = std::max(best_[i], Best{precision, sum, length});
            }
            for (const Node node : touched_) nodes_[node].in_reference = 0;
        }
        for (std::size_t i = 0; i < n_; ++i) {
            row[i] = best_[i].information;
            row[2 * n_ + 1] += static_cast<double>(best_[i].length);
        }
    }

private:
    struct Best {
        double precision = -1.0;
        double information = 0.0;
        std::size_t length = 0;
        auto operator<=>(const Best&) const = default;
    };
    // An n-gram of the hypothesis.
    struct Local {
        Node parent = 0;
        int token = 0;
        int in_hypothesis = 0;
        int in_reference = 0;
        Node global = Trie::NO_NODE;  // the n-gram among all references, NO_NODE until needed
        double count = 0.0;           // its occurrences there
        double information = 0.0;
    };

    void read_hypothesis(std::string_view text, double* row) {
        vocabulary_.clear();
        trie_.clear();
        nodes_.assign(1, Local{});
        nodes_[ROOT_NODE].global = ROOT_NODE;
        nodes_[ROOT_NODE].count = static_cast<double>(weights_->count(ROOT_NODE));
        for (auto& nodes : by_order_) nodes.clear();
        tokenize(weights_->tokenizer(), text, hypothesis_buffer_, tokens_);
        vocabulary_.add(tokens_, ids_);
        hypothesis_bound_ = vocabulary_.bound();
        global_tokens_.assign(static_cast<std::size_t>(hypothesis_bound_), NO_WORD);
        for (std::size_t start = 0; start < ids_.size(); ++start) {
            Node node = ROOT_NODE;
            for (std::size_t i = 0; i < std::min(n_, ids_.size() - start); ++i) {
                const Node parent = node;
                const int token = ids_[start + i];
                node = trie_.add(parent, static_cast<Token>(token));
                if (node == nodes_.size()) {
                    nodes_.push_back({.parent = parent, .token = token});
                    by_order_[i].push_back(node);
                }
                ++nodes_[node].in_hypothesis;
                ++row[n_ + i];
            }
        }
        row[2 * n_] = static_cast<double>(ids_.size());
    }

    // Counts the hypothesis's n-grams in a reference; returns the reference's length.
    std::size_t match(std::string_view reference, std::string& buffer) {
        touched_.clear();
        tokenize(weights_->tokenizer(), reference, buffer, tokens_);
        vocabulary_.add(tokens_, ids_);
        for (std::size_t start = 0; start < ids_.size(); ++start) {
            Node node = ROOT_NODE;
            for (std::size_t i = 0; i < std::min(n_, ids_.size() - start); ++i) {
                const int token = ids_[start + i];
                if (token >= hypothesis_bound_) break;
                node = trie_.find(node, static_cast<Token>(token));
                if (node == Trie::NO_NODE) break;
                if (nodes_[node].in_reference++ == 0) touched_.push_back(node);
            }
        }
        return ids_.size();
    }

    // Looks up the matched n-grams of one order among those of all references. The n-grams of the order
    // before were looked up already; the parent of a matched n-gram is among them.
    void look_up(const std::vector<Node>& ngrams) {
        const auto wanted = [&](const Local& local) {
            return local.in_reference && local.global == Trie::NO_NODE;
        };
        for (const Node node : ngrams) {
            const Local& local = nodes_[node];
            if (!wanted(local)) continue;
            Token& token = global_tokens_[static_cast<std::size_t>(local.token)];
            if (token == NO_WORD) token = weights_->find_token(vocabulary_[local.token]);
            weights_->prefetch(nodes_[local.parent].global, token);
        }
        for (const Node node : ngrams) {
            Local& local = nodes_[node];
            if (!wanted(local)) continue;
            const Local& parent = nodes_[local.parent];
            const Token token = global_tokens_[static_cast<std::size_t>(local.token)];
            if (token != NO_WORD) local.global = weights_->find(parent.global, token);
            if (local.global == Trie::NO_NODE)
                throw std::invalid_argument("the weights were made without one of the references");
            local.count = static_cast<double>(weights_->count(local.global));
            // Doddington's equation 2: the information, in bits, of the last token after the
            // others.
            local.information = std::log(parent.count / local.count) / std::log(2.0);
        }
    }

    // The information of an order's matches, added in the order of their first appearance.
    double information_of(std::size_t i) const {
        double sum = 0.0;
        for (const Node node : by_order_[i]) {
            const Local& local = nodes_[node];
            if (local.in_reference)
                sum += local.information * std::min(local.in_hypothesis, local.in_reference);
        }
        return sum;
    }

    const NgramCounter* weights_;
    std::size_t n_;
    std::vector<std::vector<Node>> by_order_;
    std::vector<Best> best_;
    Vocabulary vocabulary_;
    Trie trie_;
    int hypothesis_bound_ = 0;  // the hypothesis's tokens have numbers below this
    std::vector<Local> nodes_;
    std::vector<Node> touched_;
    std::vector<Token> global_tokens_;
    std::vector<int> ids_;
    std::vector<std::string_view> tokens_;
    std::string hypothesis_buffer_;
    std::vector<std::string> buffers_;  // one for each reference: the vocabulary points into it
};

Matrix nist_statistics(nb::handle hypotheses, nb::handle references, const NgramCounter& weights,
                       int threads) {
    return score_items(Texts(hypotheses), TextLists(references), 2 * weights.order() + 2, threads,
                       NistScorer(weights));
}

}  // namespace

void add_nist(nb::module_& m) {
    m.def("nist_statistics", &nist_statistics, nb::arg("hypotheses"), nb::arg("references"),
          nb::arg("weights"), nb::arg("threads"));
}

}  // namespace wellput
