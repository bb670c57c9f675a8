// Log-linear weights for many classes, learned by climbing the likelihood: what `LinearTrainer` is for
// one score. `PerceptronWeights` (perceptron.h) reads what they become.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "perceptron.h"

namespace wellput {

// How far a weight goes up its slope. Steps get smaller as a weight has been changed more (AdaGrad:
// Duchi, Hazan & Singer 2011).
inline float adaptive_step(float slope, float& squares) {
    constexpr float kRate = 0.1f;
    squares += slope * slope;
    return kRate * slope / std::sqrt(1.0f + squares);
}

// A weight counts only once it was changed `min_updates` times; the others learn to do without it.
class GradientTrainer {
public:
    explicit GradientTrainer(int min_updates) : min_updates_(min_updates) {}

    // Adds each class's weights to scores[class].
    void add_scores(std::span<const FeatureKey> features, float* scores) const {
        std::array<const Row*, kBlock> found;
        for_blocks(features, [&](std::span<const FeatureKey> block) {
            table_.prefetch(block);
            std::size_t n = 0;
            for (const FeatureKey key : block) {
                const std::uint32_t number = table_.find(key);
                if (number != KeyTable::kAbsent) found[n++] = &rows_[number];
            }
            for (std::size_t i = 0; i < n; ++i) __builtin_prefetch(found[i]->cells.data());
            for (std::size_t i = 0; i < n; ++i)
                for (const Cell& cell : found[i]->cells)
                    if (cell.updates >= min_updates_) scores[cell.cls] += cell.weight;
        });
    }

    void climb(std::span<const FeatureKey> features, std::uint16_t cls, float slope) {
        for (const FeatureKey key : features) {
            std::uint32_t number = table_.find(key);
            if (number == KeyTable::kAbsent) {
                number = static_cast<std::uint32_t>(rows_.size());
                table_.insert(key, number);
                rows_.push_back({key, {}});
            }
            Cell& cell = rows_[number].at(cls);
            const float change = adaptive_step(slope, cell.squares);
            cell.weight += change;
            cell.late += static_cast<double>(now_) * static_cast<double>(change);
            cell.updates = static_cast<std::uint8_t>(std::min(cell.updates + 1, 255));
        }
    }

    // To be called after every decision: weights are averaged over decisions.
    void tick() { ++now_; }

    // The averaged weights, as multiples of `unit`; those smaller than `smallest` are dropped.
    std::string finish(double unit, double smallest) {
        std::sort(rows_.begin(), rows_.end(),
                  [](const Row& a, const Row& b) { return a.key < b.key; });
        WeightWriter writer;
        std::vector<ClassWeight> kept;
        const double decisions = std::max(static_cast<double>(now_), 1.0);
        for (const Row& row : rows_) {
            kept.clear();
            for (const Cell& cell : row.cells) {
                const double mean = static_cast<double>(cell.weight) - cell.late / decisions;
                const std::int32_t weight = rounded(mean / unit);
                if (weight != 0 && std::abs(mean) >= smallest && cell.updates >= min_updates_)
                    kept.push_back({cell.cls, weight});
            }
            std::sort(kept.begin(), kept.end());
            writer.add(row.key, kept);
        }
        return writer.bytes;
    }

private:
    struct Cell {
        std::uint16_t cls;
        std::uint8_t updates = 0;
        float weight = 0, squares = 0;
        double late = 0;  // the sum of each change times the decisions before it
    };
    struct Row {
        FeatureKey key;
        std::vector<Cell> cells;
        Cell& at(std::uint16_t cls) {
            for (Cell& cell : cells)
                if (cell.cls == cls) return cell;
            return cells.emplace_back(Cell{cls});
        }
    };
    int min_updates_;
    std::int64_t now_ = 0;
    KeyTable table_;
    std::vector<Row> rows_;
};

}  // namespace wellput
