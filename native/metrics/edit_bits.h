// The Levenshtein distance, computed a whole row of the table at a time, with a bit per column (Myers
// 1999, as in Hyyrö 2003).
//
// D[i][j] is the distance between the first i words of one sequence (rows) and the first j of the
// other (columns). Neighboring cells differ by at most one. So a row is known from its first value,
// D[i][0] = i, and two bit vectors: bit j - 1 of `plus` says that D[i][j] - D[i][j - 1] is 1, and bit
// j - 1 of `minus` says that it is -1.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace wellput {

template <typename Bits>
struct EditRow {
    Bits plus = ~Bits{0};
    Bits minus = 0;
};

// What is needed of a row to walk back along the cheapest path; bit j - 1 is for column j.
template <typename Bits>
struct EditSteps {
    Bits level;  // D[i][j] == D[i - 1][j - 1]
    Bits down;   // D[i][j] == D[i - 1][j] + 1
};

// Turns row i - 1 into row i. `matches` has a bit for each column whose word is equal to that of row i.
template <typename Bits>
inline EditSteps<Bits> next_row(EditRow<Bits>& row, Bits matches) {
    const Bits level = (((matches & row.plus) + row.plus) ^ row.plus) | matches | row.minus;
    const Bits down = row.minus | ~(level | row.plus);
    const Bits up = level & row.plus;  // D[i][j] == D[i - 1][j] - 1
    // `down` of the column to the left. Left of the first one is D[i][0] = D[i - 1][0] + 1.
    const Bits left_down = (down << 1) | 1;
    row.plus = (up << 1) | ~(level | left_down);
    row.minus = left_down & level;
    return {level, down};
}

// The same for sequences of any length, in blocks of 64 columns. `above` and `row` may be the same.
inline void next_row(const EditRow<std::uint64_t>* above, EditRow<std::uint64_t>* row,
                     const std::uint64_t* matches, std::size_t blocks) {
    std::uint64_t down_carry = 1;
    std::uint64_t up_carry = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
        const auto [plus, minus] = above[b];
        const std::uint64_t same = matches[b] | up_carry;
        const std::uint64_t level = (((same & plus) + plus) ^ plus) | same | minus;
        const std::uint64_t down = minus | ~(level | plus);
        const std::uint64_t up = level & plus;
        const std::uint64_t left_down = (down << 1) | down_carry;
        row[b].plus = (up << 1) | up_carry | ~(level | left_down);
        row[b].minus = left_down & level;
        down_carry = down >> 63;
        up_carry = up >> 63;
    }
}

inline int count_bits(std::uint64_t bits) { return std::popcount(bits); }
inline int count_bits(unsigned __int128 bits) {
    return std::popcount(static_cast<std::uint64_t>(bits)) +
           std::popcount(static_cast<std::uint64_t>(bits >> 64));
}

// The lowest n bits, 0 <= n <= the width of Bits.
template <typename Bits>
inline Bits low_bits(int n) {
    return n == 8 * static_cast<int>(sizeof(Bits)) ? ~Bits{0} : (Bits{1} << n) - 1;
}

}  // namespace wellput
