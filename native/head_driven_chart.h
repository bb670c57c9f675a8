// The chart of the head-driven model: Eisner's half spans over a lattice of tags.
//
// A half span is a word with everything on one side of it up to some place. A left half waits for
// the next modifier further out, whose class its outermost modifier's probability depends on: it is
// kept by that class. A right half remembers its last modifier's class: it is kept by the tag that
// comes next, the best (or the sum) over what it remembers taken already. So joining two halves is
// one loop over the place between them, O(n^3) in all.
//
// Everything is a probability divided by the words' unigram probabilities, which keeps it in the
// range of a double for half spans up to the limit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "head_driven_model.h"

namespace wellput {

struct Sum {
    static void add(double& total, double x) { total += x; }
};
struct Best {
    static void add(double& total, double x) {
        if (x > total) total = x;
    }
};

struct Lattice {
    std::size_t n = 0;
    const std::int32_t* words = nullptr;
    const std::int64_t* starts = nullptr;  // n + 1: word i's tags are from starts[i] on
    const std::int32_t* tags = nullptr;
    const float* weights = nullptr;  // by tag of the lattice: a factor for the best tree alone
};

class HeadDrivenChart {
public:
    HeadDrivenChart(const HeadDrivenModel& model, RowCache& left, RowCache& right)
        : model_(model), left_(left), right_(right) {}

    // No half span and no arc reaches further than `limit` words.
    void prepare(const Lattice& lattice, std::size_t limit) {
        lattice_ = lattice;
        n_ = lattice.n;
        width_ = std::min(n_, limit + 1);
        number_tags();
        emissions();
        forget_rows();
    }

    // Natural log of the sum (or the greatest) over all forests, less that of the unigrams.
    template <typename Semiring>
    double fill(bool is_weighted) {
        is_weighted_ = is_weighted;
        fill_halves<Semiring>();
        return fill_forest<Semiring>();
    }

    // After fill<Best>: heads from 1 with 0 for roots, and the number of each word's tag.
    void best_forest(std::int32_t* heads, std::int32_t* tags) {
        heads_ = heads;
        chosen_ = tags;
        for (std::size_t end = n_; end > 0;) {
            const Fragment& fragment = fragments_[end];
            choose(fragment.root, 0);
            trace_left(fragment.root, fragment.begin, START);
            trace_right(fragment.root, end - 1, STOP);
            end = fragment.begin;
        }
    }

    double log_unigrams() const {
        double total = 0;
        for (std::size_t i = 0; i < n_; ++i)
            total += static_cast<double>(model_.unigrams[lattice_.words[i]]);
        return total;
    }

private:
    // Local numbers: START is the first of the classes, STOP the first of the tags.
    static constexpr std::size_t START = 0, STOP = 0;

    static constexpr std::size_t NONE = static_cast<std::size_t>(-1);

    struct Fragment {
        std::size_t begin, root;
    };
    struct WordEvent {
        std::size_t tag;
        double probability;
    };
    // Events begin to end, and the weight of what is known without the word; not yet made: -1.
    struct Lexical {
        double weight = -1;
        std::size_t begin = 0, end = 0;
    };

    std::size_t first(std::size_t word) const {
        return static_cast<std::size_t>(lattice_.starts[word] - lattice_.starts[0]);
    }
    std::size_t last(std::size_t word) const { return first(word + 1); }
    std::size_t tag(std::size_t node) const {
        return static_cast<std::size_t>(tags_[local_[node]]);
    }
    double& left_half(std::size_t node, std::size_t cls, std::size_t reach) {
        return left_halves_[(node * n_local_classes_ + cls) * width_ + reach];
    }
    double& right_half(std::size_t node, std::size_t next, std::size_t reach) {
        return right_halves_[(node * width_ + reach) * n_local_tags_ + next];
    }
    double& arc(std::vector<double>& arcs, std::size_t head, std::size_t reach, std::size_t k) {
        return arcs[(head * width_ + reach) * most_tags_ + k];
    }

