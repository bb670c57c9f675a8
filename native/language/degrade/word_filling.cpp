// Fills templates (sequences of part-of-speech tags) with words: the best sequence by P(word | tag)
// P(word | word before). A word that the best path to a state already has costs extra.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/parallel.h"
#include "kernels.h"

namespace nb = nanobind;

namespace wellput {
namespace {

// Rows of (word, log probability): row r lies from begins[r] to begins[r + 1].
struct Rows {
    const std::int32_t *begins, *words;
    const double* log_probs;
};

void check_rows(const Array<std::int32_t>& begins, const Array<std::int32_t>& words,
                const Array<double>& log_probs, std::size_t n_words) {
    require_pieces(values_of(begins), words.shape(0),
                   "the beginnings of the words are out of order");
    require_below(values_of(words), n_words, "a word is out of range");
    require(log_probs.shape(0) == words.shape(0), "a probability is needed for each word");
}

// A word in its place in the sentence, with the best path that leads there.
struct State {
    std::int32_t word;
    std::int32_t before;    // the state of the word before, by its number in that step
    std::uint64_t on_path;  // a bit for each word on the path, by its number modulo 64
    double score;
};

constexpr double IMPOSSIBLE_SCORE = -std::numeric_limits<double>::infinity();

// Viterbi search: for each tag of a template the states are the words that may have it.
class Filler {
public:
    Filler(Rows by_tag, Rows by_word, const double* unigrams, std::size_t n_words,
           double repeat_log_weight)
        : by_tag_(by_tag), by_word_(by_word), unigrams_(unigrams),
          repeat_log_weight_(repeat_log_weight), state_of_(n_words, -1) {}

    std::vector<std::int32_t> operator()(const std::int32_t* tags, std::size_t length,
                                         std::int32_t start) {
        steps_.assign(1, {State{start, -1, 0, 0.0}});
        for (std::size_t i = 0; i < length; ++i) step(tags[i]);
        std::vector<std::int32_t> words(length);
        std::size_t best = best_of(steps_.back());
        for (std::size_t i = length; i > 0; --i) {
            words[i - 1] = steps_[i][best].word;
            best = static_cast<std::size_t>(steps_[i][best].before);
        }
        return words;
    }

private:
    void step(std::int32_t tag) {
        const auto& before = steps_.back();
        std::vector<State> next;
        for (auto e = by_tag_.begins[tag]; e < by_tag_.begins[tag + 1]; ++e) {
            state_of_[by_tag_.words[e]] = static_cast<std::int32_t>(next.size());
            next.push_back({by_tag_.words[e], 0, 0, IMPOSSIBLE_SCORE});
        }
        for (std::size_t b = 0; b < before.size(); ++b) {
            const auto word = before[b].word;
            for (auto e = by_word_.begins[word]; e < by_word_.begins[word + 1]; ++e) {
                const auto found = state_of_[by_word_.words[e]];
                if (found >= 0) reach(next[found], b, by_word_.log_probs[e]);
            }
        }
        reach_by_unigrams(next);
        for (auto e = by_tag_.begins[tag]; e < by_tag_.begins[tag + 1]; ++e) {
            State& state = next[e - by_tag_.begins[tag]];
            state_of_[by_tag_.words[e]] = -1;
            state.score += by_tag_.log_probs[e];
            state.on_path = before[state.before].on_path | bit(state.word);
        }
        steps_.push_back(std::move(next));
    }

    // A pair of words that the corpus does not have gets the probability of its second word alone,
    // whatever the first word. So only two states can be the best before a word: the one with the
    // highest score, and the one with the highest score among those without the word on their path.
    void reach_by_unigrams(std::vector<State>& next) {
        const auto& before = steps_.back();
        order_.resize(before.size());
        std::iota(order_.begin(), order_.end(), 0);
        std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return before[a].score > before[b].score;
        });
        for (State& state : next) {
            const double log_prob = unigrams_[state.word];
            for (std::size_t place = 0; place < order_.size(); ++place) {
                const bool repeats = is_on_path(order_[place], state.word);
                if (place == 0 || !repeats) reach(state, order_[place], log_prob);
                if (!repeats) break;
            }
        }
    }

