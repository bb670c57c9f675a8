// The projective tree with the most expected right heads: Eisner's algorithm over posteriors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wellput {

class ExpectedTree {
public:
    // `posteriors` has (n + 1) rows of n columns: row h, column m is the probability that word h (from 1,
    // 0 for none) is the head of word m (from 0). Sets the heads of the words begin to end - 1, one
    // of them 0.
    void find(const std::vector<double>& posteriors, std::size_t n, std::size_t begin,
              std::size_t end, std::int32_t* heads) {
        posteriors_ = posteriors.data();
        n_ = n;
        begin_ = begin;
        size_ = end - begin;
        fill();
        std::size_t root = 0;
        double best = -1;
        for (std::size_t r = 0; r < size_; ++r) {
            const double x = gain(0, r) + left(0, r) + right(r, size_ - 1);
            if (x > best) best = x, root = r;
        }
        heads_ = heads + begin;
        heads_[root] = 0;
        trace_left(0, root);
        trace_right(root, size_ - 1);
    }

private:
    double gain(std::size_t head, std::size_t modifier) const {
        return posteriors_[head * n_ + begin_ + modifier];
    }
    // Half spans: word j with all on its left from i on, word i with all on its right up to j.
    double& left(std::size_t i, std::size_t j) { return left_[i * size_ + j]; }
    double& right(std::size_t i, std::size_t j) { return right_[i * size_ + j]; }

    double between(std::size_t i, std::size_t j, std::size_t* split = nullptr) {
        double best = -1;
        for (std::size_t r = i; r < j; ++r) {
            const double x = right(i, r) + left(r + 1, j);
            if (x > best) {
                best = x;
                if (split) *split = r;
            }
        }
        return best;
    }

    void fill() {
        left_.assign(size_ * size_, 0.0);
        right_.assign(size_ * size_, 0.0);
        inner_.assign(size_ * size_, 0.0);
        for (std::size_t reach = 1; reach < size_; ++reach)
            for (std::size_t i = 0; i + reach < size_; ++i) {
                const std::size_t j = i + reach;
                inner_[i * size_ + j] = between(i, j);
                double best_left = -1, best_right = -1;
                for (std::size_t m = i; m < j; ++m)
                    best_left = std::max(best_left, left(i, m) + left_arc(m, j));
                for (std::size_t m = i + 1; m <= j; ++m)
                    best_right = std::max(best_right, right_arc(i, m) + right(m, j));
                left(i, j) = best_left;
                right(i, j) = best_right;
            }
    }
    double left_arc(std::size_t m, std::size_t head) {
        return inner_[m * size_ + head] + gain(begin_ + head + 1, m);
    }
    double right_arc(std::size_t head, std::size_t m) {
        return inner_[head * size_ + m] + gain(begin_ + head + 1, m);
    }

    void trace_left(std::size_t i, std::size_t head) {
        if (i == head) return;
        double best = -1;
        std::size_t modifier = i, split = i;
        for (std::size_t m = i; m < head; ++m)
            if (const double x = left(i, m) + left_arc(m, head); x > best) best = x, modifier = m;
        heads_[modifier] = static_cast<std::int32_t>(begin_ + head + 1);
        between(modifier, head, &split);
        trace_left(i, modifier);
        trace_right(modifier, split);
        trace_left(split + 1, head);
    }
    void trace_right(std::size_t head, std::size_t j) {
        if (head == j) return;
        double best = -1;
        std::size_t modifier = j, split = head;
        for (std::size_t m = head + 1; m <= j; ++m)
            if (const double x = right_arc(head, m) + right(m, j); x > best) best = x, modifier = m;
        heads_[modifier] = static_cast<std::int32_t>(begin_ + head + 1);
        between(head, modifier, &split);
        trace_right(modifier, j);
        trace_left(split + 1, modifier);
        trace_right(head, split);
    }

    const double* posteriors_ = nullptr;
    std::size_t n_ = 0, begin_ = 0, size_ = 0;
    std::vector<double> left_, right_, inner_;
    std::int32_t* heads_ = nullptr;
};

}  // namespace wellput
