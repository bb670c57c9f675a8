// The head-driven parser: best forests and log probabilities of sentences over lattices of tags.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/parallel.h"
#include "kernels.h"
#include "language/models/head_driven_model.h"
#include "language/models/head_driven_sentence.h"

namespace wellput {
namespace {

namespace nb = nanobind;

// The chart of the head-driven model: Eisner's half spans over a lattice of tags.
//
// A half span is a word with everything on one side of it up to some place. The probability of a
// left half's outermost modifier depends on the class of the next modifier further out: there is
// one half for each such class. A right half depends on its last modifier's class: there is one for
// each tag that comes next, already maximized (or summed) over that class. So joining two halves is
// one loop over the place between them, O(n^3) in all.
//
// All values are probabilities divided by the words' unigram probabilities. This keeps them in the
// range of a double for half spans up to the limit.

struct Sum {
    static void add(double& total, double x) { total += x; }
};
struct Best {
    static void add(double& total, double x) {
        if (x > total) total = x;
    }
};

class HeadDrivenChart : public HeadDrivenNext {
public:
    using HeadDrivenNext::HeadDrivenNext;

    // Natural log of the sum over all forests, minus that of the unigrams.
    double sum() {
        is_weighted_ = false;
        fill_halves<Sum>();
        return fill_forests<Sum>();
    }

    // The best forest under the tags' weights, and the log of its weighted probability: heads from
    // 1, 0 for roots, and the number of each word's tag.
    double best(std::int32_t* heads, std::int32_t* tags) {
        is_weighted_ = true;
        fill_halves<Best>();
        const double total = fill_forests<Best>();
        heads_ = heads;
        chosen_ = tags;
        for (std::size_t end = n_; end > 0; end = begins_[end]) {
            const std::size_t begin = begins_[end], root = best_root(begin, end);
            choose(root, 0);
            trace_first(root, begin);
            trace_right(root, end - 1, STOP_TAG);
        }
        return total;
    }

private:
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
            const Lexical before = after(LEFT_AFTER, node, word_of_[node]);
            next_.assign(n_local_tags_, 0.0);
            add_events(before, 1, next_.data());
            const float* stops = left_row(node, STOP_TAG);
            for (std::size_t cls = 0; cls < n_local_classes_; ++cls)
                left_half(node, cls, 0) =
                    before.weight * static_cast<double>(stops[cls]) + next_[STOP_TAG];
            left_next(node, START_CLASS, 0);
            std::copy(next_.begin(), next_.end(), &first_next_[node * n_local_tags_]);
            first_half(node, 0) = next_[STOP_TAG] * first_word_[node] / next_word_[node];
            by_class_.assign(n_local_classes_, 0.0);
            by_class_[START_CLASS] = 1;
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
                                  right_half(m, STOP_TAG, reach - d));
        follow_right<Semiring>(head, reach);
    }

    // What may come next on the right, over all classes of the last modifier.
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

    // The same for sums, where the words' shares can be added at the end.
    void sum_right(std::size_t head, std::size_t reach, double* __restrict out) {
        const std::size_t n_next = tags_from_[word_of_[head] + reach + 1];
        const Lexical before = after(RIGHT_AFTER, head, word_of_[head] + reach + 1);
        double total = 0;
        for (std::size_t cls = 0; cls < n_local_classes_; ++cls) {
            if (by_class_[cls] == 0) continue;
            total += by_class_[cls];
            const Lexical word = lexical(head, cls);
            const double left = by_class_[cls] * before.weight, weight = left * word.weight;
            const float* __restrict row = right_row(head, cls, distance_class(reach));
            for (std::size_t t = 0; t < n_next; ++t) out[t] += weight * static_cast<double>(row[t]);
            add_events(word, left, out);
        }
        add_events(before, total, out);
    }