    // The tags and classes of this sentence, numbered from 1; nodes are words with a tag.
    void number_tags() {
        const std::size_t n_nodes = first(n_);
        local_.assign(n_nodes, 0);
        word_of_.assign(n_nodes, 0);
        tags_.assign(1, -1);
        class_numbers_.assign(1, static_cast<std::int32_t>(model_.n_classes));
        tag_slots_.resize(model_.n_tags, 0);
        class_slots_.resize(model_.n_classes, 0);
        most_tags_ = 0;
        for (std::size_t word = 0; word < n_; ++word) {
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
    }

    std::uint32_t word_at(std::size_t word) const {
        return static_cast<std::uint32_t>(lattice_.words[word]);
    }

    // Word probabilities over unigram ones: by node, and for a head to the left by pair of nodes.
    void emissions() {
        const std::size_t n_nodes = word_of_.size();
        next_word_.resize(n_nodes);
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
                root_[node] = next_word_[node] * model_.root(tag(node));
                for (std::size_t h = i >= width_ ? i - width_ + 1 : 0; h < i; ++h)
                    for (std::size_t head = first(h); head < last(h); ++head)
                        arc(head_word_, head, i - h, node - first(i)) =
                            (1 - model_.head_share) * next_word_[node] +
                            model_.head_share * scale *
                                model_.head_word(word, tag(node), tag(head), word_at(h), plain);
            }
        }
    }

    // The probabilities of this sentence's tags (and of stopping) as next on a side, by the
    // head's tag and the class before: rows are made when first asked for.
    void forget_rows() {
        outcomes_.assign(1, model_.stop());
        for (std::size_t t = 1; t < n_local_tags_; ++t)
            outcomes_.push_back(static_cast<std::size_t>(tags_[t]));
        left_rows_.assign(n_local_tags_ * n_local_classes_, NONE);
        right_rows_.assign(n_local_tags_ * n_local_classes_ * DISTANCES, NONE);
        lexical_.assign(word_of_.size() * n_local_classes_, Lexical{});
        left_after_.assign(n_local_tags_ * (n_ + 1), Lexical{});
        right_after_.assign(n_local_tags_ * (n_ + 1), Lexical{});
        rows_.clear();
        word_events_.clear();
    }

    template <typename Row>
    std::size_t made(std::size_t& place, Row row) {
        if (place == NONE) {
            place = rows_.size();
            const float* all = row();
            for (const std::size_t outcome : outcomes_)
                rows_.push_back(static_cast<double>(all[outcome]));
        }
        return place;
    }

    const double* left_row(std::size_t head, std::size_t cls) {
        const std::size_t own = tag(head), outer = static_cast<std::size_t>(class_numbers_[cls]);
        return &rows_[made(left_rows_[local_[head] * n_local_classes_ + cls], [&] {
            return left_.get(own * (model_.n_classes + 1) + outer, model_.n_tags + 1,
                             [&](float* fresh) { model_.fill_left(own, outer, fresh); });
        })];
    }

    const double* right_row(std::size_t head, std::size_t cls, std::size_t distance) {
        const std::size_t own = tag(head), inner = static_cast<std::size_t>(class_numbers_[cls]);
        auto& place = right_rows_[(local_[head] * n_local_classes_ + cls) * DISTANCES + distance];
        return &rows_[made(place, [&] {
            return right_.get((own * (model_.n_classes + 1) + inner) * DISTANCES + distance,
                              model_.n_tags + 1, [&](float* fresh) {
                                  model_.fill_right(own, inner, distance, fresh);
                              });
        })];
    }

    // What the head's word adds to its right side: the same at every distance.
    const Lexical& lexical(std::size_t head, std::size_t cls) {
        Lexical& found = lexical_[head * n_local_classes_ + cls];
        if (found.weight < 0) {
            const BackoffChain chain =
                model_.lexical_right(tag(head), word_at(word_of_[head]),
                                     static_cast<std::size_t>(class_numbers_[cls]));
            found = {chain.weight(), word_events_.size(), word_events_.size()};
            for (std::size_t t = 0; !chain.is_empty() && t < n_local_tags_; ++t)
                if (const double p = chain.probability(outcomes_[t], 0.0); p > 0)
                    word_events_.push_back({t, p});
            found.end = word_events_.size();
        }
        return found;
    }

