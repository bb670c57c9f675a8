// The n-grams of a model as a trie of reversed n-grams: a node at depth n is an n-gram of n + 1 words,
// its parent the same n-gram without its first word. So an n-gram backs off to its parent, and the
// number of its children is the number of different words it was seen after. The nodes on a way down
// are n-grams that end in the same word: they are the contexts of the word after it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/arrays.h"
#include "text/word_table.h"

namespace wellput {

// The words that every n-gram model has, with their fixed numbers.
constexpr std::uint32_t UNKNOWN_WORD = 0, SENTENCE_BEGIN = 1, SENTENCE_END = 2;
constexpr std::uint32_t FIRST_PLAIN_WORD = 3;
constexpr std::string_view SPECIAL_WORDS[] = {"<unk>", "<s>", "</s>"};

// The number of a word of a text. If a text has "<s>", that is not the special word: it is unknown.
inline std::uint32_t find_in_text(const WordView& words, std::string_view word) {
    const std::uint32_t id = words.find(word);
    return id == NO_WORD || id < FIRST_PLAIN_WORD ? UNKNOWN_WORD : id;
}

// All n-grams of one length, sorted by last word, then the last but one, and so on. Unigrams are
// dense: a word's number is its place, and `words` is empty. Elsewhere words[x] is the first word of
// n-gram x. The children of x are begins[x] to begins[x + 1] of the next level; the last level has
// neither begins nor backoffs. Logarithms are to base 10.
struct TrieLevel {
    std::vector<std::uint32_t> words, begins;
    std::vector<float> log_probs, backoffs;
};

constexpr std::uint32_t NO_NODE = ~std::uint32_t{0};

// The place of `word` among words[begin..end), which are sorted; NO_NODE where it is not there.
inline std::uint32_t child_with(const std::uint32_t* words, std::uint32_t begin, std::uint32_t end,
                                std::uint32_t word) {
    const auto* at = std::lower_bound(words + begin, words + end, word);
    return at != words + end && *at == word ? static_cast<std::uint32_t>(at - words) : NO_NODE;
}

// Makes the `words` and `begins` of all levels from n-grams that are added in the order of the levels.
class TrieBuilder {
public:
    TrieBuilder(int order, std::uint32_t n_words)
        : levels_(static_cast<std::size_t>(order)), n_words_(n_words),
          path_(levels_.size(), NO_NODE) {}

    // Adds an n-gram of `length` words, the last word first, and the nodes on the way to it. Calls
    // made(depth) for every node that is new.
    template <typename Made>
    void add(const std::uint32_t* reversed, std::size_t length, Made made) {
        std::size_t depth = 0;
        while (depth < std::min(length, path_length_) && path_[depth] == reversed[depth]) ++depth;
        for (; depth < length; ++depth) {
            open(depth, reversed[depth]);
            made(depth);
        }
        path_length_ = length;
    }

    std::vector<TrieLevel> finish() {
        for (std::size_t depth = 0; depth + 1 < levels_.size(); ++depth) {
            const std::size_t size = depth == 0 ? n_words_ : levels_[depth].words.size();
            while (levels_[depth].begins.size() <= size)
                levels_[depth].begins.push_back(end_of(depth + 1));
        }
        return std::move(levels_);
    }

private:
    void open(std::size_t depth, std::uint32_t word) {
        if (depth > 0) levels_[depth].words.push_back(word);
        if (depth + 1 < levels_.size()) {
            auto& begins = levels_[depth].begins;
            const std::size_t node = depth == 0 ? word : levels_[depth].words.size() - 1;
            while (begins.size() <= node) begins.push_back(end_of(depth + 1));
        }
        path_[depth] = word;
    }
    std::uint32_t end_of(std::size_t depth) const {
        if (levels_[depth].words.size() >= NO_NODE)
            throw std::length_error("more than 4 billion n-grams of one length");
        return static_cast<std::uint32_t>(levels_[depth].words.size());
    }

    std::vector<TrieLevel> levels_;
    std::uint32_t n_words_;
    std::vector<std::uint32_t> path_;  // the n-gram added last
    std::size_t path_length_ = 0;
};

// The contexts (all but the last word) of the n-grams at `depth`, as nodes at depth - 1; NO_NODE for a
// context that is not in the trie. `above` has the contexts of the n-grams at depth - 1: the context of
// an n-gram is the child of its parent's context that has the same first word.
inline std::vector<std::uint32_t> contexts_at(const std::vector<TrieLevel>& levels,
                                              std::size_t depth,
                                              const std::vector<std::uint32_t>& above) {
    const auto& words = levels[depth].words;
    if (depth == 1) return words;
    std::vector<std::uint32_t> contexts(words.size(), NO_NODE);
    const auto& shorter = levels[depth - 1].words;
    const auto& ranges = levels[depth - 2].begins;
    const auto& begins = levels[depth - 1].begins;
    for (std::size_t parent = 0; parent < above.size(); ++parent) {
        if (above[parent] == NO_NODE) continue;
        // Both lists of children are sorted: each search begins where the last one ended.
        std::uint32_t from = ranges[above[parent]];
        const std::uint32_t to = ranges[above[parent] + 1];
        for (std::uint32_t x = begins[parent]; x < begins[parent + 1]; ++x) {
            const auto* at = std::lower_bound(shorter.data() + from, shorter.data() + to, words[x]);
            from = static_cast<std::uint32_t>(at - shorter.data());
            if (from < to && *at == words[x]) contexts[x] = from;
        }
    }
    return contexts;
}

// (offsets, text, slots) and [(words, begins, log_probs, backoffs), ...].
inline nanobind::tuple as_arrays(WordTable& words, std::vector<TrieLevel>& levels) {
    std::vector<std::uint8_t> text(words.text().begin(), words.text().end());
    nanobind::list level_arrays;
    for (auto& level : levels)
        level_arrays.append(nanobind::make_tuple(
            as_array(std::move(level.words)), as_array(std::move(level.begins)),
            as_array(std::move(level.log_probs)), as_array(std::move(level.backoffs))));
    return nanobind::make_tuple(
        nanobind::make_tuple(as_array(std::move(words.offsets())), as_array(std::move(text)),
                             as_array(std::move(words.slots()))),
        level_arrays);
}

}  // namespace wellput
