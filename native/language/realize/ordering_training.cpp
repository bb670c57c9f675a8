// Training of the learned orderer: for each treelet, one step up the log probability of the right order
// among the best orders under the current weights.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/checks.h"
#include "core/random_stream.h"
#include "kernels.h"
#include "language/learning/linear_weights.h"
#include "language/realize/ordering_features.h"
#include "language/realize/ordering_search.h"
#include "language/realize/ordering_tree.h"

namespace wellput {
namespace {

// The slope of the right order's log probability, for each piece of an order (one item before another,
// two or three neighbors): 1 if the right order has the piece, minus the probability that an order has
// it. Items are numbered as in Treelet: 0 is the head's own word, n_ stands for both ends.
class PieceSlopes {
public:
    void start(std::size_t items) {
        n_ = items;
        before_.assign(n_ * n_, 0.0f);
        beside_.assign(2 * (n_ + 1) * (n_ + 1), 0.0f);
        three_.clear();
    }
    // Adds `share` to the slope of each piece of an order.
    void add(std::span<const std::uint16_t> order, float share) {
        for (std::size_t x = 0; x < n_; ++x)
            for (std::size_t y = x + 1; y < n_; ++y) before_[order[x] * n_ + order[y]] += share;
        const std::size_t m = n_ + 1;
        std::size_t before_last = n_, last = n_;
        bool after = false;  // the head's word stands before `item`
        for (std::size_t x = 0; x <= n_; ++x) {
            const std::size_t item = x < n_ ? order[x] : n_;
            const std::size_t pair = (after * m + last) * m + item;
            beside_[pair] += share;
            if (x > 0) three_[before_last * beside_.size() + pair] += share;
            after = after || item == 0;
            before_last = last;
            last = item;
        }
    }
    // Calls climb(key, slope) for each feature of each piece whose slope is worth a step.
    template <typename Climb>
    void visit(const Treelet& treelet, Climb climb) const {
        const std::size_t m = n_ + 1;
        const auto with = [&](float slope) {
            return [slope, &climb](FeatureKey key, float sign) { climb(key, sign * slope); };
        };
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = i + 1; j < n_; ++j)
                if (const float slope = before_[i * n_ + j] - before_[j * n_ + i]; is_steep(slope))
                    treelet.precedence(i, j, with(slope));
        for (std::size_t pair = 0; pair < beside_.size(); ++pair)
            if (is_steep(beside_[pair]))
                treelet.neighbors(pair / m % m, pair % m, pair / m / m, with(beside_[pair]));
        for (const auto& [three, slope] : three_) {
            const std::size_t pair = three % beside_.size();
            if (is_steep(slope))
                treelet.triple(three / beside_.size(), pair / m % m, pair % m, pair / m / m,
                               with(slope));
        }
    }

private:
    static bool is_steep(float slope) { return std::fabs(slope) > 1e-3f; }
    std::size_t n_ = 0;
    // Slopes. before_[i * n_ + j]: of item i before item j. beside_[pair], where `pair` is
    // (after * (n_ + 1) + i) * (n_ + 1) + j: of i directly before j (`after` as in Treelet).
    // three_[h * beside_.size() + pair]: of h directly before these two.
    std::vector<float> before_, beside_;
    std::map<std::size_t, float> three_;
};

class OrdererTraining {
public:
    OrdererTraining(const TreeTexts& texts, int min_updates, std::size_t width, std::uint64_t seed)
        : texts_(texts), seed_(seed), trainer_(min_updates, LEFT_OUT_SHARE), search_(width),
          extra_(/*ngrams=*/nullptr, /*weight=*/0) {}

