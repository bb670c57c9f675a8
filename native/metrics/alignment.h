// The cheapest alignment of a hypothesis with a reference, and its errors.
//
// Among the cheapest alignments, the one with the fewest errors is taken: minimizing cost * scale +
// errors does both at once. The path is traced from the end of the texts and prefers a diagonal step,
// then a deletion, then an insertion, so it is unique. A move is a token that is deleted in one place
// and inserted in another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "metrics/rows_backwards.h"

namespace wellput {

struct Costs {
    int insertion = 3;
    int deletion = 3;
    int substitution = 4;

    std::int64_t dearest() const { return std::max({insertion, deletion, substitution}); }
    std::int64_t cheapest() const { return std::min({insertion, deletion, substitution}); }

    // No cheapest alignment of sentences of up to n and m tokens costs more.
    std::int64_t highest(std::size_t n, std::size_t m) const {
        const std::int64_t replaced = std::min(substitution, insertion + deletion);
        const auto fewer = static_cast<std::int64_t>(std::min(n, m));
        const auto more = static_cast<std::int64_t>(std::max(n, m));
        const std::int64_t lone = std::max(insertion, deletion);
        return std::max(replaced * fewer + lone * (more - fewer), lone * more);
    }

    // A path that is tried for a cell of the table is a cheapest path and one more step: it costs at
    // most `highest` + `dearest`. The second `dearest` is to spare.
    std::int64_t highest_tried(std::int64_t highest) const { return highest + 2 * dearest(); }

    // A path that costs c has from c / dearest to c / cheapest errors. If the scale is above the
    // greatest difference between these two numbers, cost * scale + errors compares first by cost,
    // then by errors. The scale is kept small, so that the values fit into 16 bits for sentences of
    // up to about 150 tokens.
    std::int64_t scale(std::int64_t highest) const {
        const std::int64_t top = highest_tried(highest);
        return top / cheapest() - top / dearest() + 2;
    }
};

// Errors of one alignment. Deletions and insertions include the moved tokens.
struct Errors {
    int substitutions = 0;
    int insertions = 0;
    int deletions = 0;
    int moves = 0;

    Errors& operator+=(const Errors& other) {
        substitutions += other.substitutions;
        insertions += other.insertions;
        deletions += other.deletions;
        moves += other.moves;
        return *this;
    }
};

// One step of the path: a pair of positions. A deletion has no position in the hypothesis, an insertion
// none in the reference: -1 stands there.
struct Step {
    int reference;
    int hypothesis;
};

// Fills a table of the cheapest values. Cell (i, j), for the first i reference tokens and the first j
// hypothesis tokens, is in row i + j (its diagonal) at place i; rows are `stride` apart. The cells of a
// diagonal do not depend on each other, so compilers turn the loop over them into vector code, which
// handles LANE_CELLS at a time. Therefore rows and tokens need LANE_CELLS places to spare at the end.
// `reference[i]` is token i - 1 of the reference; `backwards` has the hypothesis in reverse order.
inline constexpr std::size_t LANE_CELLS = 16;
void fill_diagonals(std::int16_t* values, std::size_t stride, const std::int16_t* reference,
                    const std::int16_t* backwards, std::size_t n, std::size_t m,
                    std::int16_t deletion, std::int16_t insertion, std::int16_t substitution);
void fill_diagonals(std::int32_t* values, std::size_t stride, const std::int32_t* reference,
                    const std::int32_t* backwards, std::size_t n, std::size_t m,
                    std::int32_t deletion, std::int32_t insertion, std::int32_t substitution);

class Aligner {
public:
    explicit Aligner(Costs costs) : costs_(costs) {}

    // The errors of the cheapest alignment. Tokens are numbers below `bound`.
    Errors align(std::span<const int> reference, std::span<const int> hypothesis, int bound) {
        path_.clear();
        deleted_.clear();
        inserted_.clear();
        substitutions_ = 0;
        // Equal tokens at the end are always paired; equal tokens at the beginning may not be.
        std::size_t n = reference.size(), m = hypothesis.size();
        while (n > 0 && m > 0 && reference[n - 1] == hypothesis[m - 1])
            path_.push_back({static_cast<int>(--n), static_cast<int>(--m)});
        trace(reference.first(n), hypothesis.first(m), bound);
        return tally(bound);
    }

