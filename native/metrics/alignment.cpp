#include "metrics/alignment.h"

#include "core/clones.h"

namespace wellput {

namespace {

// The loop of `fill_diagonals`. Diagonal d has the cells (i, d - i); `before` is diagonal d - 1,
// `earlier` diagonal d - 2.
template <typename T>
[[gnu::always_inline]] inline void fill(T* values, std::size_t stride, const T* reference,
                                        const T* backwards, std::size_t n, std::size_t m,
                                        T deletion, T insertion, T substitution) {
    values[0] = 0;
    for (std::size_t d = 1; d <= n + m; ++d) {
        T* const now = values + d * stride;
        const T* const before = now - stride;
        const T* const earlier = before - stride;
        const T* const facing = backwards + m - d;  // facing[i]: the hypothesis token of (i, d - i)
        const std::size_t low = d > m ? std::max<std::size_t>(1, d - m) : 1;
        const std::size_t high = std::min(n, d - 1);
        // Values past the end of a diagonal are never read.
        for (std::size_t start = low; start <= high; start += LANE_CELLS) {
#pragma GCC ivdep
            for (std::size_t k = 0; k < LANE_CELLS; ++k) {
                const std::size_t i = start + k;
                const T step = static_cast<T>(reference[i] == facing[i] ? 0 : substitution);
                const T diagonal = static_cast<T>(earlier[i - 1] + step);
                const T deleted = static_cast<T>(before[i - 1] + deletion);
                const T inserted = static_cast<T>(before[i] + insertion);
                now[i] = std::min(diagonal, std::min(deleted, inserted));
            }
        }
        if (d <= m) now[0] = static_cast<T>(d * static_cast<std::size_t>(insertion));
        if (d <= n) now[d] = static_cast<T>(d * static_cast<std::size_t>(deletion));
    }
}

}  // namespace

WELLPUT_CLONES
void fill_diagonals(std::int16_t* values, std::size_t stride, const std::int16_t* reference,
                    const std::int16_t* backwards, std::size_t n, std::size_t m,
                    std::int16_t deletion, std::int16_t insertion, std::int16_t substitution) {
    fill(values, stride, reference, backwards, n, m, deletion, insertion, substitution);
}

WELLPUT_CLONES
void fill_diagonals(std::int32_t* values, std::size_t stride, const std::int32_t* reference,
                    const std::int32_t* backwards, std::size_t n, std::size_t m,
                    std::int32_t deletion, std::int32_t insertion, std::int32_t substitution) {
    fill(values, stride, reference, backwards, n, m, deletion, insertion, substitution);
}

}  // namespace wellput
