// The edit distance as TER defines it: Levenshtein's, computed only within a beam (a band of columns)
// around the diagonal of the table.
//
// There are two implementations for `ShiftSearch`. `BeamDistance` fills the beam cell by cell.
// `BitDistance` computes all columns of a row at once, with a bit per reference word, so the reference
// can have at most as many words as its integers have bits. `BitDistance` has no beam, so it is used
// only if `beam_is_wide_enough` says that a beam would make no difference.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "metrics/edit_bits.h"
#include "metrics/shift_search.h"

namespace wellput {

constexpr int BEAM_COLUMNS_PER_SIDE = 25;

// True if all cheapest paths of `distance` edits between n hypothesis words and m reference words lie
// in the beam, also for every other order of the hypothesis words with fewer edits. A path with I
// insertions and D deletions is at most max(I, D) columns away from the sloping diagonal, and max(I, D)
// is at most (distance + |n - m|) / 2; one column at either end is kept for rounding. If the reference
// is shorter than the beam's width to one side, every cell is in the beam.
inline bool beam_is_wide_enough(int distance, int n, int m) {
    return m < BEAM_COLUMNS_PER_SIDE ||
           distance + std::abs(n - m) <= 2 * (BEAM_COLUMNS_PER_SIDE - 2);
}

// Walks back from the end of both sequences and fills `alignment`. Among the cheapest steps it prefers
// the diagonal, then an extra hypothesis word (a step down the rows of the table), then a missing
// reference word. diagonal(i, j) and down(i, j) say whether a cheapest path may reach cell (i, j) by
// this step; matches(i, j), whether hypothesis word i is equal to reference word j (both from 0).
template <typename Diagonal, typename Down, typename Matches>
void trace_back(int n, int m, WordAlignment& alignment, Diagonal diagonal, Down down,
                Matches matches) {
    alignment.reset(n, m);
    int i = n;
    int j = m;
    while (j > 0) {
        if (i > 0 && diagonal(i, j)) {
            --i;
            --j;
            const bool error = !matches(i, j);
            alignment.hypothesis_of[j] = i;
            alignment.reference_error[j] = alignment.hypothesis_error[i] = error;
        } else if (i > 0 && down(i, j)) {
            alignment.hypothesis_error[--i] = true;
        } else {
            alignment.hypothesis_of[--j] = i - 1;
            alignment.reference_error[j] = true;
        }
    }
    std::fill_n(alignment.hypothesis_error.begin(), i, char{true});
}

// Carries out a shift.
inline void move_words(std::vector<int>& words, const Shift& shift) {
    const auto pieces = pieces_of(shift, static_cast<int>(words.size()));
    std::rotate(words.begin() + pieces.begin, words.begin() + std::max(pieces.first, pieces.second),
                words.begin() + pieces.rest);
}

// See `ShiftSearch::edits` for the functions of both distances.
template <typename Bits>
class BitDistance {
public:
    static constexpr int MAX_COLUMNS = 8 * sizeof(Bits);

    void start(const std::vector<int>& hypothesis, const std::vector<int>& reference, int bound) {
        words_ = hypothesis;
        n_ = static_cast<int>(hypothesis.size());
        m_ = static_cast<int>(reference.size());
        places_.assign(static_cast<std::size_t>(bound), 0);
        for (int j = 0; j < m_; ++j) places_[reference[j]] |= Bits{1} << j;
        matches_.resize(n_);
        steps_.resize(n_);
        rows_.resize(n_ + 1);
        rows_[0] = {};
        fill_from(0);
    }
    const std::vector<int>& hypothesis() const { return words_; }
    int current() const { return distance_; }

    void align(WordAlignment& alignment) const {
        trace_back(
            n_, m_, alignment,
            // If a diagonal step without a match keeps the value, the path did not take this step.
            [&](int i, int j) { return has(matches_[i - 1], j) || !has(steps_[i - 1].level, j); },
            [&](int i, int j) { return j == 0 || has(steps_[i - 1].down, j); },
            [&](int i, int j) { return has(matches_[i], j + 1); });
    }

    int shifted(const Shift& shift, int) const {
        const auto pieces = pieces_of(shift, n_);
        EditRow<Bits> row = rows_[pieces.begin];
        for (int i = pieces.first; i < pieces.first_end; ++i) next_row(row, matches_[i]);
        for (int i = pieces.second; i < pieces.second_end; ++i) next_row(row, matches_[i]);
        for (int i = pieces.rest; i < n_; ++i) next_row(row, matches_[i]);
        return last_value(row);
    }

    void apply(const Shift& shift) {
        move_words(words_, shift);
        fill_from(pieces_of(shift, n_).begin);
    }

private:
    static bool has(Bits bits, int j) { return (bits >> (j - 1)) & 1; }

    int last_value(const EditRow<Bits>& row) const {
        const Bits mask = low_bits<Bits>(m_);
        return n_ + count_bits(row.plus & mask) - count_bits(row.minus & mask);
    }

    void fill_from(int begin) {
        EditRow<Bits> row = rows_[begin];
        for (int i = begin; i < n_; ++i) {
            matches_[i] = places_[words_[i]];
            steps_[i] = next_row(row, matches_[i]);
            rows_[i + 1] = row;
        }
        distance_ = last_value(row);
    }