    // The head's left side `reach` words away, by the class of the modifier that comes before it.
    template <typename Semiring>
    void grow_left(std::size_t head, std::size_t reach) {
        by_tag_.assign(n_local_tags_, 0.0);
        const std::size_t h = word_of_[head];
        for (std::size_t d = 1; d <= reach; ++d)
            for (std::size_t m = first(h - d); m < last(h - d); ++m)
                Semiring::add(by_tag_[local_[m]], arc(left_arcs_, head, d, m - first(h - d)) *
                                                      left_half(m, START_CLASS, reach - d));
        met_.clear();
        for (std::size_t t = 1; t < n_local_tags_; ++t)
            if (by_tag_[t] != 0) met_.push_back(t);
        const Lexical before = after(LEFT_AFTER, head, h - reach);
        next_.assign(n_local_tags_, 0.0);
        add_events(before, 1, next_.data());
        by_class_.assign(n_local_classes_, 0.0);
        double* __restrict totals = by_class_.data();
        for (const std::size_t t : met_) {
            const float* __restrict row = left_row(head, t);
            const double weight = by_tag_[t] * before.weight, own = by_tag_[t] * next_[t];
            for (std::size_t cls = 0; cls < n_local_classes_; ++cls)
                Semiring::add(totals[cls], weight * static_cast<double>(row[cls]) + own);
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
            for (std::size_t m = first(h - d); m < last(h - d); ++m)
                Semiring::add(total, arc(left_arcs_, head, d, m - first(h - d)) *
                                         first_half(m, reach - d) * next[local_[m]]);
        first_half(head, reach) = total;
    }

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
                const double own =
                    std::log(trees_[begin]) + (begin ? model_.log_continue : model_.log_end);
                if (const double score = bests[begin] + own; score > best)
                    best = score, begins_[end] = begin;
                const double score = totals[begin] + own;
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
            for (std::size_t node = first(root); node < last(root); ++node) {
                const double own =
                    root_[node] * weight(node) * right_half(node, STOP_TAG, end - 1 - root);
                const double* left = &first_half(node, 0);
                for (std::size_t reach = 0; reach <= root && reach < width_; ++reach)
                    Semiring::add(trees_[root - reach], own * left[reach]);
            }
    }

