// The best projective tree with one root, from the score of every possible arc (Eisner 1996).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace wellput {

class ProjectiveTree {
public:
    // `scores` has a row for each of n words: the score of being the root, then the score of each word
    // as its head. Returns each word's head, numbered from 1; the root's head is 0. Of equally good
    // trees the same one is always chosen.
    const std::vector<std::int32_t>& best(const std::int64_t* scores, std::size_t n) {
        n_ = n;
        scores_ = scores;
        for (auto& cells : {&open_left_, &open_right_, &closed_left_, &closed_right_})
            cells->assign(n * n, {});
        for (std::size_t size = 2; size <= n; ++size)
            for (std::size_t i = 0; i + size <= n; ++i) fill(i, i + size - 1);
        std::size_t root = 0;
        std::int64_t most = std::numeric_limits<std::int64_t>::min();
        for (std::size_t word = 0; word < n; ++word) {
            const std::int64_t sum = closed_left_[place(0, word)].score +
                                     closed_right_[place(word, n - 1)].score + arc(word, 0);
            if (sum > most) {
                most = sum;
                root = word;
            }
        }
        heads_.assign(n, 0);
        todo_.clear();
        todo_.push_back({CLOSED_LEFT, 0, root});
        todo_.push_back({CLOSED_RIGHT, root, n - 1});
        while (!todo_.empty()) {
            const Span span = todo_.back();
            todo_.pop_back();
            follow(span);
        }
        return heads_;
    }

private:
    // A span has its head at one end: it is the last word of a left span, the first of a right span. In
    // an open span the word at the other end is a daughter of the head, and may still get daughters
    // from beyond the span. In a closed span all words but the head have all their daughters.
    enum Kind : std::uint8_t { OPEN_LEFT, OPEN_RIGHT, CLOSED_LEFT, CLOSED_RIGHT };
    struct Cell {
        std::int64_t score = 0;
        std::size_t split = 0;
    };
    struct Span {
        Kind kind;
        std::size_t begin, end;
    };

    std::size_t place(std::size_t begin, std::size_t end) const { return begin * n_ + end; }
    std::int64_t arc(std::size_t word, std::size_t head) const {
        return scores_[word * (n_ + 1) + head];
    }

    void fill(std::size_t i, std::size_t j) {
        constexpr std::int64_t LOWEST_SCORE = std::numeric_limits<std::int64_t>::min();
        Cell halves{LOWEST_SCORE, i};
        for (std::size_t k = i; k < j; ++k) {
            const std::int64_t sum =
                closed_right_[place(i, k)].score + closed_left_[place(k + 1, j)].score;
            if (sum > halves.score) halves = {sum, k};
        }
        open_right_[place(i, j)] = {halves.score + arc(j, i + 1), halves.split};
        open_left_[place(i, j)] = {halves.score + arc(i, j + 1), halves.split};
        Cell right{LOWEST_SCORE, i}, left{LOWEST_SCORE, i};
        for (std::size_t k = i + 1; k <= j; ++k) {
            const std::int64_t sum =
                open_right_[place(i, k)].score + closed_right_[place(k, j)].score;
            if (sum > right.score) right = {sum, k};
        }
        for (std::size_t k = i; k < j; ++k) {
            const std::int64_t sum =
                closed_left_[place(i, k)].score + open_left_[place(k, j)].score;
            if (sum > left.score) left = {sum, k};
        }
        closed_right_[place(i, j)] = right;
        closed_left_[place(i, j)] = left;
    }

    void follow(const Span& span) {
        const auto [kind, i, j] = span;
        if (i == j) return;
        const std::size_t at = place(i, j);
        if (kind == CLOSED_RIGHT) {
            const std::size_t k = closed_right_[at].split;
            todo_.push_back({OPEN_RIGHT, i, k});
            todo_.push_back({CLOSED_RIGHT, k, j});
        } else if (kind == CLOSED_LEFT) {
            const std::size_t k = closed_left_[at].split;
            todo_.push_back({CLOSED_LEFT, i, k});
            todo_.push_back({OPEN_LEFT, k, j});
        } else {
            const bool is_right = kind == OPEN_RIGHT;
            const std::size_t k = (is_right ? open_right_ : open_left_)[at].split;
            heads_[is_right ? j : i] = static_cast<std::int32_t>(is_right ? i : j) + 1;
            todo_.push_back({CLOSED_RIGHT, i, k});
            todo_.push_back({CLOSED_LEFT, k + 1, j});
        }
    }

    std::size_t n_ = 0;
    const std::int64_t* scores_ = nullptr;
    std::vector<Cell> open_left_, open_right_, closed_left_, closed_right_;
    std::vector<std::int32_t> heads_;
    std::vector<Span> todo_;
};

}  // namespace wellput
