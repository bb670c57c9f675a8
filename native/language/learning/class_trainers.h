// Learns weights of many classes over sparse features, by the averaged perceptron (Freund &
// Schapire 1999; Collins 2002) or by gradient steps up a likelihood. A *decision* is one choice from
// which the weights are learned, such as the tag of a word. `ClassWeights` (class_weights.h) reads the
// result.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "language/learning/class_weights.h"
#include "language/learning/feature_keys.h"

namespace wellput {

inline void count_update(std::uint8_t& updates) {
    updates = static_cast<std::uint8_t>(std::min(updates + 1, 255));
}

// A weight of a perceptron: wrong decisions change it by whole numbers.
struct PerceptronCell {
    std::uint16_t id;  // the class
    std::uint8_t updates = 0;
    std::int32_t weight = 0;
    // The sum of all changes, each times its time (the number of decisions before it). So
    // `decisions * weight - changes_by_time` is the sum of the weight's values over all decisions.
    std::int64_t changes_by_time = 0;

    void change(int by, std::int64_t now) {
        weight += by;
        changes_by_time += now * by;
        count_update(updates);
    }
    // Averaged over all decisions.
    double mean(std::int64_t decisions) const {
        const std::int64_t total = decisions * weight - changes_by_time;
        return static_cast<double>(total) / std::max<double>(decisions, 1);
    }
};

// A weight that follows its gradient. Steps get smaller as it changes more (AdaGrad: Duchi, Hazan &
// Singer 2011). `Id` says whose weight it is: a class's, or that of a feature's key.
template <typename Id>
struct ClimbingCell {
    Id id;
    std::uint8_t updates = 0;
    float weight = 0, squared_slopes = 0;
    double changes_by_time = 0;  // as in PerceptronCell

    void change(float slope, std::int64_t now) {
        constexpr float LEARNING_RATE = 0.1f;
        squared_slopes += slope * slope;
        const float step = LEARNING_RATE * slope / std::sqrt(1.0f + squared_slopes);
        weight += step;
        changes_by_time += static_cast<double>(now) * static_cast<double>(step);
        count_update(updates);
    }
    double mean(std::int64_t decisions) const {
        return static_cast<double>(weight) -
               changes_by_time / std::max(static_cast<double>(decisions), 1.0);
    }
};

// Has a row of cells for each feature: a cell for each class whose weight was ever changed.
template <typename Cell>
class ClassTrainer {
public:
    using Weight = decltype(Cell::weight);

    // A weight counts only after `min_updates` changes. Most weights belong to rare features; if these
    // do not count, other features learn to take their place (Goldberg & Elhadad 2011).
    explicit ClassTrainer(int min_updates = 1) : min_updates_(min_updates) {}

    // Adds each class's weights to scores[class].
    void add_scores(std::span<const FeatureKey> features, Weight* scores) const {
        std::array<const Row*, BLOCK_FEATURES> found;
        for_blocks(features, [&](std::span<const FeatureKey> block) {
            table_.prefetch(block);
            std::size_t n = 0;
            for (const FeatureKey key : block) {
                const std::uint32_t number = table_.find(key);
                if (number == KeyTable::NO_NUMBER) continue;
                found[n++] = &rows_[number];
                __builtin_prefetch(&rows_[number]);
            }
            for (std::size_t i = 0; i < n; ++i) __builtin_prefetch(found[i]->cells.data());
            for (std::size_t i = 0; i < n; ++i)
                for (const Cell& cell : found[i]->cells)
                    if (cell.updates >= min_updates_) scores[cell.id] += cell.weight;
        });
    }

    // `by` is the change of a perceptron's weights, or the gradient.
    void update(std::span<const FeatureKey> features, std::uint16_t cls, Weight by) {
        for (const FeatureKey key : features) {
            const std::uint32_t number = table_.find_or_insert(key, rows_.size());
            if (number == rows_.size()) rows_.push_back({key, {}});
            rows_[number].at(cls).change(by, now_);
        }
    }

    // Call after every decision, with or without an update: weights are averaged over decisions.
    void tick() { ++now_; }

    // The averaged weights as multiples of `weight_unit`, in the bytes of a WeightWriter. Weights that
    // round to 0, that are nearer to 0 than `min_weight`, or that do not count yet are dropped.
    std::string finish(double weight_unit, double min_weight = 0.0) {
        std::sort(rows_.begin(), rows_.end(),
                  [](const Row& a, const Row& b) { return a.key < b.key; });
        WeightWriter writer;
        std::vector<ClassWeight> kept;
        for (const Row& row : rows_) {
            kept.clear();
            for (const Cell& cell : row.cells) {
                const double mean = cell.mean(now_);
                const std::int32_t weight = rounded(mean / weight_unit);
                if (weight != 0 && std::abs(mean) >= min_weight && cell.updates >= min_updates_)
                    kept.push_back({cell.id, weight});
            }
            std::sort(kept.begin(), kept.end());
            writer.add(row.key, kept);
        }
        return writer.bytes;
    }

private:
    struct Row {
        FeatureKey key;
        std::vector<Cell> cells;
        Cell& at(std::uint16_t cls) {
            for (Cell& cell : cells)
                if (cell.id == cls) return cell;
            return cells.emplace_back(Cell{cls});
        }
    };
    int min_updates_;
    std::int64_t now_ = 0;
    KeyTable table_;
    std::vector<Row> rows_;
};

using PerceptronTrainer = ClassTrainer<PerceptronCell>;
using GradientTrainer = ClassTrainer<ClimbingCell<std::uint16_t>>;

}  // namespace wellput