    void epoch(int number) {
        std::vector<std::size_t> order(texts_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        shuffle(order, Stream(seed_, static_cast<std::uint64_t>(number)));
        mistakes_ = 0;
        for (const std::size_t t : order) {
            work_.start(texts_, t, nullptr);
            const auto& downwards = work_.tree().downwards();
            for (auto head = downwards.rbegin(); head != downwards.rend(); ++head) learn(*head);
        }
    }
    std::size_t mistakes() const { return mistakes_; }
    std::string finish(double weight_unit, double min_weight) {
        return trainer_.finish(weight_unit, min_weight);
    }

private:
    using Scores = TreeletScores<LinearTrainer, NgramExtra>;

    void learn(std::uint32_t head) {
        const Daughters daughters = work_.tree().daughters(head);
        if (daughters.empty()) return;
        const auto right = given_order(head, daughters);
        if (right.size() <= MAX_TREELET_ITEMS) {
            work_.make_treelet(head, daughters, treelet_);
            Scores scores(treelet_, trainer_, extra_);
            climb(scores, right);
            trainer_.tick();
        }
        work_.settle(head, daughters, right);
    }

    void climb(Scores& scores, const std::vector<std::uint16_t>& right) {
        auto found = search_.best(scores, RIVAL_ORDERS);
        mistakes_ += found.front().items != right;
        std::erase_if(found, [&](const FoundOrder& order) { return order.items == right; });
        found.push_back({right, scores.total(right), false});
        float best = found.front().score;
        for (const FoundOrder& order : found) best = std::max(best, order.score);
        float sum = 0;
        for (const FoundOrder& order : found) sum += std::exp(order.score - best);
        const auto share = [&](const FoundOrder& order) {
            return std::exp(order.score - best) / sum;
        };
        if (share(found.back()) > SURE_SHARE) return;
        slopes_.start(right.size());
        slopes_.add(right, 1.0f);
        for (const FoundOrder& order : found) slopes_.add(order.items, -share(order));
        slopes_.visit(treelet_, [&](FeatureKey key, float slope) { trainer_.climb(key, slope); });
    }

    // Heads with more daughters are lists, which teach nothing about sentences.
    static constexpr std::size_t MAX_TREELET_ITEMS = 40;
    static constexpr std::size_t RIVAL_ORDERS = 8;  // that the right one is compared with
    static constexpr float SURE_SHARE = 0.995f;     // if the right order has more: no step
    static constexpr double LEFT_OUT_SHARE = 0.3;   // the share of features that a step leaves out
    const TreeTexts& texts_;
    std::uint64_t seed_;
    LinearTrainer trainer_;
    OrderSearch<Scores> search_;
    NgramExtra extra_;
    TreeInWork work_;
    Treelet treelet_;
    PieceSlopes slopes_;
    std::size_t mistakes_ = 0;
};

nb::bytes train_orderer(nb::handle forms, nb::handle tags, nb::handle relations, const Heads& heads,
                        int epochs, int min_updates, double weight_unit, double min_weight,
                        std::size_t width, std::uint64_t seed, nb::callable on_epoch) {
    checked_unit(weight_unit);
    require(width > 0, "width must be at least 1");
    const TreeTexts texts(forms, tags, relations, heads);
    OrdererTraining training(texts, min_updates, width, seed);
    std::string bytes;
    {
        nb::gil_scoped_release release;
        for (int epoch = 0; epoch < epochs; ++epoch) {
            training.epoch(epoch);
            nb::gil_scoped_acquire acquire;
            on_epoch(epoch + 1, training.mistakes());
        }
        bytes = training.finish(weight_unit, min_weight);
    }
    return nb::bytes(bytes.data(), bytes.size());
}

}  // namespace

void add_ordering_training(nb::module_& m) {
    m.def("train_orderer", &train_orderer, nb::arg("forms"), nb::arg("tags"), nb::arg("relations"),
          nb::arg("heads"), nb::arg("epochs"), nb::arg("min_updates"), nb::arg("weight_unit"),
          nb::arg("min_weight"), nb::arg("width"), nb::arg("seed"), nb::arg("on_epoch"));
}

}  // namespace wellput
