// A sentence for the head-driven chart (head_driven_chart.h): its words with the tags that each may
// have, the probabilities of its words, and the probabilities of what comes next on a side of a head.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "language/models/head_driven_model.h"

namespace wellput {

// The tags that each word of a sentence may have.
struct Lattice {
    std::size_t n = 0;
    const std::int32_t* words = nullptr;
    const std::int64_t* starts = nullptr;  // n + 1: word i's tags are from starts[i] on
    const std::int32_t* tags = nullptr;
    const float* weights = nullptr;  // by tag: a factor that is used only to find the best tree
};

// A node is a word with one of its tags. The sentence's tags and their classes have local numbers from
// 1; `tags_` and `class_numbers_` have the model's numbers of them.
class HeadDrivenSentence {
public:
    explicit HeadDrivenSentence(const HeadDrivenModel& model) : model_(model) {}

    // No arc and no half span (head_driven_chart.h) reaches further than `limit` words.
    void prepare(const Lattice& lattice, std::size_t limit) {
        lattice_ = lattice;
        n_ = lattice.n;
        width_ = limit < n_ ? limit + 1 : n_;
        number_tags();
        compute_word_probabilities();
    }

    double log_unigrams() const {
        double total = 0;
        for (std::size_t i = 0; i < n_; ++i)
            total += static_cast<double>(model_.unigrams[lattice_.words[i]]);
        return total;
    }

protected:
    // Two further local numbers: the class if there is no modifier yet, and the tag that ends a side.
    static constexpr std::size_t START_CLASS = 0, STOP_TAG = 0;

    static constexpr std::size_t NO_PLACE = static_cast<std::size_t>(-1);

    // The nodes of a word are those from first(word) to before end_of(word).
    std::size_t first(std::size_t word) const {
        return static_cast<std::size_t>(lattice_.starts[word] - lattice_.starts[0]);
    }
    std::size_t end_of(std::size_t word) const { return first(word + 1); }
    // The model's number of a node's tag.
    std::size_t tag(std::size_t node) const {
        return static_cast<std::size_t>(tags_[local_tag_[node]]);
    }
    std::size_t class_number(std::size_t cls) const {
        return static_cast<std::size_t>(class_numbers_[cls]);
    }
    std::uint32_t word_at(std::size_t word) const {
        return static_cast<std::uint32_t>(lattice_.words[word]);
    }
    // The value of an arc from the node `head` to the k-th node of the word `reach` words away.
    double& arc(std::vector<double>& arcs, std::size_t head, std::size_t reach, std::size_t k) {
        return arcs[(head * width_ + reach) * most_tags_ + k];
    }

