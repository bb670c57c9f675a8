// Multiplies a symmetric matrix X from both sides by a matrix of scales R: R X R.
//
// R has blocks on its diagonal and is 0 elsewhere. In a mixed model, a block has the columns of the
// outputs of one item, which share the item's effect. So their scale is not one number for each column,
// but a matrix own * I + shared * J, where I is the identity and J is all ones. A column by itself is a
// block of size one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/checks.h"

namespace wellput {

class ColumnBlocks {
public:
    // Block b has the columns from `begins[b]` up to `begins[b + 1]`.
    ColumnBlocks(std::span<const std::int64_t> begins, std::span<const double> own,
                 std::span<const double> shared, std::size_t columns)
        : begins_(begins), own_(own), shared_(shared) {
        require_pieces(begins, columns, "blocks are not in order");
        require(begins.front() == 0 && static_cast<std::size_t>(begins.back()) == columns,
                "every column must be in a block");
        require(own.size() + 1 == begins.size() && shared.size() + 1 == begins.size(),
                "two scales for each block are needed");
    }

    // Replaces X by R X R. Only the lower triangles of both are read and written.
    void scale(double* matrix) const {
        const std::size_t n = begin(own_.size());
        std::vector<double> sums(n);
        for (std::size_t block = 0; block < own_.size(); ++block) {
            double* rows = matrix + begin(block) * n;
            scale_rows(block, rows, n, sums);
            for (std::size_t a = 0; a < size(block); ++a)
                for (std::size_t left = 0; left < block; ++left)
                    scale_run(left, rows + a * n + begin(left));
            scale_diagonal(block, rows + begin(block), n);
        }
    }

private:
    std::size_t begin(std::size_t block) const { return static_cast<std::size_t>(begins_[block]); }
    std::size_t size(std::size_t block) const { return begin(block + 1) - begin(block); }

    // Multiplies the entries in the block's rows, left of the diagonal block, by R from the left.
    void scale_rows(std::size_t block, double* rows, std::size_t n,
                    std::vector<double>& sums) const {
        const std::size_t width = begin(block), height = size(block);
        const double own = own_[block], shared = shared_[block];
        if (height == 1) {
            for (std::size_t c = 0; c < width; ++c) rows[c] *= own + shared;
            return;
        }
        for (std::size_t c = 0; c < width; ++c) sums[c] = 0;
        for (std::size_t a = 0; a < height; ++a)
            for (std::size_t c = 0; c < width; ++c) sums[c] += rows[a * n + c];
        for (std::size_t a = 0; a < height; ++a)
            for (std::size_t c = 0; c < width; ++c)
                rows[a * n + c] = own * rows[a * n + c] + shared * sums[c];
    }

    // Multiplies a run (the entries of one row in the columns of a block) by R from the right.
    void scale_run(std::size_t block, double* run) const {
        const double own = own_[block], shared = shared_[block];
        double sum = 0;
        for (std::size_t c = 0; c < size(block); ++c) sum += run[c];
        for (std::size_t c = 0; c < size(block); ++c) run[c] = own * run[c] + shared * sum;
    }

    // R X R of a block on the diagonal. Entry (a, b) becomes
    // own² X_ab + own shared (s_a + s_b) + shared² (sum of all entries), where s_a is the sum of row a.
    void scale_diagonal(std::size_t block, double* corner, std::size_t n) const {
        const std::size_t k = size(block);
        const double own = own_[block], shared = shared_[block];
        std::vector<double> sums(k, 0.0);
        double all = 0;
        for (std::size_t a = 0; a < k; ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                sums[a] += corner[a * n + b];
                sums[b] += corner[a * n + b];
            }
            sums[a] += corner[a * n + a];
        }
        for (const double sum : sums) all += sum;
        for (std::size_t a = 0; a < k; ++a)
            for (std::size_t b = 0; b <= a; ++b)
                corner[a * n + b] = own * own * corner[a * n + b] +
                                    own * shared * (sums[a] + sums[b]) + shared * shared * all;
    }

    std::span<const std::int64_t> begins_;
    std::span<const double> own_, shared_;
};

}  // namespace wellput
