// The equations of a mixed model, in two parts. A has a row for each observation and a column for each
// fixed or random effect; W has the weights of the rows. The matrix of the equations is A'WA, with 1
// added on the diagonal for each random effect.
//
// Two columns *meet* if some row has values in both. The first columns are *absorbed*: they are the
// random effects of items and outputs, of which there are many, and each meets few others. They are
// eliminated one by one, by the multifrontal method: the *front* of a column is a small dense matrix of
// this column and the later columns that it meets; it collects the terms of the column's own rows and
// of the columns eliminated before. When the column is eliminated, what is left of its front is its
// *update*: it is added to the front of the column's *parent*, the first column that it meets. If that
// column is not absorbed, the update is added to the *core* instead: a dense matrix of the columns that
// are not absorbed, which LAPACK factors. Entries of the inverse are computed in the opposite order,
// from the core back to the columns absorbed first (Takahashi's equations), and only where they are
// needed: the *block* of a column has the entries at this column and the later columns that it meets.
// `EliminationPlan` says which columns meet, and in which order they are eliminated.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/checks.h"
#include "stats/elimination_plan.h"

namespace wellput {

class MixedEquations {
public:
    using Column = EliminationPlan::Column;

    // Row r of A has the values `values[r * width + k]` in the columns `columns[r * width + k]`. The
    // first `absorbed` columns are absorbed, the first `random` are random effects, and `all` is the
    // number of columns.
    MixedEquations(std::span<const Column> columns, std::span<const double> values,
                   std::size_t rows, std::size_t absorbed, std::size_t random, std::size_t all)
        : columns_(columns.begin(), columns.end()), values_(values.begin(), values.end()),
          rows_(rows), width_(rows == 0 ? 0 : columns.size() / rows), absorbed_(absorbed),
          random_(random), all_(all) {
        require(values.size() == columns.size(), "values are not shaped as columns are");
        require(absorbed <= random && random <= all,
                "absorbed must be at most random, and random at most all");
        require(all <= columns.size(), "every column must have an entry");
        require(all < static_cast<std::size_t>(std::numeric_limits<Column>::max()),
                "too many columns");
        require_below(columns, all, "a column is beyond the last");
        plan_ = EliminationPlan(columns_, rows_, absorbed_, all_);
        position_.assign(all_, 0);
    }

    std::size_t rows() const { return rows_; }
    std::size_t absorbed() const { return absorbed_; }
    std::size_t columns() const { return all_; }
    std::size_t core() const { return all_ - absorbed_; }

    // Scales the columns, weights the rows, and eliminates the absorbed columns. Adds what is left to
    // the lower triangle of the core (row-major, zeroed by the caller). Returns the sum of the logs of
    // the pivots, the absorbed columns' part of the log determinant.
    double factor(std::span<const double> scale, std::span<const double> weights, double* core) {
        require(scale.size() == all_, "a scale for each column is needed");
        require(weights.size() == rows_, "a weight for each row is needed");
        scale_.assign(scale.begin(), scale.end());
        pivots_.assign(absorbed_, 1.0);
        factor_.assign(plan_.met_size(), 0.0);
        for (std::size_t c = absorbed_; c < random_; ++c)
            core[(c - absorbed_) * (this->core() + 1)] += 1;
        std::vector<double> front, updates;
        std::vector<std::pair<Column, std::size_t>> waiting;  // a child and where its update begins
        // Of the current front, which begins at (begin, begin). If a column uses its child's update as
        // its front, this is the lower right part of the child's front.
        std::size_t stride = 0, begin = 0;
        Column last = -1;
        double log_determinant = 0;
        for (const Column column : plan_.order()) {
            const auto j = static_cast<std::size_t>(column);
            const std::span<const Column> met = plan_.met_by(j);
            const std::size_t size = met.size() + 1;
            if (last >= 0 && plan_.continues(last, column)) {
                ++begin;
            } else {
                if (last >= 0 && plan_.parent(static_cast<std::size_t>(last)) >= 0) {
                    waiting.emplace_back(last, updates.size());
                    keep_update(&front[(begin + 1) * (stride + 1)], stride,
                                plan_.met_by(static_cast<std::size_t>(last)).size(), updates);
                }
                begin = 0, stride = size;
                front.assign(size * size, 0.0);
            }
            double* own = &front[begin * (stride + 1)];
            set_positions(j, met);
            for (const std::size_t row : plan_.rows_of(j)) add_row(row, weights[row], own, stride);
            while (!waiting.empty() &&
                   plan_.parent(static_cast<std::size_t>(waiting.back().first)) == column) {
                const auto child = static_cast<std::size_t>(waiting.back().first);
                add_update(plan_.met_by(child), &updates[waiting.back().second], own, stride);
                updates.resize(waiting.back().second);
                waiting.pop_back();
            }
            const double pivot = own[0] + 1;
            pivots_[j] = pivot;
            log_determinant += std::log(pivot);
            double* l = factor_.data() + plan_.met_begin(j);
            for (std::size_t a = 1; a < size; ++a) l[a - 1] = own[a * stride];
            if (plan_.parent(j) < 0)
                eliminate_into_core(met, l, pivot, own, stride, core);
            else
                eliminate(l, pivot, own, stride, size);
            last = column;
        }
        for (const std::size_t row : plan_.rows_of_core()) add_row_to_core(row, weights[row], core);
        return log_determinant;
    }

