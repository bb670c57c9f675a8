// Supertags for the words of an unordered tree: the most probable ones together, or from the top down.
// A word is given by its place `x` in the tree, a supertag by its number `t`, and a daughter by her
// place `d` among her sisters. (tree_model.h explains stems, frames, roles, sites and slots.)
//
// Some daughters fill their mother's slots, one each; the others are adjuncts. A slot may stay
// empty, an argument may find no slot, and a daughter may want a mother of another kind, each at a
// price: so every tree has an analysis. The order of daughters follows from the words below them,
// never from the input: sums are the same to the last bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "language/models/arranged_tree.h"
#include "language/models/supertag_candidates.h"
#include "language/models/tree_model.h"

namespace wellput {

// The probabilities of daughters' roles under one mother at a time: `enter` chooses the mother, and
// lays out the counts of her site and of her lexeme by role.
class RoleScores {
public:
    explicit RoleScores(const TreeProbabilities& model)
        : p_(model), kinds_(model.slot_kinds()), at_site_(model.a.role_slot.size(), 0),
          at_lexeme_(model.a.role_slot.size(), 0), totals_(kinds_) {}

    void enter(int site, int mother) {
        for (const int role : touched_) at_site_[role] = at_lexeme_[role] = 0;
        std::fill(totals_.begin(), totals_.end(), Totals{});
        touched_.clear();
        site_ = site;
        for (int i = p_.site_begin_[site]; i < p_.site_begin_[site + 1]; ++i) {
            const std::int32_t* row = &p_.a.role_counts[3 * i];  // site, role, count
            at_site_[row[1]] = row[2];
            touched_.push_back(row[1]);
        }
        if (mother >= p_.a.words) return;
        for (int i = p_.lexical_begin_[mother]; i < p_.lexical_begin_[mother + 1]; ++i) {
            const std::int32_t* row = &p_.a.lexical_counts[4 * i];  // mother, category, role, count
            if (row[1] != p_.a.site_category[site]) continue;
            at_lexeme_[row[2]] = row[3];
            totals_[p_.a.role_slot[row[2]]].add(row[3]);
            touched_.push_back(row[2]);
        }
    }

    // The log probability of a role, given that the daughter fills a slot of its kind or is an
    // adjunct.
    double operator()(int role) const {
        const int slot = p_.a.role_slot[role];
        const Totals& site = p_.site_totals_[site_ * kinds_ + slot];
        const double wider =
            p_.coarse_role_[p_.a.site_coarse[site_] * p_.a.role_slot.size() + role];
        const double p = site.interpolated(at_site_[role], p_.a.weights[2], wider);
        return std::log(totals_[slot].interpolated(at_lexeme_[role], p_.a.weights[3], p));
    }

private:
    const TreeProbabilities& p_;
    std::size_t kinds_;
    int site_ = 0;
    std::vector<double> at_site_, at_lexeme_;
    std::vector<Totals> totals_;  // of the mother's lexeme, by kind of slot
    Ints touched_;                // the roles whose counts are not 0
};

// A tree's supertags and their log probability.
struct Analysis {
    double score = 0;
    Ints supertags;
};

class TreeChooser {
public:
    // What is added to the score for a slot that stays empty or an argument that finds no slot, and for
    // a daughter that wants a mother of another kind.
    static constexpr double MISPLACED_SCORE = -15, MISFIT_SCORE = -20;

    TreeChooser(const TreeProbabilities& model, const Ints& role_relation, int width)
        : p_(model), roles_(model), candidate_finder_(model, role_relation, width),
          slot_kinds_(model.slot_kinds()) {}

    // The `n_best` most probable analyses, the best first.
    std::vector<Analysis> exact(std::span<const TreeNode> nodes, int n_best) {
        prepare(nodes);
        for (auto x = tree_.order().rbegin(); x != tree_.order().rend(); ++x)
            fill_inside(*x, n_best);
        return best_trees(n_best);
    }

    // Chooses the root's supertag, then the supertags of its daughters, and so on.
    Analysis top_down(std::span<const TreeNode> nodes) {
        prepare(nodes);
        // First the scores of words by themselves; then with their daughters. Mothers come first, so
        // when their scores are computed, their daughters still have the scores by themselves.
        for (const int x : tree_.order())
            for (const auto& candidate : candidates_[x])
                inside_[x].push_back({{candidate.own, {}}});
        for (const int x : tree_.order()) {
            inside_[x].clear();
            fill_inside(x, 1);
        }
        Ints chosen(nodes.size(), 0);
        const int root = tree_.root();
        double best = -INFINITY_SCORE;
        for (std::size_t c = 0; c < candidates_[root].size(); ++c)
            if (const double score = inside_[root][c][0].score + root_score(root, c); score > best)
                best = score, chosen[root] = static_cast<int>(c);
        for (const int x : tree_.order()) {
            if (tree_.daughters(x).empty()) continue;
            const int t = candidates_[x][chosen[x]].supertag;
            group_daughters(x, 1);
            offer(p_.a.site[t], tree_[x].lexeme, 1);
            std::vector<Derivation> found;
            fill_slots(x, t, 1, found);
            for (std::size_t d = 0; d < tree_.daughters(x).size(); ++d)
                chosen[tree_.daughters(x)[d]] = found[0].daughters[d].candidate;
        }
        Ints supertags;
        for (std::size_t x = 0; x < nodes.size(); ++x)
            supertags.push_back(candidates_[x][chosen[x]].supertag);
        return scored(nodes, std::move(supertags));
    }

