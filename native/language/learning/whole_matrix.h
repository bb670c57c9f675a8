// `WholeMatrix`: weights of a network as small whole numbers, with a scale for each row.
//
// It multiplies vectors of whole numbers. The sums are exact, so a product does not depend on the
// other vectors that are multiplied at the same time, nor on the processor. Values between two layers
// of the network are rounded to multiples of 1 / STEPS_PER_UNIT, and stored as numbers of such steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "core/checks.h"
#include "core/clones.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>
#endif

namespace wellput {

using Step = std::int16_t;
constexpr float STEPS_PER_UNIT = 2048.0f;
constexpr float MAX_STEPS = 32767.0f;

// Eight numbers that are computed at once; every processor gives the same digits.
using Eight = float __attribute__((vector_size(32)));
constexpr std::size_t VECTOR_FLOATS = 8;
#define WELLPUT_INLINE [[gnu::always_inline]] inline

// `load` and `store` copy the first `n` numbers, at most eight; `load` sets the others to 0.
WELLPUT_INLINE void load(Eight& to, const float* from, std::size_t n) {
    if (n >= VECTOR_FLOATS) {
        std::memcpy(&to, from, sizeof to);
    } else {
        to = Eight{};
        for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
    }
}
WELLPUT_INLINE void store(const Eight& from, float* to, std::size_t n) {
    if (n >= VECTOR_FLOATS)
        std::memcpy(to, &from, sizeof from);
    else
        for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
}
WELLPUT_INLINE void limit(Eight& values, float largest) {
    const Eight high = Eight{} + largest;
    values = values < -high ? -high : values;
    values = values > high ? high : values;
}

// Rounded to the nearest step, half to even.
WELLPUT_CLONES inline void round_to_steps(const float* values, std::size_t n, Step* steps) {
    // 1.5 * 2^23. Floats near this number have no digits behind the point, so adding it rounds.
    constexpr float ROUNDING_SHIFT = 12582912.0f;
    using EightWhole = std::int32_t __attribute__((vector_size(32)));
    using EightSteps = Step __attribute__((vector_size(16)));
    for (std::size_t i = 0; i < n; i += VECTOR_FLOATS) {
        Eight scaled;
        load(scaled, values + i, n - i);
        scaled = scaled * STEPS_PER_UNIT;
        limit(scaled, MAX_STEPS);
        scaled = (scaled + ROUNDING_SHIFT) - ROUNDING_SHIFT;
        const auto whole = __builtin_convertvector(scaled, EightWhole);
        const auto narrow = __builtin_convertvector(whole, EightSteps);
        std::memcpy(steps + i, &narrow, std::min(VECTOR_FLOATS, n - i) * sizeof(Step));
    }
}

// Weights are kept in panels of PANEL_ROWS rows. A panel has, for each pair of columns, the two weights
// of its first row, those of its second row, and so on.
constexpr std::size_t PANEL_ROWS = 32;

namespace whole_products {

constexpr std::size_t VECTORS_AT_ONCE = 4;

// Multiplies a panel with `n` vectors of 2 * `pairs` steps, each of which begins `stride` steps after
// the one before. `sums` gets PANEL_ROWS sums for each vector.
using Product = void (*)(const std::int16_t* panel, std::size_t pairs, const Step* vectors,
                         std::size_t stride, std::size_t n, std::int32_t* sums);

// For any processor.
inline void plain(const std::int16_t* panel, std::size_t pairs, const Step* vectors,
                  std::size_t stride, std::size_t n, std::int32_t* sums) {
    std::fill_n(sums, n * PANEL_ROWS, 0);
    for (std::size_t v = 0; v < n; ++v) {
        const std::int16_t* weights = panel;
        for (std::size_t p = 0; p < pairs; ++p, weights += 2 * PANEL_ROWS) {
            const std::int32_t first = vectors[v * stride + 2 * p];
            const std::int32_t second = vectors[v * stride + 2 * p + 1];
            for (std::size_t r = 0; r < PANEL_ROWS; ++r)
                sums[v * PANEL_ROWS + r] += weights[2 * r] * first + weights[2 * r + 1] * second;
        }
    }
}

#if defined(__x86_64__) && defined(__linux__)
// Two steps of a vector as one number, for instructions that take both at once.
inline std::int32_t pair_at(const Step* vector, std::size_t pair) {
    std::int32_t both;
    std::memcpy(&both, vector + 2 * pair, sizeof both);
    return both;
}

template <std::size_t N>
__attribute__((target("avx2"))) void product_avx2(const std::int16_t* panel, std::size_t pairs,
                                                  const Step* vectors, std::size_t stride,
                                                  std::int32_t* sums) {
    // Half a panel at a time: more does not fit the sixteen registers.
    for (std::size_t half = 0; half < 2; ++half) {
        __m256i found[N][2];
        for (auto& row : found) row[0] = row[1] = _mm256_setzero_si256();
        const auto* weights = reinterpret_cast<const __m256i*>(panel) + 2 * half;
        for (std::size_t p = 0; p < pairs; ++p, weights += 4) {
            const __m256i low = _mm256_loadu_si256(weights);
            const __m256i high = _mm256_loadu_si256(weights + 1);
            for (std::size_t v = 0; v < N; ++v) {
                const __m256i pair = _mm256_set1_epi32(pair_at(vectors + v * stride, p));
                found[v][0] = _mm256_add_epi32(found[v][0], _mm256_madd_epi16(low, pair));
                found[v][1] = _mm256_add_epi32(found[v][1], _mm256_madd_epi16(high, pair));
            }
        }
        for (std::size_t v = 0; v < N; ++v) {
            auto* row = reinterpret_cast<__m256i*>(sums + v * PANEL_ROWS) + 2 * half;
            _mm256_storeu_si256(row, found[v][0]);
            _mm256_storeu_si256(row + 1, found[v][1]);
        }
    }
}

template <std::size_t N>
__attribute__((target("avx512f,avx512bw"))) void product_avx512(const std::int16_t* panel,
                                                                std::size_t pairs,
                                                                const Step* vectors,
                                                                std::size_t stride,
                                                                std::int32_t* sums) {
    __m512i found[N][2];
    for (auto& row : found) row[0] = row[1] = _mm512_setzero_si512();
    for (std::size_t p = 0; p < pairs; ++p, panel += 2 * PANEL_ROWS) {
        const __m512i low = _mm512_loadu_si512(panel);
        const __m512i high = _mm512_loadu_si512(panel + PANEL_ROWS);
        for (std::size_t v = 0; v < N; ++v) {
            const __m512i pair = _mm512_set1_epi32(pair_at(vectors + v * stride, p));
            found[v][0] = _mm512_add_epi32(found[v][0], _mm512_madd_epi16(low, pair));
            found[v][1] = _mm512_add_epi32(found[v][1], _mm512_madd_epi16(high, pair));
        }
    }
    for (std::size_t v = 0; v < N; ++v) {
        _mm512_storeu_si512(sums + v * PANEL_ROWS, found[v][0]);
        _mm512_storeu_si512(sums + v * PANEL_ROWS + PANEL_ROWS / 2, found[v][1]);
    }
}

// Multiplies by the function `Four` as long as there are four vectors, and the rest by `One`.
template <auto Four, auto One>
void in_fours(const std::int16_t* panel, std::size_t pairs, const Step* vectors, std::size_t stride,
              std::size_t n, std::int32_t* sums) {
    std::size_t v = 0;
    for (; v + VECTORS_AT_ONCE <= n; v += VECTORS_AT_ONCE)
        Four(panel, pairs, vectors + v * stride, stride, sums + v * PANEL_ROWS);
    for (; v < n; ++v) One(panel, pairs, vectors + v * stride, stride, sums + v * PANEL_ROWS);
}
#endif

// The ways to multiply that this processor supports, the fastest first. All give the same sums.
inline const std::vector<Product>& ways() {
    static const std::vector<Product> supported = [] {
        std::vector<Product> found;
#if defined(__x86_64__) && defined(__linux__)
        if (__builtin_cpu_supports("avx512bw"))
            found.push_back(in_fours<product_avx512<VECTORS_AT_ONCE>, product_avx512<1>>);
        if (__builtin_cpu_supports("avx2"))
            found.push_back(in_fours<product_avx2<VECTORS_AT_ONCE>, product_avx2<1>>);
#endif
        found.push_back(plain);
        return found;
    }();
    return supported;
}

}  // namespace whole_products

class WholeMatrix {
public:
    WholeMatrix() = default;

