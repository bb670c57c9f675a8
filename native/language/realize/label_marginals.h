// Probabilities of the labels of a tree's words under a log-linear model.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "language/realize/unordered_trees.h"

namespace wellput {

// The logarithm of the sum of the values' exponentials.
inline float log_sum(std::span<const float> values) {
    const float most = *std::max_element(values.begin(), values.end());
    float sum = 0;
    for (const float value : values) sum += std::exp(value - most);
    return most + std::log(sum);
}

// The probability of each label of each word of a tree, and of each pair of labels of a mother and
// her daughter: sums over all labelings, from the bottom up and down again. A label is its place among
// the word's candidates.
class LabelMarginals {
public:
    // `local[word]` has a score for each candidate; edge(word, m, d) is the score of a word's d-th
    // candidate under her mother's m-th.
    template <typename Edge>
    void compute(const UnorderedTree& tree, const std::vector<std::vector<float>>& local,
                 Edge edge) {
        inside_ = local;
        edges_.resize(tree.size());
        messages_.resize(tree.size());
        outside_.resize(tree.size());
        const auto& downwards = tree.downwards();
        for (auto word = downwards.rbegin(); word != downwards.rend(); ++word)
            for (const std::uint32_t daughter : tree.daughters(*word))
                gather(*word, daughter, edge);
        const std::uint32_t root = tree.root();
        outside_[root].assign(inside_[root].size(), 0.0f);
        total_ = log_sum(inside_[root]);
        for (const std::uint32_t word : downwards)
            for (const std::uint32_t daughter : tree.daughters(word)) spread(word, daughter);
    }
    float of_label(std::uint32_t word, std::size_t label) const {
        return std::exp(inside_[word][label] + outside_[word][label] - total_);
    }
    float of_pair(std::uint32_t mother, std::uint32_t word, std::size_t m, std::size_t d) const {
        return std::exp(above(mother, word, m) + edges_[word][m * inside_[word].size() + d] +
                        inside_[word][d] - total_);
    }

private:
    // From the daughter up to the word.
    template <typename Edge>
    void gather(std::uint32_t word, std::uint32_t daughter, Edge edge) {
        const std::size_t n = inside_[daughter].size();
        auto& edges = edges_[daughter];
        auto& message = messages_[daughter];
        edges.resize(inside_[word].size() * n);
        message.resize(inside_[word].size());
        sums_.resize(n);
        for (std::size_t m = 0; m < message.size(); ++m) {
            for (std::size_t d = 0; d < n; ++d) {
                edges[m * n + d] = edge(daughter, m, d);
                sums_[d] = inside_[daughter][d] + edges[m * n + d];
            }
            message[m] = log_sum(sums_);
            inside_[word][m] += message[m];
        }
    }
    // From the word down to the daughter.
    void spread(std::uint32_t word, std::uint32_t daughter) {
        const std::size_t n = inside_[daughter].size();
        auto& outside = outside_[daughter];
        outside.resize(n);
        sums_.resize(inside_[word].size());
        for (std::size_t d = 0; d < n; ++d) {
            for (std::size_t m = 0; m < sums_.size(); ++m)
                sums_[m] = above(word, daughter, m) + edges_[daughter][m * n + d];
            outside[d] = log_sum(sums_);
        }
    }
    // The score of a mother's label without the daughter's part.
    float above(std::uint32_t mother, std::uint32_t daughter, std::size_t m) const {
        return inside_[mother][m] + outside_[mother][m] - messages_[daughter][m];
    }

    // By word, logarithms of sums over labelings: inside_ by label, of the word and all below it;
    // outside_ by label, of all other words; messages_ by the mother's label, of the word and all below
    // it under that label. edges_ has the scores of the edge to the mother, by both labels.
    std::vector<std::vector<float>> inside_, outside_, edges_, messages_;
    std::vector<float> sums_;
    float total_ = 0;  // of all words
};

}  // namespace wellput