    // First step of a solution. x has several right-hand sides (columns, sides), and is changed in
    // place: the absorbed columns are eliminated from the rows of the core.
    void forward(double* x, std::size_t sides) const {
        require(pivots_.size() == absorbed_ && scale_.size() == all_, "factor comes first");
        for (std::size_t j = 0; j < absorbed_; ++j) {
            const double* from = x + j * sides;
            const std::span<const Column> met = plan_.met_by(j);
            const double* l = factor_.data() + plan_.met_begin(j);
            for (std::size_t a = 0; a < met.size(); ++a) {
                const double share = l[a] / pivots_[j];
                double* to = x + static_cast<std::size_t>(met[a]) * sides;
                for (std::size_t s = 0; s < sides; ++s) to[s] -= share * from[s];
            }
        }
    }

    // Last step, after `forward` and the solution of the core: fills in the solutions of the absorbed
    // columns, in place.
    void backward(double* x, std::size_t sides) const {
        require(pivots_.size() == absorbed_ && scale_.size() == all_, "factor comes first");
        for (std::size_t j = absorbed_; j-- > 0;) {
            double* to = x + j * sides;
            const std::span<const Column> met = plan_.met_by(j);
            const double* l = factor_.data() + plan_.met_begin(j);
            for (std::size_t a = 0; a < met.size(); ++a) {
                const double* from = x + static_cast<std::size_t>(met[a]) * sides;
                for (std::size_t s = 0; s < sides; ++s) to[s] -= l[a] * from[s];
            }
            for (std::size_t s = 0; s < sides; ++s) to[s] /= pivots_[j];
        }
    }

    // From the lower triangle of the core's inverse, computes the diagonal of the whole inverse at the
    // absorbed columns, and for each row of A its leverage: the scaled row times the inverse times the
    // same scaled row.
    void invert(const double* core_inverse, double* diagonal, double* leverages) {
        require(pivots_.size() == absorbed_ && scale_.size() == all_, "factor comes first");
        const std::size_t n_core = core();
        const auto of_core = [&](std::size_t a, std::size_t b) {
            return a >= b ? core_inverse[a * n_core + b] : core_inverse[b * n_core + a];
        };
        // The block of a column is kept until all its children have taken their entries from it; `open`
        // counts the children that have not.
        std::vector<std::vector<double>> blocks(absorbed_);
        std::vector<std::int32_t> open(absorbed_, 0);
        for (std::size_t j = 0; j < absorbed_; ++j)
            if (plan_.parent(j) >= 0) ++open[static_cast<std::size_t>(plan_.parent(j))];
        const std::span<const Column> order = plan_.order();
        std::vector<double> block;
        // Of the current block, which begins at (begin, begin): `begin` places are kept for the columns
        // whose blocks extend this one.
        std::size_t stride = 0, begin = 0;
        for (std::size_t k = absorbed_; k-- > 0;) {
            const auto j = static_cast<std::size_t>(order[k]);
            const std::span<const Column> met = plan_.met_by(j);
            const std::size_t size = met.size() + 1;
            if (k + 1 < absorbed_ && plan_.continues(order[k], order[k + 1])) {
                --begin;
                --open[static_cast<std::size_t>(plan_.parent(j))];
            } else {
                begin = 0;
                while (begin < k && plan_.continues(order[k - begin - 1], order[k - begin]))
                    ++begin;
                stride = size + begin;
                block.assign(stride * stride, 0.0);
                double* own = &block[begin * (stride + 1)];
                if (plan_.parent(j) < 0) {
                    for (std::size_t a = 1; a < size; ++a)
                        for (std::size_t b = 1; b <= a; ++b)
                            own[a * stride + b] =
                                of_core(static_cast<std::size_t>(met[a - 1]) - absorbed_,
                                        static_cast<std::size_t>(met[b - 1]) - absorbed_);
                } else {
                    const auto parent = static_cast<std::size_t>(plan_.parent(j));
                    take_from_parent(parent, met, blocks[parent], own, stride);
                    if (--open[parent] == 0) std::vector<double>().swap(blocks[parent]);
                }
            }
            double* own = &block[begin * (stride + 1)];
            complete_block(j, own, stride, size);
            diagonal[j] = own[0];
            if (const auto rows = plan_.rows_of(j); !rows.empty()) {
                set_positions(j, met);
                for (const std::size_t row : rows)
                    leverages[row] = quadratic(row, [&](std::size_t a, std::size_t b) {
                        const auto p = position_[a], q = position_[b];
                        return p >= q ? own[p * stride + q] : own[q * stride + p];
                    });
            }
            const bool is_continued = k > 0 && plan_.continues(order[k - 1], order[k]);
            if (open[j] > (is_continued ? 1 : 0)) {
                blocks[j].resize(size * size);
                for (std::size_t a = 0; a < size; ++a)
                    std::copy_n(own + a * stride, a + 1, &blocks[j][a * size]);
            }
        }
        for (const std::size_t row : plan_.rows_of_core())
            leverages[row] = quadratic(row, [&](std::size_t a, std::size_t b) {
                return of_core(a - absorbed_, b - absorbed_);
            });
    }