    // The path of the last alignment, from the end of the sentences to their beginning.
    std::span<const Step> path() const { return path_; }

private:
    static constexpr std::size_t LARGE_TABLE_CELLS = std::size_t{1} << 24;
    static constexpr std::size_t MAX_STEP_BYTES = std::size_t{1} << 24;  // 16 MiB

    void trace(std::span<const int> reference, std::span<const int> hypothesis, int bound) {
        const std::size_t n = reference.size(), m = hypothesis.size();
        if (n == 0 || m == 0) {
            for (std::size_t i = n; i > 0; --i) add_deletion(i, reference);
            for (std::size_t j = m; j > 0; --j) add_insertion(j, hypothesis);
            return;
        }
        const std::int64_t highest = costs_.highest(n, m);
        const std::int64_t scale = costs_.scale(highest);
        // A path that costs c has at most c errors, so its value is at most c * (scale + 1).
        const std::int64_t largest = costs_.highest_tried(highest) * (scale + 1);
        if (largest < std::numeric_limits<std::int16_t>::max() &&
            bound < std::numeric_limits<std::int16_t>::max())
            by_diagonals<std::int16_t>(reference, hypothesis, scale);
        else if (largest < std::numeric_limits<std::int32_t>::max() &&
                 (n + m + 1) * (n + 1) < LARGE_TABLE_CELLS)
            by_diagonals<std::int32_t>(reference, hypothesis, scale);
        else
            by_rows(reference, hypothesis, scale);
    }

    template <typename T>
    void by_diagonals(std::span<const int> reference, std::span<const int> hypothesis,
                      std::int64_t scale) {
        const std::size_t n = reference.size(), m = hypothesis.size();
        const std::size_t stride = n + 1 + LANE_CELLS;
        // For the tokens of a text: vector code also reads past their end.
        const std::size_t padded_length = n + m + 2 * LANE_CELLS + 2;
        const std::size_t bytes =
            ((n + m + 1) * stride + LANE_CELLS + 2 * padded_length) * sizeof(T);
        if (cells_.size() * sizeof(std::int64_t) < bytes) cells_.resize(bytes / 8 + 1);
        T* const values = reinterpret_cast<T*>(cells_.data());
        T* const shifted =
            values + (n + m + 1) * stride + LANE_CELLS;  // reference token i - 1 at i
        T* const backwards = shifted + padded_length;
        for (std::size_t i = 0; i < n; ++i) shifted[i + 1] = static_cast<T>(reference[i]);
        for (std::size_t j = 0; j < m; ++j) backwards[m - 1 - j] = static_cast<T>(hypothesis[j]);
        const T deletion = static_cast<T>(costs_.deletion * scale + 1);
        const T insertion = static_cast<T>(costs_.insertion * scale + 1);
        const T substitution = static_cast<T>(costs_.substitution * scale + 1);
        fill_diagonals(values, stride, shifted, backwards, n, m, deletion, insertion, substitution);
        auto at = [&](std::size_t i, std::size_t j) { return values[(i + j) * stride + i]; };
        for (std::size_t i = n, j = m; i > 0 || j > 0;) {
            // A diagonal step over equal tokens is always on a cheapest path.
            const bool inside = i > 0 && j > 0;
            const bool same = inside && reference[i - 1] == hypothesis[j - 1];
            if (same || (inside && at(i, j) == static_cast<T>(at(i - 1, j - 1) + substitution)))
                add_pair(i--, j--, same);
            else if (i > 0 && at(i, j) == static_cast<T>(at(i - 1, j) + deletion))
                add_deletion(i--, reference);
            else
                add_insertion(j--, hypothesis);
        }
    }

