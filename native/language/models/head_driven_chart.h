// The chart of the head-driven model: Eisner's half spans over a lattice of tags.
//
// A half span is a word with everything on one side of it up to some place. The probability of a left
// half's outermost modifier depends on the class of the next modifier further out: there is one left
// half for each such class. The probability of what comes next to a right half depends on its last
// modifier's class: there is one right half for each tag that comes next, already maximized (or summed)
// over that class. So joining two halves is one loop over the place between them, O(n^3) in all.
//
// A forest is a sequence of trees, one for each fragment of the sentence.
//
// All values are probabilities divided by the words' unigram probabilities. This keeps them in the
// range of a double for half spans up to the limit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "language/models/head_driven_model.h"
#include "language/models/head_driven_sentence.h"

namespace wellput {

class HeadDrivenChart : public HeadDrivenNext {
public:
    using HeadDrivenNext::HeadDrivenNext;

    // The natural log of the sum over all forests, minus that of the words' unigram probability.
    double sum() {
        is_weighted_ = false;
        fill_halves<Sum>();
        return fill_forests<Sum>();
    }

    // Finds the best forest under the tags' weights, and returns the log of its weighted probability.
    // Writes the head of each word (from 1, 0 for roots) and the number of its tag.
    double best(std::int32_t* heads, std::int32_t* tags) {
        is_weighted_ = true;
        fill_halves<Best>();
        const double total = fill_forests<Best>();
        heads_ = heads;
        chosen_tags_ = tags;
        for (std::size_t end = n_; end > 0; end = begins_[end]) {
            const std::size_t begin = begins_[end], root = best_root(begin, end);
            choose(root, 0);
            trace_first(root, begin);
            trace_right(root, end - 1, STOP_TAG);
        }
        return total;
    }

private:
    // How probabilities of several analyses are combined: their sum, or that of the best analysis.
    // Either is the `Semiring` of the functions that fill the chart.
    struct Sum {
        static void add(double& total, double x) { total += x; }
    };
    struct Best {
        static void add(double& total, double x) {
            if (x > total) total = x;
        }
    };

    // The values of half spans of a node that reach `reach` words to the left or right. A left half is
    // by the class of the next modifier further out, a right half by the tag that comes next.
    double& left_half(std::size_t node, std::size_t cls, std::size_t reach) {
        return left_halves_[(node * n_local_classes_ + cls) * width_ + reach];
    }
    // A left half whose first word begins a fragment: no word comes before it.
    double& first_half(std::size_t node, std::size_t reach) {
        return first_halves_[node * width_ + reach];
    }
    double& right_half(std::size_t node, std::size_t next, std::size_t reach) {
        return right_halves_[(node * width_ + reach) * n_local_tags_ + next];
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
        first_halves_.assign(n_nodes * width_, 0.0);
        first_next_.resize(n_nodes * n_local_tags_);
        right_halves_.assign(n_nodes * n_local_tags_ * width_, 0.0);
        left_arcs_.assign(n_nodes * width_ * most_tags_, 0.0);
        right_arcs_.assign(n_nodes * width_ * most_tags_, 0.0);
        for (std::size_t node = 0; node < n_nodes; ++node) {
            const WordEffect before = last_word_effect(LEFT_AFTER, node, word_of_[node]);
            next_.assign(n_local_tags_, 0.0);
            add_events(before, 1, next_.data());
            const float* stops = left_row(node, STOP_TAG);
            for (std::size_t cls = 0; cls < n_local_classes_; ++cls)
                left_half(node, cls, 0) =
                    before.weight * static_cast<double>(stops[cls]) + next_[STOP_TAG];
            // At place 0 the word before is the start of a sentence: fragments begin like sentences.
            left_next(node, START_CLASS, 0);
            std::copy(next_.begin(), next_.end(), &first_next_[node * n_local_tags_]);
            // Arcs and trees contain the node's next_word_, which this replaces by first_word_.
            first_half(node, 0) = next_[STOP_TAG] * first_word_[node] / next_word_[node];
            by_class_.assign(n_local_classes_, 0.0);
            by_class_[START_CLASS] = 1;
            follow_right<Semiring>(node, 0);
        }
        for (std::size_t reach = 1; reach < width_; ++reach)
            for (std::size_t i = 0; i + reach < n_; ++i) {
                for (std::size_t a = first(i); a < end_of(i); ++a)
                    for (std::size_t b = first(i + reach); b < end_of(i + reach); ++b) {
                        join_right<Semiring>(a, b, reach);
                        join_left<Semiring>(b, a, reach);
                    }
                for (std::size_t a = first(i); a < end_of(i); ++a) grow_right<Semiring>(a, reach);
                for (std::size_t b = first(i + reach); b < end_of(i + reach); ++b)
                    grow_left<Semiring>(b, reach);
            }
    }

