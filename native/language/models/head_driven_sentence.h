// A sentence as the head-driven chart sees it: words with the tags of a lattice, numbered, and the
// probabilities of its words.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "language/models/head_driven_model.h"

namespace wellput {

struct Lattice {
    std::size_t n = 0;
    const std::int32_t* words = nullptr;
    const std::int64_t* starts = nullptr;  // n + 1: word i's tags are from starts[i] on
    const std::int32_t* tags = nullptr;
    const float* weights = nullptr;  // by tag of the lattice: a factor for the best tree alone
};

// Nodes are words with a tag.
class HeadDrivenSentence {
public:
    explicit HeadDrivenSentence(const HeadDrivenModel& model) : model_(model) {}

    // No half span and no arc reaches further than `limit` words.
    void prepare(const Lattice& lattice, std::size_t limit) {
        lattice_ = lattice;
        n_ = lattice.n;
        width_ = limit < n_ ? limit + 1 : n_;
        number_tags();
        emissions();
    }

    double log_unigrams() const {
        double total = 0;
        for (std::size_t i = 0; i < n_; ++i)
            total += static_cast<double>(model_.unigrams[lattice_.words[i]]);
        return total;
    }

protected:
    // Local numbers: START is the first of the classes, STOP the first of the tags.
    static constexpr std::size_t START = 0, STOP = 0;

    static constexpr std::size_t NONE = static_cast<std::size_t>(-1);

    std::size_t first(std::size_t word) const {
        return static_cast<std::size_t>(lattice_.starts[word] - lattice_.starts[0]);
    }
    std::size_t last(std::size_t word) const { return first(word + 1); }
    std::size_t tag(std::size_t node) const {
        return static_cast<std::size_t>(tags_[local_[node]]);
    }
    std::size_t class_number(std::size_t cls) const {
        return static_cast<std::size_t>(class_numbers_[cls]);
    }
    std::uint32_t word_at(std::size_t word) const {
        return static_cast<std::uint32_t>(lattice_.words[word]);
    }
    double& arc(std::vector<double>& arcs, std::size_t head, std::size_t reach, std::size_t k) {
        return arcs[(head * width_ + reach) * most_tags_ + k];
    }

    const HeadDrivenModel& model_;
    Lattice lattice_;
    std::size_t n_ = 0, width_ = 0, most_tags_ = 0, n_local_tags_ = 0, n_local_classes_ = 0;
    // By node its tag and its word; by tag its class, and the first word that may have it.
    std::vector<std::size_t> local_, word_of_, local_class_, first_place_;
    std::vector<std::int32_t> tags_, class_numbers_;  // in the model
    std::vector<std::size_t> place_of_;               // by the model's tag
    std::vector<std::size_t> tags_from_;  // how many tags the words from a place on have
    std::vector<double> next_word_, first_word_, root_, head_word_;

private:
    // The tags and classes of this sentence, numbered from 1.
    void number_tags() {
        const std::size_t n_nodes = first(n_);
        local_.assign(n_nodes, 0);
        word_of_.assign(n_nodes, 0);
        tags_.assign(1, -1);
        class_numbers_.assign(1, static_cast<std::int32_t>(model_.n_classes));
        tag_slots_.resize(model_.n_tags, 0);
        class_slots_.resize(model_.n_classes, 0);
        most_tags_ = 0;
        tags_from_.assign(n_ + 1, 1);
        // From the last word on: the tags of the words from some place on have the first numbers.
        for (std::size_t word = n_; word-- > 0;) {
            most_tags_ = std::max(most_tags_, last(word) - first(word));
            for (std::size_t node = first(word); node < last(word); ++node) {
                word_of_[node] = word;
                const std::int32_t tag =
                    lattice_.tags[lattice_.starts[0] + static_cast<std::int64_t>(node)];
                auto& slot = tag_slots_[static_cast<std::size_t>(tag)];
                if (!slot) {
                    slot = static_cast<std::int32_t>(tags_.size());
                    tags_.push_back(tag);
                    const std::int32_t cls = model_.classes[tag];
                    auto& class_slot = class_slots_[static_cast<std::size_t>(cls)];
                    if (!class_slot) {
                        class_slot = static_cast<std::int32_t>(class_numbers_.size());
                        class_numbers_.push_back(cls);
                    }
                }
                local_[node] = static_cast<std::size_t>(slot);
            }
            tags_from_[word] = tags_.size();
            first_place_.resize(tags_.size());
            for (std::size_t node = first(word); node < last(word); ++node)
                first_place_[local_[node]] = word;
        }
        n_local_tags_ = tags_.size();
        n_local_classes_ = class_numbers_.size();
        local_class_.assign(n_local_tags_, START);
        for (std::size_t t = 1; t < n_local_tags_; ++t)
            local_class_[t] = static_cast<std::size_t>(
                class_slots_[static_cast<std::size_t>(model_.classes[tags_[t]])]);
        for (std::size_t t = 1; t < n_local_tags_; ++t) {
            class_slots_[static_cast<std::size_t>(model_.classes[tags_[t]])] = 0;
            tag_slots_[static_cast<std::size_t>(tags_[t])] = 0;
        }
        place_of_.assign(model_.n_tags + 1, NONE);
        place_of_[model_.stop()] = STOP;
        for (std::size_t t = 1; t < n_local_tags_; ++t)
            place_of_[static_cast<std::size_t>(tags_[t])] = t;
    }

    // Word probabilities over unigram ones: by node, and for a head to the left by pair of nodes.
    void emissions() {
        const std::size_t n_nodes = word_of_.size();
        next_word_.resize(n_nodes);
        first_word_.resize(n_nodes);
        root_.resize(n_nodes);
        head_word_.assign(n_nodes * width_ * most_tags_, 0.0);
        for (std::size_t i = 0; i < n_; ++i) {
            const std::uint32_t word = word_at(i);
            const std::uint32_t before = i > 0 ? word_at(i - 1) : model_.sentence_start;
            const std::uint32_t before_that = i > 1 ? word_at(i - 2) : model_.sentence_start;
            const double scale = std::exp(-static_cast<double>(model_.unigrams[word]));
            for (std::size_t node = first(i); node < last(i); ++node) {
                const double plain = model_.plain_word(word, tag(node));
                next_word_[node] =
                    scale * model_.next_word(word, tag(node), before, before_that, plain);
                first_word_[node] = scale * model_.next_word(word, tag(node), model_.sentence_start,
                                                             model_.sentence_start, plain);
                root_[node] = next_word_[node] * model_.root(tag(node));
                for (std::size_t h = i >= width_ ? i - width_ + 1 : 0; h < i; ++h) {
                    const BackoffChain under = model_.under_head(tag(node), word_at(h));
                    for (std::size_t head = first(h); head < last(h); ++head) {
                        const double p = model_.under_head_tag(word, tag(node), tag(head), plain);
                        arc(head_word_, head, i - h, node - first(i)) =
                            (1 - model_.head_share) * next_word_[node] +
                            model_.head_share * scale * under.probability(word, p);
                    }
                }
            }
        }
    }

    std::vector<std::int32_t> tag_slots_, class_slots_;
};

}  // namespace wellput
