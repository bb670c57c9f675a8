// The best paths of a word lattice under an n-gram model, found bottom-up.
//
// A lattice is a list of automata; an arc has a word, or the number of an earlier automaton whose
// paths replace it. So a phrase that may occur in many places is searched once. A *piece* is the words
// along a path to a state of an automaton, with their score. What the words around a piece add to the
// score depends only on the piece's *ends*: its first and its last few words, fewer than the order of
// the model. So of the pieces with the same ends that lead to the same state, only the best are kept,
// as many as there are results to find. This is Viterbi search, and exact. But a state keeps at most
// `max_pieces_` pieces, and an arc with an automaton may not join every piece at its source with every
// piece of the automaton (`follow`). If pieces or pairs are left out, `is_exact` is false.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/keyed_slots.h"
#include "language/ngrams/ngram_view.h"
#include "text/vocabulary.h"

namespace wellput {

// Up to three words in one integer, in lanes of 16 bits. The words of a lattice have numbers from 1 for
// this; an empty lane is 0.
using Lanes = std::uint64_t;

struct Piece {
    double score;
    double estimate;     // the score of the first words, as long as the words before are not known
    Lanes first;         // the first words, the very first in the lowest lane
    Lanes last;          // the last words, the very last in the lowest lane
    std::uint64_t hash;  // of the words
    std::uint32_t length;
    std::int32_t left, right;  // the two pieces it consists of; -1: it is one word or empty
    std::int32_t word;         // the one word; -1 for none

    // NaN ranks last: sorting needs an order of all values.
    double rank() const {
        const double sum = score + estimate;
        return std::isnan(sum) ? -std::numeric_limits<double>::infinity() : sum;
    }
    bool has_ends_of(const Piece& other) const {
        return first == other.first && last == other.last;
    }
    // Equal pieces need some fixed order, so that results do not depend on the order in a table.
    static bool is_better(const Piece& a, const Piece& b) {
        const double x = a.rank(), y = b.rank();
        return std::tie(y, a.left, a.right) < std::tie(x, b.left, b.right);
    }
};

// Log probabilities already looked up in the n-gram model, by n-gram.
class LogProbs {
public:
    static constexpr double UNSET_LOG_PROB = 1;  // no log probability is above 0

    void clear() { slots_.clear(1024); }
    double& operator[](std::uint64_t key) { return slots_.at(key).value; }

private:
    struct Slot {
        std::uint64_t key = 0;  // of no n-gram
        double value = UNSET_LOG_PROB;
    };
    KeyedSlots<Slot> slots_;
};

// The pieces that lead to one state: of those with the same ends, the `n_best` best with different
// words.
class PiecesOfState {
public:
    void clear() {
        pieces_.clear();
        next_.clear();
        n_ends_ = 0;
        floor_ = -std::numeric_limits<double>::infinity();
        std::fill(heads_.begin(), heads_.end(), NO_PIECE);
    }
    const std::vector<Piece>& pieces() const { return pieces_; }

    void add(const Piece& piece, std::size_t n_best) {
        if (piece.rank() < floor_) return;
        if (heads_.size() < 2 * (n_ends_ + 1)) grow();
        const std::size_t slot = slot_of(piece);
        std::size_t n_alike = 0;  // kept pieces with the same ends
        std::uint32_t worst = NO_PIECE;
        for (std::uint32_t x = heads_[slot]; x != NO_PIECE; x = next_[x], ++n_alike) {
            Piece& other = pieces_[x];
            if (other.hash == piece.hash) {
                if (has_higher_score(piece, other)) other = piece;
                return;
            }
            if (worst == NO_PIECE || has_higher_score(pieces_[worst], other)) worst = x;
        }
        if (n_alike >= n_best) {
            if (has_higher_score(piece, pieces_[worst])) pieces_[worst] = piece;
            return;
        }
        n_ends_ += n_alike == 0;
        next_.push_back(heads_[slot]);
        heads_[slot] = static_cast<std::uint32_t>(pieces_.size());
        pieces_.push_back(piece);
    }

    void sort() { std::sort(pieces_.begin(), pieces_.end(), Piece::is_better); }

    // Keeps only the `max_pieces` best pieces; there must be more. Later pieces that rank below all of
    // these are not taken.
    void keep_best(std::size_t max_pieces) {
        const auto last = pieces_.begin() + static_cast<std::ptrdiff_t>(max_pieces) - 1;
        std::nth_element(pieces_.begin(), last, pieces_.end(), Piece::is_better);
        floor_ = last->rank();
        pieces_.resize(max_pieces);
        rebuild();
    }

private:
    static constexpr std::uint32_t NO_PIECE = ~std::uint32_t{0};

