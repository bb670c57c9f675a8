// The network of the biaffine parser (Dozat & Manning 2017), with whole-number weights.
//
// A recurrent language model (GRU) reads pieces of words from left to right. Its states, and vectors of
// the word, its letters and its tag go through two layers that read in both directions (LSTM). Each
// word then gets scores of heads, relations and tags. Sentences go through it in groups, the longest
// first; sums are exact, so the group makes no difference.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/checks.h"
#include "core/clones.h"
#include "language/learning/whole_matrix.h"

namespace wellput {

struct BiaffineWeights {
    WholeVectors pieces, words, affixes, tags;
    WholeMatrix piece_gates, piece_states;  // the GRU: reset, update, new state
    WholeMatrix read;
    struct Side {
        WholeMatrix inputs, states;  // an LSTM: in, forget, new, out
    };
    std::array<std::array<Side, 2>, 2> layers;  // in each layer forward and backward
    WholeMatrix parts;  // arc heads, arc dependents, label heads, label dependents, XPOS, UPOS
    WholeMatrix arcs, labels, head_labels, dependent_labels;
    std::vector<Step> arc_root, label_root;

    std::size_t arc_size() const { return arc_root.size(); }
    std::size_t label_size() const { return label_root.size(); }
    std::size_t n_labels() const { return head_labels.rows(); }
    std::size_t n_tags() const { return tags.rows() - 1; }  // the last vector is no tag's
    std::size_t n_categories() const {
        return parts.rows() - 2 * arc_size() - 2 * label_size() - n_tags();
    }

    void check() const {
        const char* const wrong = "parts of different sizes";
        const std::size_t state = piece_states.columns();
        const auto fits = [&](const WholeMatrix& matrix, std::size_t rows, std::size_t columns) {
            require(rows > 0 && columns > 0 && matrix.rows() == rows && matrix.columns() == columns,
                    wrong);
        };
        require(pieces.rows() > 0 && words.rows() > 0 && affixes.rows() > 0 && tags.rows() > 1,
                wrong);
        fits(piece_gates, 3 * state, pieces.columns());
        fits(piece_states, 3 * state, state);
        fits(read, read.rows(), pieces.columns() + state);
        std::size_t width = words.columns() + affixes.columns() + tags.columns() + read.rows();
        const std::size_t own = layers[0][0].states.columns();
        for (const auto& layer : layers) {
            for (const Side& side : layer) {
                fits(side.inputs, 4 * own, width);
                fits(side.states, 4 * own, own);
            }
            width = 2 * own;
        }
        require(parts.rows() > 2 * arc_size() + 2 * label_size() + n_tags(), wrong);
        fits(parts, parts.rows(), width);
        fits(arcs, arc_size(), arc_size());
        fits(head_labels, n_labels(), label_size());
        fits(dependent_labels, n_labels(), label_size());
        fits(labels, n_labels() * label_size(), label_size());
    }
};

// What is known of sentences: rows of all words of all sentences, and of all their pieces.
struct BiaffineInput {
    std::size_t n_affixes;                       // of each word
    std::span<const std::int32_t> begins;        // of each sentence's words, and the end
    std::span<const std::int32_t> piece_begins;  // of each sentence's pieces, and the end
    const std::int32_t *words, *affixes, *tags;  // by word
    const std::int32_t* spans;                   // by word: its first and last piece
    std::span<const std::int32_t> pieces;
};

// A gate is the sum of what the input and what the state before say.
WELLPUT_INLINE void load_sum(Eight& to, const float* given, const float* kept, std::size_t n) {
    Eight other;
    load(to, given, n);
    load(other, kept, n);
    to = to + other;
}

WELLPUT_CLONES inline void gru_step(const float* given, const float* kept, std::size_t size,
                                    float* state) {
    for (std::size_t i = 0; i < size; i += VECTOR_FLOATS) {
        const std::size_t n = size - i;
        Eight reset, update, found, own;
        load_sum(reset, given + i, kept + i, n);
        take_sigmoid(reset);
        load_sum(update, given + size + i, kept + size + i, n);
        take_sigmoid(update);
        load(found, given + 2 * size + i, n);
        load(own, kept + 2 * size + i, n);
        found = found + reset * own;
        take_tanh(found);
        load(own, state + i, n);
        store(found + update * (own - found), state + i, n);
    }
}

WELLPUT_CLONES inline void lstm_step(const float* given, const float* kept, std::size_t size,
                                     float* cell, float* state) {
    for (std::size_t i = 0; i < size; i += VECTOR_FLOATS) {
        const std::size_t n = size - i;
        Eight in, forget, found, out, own;
        load_sum(in, given + i, kept + i, n);
        take_sigmoid(in);
        load_sum(forget, given + size + i, kept + size + i, n);
        take_sigmoid(forget);
        load_sum(found, given + 2 * size + i, kept + 2 * size + i, n);
        take_tanh(found);
        load_sum(out, given + 3 * size + i, kept + 3 * size + i, n);
        take_sigmoid(out);
        load(own, cell + i, n);
        own = forget * own + in * found;
        store(own, cell + i, n);
        take_tanh(own);
        store(out * own, state + i, n);
    }
}

// The words of a group of sentences on their way through the network.
class BiaffineRun {
public:
    explicit BiaffineRun(const BiaffineWeights& weights) : weights_(&weights) {}