    std::size_t best_root(std::size_t begin, std::size_t end) {
        double best = -1;
        std::size_t found = first(begin);
        for (std::size_t node = first(begin); node < last(end - 1); ++node) {
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
        chosen_[word_of_[node]] = tags_[local_[node]];
    }

    // Finds the greatest product again: this is cheaper than storing it everywhere.
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

    template <typename Half>
    std::size_t outermost(std::size_t head, std::size_t begin, Half half) {
        const std::size_t h = word_of_[head];
        double best = -1;
        std::size_t modifier = first(begin);
        for (std::size_t m = begin; m < h; ++m)
            for (std::size_t node = first(m); node < last(m); ++node) {
                const double x = arc(left_arcs_, head, h - m, node - first(m)) *
                                 half(node, m - begin) * next_[local_[node]];
                if (x > best) best = x, modifier = node;
            }
        return modifier;
    }

    // What lies between a head and its outermost modifier on the left.
    void trace_inside(std::size_t head, std::size_t modifier) {
        const std::size_t h = word_of_[head], m = word_of_[modifier];
        const std::size_t own = local_class_[local_[modifier]];
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
            for (std::size_t node = first(m); node < last(m); ++node) {
                const double x = arc(right_arcs_, head, m - h, node - first(m)) *
                                 right_half(node, STOP_TAG, end - m) *
                                 by_class_[local_class_[local_[node]]];
                if (x > best) best = x, modifier = node;
            }
        const std::size_t m = word_of_[modifier];
        choose(modifier, h + 1);
        std::size_t split = h;
        best = -1;
        for (std::size_t r = h; r < m; ++r) {
            const double x = right_half(head, local_[modifier], r - h) *
                             left_half(modifier, START_CLASS, m - r - 1);
            if (x > best) best = x, split = r;
        }
        trace_right(modifier, end, STOP_TAG);
        trace_left(modifier, split + 1, START_CLASS);
        trace_right(head, split, local_[modifier]);
    }

    bool is_weighted_ = false;
    std::vector<double> left_halves_, first_halves_, right_halves_, left_arcs_, right_arcs_;
    std::vector<double> first_next_, by_class_, by_tag_, trees_;
    std::vector<std::size_t> met_, begins_;
    std::int32_t *heads_ = nullptr, *chosen_ = nullptr;
};

template <typename T>
using OutArray = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The columns of a sentence's row; logs are natural.
enum Column : std::size_t {
    LOG_PROBABILITY,
    BEST_LOG_PROBABILITY,
    UNIGRAM_LOG_PROBABILITY,
    SENTENCE_COLUMNS
};

class HeadDriven {
public:
    // tables: starts, keys and values of events, of contexts and of lists, then begins, outcomes and
    // steps of what is listed; tags: coarse, coarsest, class.
    HeadDriven(const HeadDriven&) = delete;
    HeadDriven(nb::handle tables, nb::handle tags, nb::handle unigrams, std::size_t n_classes,
               std::uint32_t sentence_start, double head_share, double after_share,
               double continuing) {
        const auto coarse = hold<std::int32_t>(tags[0]), coarsest = hold<std::int32_t>(tags[1]);
        const auto classes = hold<std::int32_t>(tags[2]);
        const std::size_t n_tags = coarse.size();
        require(n_tags > 0 && coarsest.size() == n_tags && classes.size() == n_tags,
                "two coarser tags and a class are needed for each tag");
        require_below(coarsest, n_tags, "a coarser tag is out of range");
        require_below(classes, n_classes, "a class is out of range");
        hold_tables(tables, n_tags);
        model_.n_tags = n_tags;
        model_.coarse = coarse.data();
        model_.coarsest = coarsest.data();
        model_.classes = classes.data();
        const auto words = hold<float>(unigrams);
        model_.unigrams = words.data();
        model_.n_words = words.size();
        model_.n_classes = n_classes;
        model_.sentence_start = sentence_start;
        model_.head_share = head_share;
        model_.after_share = after_share;
        model_.log_continue = std::log(continuing);
        model_.log_end = std::log1p(-continuing);
    }

    // Word numbers of all sentences after each other, sentence i from sentences[i] on; a row of
    // Columns per sentence, and by word its head and tag where `heads` is not empty.
    Matrix parse(Array<std::int64_t> sentences, Array<std::int32_t> words,
                 Array<std::int64_t> lattice_starts, Array<std::int32_t> lattice_tags,
                 Array<float> weights, OutArray<std::int32_t> heads, OutArray<std::int32_t> tags,
                 std::pair<std::size_t, std::size_t> limits, int threads) {
        check_lattices(sentences, words, lattice_starts, lattice_tags);
        const std::size_t n = sentences.shape(0) - 1;
        const bool is_tree_wanted = heads.shape(0) > 0;
        require(weights.shape(0) == lattice_tags.shape(0), "a weight is needed for each tag");
        require(heads.shape(0) == tags.shape(0) &&
                    (!is_tree_wanted || heads.shape(0) == words.shape(0)),
                "room for a head and a tag is needed for each word, or none");
        double* rows = nullptr;
        Matrix result = new_matrix(n, SENTENCE_COLUMNS, &rows);
        std::int32_t *heads_out = heads.data(), *tags_out = tags.data();
        nb::gil_scoped_release release;
        for_items(
            n, threads, HeadDrivenChart(model_),
            [&](HeadDrivenChart& chart, std::size_t i) {
                const auto from = static_cast<std::size_t>(sentences.data()[i]);
                const auto size = static_cast<std::size_t>(sentences.data()[i + 1]) - from;
                if (size == 0) return;
                chart.prepare({size, words.data() + from, lattice_starts.data() + from,
                               lattice_tags.data(), weights.data()},
                              size > limits.first ? limits.second : size);
                double* row = rows + i * SENTENCE_COLUMNS;
                row[UNIGRAM_LOG_PROBABILITY] = chart.log_unigrams();
                row[LOG_PROBABILITY] = chart.sum() + row[UNIGRAM_LOG_PROBABILITY];
                if (!is_tree_wanted) return;
                row[BEST_LOG_PROBABILITY] =
                    chart.best(heads_out + from, tags_out + from) + row[UNIGRAM_LOG_PROBABILITY];
            },
            4);
        return result;
    }

private:
    static constexpr std::size_t TABLE_BUCKETS = 1u << 16;