    // A x for several x (columns, sides), without scales. The caller zeroes `result` (rows, sides).
    void multiply(const double* x, std::size_t sides, double* result) const {
        for (std::size_t e = 0; e < columns_.size(); ++e) {
            const double* from = x + static_cast<std::size_t>(columns_[e]) * sides;
            double* to = result + (e / width_) * sides;
            for (std::size_t s = 0; s < sides; ++s) to[s] += values_[e] * from[s];
        }
    }

    // A' v for several v (rows, sides), without scales. The caller zeroes `result` (columns, sides).
    void multiply_transposed(const double* v, std::size_t sides, double* result) const {
        for (std::size_t e = 0; e < columns_.size(); ++e) {
            const double* from = v + (e / width_) * sides;
            double* to = result + static_cast<std::size_t>(columns_[e]) * sides;
            for (std::size_t s = 0; s < sides; ++s) to[s] += values_[e] * from[s];
        }
    }

private:
    void set_positions(std::size_t j, std::span<const Column> met) {
        position_[j] = 0;
        for (std::size_t a = 0; a < met.size(); ++a)
            position_[static_cast<std::size_t>(met[a])] = a + 1;
    }

    // The scaled value at entry k of a row.
    double scaled(std::size_t row, std::size_t k) const {
        return values_[row * width_ + k] *
               scale_[static_cast<std::size_t>(columns_[row * width_ + k])];
    }

    void add_row(std::size_t row, double weight, double* front, std::size_t stride) const {
        for (std::size_t a = 0; a < width_; ++a) {
            const double value = weight * scaled(row, a);
            const std::size_t p = position_[static_cast<std::size_t>(columns_[row * width_ + a])];
            for (std::size_t b = 0; b < width_; ++b) {
                const std::size_t q =
                    position_[static_cast<std::size_t>(columns_[row * width_ + b])];
                if (q <= p) front[p * stride + q] += value * scaled(row, b);
            }
        }
    }

    void add_row_to_core(std::size_t row, double weight, double* core) const {
        for (std::size_t a = 0; a < width_; ++a) {
            const double value = weight * scaled(row, a);
            const auto p = static_cast<std::size_t>(columns_[row * width_ + a]) - absorbed_;
            for (std::size_t b = 0; b < width_; ++b) {
                const auto q = static_cast<std::size_t>(columns_[row * width_ + b]) - absorbed_;
                if (q <= p) core[p * this->core() + q] += value * scaled(row, b);
            }
        }
    }

