// The learned orderer: puts the words of unordered dependency trees into order, treelet by treelet from
// the bottom up, by a linear model over features of the order, an n-gram model and the order network.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/parallel.h"
#include "kernels.h"
#include "language/learning/linear_weights.h"
#include "language/realize/order_network.h"
#include "language/realize/ordering_features.h"
#include "language/realize/ordering_search.h"
#include "language/realize/ordering_tree.h"

namespace wellput {
namespace {

// An order of a whole tree, and its score minus that of the best.
struct WholeOrder {
    float loss;
    std::vector<std::size_t> choices;  // by group: the place of its order in Group::found
};

// The numbers of all words for the order network, a row for each; nothing without a network.
using WordNumbers = std::optional<Array<std::int32_t, 2>>;

// The order network on one tree.
class NetworkOnTree {
public:
    // Without a network, or with too long a tree, there are no steps.
    void start(const OrderNetwork* network, const TreeInWork& work, const std::int32_t* numbers) {
        const auto& downwards = work.tree().downwards();
        network_ = downwards.size() <= OrderNetwork::MAX_TREE_WORDS ? network : nullptr;
        if (!network_ || downwards.size() < 2) return;
        places_.resize(downwards.size());
        for (std::size_t i = 0; i < downwards.size(); ++i) places_[downwards[i]] = i;
        tree_.numbers.clear();
        tree_.mothers.clear();
        for (const std::uint32_t word : downwards) {
            tree_.numbers.push_back(numbers + word * NumberedTree::WORD_NUMBERS);
            tree_.mothers.push_back(static_cast<std::uint32_t>(places_[work.tree().mother(word)]));
        }
        read_ = network_->read(tree_);
    }
    OrderSteps* steps(const TreeInWork& work, std::uint32_t head, Daughters daughters) {
        if (!network_) return nullptr;
        items_.clear();
        const auto add = [&](std::uint32_t word) {
            const Stretch& stretch = work.stretch(word);
            items_.push_back({places_[word], places_[stretch.first], places_[stretch.last]});
        };
        add(head);
        for (const std::uint32_t daughter : daughters) add(daughter);
        steps_.start(*network_, read_, items_);
        return &steps_;
    }
    // The log probability of an order of the treelet that was started last.
    float log_prob(std::span<const std::uint16_t> order) {
        std::vector<float> state(steps_.state_size()), found;
        std::vector<std::uint64_t> used((order.size() + 63) / 64, 0);
        steps_.first_state(state.data());
        std::size_t last = order.size(), before_last = order.size();
        float sum = 0;
        for (const std::uint16_t item : order) {
            steps_.next(state.data(), last, before_last, used, found);
            sum += found[item];
            steps_.place(item, state.data());
            used[item / 64] |= std::uint64_t{1} << (item % 64);
            before_last = last;
            last = item;
        }
        return sum;
    }

private:
    const OrderNetwork* network_ = nullptr;
    std::vector<std::size_t> places_;  // by word: its place in the trees below
    NumberedTree tree_;
    ReadTree read_;
    OrderSteps steps_;
    std::vector<OrderSteps::Item> items_;
};

class Orderer {
public:
    explicit Orderer(const nb::bytes& weights)
        : weights_(std::string_view(weights.c_str(), weights.size())) {}

    // A gain of 1 in log10 probability counts `weight` units of the features' weights.
    void use_ngrams(nb::handle vocabulary, nb::handle levels, double weight) {
        require(std::fabs(weight) < 1e6, "the weight of n-grams is out of range");
        ngrams_ = std::make_unique<NgramView>(vocabulary, levels);
        ngram_weight_ = static_cast<float>(weight);
    }

    // A gain of 1 in natural log probability counts `weight` units of the features' weights. The
    // network must live as long as the orderer.
    void use_network(const OrderNetwork& network, double weight) {
        require(std::fabs(weight) < 1e6, "the weight of the order network is out of range");
        network_ = &network;
        network_weight_ = static_cast<float>(weight);
    }

