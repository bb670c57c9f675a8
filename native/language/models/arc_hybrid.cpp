// A greedy dependency parser: arc-hybrid moves chosen by an averaged perceptron.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/parallel.h"
#include "core/random_stream.h"
#include "core/texts.h"
#include "kernels.h"
#include "language/learning/class_trainers.h"
#include "language/learning/class_weights.h"
#include "language/learning/feature_keys.h"
#include "language/learning/word_atoms.h"
#include "language/models/arc_hybrid_moves.h"
#include "text/hash.h"

namespace wellput {
namespace {

using Numbers = Array<std::int32_t>;

// The classes among which the perceptron chooses: 0 is SHIFT; then come LEFT with each label and RIGHT
// with each label.
struct Classes {
    int labels;
    std::size_t size() const { return 1 + 2 * static_cast<std::size_t>(labels); }
    Move move(int cls) const {
        return cls == 0 ? SHIFT_MOVE : cls <= labels ? LEFT_MOVE : RIGHT_MOVE;
    }
    int label(int cls) const { return cls == 0 ? -1 : (cls - 1) % labels; }
    int first(Move move) const {
        return move == SHIFT_MOVE ? 0 : move == LEFT_MOVE ? 1 : 1 + labels;
    }
    int last(Move move) const { return move == SHIFT_MOVE ? 0 : first(move) + labels - 1; }
};

// The parts of a word that features use, as hashes: its form, its tag, both, and its hint (the probable
// relation and side of its head). All are 2 if there is no word.
struct WordParts {
    std::uint64_t word = 2, tag = 2, both = 2, hint = 2;
};

int distance_class(int from, int to) {
    if (from < 0 || to < 0) return 0;
    const int distance = to - from;
    return distance <= 4 ? distance : distance <= 9 ? 5 : distance <= 19 ? 6 : 7;
}

// Sentences as three parallel lists: the words, their tags and their hints.
struct Input {
    TextLists words, tags, hints;
    Input(nb::handle own_words, nb::handle own_tags, nb::handle own_hints)
        : words(own_words), tags(own_tags), hints(own_hints) {
        for (const TextLists* other : {&tags, &hints}) {
            bool is_parallel = words.size() == other->size();
            for (std::size_t s = 0; is_parallel && s < words.size(); ++s)
                is_parallel = words.count(s) == other->count(s);
            if (!is_parallel) throw nb::value_error("a tag and a hint are needed for each word");
        }
    }
};

// The features of a state (after Zhang & Nivre 2011). S0, S1 and S2 are the words on the stack from its
// top down, B0, B1 and B2 the first words of the buffer. LEFT would join B0 and S0, RIGHT S1 and S0.
class MoveFeatures {
public:
    void start(const Input& input, std::size_t sentence) {
        const auto& [words, tags, hints] = input;
        const std::size_t n = words.count(sentence);
        parts_.assign(n + 1, {});
        parts_[0] = {3, 3, 3, 3};  // the root's head
        for (std::size_t i = 0; i < n; ++i) {
            lower_.assign(words.at(sentence, i));
            for (char& c : lower_) c = lowered(c);
            const std::uint64_t word = fnv1a(lower_), tag = fnv1a(tags.at(sentence, i));
            parts_[i + 1] = {word, tag, word * 31 + tag, fnv1a(hints.at(sentence, i))};
        }
    }

