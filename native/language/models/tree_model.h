// The probability of a daughter under her mother, from counts. (trees/supertags.py and
// docs/language/tree-model.md have examples of all parts.)
//
// A supertag has a stem and a frame. The stem says how the word attaches: its role (category, relation
// and side of the mother) and the kind of its mother (verb, noun and so on). The frame is the slots for
// the word's arguments; a slot's kind is the relation and side of the daughter that fills it. The site
// says what matters for the daughters: the role and the kind of clause. A lexeme is a word, or the
// shape (capitals, digits, last letters) that stands for unknown words.
//
// A daughter's role depends on her mother's site and lexeme; her lexeme on her stem and her mother's
// lexeme; her frame on her stem and lexeme; the number of her adjuncts on her supertag. Each
// probability is interpolated with that of the next wider context, as Witten and Bell do:
//
//     (count + w * types * wider) / (total + w * types)
//
// where count is how often the event was seen in the context, total how often the context was seen,
// types the number of different events in it, and wider the probability in the wider context.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/keyed_slots.h"

namespace wellput {

// Counts of contexts, or of events in contexts, by a key.
class CountTable {
public:
    struct Count {
        std::uint64_t key = 0;
        double total = 0, types = 0;
    };
    // KeyedSlots has no key 0, so it gets each key plus 1.
    void add(std::uint64_t key, double count, double types = 0) {
        Count& found = counts_.at(key + 1);
        found.total += count;
        found.types += types;
    }
    const Count* find(std::uint64_t key) const { return counts_.find(key + 1); }

private:
    KeyedSlots<Count> counts_;
};

// The counts of a context: how many events, and how many different events.
struct Totals {
    double total = 0, types = 0;
    void add(double count) {
        total += count;
        types += 1;
    }
    double interpolated(double count, double weight, double wider) const {
        const double backed = weight * types;
        return total > 0 ? (count + backed * wider) / (total + backed) : wider;
    }
};

// One level of interpolation: the counts of events in contexts of one kind, and their weight w.
class Level {
public:
    explicit Level(double weight = 1) : weight_(weight) {}
    void add(std::uint64_t context, std::uint64_t event, double count) {
        contexts_.add(context, count, is_new(context, event));
        events_.add(joined(context, event), count);
    }
    // Counts an event under one more name, which does not change the context's total. (A rare word is
    // also counted as each of its shapes.)
    void add_name(std::uint64_t context, std::uint64_t event, double count) {
        events_.add(joined(context, event), count);
    }
    double operator()(std::uint64_t context, std::uint64_t event, double wider) const {
        const auto* whole = contexts_.find(context);
        if (!whole) return wider;
        const auto* part = events_.find(joined(context, event));
        const double backed = weight_ * whole->types;
        return ((part ? part->total : 0) + backed * wider) / (whole->total + backed);
    }

private:
    static std::uint64_t joined(std::uint64_t context, std::uint64_t event) {
        return context << 20 | event;
    }
    double is_new(std::uint64_t context, std::uint64_t event) const {
        return events_.find(joined(context, event)) ? 0 : 1;
    }
    CountTable contexts_, events_;
    double weight_;
};

using Ints = std::vector<std::int32_t>;

// The arrays of a model; SupertagInventory (trees/supertags.py) gives all parts their numbers.
struct TreeModelArrays {
    // By supertag. The kinds of supertag t's slots are in `slots`, from slot_begin[t] to before
    // slot_begin[t + 1].
    Ints category, stem, site, frame, slot_begin, slots;
    Ints stem_role, stem_mother;  // by stem: its role and the kind of mother
    Ints role_slot;  // by role: the kind of slot it fills, 0 for an adjunct, root_slot for a root
    Ints site_category, site_coarse;  // by site: its category, and the kind of mother that it makes
    // The supertags of each lexeme with their counts, from lexicon_begin[l] to before
    // lexicon_begin[l + 1]. The first `words` lexemes are words, the others shapes.
    Ints lexicon_begin, lexicon_supertag, lexicon_count;
    // Sorted rows: (site, role, count); (mother's lexeme, mother's category, role, count); (mother's
    // lexeme, stem, lexeme, count); (supertag, number of adjuncts, count).
    Ints role_counts, lexical_counts, bilexical_counts, adjunct_counts;
    std::int32_t words = 0, root_slot = 0;
    // The w of each level, the widest first: four for roles, three for lexemes, four for frames, three
    // for adjuncts.
    std::vector<double> weights;
};

class TreeProbabilities {
public:
    static constexpr int MAX_ADJUNCTS = 8, MAX_SLOTS = 16;
    static constexpr std::size_t LEVEL_WEIGHTS = 14, MAX_MOTHER_KINDS = 16, MAX_CATEGORIES = 256;
    // Limits of the keys of counts: kinds of slots; and frames, lexemes or stems.
    static constexpr std::size_t MAX_SLOT_KINDS = 1u << 16, MAX_EVENTS = 1u << 20;
    static constexpr double MAX_WEIGHT = 1e9;
    // Probabilities of unseen events, chosen well below those of events seen once.
    static constexpr double UNSEEN_PROBABILITY = 1e-5, UNSEEN_LEXEME_PROBABILITY = 1e-6;