    int n_ = 0, m_ = 0, distance_ = 0;
    std::vector<int> words_;
    std::vector<Bits> places_;   // per word: the places where the reference has it
    std::vector<Bits> matches_;  // per hypothesis position: the places of its word in the reference
    std::vector<EditSteps<Bits>> steps_;
    std::vector<EditRow<Bits>> rows_;
};

class BeamDistance {
public:
    void start(const std::vector<int>& hypothesis, const std::vector<int>& reference) {
        words_ = hypothesis;
        reference_ = &reference;
        n_ = static_cast<int>(hypothesis.size());
        m_ = static_cast<int>(reference.size());
        slope_ = n_ ? static_cast<double>(m_) / n_ : 1.0;
        // If the reference is much longer than the hypothesis, the beams of neighboring rows would not
        // overlap: a wider beam is needed.
        beam_ = BEAM_COLUMNS_PER_SIDE < slope_ / 2
                    ? static_cast<int>(std::ceil(slope_ / 2 + BEAM_COLUMNS_PER_SIDE))
                    : BEAM_COLUMNS_PER_SIDE;
        stride_ = 2 * beam_ + 2;
        cells_.resize(static_cast<std::size_t>(n_) * stride_);
        scratch_.resize(2 * static_cast<std::size_t>(stride_));
        fill_from(0);
    }
    const std::vector<int>& hypothesis() const { return words_; }
    int current() const { return distance_; }

    void align(WordAlignment& alignment) const {
        auto matches = [&](int i, int j) { return words_[i] == (*reference_)[j]; };
        trace_back(
            n_, m_, alignment,
            [&](int i, int j) {
                return value(i - 1, j - 1) + !matches(i - 1, j - 1) == value(i, j);
            },
            [&](int i, int j) { return value(i - 1, j) + 1 == value(i, j); }, matches);
    }

    int shifted(const Shift& shift, int limit) {
        const auto pieces = pieces_of(shift, n_);
        int i = pieces.begin;
        const int* above = i ? row(i) : nullptr;
        int* next = scratch_.data();
        int* spare = next + stride_;
        auto walk = [&](int begin, int end) {
            for (int k = begin; k < end; ++k) {
                if (fill_row(++i, words_[k], above, next) >= limit) return false;
                above = next;
                std::swap(next, spare);
            }
            return true;
        };
        if (!walk(pieces.first, pieces.first_end) || !walk(pieces.second, pieces.second_end) ||
            !walk(pieces.rest, n_))
            return limit;
        return above[m_ - begin_of(n_)];
    }

    void apply(const Shift& shift) {
        move_words(words_, shift);
        fill_from(pieces_of(shift, n_).begin);
    }

private:
    static constexpr int INFINITE_EDITS = 1 << 29;

    // In row i: the column of the sloping diagonal, the first column of the beam, and the one after its
    // last.
    int diagonal(int i) const { return static_cast<int>(std::floor(i * slope_)); }
    int begin_of(int i) const { return i ? std::max(0, diagonal(i) - beam_) : 0; }
    int end_of(int i) const {
        return i == 0 || i == n_ ? m_ + 1 : std::min(m_ + 1, diagonal(i) + beam_);
    }
    const int* row(int i) const {
        return cells_.data() + static_cast<std::size_t>(i - 1) * stride_;
    }
    int value(int i, int j) const { return i ? cell(i, row(i), j) : j; }
    int cell(int i, const int* cells, int j) const {
        if (i == 0) return j;
        const int begin = begin_of(i);
        return j < begin || j >= end_of(i) ? INFINITE_EDITS : cells[j - begin];
    }

    // Fills row i from row i - 1. Returns a lower bound of the distance: no path through this row costs
    // less.
    int fill_row(int i, int word, const int* above, int* cells) const {
        const int begin = begin_of(i);
        const int end = end_of(i);
        const int above_begin = begin_of(i - 1);
        const int above_end = end_of(i - 1);
        auto up = [&](int j) {
            if (i == 1) return j;
            return j < above_begin || j >= above_end ? INFINITE_EDITS : above[j - above_begin];
        };
        int left = INFINITE_EDITS;
        int bound = INFINITE_EDITS;
        int up_left = begin ? up(begin - 1) : INFINITE_EDITS;
        for (int j = begin; j < end; ++j) {
            const int straight = up(j);
            int best = std::min(straight, left) + 1;
            if (j) best = std::min(best, up_left + ((*reference_)[j - 1] != word));
            cells[j - begin] = left = best;
            up_left = straight;
            bound = std::min(bound, best + std::abs((n_ - i) - (m_ - j)));
        }
        return bound;
    }

    void fill_from(int begin) {
        for (int i = begin + 1; i <= n_; ++i)
            fill_row(i, words_[i - 1], i > 1 ? row(i - 1) : nullptr,
                     cells_.data() + static_cast<std::size_t>(i - 1) * stride_);
        distance_ = value(n_, m_);
    }

    int n_ = 0, m_ = 0, beam_ = BEAM_COLUMNS_PER_SIDE, stride_ = 0, distance_ = 0;
    double slope_ = 1.0;
    std::vector<int> words_;
    const std::vector<int>* reference_ = nullptr;
    std::vector<int> cells_;    // rows 1 to n, each from the beginning of its beam
    std::vector<int> scratch_;  // two rows, for a shift that is tried
};

}  // namespace wellput
