// The candidate supertags of a word.
//
// They are first ranked by the word itself and the number of its daughters; the best are then ranked
// again by what its mother and its daughters are likely to be. A word is given by its place `x` in the
// tree or by its `node` there, a supertag by its number `t`. (tree_model.h explains stems, frames,
// roles and slots.)
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "core/checks.h"
#include "language/models/arranged_tree.h"
#include "language/models/tree_model.h"

namespace wellput {

struct Candidate {
    int supertag;
    double own;    // the log probability of its frame and of the number of adjuncts
    double score;  // to compare the candidates of a word
};

class SupertagCandidates {
public:
    // `role_relation` gives the relation of each role; the best `width` are kept.
    SupertagCandidates(const TreeProbabilities& model, const Ints& role_relation, int width)
        : p_(model), role_relation_(role_relation), width_(static_cast<std::size_t>(width)) {
        by_category_.resize(TreeProbabilities::MAX_CATEGORIES);
        for (int t = 0; t < p_.supertags(); ++t) by_category_[p_.a.category[t]].push_back(t);
    }

    // The candidates of a word by itself, given the number of its daughters. They are remembered.
    const std::vector<Candidate>& alone(const TreeNode& node, int daughters) {
        const auto key = std::tuple(node.lexeme, node.shape, node.head < 0, node.category,
                                    node.relation, daughters);
        if (remembered_.size() > MAX_REMEMBERED_WORDS) remembered_.clear();
        auto [place, is_new] = remembered_.try_emplace(key);
        if (is_new) {
            for (int attempt = 0; attempt < MAX_ATTEMPTS && place->second.empty(); ++attempt)
                collect(node, daughters, attempt, place->second);
            require(!place->second.empty(), "the model has no supertag for a word in such a place");
            shorten(place->second, WIDENING_FACTOR * width_);
        }
        return place->second;
    }

    // The best candidates of a word in its tree.
    std::vector<Candidate> in_tree(const ArrangedTree& tree, int x) {
        const TreeNode& node = tree[x];
        const auto& below = tree.daughters(x);
        std::vector<Candidate> list = alone(node, static_cast<int>(below.size()));
        best_filler_.assign(p_.slot_kinds(), -INFINITY_SCORE);
        for (const int d : below)
            for (std::size_t kind = 0; kind < best_filler_.size(); ++kind)
                best_filler_[kind] = std::max(
                    best_filler_[kind], p_.fills_slot(tree[d].lexeme, static_cast<int>(kind)));
        for (Candidate& candidate : list) {
            const int t = candidate.supertag;
            if (node.head >= 0) {
                const TreeNode& mother = tree[node.head];
                candidate.score += p_.makes_mother(mother.lexeme, p_.a.stem_mother[p_.a.stem[t]]);
            }
            for (int s = p_.a.slot_begin[t]; s < p_.a.slot_begin[t + 1] && !below.empty(); ++s)
                candidate.score += best_filler_[p_.a.slots[s]];
        }
        shorten(list, width_);
        return list;
    }

private:
    static void shorten(std::vector<Candidate>& list, std::size_t most) {
        const std::size_t kept = std::min(list.size(), most);
        std::partial_sort(list.begin(), list.begin() + kept, list.end(),
                          [](const Candidate& a, const Candidate& b) {
                              return a.score != b.score ? a.score > b.score
                                                        : a.supertag < b.supertag;
                          });
        list.resize(kept);
    }

    // Later attempts require less. Attempt 0: the known relation and category, and no slot stays empty.
    // 1: slots may stay empty. 2: any relation. 3: any category that the word or its shape has. 4: any
    // category. (In attempts 2 to 4 no slot stays empty.) 5: any category, and slots may stay empty.
    void collect(const TreeNode& node, int daughters, int attempt, std::vector<Candidate>& found) {
        const bool is_root = node.head < 0;
        std::vector<bool> wanted(by_category_.size(), attempt >= 4);
        if (attempt < 3 && node.category >= 0) wanted[node.category] = true;
        if (attempt == 3 || (attempt < 3 && node.category < 0)) {
            add_categories(node.lexeme, wanted);
            add_categories(node.shape, wanted);
        }
        const int relation = attempt < 2 ? node.relation : -1;
        const bool fills_all_slots = attempt != 1 && attempt != MAX_ATTEMPTS - 1;
        for (std::size_t category = 0; category < by_category_.size(); ++category) {
            if (!wanted[category]) continue;
            int stem = -1;
            double prior = 0;  // of the stem and the lexeme
            for (const int t : by_category_[category]) {
                const int role = p_.a.stem_role[p_.a.stem[t]];
                if ((p_.a.role_slot[role] == p_.a.root_slot) != is_root) continue;
                if (fills_all_slots && p_.slots_of(t) > daughters) continue;
                if (relation >= 0 && role_relation_[role] != relation) continue;
                if (p_.a.stem[t] != stem) {
                    stem = p_.a.stem[t];
                    prior = p_.stem_frequency(stem) + p_.lexeme(node.lexeme, stem, -1);
                }
                const double own = p_.frame_and_adjuncts(t, node.lexeme, daughters);
                found.push_back({t, own, prior + own});
            }
        }
    }
    void add_categories(int lexeme, std::vector<bool>& wanted) const {
        if (lexeme < 0) return;
        for (int i = p_.a.lexicon_begin[lexeme]; i < p_.a.lexicon_begin[lexeme + 1]; ++i)
            wanted[p_.a.category[p_.a.lexicon_supertag[i]]] = true;
    }

    static constexpr int MAX_ATTEMPTS = 6;
    static constexpr std::size_t MAX_REMEMBERED_WORDS = 2000, WIDENING_FACTOR = 8;
    static constexpr double INFINITY_SCORE = std::numeric_limits<double>::infinity();

    const TreeProbabilities& p_;
    const Ints& role_relation_;
    std::size_t width_;
    std::vector<Ints> by_category_;
    std::map<std::tuple<int, int, bool, int, int, int>, std::vector<Candidate>> remembered_;
    std::vector<double> best_filler_;  // by kind of slot: how well the best daughter fills it
};

}  // namespace wellput