    // Which of two pieces with the same ends is better: their estimates are equal.
    static bool has_higher_score(const Piece& a, const Piece& b) {
        return std::tie(b.score, a.left, a.right) < std::tie(a.score, b.left, b.right);
    }
    // A slot holds a list of pieces with the same ends.
    std::size_t slot_of(const Piece& piece) const {
        const std::uint64_t h =
            (piece.first * 0x9e3779b97f4a7c15ull ^ piece.last) * 0xff51afd7ed558ccdull;
        std::size_t slot = (h >> 32) & (heads_.size() - 1);
        while (heads_[slot] != NO_PIECE && !pieces_[heads_[slot]].has_ends_of(piece))
            slot = (slot + 1) & (heads_.size() - 1);
        return slot;
    }
    void grow() {
        heads_.resize(std::max<std::size_t>(64, 2 * heads_.size()));
        rebuild();
    }
    void rebuild() {
        std::fill(heads_.begin(), heads_.end(), NO_PIECE);
        next_.assign(pieces_.size(), NO_PIECE);
        n_ends_ = 0;
        for (std::uint32_t x = 0; x < pieces_.size(); ++x) {
            const std::size_t slot = slot_of(pieces_[x]);
            n_ends_ += heads_[slot] == NO_PIECE;
            next_[x] = heads_[slot];
            heads_[slot] = x;
        }
    }

    std::vector<Piece> pieces_;
    std::vector<std::uint32_t> heads_;  // by slot: the first piece of its list
    std::vector<std::uint32_t> next_;   // by piece: the next one of its list
    std::size_t n_ends_ = 0;
    double floor_ = 0;  // the lowest rank of a piece that is still taken
};

struct Arc {
    std::int32_t source, target, label;  // label >= 0: a word; else ~label is an automaton
    double weight;
};

// States are numbered so that arcs lead to higher numbers: 0 is the first, the last one is final.
struct Automaton {
    const Arc* arcs;
    std::size_t n_arcs, n_states;
};

struct FoundPath {
    double score;     // arc weights + lm_weight * log10 probability
    double log_prob;  // log10, from <s> to </s>
    std::vector<std::int32_t> words;
};

class LatticeSearch {
public:
    static constexpr std::size_t MAX_ORDER = 4;

    LatticeSearch(const NgramView& model, double lm_weight, std::size_t n_best, std::size_t width)
        : model_(model), context_size_(model.order() - 1), lm_weight_(lm_weight), n_best_(n_best) {
        const std::size_t pieces = width * std::min(n_best, RESULTS_WITH_FULL_WIDTH);
        max_pieces_ = std::max(pieces, n_best);
        max_pairs_ = std::max(pieces * pieces, 4 * max_pieces_);
    }

    // The best different word sequences of the last automaton. A word "" stands for no word.
    std::vector<FoundPath> search(const std::vector<Automaton>& automata,
                                  std::span<const std::string_view> words) {
        number_words(words);
        pieces_.clear();
        finals_.assign(automata.size(), {});
        is_exact_ = true;
        for (std::size_t a = 0; a < automata.size(); ++a) search_automaton(automata[a], finals_[a]);
        return sentences(finals_.back());
    }
    bool is_exact() const { return is_exact_; }

private:
    static constexpr unsigned LANE_BITS = 16;
    static constexpr Lanes LANE_MASK = 0xffff;
    // Up to this n_best, a state keeps `width` pieces for each result. A larger n_best does not raise
    // this further: the cost grows with the square of the number of pieces.
    static constexpr std::size_t RESULTS_WITH_FULL_WIDTH = 10;

    void number_words(std::span<const std::string_view> words) {
        std::unordered_map<std::uint32_t, std::uint16_t> numbers;
        model_ids_.assign({UNKNOWN_WORD, SENTENCE_BEGIN, SENTENCE_END});
        lane_numbers_.clear();
        texts_.clear();
        vocabulary_.clear();
        known_log_probs_.clear();
        for (const auto word : words) {
            texts_.push_back(static_cast<std::uint32_t>(vocabulary_.add(word)));
            if (word.empty()) {
                lane_numbers_.push_back(0);
                continue;
            }
            const std::uint32_t id = find_in_text(model_.words(), word);
            const auto next = static_cast<std::uint16_t>(model_ids_.size());
            const auto [at, is_new] = numbers.emplace(id, next);
            if (is_new) model_ids_.push_back(id);
            lane_numbers_.push_back(at->second);
        }
        if (model_ids_.size() > LANE_MASK)
            throw std::length_error("a lattice has more than 65,000 different words");
    }