    // `group` are numbers of sentences, the longest first.
    void run(const BiaffineInput& input, std::span<const std::size_t> group) {
        lay_out(input, group);
        read_pieces(input, group);
        make_inputs(input, group);
        for (const auto& layer : weights_->layers) run_layer(layer);
        const std::size_t n = words_.back(), rows = weights_->parts.rows();
        parts_.resize(n * rows);
        weights_->parts.multiply(steps_.data(), n, parts_.data());
        find_wanted(n, rows);
    }

    std::size_t begin(std::size_t place) const { return words_[place]; }
    std::size_t size(std::size_t place) const { return words_[place + 1] - words_[place]; }

    // The scores of the heads of all words of a sentence: a row each, the root first.
    void arc_scores(std::size_t place, std::vector<std::int64_t>& scores) const {
        const std::size_t n = size(place), first = begin(place), width = weights_->arc_size();
        scores.resize(n * (n + 1));
        for (std::size_t word = 0; word < n; ++word) {
            const Step* own = wanted_arcs_.data() + (first + word) * width;
            std::int64_t* row = scores.data() + word * (n + 1);
            row[0] = product(own, weights_->arc_root.data(), width);
            for (std::size_t head = 0; head < n; ++head)
                row[head + 1] = product(own, arc_heads_.data() + (first + head) * width, width);
        }
    }

    // The scores of the relations of a sentence's words to their heads, a row for each word.
    void label_scores(std::size_t place, std::span<const std::int32_t> heads,
                      std::vector<float>& scores) {
        const BiaffineWeights& w = *weights_;
        const std::size_t n = size(place), first = begin(place), width = w.label_size();
        const std::size_t labels = w.n_labels(), padded = width + width % 2;
        chosen_.assign(n * padded, 0);
        for (std::size_t word = 0; word < n; ++word) {
            const Step* head = heads[word] == 0
                                   ? w.label_root.data()
                                   : label_heads_.data() + (first + heads[word] - 1) * padded;
            std::copy_n(head, width, chosen_.data() + word * padded);
        }
        const Step* own = label_dependents_.data() + first * padded;
        from_heads_.resize(n * labels);
        w.head_labels.multiply(chosen_.data(), n, from_heads_.data());
        from_dependents_.resize(n * labels);
        w.dependent_labels.multiply(own, n, from_dependents_.data());
        wanted_labels_.resize(n * labels * width);
        w.labels.multiply(own, n, wanted_labels_.data());
        wanted_steps_.resize(n * labels * width);
        round_to_steps(wanted_labels_.data(), wanted_labels_.size(), wanted_steps_.data());
        scores.resize(n * labels);
        constexpr float UNITS_PER_SQUARE_STEP = 1.0f / (STEPS_PER_UNIT * STEPS_PER_UNIT);
        for (std::size_t i = 0; i < n * labels; ++i) {
            const std::int64_t sum = product(wanted_steps_.data() + i * width,
                                             chosen_.data() + i / labels * padded, width);
            scores[i] = static_cast<float>(sum) * UNITS_PER_SQUARE_STEP + from_heads_[i] +
                        from_dependents_[i];
        }
    }

    // The scores of a word's tags, and of its categories.
    std::span<const float> tag_scores(std::size_t word) const {
        return {parts_.data() + (word + 1) * weights_->parts.rows() - weights_->n_categories() -
                    weights_->n_tags(),
                weights_->n_tags()};
    }
    std::span<const float> category_scores(std::size_t word) const {
        return {parts_.data() + (word + 1) * weights_->parts.rows() - weights_->n_categories(),
                weights_->n_categories()};
    }

private:
    WELLPUT_CLONES static std::int64_t product(const Step* a, const Step* b, std::size_t n) {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += std::int32_t{a[i]} * std::int32_t{b[i]};
        return sum;
    }

