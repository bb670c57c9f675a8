// The best orders of a treelet: a beam search over orders built from left to right. Of two
// beginnings with the same items and the same last two only the better is kept (unless several
// orders are wanted). If the beam never drops a beginning, the result is the best order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_set>
#include <vector>

#include "language/realize/order_network.h"
#include "language/realize/ordering_features.h"

namespace wellput {

// Scores of the pieces of a treelet's orders (one item before another, two or three neighbors) by one
// model. `Extra` gives the scores that do not come from features: neighbors(i, j) and triple(i, j, k).
template <typename Weights, typename Extra>
class TreeletScores {
public:
    TreeletScores(const Treelet& treelet, const Weights& weights, const Extra& extra)
        : treelet_(treelet), weights_(weights), extra_(extra), n_(treelet.size()) {
        fill_precedence();
        fill_neighbors();
        if (n_ <= MAX_MEMORIZED_ITEMS)
            triples_.assign(2 * (n_ + 1) * (n_ + 1) * (n_ + 1), UNKNOWN_SCORE);
    }
    std::size_t size() const { return n_; }
    float precedence(std::size_t i, std::size_t j) const { return precedence_[i * n_ + j]; }
    float neighbors(std::size_t i, std::size_t j, bool after) const {
        return neighbors_[(after * (n_ + 1) + i) * (n_ + 1) + j];
    }
    float triple(std::size_t i, std::size_t j, std::size_t k, bool after) {
        if (triples_.empty()) return computed_triple(i, j, k, after);
        float& known = triples_[((after * (n_ + 1) + i) * (n_ + 1) + j) * (n_ + 1) + k];
        if (std::isnan(known)) known = computed_triple(i, j, k, after);
        return known;
    }
    // The score of a whole order.
    float total(std::span<const std::uint16_t> order) {
        float sum = 0;
        std::size_t before_last = n_, last = n_;
        bool after = false;
        for (std::size_t x = 0; x <= n_; ++x) {
            const std::size_t item = x < n_ ? order[x] : n_;
            for (std::size_t y = x + 1; y < n_; ++y) sum += precedence(item, order[y]);
            sum += neighbors(last, item, after);
            if (x > 0) sum += triple(before_last, last, item, after);
            after = after || item == 0;
            before_last = last;
            last = item;
        }
        return sum;
    }

private:
    static constexpr std::size_t MAX_MEMORIZED_ITEMS = 24;
    static constexpr float UNKNOWN_SCORE = std::numeric_limits<float>::quiet_NaN();

    void fill_precedence() {
        precedence_.assign(n_ * n_, 0.0f);
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = i + 1; j < n_; ++j) {
                float sum = 0;
                treelet_.precedence(
                    i, j, [&](FeatureKey key, float sign) { sum += sign * weights_.weight(key); });
                precedence_[i * n_ + j] = sum;
                precedence_[j * n_ + i] = -sum;
            }
    }
    void fill_neighbors() {
        neighbors_.assign(2 * (n_ + 1) * (n_ + 1), 0.0f);
        for (std::size_t i = 0; i <= n_; ++i)
            for (std::size_t j = 0; j <= n_; ++j) {
                if (i == j) continue;
                const float extra = extra_.neighbors(i, j);
                for (const bool after : {false, true}) {
                    // Left of the head's word no pair begins with it or ends at the edge; right of
                    // it no pair ends with it or begins at the edge.
                    if (after ? j == 0 || i == n_ : i == 0 || j == n_) continue;
                    float sum = extra;
                    treelet_.neighbors(i, j, after,
                                       [&](FeatureKey key, float) { sum += weights_.weight(key); });
                    neighbors_[(after * (n_ + 1) + i) * (n_ + 1) + j] = sum;
                }
            }
    }
    float computed_triple(std::size_t i, std::size_t j, std::size_t k, bool after) const {
        float sum = extra_.triple(i, j, k);
        treelet_.triple(i, j, k, after,
                        [&](FeatureKey key, float) { sum += weights_.weight(key); });
        return sum;
    }

    const Treelet& treelet_;
    const Weights& weights_;
    const Extra& extra_;
    std::size_t n_;
    std::vector<float> precedence_, neighbors_, triples_;
};

struct FoundOrder {
    std::vector<std::uint16_t> items;
    float score;
    bool is_exact;  // nothing was dropped on the way
};

// A beginning is the first items of an order. Beginnings are compared by their loss: their score minus
// that of the better order of each pair whose order is decided, and minus that of the best left
// neighbor of each placed item. If scores were compared, beginnings that delay the most expensive items
// would always look best.
template <typename Scores>
class OrderSearch {
public:
    explicit OrderSearch(std::size_t width) : width_(width) {}

    // Up to `n_best` orders, best first. The log probability of each step by the order network, if
    // there is one, counts `step_weight` times.
    std::vector<FoundOrder> best(Scores& scores, std::size_t n_best = 1,
                                 OrderSteps* steps = nullptr, float step_weight = 0) {
        prepare(scores);
        n_best_ = n_best;
        steps_ = steps;
        step_weight_ = step_weight;
        const std::size_t n = scores.size();
        if (steps_) {
            states_.resize(steps_->state_size());
            steps_->first_state(states_.data());
        }
        bool is_exact = true;
        layers_.assign(1, {Beginning{0, 0, static_cast<std::uint16_t>(n),
                                     static_cast<std::uint16_t>(n), false, 0}});
        used_.assign(1, std::vector<std::uint64_t>((n + 63) / 64, 0));
        for (std::size_t step = 0; step < n; ++step) is_exact &= extend(scores);
        return finished(scores, is_exact);
    }

private:
    struct Beginning {
        float score, loss;
        std::uint16_t before_last, last;  // the number of items stands for none
        bool after;                       // the head's own word is placed
        std::uint32_t parent;  // the beginning without the last item, in the layer before
    };