    // What the word before `place` adds to a head's side that goes on there: a share of the whole.
    const Lexical& after(Family family, std::size_t head, std::size_t place) {
        auto& known = family == LEFT_AFTER ? left_after_ : right_after_;
        Lexical& found = known[local_[head] * (n_ + 1) + place];
        if (found.weight < 0) {
            const std::uint32_t word = place ? word_at(place - 1) : model_.sentence_start;
            const BackoffChain chain = model_.after_word(family, tag(head), word);
            const double share = model_.after_share;
            found = {1 - share + share * chain.weight(), word_events_.size(), word_events_.size()};
            for (std::size_t t = 0; !chain.is_empty() && t < n_local_tags_; ++t)
                if (const double p = share * chain.probability(outcomes_[t], 0.0); p > 0)
                    word_events_.push_back({t, p});
            found.end = word_events_.size();
        }
        return found;
    }

    // Puts the probabilities of what comes next into next_, for a side that has got to `place`.
    void left_next(std::size_t head, std::size_t cls, std::size_t place) {
        const Lexical before = after(LEFT_AFTER, head, place);
        const double* row = left_row(head, cls);
        next_.resize(n_local_tags_);
        for (std::size_t t = 0; t < n_local_tags_; ++t) next_[t] = before.weight * row[t];
        add_events(before, 1);
    }
    void right_next(std::size_t head, std::size_t cls, std::size_t reach) {
        const Lexical word = lexical(head, cls);
        const Lexical before = after(RIGHT_AFTER, head, word_of_[head] + reach + 1);
        const double* row = right_row(head, cls, distance_class(reach));
        const double weight = before.weight * word.weight;
        next_.resize(n_local_tags_);
        for (std::size_t t = 0; t < n_local_tags_; ++t) next_[t] = weight * row[t];
        add_events(word, before.weight);
        add_events(before, 1);
    }
    void add_events(const Lexical& known, double weight) {
        for (std::size_t e = known.begin; e < known.end; ++e)
            next_[word_events_[e].tag] += weight * word_events_[e].probability;
    }

    double weight(std::size_t node) const {
        return is_weighted_
                   ? static_cast<double>(
                         lattice_.weights[lattice_.starts[0] + static_cast<std::int64_t>(node)])
                   : 1.0;
    }

    template <typename Semiring>
    void fill_halves() {
        const std::size_t n_nodes = word_of_.size();
        left_halves_.assign(n_nodes * n_local_classes_ * width_, 0.0);
        right_halves_.assign(n_nodes * n_local_tags_ * width_, 0.0);
        left_arcs_.assign(n_nodes * width_ * most_tags_, 0.0);
        right_arcs_.assign(n_nodes * width_ * most_tags_, 0.0);
        for (std::size_t node = 0; node < n_nodes; ++node) {
            for (std::size_t cls = 0; cls < n_local_classes_; ++cls) {
                left_next(node, cls, word_of_[node]);
                left_half(node, cls, 0) = next_[STOP];
            }
            by_class_.assign(n_local_classes_, 0.0);
            by_class_[START] = 1;
            follow_right<Semiring>(node, 0);
        }
        for (std::size_t reach = 1; reach < width_; ++reach)
            for (std::size_t i = 0; i + reach < n_; ++i) {
                for (std::size_t a = first(i); a < last(i); ++a)
                    for (std::size_t b = first(i + reach); b < last(i + reach); ++b) {
                        join_right<Semiring>(a, b, reach);
                        join_left<Semiring>(b, a, reach);
                    }
                for (std::size_t a = first(i); a < last(i); ++a) grow_right<Semiring>(a, reach);
                for (std::size_t b = first(i + reach); b < last(i + reach); ++b)
                    grow_left<Semiring>(b, reach);
            }
    }

    // head -> modifier, which stands `reach` words to the right.
    template <typename Semiring>
    void join_right(std::size_t head, std::size_t modifier, std::size_t reach) {
        const double* inner = &right_half(head, local_[modifier], 0);
        const double* outer = &left_half(modifier, START, 0);
        double total = 0;
        for (std::size_t r = 0; r < reach; ++r)
            Semiring::add(total, inner[r * n_local_tags_] * outer[reach - 1 - r]);
        const std::size_t k = modifier - first(word_of_[modifier]);
        arc(right_arcs_, head, reach, k) =
            total * arc(head_word_, head, reach, k) * weight(modifier);
    }