    // head -> modifier, which stands `reach` words to the right.
    template <typename Semiring>
    void join_right(std::size_t head, std::size_t modifier, std::size_t reach) {
        const double* inner = &right_half(head, local_tag_[modifier], 0);
        const double* outer = &left_half(modifier, START_CLASS, 0);
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
        const double* outer = &right_half(modifier, STOP_TAG, 0);
        const double* inner = &left_half(head, local_class_[local_tag_[modifier]], 0);
        double total = 0;
        for (std::size_t r = 0; r < reach; ++r)
            Semiring::add(total, outer[r * n_local_tags_] * inner[reach - 1 - r]);
        arc(left_arcs_, head, reach, modifier - first(word_of_[modifier])) =
            total * next_word_[modifier] * weight(modifier);
    }

    // The head's right side that reaches `reach` words, by the class of its last modifier.
    template <typename Semiring>
    void grow_right(std::size_t head, std::size_t reach) {
        by_class_.assign(n_local_classes_, 0.0);
        const std::size_t h = word_of_[head];
        for (std::size_t d = 1; d <= reach; ++d)
            for (std::size_t m = first(h + d); m < end_of(h + d); ++m)
                Semiring::add(by_class_[local_class_[local_tag_[m]]],
                              arc(right_arcs_, head, d, m - first(h + d)) *
                                  right_half(m, STOP_TAG, reach - d));
        follow_right<Semiring>(head, reach);
    }

    // From the values of a right side by class (by_class_): its right half by the tag that comes next.
    template <typename Semiring>
    void follow_right(std::size_t head, std::size_t reach) {
        double* out = &right_half(head, 0, reach);
        if constexpr (std::is_same_v<Semiring, Sum>) return sum_right(head, reach, out);
        const std::size_t n_next = tags_from_[word_of_[head] + reach + 1];
        for (std::size_t cls = 0; cls < n_local_classes_; ++cls) {
            if (by_class_[cls] == 0) continue;
            right_next(head, cls, reach);
            for (std::size_t t = 0; t < n_next; ++t)
                Semiring::add(out[t], by_class_[cls] * next_[t]);
        }
    }

    // The same for sums: what the last word changes is the same for all classes, so it is added once.
    void sum_right(std::size_t head, std::size_t reach, double* __restrict out) {
        const std::size_t n_next = tags_from_[word_of_[head] + reach + 1];
        const WordEffect before = last_word_effect(RIGHT_AFTER, head, word_of_[head] + reach + 1);
        double total = 0;
        for (std::size_t cls = 0; cls < n_local_classes_; ++cls) {
            if (by_class_[cls] == 0) continue;
            total += by_class_[cls];
            const WordEffect word = head_word_effect(head, cls);
            const double side = by_class_[cls] * before.weight, weight = side * word.weight;
            const float* __restrict row = right_row(head, cls, distance_class(reach));
            for (std::size_t t = 0; t < n_next; ++t) out[t] += weight * static_cast<double>(row[t]);
            add_events(word, side, out);
        }
        add_events(before, total, out);
    }