    // Each word by itself: its lexeme and how many daughters it has.
    Analysis alone(std::span<const TreeNode> nodes) {
        tree_.arrange(nodes);
        Ints supertags;
        for (std::size_t x = 0; x < nodes.size(); ++x) {
            const int daughters = static_cast<int>(tree_.daughters(x).size());
            supertags.push_back(candidate_finder_.alone(nodes[x], daughters)[0].supertag);
        }
        return scored(nodes, std::move(supertags));
    }

    // For each word: the log probability of the word and its role under its mother; and that of its
    // frame, its number of adjuncts and the filling of its slots. The sum is the score of the tree.
    std::vector<std::pair<double, double>> terms(std::span<const TreeNode> nodes,
                                                 const Ints& supertags) {
        tree_.arrange(nodes);
        std::vector<std::pair<double, double>> result(nodes.size());
        for (const int x : tree_.order()) {
            const int t = supertags[x];
            auto& [arc, inner] = result[x];
            inner = own(x, t) + treelet_price(x, supertags);
            if (nodes[x].head < 0) {
                arc = p_.root_role(role_of(t)) + p_.lexeme(nodes[x].lexeme, p_.a.stem[t], -1);
                continue;
            }
            const int site = p_.a.site[supertags[nodes[x].head]], stem = p_.a.stem[t];
            const int mother = nodes[nodes[x].head].lexeme;
            roles_.enter(site, mother);
            arc = p_.lexeme(nodes[x].lexeme, stem, mother) +
                  (fits(stem, site) ? roles_(role_of(t)) : MISFIT_SCORE);
        }
        return result;
    }

    // The candidate supertags of each word, best first, with scores that compare the candidates of
    // one word: by the word itself, and by what its mother and its daughters are likely to be.
    std::vector<std::vector<std::pair<int, double>>> candidates(std::span<const TreeNode> nodes) {
        prepare(nodes);
        std::vector<std::vector<std::pair<int, double>>> result(nodes.size());
        for (std::size_t x = 0; x < nodes.size(); ++x)
            for (const auto& candidate : candidates_[x])
                result[x].emplace_back(candidate.supertag, candidate.score);
        return result;
    }

private:
    static constexpr double INFINITY_SCORE = std::numeric_limits<double>::infinity();

    // A candidate of a word, and which of its derivations is meant (0 is the best).
    struct Choice {
        int candidate, rank;
    };
    // A candidate together with the choices for the word's daughters.
    struct Derivation {
        double score;
        std::vector<Choice> daughters;
    };
    // A choice for a daughter.
    struct Option {
        double score;
        Choice choice;
    };
    // The choices for a daughter whose candidates have one stem. `lexeme` is the log probability of her
    // lexeme.
    struct Group {
        int stem;
        double lexeme;
        std::vector<Option> options;
    };
    // A way to place the first daughters. `mask` and `rank` say which way for the daughters before the
    // last of them it extends, `choice` is that of the last one.
    struct Cell {
        double score;
        int mask, rank;
        Choice choice;
    };

    // These supertags with their log probability.
    Analysis scored(std::span<const TreeNode> nodes, Ints supertags) {
        double score = 0;
        const auto all = terms(nodes, supertags);
        for (const int x : tree_.order()) score += all[x].first + all[x].second;
        return {score, std::move(supertags)};
    }
    int role_of(int t) const { return p_.a.stem_role[p_.a.stem[t]]; }
    bool fits(int stem, int site) const { return p_.a.stem_mother[stem] == p_.a.site_coarse[site]; }
    double own(int x, int t) const {
        return p_.frame_and_adjuncts(t, tree_[x].lexeme,
                                     static_cast<int>(tree_.daughters(x).size()));
    }
    double root_score(int root, std::size_t c) const {
        const int t = candidates_[root][c].supertag;
        return p_.root_role(role_of(t)) + p_.lexeme(tree_[root].lexeme, p_.a.stem[t], -1);
    }

