// The features of the learned orderer for a treelet: a head and its daughters, each daughter with
// all below it already in order. An order is judged by three kinds of features: which of two items
// comes first, which two are neighbors, and which three are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "language/learning/feature_keys.h"

namespace wellput {

// One word of a sentence as the orderer sees it.
struct OrderedWord {
    std::uint64_t form, tag, relation;
    std::uint64_t ending;    // the last three letters, with the shape (word_atoms.h)
    bool is_mark, asks;      // punctuation; who, which, how, …
    std::uint32_t role = 0;  // a bit for what a clause may have: subject, object, auxiliary, …
};

// A head's own word, or a daughter with what depends on her: a stretch of words. The default values are
// those of the item that stands for the ends of the treelet, where there is no word.
struct TreeletItem {
    std::uint64_t word = 1, tag = 1, relation = 1;
    std::uint64_t first = 1, first_tag = 1, last = 1, last_tag = 1;  // of the stretch
    std::uint64_t size = 0;                                          // in classes
    std::uint64_t label = 1;                                         // tag and relation
    std::uint64_t ending = 1, marks = 0;  // of the word; punctuation at the ends of the stretch
    bool asks = false;                    // the stretch begins with a question word
};

inline std::uint64_t size_class(std::size_t words) {
    return words <= 2 ? words : words <= 4 ? 3 : words <= 7 ? 4 : words <= 12 ? 5 : 6;
}

// Items are numbered from 0, which is the head's own word. Number `size()` is no word: it stands for
// the place before the first item and for the place after the last.
class Treelet {
public:
    void start(std::uint64_t relation_of_head, bool is_root) {
        items_.clear();
        relation_ = FeatureHash(relation_of_head).add(is_root).value();
        kind_ = 0;
    }
    void add(const TreeletItem& item) { items_.push_back(item); }
    // After the last item. `kind` is 1 for a question; `roles` has a bit for each role (subject,
    // object, …) that a daughter has.
    void finish(std::uint64_t kind, std::uint64_t roles) {
        kind_ = kind;
        roles_ = roles;
        const TreeletItem head = items_[0];
        head_tag_ = head.tag;
        head_word_ = head.word;
        items_.push_back(TreeletItem{});
    }
    std::size_t size() const { return items_.size() - 1; }

    // Whether i is before j: visit(key, sign), where the sign says which of the two orders a
    // feature is about. Exchanging i and j only changes the signs.
    template <typename Visit>
    void precedence(std::size_t i, std::size_t j, Visit visit) const {
        const TreeletItem &a = items_[i], &b = items_[j];
        std::uint64_t number = 0;
        const auto compare = [&](std::uint64_t x, std::uint64_t y, std::uint64_t context) {
            if (x == y) return;
            const bool turned = y < x;
            visit(FeatureHash(number).add(turned ? y : x).add(turned ? x : y).add(context).key(),
                  turned ? -1.0f : 1.0f);
        };
        const auto put = [&](std::uint64_t x, std::uint64_t y, std::uint64_t context) {
            ++number;
            compare(x, y, context);
        };
        // Fine features of one item with coarse features of the other, both ways.
        const auto cross = [&](std::uint64_t fine_a, std::uint64_t fine_b, std::uint64_t coarse_a,
                               std::uint64_t coarse_b, std::uint64_t context) {
            ++number;
            compare(fine_a, coarse_b, context);
            compare(coarse_a, fine_b, context);
        };
        const auto pair = [](std::uint64_t x, std::uint64_t y) {
            return FeatureHash(x).add(y).value();
        };
        // The numbers 1 to 8 keep contexts of different kinds apart.
        const std::uint64_t head_kind = pair(head_tag_, relation_);
        put(a.relation, b.relation, 0);
        put(a.relation, b.relation, head_tag_);
        put(a.relation, b.relation, pair(head_word_, 1));
        put(a.relation, b.relation, head_kind);
        put(a.relation, b.relation, pair(kind_, head_tag_));
        put(a.label, b.label, 0);
        put(a.label, b.label, head_kind);
        put(a.label, b.label, kind_);
        const std::uint64_t wa = pair(a.word, a.relation), wb = pair(b.word, b.relation);
        put(wa, wb, 0);
        cross(wa, wb, a.relation, b.relation, 0);
        cross(wa, wb, a.label, b.label, head_tag_);
        cross(wa, wb, a.relation, b.relation, pair(kind_, 2));
        put(a.word, b.word, 3);
        const std::uint64_t sa = pair(a.size, a.relation), sb = pair(b.size, b.relation);
        put(sa, sb, 0);
        put(pair(sa, a.first_tag), pair(sb, b.first_tag), 0);
        const std::uint64_t fa = pair(a.first, a.relation), fb = pair(b.first, b.relation);
        put(fa, fb, 0);
        cross(fa, fb, a.relation, b.relation, 0);
        cross(fa, fb, a.relation, b.relation, pair(head_word_, 4));
        put(pair(a.first_tag, a.label), pair(b.first_tag, b.label), 0);
        const std::uint64_t ma = pair(a.marks, a.relation), mb = pair(b.marks, b.relation);
        put(ma, mb, 0);
        put(ma, mb, head_kind);
        cross(ma, mb, a.label, b.label, 0);
        put(a.label, b.label, pair(roles_, 5));
        cross(wa, wb, a.relation, b.relation, pair(roles_, 6));
        const std::uint64_t ea = pair(a.ending, a.relation), eb = pair(b.ending, b.relation);
        put(ea, eb, 0);
        cross(ea, eb, a.relation, b.relation, 0);
        const std::uint64_t qa = pair(a.asks, a.relation), qb = pair(b.asks, b.relation);
        put(qa, qb, pair(kind_, 7));
        cross(wa, wb, qa, qb, pair(kind_, 8));
    }

