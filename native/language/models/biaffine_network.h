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
    // The GRU: one is multiplied with a piece, the other with the state before. Both have rows for the
    // reset gate, the update gate and the new state.
    WholeMatrix piece_gates, piece_states;
    WholeMatrix read;  // makes a vector of a word from its pieces and the GRU's state after them
    // An LSTM: one is multiplied with the input, the other with the state before. Both have rows for
    // the input gate, the forget gate, the new cell and the output gate.
    struct Side {
        WholeMatrix inputs, states;
    };
    std::array<std::array<Side, 2>, 2> layers;  // in each layer forward and backward
    // Makes the parts of each word: its vectors as head and as dependent of arcs, as head and as
    // dependent for labels (relations), and the scores of its tags (XPOS) and of its categories (UPOS).
    WholeMatrix parts;
    // `arcs` and `labels` stand between a dependent's vector and a head's vector in the scores of arcs
    // and labels. The other two give what the head and the dependent each add to the score of a label.
    WholeMatrix arcs, labels, head_labels, dependent_labels;
    std::vector<Step> arc_root, label_root;  // the vectors of 0, the root's head

    std::size_t arc_size() const { return arc_root.size(); }
    std::size_t label_size() const { return label_root.size(); }
    std::size_t n_labels() const { return head_labels.rows(); }
    std::size_t n_tags() const { return tags.rows() - 1; }  // the last vector is for unknown tags
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
        const std::size_t side_size = layers[0][0].states.columns();
        for (const auto& layer : layers) {
            for (const Side& side : layer) {
                fits(side.inputs, 4 * side_size, width);
                fits(side.states, 4 * side_size, side_size);
            }
            width = 2 * side_size;
        }
        require(parts.rows() > 2 * arc_size() + 2 * label_size() + n_tags(), wrong);
        fits(parts, parts.rows(), width);
        fits(arcs, arc_size(), arc_size());
        fits(head_labels, n_labels(), label_size());
        fits(dependent_labels, n_labels(), label_size());
        fits(labels, n_labels() * label_size(), label_size());
    }
};

// Sentences as numbers (InputCoder in biaffine_parser.py makes them): rows of all words of all
// sentences, and of all their pieces.
struct BiaffineInput {
    std::size_t n_affixes;                       // of each word
    std::span<const std::int32_t> begins;        // of each sentence's words, and the end
    std::span<const std::int32_t> piece_begins;  // of each sentence's pieces, and the end
    const std::int32_t *words, *affixes, *tags;  // by word
    const std::int32_t* spans;  // by word: its first and last piece in the sentence
    std::span<const std::int32_t> pieces;
};

// A gate is computed from the sum of two products: with the input, and with the state before.
WELLPUT_INLINE void load_sum(Eight& sum, const float* from_input, const float* from_state,
                             std::size_t n) {
    Eight other;
    load(sum, from_input, n);
    load(other, from_state, n);
    sum = sum + other;
}

// `state` is the state before, and becomes the new one.
WELLPUT_CLONES inline void gru_step(const float* from_input, const float* from_state,
                                    std::size_t size, float* state) {
    for (std::size_t i = 0; i < size; i += VECTOR_FLOATS) {
        const std::size_t n = size - i;
        Eight reset, update, candidate, before;
        load_sum(reset, from_input + i, from_state + i, n);
        take_sigmoid(reset);
        load_sum(update, from_input + size + i, from_state + size + i, n);
        take_sigmoid(update);
        load(candidate, from_input + 2 * size + i, n);
        load(before, from_state + 2 * size + i, n);
        candidate = candidate + reset * before;
        take_tanh(candidate);
        load(before, state + i, n);
        store(candidate + update * (before - candidate), state + i, n);
    }
}

WELLPUT_CLONES inline void lstm_step(const float* from_input, const float* from_state,
                                     std::size_t size, float* cell, float* state) {
    for (std::size_t i = 0; i < size; i += VECTOR_FLOATS) {
        const std::size_t n = size - i;
        Eight in, forget, candidate, out, memory;
        load_sum(in, from_input + i, from_state + i, n);
        take_sigmoid(in);
        load_sum(forget, from_input + size + i, from_state + size + i, n);
        take_sigmoid(forget);
        load_sum(candidate, from_input + 2 * size + i, from_state + 2 * size + i, n);
        take_tanh(candidate);
        load_sum(out, from_input + 3 * size + i, from_state + 3 * size + i, n);
        take_sigmoid(out);
        load(memory, cell + i, n);
        memory = forget * memory + in * candidate;
        store(memory, cell + i, n);
        take_tanh(memory);
        store(out * memory, state + i, n);
    }
}