    void lay_out(const BiaffineInput& input, std::span<const std::size_t> group) {
        words_.assign(1, 0);
        pieces_.assign(1, 0);
        for (const std::size_t s : group) {
            words_.push_back(words_.back() +
                             static_cast<std::size_t>(input.begins[s + 1] - input.begins[s]));
            pieces_.push_back(pieces_.back() + static_cast<std::size_t>(input.piece_begins[s + 1] -
                                                                        input.piece_begins[s]));
        }
    }

    // The states of the small language model after each piece. Sentences with more words may have fewer
    // pieces, so those that are read to the end are skipped one by one.
    void read_pieces(const BiaffineInput& input, std::span<const std::size_t> group) {
        const BiaffineWeights& w = *weights_;
        const std::size_t size = w.piece_states.columns(), width = w.piece_gates.width();
        const std::size_t n = pieces_.back(), own = w.pieces.columns();
        steps_.assign(n * width, 0);
        units_.resize(n);
        for (std::size_t place = 0, row = 0; place < group.size(); ++place)
            for (std::int32_t at = input.piece_begins[group[place]];
                 at < input.piece_begins[group[place] + 1]; ++at, ++row) {
                const auto piece = static_cast<std::size_t>(input.pieces[at]);
                std::copy_n(w.pieces.steps(piece), own, steps_.data() + row * width);
                units_[row] = w.pieces.scale(piece);
            }
        gates_.resize(n * 3 * size);
        w.piece_gates.multiply(steps_.data(), n, units_.data(), true, gates_.data());
        read_.assign(n * size, 0.0f);
        std::size_t most = 0;
        for (std::size_t place = 0; place < group.size(); ++place)
            most = std::max(most, pieces_[place + 1] - pieces_[place]);
        const std::size_t padded = w.piece_states.width();
        for (std::size_t step = 0; step < most; ++step) {
            rows_.clear();
            for (std::size_t place = 0; place < group.size(); ++place)
                if (pieces_[place] + step < pieces_[place + 1])
                    rows_.push_back(pieces_[place] + step);
            state_steps_.assign(rows_.size() * padded, 0);
            for (std::size_t i = 0; step > 0 && i < rows_.size(); ++i)
                round_to_steps(read_.data() + (rows_[i] - 1) * size, size,
                               state_steps_.data() + i * padded);
            kept_.resize(rows_.size() * 3 * size);
            w.piece_states.multiply(state_steps_.data(), rows_.size(), kept_.data());
            for (std::size_t i = 0; i < rows_.size(); ++i) {
                float* const state = read_.data() + rows_[i] * size;
                if (step > 0) std::copy_n(state - size, size, state);
                gru_step(gates_.data() + rows_[i] * 3 * size, kept_.data() + i * 3 * size, size,
                         state);
            }
        }
    }

    // The vectors of words, letters and tags, and what was read of the words' pieces.
    void make_inputs(const BiaffineInput& input, std::span<const std::size_t> group) {
        const BiaffineWeights& w = *weights_;
        const std::size_t n = words_.back(), own = w.pieces.columns();
        const std::size_t size = w.piece_states.columns(), padded = w.read.width();
        steps_.assign(n * padded, 0);
        for_words(input, group, [&](std::size_t row, std::size_t word, std::size_t first) {
            const auto begin = first + static_cast<std::size_t>(input.spans[2 * word]);
            const auto end = first + static_cast<std::size_t>(input.spans[2 * word + 1]);
            mean_.assign(own, 0.0f);
            for (std::size_t piece = begin; piece <= end; ++piece)
                w.pieces.add_to(static_cast<std::size_t>(input.pieces[piece + piece_shift_]),
                                mean_.data());
            for (float& value : mean_) value /= static_cast<float>(end - begin + 1);
            Step* const to = steps_.data() + row * padded;
            round_to_steps(mean_.data(), own, to);
            round_to_steps(read_.data() + end * size, size, to + own);
        });
        parts_.resize(n * w.read.rows());
        w.read.multiply(steps_.data(), n, parts_.data());
        const std::size_t width = w.layers[0][0].inputs.width();
        steps_.assign(n * width, 0);
        for_words(input, group, [&](std::size_t row, std::size_t word, std::size_t) {
            mean_.assign(width, 0.0f);
            float* to = mean_.data();
            w.words.add_to(static_cast<std::size_t>(input.words[word]), to);
            to += w.words.columns();
            for (std::size_t i = 0; i < input.n_affixes; ++i)
                w.affixes.add_to(
                    static_cast<std::size_t>(input.affixes[word * input.n_affixes + i]), to);
            to += w.affixes.columns();
            w.tags.add_to(static_cast<std::size_t>(input.tags[word]), to);
            to += w.tags.columns();
            std::copy_n(parts_.data() + row * w.read.rows(), w.read.rows(), to);
            round_to_steps(mean_.data(), width, steps_.data() + row * width);
        });
    }