    const std::vector<FeatureKey>& of(const ArcHybrid& state) {
        keys_.clear();
        template_number_ = 0;
        const int s0 = state.stack(0), s1 = state.stack(1), s2 = state.stack(2);
        const int b0 = state.buffer(0), b1 = state.buffer(1), b2 = state.buffer(2);
        const WordParts &S0 = at(s0), &S1 = at(s1), &S2 = at(s2);
        const WordParts &B0 = at(b0), &B1 = at(b1), &B2 = at(b2);
        const ArcHybrid::Daughters none{};
        const auto& s0_left = s0 > 0 ? state.left(s0) : none;
        const auto& s0_right = s0 > 0 ? state.right(s0) : none;
        const auto& s1_left = s1 > 0 ? state.left(s1) : none;
        const auto& s1_right = s1 > 0 ? state.right(s1) : none;
        const auto& b0_left = b0 > 0 ? state.left(b0) : none;

        put();  // the same in every state
        for (const WordParts* one : {&S0, &S1, &S2, &B0, &B1, &B2}) {
            put(one->word);
            put(one->tag);
        }
        for (const WordParts* one : {&S0, &S1, &B0}) put(one->both);
        pair(S0, B0);
        pair(S1, S0);
        put(S1.tag, B0.tag);
        put(S1.both, B0.tag);
        put(S1.tag, B0.both);
        put(B0.tag, B1.tag);
        put(B0.both, B1.tag);
        put(B0.tag, B1.both);
        put(S0.both, B1.tag);

        put(B0.tag, B1.tag, B2.tag);
        put(S0.tag, B0.tag, B1.tag);
        put(S0.tag, B0.both, B1.tag);
        put(S0.both, B0.tag, B1.tag);
        put(S1.tag, S0.tag, B0.tag);
        put(S1.tag, S0.both, B0.tag);
        put(S1.both, S0.tag, B0.tag);
        put(S1.tag, S0.tag, B0.both);
        put(S1.tag, S0.tag, B0.tag, B1.tag);
        put(S2.tag, S1.tag, S0.tag);
        put(S2.tag, S1.tag, S0.tag, B0.tag);
        put(S0.tag, B0.tag, B1.tag, B2.tag);

        // The distances of the words that LEFT and RIGHT would join.
        const int left_distance = distance_class(s0, b0), right_distance = distance_class(s1, s0);
        distance(S0, B0, left_distance);
        distance(S1, S0, right_distance);

        daughters(state, S0, B0, s0_left);
        daughters(state, S0, B0, s0_right);
        daughters(state, B0, S0, b0_left);
        daughters(state, S1, S0, s1_left);
        daughters(state, S1, S0, s1_right);
        put(S1.tag, S0.tag, tag_of(s0_left.outer));
        put(S1.tag, S0.tag, tag_of(s0_right.outer));
        put(S1.tag, tag_of(s1_right.outer), S0.tag, B0.tag);
        put(S0.tag, tag_of(s0_right.outer), B0.tag, tag_of(b0_left.outer));
        put(S0.both, s0_left.count, s0_right.count);

        for (const WordParts* one : {&S0, &S1, &B0, &B1}) put(one->hint);
        put(S0.hint, B0.hint);
        put(S0.hint, B0.tag);
        put(S0.tag, B0.hint);
        put(S0.both, B0.hint);
        put(S0.hint, B0.both);
        put(S1.hint, S0.hint);
        put(S1.hint, S0.tag);
        put(S1.tag, S0.hint);
        put(S1.tag, S0.hint, B0.tag);
        put(S1.hint, S0.hint, B0.hint);
        put(S0.hint, B0.hint, B1.hint);
        put(S0.hint, B0.hint, left_distance);
        put(S1.hint, S0.hint, right_distance);
        put(S0.hint, s0_left.labels);
        put(S1.hint, s1_right.labels);
        put(B0.hint, b0_left.labels);
        return keys_;
    }

private:
    const WordParts& at(int word) const {
        static const WordParts ABSENT_WORD{};
        return word < 0 ? ABSENT_WORD : parts_[static_cast<std::size_t>(word)];
    }
    // The tag of a daughter; the number 0 stands for no daughter.
    std::uint64_t tag_of(int word) const {
        return word ? parts_[static_cast<std::size_t>(word)].tag : 2;
    }
    static int label_of(const ArcHybrid& state, int word) { return word ? state.label(word) : -1; }