    // modifier <- head, which stands `reach` words to the right.
    template <typename Semiring>
    void join_left(std::size_t head, std::size_t modifier, std::size_t reach) {
        const double* outer = &right_half(modifier, STOP, 0);
        const double* inner = &left_half(head, local_class_[local_[modifier]], 0);
        double total = 0;
        for (std::size_t r = 0; r < reach; ++r)
            Semiring::add(total, outer[r * n_local_tags_] * inner[reach - 1 - r]);
        arc(left_arcs_, head, reach, modifier - first(word_of_[modifier])) =
            total * next_word_[modifier] * weight(modifier);
    }

    // The head's right side up to `reach` words away, by the class of its last modifier.
    template <typename Semiring>
    void grow_right(std::size_t head, std::size_t reach) {
        by_class_.assign(n_local_classes_, 0.0);
        const std::size_t h = word_of_[head];
        for (std::size_t d = 1; d <= reach; ++d)
            for (std::size_t m = first(h + d); m < last(h + d); ++m)
                Semiring::add(by_class_[local_class_[local_[m]]],
                              arc(right_arcs_, head, d, m - first(h + d)) *
                                  right_half(m, STOP, reach - d));
        follow_right<Semiring>(head, reach);
    }

    // What may come next on the right, over all classes of the last modifier.
    template <typename Semiring>
    void follow_right(std::size_t head, std::size_t reach) {
        double* out = &right_half(head, 0, reach);
        for (std::size_t cls = 0; cls < n_local_classes_; ++cls) {
            if (by_class_[cls] == 0) continue;
            right_next(head, cls, reach);
            for (std::size_t t = 0; t < n_local_tags_; ++t)
                Semiring::add(out[t], by_class_[cls] * next_[t]);
        }
    }

    // The head's left side `reach` words away, by the class of the modifier that comes before it.
    template <typename Semiring>
    void grow_left(std::size_t head, std::size_t reach) {
        by_tag_.assign(n_local_tags_, 0.0);
        const std::size_t h = word_of_[head];
        for (std::size_t d = 1; d <= reach; ++d)
            for (std::size_t m = first(h - d); m < last(h - d); ++m)
                Semiring::add(by_tag_[local_[m]], arc(left_arcs_, head, d, m - first(h - d)) *
                                                      left_half(m, START, reach - d));
        met_.clear();
        for (std::size_t t = 1; t < n_local_tags_; ++t)
            if (by_tag_[t] != 0) met_.push_back(t);
        const Lexical before = after(LEFT_AFTER, head, h - reach);
        next_.assign(n_local_tags_, 0.0);
        add_events(before, 1);
        for (std::size_t cls = 0; cls < n_local_classes_; ++cls) {
            const double* row = left_row(head, cls);
            double total = 0;
            for (const std::size_t t : met_)
                Semiring::add(total, by_tag_[t] * (before.weight * row[t] + next_[t]));
            left_half(head, cls, reach) = total;
        }
    }

    template <typename Semiring>
    double fill_forest() {
        std::vector<double> scores(n_ + 1, -std::numeric_limits<double>::infinity());
        scores[0] = 0;
        fragments_.assign(n_ + 1, {0, 0});
        for (std::size_t end = 1; end <= n_; ++end) {
            trees_.assign(end, 0.0);
            roots_.assign(end, 0);
            for (std::size_t root = end - std::min(end, width_); root < end; ++root)
                for (std::size_t node = first(root); node < last(root); ++node) {
                    const double own =
                        root_[node] * weight(node) * right_half(node, STOP, end - 1 - root);
                    const double* left = &left_half(node, START, 0);
                    for (std::size_t reach = 0; reach <= root && reach < width_; ++reach)
                        add_tree<Semiring>(root - reach, own * left[reach], node);
                }
            double best = -std::numeric_limits<double>::infinity(), total = best;
            for (std::size_t begin = 0; begin < end; ++begin) {
                if (trees_[begin] == 0) continue;
                const double score = scores[begin] + std::log(trees_[begin]) +
                                     (begin ? model_.log_continue : model_.log_end);
                if (score > best) best = score, fragments_[end] = {begin, roots_[begin]};
                total = std::max(total, score) + std::log1p(std::exp(-std::abs(total - score)));
            }
            scores[end] = std::is_same_v<Semiring, Best> ? best : total;
        }
        return scores[n_];
    }