    // For long texts: keeps only the current row of values, and two bits for each cell that say which
    // step leads back. If even these bits are too many, they are computed piece by piece.
    void by_rows(std::span<const int> reference, std::span<const int> hypothesis,
                 std::int64_t scale) {
        enum : std::uint8_t { DIAGONAL_STEP, DELETION_STEP, INSERTION_STEP };
        const std::int64_t deletion = costs_.deletion * scale + 1;
        const std::int64_t insertion = costs_.insertion * scale + 1;
        const std::int64_t substitution = costs_.substitution * scale + 1;
        std::size_t j = hypothesis.size();  // the column that the way back has reached
        // Turns row i - 1 into row i; take(column, step) gets the step back from each cell.
        auto next_row = [&](std::vector<std::int64_t>& row, std::size_t i, auto take) {
            std::int64_t corner = row[0];
            row[0] += deletion;
            for (std::size_t k = 1; k <= j; ++k) {
                std::int64_t best =
                    corner + (reference[i - 1] == hypothesis[k - 1] ? 0 : substitution);
                std::uint8_t step = DIAGONAL_STEP;
                if (row[k] + deletion < best) best = row[k] + deletion, step = DELETION_STEP;
                if (row[k - 1] + insertion < best)
                    best = row[k - 1] + insertion, step = INSERTION_STEP;
                corner = row[k];
                row[k] = best;
                take(k, step);
            }
        };
        auto advance = [&](std::vector<std::int64_t>& row, std::size_t i) {
            next_row(row, i, [](std::size_t, std::uint8_t) {});
        };
        auto walk = [&](std::vector<std::int64_t> row, std::size_t begin, std::size_t end) {
            const std::size_t width = j / 4 + 1;
            steps_.assign((end - begin) * width, 0);
            for (std::size_t i = begin + 1; i <= end; ++i)
                next_row(row, i,
                         [&, at = (i - begin - 1) * width](std::size_t k, std::uint8_t step) {
                             steps_[at + k / 4] |= static_cast<std::uint8_t>(step << (2 * (k % 4)));
                         });
            for (std::size_t i = end; i > begin;) {
                const std::size_t at = (i - begin - 1) * width + j / 4;
                const int step = j == 0 ? DELETION_STEP : (steps_[at] >> (2 * (j % 4))) & 3;
                if (step == DIAGONAL_STEP) {
                    add_pair(i, j, reference[i - 1] == hypothesis[j - 1]);
                    --i, --j;
                } else if (step == DELETION_STEP) {
                    add_deletion(i--, reference);
                } else {
                    add_insertion(j--, hypothesis);
                }
            }
        };
        std::vector<std::int64_t> row(j + 1);
        for (std::size_t k = 0; k <= j; ++k) row[k] = static_cast<std::int64_t>(k) * insertion;
        visit_backwards(row, 0, reference.size(), MAX_STEP_BYTES / (j / 4 + 1), advance, walk);
        while (j > 0) add_insertion(j--, hypothesis);
    }

    // The three steps back from cell (i, j).
    void add_pair(std::size_t i, std::size_t j, bool same) {
        path_.push_back({static_cast<int>(i) - 1, static_cast<int>(j) - 1});
        substitutions_ += !same;
    }
    void add_deletion(std::size_t i, std::span<const int> reference) {
        path_.push_back({static_cast<int>(i) - 1, -1});
        deleted_.push_back(reference[i - 1]);
    }
    void add_insertion(std::size_t j, std::span<const int> hypothesis) {
        path_.push_back({-1, static_cast<int>(j) - 1});
        inserted_.push_back(hypothesis[j - 1]);
    }

    // A move is a token that was deleted in one place and inserted in another.
    Errors tally(int bound) {
        Errors errors{substitutions_, static_cast<int>(inserted_.size()),
                      static_cast<int>(deleted_.size()), 0};
        if (deleted_.empty() || inserted_.empty()) return errors;
        if (counts_.size() < static_cast<std::size_t>(bound)) counts_.resize(bound);
        for (const int token : deleted_) ++counts_[token];
        for (const int token : inserted_) {
            const int is_moved = counts_[token] > 0;
            counts_[token] -= is_moved;
            errors.moves += is_moved;
        }
        for (const int token : deleted_) counts_[token] = 0;
        return errors;
    }

    Costs costs_;
    std::vector<std::int64_t> cells_;  // memory for `by_diagonals`: the table, then the tokens
    std::vector<std::uint8_t> steps_;
    std::vector<Step> path_;
    std::vector<int> deleted_, inserted_, counts_;
    int substitutions_ = 0;
};

}  // namespace wellput