    void prepare(std::span<const TreeNode> nodes) {
        tree_.arrange(nodes);
        candidates_.assign(nodes.size(), {});
        for (const int x : tree_.order()) candidates_[x] = candidate_finder_.in_tree(tree_, x);
        inside_.assign(nodes.size(), {});
    }

    // Adds an item to a list of at most n items, the best first; of equal ones the earlier comes first.
    template <typename T>
    static void keep(std::vector<T>& list, const T& item, int n) {
        if (static_cast<int>(list.size()) == n && !(item.score > list.back().score)) return;
        auto place = std::upper_bound(list.begin(), list.end(), item,
                                      [](const T& a, const T& b) { return a.score > b.score; });
        list.insert(place, item);
        if (static_cast<int>(list.size()) > n) list.pop_back();
    }

    // The derivations of each candidate of a word, from those of its daughters.
    void fill_inside(int x, int n_best) {
        const auto& own_candidates = candidates_[x];
        inside_[x].resize(own_candidates.size());
        if (!tree_.daughters(x).empty()) group_daughters(x, n_best);
        // What daughters offer is the same for all candidates with the same site.
        std::vector<std::pair<int, int>> by_site;
        for (std::size_t c = 0; c < own_candidates.size(); ++c)
            by_site.emplace_back(p_.a.site[own_candidates[c].supertag], static_cast<int>(c));
        std::sort(by_site.begin(), by_site.end());
        int site = -1;
        for (const auto& [its_site, c] : by_site) {
            const int t = own_candidates[c].supertag;
            if (its_site != site && !tree_.daughters(x).empty())
                offer(its_site, tree_[x].lexeme, n_best);
            site = its_site;
            fill_slots(x, t, n_best, inside_[x][c]);
            for (auto& derivation : inside_[x][c]) derivation.score += own_candidates[c].own;
        }
    }

    // Groups each daughter's candidates by stem.
    void group_daughters(int x, int n_best) {
        groups_.assign(tree_.daughters(x).size(), {});
        for (std::size_t d = 0; d < tree_.daughters(x).size(); ++d) {
            const int y = tree_.daughters(x)[d];
            group_of_.assign(p_.a.stem_role.size(), -1);
            for (std::size_t c = 0; c < candidates_[y].size(); ++c) {
                const int stem = p_.a.stem[candidates_[y][c].supertag];
                if (group_of_[stem] < 0) {
                    group_of_[stem] = static_cast<int>(groups_[d].size());
                    const double lexeme = p_.lexeme(tree_[y].lexeme, stem, tree_[x].lexeme);
                    groups_[d].push_back({stem, lexeme, {}});
                }
                auto& options = groups_[d][group_of_[stem]].options;
                for (std::size_t r = 0; r < inside_[y][c].size(); ++r)
                    keep(options, {inside_[y][c][r].score, {int(c), int(r)}}, n_best);
            }
        }
    }

    // For each daughter the best ways to fill each kind of slot. The kind 0 means no slot: adjuncts,
    // and daughters that want a mother of another kind.
    void offer(int site, int mother, int n_best) {
        if (offers_.size() < groups_.size() * slot_kinds_)
            offers_.resize(groups_.size() * slot_kinds_);
        for (auto& offer : offers_) offer.clear();
        roles_.enter(site, mother);
        kinds_offered_.assign(groups_.size(), {});
        for (std::size_t d = 0; d < groups_.size(); ++d) {
            auto* offers = &offers_[d * slot_kinds_];
            for (const auto& group : groups_[d]) {
                const int role = p_.a.stem_role[group.stem], slot = p_.a.role_slot[role];
                const bool fitting = fits(group.stem, site);
                const double arc = group.lexeme + (fitting ? roles_(role) : MISFIT_SCORE);
                for (const auto& [score, choice] : group.options)
                    keep(offers[fitting ? slot : 0], {score + arc, choice}, n_best);
            }
            for (std::size_t kind = 1; kind < slot_kinds_; ++kind)
                if (!offers[kind].empty()) kinds_offered_[d].push_back(static_cast<int>(kind));
        }
    }