// The words of a group of sentences on their way through the network. `place` is a sentence's place in
// the group.
//
// A dependent's *query* is its vector times the matrix `arcs` (or a label's part of `labels`). The
// product of the query with a head's vector is the score of the arc (or a part of the label's score).
class BiaffineRun {
public:
    explicit BiaffineRun(const BiaffineWeights& weights) : weights_(&weights) {}

    // `group` has the numbers of the sentences, the longest first.
    void run(const BiaffineInput& input, std::span<const std::size_t> group) {
        lay_out(input, group);
        read_pieces(input, group);
        make_inputs(input, group);
        for (const auto& layer : weights_->layers) run_layer(layer);
        const std::size_t n = word_begins_.back(), rows = weights_->parts.rows();
        parts_.resize(n * rows);
        weights_->parts.multiply(steps_.data(), n, parts_.data());
        make_heads_and_queries(n, rows);
    }

    // The first word of a sentence in the group, and its number of words.
    std::size_t begin(std::size_t place) const { return word_begins_[place]; }
    std::size_t size(std::size_t place) const {
        return word_begins_[place + 1] - word_begins_[place];
    }

    // The scores of the heads of all words of a sentence: a row each, the root first.
    void arc_scores(std::size_t place, std::vector<std::int64_t>& scores) const {
        const std::size_t n = size(place), first = begin(place), width = weights_->arc_size();
        scores.resize(n * (n + 1));
        for (std::size_t word = 0; word < n; ++word) {
            const Step* query = arc_queries_.data() + (first + word) * width;
            std::int64_t* row = scores.data() + word * (n + 1);
            row[0] = product(query, weights_->arc_root.data(), width);
            for (std::size_t head = 0; head < n; ++head)
                row[head + 1] = product(query, arc_heads_.data() + (first + head) * width, width);
        }
    }