    template <typename Semiring>
    void add_tree(std::size_t begin, double x, std::size_t root) {
        if (x > trees_[begin]) roots_[begin] = root;
        Semiring::add(trees_[begin], x);
    }

    void choose(std::size_t node, std::size_t head) {
        heads_[word_of_[node]] = static_cast<std::int32_t>(head);
        chosen_[word_of_[node]] = tags_[local_[node]];
    }

    // Finds again what gave the greatest product: cheaper than remembering it everywhere.
    void trace_left(std::size_t head, std::size_t begin, std::size_t cls) {
        const std::size_t h = word_of_[head];
        if (begin == h) return;
        left_next(head, cls, begin);
        double best = -1;
        std::size_t modifier = 0;
        for (std::size_t m = begin; m < h; ++m)
            for (std::size_t node = first(m); node < last(m); ++node) {
                const double x = arc(left_arcs_, head, h - m, node - first(m)) *
                                 left_half(node, START, m - begin) *
                                 next_[local_[node]];
                if (x > best) best = x, modifier = node;
            }
        const std::size_t m = word_of_[modifier], own = local_class_[local_[modifier]];
        choose(modifier, h + 1);
        std::size_t split = m;
        best = -1;
        for (std::size_t r = m; r < h; ++r) {
            const double x = right_half(modifier, STOP, r - m) * left_half(head, own, h - r - 1);
            if (x > best) best = x, split = r;
        }
        trace_left(modifier, begin, START);
        trace_right(modifier, split, STOP);
        trace_left(head, split + 1, own);
    }

    void trace_right(std::size_t head, std::size_t end, std::size_t next) {
        const std::size_t h = word_of_[head];
        if (end == h) return;
        by_class_.resize(n_local_classes_);
        for (std::size_t cls = 0; cls < n_local_classes_; ++cls) {
            right_next(head, cls, end - h);
            by_class_[cls] = next_[next];
        }
        double best = -1;
        std::size_t modifier = 0;
        for (std::size_t m = h + 1; m <= end; ++m)
            for (std::size_t node = first(m); node < last(m); ++node) {
                const double x =
                    arc(right_arcs_, head, m - h, node - first(m)) *
                    right_half(node, STOP, end - m) *
                    by_class_[local_class_[local_[node]]];
                if (x > best) best = x, modifier = node;
            }
        const std::size_t m = word_of_[modifier];
        choose(modifier, h + 1);
        std::size_t split = h;
        best = -1;
        for (std::size_t r = h; r < m; ++r) {
            const double x =
                right_half(head, local_[modifier], r - h) * left_half(modifier, START, m - r - 1);
            if (x > best) best = x, split = r;
        }
        trace_right(modifier, end, STOP);
        trace_left(modifier, split + 1, START);
        trace_right(head, split, local_[modifier]);
    }

    const HeadDrivenModel& model_;
    RowCache &left_, &right_;
    Lattice lattice_;
    std::size_t n_ = 0, width_ = 0, most_tags_ = 0, n_local_tags_ = 0, n_local_classes_ = 0;
    bool is_weighted_ = false;
    std::vector<std::size_t> local_, word_of_, local_class_;
    std::vector<std::int32_t> tags_, class_numbers_, tag_slots_, class_slots_;
    std::vector<double> next_word_, root_, head_word_, rows_, next_, trees_;
    std::vector<std::size_t> outcomes_, met_, roots_, left_rows_, right_rows_;
    std::vector<Lexical> lexical_, left_after_, right_after_;
    std::vector<WordEvent> word_events_;
    std::vector<double> left_halves_, right_halves_, left_arcs_, right_arcs_, by_class_, by_tag_;
    std::vector<Fragment> fragments_;
    std::int32_t *heads_ = nullptr, *chosen_ = nullptr;
};

}  // namespace wellput