    // visit(row in the group, word among all, the row of the sentence's first piece)
    template <typename Visit>
    void for_words(const BiaffineInput& input, std::span<const std::size_t> group, Visit visit) {
        for (std::size_t place = 0; place < group.size(); ++place) {
            piece_shift_ =
                static_cast<std::size_t>(input.piece_begins[group[place]]) - pieces_[place];
            const auto first = static_cast<std::size_t>(input.begins[group[place]]);
            for (std::size_t i = 0; i < size(place); ++i)
                visit(begin(place) + i, first + i, pieces_[place]);
        }
    }

    // Reads the rows of `steps_` in both directions, and puts the states in their place.
    void run_layer(const std::array<BiaffineWeights::Side, 2>& layer) {
        const std::size_t n = words_.back(), size = layer[0].states.columns();
        both_.resize(n * 2 * size);
        for (std::size_t side = 0; side < 2; ++side) run_side(layer[side], side == 1, size);
        const std::size_t width = 2 * size;
        steps_.resize(n * width);
        round_to_steps(both_.data(), n * width, steps_.data());
    }

    void run_side(const BiaffineWeights::Side& side, bool is_backward, std::size_t size) {
        const std::size_t n = words_.back(), sentences = words_.size() - 1;
        gates_.resize(n * 4 * size);
        side.inputs.multiply(steps_.data(), n, gates_.data());
        const std::size_t padded = side.states.width();
        cells_.assign(sentences * size, 0.0f);
        state_steps_.assign(sentences * padded, 0);
        kept_.resize(sentences * 4 * size);
        std::size_t active = sentences;
        for (std::size_t step = 0; step < this->size(0); ++step) {
            while (this->size(active - 1) <= step) --active;
            side.states.multiply(state_steps_.data(), active, kept_.data());
            for (std::size_t place = 0; place < active; ++place) {
                const std::size_t word =
                    is_backward ? words_[place + 1] - 1 - step : words_[place] + step;
                float* const state = both_.data() + word * 2 * size + (is_backward ? size : 0);
                lstm_step(gates_.data() + word * 4 * size, kept_.data() + place * 4 * size, size,
                          cells_.data() + place * size, state);
                round_to_steps(state, size, state_steps_.data() + place * padded);
            }
        }
    }

    // The parts of each word, rounded; and the vectors whose products with heads are the arcs' scores.
    void find_wanted(std::size_t n, std::size_t rows) {
        const BiaffineWeights& w = *weights_;
        const std::size_t arc = w.arc_size(), label = w.label_size();
        const std::size_t arc_width = w.arcs.width(), label_width = label + label % 2;
        arc_heads_.resize(n * arc);
        steps_.assign(n * arc_width, 0);
        label_heads_.assign(n * label_width, 0);
        label_dependents_.assign(n * label_width, 0);
        for (std::size_t word = 0; word < n; ++word) {
            float* const own = parts_.data() + word * rows;
            for (std::size_t i = 0; i < 2 * arc + 2 * label; ++i)  // a leaky rectifier
                own[i] = own[i] < 0.0f ? 0.125f * own[i] : own[i];
            round_to_steps(own, arc, arc_heads_.data() + word * arc);
            round_to_steps(own + arc, arc, steps_.data() + word * arc_width);
            round_to_steps(own + 2 * arc, label, label_heads_.data() + word * label_width);
            round_to_steps(own + 2 * arc + label, label,
                           label_dependents_.data() + word * label_width);
        }
        wanted_.resize(n * arc);
        w.arcs.multiply(steps_.data(), n, wanted_.data());
        wanted_arcs_.resize(n * arc);
        round_to_steps(wanted_.data(), n * arc, wanted_arcs_.data());
    }

    const BiaffineWeights* weights_;
    std::vector<std::size_t> words_, pieces_, rows_;  // where the group's sentences begin
    std::size_t piece_shift_ = 0;
    std::vector<Step> steps_, state_steps_, arc_heads_, wanted_arcs_, label_heads_,
        label_dependents_, chosen_, wanted_steps_;
    std::vector<float> units_, gates_, read_, kept_, mean_, parts_, both_, cells_, wanted_,
        from_heads_, from_dependents_, wanted_labels_;
};

}  // namespace wellput