    // The best ways to assign the daughters to the slots of supertag t. A mask is a set of filled
    // slots.
    void fill_slots(int x, int t, int n_best, std::vector<Derivation>& found) {
        const int count = static_cast<int>(tree_.daughters(x).size()), slots = p_.slots_of(t);
        const int* kinds = p_.a.slots.data() + p_.a.slot_begin[t];
        const int masks = 1 << slots;
        const std::size_t size = static_cast<std::size_t>(count + 1) * masks;
        if (cells_.size() < size) cells_.resize(size);
        for (std::size_t i = 0; i < size; ++i) cells_[i].clear();
        cells_[0].push_back({0, 0, 0, {0, 0}});
        for (int d = 0; d < count; ++d) {
            const auto* offers = &offers_[d * slot_kinds_];
            for (int mask = 0; mask < masks; ++mask) {
                const auto& here = cells_[d * masks + mask];
                for (int rank = 0; rank < static_cast<int>(here.size()); ++rank) {
                    const double score = here[rank].score;
                    const int next = (d + 1) * masks + mask;
                    extend(score, mask, rank, offers[0], next, n_best);
                    for (const int kind : kinds_offered_[d]) {
                        // Of equal slots the first is filled first.
                        int s = 0;
                        while (s < slots && (kinds[s] != kind || mask >> s & 1)) ++s;
                        if (s < slots)
                            extend(score, mask, rank, offers[kind], next | 1 << s, n_best);
                        else
                            extend(score + MISPLACED_SCORE, mask, rank, offers[kind], next, n_best);
                    }
                }
            }
        }
        ends_.clear();
        for (int mask = 0; mask < masks; ++mask) {
            const double price = MISPLACED_SCORE * (slots - __builtin_popcount(unsigned(mask)));
            const auto& end = cells_[count * masks + mask];
            for (int rank = 0; rank < static_cast<int>(end.size()); ++rank)
                keep(ends_, {end[rank].score + price, mask, rank, {0, 0}}, n_best);
        }
        // Adjuncts have no order, so the probabilities of all their orders are added.
        const double orders = p_.log_orders(p_.adjuncts(t, count));
        for (const Cell& end : ends_) {
            Derivation derivation{end.score + orders, std::vector<Choice>(count)};
            int mask = end.mask, rank = end.rank;
            for (int d = count; d-- > 0;) {
                const Cell& cell = cells_[(d + 1) * masks + mask][rank];
                derivation.daughters[d] = cell.choice;
                mask = cell.mask;
                rank = cell.rank;
            }
            found.push_back(std::move(derivation));
        }
    }
    // Extends a way to place the first daughters by the next daughter's options.
    void extend(double score, int mask, int rank, const std::vector<Option>& options, int cell,
                int n_best) {
        for (const auto& option : options)
            keep(cells_[cell], {score + option.score, mask, rank, option.choice}, n_best);
    }

    // What fill_slots adds to the scores of the daughters, for a mother whose daughters have these
    // supertags.
    double treelet_price(int x, const Ints& supertags) {
        const int t = supertags[x];
        Ints free_slots(slot_kinds_, 0);
        for (int s = p_.a.slot_begin[t]; s < p_.a.slot_begin[t + 1]; ++s)
            ++free_slots[p_.a.slots[s]];
        int misplaced = p_.slots_of(t);
        for (const int y : tree_.daughters(x)) {
            const int stem = p_.a.stem[supertags[y]], slot = p_.a.role_slot[p_.a.stem_role[stem]];
            if (slot == 0 || !fits(stem, p_.a.site[t])) continue;
            misplaced += free_slots[slot]-- > 0 ? -1 : 1;
        }
        const int count = static_cast<int>(tree_.daughters(x).size());
        return MISPLACED_SCORE * misplaced + p_.log_orders(p_.adjuncts(t, count));
    }

    std::vector<Analysis> best_trees(int n_best) {
        const int root = tree_.root();
        std::vector<Option> ends;
        for (std::size_t c = 0; c < candidates_[root].size(); ++c)
            for (std::size_t r = 0; r < inside_[root][c].size(); ++r)
                keep(ends, {inside_[root][c][r].score + root_score(root, c), {int(c), int(r)}},
                     n_best);
        std::vector<Analysis> result;
        for (const auto& [score, choice] : ends) {
            Analysis analysis{score, Ints(tree_.size())};
            std::vector<Choice> chosen(tree_.size());
            chosen[root] = choice;
            for (const int x : tree_.order()) {
                analysis.supertags[x] = candidates_[x][chosen[x].candidate].supertag;
                const auto& derivation = inside_[x][chosen[x].candidate][chosen[x].rank];
                for (std::size_t d = 0; d < tree_.daughters(x).size(); ++d)
                    chosen[tree_.daughters(x)[d]] = derivation.daughters[d];
            }
            result.push_back(std::move(analysis));
        }
        return result;
    }

    const TreeProbabilities& p_;
    RoleScores roles_;
    SupertagCandidates candidate_finder_;
    std::size_t slot_kinds_;

    ArrangedTree tree_;
    std::vector<std::vector<Candidate>> candidates_;  // by node
    Ints group_of_;
    std::vector<std::vector<std::vector<Derivation>>> inside_;  // by node, candidate, rank
    std::vector<std::vector<Group>> groups_;                    // by daughter
    std::vector<std::vector<Option>> offers_;                   // by daughter and kind of slot
    std::vector<Ints> kinds_offered_;                           // by daughter
    std::vector<std::vector<Cell>> cells_;  // by daughters done and slots filled
    std::vector<Cell> ends_;                // with all daughters placed
};

}  // namespace wellput