    // log10 of the probability of a word after others, whose last is in the lowest lane of `before`.
    double log_prob(Lanes before, Lanes word) {
        double& value = known_log_probs_[before << LANE_BITS | word];
        if (value != LogProbs::UNSET_LOG_PROB) return value;
        std::array<std::uint32_t, MAX_ORDER> ids;
        std::size_t n = 0;
        for (; before; before >>= LANE_BITS) ids[n++] = model_ids_[before & LANE_MASK];
        return value = model_.log_prob(model_ids_[word], ids.data(), n);
    }

    // The context of the next word: `last` and then `word`, without what is too far back.
    Lanes after(Lanes last, Lanes word) const {
        if (context_size_ == 0) return 0;
        return (last << LANE_BITS | word) & (~Lanes{0} >> (64 - LANE_BITS * context_size_));
    }

    // The piece that has the words of `left` and then those of `right`. The first words of `right` get
    // their score now, unless they are also among the first words of the whole. Then their score is an
    // estimate, which is replaced when words come before them.
    Piece joined(const Piece& left, const Piece& right) {
        Piece piece{left.score + right.score,
                    left.estimate,
                    left.first,
                    left.last,
                    left.hash * power(right.length) + right.hash,
                    left.length + right.length,
                    -1,
                    -1,
                    -1};
        std::size_t known = std::min<std::size_t>(left.length, context_size_);
        for (Lanes rest = right.first; rest; rest >>= LANE_BITS) {
            const Lanes word = rest & LANE_MASK;
            const double value = lm_weight_ * log_prob(piece.last, word);
            if (known < context_size_) {
                piece.first |= word << (LANE_BITS * known++);
                piece.estimate += value;
            } else {
                piece.score += value;
            }
            piece.last = after(piece.last, word);
        }
        if (right.length >= context_size_ && context_size_ > 0) piece.last = right.last;
        return piece;
    }

    Piece of_word(std::int32_t word) {
        const Lanes number = lane_numbers_[static_cast<std::size_t>(word)];
        Piece piece{0, 0, 0, 0, 0, 0, -1, -1, word};
        if (number == 0) return piece;
        piece.length = 1;
        piece.hash = texts_[static_cast<std::size_t>(word)];
        if (context_size_ == 0) {
            piece.score = lm_weight_ * log_prob(0, number);
        } else {
            piece.first = piece.last = number;
            piece.estimate = lm_weight_ * log_prob(0, number);
        }
        return piece;
    }

    void search_automaton(const Automaton& automaton, std::vector<std::int32_t>& finals) {
        by_target_.clear();
        for (std::size_t a = 0; a < automaton.n_arcs; ++a) by_target_.push_back(automaton.arcs + a);
        std::stable_sort(by_target_.begin(), by_target_.end(),
                         [](const Arc* x, const Arc* y) { return x->target < y->target; });
        std::vector<std::vector<std::int32_t>> reached(automaton.n_states);
        reached[0].push_back(add(Piece{0, 0, 0, 0, 0, 0, -1, -1, -1}));
        auto next = by_target_.begin();
        for (std::size_t s = 1; s < automaton.n_states; ++s) {
            state_pieces_.clear();
            for (; next != by_target_.end() && (*next)->target == static_cast<int>(s); ++next)
                follow(**next, reached[static_cast<std::size_t>((*next)->source)]);
            if (state_pieces_.pieces().size() > max_pieces_) prune();
            state_pieces_.sort();
            for (const Piece& piece : state_pieces_.pieces()) reached[s].push_back(add(piece));
        }
        finals = reached.back();
    }

    void follow(const Arc& arc, const std::vector<std::int32_t>& from) {
        if (arc.label >= 0) {
            const std::int32_t word = add(of_word(arc.label));
            for (const std::int32_t piece : from) extend(arc, piece, word);
            return;
        }
        // Both lists have the best pieces first. If they are long, a piece that is far down in one list
        // is joined only with the first pieces of the other.
        const auto& paths = finals_[static_cast<std::size_t>(~arc.label)];
        for (std::size_t i = 0; i < from.size(); ++i) {
            const std::size_t n = std::min(paths.size(), max_pairs_ / (i + 1));
            is_exact_ &= n == paths.size();
            for (std::size_t j = 0; j < n; ++j) extend(arc, from[i], paths[j]);
        }
    }