    const HeadDrivenModel& model_;
    Lattice lattice_;
    // `width_` is one more than the farthest reach, `most_tags_` the largest number of tags of a word.
    std::size_t n_ = 0, width_ = 0, most_tags_ = 0, n_local_tags_ = 0, n_local_classes_ = 0;
    // By node its tag and its word; by tag its class, and the first word that may have it.
    std::vector<std::size_t> local_tag_, word_of_, local_class_, first_place_;
    std::vector<std::int32_t> tags_, class_numbers_;  // the model's numbers, by local number
    std::vector<std::size_t> local_of_;               // by the model's tag, NO_PLACE if absent
    // How many local tags STOP_TAG and the words from a place on have; these have the lowest numbers.
    std::vector<std::size_t> tags_from_;
    // Probabilities of words divided by their unigram probabilities. By node: after the words before
    // it, as the first word of a fragment, and as a root (with the tag). By arc: with the head on the
    // left.
    std::vector<double> next_word_, first_word_, root_, head_word_;

private:
    // The tags and classes of this sentence, numbered from 1.
    void number_tags() {
        const std::size_t n_nodes = first(n_);
        local_tag_.assign(n_nodes, 0);
        word_of_.assign(n_nodes, 0);
        tags_.assign(1, -1);
        class_numbers_.assign(1, static_cast<std::int32_t>(model_.n_classes));
        tag_slots_.resize(model_.n_tags, 0);
        class_slots_.resize(model_.n_classes, 0);
        most_tags_ = 0;
        tags_from_.assign(n_ + 1, 1);
        // From the last word to the first: so the tags of all words after a place have the lowest
        // numbers.
        for (std::size_t word = n_; word-- > 0;) {
            most_tags_ = std::max(most_tags_, end_of(word) - first(word));
            for (std::size_t node = first(word); node < end_of(word); ++node) {
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
                local_tag_[node] = static_cast<std::size_t>(slot);
            }
            tags_from_[word] = tags_.size();
            first_place_.resize(tags_.size());
            for (std::size_t node = first(word); node < end_of(word); ++node)
                first_place_[local_tag_[node]] = word;
        }
        n_local_tags_ = tags_.size();
        n_local_classes_ = class_numbers_.size();
        local_class_.assign(n_local_tags_, START_CLASS);
        for (std::size_t t = 1; t < n_local_tags_; ++t)
            local_class_[t] = static_cast<std::size_t>(
                class_slots_[static_cast<std::size_t>(model_.classes[tags_[t]])]);
        for (std::size_t t = 1; t < n_local_tags_; ++t) {
            class_slots_[static_cast<std::size_t>(model_.classes[tags_[t]])] = 0;
            tag_slots_[static_cast<std::size_t>(tags_[t])] = 0;
        }
        local_of_.assign(model_.n_tags + 1, NO_PLACE);
        local_of_[model_.stop()] = STOP_TAG;
        for (std::size_t t = 1; t < n_local_tags_; ++t)
            local_of_[static_cast<std::size_t>(tags_[t])] = t;
    }

    void compute_word_probabilities() {
        const std::size_t n_nodes = word_of_.size();
        next_word_.resize(n_nodes);
        first_word_.resize(n_nodes);
        root_.resize(n_nodes);
        head_word_.assign(n_nodes * width_ * most_tags_, 0.0);
        for (std::size_t i = 0; i < n_; ++i) {
            const std::uint32_t word = word_at(i);
            const std::uint32_t before = i > 0 ? word_at(i - 1) : model_.sentence_start;
            const std::uint32_t before_that = i > 1 ? word_at(i - 2) : model_.sentence_start;
            const double per_unigram = std::exp(-static_cast<double>(model_.unigrams[word]));
            for (std::size_t node = first(i); node < end_of(i); ++node) {
                const double plain = model_.plain_word(word, tag(node));
                next_word_[node] =
                    per_unigram * model_.next_word(word, tag(node), before, before_that, plain);
                first_word_[node] =
                    per_unigram * model_.next_word(word, tag(node), model_.sentence_start,
                                                   model_.sentence_start, plain);
                root_[node] = next_word_[node] * model_.root(tag(node));
                for (std::size_t h = i >= width_ ? i - width_ + 1 : 0; h < i; ++h) {
                    const BackoffChain under = model_.under_head(tag(node), word_at(h));
                    for (std::size_t head = first(h); head < end_of(h); ++head) {
                        const double p = model_.under_head_tag(word, tag(node), tag(head), plain);
                        arc(head_word_, head, i - h, node - first(i)) =
                            (1 - model_.head_share) * next_word_[node] +
                            model_.head_share * per_unigram * under.probability(word, p);
                    }
                }
            }
        }
    }

    // In `number_tags`: the local numbers by the model's number, 0 for none yet.
    std::vector<std::int32_t> tag_slots_, class_slots_;
};

// What comes next on a side of a head: the probabilities of the sentence's tags and of stopping,
// given the head's tag and word, the last modifier's class and the last word.
// Everything is computed when it is first needed.
class HeadDrivenNext : public HeadDrivenSentence {
public:
    using HeadDrivenSentence::HeadDrivenSentence;

    void prepare(const Lattice& lattice, std::size_t limit) {
        HeadDrivenSentence::prepare(lattice, limit);
        start_rows();
    }

protected:
    struct WordEvent {
        std::size_t tag;
        double probability;
    };
    // What a word (the head or the word before) changes in a distribution of tags: the probabilities
    // without the word are multiplied by `weight`, and those of the word events from `begin` to before
    // `end` are added. The weight is -1 if the effect is not computed yet.
    struct WordEffect {
        double weight = -1;
        std::size_t begin = 0, end = 0;
    };

