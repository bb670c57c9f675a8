// The learned orderer: puts the words of unordered dependency trees into order, treelet by treelet from
// the bottom up, by a linear model over features of the order and an n-gram model.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/parallel.h"
#include "core/random_stream.h"
#include "kernels.h"
#include "language/learning/linear_weights.h"
#include "language/realize/ordering_features.h"
#include "language/realize/ordering_search.h"
#include "language/realize/ordering_tree.h"

namespace wellput {
namespace {

// Training of the learned orderer: for each treelet, one step up the log probability of the right
// order among the best orders under the current weights.

// The order of a head and her daughters in the given tree, by item numbers.
std::vector<std::uint16_t> given_order(std::uint32_t head, Daughters daughters) {
    std::vector<std::uint16_t> items(daughters.size() + 1);
    std::iota(items.begin(), items.end(), std::uint16_t{0});
    const auto place = [&](std::uint16_t item) { return item ? daughters[item - 1] : head; };
    std::sort(items.begin(), items.end(),
              [&](std::uint16_t a, std::uint16_t b) { return place(a) < place(b); });
    return items;
}

// For each piece of an order (one before another, two or three neighbors), how much more of it the
// right order of a treelet has than orders have on average.
class PieceSlopes {
public:
    void start(std::size_t items) {
        n_ = items;
        before_.assign(n_ * n_, 0.0f);
        beside_.assign(2 * (n_ + 1) * (n_ + 1), 0.0f);
        three_.clear();
    }
    void add(std::span<const std::uint16_t> order, float share) {
        for (std::size_t x = 0; x < n_; ++x)
            for (std::size_t y = x + 1; y < n_; ++y) before_[order[x] * n_ + order[y]] += share;
        const std::size_t m = n_ + 1;
        std::size_t before = n_, last = n_;
        bool after = false;
        for (std::size_t x = 0; x <= n_; ++x) {
            const std::size_t item = x < n_ ? order[x] : n_;
            const std::size_t pair = (after * m + last) * m + item;
            beside_[pair] += share;
            if (x > 0) three_[before * beside_.size() + pair] += share;
            after = after || item == 0;
            before = last;
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
    std::vector<float> before_, beside_;
    std::map<std::size_t, float> three_;
};

class OrdererTraining {
public:
    OrdererTraining(const TreeTexts& texts, int min_updates, std::size_t width, std::uint64_t seed)
        : texts_(texts), seed_(seed), trainer_(min_updates, kLeftOut), search_(width),
          extra_(nullptr, 0) {}

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
    std::string finish(double unit, double smallest) { return trainer_.finish(unit, smallest); }

private:
    using Scores = TreeletScores<LinearTrainer, NgramExtra>;

    void learn(std::uint32_t head) {
        const Daughters daughters = work_.tree().daughters(head);
        if (daughters.empty()) return;
        const auto right = given_order(head, daughters);
        if (right.size() <= kMostItems) {
            work_.make_treelet(head, daughters, treelet_);
            Scores scores(treelet_, trainer_, extra_);
            climb(scores, right);
            trainer_.tick();
        }
        work_.settle(head, daughters, right);
    }

    void climb(Scores& scores, const std::vector<std::uint16_t>& right) {
        auto found = search_.best(scores, kRivals);
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
        if (share(found.back()) > kSure) return;
        slopes_.start(right.size());
        slopes_.add(right, 1.0f);
        for (const FoundOrder& order : found) slopes_.add(order.items, -share(order));
        slopes_.visit(treelet_, [&](FeatureKey key, float slope) { trainer_.climb(key, slope); });
    }

    // Longer lists teach nothing about sentences.
    static constexpr std::size_t kMostItems = 40, kRivals = 8;
    static constexpr float kSure = 0.995f;
    static constexpr double kLeftOut = 0.3;
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
                        int epochs, int min_updates, double unit, double smallest,
                        std::size_t width, std::uint64_t seed, nb::callable on_epoch) {
    checked_unit(unit);
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
        bytes = training.finish(unit, smallest);
    }
    return nb::bytes(bytes.data(), bytes.size());
}

// An order of a whole tree, and its score minus that of the best.
struct WholeOrder {
    float loss;
    std::vector<std::size_t> choices;  // by treelet
};

class Orderer {
public:
    explicit Orderer(const nb::bytes& weights)
        : weights_(std::string_view(weights.c_str(), weights.size())) {}