    // Finds the best left neighbor of each item.
    void prepare(Scores& scores) {
        const std::size_t n = scores.size();
        best_left_.assign(n + 1, -std::numeric_limits<float>::infinity());
        for (const bool after : {false, true})
            for (std::size_t j = 0; j <= n; ++j)
                for (std::size_t i = 0; i <= n; ++i) {
                    if (i == j || (after ? j == 0 || i == n : i == 0 || j == n)) continue;
                    float& best = best_left_[j];
                    best = std::max(best, scores.neighbors(i, j, after));
                }
    }

    // Places one more item; returns whether no beginning was dropped for lack of room.
    bool extend(Scores& scores) {
        const std::size_t n = scores.size();
        const auto& layer = layers_.back();
        candidates_.clear();
        for (std::uint32_t b = 0; b < layer.size(); ++b) {
            const Beginning& from = layer[b];
            if (steps_)
                steps_->next(states_.data() + b * steps_->state_size(), from.last, from.before_last,
                             used_[b], log_probs_);
            for (std::size_t item = 0; item < n; ++item) {
                if (used_[b][item / 64] >> (item % 64) & 1) continue;
                float score = scores.neighbors(from.last, item, from.after);
                if (from.last != n)
                    score += scores.triple(from.before_last, from.last, item, from.after);
                float loss = score - best_left_[item];
                if (steps_) {
                    score += step_weight_ * log_probs_[item];
                    loss += step_weight_ * log_probs_[item];
                }
                for (std::size_t later = 0; later < n; ++later) {
                    if (later == item || used_[b][later / 64] >> (later % 64) & 1) continue;
                    const float precedence = scores.precedence(item, later);
                    score += precedence;
                    loss += precedence - std::fabs(precedence);
                }
                candidates_.push_back({from.score + score, from.loss + loss, from.last,
                                       static_cast<std::uint16_t>(item), from.after || item == 0,
                                       b});
            }
        }
        return keep_best();
    }

    // Makes the next layer of the best candidates; returns whether none was dropped for lack of room.
    bool keep_best() {
        std::sort(candidates_.begin(), candidates_.end(),
                  [](const Beginning& a, const Beginning& b) {
                      if (a.loss != b.loss) return a.loss > b.loss;
                      return a.parent != b.parent ? a.parent < b.parent : a.last < b.last;
                  });
        std::vector<Beginning> kept;
        std::vector<std::vector<std::uint64_t>> used;
        seen_.clear();
        bool is_exact = true;
        for (const Beginning& candidate : candidates_) {
            auto items = used_[candidate.parent];
            items[candidate.last / 64] |= std::uint64_t{1} << (candidate.last % 64);
            FeatureHash state(candidate.last);
            state.add(candidate.before_last);
            for (const std::uint64_t bits : items) state.add(bits);
            if (n_best_ == 1 && !seen_.insert(state.value()).second) continue;
            if (kept.size() == width_) {
                is_exact = false;
                break;
            }
            kept.push_back(candidate);
            used.push_back(std::move(items));
        }
        layers_.push_back(std::move(kept));
        used_ = std::move(used);
        if (steps_) take_steps();
        return is_exact;
    }

    // Computes the order network's states for the beginnings of the last layer.
    void take_steps() {
        const std::size_t size = steps_->state_size();
        const auto& layer = layers_.back();
        next_states_.resize(layer.size() * size);
        for (std::size_t b = 0; b < layer.size(); ++b) {
            float* const state = next_states_.data() + b * size;
            std::copy_n(states_.data() + layer[b].parent * size, size, state);
            steps_->place(layer[b].last, state);
        }
        states_.swap(next_states_);
    }

    std::vector<FoundOrder> finished(Scores& scores, bool is_exact) {
        const std::size_t n = scores.size();
        const auto& whole = layers_.back();
        std::vector<std::pair<float, std::uint32_t>> ranked;
        for (std::uint32_t b = 0; b < whole.size(); ++b)
            ranked.emplace_back(whole[b].score + scores.neighbors(whole[b].last, n, true) +
                                    scores.triple(whole[b].before_last, whole[b].last, n, true),
                                b);
        std::stable_sort(ranked.begin(), ranked.end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        ranked.resize(std::min(ranked.size(), n_best_));
        std::vector<FoundOrder> found;
        for (auto [score, b] : ranked) {
            found.push_back({std::vector<std::uint16_t>(n), score, is_exact});
            for (std::size_t x = n; x-- > 0; b = layers_[x + 1][b].parent)
                found.back().items[x] = layers_[x + 1][b].last;
        }
        return found;
    }

    std::size_t width_, n_best_ = 1;
    std::vector<std::vector<Beginning>> layers_;    // by number of placed items
    std::vector<std::vector<std::uint64_t>> used_;  // the items of each beginning of the last layer
    std::vector<Beginning> candidates_;
    std::vector<float> best_left_;  // by item: the score of its best left neighbor
    OrderSteps* steps_ = nullptr;
    float step_weight_ = 0;
    std::vector<float> states_, next_states_, log_probs_;
    std::unordered_set<std::uint64_t> seen_;
};

}  // namespace wellput