    // The head's left side that reaches `reach` words, by the class of the next modifier further out.
    template <typename Semiring>
    void grow_left(std::size_t head, std::size_t reach) {
        by_tag_.assign(n_local_tags_, 0.0);
        const std::size_t h = word_of_[head];
        for (std::size_t d = 1; d <= reach; ++d)
            for (std::size_t m = first(h - d); m < end_of(h - d); ++m)
                Semiring::add(by_tag_[local_tag_[m]], arc(left_arcs_, head, d, m - first(h - d)) *
                                                          left_half(m, START_CLASS, reach - d));
        met_tags_.clear();
        for (std::size_t t = 1; t < n_local_tags_; ++t)
            if (by_tag_[t] != 0) met_tags_.push_back(t);
        const WordEffect before = last_word_effect(LEFT_AFTER, head, h - reach);
        next_.assign(n_local_tags_, 0.0);
        add_events(before, 1, next_.data());
        by_class_.assign(n_local_classes_, 0.0);
        double* __restrict totals = by_class_.data();
        for (const std::size_t t : met_tags_) {
            const float* __restrict row = left_row(head, t);
            const double weight = by_tag_[t] * before.weight, from_word = by_tag_[t] * next_[t];
            for (std::size_t cls = 0; cls < n_local_classes_; ++cls)
                Semiring::add(totals[cls], weight * static_cast<double>(row[cls]) + from_word);
        }
        for (std::size_t cls = 0; cls < n_local_classes_; ++cls)
            left_half(head, cls, reach) = totals[cls];
        grow_first<Semiring>(head, reach);
    }

    // The same where the side's first word begins a fragment.
    template <typename Semiring>
    void grow_first(std::size_t head, std::size_t reach) {
        const std::size_t h = word_of_[head];
        const double* next = &first_next_[head * n_local_tags_];
        double total = 0;
        for (std::size_t d = 1; d <= reach; ++d)
            for (std::size_t m = first(h - d); m < end_of(h - d); ++m)
                Semiring::add(total, arc(left_arcs_, head, d, m - first(h - d)) *
                                         first_half(m, reach - d) * next[local_tag_[m]]);
        first_half(head, reach) = total;
    }

    // The log of the sum or of the best of all forests. `totals` and `bests` are by the number of words
    // covered; begins_ says where the last fragment of the best forest over these words begins.
    template <typename Semiring>
    double fill_forests() {
        constexpr double IMPOSSIBLE_LOG_PROBABILITY = -std::numeric_limits<double>::infinity();
        std::vector<double> totals(n_ + 1, IMPOSSIBLE_LOG_PROBABILITY),
            bests(n_ + 1, IMPOSSIBLE_LOG_PROBABILITY);
        totals[0] = bests[0] = 0;
        begins_.assign(n_ + 1, 0);
        for (std::size_t end = 1; end <= n_; ++end) {
            begins_[end] = end - 1;  // a fragment of one word if no tree is possible
            fill_trees<Semiring>(end);
            double &best = bests[end], &total = totals[end];
            for (std::size_t begin = 0; begin < end; ++begin) {
                if (trees_[begin] == 0) continue;
                const double fragment =
                    std::log(trees_[begin]) + (begin ? model_.log_continue : model_.log_end);
                if (const double score = bests[begin] + fragment; score > best)
                    best = score, begins_[end] = begin;
                const double score = totals[begin] + fragment;
                total = std::max(total, score) + std::log1p(std::exp(-std::abs(total - score)));
            }
        }
        return std::is_same_v<Semiring, Best> ? bests[n_] : totals[n_];
    }

    // All trees that end before `end`, by where they begin.
    template <typename Semiring>
    void fill_trees(std::size_t end) {
        trees_.assign(end, 0.0);
        for (std::size_t root = end - std::min(end, width_); root < end; ++root)
            for (std::size_t node = first(root); node < end_of(root); ++node) {
                const double own =
                    root_[node] * weight(node) * right_half(node, STOP_TAG, end - 1 - root);
                const double* left = &first_half(node, 0);
                for (std::size_t reach = 0; reach <= root && reach < width_; ++reach)
                    Semiring::add(trees_[root - reach], own * left[reach]);
            }
    }

    // The functions from here on find the choices of the best forest. They look for the greatest
    // product again: this is cheaper than storing the best choice of every half span.

    // The root of the fragment from `begin` to before `end`.
    std::size_t best_root(std::size_t begin, std::size_t end) {
        double best = -1;
        std::size_t found = first(begin);
        for (std::size_t node = first(begin); node < end_of(end - 1); ++node) {
            const std::size_t left = word_of_[node] - begin, right = end - 1 - word_of_[node];
            if (left >= width_ || right >= width_) continue;
            const double own = root_[node] * weight(node) * first_half(node, left) *
                               right_half(node, STOP_TAG, right);
            if (own > best) best = own, found = node;
        }
        return found;
    }

    void choose(std::size_t node, std::size_t head) {
        heads_[word_of_[node]] = static_cast<std::int32_t>(head);
        chosen_tags_[word_of_[node]] = tags_[local_tag_[node]];
    }

