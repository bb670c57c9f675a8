// Averaged-perceptron weights over sparse features (Freund & Schapire 1999; Collins 2002).
//
// A feature is a 32-bit key, a hash of its template and values made with `FeatureHash`; a class is a
// number below 65,535. `PerceptronTrainer` learns, `PerceptronWeights` scores. Between them lies a
// string of bytes, small enough to be shipped: by rising key the difference to the key before, the
// number of classes, then each class (as a difference) and its weight, all as variable-length
// integers. Weights are whole multiples of a unit, so scores are integers and the same everywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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
    // A decision's keys lie far apart: asked for all at once, they come together.
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

class PerceptronTrainer {
public:
    // A weight counts only once it was changed `min_updates` times: rare features, of which most
    // weights are made, are left out while the others learn to do without them (Goldberg & Elhadad
    // 2011).
    explicit PerceptronTrainer(int min_updates = 1) : min_updates_(min_updates) {}

    // Adds each class's weights to scores[class].
    void add_scores(std::span<const FeatureKey> features, std::int32_t* scores) const {
        table_.prefetch(features);
        for (const FeatureKey key : features) {
            const std::uint32_t row = table_.find(key);
            if (row == KeyTable::kAbsent) continue;
            for (const Cell& cell : rows_[row].cells)
                if (cell.updates >= min_updates_) scores[cell.cls] += cell.weight;
        }
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
            settle(cell);
            cell.weight += change;
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
        std::string bytes;
        FeatureKey last_key = 0;
        std::vector<std::pair<std::uint16_t, std::int32_t>> kept;
        for (Row& row : rows_) {
            kept.clear();
            for (Cell& cell : row.cells) {
                settle(cell);
                const double mean = static_cast<double>(cell.total) / std::max<double>(now_, 1);
                const auto rounded =
                    static_cast<std::int32_t>(std::clamp(std::round(mean / unit), -32767.0, 32767.0));
                if (rounded != 0 && std::fabs(mean) >= smallest && cell.updates >= min_updates_)
                    kept.emplace_back(cell.cls, rounded);
            }
            if (kept.empty()) continue;
            std::sort(kept.begin(), kept.end());
            put(bytes, row.key - last_key);
            put(bytes, static_cast<std::uint32_t>(kept.size()));
            std::uint16_t last_class = 0;
            for (const auto& [cls, weight] : kept) {
                put(bytes, static_cast<std::uint32_t>(cls - last_class));
                // Zigzag: small weights of either sign take one byte.
                put(bytes, static_cast<std::uint32_t>(weight) << 1 ^
                               static_cast<std::uint32_t>(weight >> 31));
                last_class = cls;
            }
            last_key = row.key;
        }
        return bytes;
    }

private:
    struct Cell {
        std::uint16_t cls;
        std::uint8_t updates = 0;
        std::int32_t weight = 0;
        std::int64_t total = 0;   // the sum of the weight over the decisions up to `settled`
        std::int64_t settled = 0;
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
    void settle(Cell& cell) const {
        cell.total += (now_ - cell.settled) * cell.weight;
        cell.settled = now_;
    }
    static void put(std::string& bytes, std::uint32_t value) {
        for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
        bytes += static_cast<char>(value);
    }

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
        std::size_t place = 0;
        FeatureKey key = 0;
        while (place < bytes.size()) {
            key += take(bytes, place);
            const std::uint32_t count = take(bytes, place);
            begins.emplace_back(key, static_cast<std::uint32_t>(cells_.size()));
            if (count >= kMostClasses) throw std::invalid_argument("damaged weights");
            cells_.push_back({static_cast<std::uint16_t>(count), 0});
            std::uint32_t cls = 0;
            for (std::uint32_t i = 0; i < count; ++i) {
                cls += take(bytes, place);
                const std::uint32_t zigzag = take(bytes, place);
                const auto weight = static_cast<std::int32_t>(zigzag >> 1 ^ (0u - (zigzag & 1)));
                if (cls >= classes) throw std::invalid_argument("weights of an unknown class");
                cells_.push_back(
                    {static_cast<std::uint16_t>(cls), static_cast<std::int16_t>(weight)});
            }
        }
        table_ = KeyTable(begins.size());
        for (const auto& [feature, begin] : begins) table_.insert(feature, begin);
    }

    void add_scores(std::span<const FeatureKey> features, std::int32_t* scores) const {
        table_.prefetch(features);
        for (const FeatureKey key : features) {
            const std::uint32_t begin = table_.find(key);
            if (begin == KeyTable::kAbsent) continue;
            const Cell* cell = &cells_[begin];
            for (const Cell* last = cell + cell->cls; cell != last;) {
                ++cell;
                scores[cell->cls] += cell->weight;
            }
        }
    }

private:
    // A row is a cell that holds the number of its classes, then a cell for each.
    struct Cell {
        std::uint16_t cls;
        std::int16_t weight;
    };
    static std::uint32_t take(std::string_view bytes, std::size_t& place) {
        std::uint32_t value = 0;
        for (int shift = 0; shift < 32; shift += 7) {
            if (place == bytes.size()) break;
            const auto byte = static_cast<std::uint8_t>(bytes[place++]);
            value |= std::uint32_t{byte & 0x7fu} << shift;
            if (byte < 0x80) return value;
        }
        throw std::invalid_argument("damaged weights");
    }

    KeyTable table_;
    std::vector<Cell> cells_;
};

}  // namespace wellput
