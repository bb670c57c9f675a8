// Distributions that back off, read from hash tables (language/backoff_tables.py makes them).
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
    static constexpr std::size_t FINE = 256;  // steps of a weight in one of an event
    BackoffTable<std::uint8_t> events;
    BackoffTable<std::uint16_t> contexts;
    // Contexts whose outcomes are listed: from begins[place] on.
    BackoffTable<std::uint16_t> lists;
    const std::uint32_t* begins = nullptr;
    const std::uint16_t* outcomes = nullptr;
    const std::uint8_t* steps = nullptr;
    std::array<double, 256> discounted;

    BackoffTables() {
        for (std::size_t step = 0; step < discounted.size(); ++step)
            discounted[step] = std::exp(-static_cast<double>(step) / EVENT_STEPS);
        for (std::size_t step = 0; step < FINE; ++step)
            fine_[step] = std::exp(-static_cast<double>(step) / WEIGHT_STEPS);
    }

    double weight(std::uint16_t steps) const {
        static_assert(WEIGHT_STEPS == EVENT_STEPS * FINE);
        return discounted[steps / FINE] * fine_[steps % FINE];
    }

private:
    std::array<double, FINE> fine_;
};

template <typename... Ids>
std::uint64_t context_key(std::uint64_t family, std::uint64_t level, Ids... ids) {
    std::uint64_t key = mixed(mixed(0, family), level);
    ((key = mixed(key, static_cast<std::uint64_t>(ids))), ...);
    return key;
}

// The contexts of one distribution, the shortest first; built once, asked for many outcomes.
class BackoffChain {
public:
    static constexpr std::size_t MOST_LEVELS = 8;

    BackoffChain(const BackoffTables& tables, std::uint64_t family)
        : tables_(&tables), family_(family) {}

    // Adds the next fuller context, unless it was never met.
    template <typename... Ids>
    void add(std::uint64_t level, Ids... ids) {
        const std::uint64_t key = context_key(family_, level, ids...);
        const std::uint16_t* steps = tables_->contexts.find(key);
        if (!steps) return;
        keys_[size_] = key;
        weights_[size_++] = tables_->weight(*steps);
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

private:
    const BackoffTables* tables_;
    std::uint64_t family_;
    std::array<std::uint64_t, MOST_LEVELS> keys_{};
    std::array<double, MOST_LEVELS> weights_{};
    std::size_t size_ = 0;
};

}  // namespace wellput