    // `weight` is in units of the weights, for a gain of one in log10.
    void use_ngrams(nb::handle vocabulary, nb::handle levels, double weight) {
        require(std::fabs(weight) < 1e6, "the weight of n-grams is out of range");
        ngrams_ = std::make_unique<NgramView>(vocabulary, levels);
        ngram_weight_ = static_cast<float>(weight);
    }

    // The places of all words in order, tree by tree, and for each tree whether its treelets have
    // the best possible orders, because the search dropped nothing.
    nb::tuple order(nb::handle forms, nb::handle tags, nb::handle relations, const Heads& heads,
                    std::size_t width, int threads) const {
        require(width > 0, "width must be at least 1");
        const TreeTexts texts(forms, tags, relations, heads);
        std::vector<std::int32_t> places(texts.forms.total());
        std::vector<std::uint8_t> is_exact(texts.size());
        {
            nb::gil_scoped_release release;
            parallel_for(texts.size(), threads, [&](std::size_t begin, std::size_t end) {
                Worker worker(*this, width);
                for (std::size_t t = begin; t < end; ++t) {
                    is_exact[t] = worker.order(texts, t, 1);
                    worker.work.write(places.data() + texts.forms.first(t));
                }
            });
        }
        return nb::make_tuple(as_array(std::move(places)), as_array(std::move(is_exact)));
    }

    // The sum of the treelets' scores, for trees that are in order.
    std::vector<double> scores(nb::handle forms, nb::handle tags, nb::handle relations,
                               const Heads& heads) const {
        const TreeTexts texts(forms, tags, relations, heads);
        std::vector<double> sums(texts.size(), 0.0);
        nb::gil_scoped_release release;
        Worker worker(*this, 1);
        for (std::size_t t = 0; t < texts.size(); ++t) sums[t] = worker.score(texts, t);
        return sums;
    }

    // For each tree up to `n_best` pairs of an order and its loss against the best score.
    std::vector<std::vector<std::pair<std::vector<std::int32_t>, double>>> best_orders(
        nb::handle forms, nb::handle tags, nb::handle relations, const Heads& heads,
        std::size_t n_best, std::size_t width, int threads) const {
        require(n_best > 0 && width > 0, "n_best and width must be at least 1");
        const TreeTexts texts(forms, tags, relations, heads);
        std::vector<std::vector<std::pair<std::vector<std::int32_t>, double>>> found(texts.size());
        nb::gil_scoped_release release;
        parallel_for(texts.size(), threads, [&](std::size_t begin, std::size_t end) {
            Worker worker(*this, std::max(width, 4 * n_best));
            for (std::size_t t = begin; t < end; ++t) {
                worker.order(texts, t, n_best);
                for (const WholeOrder& whole : worker.combined(n_best)) {
                    worker.settle_again(texts, t, whole);
                    auto& [order, loss] = found[t].emplace_back();
                    worker.work.write(std::back_inserter(order));
                    loss = static_cast<double>(whole.loss);
                }
            }
        });
        return found;
    }

private:
    using Scores = TreeletScores<LinearWeights, NgramExtra>;

    // Heads with more daughters order them in groups of this size, so that memory stays bounded.
    static constexpr std::size_t kGroup = 200;

    // The orders found for a head and a group of her daughters.
    struct Group {
        std::uint32_t head;
        std::vector<std::uint32_t> daughters;
        std::vector<FoundOrder> found;
    };

    struct Worker {
        Worker(const Orderer& orderer, std::size_t width)
            : orderer(orderer), search(width), extra(orderer.ngrams_.get(), orderer.ngram_weight_) {
        }

        bool order(const TreeTexts& texts, std::size_t t, std::size_t n_best) {
            work.start(texts, t, orderer.ngrams_.get());
            groups.clear();
            bool is_exact = true;
            const auto& downwards = work.tree().downwards();
            for (auto head = downwards.rbegin(); head != downwards.rend(); ++head) {
                Daughters left = work.tree().daughters(*head);
                while (!left.empty()) {
                    const Daughters group = left.subspan(0, std::min(left.size(), kGroup));
                    is_exact &= order_group(*head, group, n_best) && group.size() == left.size();
                    left = left.subspan(group.size());
                }
            }
            return is_exact;
        }