    void reach(State& state, std::size_t b, double log_prob) {
        double score = steps_.back()[b].score + log_prob;
        if (score <= state.score) return;  // `repeat_log_weight_` could only lower it
        if (is_on_path(b, state.word)) score += repeat_log_weight_;
        if (score > state.score) {
            state.score = score;
            state.before = static_cast<std::int32_t>(b);
        }
    }

    bool is_on_path(std::size_t b, std::int32_t word) const {
        if (!(steps_.back()[b].on_path & bit(word))) return false;
        for (std::size_t i = steps_.size() - 1; i > 0; --i) {
            if (steps_[i][b].word == word) return true;
            b = static_cast<std::size_t>(steps_[i][b].before);
        }
        return false;
    }

    static std::uint64_t bit(std::int32_t word) { return std::uint64_t{1} << (word & 63); }

    static std::size_t best_of(const std::vector<State>& states) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < states.size(); ++i)
            if (states[i].score > states[best].score) best = i;
        return best;
    }

    Rows by_tag_;   // the words that may have a tag
    Rows by_word_;  // the words that follow a word
    const double* unigrams_;
    double repeat_log_weight_;
    std::vector<std::int32_t> state_of_;  // by word: its place among the states being made, or -1
    std::vector<std::vector<State>> steps_;  // by number of words: the states after them
    std::vector<std::size_t> order_;         // the states of the word before, the best first
};

}  // namespace

void add_word_filling(nb::module_& m) {
    m.def(
        "fill_words",
        [](Array<std::int32_t, 2> templates, Array<std::int32_t> tag_begins,
           Array<std::int32_t> tag_words, Array<double> tag_probs,
           Array<std::int32_t> bigram_begins, Array<std::int32_t> bigram_words,
           Array<double> bigram_probs, Array<double> unigrams, std::int32_t start,
           double repeat_log_weight, int threads) {
            const std::size_t n = templates.shape(0), length = templates.shape(1);
            const std::size_t n_words = unigrams.shape(0), n_tags = tag_begins.shape(0) - 1;
            check_rows(tag_begins, tag_words, tag_probs, n_words);
            check_rows(bigram_begins, bigram_words, bigram_probs, n_words);
            require(bigram_begins.shape(0) > n_words, "followers are needed for each word");
            require(start >= 0 && static_cast<std::size_t>(start) + 1 < bigram_begins.shape(0),
                    "followers are needed for the word to start with");
            for (const std::int32_t tag : std::span(templates.data(), n * length))
                require(tag >= 0 && static_cast<std::size_t>(tag) < n_tags &&
                            tag_begins(tag) < tag_begins(tag + 1),
                        "a tag of a template has no word");
            std::vector<std::vector<std::int32_t>> filled(n);
            const Filler filler({tag_begins.data(), tag_words.data(), tag_probs.data()},
                                {bigram_begins.data(), bigram_words.data(), bigram_probs.data()},
                                unigrams.data(), n_words, repeat_log_weight);
            nb::gil_scoped_release release;
            for_items(
                n, threads, filler,
                [&](auto& own, std::size_t i) {
                    filled[i] = own(templates.data() + i * length, length, start);
                },
                /*chunk=*/4);
            return filled;
        },
        nb::arg("templates"), nb::arg("tag_begins"), nb::arg("tag_words"), nb::arg("tag_probs"),
        nb::arg("bigram_begins"), nb::arg("bigram_words"), nb::arg("bigram_probs"),
        nb::arg("unigrams"), nb::arg("start"), nb::arg("repeated"), nb::arg("threads"));
}

}  // namespace wellput
