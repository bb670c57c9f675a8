// Averaged-perceptron weights over sparse features (Freund & Schapire 1999; Collins 2002).
//
// A feature is a 32-bit key, a hash of its template and values made with `FeatureHash`; a class is a
// number below 65,535. `PerceptronTrainer` learns, `PerceptronWeights` scores. Between them lies a
// string of bytes, small enough to be shipped: by rising key the difference to the key before, the
// number of classes, then each class (as a difference) and its weight, all as variable-length
// integers. Weights are whole multiples of a unit, so scores are integers and the same everywhere.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "checks.h"

namespace wellput {

using FeatureKey = std::uint32_t;
constexpr std::size_t kMostClasses = 65535;

// Values put together into a key, one after the other: order matters.
class FeatureHash {
public:
    explicit FeatureHash(std::uint64_t template_number) : state_(template_number) { stir(); }
    FeatureHash& add(std::uint64_t value) {
        state_ ^= value;
        stir();
        return *this;
    }
    FeatureKey key() const { return static_cast<FeatureKey>(state_ >> 32); }
    std::uint64_t value() const { return state_; }

private:
    // One round of SplitMix64's finalizer.
    void stir() {
        state_ += 0x9e3779b97f4a7c15ull;
        state_ = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9ull;
        state_ ^= state_ >> 27;
    }
    std::uint64_t state_;
};

// FNV-1a of a string: the value of a word, a suffix, a tag.
inline std::uint64_t string_value(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325ull;
    for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3ull;
    return hash;
}

// Keys to numbers, by open addressing.
class KeyTable {
public:
    static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

    explicit KeyTable(std::size_t expected = 0) {
        std::size_t size = 16;
        while (size < 2 * expected) size *= 2;
        slots_.assign(size, {0, kAbsent});
    }
    void prefetch(std::span<const FeatureKey> keys) const {
        for (const FeatureKey key : keys) __builtin_prefetch(&slots_[key & (slots_.size() - 1)]);
    }
    std::uint32_t find(FeatureKey key) const { return slots_[place_of(key)].number; }
    // The table grows before it is half full.
    void insert(FeatureKey key, std::uint32_t number) {
        if (2 * ++count_ > slots_.size()) grow();
        slots_[place_of(key)] = {key, number};
    }

private:
    struct Slot {
        FeatureKey key;
        std::uint32_t number;
    };
    std::size_t place_of(FeatureKey key) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t place = key & mask;
        while (slots_[place].number != kAbsent && slots_[place].key != key)
            place = (place + 1) & mask;
        return place;
    }
    void grow() {
        std::vector<Slot> old(2 * slots_.size(), {0, kAbsent});
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.number != kAbsent) slots_[place_of(slot.key)] = slot;
    }
    std::vector<Slot> slots_;
    std::size_t count_ = 0;
};

// What a feature says of a class, in units.
struct ClassWeight {
    std::uint16_t cls;
    std::int32_t weight;
    auto operator<=>(const ClassWeight&) const = default;
};

// What weights are counted in.
inline double checked_unit(double unit) {
    require(std::isfinite(unit) && unit > 0, "the unit of weights must be more than 0");
    return unit;
}

inline std::int32_t rounded(double units) {
    return static_cast<std::int32_t>(std::clamp(std::round(units), -32767.0, 32767.0));
}

// Rows must come by rising key, each by rising class; empty ones are left out.
class WeightWriter {
public:
    std::string bytes;

    void add(FeatureKey key, std::span<const ClassWeight> row) {
        if (row.empty()) return;
        put(key - last_key_);
        put(static_cast<std::uint32_t>(row.size()));
        std::uint16_t last_class = 0;
        for (const auto& [cls, weight] : row) {
            put(static_cast<std::uint32_t>(cls - last_class));
            // Zigzag: small weights of either sign take one byte.
            put(static_cast<std::uint32_t>(weight) << 1 ^ static_cast<std::uint32_t>(weight >> 31));
            last_class = cls;
        }
        last_key_ = key;
    }

private:
    void put(std::uint32_t value) {
        for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
        bytes += static_cast<char>(value);
    }
    FeatureKey last_key_ = 0;
};

// Row by row what a WeightWriter wrote. Throws std::invalid_argument where the bytes are cut short or
// name a class that is not there.
class WeightReader {
public:
    FeatureKey key = 0;
    std::vector<ClassWeight> row;

    WeightReader(std::string_view bytes, std::size_t classes) : bytes_(bytes), classes_(classes) {}

    bool next() {
        if (place_ == bytes_.size()) return false;
        key += take();
        const std::uint32_t count = take();
        if (count > classes_) throw std::invalid_argument("damaged weights");
        row.clear();
        std::uint32_t cls = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            cls += take();
            const std::uint32_t zigzag = take();
            if (cls >= classes_) throw std::invalid_argument("weights of an unknown class");
            row.push_back({static_cast<std::uint16_t>(cls),
                           static_cast<std::int32_t>(zigzag >> 1 ^ (0u - (zigzag & 1)))});
        }
        return true;
    }