        double score(const TreeTexts& texts, std::size_t t) {
            double sum = 0;
            work.start(texts, t, orderer.ngrams_.get());
            const auto& downwards = work.tree().downwards();
            for (auto head = downwards.rbegin(); head != downwards.rend(); ++head) {
                const Daughters daughters = work.tree().daughters(*head);
                if (daughters.empty()) continue;
                work.make_treelet(*head, daughters, treelet);
                extra.start(work, *head, daughters);
                Scores scores(treelet, orderer.weights_, extra);
                const auto items = given_order(*head, daughters);
                sum += static_cast<double>(scores.total(items));
                work.settle(*head, daughters, items);
            }
            return sum;
        }

        bool order_group(std::uint32_t head, Daughters daughters, std::size_t n_best) {
            work.make_treelet(head, daughters, treelet);
            extra.start(work, head, daughters);
            Scores scores(treelet, orderer.weights_, extra);
            auto found = search.best(scores, n_best);
            work.settle(head, daughters, found.front().items);
            const bool is_exact = found.front().is_exact;
            if (n_best > 1)
                groups.push_back({head, {daughters.begin(), daughters.end()}, std::move(found)});
            return is_exact;
        }

        // The best combinations of the groups' orders. Each order was scored with all others at
        // their best.
        std::vector<WholeOrder> combined(std::size_t n_best) const {
            std::vector<WholeOrder> best{{0.0f, {}}};
            for (const Group& group : groups) {
                std::vector<WholeOrder> next;
                for (const WholeOrder& whole : best)
                    for (std::size_t c = 0; c < group.found.size(); ++c) {
                        next.push_back(whole);
                        next.back().loss += group.found[c].score - group.found[0].score;
                        next.back().choices.push_back(c);
                    }
                std::stable_sort(next.begin(), next.end(),
                                 [](const auto& a, const auto& b) { return a.loss > b.loss; });
                next.resize(std::min(next.size(), n_best));
                best = std::move(next);
            }
            return best;
        }

        void settle_again(const TreeTexts& texts, std::size_t t, const WholeOrder& whole) {
            work.start(texts, t, orderer.ngrams_.get());
            for (std::size_t g = 0; g < groups.size(); ++g) {
                const Group& group = groups[g];
                work.settle(group.head, group.daughters, group.found[whole.choices[g]].items);
            }
        }

        const Orderer& orderer;
        OrderSearch<Scores> search;
        NgramExtra extra;
        TreeInWork work;
        Treelet treelet;
        std::vector<Group> groups;
    };

    LinearWeights weights_;
    std::unique_ptr<NgramView> ngrams_;
    float ngram_weight_ = 0;
};

}  // namespace

void add_ordering(nb::module_& m) {
    m.def("train_orderer", &train_orderer, nb::arg("forms"), nb::arg("tags"), nb::arg("relations"),
          nb::arg("heads"), nb::arg("epochs"), nb::arg("min_updates"), nb::arg("unit"),
          nb::arg("smallest"), nb::arg("width"), nb::arg("seed"), nb::arg("on_epoch"));
    nb::class_<Orderer>(m, "Orderer")
        .def(nb::init<const nb::bytes&>(), nb::arg("weights"))
        .def("use_ngrams", &Orderer::use_ngrams, nb::arg("vocabulary"), nb::arg("levels"),
             nb::arg("weight"))
        .def("order", &Orderer::order, nb::arg("forms"), nb::arg("tags"), nb::arg("relations"),
             nb::arg("heads"), nb::arg("width"), nb::arg("threads"))
        .def("scores", &Orderer::scores, nb::arg("forms"), nb::arg("tags"), nb::arg("relations"),
             nb::arg("heads"))
        .def("best_orders", &Orderer::best_orders, nb::arg("forms"), nb::arg("tags"),
             nb::arg("relations"), nb::arg("heads"), nb::arg("n_best"), nb::arg("width"),
             nb::arg("threads"));
}

}  // namespace wellput