    // The head's left side from the word `begin` on, with the class of the next modifier further out.
    void trace_left(std::size_t head, std::size_t begin, std::size_t cls) {
        if (begin == word_of_[head]) return;
        left_next(head, cls, begin);
        const std::size_t modifier = outermost(head, begin, [&](std::size_t m, std::size_t reach) {
            return left_half(m, START_CLASS, reach);
        });
        trace_left(modifier, begin, START_CLASS);
        trace_inside(head, modifier);
    }

    // The same for a side that begins a fragment.
    void trace_first(std::size_t head, std::size_t begin) {
        if (begin == word_of_[head]) return;
        left_next(head, START_CLASS, 0);
        const std::size_t modifier = outermost(
            head, begin, [&](std::size_t m, std::size_t reach) { return first_half(m, reach); });
        trace_first(modifier, begin);
        trace_inside(head, modifier);
    }

    // The head's outermost modifier on the left if its side begins at the word `begin`. next_ must have
    // the probabilities of modifiers there; half(modifier, reach) is the modifier's left side.
    template <typename Half>
    std::size_t outermost(std::size_t head, std::size_t begin, Half half) {
        const std::size_t h = word_of_[head];
        double best = -1;
        std::size_t modifier = first(begin);
        for (std::size_t m = begin; m < h; ++m)
            for (std::size_t node = first(m); node < end_of(m); ++node) {
                const double x = arc(left_arcs_, head, h - m, node - first(m)) *
                                 half(node, m - begin) * next_[local_tag_[node]];
                if (x > best) best = x, modifier = node;
            }
        return modifier;
    }

    // What lies between a head and its outermost modifier on the left.
    void trace_inside(std::size_t head, std::size_t modifier) {
        const std::size_t h = word_of_[head], m = word_of_[modifier];
        const std::size_t own = local_class_[local_tag_[modifier]];
        choose(modifier, h + 1);
        std::size_t split = m;
        double best = -1;
        for (std::size_t r = m; r < h; ++r) {
            const double x =
                right_half(modifier, STOP_TAG, r - m) * left_half(head, own, h - r - 1);
            if (x > best) best = x, split = r;
        }
        trace_right(modifier, split, STOP_TAG);
        trace_left(head, split + 1, own);
    }

    // The head's right side up to the word `end`, with the tag that comes next.
    void trace_right(std::size_t head, std::size_t end, std::size_t next) {
        const std::size_t h = word_of_[head];
        if (end == h) return;
        by_class_.resize(n_local_classes_);
        for (std::size_t cls = 0; cls < n_local_classes_; ++cls) {
            right_next(head, cls, end - h);
            by_class_[cls] = next_[next];
        }
        double best = -1;
        std::size_t modifier = first(h + 1);
        for (std::size_t m = h + 1; m <= end; ++m)
            for (std::size_t node = first(m); node < end_of(m); ++node) {
                const double x = arc(right_arcs_, head, m - h, node - first(m)) *
                                 right_half(node, STOP_TAG, end - m) *
                                 by_class_[local_class_[local_tag_[node]]];
                if (x > best) best = x, modifier = node;
            }
        const std::size_t m = word_of_[modifier];
        choose(modifier, h + 1);
        std::size_t split = h;
        best = -1;
        for (std::size_t r = h; r < m; ++r) {
            const double x = right_half(head, local_tag_[modifier], r - h) *
                             left_half(modifier, START_CLASS, m - r - 1);
            if (x > best) best = x, split = r;
        }
        trace_right(modifier, end, STOP_TAG);
        trace_left(modifier, split + 1, START_CLASS);
        trace_right(head, split, local_tag_[modifier]);
    }

    bool is_weighted_ = false;  // whether the tags' weights count
    std::vector<double> left_halves_, first_halves_, right_halves_, left_arcs_, right_arcs_;
    // By node and tag: the tag's probability as that of the node's outermost modifier in a side that
    // begins a fragment.
    std::vector<double> first_next_;
    // The values of one side by its last modifier, and of the trees with one end by their beginning.
    std::vector<double> by_class_, by_tag_, trees_;
    std::vector<std::size_t> met_tags_, begins_;
    std::int32_t *heads_ = nullptr, *chosen_tags_ = nullptr;
};

}  // namespace wellput