private:
    std::uint32_t take() {
        std::uint32_t value = 0;
        for (int shift = 0; shift < 32; shift += 7) {
            if (place_ == bytes_.size()) break;
            const auto byte = static_cast<std::uint8_t>(bytes_[place_++]);
            value |= std::uint32_t{byte & 0x7fu} << shift;
            if (byte < 0x80) return value;
        }
        throw std::invalid_argument("damaged weights");
    }
    std::string_view bytes_;
    std::size_t classes_, place_ = 0;
};

// The mean of several models' weights: as scores are sums of weights, it decides as the models do
// together. Means below `smallest` units are left out.
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
            if (rounded(mean) != 0 && std::abs(mean) >= smallest) kept.push_back({cls, rounded(mean)});
        }
        writer.add(*key, kept);
    }
}

// Features are looked up in blocks: what they lead to lies far apart in memory, and asked for together
// it comes together.
constexpr std::size_t kBlock = 64;
template <typename Look>
void for_blocks(std::span<const FeatureKey> features, Look look) {
    for (std::size_t i = 0; i < features.size(); i += kBlock)
        look(features.subspan(i, std::min(kBlock, features.size() - i)));
}

class PerceptronTrainer {
public:
    // A weight counts only once it was changed `min_updates` times: rare features, of which most
    // weights are made, are left out while the others learn to do without them (Goldberg & Elhadad
    // 2011).
    explicit PerceptronTrainer(int min_updates = 1) : min_updates_(min_updates) {}

    // Adds each class's weights to scores[class].
    void add_scores(std::span<const FeatureKey> features, std::int32_t* scores) const {
        std::array<const Row*, kBlock> found;
        for_blocks(features, [&](std::span<const FeatureKey> block) {
            table_.prefetch(block);
            std::size_t n = 0;
            for (const FeatureKey key : block) {
                const std::uint32_t number = table_.find(key);
                if (number == KeyTable::kAbsent) continue;
                found[n++] = &rows_[number];
                __builtin_prefetch(&rows_[number]);
            }
            for (std::size_t i = 0; i < n; ++i) __builtin_prefetch(found[i]->cells.data());
            for (std::size_t i = 0; i < n; ++i)
                for (const Cell& cell : found[i]->cells)
                    if (cell.updates >= min_updates_) scores[cell.cls] += cell.weight;
        });
    }

    void update(std::span<const FeatureKey> features, std::uint16_t cls, int change) {
        for (const FeatureKey key : features) {
            std::uint32_t number = table_.find(key);
            if (number == KeyTable::kAbsent) {
                number = static_cast<std::uint32_t>(rows_.size());
                table_.insert(key, number);
                rows_.push_back({key, {}});
            }
            Cell& cell = rows_[number].at(cls);
            cell.weight += change;
            cell.late += now_ * change;
            cell.updates = static_cast<std::uint8_t>(std::min(cell.updates + 1, 255));
        }
    }

    // To be called after every decision, updated or not: weights are averaged over decisions.
    void tick() { ++now_; }

    // The averaged weights, as multiples of `unit`; those that round to nothing, or are smaller than
    // `smallest`, are dropped.
    std::string finish(double unit, double smallest = 0.0) {
        std::sort(rows_.begin(), rows_.end(),
                  [](const Row& a, const Row& b) { return a.key < b.key; });
        WeightWriter writer;
        std::vector<ClassWeight> kept;
        for (const Row& row : rows_) {
            kept.clear();
            for (const Cell& cell : row.cells) {
                const std::int64_t total = now_ * cell.weight - cell.late;
                const double mean = static_cast<double>(total) / std::max<double>(now_, 1);
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
        std::int32_t weight = 0;
        // The sum of each change times the decisions before it: what the sum of the weight over all
        // decisions lacks to their number times the weight.
        std::int64_t late = 0;
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

class PerceptronWeights {
public:
    // Throws std::invalid_argument where the bytes are cut short or name a class that is not there.
    PerceptronWeights(std::string_view bytes, std::size_t classes) {
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
        std::array<const Cell*, kBlock> found;
        for_blocks(features, [&](std::span<const FeatureKey> block) {
            table_.prefetch(block);
            std::size_t n = 0;
            for (const FeatureKey key : block) {
                const std::uint32_t begin = table_.find(key);
                if (begin == KeyTable::kAbsent) continue;
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
    // A row is a cell that holds the number of its classes, then a cell for each.
    struct Cell {
        std::uint16_t cls;
        std::int16_t weight;
    };
    KeyTable table_;
    std::vector<Cell> cells_;
};

}  // namespace wellput