    // The scores of the relations of a sentence's words to their heads, a row for each word.
    void label_scores(std::size_t place, std::span<const std::int32_t> heads,
                      std::vector<float>& scores) {
        const BiaffineWeights& w = *weights_;
        const std::size_t n = size(place), first = begin(place), width = w.label_size();
        const std::size_t labels = w.n_labels(), padded = width + width % 2;
        chosen_heads_.assign(n * padded, 0);
        for (std::size_t word = 0; word < n; ++word) {
            const Step* head = heads[word] == 0
                                   ? w.label_root.data()
                                   : label_heads_.data() + (first + heads[word] - 1) * padded;
            std::copy_n(head, width, chosen_heads_.data() + word * padded);
        }
        const Step* dependents = label_dependents_.data() + first * padded;
        from_heads_.resize(n * labels);
        w.head_labels.multiply(chosen_heads_.data(), n, from_heads_.data());
        from_dependents_.resize(n * labels);
        w.dependent_labels.multiply(dependents, n, from_dependents_.data());
        label_query_values_.resize(n * labels * width);
        w.labels.multiply(dependents, n, label_query_values_.data());
        label_queries_.resize(n * labels * width);
        round_to_steps(label_query_values_.data(), label_query_values_.size(),
                       label_queries_.data());
        scores.resize(n * labels);
        constexpr float UNITS_PER_SQUARE_STEP = 1.0f / (STEPS_PER_UNIT * STEPS_PER_UNIT);
        for (std::size_t i = 0; i < n * labels; ++i) {
            const std::int64_t sum = product(label_queries_.data() + i * width,
                                             chosen_heads_.data() + i / labels * padded, width);
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
        word_begins_.assign(1, 0);
        piece_begins_.assign(1, 0);
        for (const std::size_t s : group) {
            word_begins_.push_back(word_begins_.back() +
                                   static_cast<std::size_t>(input.begins[s + 1] - input.begins[s]));
            piece_begins_.push_back(
                piece_begins_.back() +
                static_cast<std::size_t>(input.piece_begins[s + 1] - input.piece_begins[s]));
        }
    }

    // The states of the small language model after each piece. A sentence with more words than another
    // may have fewer pieces, so each step looks for the sentences that still have a piece.
    void read_pieces(const BiaffineInput& input, std::span<const std::size_t> group) {
        const BiaffineWeights& w = *weights_;
        const std::size_t size = w.piece_states.columns(), width = w.piece_gates.width();
        const std::size_t n = piece_begins_.back(), piece_size = w.pieces.columns();
        steps_.assign(n * width, 0);
        units_.resize(n);
        for (std::size_t place = 0, row = 0; place < group.size(); ++place)
            for (std::int32_t at = input.piece_begins[group[place]];
                 at < input.piece_begins[group[place] + 1]; ++at, ++row) {
                const auto piece = static_cast<std::size_t>(input.pieces[at]);
                std::copy_n(w.pieces.steps(piece), piece_size, steps_.data() + row * width);
                units_[row] = w.pieces.scale(piece);
            }
        input_gates_.resize(n * 3 * size);
        w.piece_gates.multiply(steps_.data(), n, units_.data(), true, input_gates_.data());
        piece_states_.assign(n * size, 0.0f);
        std::size_t most_pieces = 0;
        for (std::size_t place = 0; place < group.size(); ++place)
            most_pieces = std::max(most_pieces, piece_begins_[place + 1] - piece_begins_[place]);
        const std::size_t padded = w.piece_states.width();
        for (std::size_t step = 0; step < most_pieces; ++step) {
            read_rows_.clear();
            for (std::size_t place = 0; place < group.size(); ++place)
                if (piece_begins_[place] + step < piece_begins_[place + 1])
                    read_rows_.push_back(piece_begins_[place] + step);
            state_steps_.assign(read_rows_.size() * padded, 0);
            for (std::size_t i = 0; step > 0 && i < read_rows_.size(); ++i)
                round_to_steps(piece_states_.data() + (read_rows_[i] - 1) * size, size,
                               state_steps_.data() + i * padded);
            state_gates_.resize(read_rows_.size() * 3 * size);
            w.piece_states.multiply(state_steps_.data(), read_rows_.size(), state_gates_.data());
            for (std::size_t i = 0; i < read_rows_.size(); ++i) {
                float* const state = piece_states_.data() + read_rows_[i] * size;
                if (step > 0) std::copy_n(state - size, size, state);
                gru_step(input_gates_.data() + read_rows_[i] * 3 * size,
                         state_gates_.data() + i * 3 * size, size, state);
            }
        }
    }

    // Puts into steps_ the vectors of words, letters and tags, and what was read of the words' pieces.
    void make_inputs(const BiaffineInput& input, std::span<const std::size_t> group) {
        const BiaffineWeights& w = *weights_;
        const std::size_t n = word_begins_.back(), piece_size = w.pieces.columns();
        const std::size_t size = w.piece_states.columns(), padded = w.read.width();
        steps_.assign(n * padded, 0);
        for_words(input, group, [&](std::size_t row, std::size_t word, std::size_t first) {
            const auto begin = first + static_cast<std::size_t>(input.spans[2 * word]);
            const auto end = first + static_cast<std::size_t>(input.spans[2 * word + 1]);
            values_.assign(piece_size, 0.0f);
            for (std::size_t piece = begin; piece <= end; ++piece)
                w.pieces.add_to(static_cast<std::size_t>(input.pieces[piece + piece_shift_]),
                                values_.data());
            for (float& value : values_) value /= static_cast<float>(end - begin + 1);
            Step* const to = steps_.data() + row * padded;
            round_to_steps(values_.data(), piece_size, to);
            round_to_steps(piece_states_.data() + end * size, size, to + piece_size);
        });
        // Until the layers have been run, parts_ has the words' vectors.
        parts_.resize(n * w.read.rows());
        w.read.multiply(steps_.data(), n, parts_.data());
        const std::size_t width = w.layers[0][0].inputs.width();
        steps_.assign(n * width, 0);
        for_words(input, group, [&](std::size_t row, std::size_t word, std::size_t) {
            values_.assign(width, 0.0f);
            float* to = values_.data();
            w.words.add_to(static_cast<std::size_t>(input.words[word]), to);
            to += w.words.columns();
            for (std::size_t i = 0; i < input.n_affixes; ++i)
                w.affixes.add_to(
                    static_cast<std::size_t>(input.affixes[word * input.n_affixes + i]), to);
            to += w.affixes.columns();
            w.tags.add_to(static_cast<std::size_t>(input.tags[word]), to);
            to += w.tags.columns();
            std::copy_n(parts_.data() + row * w.read.rows(), w.read.rows(), to);
            round_to_steps(values_.data(), width, steps_.data() + row * width);
        });
    }

    // Calls visit(row, word, first piece): the word's row in the group, its number among all words, and
    // the row in the group of its sentence's first piece.
    template <typename Visit>
    void for_words(const BiaffineInput& input, std::span<const std::size_t> group, Visit visit) {
        for (std::size_t place = 0; place < group.size(); ++place) {
            piece_shift_ =
                static_cast<std::size_t>(input.piece_begins[group[place]]) - piece_begins_[place];
            const auto first = static_cast<std::size_t>(input.begins[group[place]]);
            for (std::size_t i = 0; i < size(place); ++i)
                visit(begin(place) + i, first + i, piece_begins_[place]);
        }
    }

    // Reads the rows of `steps_` in both directions, and replaces them by the states.
    void run_layer(const std::array<BiaffineWeights::Side, 2>& layer) {
        const std::size_t n = word_begins_.back(), size = layer[0].states.columns();
        layer_states_.resize(n * 2 * size);
        for (std::size_t side = 0; side < 2; ++side) run_side(layer[side], side == 1, size);
        const std::size_t width = 2 * size;
        steps_.resize(n * width);
        round_to_steps(layer_states_.data(), n * width, steps_.data());
    }

    void run_side(const BiaffineWeights::Side& side, bool is_backward, std::size_t size) {
        const std::size_t n = word_begins_.back(), sentences = word_begins_.size() - 1;
        input_gates_.resize(n * 4 * size);
        side.inputs.multiply(steps_.data(), n, input_gates_.data());
        const std::size_t padded = side.states.width();
        cells_.assign(sentences * size, 0.0f);
        state_steps_.assign(sentences * padded, 0);
        state_gates_.resize(sentences * 4 * size);
        std::size_t active = sentences;
        for (std::size_t step = 0; step < this->size(0); ++step) {
            while (this->size(active - 1) <= step) --active;
            side.states.multiply(state_steps_.data(), active, state_gates_.data());
            for (std::size_t place = 0; place < active; ++place) {
                const std::size_t word =
                    is_backward ? word_begins_[place + 1] - 1 - step : word_begins_[place] + step;
                float* const state =
                    layer_states_.data() + word * 2 * size + (is_backward ? size : 0);
                lstm_step(input_gates_.data() + word * 4 * size,
                          state_gates_.data() + place * 4 * size, size,
                          cells_.data() + place * size, state);
                round_to_steps(state, size, state_steps_.data() + place * padded);
            }
        }
    }

    // The parts of each word, rounded, and the queries of arcs.
    void make_heads_and_queries(std::size_t n, std::size_t rows) {
        const BiaffineWeights& w = *weights_;
        const std::size_t arc = w.arc_size(), label = w.label_size();
        const std::size_t arc_width = w.arcs.width(), label_width = label + label % 2;
        arc_heads_.resize(n * arc);
        steps_.assign(n * arc_width, 0);
        label_heads_.assign(n * label_width, 0);
        label_dependents_.assign(n * label_width, 0);
        for (std::size_t word = 0; word < n; ++word) {
            float* const parts = parts_.data() + word * rows;
            for (std::size_t i = 0; i < 2 * arc + 2 * label; ++i)  // a leaky rectifier
                parts[i] = parts[i] < 0.0f ? 0.125f * parts[i] : parts[i];
            round_to_steps(parts, arc, arc_heads_.data() + word * arc);
            round_to_steps(parts + arc, arc, steps_.data() + word * arc_width);
            round_to_steps(parts + 2 * arc, label, label_heads_.data() + word * label_width);
            round_to_steps(parts + 2 * arc + label, label,
                           label_dependents_.data() + word * label_width);
        }
        arc_query_values_.resize(n * arc);
        w.arcs.multiply(steps_.data(), n, arc_query_values_.data());
        arc_queries_.resize(n * arc);
        round_to_steps(arc_query_values_.data(), n * arc, arc_queries_.data());
    }

    const BiaffineWeights* weights_;
    // Where each sentence's words and pieces begin in the group, and where the last ones end.
    std::vector<std::size_t> word_begins_, piece_begins_;
    std::vector<std::size_t> read_rows_;  // the rows of the pieces that are read in one step
    // In `for_words`: a piece's place in the input minus its row in the group.
    std::size_t piece_shift_ = 0;
    std::vector<Step> steps_, state_steps_, arc_heads_, arc_queries_, label_heads_,
        label_dependents_, chosen_heads_, label_queries_;
    // `values_` are those of one word before they are rounded.
    std::vector<float> units_, input_gates_, piece_states_, state_gates_, values_, parts_,
        layer_states_, cells_, arc_query_values_, from_heads_, from_dependents_,
        label_query_values_;
};

}  // namespace wellput
