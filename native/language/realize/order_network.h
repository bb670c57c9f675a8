// The order network: a small transformer reads the words of an unordered tree, and a scorer chooses
// the next item of a treelet among those left (benchmarks/language/order_network_training.py trains
// it). An item is the head's own word, or a daughter with all words below her. Weights are whole
// numbers with a scale for each row; sums of products are whole numbers too, so the result depends
// neither on the processor nor on what is computed together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/checks.h"
#include "language/learning/whole_matrix.h"

namespace wellput {

// Before vectors are multiplied by a matrix or by another vector, they are rounded to whole numbers of
// steps, at most this many on either side of 0. Sums of up to MAX_SUMMED_PRODUCTS products of two
// vectors fit into 32 bits.
inline constexpr float MAX_STEPS_FOR_MATRIX = 8191.0f, MAX_STEPS_FOR_VECTOR = 2047.0f;
inline constexpr std::size_t MAX_SUMMED_PRODUCTS = 512;

// The product of one vector with each of `n` others.
void vector_products(const std::int16_t* vector, std::size_t columns, const std::int16_t* others,
                     std::size_t n, std::int32_t* sums);
// Rounds a vector to whole numbers up to `steps`; returns the size of a step.
float rounded(const float* values, std::size_t n, float steps, std::int16_t* whole);
// Changes scores into their exponentials, divided by the sum of these (softmax).
void soft_shares(float* scores, std::size_t n);

// The products of a matrix with `n` vectors of any numbers: each is rounded to whole numbers first.
// `to` gets n vectors of `matrix.rows()` values.
void multiply(const WholeMatrix& matrix, const float* from, std::size_t n, std::vector<float>& to);

struct Normalization {
    std::vector<float> gain, bias;
    void apply(const float* from, std::size_t n, std::vector<float>& to) const;
};

// A layer: attention, then a network with one inner layer. Each gets normalized vectors, and its result
// is added to the vectors.
struct OrderLayer {
    Normalization before, between;  // of the input of the attention, and of that of the network
    WholeMatrix attention;          // queries, keys and values of all attention heads
    WholeMatrix joined;             // of what the attention heads found
    WholeMatrix inner, outer;       // of the network
    std::vector<float> place_bias;  // attention head × place of a word to another (`place_of`)
};

// A tree's words as numbers; mothers come before their daughters.
struct NumberedTree {
    static constexpr std::size_t WORD_NUMBERS =
        10;  // word, ending, shape, 4 pieces, 3 for the label
    std::vector<const std::int32_t*> numbers;
    std::vector<std::uint32_t> mothers;  // the root is its own
};

// What the scorer knows of each word of a tree.
struct ReadTree {
    std::vector<float> words;     // as a daughter, which is an item of her mother's treelet
    std::vector<float> heads;     // as the head, which is an item of its own treelet
    std::vector<float> ends;      // as the first or last word of an item
    std::vector<float> contexts;  // where the ordering of its own treelet starts
};

class OrderNetwork {
public:
    static constexpr std::size_t PLACE_KINDS = 10, WORD_PIECES = 4, VECTOR_TABLES = 9;
    static constexpr std::size_t MAX_TREE_WORDS = 400;  // longer trees do without the network

    WholeVectors pieces;
    std::vector<WholeVectors> tables;
    WholeMatrix from_pieces, as_head, items, ends, context, query;
    std::vector<OrderLayer> layers;
    Normalization last;
    // What stands for a missing item at the beginning: as the last one, as the one before it, and in
    // the query as the last one.
    std::vector<float> starts;
    std::size_t attention_heads = 1;

    std::size_t decoder_size() const { return query.columns(); }
    std::size_t query_size() const { return query.rows(); }
    // Throws std::invalid_argument unless all parts fit together.
    void check() const;
    // Throws std::invalid_argument if a number is beyond its table.
    void check_numbers(std::span<const std::int32_t> numbers) const;
    ReadTree read(const NumberedTree& tree) const;

private:
    std::vector<float> words_of(const NumberedTree& tree) const;
    void add_attention(const OrderLayer& layer, const std::vector<std::uint8_t>& places,
                       std::size_t n, std::vector<float>& x) const;
};

// The steps of ordering one treelet; each places one item. A state is a vector of what is placed and
// what is left.
class OrderSteps {
public:
    struct Item {
        std::size_t word, first, last;  // places in the read tree
    };

    void start(const OrderNetwork& network, const ReadTree& tree, std::span<const Item> items);
    std::size_t size() const { return n_; }
    std::size_t state_size() const { return decoder_size_ + query_size_; }
    void first_state(float* state) const;
    // Changes the state to that after the item is placed.
    void place(std::size_t item, float* state) const;
    // The log probability that each item which is not used comes next. `last` is the item placed last,
    // `before_last` the one before it; `size()` stands for none.
    void next(const float* state, std::size_t last, std::size_t before_last,
              std::span<const std::uint64_t> used, std::vector<float>& found);

private:
    const OrderNetwork* network_ = nullptr;
    std::size_t n_ = 0, decoder_size_ = 0, query_size_ = 0;
    std::vector<float> context_;  // the part of the first state that depends on the head
    // By item: what it adds to the next choice as the last item (training calls this `before`) and as
    // the one before it (`earlier`), to the state once it is placed, to the query as the last item
    // (`before_query`), and to the query while it is left.
    std::vector<float> as_last_, as_before_last_, placed_, query_as_last_, query_if_left_;
    std::vector<std::int16_t> keys_, whole_query_;  // in steps
    std::vector<float> key_steps_;                  // by item: the size of a step of its key
    std::vector<float> hidden_, query_;
};

}  // namespace wellput