    void hold_tables(nb::handle tables, std::size_t n_tags) {
        model_.tables.events = hold_table<std::uint8_t>(tables, 0);
        model_.tables.contexts = hold_table<std::uint16_t>(tables, 3);
        model_.tables.lists = hold_table<std::uint16_t>(tables, 6);
        const std::size_t n_lists = hold<std::uint16_t>(tables[8]).size();
        const auto begins = hold<std::uint32_t>(tables[9]);
        const auto outcomes = hold<std::uint16_t>(tables[10]);
        const auto steps = hold<std::uint8_t>(tables[11]);
        require(begins.size() == n_lists + 1 && steps.size() == outcomes.size(),
                "the lists of a table do not fit together");
        require_pieces(begins, outcomes.size(), "the beginnings of the lists are out of order");
        require_below(outcomes, n_tags + 1, "an outcome is out of range");
        model_.tables.begins = begins.data();
        model_.tables.outcomes = outcomes.data();
        model_.tables.steps = steps.data();
    }

    template <typename Value>
    BackoffTable<Value> hold_table(nb::handle tables, std::size_t first) {
        const auto starts = hold<std::uint32_t>(tables[first]);
        const auto keys = hold<std::uint16_t>(tables[first + 1]);
        const auto values = hold<Value>(tables[first + 2]);
        require(starts.size() == TABLE_BUCKETS + 1 && values.size() == keys.size(),
                "the buckets of a table do not fit together");
        require_pieces(starts, keys.size(), "the beginnings of the buckets are out of order");
        return {starts.data(), keys.data(), values.data()};
    }

    void check_lattices(const Array<std::int64_t>& sentences, const Array<std::int32_t>& words,
                        const Array<std::int64_t>& starts, const Array<std::int32_t>& tags) const {
        require_pieces(values_of(sentences), words.shape(0),
                       "the beginnings of the sentences are out of order");
        require_below(values_of(words), model_.n_words, "a word is out of range");
        require_below(values_of(tags), model_.n_tags, "a tag is out of range");
        require(starts.shape(0) == words.shape(0) + 1, "tags are needed for each word");
        require_pieces(values_of(starts), tags.shape(0),
                       "the beginnings of the words are out of order");
        for (std::size_t i = 0; i < words.shape(0); ++i)
            require(starts(i) < starts(i + 1), "a word has no tag");
    }

    template <typename T>
    std::span<const T> hold(nb::handle object) {
        auto array = nb::cast<Array<T>>(object);
        // The converted array: another object than `object` if its numbers had another type.
        arrays_.emplace_back(array.handle());
        return values_of(array);
    }

    std::vector<nb::ndarray<>> arrays_;
    HeadDrivenModel model_;
};

}  // namespace

void add_head_driven(nb::module_& m) {
    nb::class_<HeadDriven>(m, "HeadDriven")
        .def(nb::init<nb::handle, nb::handle, nb::handle, std::size_t, std::uint32_t, double,
                      double, double>(),
             nb::arg("tables"), nb::arg("tags"), nb::arg("unigrams"), nb::arg("n_classes"),
             nb::arg("sentence_start"), nb::arg("head_share"), nb::arg("after_share"),
             nb::arg("continuing"))
        .def("parse", &HeadDriven::parse, nb::arg("sentences"), nb::arg("words"),
             nb::arg("lattice_starts"), nb::arg("lattice_tags"), nb::arg("weights"),
             nb::arg("heads"), nb::arg("tags"), nb::arg("limits"), nb::arg("threads"));
}

}  // namespace wellput