    // Adds the piece that goes along the arc, from `left` with `right`, to those of the arc's target.
    void extend(const Arc& arc, std::int32_t left, std::int32_t right) {
        Piece piece = joined(at(left), at(right));
        piece.score += arc.weight;
        piece.left = left;
        piece.right = right;
        state_pieces_.add(piece, n_best_);
        // From time to time, so that memory stays bounded and hopeless pieces are soon dropped.
        if (state_pieces_.pieces().size() >= 4 * max_pieces_) prune();
    }

    // For a state with more than `max_pieces_` pieces.
    void prune() {
        is_exact_ = false;
        state_pieces_.keep_best(max_pieces_);
    }

    std::vector<FoundPath> sentences(const std::vector<std::int32_t>& finals) {
        std::vector<std::pair<double, std::int32_t>> ranked;
        // With this length, `joined` takes all words before a sentence as known: every word gets its
        // score, none an estimate.
        const auto length = static_cast<std::uint32_t>(context_size_);
        const Piece begin{0, 0, 0, context_size_ ? BEGIN_WORD : Lanes{0}, 0, length, -1, -1, -1};
        for (const std::int32_t x : finals) {
            const Piece whole = joined(begin, at(x));
            const double score = whole.score + lm_weight_ * log_prob(whole.last, END_WORD);
            ranked.emplace_back(
                std::isnan(score) ? -std::numeric_limits<double>::infinity() : score, x);
        }
        std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        std::vector<FoundPath> found;
        std::vector<std::uint64_t> seen;
        for (const auto& [score, x] : ranked) {
            if (found.size() == n_best_) break;
            if (std::find(seen.begin(), seen.end(), at(x).hash) != seen.end()) continue;
            seen.push_back(at(x).hash);
            found.push_back({score, 0, words_of(x)});
            found.back().log_prob = sentence_log_prob(found.back().words);
        }
        return found;
    }

    double sentence_log_prob(const std::vector<std::int32_t>& words) {
        Lanes last = context_size_ ? BEGIN_WORD : Lanes{0};
        double sum = 0;
        for (const std::int32_t word : words) {
            const Lanes number = lane_numbers_[static_cast<std::size_t>(word)];
            sum += log_prob(last, number);
            last = after(last, number);
        }
        return sum + log_prob(last, END_WORD);
    }

    std::vector<std::int32_t> words_of(std::int32_t whole) const {
        std::vector<std::int32_t> words, waiting{whole};
        while (!waiting.empty()) {  // from the last word to the first
            const Piece& piece = at(waiting.back());
            waiting.pop_back();
            if (piece.left >= 0) {
                waiting.push_back(piece.left);
                waiting.push_back(piece.right);
            } else if (piece.word >= 0 && piece.length == 1) {
                words.push_back(piece.word);
            }
        }
        std::reverse(words.begin(), words.end());
        return words;
    }

    // The power of the base with which hashes of pieces are put together.
    static std::uint64_t power(std::uint32_t exponent) {
        std::uint64_t result = 1, base = 0x9e3779b97f4a7c15ull;
        for (; exponent; exponent >>= 1, base *= base)
            if (exponent & 1) result *= base;
        return result;
    }

    const Piece& at(std::int32_t x) const { return pieces_[static_cast<std::size_t>(x)]; }
    std::int32_t add(const Piece& piece) {
        pieces_.push_back(piece);
        return static_cast<std::int32_t>(pieces_.size() - 1);
    }

    static constexpr Lanes BEGIN_WORD = 1, END_WORD = 2;
    const NgramView& model_;
    std::size_t context_size_;  // in words
    double lm_weight_;
    std::size_t n_best_;
    std::size_t max_pieces_;  // how many pieces a state keeps
    std::size_t max_pairs_;   // about how many pairs of pieces an arc joins
    bool is_exact_ = true;
    std::vector<std::uint32_t> model_ids_;     // by number in lanes: the number in the n-gram model
    std::vector<std::uint16_t> lane_numbers_;  // by word of the lattice; 0 for ""
    Vocabulary vocabulary_;
    std::vector<std::uint32_t> texts_;  // by word of the lattice: equal for equal words
    LogProbs known_log_probs_;
    std::vector<Piece> pieces_;
    PiecesOfState state_pieces_;  // the pieces of the state that is being reached
    std::vector<const Arc*> by_target_;
    std::vector<std::vector<std::int32_t>> finals_;  // by automaton: the pieces of its last state
};

}  // namespace wellput