    void pair(const WordParts& a, const WordParts& b) {
        put(a.both, b.tag);
        put(a.tag, b.both);
        put(a.word, b.word);
        put(a.tag, b.tag);
    }
    void distance(const WordParts& a, const WordParts& b, int between) {
        put(a.word, between);
        put(a.tag, between);
        put(b.word, between);
        put(b.tag, between);
        put(a.tag, b.tag, between);
    }
    // A head, the word it may be joined with, and the head's daughters on one side.
    void daughters(const ArcHybrid& state, const WordParts& head, const WordParts& other,
                   const ArcHybrid::Daughters& side) {
        const std::uint64_t outer = tag_of(side.outer), inner = tag_of(side.inner);
        const int outer_label = label_of(state, side.outer),
                  inner_label = label_of(state, side.inner);
        put(head.word, side.count);
        put(head.tag, side.count);
        put(head.word, side.labels);
        put(head.tag, side.labels);
        put(head.tag, other.tag, side.labels);
        put(outer);
        put(outer_label);
        put(side.outer ? parts_[static_cast<std::size_t>(side.outer)].word : 2);
        put(inner, inner_label);
        put(head.tag, outer, other.tag);
        put(head.tag, outer_label, other.tag);
        put(head.tag, outer, inner);
        put(head.tag, outer_label, inner_label);
        put(head.word, outer_label, other.tag);
    }
    template <typename... Values>
    void put(Values... values) {
        FeatureHash hash(template_number_++);
        (hash.add(static_cast<std::uint64_t>(values)), ...);
        keys_.push_back(hash.key());
    }
    std::string lower_;
    std::vector<WordParts> parts_;
    std::vector<FeatureKey> keys_;
    std::uint64_t template_number_ = 0;
};

int best_legal(const ArcHybrid& state, const Classes& classes,
               const std::vector<std::int32_t>& scores) {
    int best = -1;
    for (const Move move : {SHIFT_MOVE, LEFT_MOVE, RIGHT_MOVE})
        if (state.is_legal(move))
            for (int cls = classes.first(move); cls <= classes.last(move); ++cls)
                if (best == -1 || scores[cls] > scores[best]) best = cls;
    return best;
}

// The best class among those of the moves that cost least. A move that makes an arc of the gold tree
// must also give it the right label; other arcs may have any label.
int best_right(const ArcHybrid& state, const GoldTree& gold, const Classes& classes,
               const std::vector<std::int32_t>& scores) {
    const auto lost = lost_arcs(state, gold);
    int least = -1;
    for (const int cost : lost)
        if (cost != ILLEGAL_MOVE && (least == -1 || cost < least)) least = cost;
    int best = -1;
    const int top = state.stack(0);
    for (const Move move : {SHIFT_MOVE, LEFT_MOVE, RIGHT_MOVE}) {
        if (lost[move] != least) continue;
        const int head = move == LEFT_MOVE ? state.buffer(0) : state.stack(1);
        const bool is_gold = move != SHIFT_MOVE && gold.heads[top] == head;
        for (int cls = classes.first(move); cls <= classes.last(move); ++cls)
            if (!is_gold || classes.label(cls) == gold.labels[top])
                if (best == -1 || scores[cls] > scores[best]) best = cls;
    }
    return best;
}

std::size_t checked_labels(std::size_t labels) {
    if (labels == 0 || 1 + 2 * labels >= MAX_CLASSES)
        throw nb::value_error("too few or too many labels");
    return labels;
}

// From the second round on, the parser follows its own moves nine times in ten and learns from
// where they lead.
constexpr std::uint64_t FOLLOWED_MOVES = 9, MOVES_IN_ALL = 10;

nb::bytes train_arc_hybrid(nb::handle word_lists, nb::handle tag_lists, nb::handle hint_lists,
                           const Numbers& heads, const Numbers& labels, std::size_t n_labels,
                           int epochs, int min_updates, double weight_unit, std::uint64_t seed,
                           nb::callable on_epoch) {
    const Input input(word_lists, tag_lists, hint_lists);
    const TextLists& words = input.words;
    const Classes classes{static_cast<int>(checked_labels(n_labels))};
    if (heads.size() != words.total() || labels.size() != words.total())
        throw nb::value_error("a head and a label are needed for each word");
    checked_unit(weight_unit);
    std::vector<GoldTree> trees;
    for (std::size_t s = 0; s < words.size(); ++s) {
        const std::size_t first = words.first(s), n = words.count(s);
        for (std::size_t i = first; i < first + n; ++i)
            if (heads.data()[i] < 0 || heads.data()[i] > static_cast<std::int32_t>(n) ||
                labels.data()[i] < 0 || labels.data()[i] >= classes.labels)
                throw nb::value_error("a head or a label is out of range");
        trees.emplace_back(heads.data() + first, labels.data() + first, n);
    }
    std::string bytes;
    {
        nb::gil_scoped_release release;
        PerceptronTrainer trainer(min_updates);
        MoveFeatures features;
        ArcHybrid state;
        std::vector<std::int32_t> scores(classes.size());
        std::vector<std::size_t> order(words.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (int epoch = 0; epoch < epochs; ++epoch) {
            Stream stream(seed, static_cast<std::uint64_t>(epoch));
            shuffle(order, stream);
            for (const std::size_t s : order) {
                features.start(input, s);
                state.start(words.count(s));
                while (!state.is_final()) {
                    const auto& keys = features.of(state);
                    std::fill(scores.begin(), scores.end(), 0);
                    trainer.add_scores(keys, scores.data());
                    const int guess = best_legal(state, classes, scores);
                    const int right = best_right(state, trees[s], classes, scores);
                    if (scores[guess] != scores[right] || guess != right) {
                        trainer.update(keys, static_cast<std::uint16_t>(right), 1);
                        trainer.update(keys, static_cast<std::uint16_t>(guess), -1);
                    }
                    trainer.tick();
                    const bool is_followed =
                        epoch > 0 && stream.next() % MOVES_IN_ALL < FOLLOWED_MOVES;
                    const int made = is_followed ? guess : right;
                    state.make(classes.move(made), classes.label(made));
                }
            }
            nb::gil_scoped_acquire acquire;
            on_epoch(epoch + 1);
        }
        bytes = trainer.finish(weight_unit);
    }
    return nb::bytes(bytes.data(), bytes.size());
}

class ArcHybridModel {
public:
    ArcHybridModel(const nb::bytes& weights, std::size_t labels)
        : classes_{static_cast<int>(checked_labels(labels))},
          weights_({weights.c_str(), weights.size()}, classes_.size()) {}

    // Head (0 for the root) and label of every word of all sentences, a row each.
    NewArray<std::int32_t, 2> parse(nb::handle word_lists, nb::handle tag_lists,
                                    nb::handle hint_lists, int threads) const {
        const Input input(word_lists, tag_lists, hint_lists);
        const TextLists& words = input.words;
        auto result = new_table<std::int32_t>(words.total(), 2);
        std::int32_t* const arcs = result.data();
        nb::gil_scoped_release release;
        parallel_for(
            words.size(), threads,
            [&, features = MoveFeatures(), state = ArcHybrid(),
             scores = std::vector<std::int32_t>(classes_.size())](std::size_t begin,
                                                                  std::size_t end) mutable {
                for (std::size_t s = begin; s < end; ++s) {
                    features.start(input, s);
                    state.start(words.count(s));
                    while (!state.is_final()) {
                        std::fill(scores.begin(), scores.end(), 0);
                        weights_.add_scores(features.of(state), scores.data());
                        const int best = best_legal(state, classes_, scores);
                        state.make(classes_.move(best), classes_.label(best));
                    }
                    std::int32_t* row = arcs + 2 * words.first(s);
                    for (std::size_t i = 1; i <= words.count(s); ++i) {
                        *row++ = state.heads()[i];
                        *row++ = state.labels()[i];
                    }
                }
            },
            8);
        return result;
    }

private:
    Classes classes_;
    ClassWeights weights_;
};

// The costs of SHIFT, LEFT and RIGHT after some moves, to test the oracle.
std::vector<int> arc_hybrid_costs(const Numbers& heads, const Numbers& moves) {
    require_below(std::span(heads.data(), heads.size()), heads.size() + 1,
                  "a head is out of range");
    const std::vector<std::int32_t> labels(heads.size(), 0);
    const GoldTree gold(heads.data(), labels.data(), heads.size());
    ArcHybrid state;
    state.start(heads.size());
    for (std::size_t i = 0; i < moves.size(); ++i) {
        const auto move = static_cast<Move>(moves.data()[i]);
        if (move < SHIFT_MOVE || move > RIGHT_MOVE || !state.is_legal(move))
            throw nb::value_error("a move that cannot be made");
        state.make(move, 0);
    }
    const auto found = lost_arcs(state, gold);
    return {found.begin(), found.end()};
}

}  // namespace

void add_arc_hybrid(nb::module_& m) {
    m.def("train_arc_hybrid", &train_arc_hybrid, nb::arg("words"), nb::arg("tags"),
          nb::arg("hints"), nb::arg("heads"), nb::arg("labels"), nb::arg("n_labels"),
          nb::arg("epochs"), nb::arg("min_updates"), nb::arg("weight_unit"), nb::arg("seed"),
          nb::arg("on_epoch"));
    m.def("arc_hybrid_costs", &arc_hybrid_costs, nb::arg("heads"), nb::arg("moves"));
    nb::class_<ArcHybridModel>(m, "ArcHybridModel")
        .def(nb::init<nb::bytes, std::size_t>(), nb::arg("weights"), nb::arg("labels"))
        .def("parse", &ArcHybridModel::parse, nb::arg("words"), nb::arg("tags"), nb::arg("hints"),
             nb::arg("threads"));
}

}  // namespace wellput
