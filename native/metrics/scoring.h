// Statistics of hypotheses against their references: a row of numbers for each item, filled by a
// scorer. Every worker thread has its own copy of the scorer, with its scratch space.
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/arrays.h"
#include "core/parallel.h"
#include "core/texts.h"

namespace wellput {

using References = std::span<const std::string_view>;

// A scorer fills one row, which is zero before, from a hypothesis and its references.
template <typename T>
concept ItemScorer = std::copy_constructible<T> &&
                     requires(T scorer, std::string_view hypothesis, References references,
                              double* row) { scorer.score(hypothesis, references, row); };

inline void require_same_items(const Texts& hypotheses, const TextLists& references) {
    if (hypotheses.size() != references.size())
        throw std::invalid_argument(std::to_string(hypotheses.size()) + " hypotheses but " +
                                    std::to_string(references.size()) + " lists of references");
}

// There is not enough memory to score the item with this number; in Python `TooLarge(number)`.
struct TooLarge {
    std::size_t item;
};

// As `for_items`, but throws TooLarge where there is not enough memory for an item.
template <typename Scratch, typename Visit>
void for_items_that_fit(std::size_t n, int threads, const Scratch& scratch, Visit visit) {
    for_items(n, threads, scratch, [&visit](Scratch& own, std::size_t i) {
        try {
            visit(own, i);
        } catch (const std::bad_alloc&) {
            throw TooLarge{i};
        } catch (const std::length_error&) {  // of a vector
            throw TooLarge{i};
        }
    });
}

// Throws if an item has no reference.
inline void require_references(const TextLists& references) {
    for (std::size_t i = 0; i < references.size(); ++i)
        if (references.count(i) == 0)
            throw std::invalid_argument("row " + std::to_string(i) + " has no reference");
}

// The matrix of statistics, items × columns. Call it with the GIL (Python's global lock) held. The
// texts belong to the caller, who must also free them with the GIL held.
template <ItemScorer Scorer>
Matrix score_items(const Texts& hypotheses, const TextLists& references, std::size_t columns,
                   int threads, const Scorer& scorer) {
    require_same_items(hypotheses, references);
    double* rows = nullptr;
    Matrix result = new_matrix(hypotheses.size(), columns, &rows);
    nb::gil_scoped_release release;
    for_items_that_fit(hypotheses.size(), threads, scorer, [&](Scorer& own, std::size_t i) {
        own.score(hypotheses[i], references[i], rows + i * columns);
    });
    return result;
}

}  // namespace wellput