    // The places of all words in order, tree by tree, and for each tree whether its treelets have
    // the best possible orders, because the search dropped nothing.
    nb::tuple order(nb::handle forms, nb::handle tags, nb::handle relations, const Heads& heads,
                    std::size_t width, int threads, const WordNumbers& numbers) const {
        require(width > 0, "width must be at least 1");
        const TreeTexts texts(forms, tags, relations, heads);
        const std::int32_t* const rows = checked(numbers, texts);
        std::vector<std::int32_t> places(texts.forms.total());
        std::vector<std::uint8_t> is_exact(texts.size());
        {
            nb::gil_scoped_release release;
            parallel_for(texts.size(), threads, [&](std::size_t begin, std::size_t end) {
                Worker worker(*this, width, rows);
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
                               const Heads& heads, const WordNumbers& numbers) const {
        const TreeTexts texts(forms, tags, relations, heads);
        const std::int32_t* const rows = checked(numbers, texts);
        std::vector<double> sums(texts.size(), 0.0);
        nb::gil_scoped_release release;
        Worker worker(*this, 1, rows);
        for (std::size_t t = 0; t < texts.size(); ++t) sums[t] = worker.score(texts, t);
        return sums;
    }

    // For each tree up to `n_best` pairs of an order and its loss against the best score.
    std::vector<std::vector<std::pair<std::vector<std::int32_t>, double>>> best_orders(
        nb::handle forms, nb::handle tags, nb::handle relations, const Heads& heads,
        std::size_t n_best, std::size_t width, int threads, const WordNumbers& numbers) const {
        require(n_best > 0 && width > 0, "n_best and width must be at least 1");
        const TreeTexts texts(forms, tags, relations, heads);
        const std::int32_t* const rows = checked(numbers, texts);
        std::vector<std::vector<std::pair<std::vector<std::int32_t>, double>>> found(texts.size());
        nb::gil_scoped_release release;
        parallel_for(texts.size(), threads, [&](std::size_t begin, std::size_t end) {
            Worker worker(*this, std::max(width, 4 * n_best), rows);
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

    // The first row of the numbers; null without a network.
    const std::int32_t* checked(const WordNumbers& numbers, const TreeTexts& texts) const {
        if (!network_) return nullptr;
        require(numbers && numbers->shape(0) == texts.forms.total() &&
                    numbers->shape(1) == NumberedTree::WORD_NUMBERS,
                "the order network needs ten numbers for each word");
        network_->check_numbers({numbers->data(), numbers->size()});
        return numbers->data();
    }

    // Heads with more daughters order them in groups of this size, so that memory stays bounded.
    static constexpr std::size_t GROUP_DAUGHTERS = 200;

    // The orders found for a head and a group of her daughters.
    struct Group {
        std::uint32_t head;
        std::vector<std::uint32_t> daughters;
        std::vector<FoundOrder> found;
    };

    struct Worker {
        Worker(const Orderer& orderer, std::size_t width, const std::int32_t* numbers)
            : orderer(orderer), numbers(numbers), search(width),
              extra(orderer.ngrams_.get(), orderer.ngram_weight_) {}

        void start(const TreeTexts& texts, std::size_t t) {
            work.start(texts, t, orderer.ngrams_.get());
            const std::size_t first = texts.forms.first(t) * NumberedTree::WORD_NUMBERS;
            network.start(orderer.network_, work, numbers ? numbers + first : nullptr);
        }

        // Finds the best orders of all treelets of tree t, and puts the words into the best ones.
        // Returns whether these are the best possible.
        bool order(const TreeTexts& texts, std::size_t t, std::size_t n_best) {
            start(texts, t);
            groups.clear();
            bool is_exact = true;
            const auto& downwards = work.tree().downwards();
            for (auto head = downwards.rbegin(); head != downwards.rend(); ++head) {
                Daughters remaining = work.tree().daughters(*head);
                while (!remaining.empty()) {
                    const Daughters group =
                        remaining.subspan(0, std::min(remaining.size(), GROUP_DAUGHTERS));
                    is_exact &=
                        order_group(*head, group, n_best) && group.size() == remaining.size();
                    remaining = remaining.subspan(group.size());
                }
            }
            return is_exact;
        }

        double score(const TreeTexts& texts, std::size_t t) {
            double sum = 0;
            start(texts, t);
            const auto& downwards = work.tree().downwards();
            for (auto head = downwards.rbegin(); head != downwards.rend(); ++head) {
                const Daughters daughters = work.tree().daughters(*head);
                if (daughters.empty()) continue;
                work.make_treelet(*head, daughters, treelet);
                extra.start(work, *head, daughters);
                Scores scores(treelet, orderer.weights_, extra);
                const auto items = given_order(*head, daughters);
                sum += static_cast<double>(scores.total(items));
                if (network.steps(work, *head, daughters))
                    sum += static_cast<double>(orderer.network_weight_ * network.log_prob(items));
                work.settle(*head, daughters, items);
            }
            return sum;
        }

        bool order_group(std::uint32_t head, Daughters daughters, std::size_t n_best) {
            work.make_treelet(head, daughters, treelet);
            extra.start(work, head, daughters);
            Scores scores(treelet, orderer.weights_, extra);
            OrderSteps* const steps = network.steps(work, head, daughters);
            auto found = search.best(scores, n_best, steps, orderer.network_weight_);
            work.settle(head, daughters, found.front().items);
            const bool is_exact = found.front().is_exact;
            if (n_best > 1)
                groups.push_back({head, {daughters.begin(), daughters.end()}, std::move(found)});
            return is_exact;
        }

        // The best combinations of the groups' orders. Their losses are added up, although each loss
        // was computed with the best orders of the groups below.
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

        // Puts the words of tree t into this order.
        void settle_again(const TreeTexts& texts, std::size_t t, const WholeOrder& whole) {
            work.start(texts, t, orderer.ngrams_.get());
            for (std::size_t g = 0; g < groups.size(); ++g) {
                const Group& group = groups[g];
                work.settle(group.head, group.daughters, group.found[whole.choices[g]].items);
            }
        }

        const Orderer& orderer;
        const std::int32_t* numbers;
        NetworkOnTree network;
        OrderSearch<Scores> search;
        NgramExtra extra;
        TreeInWork work;
        Treelet treelet;
        std::vector<Group> groups;
    };

    LinearWeights weights_;
    std::unique_ptr<NgramView> ngrams_;
    float ngram_weight_ = 0;
    const OrderNetwork* network_ = nullptr;
    float network_weight_ = 0;
};

}  // namespace

void add_ordering(nb::module_& m) {
    nb::class_<Orderer>(m, "Orderer")
        .def(nb::init<const nb::bytes&>(), nb::arg("weights"))
        .def("use_ngrams", &Orderer::use_ngrams, nb::arg("vocabulary"), nb::arg("levels"),
             nb::arg("weight"))
        .def("use_network", &Orderer::use_network, nb::arg("network"), nb::arg("weight"),
             nb::keep_alive<1, 2>())
        .def("order", &Orderer::order, nb::arg("forms"), nb::arg("tags"), nb::arg("relations"),
             nb::arg("heads"), nb::arg("width"), nb::arg("threads"),
             nb::arg("numbers") = nb::none())
        .def("scores", &Orderer::scores, nb::arg("forms"), nb::arg("tags"), nb::arg("relations"),
             nb::arg("heads"), nb::arg("numbers") = nb::none())
        .def("best_orders", &Orderer::best_orders, nb::arg("forms"), nb::arg("tags"),
             nb::arg("relations"), nb::arg("heads"), nb::arg("n_best"), nb::arg("width"),
             nb::arg("threads"), nb::arg("numbers") = nb::none());
}

}  // namespace wellput
