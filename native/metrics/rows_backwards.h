// A way back through the rows of a table that is too large to keep.
//
// Row i of the table is computed from row i - 1. The way back needs the rows from the last to the
// first. The rows are therefore divided into pieces: the first pass keeps only the row before each
// piece, and each piece is computed again when the way back reaches it. A piece that is still too large
// is divided in turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace wellput {

// Calls visit(row, begin, end) for pieces of the rows begin + 1 to end, the last piece first. `row` is
// row `begin`, and a piece has at most `max_rows` rows. advance(row, i) turns row i - 1 into row i; it
// may leave out columns that the way back has passed.
template <typename Row, typename Advance, typename Visit>
void visit_backwards(const Row& row, std::size_t begin, std::size_t end, std::size_t max_rows,
                     const Advance& advance, const Visit& visit) {
    constexpr std::size_t MAX_PIECES = 16;
    const std::size_t rows = end - begin;
    max_rows = std::max<std::size_t>(max_rows, 1);
    if (rows <= max_rows) return visit(row, begin, end);
    const std::size_t pieces = std::min(MAX_PIECES, (rows + max_rows - 1) / max_rows);
    const std::size_t size = (rows + pieces - 1) / pieces;  // of a piece
    std::vector<Row> kept = {row};
    Row current = row;
    for (std::size_t i = begin; kept.size() * size < rows;) {
        for (const std::size_t last = i + size; i < last;) advance(current, ++i);
        kept.push_back(current);
    }
    for (; !kept.empty(); kept.pop_back()) {
        const std::size_t from = begin + (kept.size() - 1) * size;
        visit_backwards(kept.back(), from, std::min(end, from + size), max_rows, advance, visit);
    }
}

}  // namespace wellput