    // `bias` has a value for each row, or is empty.
    WholeMatrix(const std::int8_t* weights, std::size_t rows, std::size_t columns,
                std::span<const float> scales, std::span<const float> bias)
        : rows_(rows), columns_(columns), panels_((rows + PANEL_ROWS - 1) / PANEL_ROWS),
          scales_(panels_ * PANEL_ROWS, 0.0f), bias_(panels_ * PANEL_ROWS, 0.0f) {
        require(scales.size() == rows, "a matrix needs a scale for every row");
        require(bias.empty() || bias.size() == rows, "a matrix needs a bias for every row");
        const std::size_t pairs = (columns + 1) / 2;
        weights_.assign(panels_ * pairs * 2 * PANEL_ROWS, 0);
        for (std::size_t r = 0; r < rows; ++r) {
            std::int64_t largest_sum = 0;
            for (std::size_t c = 0; c < columns; ++c) {
                const int weight = weights[r * columns + c];
                largest_sum += std::abs(weight) * std::int64_t{1 << 15};
                weights_[((r / PANEL_ROWS) * pairs + c / 2) * 2 * PANEL_ROWS +
                         2 * (r % PANEL_ROWS) + c % 2] = static_cast<std::int16_t>(weight);
            }
            require(largest_sum <= std::numeric_limits<std::int32_t>::max(),
                    "a row with too large sums");
        }
        std::copy(scales.begin(), scales.end(), scales_.begin());
        std::copy(bias.begin(), bias.end(), bias_.begin());
    }

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    // The length of the vectors that this matrix multiplies: its columns, and a last step of 0 if their
    // number is odd.
    std::size_t width() const { return columns_ + columns_ % 2; }

