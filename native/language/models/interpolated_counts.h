// Counts of events in contexts, interpolated with wider contexts as Witten and Bell do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wellput {

// Counts by key, in an open-addressing table.
class CountTable {
public:
    struct Count {
        std::uint64_t key = 0;  // 0 where the slot is empty
        double total = 0, types = 0;
    };
    void add(std::uint64_t key, double count, double types = 0) {
        if ((size_ + 1) * 2 > slots_.size()) grow();
        Count& found = slots_[place(key + 1)];
        size_ += found.key == 0;
        found.key = key + 1;
        found.total += count;
        found.types += types;
    }
    const Count* find(std::uint64_t key) const {
        if (slots_.empty()) return nullptr;
        const Count& found = slots_[place(key + 1)];
        return found.key ? &found : nullptr;
    }

private:
    std::size_t place(std::uint64_t key) const {
        std::size_t at = (key * 0x9e3779b97f4a7c15ull >> 24) & (slots_.size() - 1);
        while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
        return at;
    }
    void grow() {
        std::vector<Count> old(slots_.empty() ? 64 : slots_.size() * 2);
        old.swap(slots_);
        for (const Count& count : old)
            if (count.key) slots_[place(count.key)] = count;
    }
    std::vector<Count> slots_;
    std::size_t size_ = 0;
};

// What was counted in a context: how much, and how many different things.
struct Totals {
    double total = 0, types = 0;
    void add(double count) {
        total += count;
        types += 1;
    }
    double interpolated(double count, double weight, double wider) const {
        const double backed = weight * types;
        return total > 0 ? (count + backed * wider) / (total + backed) : wider;
    }
};

// One level of interpolation: events in contexts.
class Level {
public:
    explicit Level(double weight = 1) : weight_(weight) {}
    void add(std::uint64_t context, std::uint64_t event, double count) {
        contexts_.add(context, count, is_new(context, event));
        events_.add(joined(context, event), count);
    }
    // An event that has the name of another: its total is that one's.
    void add_name(std::uint64_t context, std::uint64_t event, double count) {
        events_.add(joined(context, event), count);
    }
    double operator()(std::uint64_t context, std::uint64_t event, double wider) const {
        const auto* whole = contexts_.find(context);
        if (!whole) return wider;
        const auto* part = events_.find(joined(context, event));
        const double backed = weight_ * whole->types;
        return ((part ? part->total : 0) + backed * wider) / (whole->total + backed);
    }

private:
    static std::uint64_t joined(std::uint64_t context, std::uint64_t event) {
        return context << 20 | event;
    }
    double is_new(std::uint64_t context, std::uint64_t event) const {
        return events_.find(joined(context, event)) ? 0 : 1;
    }
    CountTable contexts_, events_;
    double weight_;
};

}  // namespace wellput