    // i is directly before j, on the left of the head's word or (`after`) on its right.
    template <typename Visit>
    void neighbors(std::size_t i, std::size_t j, bool after, Visit visit) const {
        const TreeletItem &a = items_[i], &b = items_[j];
        std::uint64_t number = 100 + 50 * after;
        const auto put = [&](std::uint64_t x, std::uint64_t y, std::uint64_t context) {
            visit(FeatureHash(++number).add(x).add(y).add(context).key(), 1.0f);
        };
        put(a.relation, b.relation, 0);
        put(a.relation, b.relation, head_tag_);
        put(a.relation, b.relation, relation_);
        put(a.label, b.label, 0);
        put(a.label, b.label, head_tag_);
        put(a.relation, b.relation, FeatureHash(a.size).add(b.size).value());
        put(a.relation, b.word, 0);
        put(a.word, b.relation, 0);
        put(a.relation, b.first, 0);
        put(a.last, b.relation, 0);
        put(a.relation, b.relation, FeatureHash(roles_).add(kind_).value());
        put(a.label, b.label, relation_);
        put(a.label, b.word, 0);
        put(a.word, b.label, 0);
        const auto pair = [](std::uint64_t x, std::uint64_t y) {
            return FeatureHash(x).add(y).value();
        };
        put(pair(a.relation, a.marks), pair(b.relation, b.marks), 0);
        put(pair(a.relation, a.asks), pair(b.relation, b.asks), kind_);
        put(pair(a.relation, a.last_tag), pair(b.relation, b.first_tag), 0);
        put(a.ending, b.ending, 0);
        // The words where the two stretches meet do not depend on the side.
        number = 200;
        put(a.last, b.first, 0);
        put(a.last_tag, b.first_tag, 0);
        put(a.last, b.first_tag, 0);
        put(a.last_tag, b.first, 0);
        put(a.word, b.word, 0);
    }

    // i, j and k directly after each other; `after` as for j and k in `neighbors`.
    template <typename Visit>
    void triple(std::size_t i, std::size_t j, std::size_t k, bool after, Visit visit) const {
        const TreeletItem &a = items_[i], &b = items_[j], &c = items_[k];
        const auto put = [&](std::uint64_t number, std::uint64_t x, std::uint64_t y,
                             std::uint64_t z) {
            visit(FeatureHash(number + after).add(x).add(y).add(z).key(), 1.0f);
        };
        put(300, a.relation, b.relation, c.relation);
        put(302, a.relation, b.relation, FeatureHash(c.relation).add(head_tag_).value());
        put(304, a.label, b.label, c.label);
        put(306, a.relation, b.word, c.relation);
        put(308, a.word, b.relation, c.relation);
        put(310, a.relation, b.relation, c.word);
        put(312, a.last_tag, FeatureHash(b.first_tag).add(b.last_tag).value(), c.first_tag);
    }

private:
    std::vector<TreeletItem> items_;
    std::uint64_t relation_ = 0, kind_ = 0, head_tag_ = 0, head_word_ = 0, roles_ = 0;
};

}  // namespace wellput
