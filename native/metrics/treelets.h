// Errors inside the treelets of a reference's dependency tree.
//
// A treelet is a node of the tree with its daughters; a root without daughters is a treelet, too. Its
// words are compared in the order of the reference and in the order of the hypothesis. For this, nodes
// get tokens of the hypothesis: first equal tokens that the alignment of the strings pairs, then other
// equal tokens from left to right, then tokens that the alignment pairs as substitutions. A substituted
// token stands for its node and counts as one substitution. A node without a token is missing from each
// of its treelets. A token without a node counts as one insertion.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "metrics/alignment.h"

namespace wellput {

class TreeletAligner {
public:
    explicit TreeletAligner(Costs costs) : strings_(costs), treelets_(costs) {}

    // The errors of a hypothesis. `heads` has the position of each reference token's head, -1 for the
    // root. Tokens are numbers below `bound`.
    Errors align(std::span<const int> reference, std::span<const int> heads,
                 std::span<const int> hypothesis, int bound) {
        string_errors_ = strings_.align(reference, hypothesis, bound);
        Errors errors = match(reference, hypothesis, bound);
        const int n = static_cast<int>(reference.size());
        daughter_begins_.assign(reference.size() + 1, 0);
        for (const int head : heads)
            if (head >= 0) ++daughter_begins_[head + 1];
        for (int i = 0; i < n; ++i) daughter_begins_[i + 1] += daughter_begins_[i];
        daughters_.resize(reference.size());
        next_.assign(daughter_begins_.begin(), daughter_begins_.end());
        for (int i = 0; i < n; ++i)
            if (heads[i] >= 0) daughters_[next_[heads[i]]++] = i;
        bound_ = bound + n;
        for (int i = 0; i < n; ++i)
            if (has_treelet(i, heads)) errors += treelet(i);
        return errors;
    }

    const Errors& string_errors() const { return string_errors_; }

    // The place of each node's token in the hypothesis, -1 for a node without a token.
    std::span<const int> token_of() const { return token_of_; }

    bool has_treelet(int node, std::span<const int> heads) const {
        return daughter_begins_[node + 1] > daughter_begins_[node] || heads[node] < 0;
    }

    // The errors of one treelet (the node `head` with its daughters), after align(). Substituted tokens
    // are not counted here.
    Errors treelet(int head) {
        members_.assign(daughters_.begin() + daughter_begins_[head],
                        daughters_.begin() + daughter_begins_[head + 1]);
        members_.insert(std::lower_bound(members_.begin(), members_.end(), head), head);
        bool in_order = true;
        int previous = NO_PLACE;
        for (const int node : members_) {
            in_order = in_order && token_of_[node] > previous;
            previous = token_of_[node];
        }
        if (in_order) return {};
        expected_.clear();
        for (const int node : members_) expected_.push_back(symbol_of_[node]);
        std::erase_if(members_, [&](int node) { return token_of_[node] == NO_PLACE; });
        std::sort(members_.begin(), members_.end(),
                  [&](int a, int b) { return token_of_[a] < token_of_[b]; });
        found_.clear();
        for (const int node : members_) found_.push_back(symbol_of_[node]);
        return treelets_.align(expected_, found_, bound_);
    }

private:
    static constexpr int NO_PLACE = -1;

    // Fills token_of_ and symbol_of_; returns the substitutions and the insertions outside treelets.
    Errors match(std::span<const int> reference, std::span<const int> hypothesis, int bound) {
        Errors errors;
        token_of_.assign(reference.size(), NO_PLACE);
        taken_.assign(hypothesis.size(), false);
        symbol_of_.assign(reference.begin(), reference.end());
        for (const Step& step : strings_.path())
            if (step.reference >= 0 && step.hypothesis >= 0 &&
                reference[step.reference] == hypothesis[step.hypothesis])
                pair(step.reference, step.hypothesis);
        // Pairs the remaining equal tokens from left to right. `first_` and `following_` make a queue
        // of places for each symbol.
        if (first_.size() < static_cast<std::size_t>(bound)) first_.resize(bound, NO_PLACE);
        following_.resize(hypothesis.size());
        for (int j = static_cast<int>(hypothesis.size()) - 1; j >= 0; --j)
            if (!taken_[j]) {
                following_[j] = first_[hypothesis[j]];
                first_[hypothesis[j]] = j;
            }
        for (std::size_t i = 0; i < reference.size(); ++i) {
            int& first = first_[reference[i]];
            if (token_of_[i] == NO_PLACE && first != NO_PLACE) {
                const int j = first;
                first = following_[j];
                pair(static_cast<int>(i), j);
            }
        }
        for (const int symbol : hypothesis) first_[symbol] = NO_PLACE;
        for (const Step& step : strings_.path())
            if (step.reference >= 0 && step.hypothesis >= 0 &&
                token_of_[step.reference] == NO_PLACE && !taken_[step.hypothesis]) {
                pair(step.reference, step.hypothesis);
                symbol_of_[step.reference] = bound + step.reference;  // a symbol of its own
                ++errors.substitutions;
            }
        errors.insertions = static_cast<int>(std::count(taken_.begin(), taken_.end(), false));
        return errors;
    }

    void pair(int node, int token) {
        token_of_[node] = token;
        taken_[token] = true;
    }

    Aligner strings_, treelets_;
    Errors string_errors_;
    int bound_ = 0;
    std::vector<int> token_of_, symbol_of_, first_, following_, next_;
    // Node i has the daughters from daughters_[daughter_begins_[i]] up to daughter_begins_[i + 1].
    std::vector<int> daughter_begins_, daughters_;
    std::vector<int> members_, expected_, found_;
    std::vector<bool> taken_;
};

}  // namespace wellput
