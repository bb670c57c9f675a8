// Checks of the numbers in arrays before a kernel uses them: a wrong number raises ValueError in
// Python, and can never lead to a read or write beyond an array. `otherwise` is the error message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace wellput {

inline void require(bool is_so, const char* otherwise) {
    if (!is_so) throw std::invalid_argument(otherwise);
}

// Requires that every value is one of 0, 1, ..., bound - 1.
template <typename T>
void require_below(std::span<const T> values, std::size_t bound, const char* otherwise) {
    for (const T value : values) require(static_cast<std::size_t>(value) < bound, otherwise);
}

// Requires that `begins` divides a sequence of `size` entries into pieces: it has the place where each
// piece begins, then the place where the last piece ends. No place may be below the one before it or
// above `size`.
template <typename T>
void require_pieces(std::span<const T> begins, std::size_t size, const char* otherwise) {
    require(!begins.empty(), otherwise);
    std::size_t previous = 0;
    for (const T begin : begins) {
        const auto place = static_cast<std::size_t>(begin);
        require(place >= previous && place <= size, otherwise);
        previous = place;
    }
}

// Whether the heads of words (numbered from 1; 0 is the head of the root) make a tree: there is one
// root, and every word is below it.
inline bool is_tree(std::span<const std::int32_t> heads) {
    const auto n = static_cast<std::int32_t>(heads.size());
    // Whether the way from a word to its head, to the head of its head and so on ends at 0.
    std::vector<bool> leads_to_0(heads.size() + 1, false);
    leads_to_0[0] = true;
    std::vector<std::int32_t> path;
    std::int32_t roots = 0;
    for (std::int32_t word = 1; word <= n; ++word) {
        roots += heads[static_cast<std::size_t>(word - 1)] == 0;
        path.clear();
        for (std::int32_t at = word; !leads_to_0[static_cast<std::size_t>(at)];
             at = heads[static_cast<std::size_t>(at - 1)]) {
            path.push_back(at);
            const std::int32_t head = heads[static_cast<std::size_t>(at - 1)];
            if (head < 0 || head > n) return false;
            if (path.size() > heads.size()) return false;  // the path goes in a circle
        }
        for (const std::int32_t at : path) leads_to_0[static_cast<std::size_t>(at)] = true;
    }
    return roots == 1;
}

}  // namespace wellput
