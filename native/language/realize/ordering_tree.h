// A tree whose treelets are ordered from the bottom up, and the scores of an n-gram model where
// ordered stretches of words meet.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/arrays.h"
#include "core/texts.h"
#include "language/learning/word_atoms.h"
#include "language/ngrams/ngram_view.h"
#include "language/realize/ordering_features.h"
#include "language/realize/unordered_trees.h"
#include "text/hash.h"

namespace wellput {

using Heads = Array<std::int32_t>;
using Daughters = std::span<const std::uint32_t>;

// Trees from Python: for each property of words, a list of strings per tree.
struct TreeTexts {
    TreeTexts(nb::handle forms, nb::handle tags, nb::handle relations, const Heads& heads)
        : forms(forms), tags(tags), relations(relations), heads(heads.data()) {
        if (!this->forms.has_counts_of(this->tags) || !this->forms.has_counts_of(this->relations) ||
            heads.size() != this->forms.total())
            throw nb::value_error("a tag, a relation and a head are needed for each word");
        for (std::size_t t = 0; t < size(); ++t)
            if (!is_tree({heads.data() + this->forms.first(t), this->forms.count(t)}))
                throw nb::value_error("no tree");
    }
    std::size_t size() const { return forms.size(); }
    TextLists forms, tags, relations;
    const std::int32_t* heads;
};

// The role of a relation in a clause, as a bit; 0 if it has none.
inline std::uint32_t role_of(std::string_view relation) {
    static constexpr std::array<std::string_view, 12> ROLE_RELATIONS{
        "nsubj", "expl", "csubj", "obj",  "xcomp", "ccomp",
        "aux",   "cop",  "mark",  "case", "det",   "cc"};
    const std::string_view plain = relation.substr(0, relation.find(':'));
    for (std::size_t i = 0; i < ROLE_RELATIONS.size(); ++i)
        if (plain == ROLE_RELATIONS[i]) return 1u << i;
    return 0;
}

inline OrderedWord ordered_word(std::string_view form, std::string_view tag,
                                std::string_view relation) {
    const WordAtoms atoms = atoms_of(form);
    return {atoms.form,          fnv1a(tag),
            fnv1a(relation),     FeatureHash(atoms.suffixes[2]).add(atoms.shape).value(),
            relation == "punct", tag.starts_with('W'),
            role_of(relation)};
}

// A stretch of words in order: its ends, by their places in the tree.
struct Stretch {
    std::uint32_t first, second, last_but_one, last;  // all equal if there is only one word
    std::uint32_t size;
};

// One tree, and its state while its treelets are ordered from the bottom up.
class TreeInWork {
public:
    void start(const TreeTexts& texts, std::size_t t, const NgramView* ngrams) {
        const std::size_t n = texts.forms.count(t);
        words_.resize(n);
        looks_.resize(n);
        ngram_numbers_.resize(n);
        stretches_.resize(n);
        orders_.resize(n);
        for (std::uint32_t i = 0; i < n; ++i) {
            words_[i] =
                ordered_word(texts.forms.at(t, i), texts.tags.at(t, i), texts.relations.at(t, i));
            looks_[i] =
                FeatureHash(words_[i].form).add(words_[i].tag).add(words_[i].relation).value();
            if (ngrams) ngram_numbers_[i] = find_in_text(ngrams->words(), texts.forms.at(t, i));
            stretches_[i] = {i, i, i, i, 1};
            orders_[i].assign(1, i);
        }
        tree_.assign({texts.heads + texts.forms.first(t), n}, looks_);
    }
    const UnorderedTree& tree() const { return tree_; }
    // The stretch of a word and of those words below it that are already in order.
    const Stretch& stretch(std::uint32_t word) const { return stretches_[word]; }
    std::uint32_t ngram_number(std::uint32_t word) const { return ngram_numbers_[word]; }

    // The treelet of a head and some of her daughters; item 0 is the stretch that is already around
    // the head.
    void make_treelet(std::uint32_t head, Daughters daughters, Treelet& treelet) const {
        static const std::uint64_t HEAD_HASH = fnv1a("head"), QUESTION_MARK_HASH = fnv1a("?");
        treelet.start(words_[head].relation, tree_.mother(head) == head);
        treelet.add(item(head, HEAD_HASH));
        std::uint64_t kind = 0, roles = 0;  // kind: 1 for a question
        for (const std::uint32_t daughter : daughters) {
            if (words_[daughter].form == QUESTION_MARK_HASH) kind = 1;
            roles |= words_[daughter].role;
            treelet.add(item(daughter, words_[daughter].relation));
        }
        treelet.finish(kind, roles);
    }

    // Puts daughters into their places around the head. `items` has the order, by item numbers.
    void settle(std::uint32_t head, Daughters daughters, std::span<const std::uint16_t> items) {
        std::vector<std::uint32_t> order;
        Stretch whole = stretches_[items[0] ? daughters[items[0] - 1] : head];
        for (std::size_t x = 0; x < items.size(); ++x) {
            const std::uint32_t word = items[x] ? daughters[items[x] - 1] : head;
            if (x > 0) whole = joined(whole, stretches_[word]);
            if (word == head)
                order.insert(order.end(), orders_[head].begin(), orders_[head].end());
            else
                order.push_back(word);
        }
        orders_[head] = std::move(order);
        stretches_[head] = whole;
    }

