// Distributions that back off, read from two hash tables (language/backoff_tables.py makes them).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace wellput {

// One more number taken into a hash.
inline std::uint64_t mixed(std::uint64_t key, std::uint64_t value) {
    key = (key ^ (value + 1)) * 0x9E3779B97F4A7C15ull;
    return key ^ (key >> 32);
}

// Values by the upper 32 bits of a key: 16 of them choose a bucket, 16 are compared.
template <typename Value>
struct BackoffTable {
    const std::uint32_t* starts = nullptr;
    const std::uint16_t* keys = nullptr;
    const Value* values = nullptr;

    // The place of the key's value, or null.
    const Value* find(std::uint64_t key) const {
        const std::size_t bucket = key >> 48;
        const auto low = static_cast<std::uint16_t>(key >> 32);
        for (std::uint32_t at = starts[bucket]; at < starts[bucket + 1]; ++at)
            if (keys[at] == low) return values + at;
        return nullptr;
    }
};

struct BackoffTables {
    static constexpr double EVENT_STEPS = 16, WEIGHT_STEPS = 4096;
    BackoffTable<std::uint8_t> events;
    BackoffTable<std::uint16_t> contexts;
    std::array<double, 256> discounted;

    BackoffTables() {
        for (std::size_t step = 0; step < discounted.size(); ++step)
            discounted[step] = std::exp(-static_cast<double>(step) / EVENT_STEPS);
    }
};

// The contexts of one distribution, the shortest first; built once, asked for many outcomes.
class BackoffChain {
public:
    static constexpr std::size_t MOST_LEVELS = 8;

    BackoffChain(const BackoffTables& tables, std::uint64_t family)
        : tables_(&tables), family_(mixed(0, family)) {}

    // Adds the next fuller context, unless it was never met.
    template <typename... Ids>
    void add(std::uint64_t level, Ids... ids) {
        std::uint64_t key = mixed(family_, level);
        ((key = mixed(key, static_cast<std::uint64_t>(ids))), ...);
        const std::uint16_t* steps = tables_->contexts.find(key);
        if (!steps) return;
        keys_[size_] = key;
        weights_[size_++] = std::exp(-*steps / BackoffTables::WEIGHT_STEPS);
    }

    // The probability of an outcome where `p` is what lies under the shortest context.
    double probability(std::uint64_t outcome, double p) const {
        for (std::size_t level = 0; level < size_; ++level) {
            p *= weights_[level];
            if (const std::uint8_t* steps = tables_->events.find(mixed(keys_[level], outcome)))
                p += tables_->discounted[*steps];
        }
        return p;
    }

    bool is_empty() const { return size_ == 0; }

    // What is left for the distribution under the shortest context.
    double weight() const {
        double left = 1;
        for (std::size_t level = 0; level < size_; ++level) left *= weights_[level];
        return left;
    }

private:
    const BackoffTables* tables_;
    std::uint64_t family_;
    std::array<std::uint64_t, MOST_LEVELS> keys_{};
    std::array<double, MOST_LEVELS> weights_{};
    std::size_t size_ = 0;
};

}  // namespace wellput