    // Adds a child's update to the front: a packed lower triangle of the columns that the child meets,
    // all of which are in this front.
    void add_update(std::span<const Column> met, const double* update, double* front,
                    std::size_t stride) const {
        for (std::size_t a = 0; a < met.size(); ++a) {
            double* row = front + position_[static_cast<std::size_t>(met[a])] * stride;
            for (std::size_t b = 0; b <= a; ++b)
                row[position_[static_cast<std::size_t>(met[b])]] += *update++;
        }
    }

    static void keep_update(const double* update, std::size_t stride, std::size_t size,
                            std::vector<double>& updates) {
        for (std::size_t a = 0; a < size; ++a)
            updates.insert(updates.end(), update + a * stride, update + a * stride + a + 1);
    }

    static void eliminate(const double* l, double pivot, double* front, std::size_t stride,
                          std::size_t size) {
        for (std::size_t a = 1; a < size; ++a) {
            const double share = l[a - 1] / pivot;
            double* row = front + a * stride + 1;
            for (std::size_t b = 0; b < a; ++b) row[b] -= share * l[b];
        }
    }

    void eliminate_into_core(std::span<const Column> met, const double* l, double pivot,
                             const double* front, std::size_t stride, double* core) const {
        for (std::size_t a = 0; a < met.size(); ++a) {
            const double share = l[a] / pivot;
            double* row = core + (static_cast<std::size_t>(met[a]) - absorbed_) * this->core();
            for (std::size_t b = 0; b <= a; ++b)
                row[static_cast<std::size_t>(met[b]) - absorbed_] +=
                    front[(a + 1) * stride + b + 1] - share * l[b];
        }
    }

    void take_from_parent(std::size_t parent, std::span<const Column> met,
                          const std::vector<double>& parent_block, double* block,
                          std::size_t stride) {
        const std::span<const Column> above = plan_.met_by(parent);
        set_positions(parent, above);
        const std::size_t parent_size = above.size() + 1;
        for (std::size_t a = 1; a <= met.size(); ++a) {
            const std::size_t p = position_[static_cast<std::size_t>(met[a - 1])];
            for (std::size_t b = 1; b <= a; ++b)
                block[a * stride + b] =
                    parent_block[p * parent_size + position_[static_cast<std::size_t>(met[b - 1])]];
        }
    }

    // Computes the first row and column of a block of the inverse from the rest of the block and the
    // factor.
    void complete_block(std::size_t j, double* block, std::size_t stride, std::size_t size) {
        const double* l = factor_.data() + plan_.met_begin(j);
        products_.assign(size, 0.0);
        // Only the lower triangle of the symmetric block is stored, so a row is read as a column, too.
        for (std::size_t a = 1; a < size; ++a) {
            const double* row = block + a * stride + 1;
            const double l_of_a = l[a - 1];
            // Four sums, so that the processor can add in parallel.
            double sums[4] = {row[a - 1] * l_of_a, 0, 0, 0};
            double* products = products_.data() + 1;
            std::size_t b = 0;
            for (; b + 4 < a; b += 4) {
                for (std::size_t k = 0; k < 4; ++k) {
                    sums[k] += row[b + k] * l[b + k];
                    products[b + k] += row[b + k] * l_of_a;
                }
            }
            for (; b + 1 < a; ++b) {
                sums[0] += row[b] * l[b];
                products[b] += row[b] * l_of_a;
            }
            products_[a] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
        }
        double diagonal = 1 / pivots_[j];
        for (std::size_t a = 1; a < size; ++a) {
            block[a * stride] = -products_[a] / pivots_[j];
            diagonal += products_[a] / pivots_[j] * l[a - 1] / pivots_[j];
        }
        block[0] = diagonal;
    }

    // A scaled row times a matrix times the same row; entry(a, b) is the matrix's entry at two columns.
    template <typename Entry>
    double quadratic(std::size_t row, const Entry& entry) const {
        double sum = 0;
        for (std::size_t a = 0; a < width_; ++a)
            for (std::size_t b = 0; b < width_; ++b)
                sum += scaled(row, a) * scaled(row, b) *
                       entry(static_cast<std::size_t>(columns_[row * width_ + a]),
                             static_cast<std::size_t>(columns_[row * width_ + b]));
        return sum;
    }

    std::vector<Column> columns_;
    std::vector<double> values_;
    std::size_t rows_, width_, absorbed_, random_, all_;
    EliminationPlan plan_;
    std::vector<std::size_t> position_;  // of a column in the current front or block
    std::vector<double> scale_, pivots_, factor_, products_;
};

}  // namespace wellput