    // out[v][row] = sum * scale of the row * unit + bias, for `n` vectors of `width()` steps. The unit
    // is the value of one step: `units` has one for each vector, or one for all of them. `way` is a
    // place in `whole_products::ways()`.
    void multiply(const Step* vectors, std::size_t n, const float* units, bool has_own_units,
                  float* out, std::size_t way = 0) const {
        const whole_products::Product product = whole_products::ways()[way];
        constexpr std::size_t BLOCK_VECTORS = 16;
        std::int32_t sums[BLOCK_VECTORS * PANEL_ROWS];
        const std::size_t pairs = width() / 2;
        for (std::size_t begin = 0; begin < n; begin += BLOCK_VECTORS) {
            const std::size_t block = std::min(BLOCK_VECTORS, n - begin);
            for (std::size_t panel = 0; panel < panels_; ++panel) {
                product(weights_.data() + panel * pairs * 2 * PANEL_ROWS, pairs,
                        vectors + begin * width(), width(), block, sums);
                const std::size_t first = panel * PANEL_ROWS,
                                  size = std::min(PANEL_ROWS, rows_ - first);
                for (std::size_t v = 0; v < block; ++v)
                    scale(sums + v * PANEL_ROWS, size, scales_.data() + first, bias_.data() + first,
                          units[has_own_units ? begin + v : 0], out + (begin + v) * rows_ + first);
            }
        }
    }
    // The same for vectors with the usual unit.
    void multiply(const Step* vectors, std::size_t n, float* out) const {
        const float unit = 1.0f / STEPS_PER_UNIT;
        multiply(vectors, n, &unit, false, out);
    }

private:
    WELLPUT_CLONES static void scale(const std::int32_t* sums, std::size_t n, const float* scales,
                                     const float* bias, float unit, float* out) {
        for (std::size_t r = 0; r < n; ++r)
            out[r] = static_cast<float>(sums[r]) * scales[r] * unit + bias[r];
    }

    std::size_t rows_ = 0, columns_ = 0, panels_ = 0;
    std::vector<std::int16_t> weights_;
    std::vector<float> scales_, bias_;
};

// Vectors to look up: rows of whole numbers, each with a scale.
class WholeVectors {
public:
    WholeVectors() = default;
    WholeVectors(const std::int8_t* steps, std::size_t rows, std::size_t columns,
                 std::span<const float> scales)
        : columns_(columns), steps_(steps, steps + rows * columns),
          scales_(scales.begin(), scales.end()) {
        require(scales.size() == rows, "a table of vectors needs a scale for every row");
    }
    std::size_t rows() const { return scales_.size(); }
    std::size_t columns() const { return columns_; }
    const std::int8_t* steps(std::size_t row) const { return steps_.data() + row * columns_; }
    float scale(std::size_t row) const { return scales_[row]; }
    void add_to(std::size_t row, float* sum) const {
        const std::int8_t* own = steps(row);
        for (std::size_t c = 0; c < columns_; ++c)
            sum[c] += static_cast<float>(own[c]) * scales_[row];
    }

private:
    std::size_t columns_ = 0;
    std::vector<std::int8_t> steps_;
    std::vector<float> scales_;
};

// tanh by a ratio of polynomials, as in the Eigen library.
WELLPUT_INLINE void take_tanh(Eight& x) {
    limit(x, 7.9f);
    const Eight y = x * x;
    Eight numerator = y * -2.76076847742355e-16f + 2.00018790482477e-13f;
    numerator = numerator * y + -8.60467152213735e-11f;
    numerator = numerator * y + 5.12229709037114e-08f;
    numerator = numerator * y + 1.48572235717979e-05f;
    numerator = numerator * y + 6.37261928875436e-04f;
    numerator = numerator * y + 4.89352455891786e-03f;
    Eight denominator = y * 1.19825839466702e-06f + 1.18534705686654e-04f;
    denominator = denominator * y + 2.26843463243900e-03f;
    denominator = denominator * y + 4.89352518554385e-03f;
    x = x * numerator / denominator;
}

WELLPUT_INLINE void take_sigmoid(Eight& x) {
    x = x * 0.5f;
    take_tanh(x);
    x = x * 0.5f + 0.5f;
}

}  // namespace wellput
