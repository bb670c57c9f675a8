// TER's greedy search for shifts, as in Tercom and sacreBLEU.
//
// A shift moves a block of words of the hypothesis to the place where the reference has the same words.
// The search makes the shift that lowers the edit distance most, and repeats this until no shift lowers
// it. `Distance` computes the distances.
#pragma once

#include <algorithm>
#include <vector>

namespace wellput {

// Moves `length` words from `start` to before the word that is now at `target`; a target inside the
// block moves the block `target - start` words to the right.
struct Shift {
    int start, length, target;
};

// The result of a shift, as pieces of the old sequence: the words before `begin` do not change; then
// come two pieces that have changed places; then the words from `rest` on, which do not change.
struct ShiftedPieces {
    int begin;               // the first position that changes
    int first, first_end;    // the old place of the piece that comes first after the shift
    int second, second_end;  // the old place of the piece that comes second
    int rest;                // from here on nothing changes
};

inline ShiftedPieces pieces_of(const Shift& shift, int n) {
    const int end = shift.start + shift.length;
    if (shift.target < shift.start)
        return {shift.target, shift.start, end, shift.target, shift.start, end};
    int rest = shift.target > end ? shift.target : std::min(n, shift.target + shift.length);
    return {shift.start, end, rest, shift.start, end, rest};
}

// The alignment of the current hypothesis with the reference.
struct WordAlignment {
    std::vector<int> hypothesis_of;  // per reference word: the last hypothesis word so far, or -1
    std::vector<char> reference_error;
    std::vector<char> hypothesis_error;

    void reset(int n, int m) {
        hypothesis_of.assign(static_cast<std::size_t>(m), -1);
        reference_error.assign(static_cast<std::size_t>(m), 0);
        hypothesis_error.assign(static_cast<std::size_t>(n), 0);
    }
};

class ShiftSearch {
public:
    // The number of shifts plus remaining edits that turn the hypothesis of `distance` into
    // `reference`. `floor` is a number of edits that no order of the hypothesis words can get below.
    //
    // `Distance` has hypothesis(), the current words as numbers; current(), their distance;
    // align(WordAlignment&); shifted(shift, limit), the distance after a shift, exact where it is
    // below the limit; and apply(shift).
    template <typename Distance>
    int edits(Distance& distance, const std::vector<int>& reference, int bound, int floor) {
        index(reference, bound);
        int shifts = 0;
        int tried = 0;
        while (distance.current() > floor) {
            distance.align(alignment_);
            tried += find_candidates(distance.hypothesis(), reference);
            // When the limit is reached, the search ends without making a shift of this round.
            if (tried >= MAX_SHIFT_CANDIDATES) break;
            Shift best{};
            if (!find_best(distance, floor, best)) break;
            distance.apply(best);
            ++shifts;
        }
        return shifts + distance.current();
    }

private:
    static constexpr int MAX_BLOCK_WORDS = 10;
    static constexpr int MAX_SHIFT_WORDS = 50;
    static constexpr int MAX_SHIFT_CANDIDATES = 1000;

    // Chains the positions of equal words in the reference.
    void index(const std::vector<int>& reference, int bound) {
        const int m = static_cast<int>(reference.size());
        first_place_.assign(static_cast<std::size_t>(bound), -1);
        next_place_.resize(reference.size());
        for (int r = m - 1; r >= 0; --r) {
            next_place_[r] = first_place_[reference[r]];
            first_place_[reference[r]] = r;
        }
    }

    // For every position the distance to the next error at or after it, at most MAX_BLOCK_WORDS.
    static void distances_to_error(const std::vector<char>& error, std::vector<int>& to_error) {
        to_error.resize(error.size());
        int steps = MAX_BLOCK_WORDS;
        for (std::size_t i = error.size(); i-- > 0;)
            to_error[i] = steps = error[i] ? 0 : std::min(steps + 1, MAX_BLOCK_WORDS);
    }

    // Fills `candidates_`, a list for each length of the block, with the shifts worth trying, sorted by
    // start, then target. Returns how many shifts sacreBLEU would try: it tries a shift again for every
    // place in the reference that suggests it.
    int find_candidates(const std::vector<int>& hypothesis, const std::vector<int>& reference) {
        const int n = static_cast<int>(hypothesis.size());
        const int m = static_cast<int>(reference.size());
        distances_to_error(alignment_.hypothesis_error, hypothesis_to_error_);
        distances_to_error(alignment_.reference_error, reference_to_error_);
        for (auto& candidates : candidates_) candidates.clear();
        first_place_near_ = first_place_;
        int tried = 0;
        for (int h = 0; h < n; ++h) {
            if (hypothesis_to_error_[h] >= MAX_BLOCK_WORDS) continue;
            // A place that is too far to the left of h is too far for every later h, too.
            int& first = first_place_near_[hypothesis[h]];
            while (first >= 0 && first < h - MAX_SHIFT_WORDS) first = next_place_[first];
            for (int r = first; r >= 0 && r <= h + MAX_SHIFT_WORDS; r = next_place_[r]) {
                // Both sides of the block must have an error, and the block must not be at its
                // target already.
                const int shortest = 1 + std::max(hypothesis_to_error_[h], reference_to_error_[r]);
                int longest = std::min({MAX_BLOCK_WORDS, n - h, m - r});
                const int aligned = alignment_.hypothesis_of[r];
                if (aligned >= h) longest = std::min(longest, aligned - h);
                if (shortest > longest) continue;
                for (int length = 1; length <= longest; ++length) {
                    if (hypothesis[h + length - 1] != reference[r + length - 1]) break;
                    if (length >= shortest) tried += add_candidates(h, r, length);
                }
            }
        }
        return tried;
    }

    // Adds the shifts of one block, which begins at h and has the same words as the reference from r
    // on. The block may go behind each hypothesis word that is aligned to one of these reference words
    // or to the word before them.
    int add_candidates(int h, int r, int length) {
        auto& candidates = candidates_[length - 1];
        // Targets grow with r, so a target that is not beyond the last one is in the list already.
        int last =
            !candidates.empty() && candidates.back().start == h ? candidates.back().target : -1;
        int tried = 0;
        int previous = -1;
        for (int place = r - 1; place < r + length; ++place) {
            const int target = place < 0 ? 0 : alignment_.hypothesis_of[place] + 1;
            if (target == previous) continue;
            previous = target;
            ++tried;
            if (target > last) {
                candidates.push_back({h, length, target});
                last = target;
            }
        }
        return tried;
    }

    // Finds the shift that lowers the distance most; among equally good ones, the one with the longest
    // block, then the first start, then the leftmost target. Returns false if no shift lowers it.
    template <typename Distance>
    bool find_best(Distance& distance, int floor, Shift& best) {
        const int before = distance.current();
        int lowest = before;
        for (int length = MAX_BLOCK_WORDS; length > 0; --length) {
            // A shift saves at most deleting and inserting its block: twice the length of the block.
            const int reachable = std::max(floor, before - 2 * length);
            for (const Shift& shift : candidates_[length - 1]) {
                if (lowest <= reachable) return lowest < before;
                if (shift.target == shift.start) continue;  // nothing moves
                const int after = distance.shifted(shift, lowest);
                if (after < lowest) {
                    lowest = after;
                    best = shift;
                }
            }
        }
        return lowest < before;
    }

    WordAlignment alignment_;
    std::vector<int> first_place_, next_place_, first_place_near_;
    std::vector<int> hypothesis_to_error_, reference_to_error_;
    std::vector<Shift> candidates_[MAX_BLOCK_WORDS];
};

}  // namespace wellput