    // A left row is by class: the probability of tag t as the next tag after a modifier of each class.
    const float* left_row(std::size_t head, std::size_t t) {
        std::size_t& place = left_rows_[local_tag_[head]];
        if (place == NO_PLACE) {
            place = rows_.size();
            rows_.resize(place + n_local_tags_ * n_local_classes_);
            for (std::size_t cls = 0; cls < n_local_classes_; ++cls) {
                fill_row(LEFT, tag(head), cls, model_.left_contexts(tag(head), class_number(cls)),
                         n_local_tags_);
                for (std::size_t k = 0; k < n_local_tags_; ++k)
                    rows_[place + k * n_local_classes_ + cls] = row_[k];
            }
        }
        return &rows_[place + t * n_local_classes_];
    }

    // A right row is by tag: the probabilities of all tags that can come after the first word that may
    // have the head's tag.
    const float* right_row(std::size_t head, std::size_t cls, std::size_t distance) {
        std::size_t& place =
            right_rows_[(local_tag_[head] * n_local_classes_ + cls) * DISTANCE_CLASSES + distance];
        if (place == NO_PLACE) {
            place = rows_.size();
            const std::size_t n_next = tags_from_[first_place_[local_tag_[head]] + 1];
            fill_row(RIGHT, tag(head), cls,
                     model_.right_contexts(tag(head), class_number(cls), distance), n_next);
            rows_.insert(rows_.end(), row_.begin(), row_.end());
        }
        return &rows_[place];
    }

    // What the head's word changes on its right side: the same at every distance.
    const WordEffect& head_word_effect(std::size_t head, std::size_t cls) {
        WordEffect& found = head_word_effects_[head * n_local_classes_ + cls];
        if (found.weight < 0) {
            found = listed(
                model_.lexical_right(tag(head), word_at(word_of_[head]), class_number(cls)), 1);
        }
        return found;
    }

    // What the word before `place` changes in a head's side that continues there. It counts for the
    // share `after_share` of the probabilities.
    const WordEffect& last_word_effect(Family family, std::size_t head, std::size_t place) {
        auto& effects = family == LEFT_AFTER ? left_effects_ : right_effects_;
        WordEffect& found = effects[local_tag_[head] * (n_ + 1) + place];
        if (found.weight < 0) {
            const std::uint32_t word = place ? word_at(place - 1) : model_.sentence_start;
            found = listed(model_.after_word(family, tag(head), word), model_.after_share);
        }
        return found;
    }

    // Put the probabilities of what comes next into next_: on a left side that continues at `place`,
    // and on a right side of `reach` words.
    void left_next(std::size_t head, std::size_t cls, std::size_t place) {
        const WordEffect before = last_word_effect(LEFT_AFTER, head, place);
        next_.resize(n_local_tags_);
        for (std::size_t t = 0; t < n_local_tags_; ++t)
            next_[t] = before.weight * static_cast<double>(left_row(head, t)[cls]);
        add_events(before, 1, next_.data());
    }
    void right_next(std::size_t head, std::size_t cls, std::size_t reach) {
        const WordEffect word = head_word_effect(head, cls);
        const WordEffect before = last_word_effect(RIGHT_AFTER, head, word_of_[head] + reach + 1);
        const float* row = right_row(head, cls, distance_class(reach));
        const double weight = before.weight * word.weight;
        next_.resize(n_local_tags_);
        const std::size_t n_next = tags_from_[word_of_[head] + reach + 1];
        for (std::size_t t = 0; t < n_next; ++t) next_[t] = weight * static_cast<double>(row[t]);
        add_events(word, before.weight, next_.data());
        add_events(before, 1, next_.data());
    }
    void add_events(const WordEffect& effect, double weight, double* out) const {
        for (std::size_t e = effect.begin; e < effect.end; ++e)
            out[word_events_[e].tag] += weight * word_events_[e].probability;
    }

