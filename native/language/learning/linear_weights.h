// Weights of one linear score over sparse features, learned by gradient steps up a likelihood. A
// feature is a 32-bit key (feature_keys.h). A *decision* is one choice from which the weights are
// learned, such as the order of a treelet.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "language/learning/class_trainers.h"
#include "language/learning/feature_keys.h"
#include "language/learning/varints.h"

namespace wellput {

// Averaged weights. A weight counts only after `min_updates` changes, as in GradientTrainer. Each
// decision leaves out a random share of the features (dropout: Srivastava et al. 2014), so that
// no weight relies too much on other weights.
class LinearTrainer {
public:
    explicit LinearTrainer(int min_updates, double left_out_share = 0.0)
        : min_updates_(min_updates),
          left_out_bound_(static_cast<std::uint32_t>(left_out_share * 4294967295.0)) {}

    float weight(FeatureKey key) const {
        if (is_left_out(key)) return 0.0f;
        const std::uint32_t number = table_.find(key);
        if (number == KeyTable::NO_NUMBER) return 0.0f;
        const Cell& cell = cells_[number];
        return cell.updates >= min_updates_ ? cell.weight : 0.0f;
    }

    void climb(FeatureKey key, float slope) {
        if (is_left_out(key)) return;
        const std::uint32_t number = table_.find_or_insert(key, cells_.size());
        if (number == cells_.size()) cells_.push_back({key});
        cells_[number].change(slope, now_);
    }

    // Call after every decision: weights are averaged over decisions.
    void tick() { ++now_; }

    // For each key, in rising order: the difference to the key before and the averaged weight in
    // multiples of `weight_unit`, as variable-length integers (varints.h). Weights that round to 0,
    // that are nearer to 0 than `min_weight`, or that do not count yet are dropped.
    std::string finish(double weight_unit, double min_weight) {
        std::sort(cells_.begin(), cells_.end(),
                  [](const Cell& a, const Cell& b) { return a.id < b.id; });
        std::string bytes;
        FeatureKey last = 0;
        for (const Cell& cell : cells_) {
            const double mean = cell.mean(now_);
            constexpr double MAX_WEIGHT_UNITS = 1 << 30;
            const auto rounded = static_cast<std::int32_t>(
                std::clamp(std::round(mean / weight_unit), -MAX_WEIGHT_UNITS, MAX_WEIGHT_UNITS));
            if (rounded == 0 || std::fabs(mean) < min_weight || cell.updates < min_updates_)
                continue;
            put_varint(bytes, cell.id - last);
            put_signed_varint(bytes, rounded);
            last = cell.id;
        }
        return bytes;
    }

private:
    using Cell = ClimbingCell<FeatureKey>;

    bool is_left_out(FeatureKey key) const {
        return left_out_bound_ > 0 &&
               FeatureHash(key).add(static_cast<std::uint64_t>(now_)).key() < left_out_bound_;
    }

    int min_updates_;
    // A decision leaves out the features whose hash with the decision's number is below this.
    std::uint32_t left_out_bound_;
    std::int64_t now_ = 0;  // the number of the decision
    KeyTable table_;
    std::vector<Cell> cells_;
};

// Reads the bytes of LinearTrainer::finish. Weights are small whole numbers (multiples of the
// unit), so their sums are exact in any order.
class LinearWeights {
public:
    // Throws std::invalid_argument if the bytes end too early.
    explicit LinearWeights(std::string_view bytes) {
        std::vector<Slot> entries;
        FeatureKey key = 0;
        for (VarintReader reader(bytes); !reader.is_at_end();) {
            key += reader.take();
            entries.push_back({key, static_cast<float>(reader.take_signed())});
        }
        std::size_t size = 16;
        while (size < 2 * entries.size()) size *= 2;
        slots_.assign(size, {0, 0.0f});
        for (const Slot& entry : entries) slots_[place_of(entry.key)] = entry;
    }

    float weight(FeatureKey key) const { return slots_[place_of(key)].weight; }

private:
    // The weight 0 marks an empty slot: weights of 0 are not written.
    struct Slot {
        FeatureKey key;
        float weight;
    };
    std::size_t place_of(FeatureKey key) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t place = key & mask;
        while (slots_[place].weight != 0.0f && slots_[place].key != key) place = (place + 1) & mask;
        return place;
    }
    std::vector<Slot> slots_;
};

}  // namespace wellput
