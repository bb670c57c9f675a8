// Which columns of the equations of a mixed model (mixed_equations.h) meet, and the order in which the
// absorbed columns are eliminated. Both follow from where the values stand, not from what they are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wellput {

class EliminationPlan {
public:
    using Column = std::int32_t;

    EliminationPlan() = default;

    // `columns` has the columns of each row of A, as many for every row. Columns are numbers below `all`;
    // the first `absorbed` of them are absorbed.
    EliminationPlan(std::span<const Column> columns, std::size_t rows, std::size_t absorbed,
                    std::size_t all) {
        const std::size_t width = rows == 0 ? 0 : columns.size() / rows;
        assign_rows(columns, rows, width, absorbed);
        find_patterns(columns, width, absorbed, all);
        find_order(absorbed);
    }

    // The rows whose first column is this absorbed column.
    std::span<const std::size_t> rows_of(std::size_t j) const {
        return {owned_.data() + row_begin_[j], row_begin_[j + 1] - row_begin_[j]};
    }
    // The rows without an absorbed column.
    std::span<const std::size_t> rows_of_core() const { return rows_of(order_.size()); }

    // The later columns that an absorbed column meets, ascending.
    std::span<const Column> met_by(std::size_t j) const {
        return {pattern_.data() + pattern_begin_[j], pattern_begin_[j + 1] - pattern_begin_[j]};
    }
    // If these lists of all absorbed columns lie one after the other: where that of column j begins,
    // and how long they are together.
    std::size_t met_begin(std::size_t j) const { return pattern_begin_[j]; }
    std::size_t met_size() const { return pattern_.size(); }

    // The first column that an absorbed column meets, if it is absorbed, else -1.
    Column parent(std::size_t j) const { return parent_[j]; }

    // The absorbed columns in the order of elimination: children come before their parent, and each
    // subtree stays together, so that the updates that children leave for their parent form a stack.
    std::span<const Column> order() const { return order_; }

    // Whether the front of a parent has the same columns as the update of its last child. Then the
    // parent uses this update where it is, without a copy.
    bool continues(Column child, Column parent) const {
        const auto c = static_cast<std::size_t>(child), p = static_cast<std::size_t>(parent);
        return parent_[c] == parent && met_by(c).size() == met_by(p).size() + 1;
    }

private:
    // Assigns each row to the first column that it has; rows without an absorbed column come last.
    void assign_rows(std::span<const Column> columns, std::size_t rows, std::size_t width,
                     std::size_t absorbed) {
        row_begin_.assign(absorbed + 2, 0);
        std::vector<std::size_t> owner(rows);
        for (std::size_t r = 0; r < rows; ++r) {
            std::size_t first = absorbed;
            for (std::size_t k = 0; k < width; ++k)
                first = std::min(first, static_cast<std::size_t>(columns[r * width + k]));
            owner[r] = first;
            ++row_begin_[first + 1];
        }
        for (std::size_t j = 0; j <= absorbed; ++j) row_begin_[j + 1] += row_begin_[j];
        owned_.resize(rows);
        std::vector<std::size_t> next(row_begin_.begin(), row_begin_.end() - 1);
        for (std::size_t r = 0; r < rows; ++r) owned_[next[owner[r]]++] = r;
    }

    // Finds the later columns that each absorbed column meets, in its own rows or because an earlier
    // column that meets both was eliminated. The first of these columns is its parent, if it is
    // absorbed.
    void find_patterns(std::span<const Column> columns, std::size_t width, std::size_t absorbed,
                       std::size_t all) {
        parent_.assign(absorbed, -1);
        pattern_begin_.assign(absorbed + 1, 0);
        std::vector<std::vector<Column>> children(absorbed);
        std::vector<Column> seen_by(all, -1);
        for (std::size_t j = 0; j < absorbed; ++j) {
            const auto column = static_cast<Column>(j);
            seen_by[j] = column;
            const auto see = [&](Column other) {
                Column& seen = seen_by[static_cast<std::size_t>(other)];
                if (seen != column) seen = column, pattern_.push_back(other);
            };
            for (const std::size_t row : rows_of(j))
                for (std::size_t e = 0; e < width; ++e) see(columns[row * width + e]);
            for (const Column child : children[j]) {
                const auto c = static_cast<std::size_t>(child);
                for (std::size_t k = pattern_begin_[c]; k < pattern_begin_[c + 1]; ++k)
                    see(pattern_[k]);
            }
            pattern_begin_[j + 1] = pattern_.size();
            const auto begin = pattern_.begin() + static_cast<std::ptrdiff_t>(pattern_begin_[j]);
            std::sort(begin, pattern_.end());
            if (begin != pattern_.end() && static_cast<std::size_t>(*begin) < absorbed) {
                parent_[j] = *begin;
                children[static_cast<std::size_t>(*begin)].push_back(column);
            }
        }
    }

    // Walks through the trees that the parents make, children before their parent.
    void find_order(std::size_t absorbed) {
        std::vector<Column> first_child(absorbed, -1), next_child(absorbed, -1), path;
        for (std::size_t j = absorbed; j-- > 0;) {
            if (parent_[j] < 0) continue;
            const auto parent = static_cast<std::size_t>(parent_[j]);
            next_child[j] = first_child[parent];
            first_child[parent] = static_cast<Column>(j);
        }
        order_.reserve(absorbed);
        for (std::size_t root = 0; root < absorbed; ++root) {
            if (parent_[root] >= 0) continue;
            path.push_back(static_cast<Column>(root));
            while (!path.empty()) {
                const auto j = static_cast<std::size_t>(path.back());
                if (first_child[j] >= 0) {
                    path.push_back(first_child[j]);
                    first_child[j] = next_child[static_cast<std::size_t>(first_child[j])];
                } else {
                    order_.push_back(path.back());
                    path.pop_back();
                }
            }
        }
    }

    // `owned_` has the rows of each absorbed column, then the others.
    std::vector<std::size_t> row_begin_, owned_;
    std::vector<std::size_t> pattern_begin_;
    std::vector<Column> pattern_;  // the later columns each absorbed column meets, ascending
    std::vector<Column> parent_, order_;
};

}  // namespace wellput