    std::vector<double> next_;

private:
    // Computes the rows of the empty context, and forgets all others.
    void start_rows() {
        left_base_.assign(n_local_tags_, 1.0f / static_cast<float>(model_.n_tags + 1));
        right_base_ = left_base_;
        refine(left_base_, model_.empty_context(LEFT));
        refine(right_base_, model_.empty_context(RIGHT));
        left_coarse_.clear();
        right_coarse_.clear();
        coarse_rows_.clear();
        left_rows_.assign(n_local_tags_, NO_PLACE);
        right_rows_.assign(n_local_tags_ * n_local_classes_ * DISTANCE_CLASSES, NO_PLACE);
        head_word_effects_.assign(word_of_.size() * n_local_classes_, WordEffect{});
        left_effects_.assign(n_local_tags_ * (n_ + 1), WordEffect{});
        right_effects_.assign(n_local_tags_ * (n_ + 1), WordEffect{});
        rows_.clear();
        word_events_.clear();
    }

    // Puts the probabilities of the first `size` of this sentence's outcomes into row_.
    void fill_row(Family side, std::size_t tag, std::size_t cls,
                  const std::array<std::uint64_t, 2>& contexts, std::size_t size) {
        const auto place = static_cast<std::ptrdiff_t>(coarse_row(side, tag, cls));
        const auto coarse = coarse_rows_.begin() + place;
        row_.assign(coarse, coarse + static_cast<std::ptrdiff_t>(size));
        for (const std::uint64_t context : contexts) refine(row_, context);
    }

    // The place of the row of the coarsest tag, which many tags share.
    std::size_t coarse_row(Family side, std::size_t tag, std::size_t cls) {
        auto& known = side == LEFT ? left_coarse_ : right_coarse_;
        const auto number = static_cast<std::size_t>(model_.coarsest[tag]) * n_local_classes_ + cls;
        if (number >= known.size()) known.resize(number + 1, NO_PLACE);
        if (known[number] == NO_PLACE) {
            known[number] = coarse_rows_.size();
            row_ = side == LEFT ? left_base_ : right_base_;
            refine(row_, model_.coarsest_context(side, tag, class_number(cls)));
            coarse_rows_.insert(coarse_rows_.end(), row_.begin(), row_.end());
        }
        return known[number];
    }

    // Goes from a shorter context of a row to this longer one.
    void refine(std::vector<float>& row, std::uint64_t context) const {
        const BackoffTables& tables = model_.tables;
        const std::uint16_t* steps = tables.lists.find(context);
        if (!steps) return;
        const auto weight = static_cast<float>(tables.weight(*steps));
        for (float& p : row) p *= weight;
        const auto place = static_cast<std::size_t>(steps - tables.lists.values);
        const std::size_t end = tables.begins[place + 1], size = row.size();
        for (std::size_t e = tables.begins[place]; e < end; ++e)
            if (const std::size_t t = local_of_[tables.outcomes[e]]; t < size)
                row[t] += static_cast<float>(tables.shares[tables.steps[e]]);
    }

    // The effect of a context with a word, with the tags of this sentence; it counts for a share of the
    // probabilities.
    WordEffect listed(std::uint64_t context, double share) {
        const BackoffTables& tables = model_.tables;
        WordEffect found{1, word_events_.size(), word_events_.size()};
        const std::uint16_t* steps = tables.lists.find(context);
        if (!steps) return found;
        found.weight = 1 - share + share * tables.weight(*steps);
        const auto place = static_cast<std::size_t>(steps - tables.lists.values);
        for (std::size_t e = tables.begins[place]; e < tables.begins[place + 1]; ++e)
            if (const std::size_t t = local_of_[tables.outcomes[e]]; t != NO_PLACE)
                word_events_.push_back({t, share * tables.shares[tables.steps[e]]});
        found.end = word_events_.size();
        return found;
    }

    // Where rows begin in coarse_rows_ (the first two) and in rows_, NO_PLACE if not computed yet.
    std::vector<std::size_t> left_coarse_, right_coarse_, left_rows_, right_rows_;
    std::vector<float> left_base_, right_base_, coarse_rows_, row_, rows_;
    std::vector<WordEffect> head_word_effects_, left_effects_, right_effects_;
    std::vector<WordEvent> word_events_;
};

}  // namespace wellput