    explicit TreeProbabilities(TreeModelArrays arrays) : a(std::move(arrays)) {
        for (int level = 0; level < 4; ++level) {
            frame_[level] = Level(a.weights[7 + level]);
            if (level < 3) lexeme_[level] = Level(a.weights[4 + level]);
            if (level < 3) adjuncts_[level] = Level(a.weights[11 + level]);
        }
        slot_kinds_ = 1 + *std::max_element(a.role_slot.begin(), a.role_slot.end());
        count_lexicon();
        count_uses();
        count_roles();
        count_pairs_and_adjuncts();
        precompute();
    }

    int supertags() const { return static_cast<int>(a.category.size()); }
    int slots_of(int t) const { return a.slot_begin[t + 1] - a.slot_begin[t]; }

    // The natural log of the probability of a root's role.
    double root_role(int role) const { return std::log(root_role_[role]); }
    // The same of a lexeme, given its stem and the mother's lexeme (-1 for none).
    double lexeme(int lexeme, int stem, int mother) const {
        double p = lexeme_[0](stem_category_[stem], lexeme, UNSEEN_LEXEME_PROBABILITY);
        p = lexeme_[1](stem, lexeme, p);
        if (mother >= 0) p = lexeme_[2](std::uint64_t(mother) << 16 | stem, lexeme, p);
        return std::log(p);
    }
    // The same of a word's frame and of the number of its adjuncts.
    double frame_and_adjuncts(int t, int lexeme, int daughters) const {
        double p = frame_base_[t];
        p = frame_[2](std::uint64_t(lexeme) << 8 | a.category[t], a.frame[t], p);
        p = frame_[3](std::uint64_t(lexeme) << 16 | a.stem[t], a.frame[t], p);
        return std::log(p) + adjuncts_base_[t * (MAX_ADJUNCTS + 1) + adjuncts(t, daughters)];
    }
    int adjuncts(int t, int daughters) const {
        return std::clamp(daughters - slots_of(t), 0, MAX_ADJUNCTS);
    }
    // The logarithm of the number of orders in which so many adjuncts can stand.
    double log_orders(int adjuncts) const { return log_orders_[adjuncts]; }
    // The log of a stem's count. It is used only to rank candidates, and so are the next two functions.
    double stem_frequency(int stem) const { return stem_frequency_[stem]; }
    // The log of the share of a lexeme's uses that make a mother of this kind, or fill a slot of this
    // kind.
    double makes_mother(int lexeme, int coarse) const {
        return makes_mother_[lexeme * MAX_MOTHER_KINDS + coarse];
    }
    double fills_slot(int lexeme, int slot) const {
        return fills_slot_[lexeme * slot_kinds_ + slot];
    }
    std::size_t slot_kinds() const { return slot_kinds_; }

