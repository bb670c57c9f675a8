// The features of the chooser of labels for a word of an unordered tree: the word, its mother,
// daughters and sisters, each with its usual label or, if there is one, its known label.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/texts.h"
#include "language/learning/feature_keys.h"
#include "language/learning/word_atoms.h"
#include "language/realize/unordered_trees.h"
#include "text/hash.h"

namespace wellput {

// The usual label of each word that the training data have at least twice, by the word in lower case.
class UsualLabels {
public:
    UsualLabels() = default;
    UsualLabels(std::span<const std::uint32_t> words, std::span<const std::uint16_t> labels)
        : table_(words.size()) {
        for (std::size_t i = 0; i < std::min(words.size(), labels.size()); ++i)
            table_.insert(words[i], labels[i]);
    }
    static FeatureKey key(const WordAtoms& word) { return FeatureHash(word.lower).key(); }
    // A number for the word's usual label; for an unknown word, one for its ending and shape.
    std::uint64_t number_of(const WordAtoms& word) const {
        const std::uint32_t label = table_.find(key(word));
        if (label != KeyTable::NO_NUMBER) return label + 1;
        return FeatureHash(word.suffixes[2]).add(word.shape).value();
    }

private:
    KeyTable table_;
};

class LabelFeatures {
public:
    // Starts tree t. Known labels of the words, if there are any, replace their usual labels.
    void start(const TextLists& forms, const TextLists& known, std::size_t t,
               const std::int32_t* heads, const UsualLabels& usual) {
        words_.clear();
        usual_.clear();
        looks_.clear();
        for (std::size_t i = 0; i < forms.count(t); ++i) {
            words_.push_back(atoms_of(forms.at(t, i)));
            usual_.push_back(known.size() ? fnv1a(known.at(t, i)) : usual.number_of(words_.back()));
            looks_.push_back(FeatureHash(words_.back().form).add(usual_.back()).value());
        }
        tree_.assign({heads + forms.first(t), forms.count(t)}, looks_);
    }
    const UnorderedTree& tree() const { return tree_; }
    const WordAtoms& word(std::uint32_t i) const { return words_[i]; }

    // The keys of the features of word i. The template numbers of each group of features begin at a
    // fixed number, so a feature of a daughter has the same number if the word has no mother.
    const std::vector<FeatureKey>& keys_of(std::uint32_t i) {
        keys_.clear();
        number_ = 0;
        const auto daughters = tree_.daughters(i);
        add_own(i, daughters.size());
        number_ = 30;
        add_mother(i, daughters.size());
        std::uint64_t all_usual = 0;
        for (const std::uint32_t daughter : first_of(daughters)) {
            number_ = 60;
            add_daughter(i, daughter);
            all_usual = FeatureHash(all_usual).add(usual_[daughter]).value();
        }
        number_ = 80;
        put(usual_[i], all_usual);
        all_usual = 0;
        const auto sisters =
            tree_.mother(i) == i ? daughters.subspan(0, 0) : tree_.daughters(tree_.mother(i));
        for (const std::uint32_t sister : first_of(sisters)) {
            if (sister == i) continue;
            number_ = 90;
            add_sister(i, sister);
            all_usual = FeatureHash(all_usual).add(usual_[sister]).value();
        }
        number_ = 110;
        put(usual_[i], usual_[tree_.mother(i)], all_usual);
        return keys_;
    }

private:
    // Words with dozens of daughters are lists and tables; a few daughters are enough.
    static constexpr std::size_t MAX_RELATIVES = 12;
    static std::span<const std::uint32_t> first_of(std::span<const std::uint32_t> words) {
        return words.subspan(0, std::min(words.size(), MAX_RELATIVES));
    }
    void add_own(std::uint32_t i, std::size_t n_daughters) {
        const WordAtoms& word = words_[i];
        const bool is_root = tree_.mother(i) == i;
        const std::size_t n = std::min<std::size_t>(n_daughters, 4);
        put();
        put(word.lower);
        put(word.form);
        for (std::size_t length = 0; length < 4; ++length) put(word.suffixes[length]);
        put(word.prefixes[1]);
        put(word.prefixes[2]);
        put(word.shape);
        put(usual_[i]);
        put(n, is_root);
        put(word.lower, n);
        put(usual_[i], n, is_root);
        put(word.lower, is_root);
        put(word.shape, n);
    }
    void add_mother(std::uint32_t i, std::size_t n_daughters) {
        const std::uint32_t m = tree_.mother(i);
        if (m == i) return;
        const WordAtoms &word = words_[i], &mother = words_[m];
        const bool is_mother_root = tree_.mother(m) == m;
        const std::size_t n_sisters = tree_.daughters(m).size();
        put(mother.lower);
        put(usual_[m]);
        put(mother.suffixes[2]);
        put(word.lower, mother.lower);
        put(word.lower, usual_[m]);
        put(usual_[i], mother.lower);
        put(usual_[i], usual_[m]);
        put(word.suffixes[2], usual_[m]);
        put(word.suffixes[2], mother.suffixes[2]);
        put(word.shape, usual_[m], mother.shape);
        put(usual_[i], usual_[m], std::min<std::size_t>(n_daughters, 4));
        put(usual_[i], usual_[m], std::min<std::size_t>(n_sisters, 6) + 10);
        put(usual_[i], usual_[m], is_mother_root ? 0 : usual_[tree_.mother(m)]);
        put(word.lower, is_mother_root);
        put(usual_[i], is_mother_root, std::min<std::size_t>(n_sisters, 6));
    }
    void add_daughter(std::uint32_t i, std::uint32_t d) {
        const WordAtoms &word = words_[i], &daughter = words_[d];
        put(daughter.lower);
        put(usual_[d]);
        put(usual_[i], usual_[d]);
        put(word.lower, usual_[d]);
        put(usual_[i], daughter.lower);
        put(word.suffixes[2], usual_[d]);
        put(word.shape, daughter.lower);
        put(usual_[i], usual_[tree_.mother(i)], usual_[d]);
    }
    void add_sister(std::uint32_t i, std::uint32_t s) {
        const WordAtoms &word = words_[i], &sister = words_[s];
        const std::uint64_t mother = usual_[tree_.mother(i)];
        put(usual_[s]);
        put(usual_[i], usual_[s]);
        put(word.lower, usual_[s]);
        put(usual_[i], sister.lower);
        put(word.lower, sister.lower);
        put(word.suffixes[2], usual_[s]);
        put(word.shape, sister.lower);
        put(usual_[i], mother, usual_[s]);
    }
    template <typename... Values>
    void put(Values... values) {
        FeatureHash hash(number_++);
        (hash.add(static_cast<std::uint64_t>(values)), ...);
        keys_.push_back(hash.key());
    }

    UnorderedTree tree_;
    std::vector<WordAtoms> words_;
    std::vector<std::uint64_t> usual_;  // by word: its usual label, or its known label
    std::vector<std::uint64_t> looks_;  // by word: its form and this label, for UnorderedTree
    std::vector<FeatureKey> keys_;
    std::uint64_t number_ = 0;  // the next template number
};

}  // namespace wellput
