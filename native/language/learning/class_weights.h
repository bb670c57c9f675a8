// The weights of features for classes, as trainers (class_trainers.h) write them: a string of
// bytes, small enough to be shipped, that `ClassWeights` reads. For each key, in rising order: the
// difference to the key before, the number of classes, then each class (as a difference) and its
// weight, all as variable-length integers. Weights are whole multiples of a unit, so scores are
// integers and the same on every machine.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/checks.h"
#include "language/learning/feature_keys.h"
#include "language/learning/varints.h"

namespace wellput {

// A class is a number below this.
constexpr std::size_t MAX_CLASSES = 65535;

// The weight of a feature for a class, in units.
struct ClassWeight {
    std::uint16_t cls;
    std::int32_t weight;
    auto operator<=>(const ClassWeight&) const = default;
};

// The unit of weights.
inline double checked_unit(double unit) {
    require(std::isfinite(unit) && unit > 0, "the unit of weights must be more than 0");
    return unit;
}

// Rounded, and limited to what a cell of ClassWeights can hold.
inline std::int32_t rounded(double units) {
    return static_cast<std::int32_t>(std::clamp(std::round(units), -32767.0, 32767.0));
}

// Rows must come by rising key, and the classes of a row must rise; empty rows are left out.
class WeightWriter {
public:
    std::string bytes;

    void add(FeatureKey key, std::span<const ClassWeight> row) {
        if (row.empty()) return;
        put_varint(bytes, key - last_key_);
        put_varint(bytes, static_cast<std::uint32_t>(row.size()));
        std::uint16_t last_class = 0;
        for (const auto& [cls, weight] : row) {
            put_varint(bytes, static_cast<std::uint32_t>(cls - last_class));
            put_signed_varint(bytes, weight);
            last_class = cls;
        }
        last_key_ = key;
    }

private:
    FeatureKey last_key_ = 0;
};

// Reads the rows of a WeightWriter. Throws std::invalid_argument if the bytes end too early or name
// a class that does not exist.
class WeightReader {
public:
    FeatureKey key = 0;
    std::vector<ClassWeight> row;

    WeightReader(std::string_view bytes, std::size_t classes) : bytes_(bytes), classes_(classes) {}

    // Reads the next row into `key` and `row`; false if there is none.
    bool next() {
        if (bytes_.is_at_end()) return false;
        key += bytes_.take();
        const std::uint32_t count = bytes_.take();
        if (count > classes_) throw std::invalid_argument("damaged weights");
        row.clear();
        std::uint32_t cls = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            cls += bytes_.take();
            const std::int32_t weight = bytes_.take_signed();
            if (cls >= classes_) throw std::invalid_argument("weights of an unknown class");
            row.push_back({static_cast<std::uint16_t>(cls), weight});
        }
        return true;
    }

private:
    VarintReader bytes_;
    std::size_t classes_;
};

// The mean of several models' weights. Scores are sums of weights, so a model with the mean weights
// decides as the models do together. Means nearer to 0 than `smallest` units are left out.
inline std::string mean_weights(std::span<const std::string_view> models, std::size_t classes,
                                double smallest) {
    std::vector<WeightReader> readers;
    std::vector<bool> has_row;
    for (const std::string_view model : models) {
        readers.emplace_back(model, classes);
        has_row.push_back(readers.back().next());
    }
    WeightWriter writer;
    std::map<std::uint16_t, std::int64_t> sums;
    std::vector<ClassWeight> kept;
    for (;;) {
        std::optional<FeatureKey> key;
        for (std::size_t i = 0; i < readers.size(); ++i)
            if (has_row[i]) key = std::min(key.value_or(readers[i].key), readers[i].key);
        if (!key) return writer.bytes;
        sums.clear();
        for (std::size_t i = 0; i < readers.size(); ++i) {
            if (!has_row[i] || readers[i].key != *key) continue;
            for (const auto& [cls, weight] : readers[i].row) sums[cls] += weight;
            has_row[i] = readers[i].next();
        }
        kept.clear();
        for (const auto& [cls, sum] : sums) {
            const double mean = static_cast<double>(sum) / static_cast<double>(models.size());
            if (rounded(mean) != 0 && std::abs(mean) >= smallest)
                kept.push_back({cls, rounded(mean)});
        }
        writer.add(*key, kept);
    }
}

class ClassWeights {
public:
    // Throws std::invalid_argument if the bytes end too early or name a class that does not exist.
    ClassWeights(std::string_view bytes, std::size_t classes) {
        std::vector<std::pair<FeatureKey, std::uint32_t>> begins;
        WeightReader reader(bytes, classes);
        while (reader.next()) {
            begins.emplace_back(reader.key, static_cast<std::uint32_t>(cells_.size()));
            cells_.push_back({static_cast<std::uint16_t>(reader.row.size()), 0});
            for (const auto& [cls, weight] : reader.row)
                cells_.push_back({cls, static_cast<std::int16_t>(weight)});
        }
        table_ = KeyTable(begins.size());
        for (const auto& [feature, begin] : begins) table_.insert(feature, begin);
    }

    void add_scores(std::span<const FeatureKey> features, std::int32_t* scores) const {
        std::array<const Cell*, BLOCK_FEATURES> found;
        for_blocks(features, [&](std::span<const FeatureKey> block) {
            table_.prefetch(block);
            std::size_t n = 0;
            for (const FeatureKey key : block) {
                const std::uint32_t begin = table_.find(key);
                if (begin == KeyTable::NO_NUMBER) continue;
                found[n++] = &cells_[begin];
                __builtin_prefetch(&cells_[begin]);
            }
            for (std::size_t i = 0; i < n; ++i) {
                const Cell* cell = found[i];
                for (const Cell* last = cell + cell->cls; cell != last;) {
                    ++cell;
                    scores[cell->cls] += cell->weight;
                }
            }
        });
    }

private:
    // A row is several cells: in the first, `cls` is the number of classes; then a cell for each class.
    struct Cell {
        std::uint16_t cls;
        std::int16_t weight;
    };
    KeyTable table_;
    std::vector<Cell> cells_;
};

}  // namespace wellput