    const TreeModelArrays a;  // the model's arrays

private:
    void count_lexicon() {
        Level roots(a.weights[0]);
        stem_category_.assign(a.stem_role.size(), 0);
        stem_frequency_.assign(a.stem_role.size(), 0);
        for (std::size_t t = 0; t < a.stem.size(); ++t) stem_category_[a.stem[t]] = a.category[t];
        for (std::uint64_t l = 0; l + 1 < a.lexicon_begin.size(); ++l)
            for (int i = a.lexicon_begin[l]; i < a.lexicon_begin[l + 1]; ++i) {
                const int t = a.lexicon_supertag[i], count = a.lexicon_count[i];
                const std::uint64_t category = a.category[t], stem = a.stem[t], frame = a.frame[t];
                frame_[2].add(l << 8 | category, frame, count);
                frame_[3].add(l << 16 | stem, frame, count);
                if (l >= std::uint64_t(a.words)) {
                    lexeme_[0].add_name(category, l, count);
                    lexeme_[1].add_name(stem, l, count);
                    continue;
                }
                lexeme_[0].add(category, l, count);
                lexeme_[1].add(stem, l, count);
                frame_[0].add(category, frame, count);
                frame_[1].add(stem, frame, count);
                stem_frequency_[stem] += count;
                if (a.role_slot[a.stem_role[stem]] == a.root_slot)
                    roots.add(a.root_slot, a.stem_role[stem], count);
            }
        for (std::size_t role = 0; role < a.role_slot.size(); ++role)
            root_role_.push_back(roots(a.role_slot[role], role, UNSEEN_PROBABILITY));
    }
    // For each lexeme, the shares of the kinds of mothers that it makes and of the kinds of slots that
    // it fills, smoothed with the shares over all lexemes.
    void count_uses() {
        Ints coarse_of(MAX_CATEGORIES, 0);
        for (std::size_t site = 0; site < a.site_coarse.size(); ++site)
            coarse_of[a.site_category[site]] = a.site_coarse[site];
        std::vector<double> mothers(MAX_MOTHER_KINDS, 1e-6), slots(slot_kinds_, 1e-6);
        const auto for_uses = [&](std::size_t l, auto visit) {
            for (int i = a.lexicon_begin[l]; i < a.lexicon_begin[l + 1]; ++i) {
                const int t = a.lexicon_supertag[i];
                visit(coarse_of[a.category[t]], a.role_slot[a.stem_role[a.stem[t]]],
                      a.lexicon_count[i]);
            }
        };
        double all = 0;
        for (int l = 0; l < a.words; ++l)
            for_uses(l, [&](int coarse, int slot, double count) {
                mothers[coarse] += count, slots[slot] += count, all += count;
            });
        for (double& share : mothers) share *= PRIOR_COUNT / all;
        for (double& share : slots) share *= PRIOR_COUNT / all;
        const std::size_t lexemes = a.lexicon_begin.size() - 1;
        makes_mother_ = shares(lexemes, mothers, [&](std::size_t l, auto add) {
            for_uses(l, [&](int coarse, int, double count) { add(coarse, count); });
        });
        fills_slot_ = shares(lexemes, slots, [&](std::size_t l, auto add) {
            for_uses(l, [&](int, int slot, double count) { add(slot, count); });
        });
    }
    // The logarithms of smoothed shares, a row for each lexeme. Most are the common share, whose
    // logarithm is computed only once. counts(lexeme, add) adds the lexeme's counts.
    template <typename Counts>
    static std::vector<float> shares(std::size_t lexemes, const std::vector<double>& common,
                                     Counts counts) {
        std::vector<float> result;
        result.reserve(lexemes * common.size());
        std::vector<double> logs, own(common.size(), 0);
        for (const double share : common) logs.push_back(std::log(share));
        for (std::size_t l = 0; l < lexemes; ++l) {
            double total = PRIOR_COUNT;
            counts(l, [&](int kind, double count) { own[kind] += count, total += count; });
            const double log_total = std::log(total);
            for (std::size_t kind = 0; kind < common.size(); ++kind) {
                const double share =
                    own[kind] > 0 ? std::log(own[kind] + common[kind]) : logs[kind];
                result.push_back(static_cast<float>(share - log_total));
                own[kind] = 0;
            }
        }
        return result;
    }
    void count_roles() {
        Level by_slot(a.weights[0]), by_mother(a.weights[1]);
        site_begin_.assign(a.site_coarse.size() + 1, 0);
        site_totals_.resize(a.site_coarse.size() * slot_kinds());
        for (std::size_t i = 0; i < a.role_counts.size(); i += 3) {
            const std::int32_t* row = &a.role_counts[i];  // site, role, count
            const std::uint64_t slot = a.role_slot[row[1]];
            by_slot.add(slot, row[1], row[2]);
            by_mother.add(slot << 8 | a.site_coarse[row[0]], row[1], row[2]);
            ++site_begin_[row[0] + 1];
            site_totals_[row[0] * slot_kinds() + slot].add(row[2]);
        }
        std::partial_sum(site_begin_.begin(), site_begin_.end(), site_begin_.begin());
        for (std::uint64_t coarse = 0; coarse < MAX_MOTHER_KINDS; ++coarse)
            for (std::size_t role = 0; role < a.role_slot.size(); ++role) {
                const std::uint64_t slot = a.role_slot[role];
                const double p = by_slot(slot, role, UNSEEN_PROBABILITY);
                coarse_role_.push_back(by_mother(slot << 8 | coarse, role, p));
            }
        lexical_begin_.assign(a.words + 1, 0);
        for (std::size_t i = 0; i < a.lexical_counts.size(); i += 4)
            ++lexical_begin_[a.lexical_counts[i] + 1];
        std::partial_sum(lexical_begin_.begin(), lexical_begin_.end(), lexical_begin_.begin());
    }
    void count_pairs_and_adjuncts() {
        for (std::size_t i = 0; i < a.bilexical_counts.size(); i += 4) {
            const std::int32_t* row = &a.bilexical_counts[i];  // mother, stem, lexeme, count
            lexeme_[2].add(std::uint64_t(row[0]) << 16 | row[1], row[2], row[3]);
        }
        for (std::size_t i = 0; i < a.adjunct_counts.size(); i += 3) {
            const int t = a.adjunct_counts[i], n = a.adjunct_counts[i + 1];
            const double count = a.adjunct_counts[i + 2];
            adjuncts_[0].add(a.category[t], n, count);
            adjuncts_[1].add(std::uint64_t(a.category[t]) << 16 | a.frame[t], n, count);
            adjuncts_[2].add(t, n, count);
        }
    }
    void precompute() {
        for (int t = 0; t < supertags(); ++t) {
            const double wide = frame_[0](a.category[t], a.frame[t], UNSEEN_PROBABILITY);
            frame_base_.push_back(frame_[1](a.stem[t], a.frame[t], wide));
            for (int n = 0; n <= MAX_ADJUNCTS; ++n) {
                double p = adjuncts_[0](a.category[t], n, 1.0 / (MAX_ADJUNCTS + 1));
                p = adjuncts_[1](std::uint64_t(a.category[t]) << 16 | a.frame[t], n, p);
                adjuncts_base_.push_back(std::log(adjuncts_[2](t, n, p)));
            }
        }
        for (double& count : stem_frequency_) count = std::log(std::max(count, UNSEEN_PROBABILITY));
        // Computed in advance: lgamma writes the sign into a variable that all threads share.
        for (int n = 0; n <= MAX_ADJUNCTS; ++n) log_orders_.push_back(std::lgamma(n + 1.0));
    }

    friend class RoleScores;
    static constexpr double PRIOR_COUNT = 0.5;  // how much the common shares count for a lexeme
    Level lexeme_[3], frame_[4], adjuncts_[3];
    std::vector<double> frame_base_, adjuncts_base_, stem_frequency_, log_orders_;
    Ints stem_category_;
    std::size_t slot_kinds_ = 0;
    std::vector<float> makes_mother_, fills_slot_;
    // Probabilities of roles: of roots; and by kind of mother and role.
    std::vector<double> root_role_, coarse_role_;
    std::vector<Totals> site_totals_;  // by site and kind of slot
    Ints site_begin_,
        lexical_begin_;  // where a site's role_counts and a word's lexical_counts begin
};

}  // namespace wellput