    // The whole sentence: places of words in the tree, first word first.
    template <typename Out>
    void write(Out out) const {
        std::vector<std::pair<std::uint32_t, std::size_t>> open{{tree_.root(), 0}};
        while (!open.empty()) {
            auto& [word, next] = open.back();
            if (next == orders_[word].size()) {
                open.pop_back();
                continue;
            }
            const std::uint32_t item = orders_[word][next++];
            if (item == word)
                *out++ = static_cast<std::int32_t>(word);
            else
                open.emplace_back(item, 0);
        }
    }

private:
    TreeletItem item(std::uint32_t word, std::uint64_t relation) const {
        const Stretch& stretch = stretches_[word];
        const OrderedWord &first = words_[stretch.first], &last = words_[stretch.last];
        return {
            words_[word].form,
            words_[word].tag,
            relation,
            first.form,
            first.tag,
            last.form,
            last.tag,
            size_class(stretch.size),
            FeatureHash(words_[word].tag).add(relation).value(),
            words_[word].ending,
            FeatureHash(first.is_mark ? first.form : 0).add(last.is_mark ? last.form : 0).value(),
            first.asks};
    }
    static Stretch joined(const Stretch& a, const Stretch& b) {
        return {a.first, a.size == 1 ? b.first : a.second, b.size == 1 ? a.last : b.last_but_one,
                b.last, a.size + b.size};
    }

    std::vector<OrderedWord> words_;
    std::vector<std::uint64_t> looks_;
    std::vector<std::uint32_t> ngram_numbers_;  // of the words in the n-gram model
    UnorderedTree tree_;
    std::vector<Stretch> stretches_;
    std::vector<std::vector<std::uint32_t>> orders_;  // by head: it and the daughters in place
};

// The order of a head and her daughters in the given tree, by item numbers.
inline std::vector<std::uint16_t> given_order(std::uint32_t head, Daughters daughters) {
    std::vector<std::uint16_t> items(daughters.size() + 1);
    std::iota(items.begin(), items.end(), std::uint16_t{0});
    const auto place = [&](std::uint16_t item) { return item ? daughters[item - 1] : head; };
    std::sort(items.begin(), items.end(),
              [&](std::uint16_t a, std::uint16_t b) { return place(a) < place(b); });
    return items;
}

// The score of an n-gram model for a treelet's neighbors: where two stretches meet, how much the last
// words of the left one raise the log probabilities of the first words of the right one.
class NgramExtra {
public:
    NgramExtra(const NgramView* ngrams, float weight) : ngrams_(ngrams), weight_(weight) {}

    void start(const TreeInWork& work, std::uint32_t head, Daughters daughters) {
        if (!ngrams_) return;
        is_root_ = work.tree().mother(head) == head;
        parts_.clear();
        const auto add = [&](std::uint32_t word) {
            const Stretch& stretch = work.stretch(word);
            parts_.push_back(
                {{work.ngram_number(stretch.first), work.ngram_number(stretch.second)},
                 {work.ngram_number(stretch.last), work.ngram_number(stretch.last_but_one)},
                 stretch.size});
        };
        add(head);
        for (const std::uint32_t daughter : daughters) add(daughter);
        // After all items, what stands for both ends of the treelet.
        parts_.push_back({{SENTENCE_END}, {SENTENCE_BEGIN}, 1});
    }
    float neighbors(std::size_t i, std::size_t j) const {
        if (!ngrams_) return 0.0f;
        const std::size_t ends = parts_.size() - 1;
        if ((i == ends || j == ends) && !is_root_) return 0.0f;
        const Part &a = parts_[i], &b = parts_[j];
        double gain = gained(b.first[0], a.last, std::min<std::size_t>(a.size, 2));
        if (b.size > 1 && ngrams_->order() > 2) {
            const std::uint32_t context[] = {b.first[0], a.last[0]};
            gain += ngrams_->log_prob(b.first[1], context, 2) -
                    ngrams_->log_prob(b.first[1], context, 1);
        }
        return weight_ * static_cast<float>(gain);
    }
    // The same for stretches i and k, with a single word, j, between them.
    float triple(std::size_t i, std::size_t j, std::size_t k) const {
        if (!ngrams_ || ngrams_->order() < 3 || parts_[j].size > 1) return 0.0f;
        const std::size_t ends = parts_.size() - 1;
        if ((i == ends || k == ends) && !is_root_) return 0.0f;
        const std::uint32_t context[] = {parts_[j].last[0], parts_[i].last[0]};
        const std::uint32_t word = parts_[k].first[0];
        return weight_ * static_cast<float>(ngrams_->log_prob(word, context, 2) -
                                            ngrams_->log_prob(word, context, 1));
    }

private:
    // An item: the first two words of its stretch, and the last two backwards.
    struct Part {
        std::uint32_t first[2], last[2];
        std::size_t size;
    };
    double gained(std::uint32_t word, const std::uint32_t* before, std::size_t n) const {
        n = std::min(n, ngrams_->order() - 1);
        return ngrams_->log_prob(word, before, n) - ngrams_->log_prob(word, before, 0);
    }
    const NgramView* ngrams_;
    float weight_;
    bool is_root_ = false;
    std::vector<Part> parts_;
};

}  // namespace wellput
