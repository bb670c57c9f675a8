// Sums of statistics (rows × columns) in resamples. The bootstrap is a matrix product: how often each
// resample takes each row, times the statistics. When rows are exchanged at random (a permutation
// test), a resample takes a row or not, and precomputed sums of eight rows are added.
//
// Each resample has its own random stream, made from (seed, resample), so neither the number of threads
// nor the number of columns changes the draws. With the same seed, all metrics and systems with the
// same number of rows get the same draws, so their differences are paired.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/arrays.h"
#include "core/clones.h"
#include "core/parallel.h"
#include "core/random_stream.h"
#include "kernels.h"

namespace nb = nanobind;

namespace wellput {
namespace {

using Statistics = Array<double, 2>;
using Four = double __attribute__((vector_size(32)));

constexpr std::size_t GROUP_RESAMPLES = 16;  // resamples that share one pass over the statistics
constexpr std::size_t TILE_RESAMPLES = 8;    // resamples whose sums are in registers at once
constexpr std::size_t BLOCK_ROWS = 128;      // so few that they stay in the L1 cache

// Scratch space of one worker thread; n is the number of rows.
struct Scratch {
    std::vector<Weight> weights;  // (GROUP_RESAMPLES, n)
    // (GROUP_RESAMPLES / TILE_RESAMPLES, BLOCK_ROWS, TILE_RESAMPLES): the weights of a block
    std::vector<double> multipliers;
    std::vector<double> block;  // (columns / 4, BLOCK_ROWS, 4): its statistics, zero-padded
};

// sums (TILE_RESAMPLES, 4) += multipliers (rows, TILE_RESAMPLES) transposed times block (rows, 4).
WELLPUT_CLONES
void add_tile(const double* multipliers, const double* block, std::size_t rows, double* sums,
              std::size_t stride) {
    Four totals[TILE_RESAMPLES] = {};
    for (std::size_t i = 0; i < rows; ++i) {
        Four row;
        __builtin_memcpy(&row, block + 4 * i, sizeof row);
        for (std::size_t r = 0; r < TILE_RESAMPLES; ++r)
            totals[r] += multipliers[TILE_RESAMPLES * i + r] * row;
    }
    for (std::size_t r = 0; r < TILE_RESAMPLES; ++r)
        for (std::size_t c = 0; c < 4; ++c) sums[r * stride + c] += totals[r][c];
}

// Writes the weights of a tile of resamples as doubles, (rows, TILE_RESAMPLES).
WELLPUT_CLONES
void spread(const Weight* weights, std::size_t n, std::size_t rows, double* multipliers) {
    for (std::size_t r = 0; r < TILE_RESAMPLES; ++r)
        for (std::size_t i = 0; i < rows; ++i)
            multipliers[TILE_RESAMPLES * i + r] = weights[r * n + i];
}

// Copies the statistics of a block of rows, with k columns, in groups of four columns.
void pack(const double* statistics, std::size_t k, std::size_t rows, double* block) {
    for (std::size_t column = 0; column < k; ++column)
        for (std::size_t i = 0; i < rows; ++i)
            block[(column / 4 * BLOCK_ROWS + i) * 4 + column % 4] = statistics[i * k + column];
}

// The weighted sums of a group of resamples. Rows are added in their order, so the digits are always
// the same.
void sum_group(const double* statistics, std::size_t n, std::size_t k, Scratch& scratch,
               double* sums) {
    const std::size_t chunks = (k + 3) / 4;
    for (std::size_t start = 0; start < n; start += BLOCK_ROWS) {
        const std::size_t rows = std::min(BLOCK_ROWS, n - start);
        pack(statistics + start * k, k, rows, scratch.block.data());
        for (std::size_t first = 0; first < GROUP_RESAMPLES; first += TILE_RESAMPLES) {
            double* multipliers = scratch.multipliers.data() + first * BLOCK_ROWS;
            spread(scratch.weights.data() + first * n + start, n, rows, multipliers);
            for (std::size_t chunk = 0; chunk < chunks; ++chunk)
                add_tile(multipliers, scratch.block.data() + chunk * BLOCK_ROWS * 4, rows,
                         sums + first * chunks * 4 + chunk * 4, chunks * 4);
        }
    }
}

// For each resample, the sums of `statistics` over the rows that it draws.
Matrix bootstrap_sums(const Statistics& statistics, std::size_t n_resamples, std::uint64_t seed,
                      int threads) {
    const std::size_t n = statistics.shape(0);
    const std::size_t k = statistics.shape(1);
    if (n == 0) throw std::invalid_argument("there are no rows to resample");
    if (n > std::numeric_limits<std::uint32_t>::max())
        throw std::invalid_argument("more than 2^32 - 1 rows");
    double* result = nullptr;
    Matrix matrix = new_matrix(n_resamples, k, &result);
    const double* data = statistics.data();
    const std::size_t width = (k + 3) / 4 * 4;

    nb::gil_scoped_release release;
    const auto body = [=, scratch = Scratch(), sums = std::vector<double>()](
                          std::size_t begin, std::size_t end) mutable {
        scratch.weights.resize(GROUP_RESAMPLES * n);
        scratch.multipliers.resize(GROUP_RESAMPLES * BLOCK_ROWS);
        scratch.block.resize(width * BLOCK_ROWS);
        for (std::size_t group = begin; group < end; ++group) {
            const std::size_t first = group * GROUP_RESAMPLES;
            const std::size_t count = std::min(GROUP_RESAMPLES, n_resamples - first);
            for (std::size_t r = 0; r < count; ++r)
                draw(Stream(seed, first + r), n, scratch.weights.data() + r * n);
            sums.assign(GROUP_RESAMPLES * width, 0.0);
            sum_group(data, n, k, scratch, sums.data());
            for (std::size_t r = 0; r < count; ++r)
                std::copy_n(sums.data() + r * width, k, result + (first + r) * k);
        }
    };
    parallel_for((n_resamples + GROUP_RESAMPLES - 1) / GROUP_RESAMPLES, threads, body, /*chunk=*/1);
    return matrix;
}

// Exchanged rows: a row is in a sum or not, so eight rows have only 256 possible sums. These are
// computed once for a batch of resamples; each resample then adds one of them, chosen by a byte of
// random bits.
constexpr std::size_t BATCH_RESAMPLES = 256;

// subsets (256, width): the sum of every subset of up to eight rows.
void fill_subsets(const double* rows, std::size_t count, std::size_t k, std::size_t width,
                  double* subsets) {
    std::fill_n(subsets, width, 0.0);
    for (std::size_t row = 0; row < count; ++row) {
        const std::size_t half = std::size_t{1} << row;
        for (std::size_t subset = 0; subset < half; ++subset) {
            const double* from = subsets + subset * width;
            double* to = subsets + (half + subset) * width;
            for (std::size_t c = 0; c < k; ++c) to[c] = from[c] + rows[row * k + c];
            for (std::size_t c = k; c < width; ++c) to[c] = 0.0;
        }
    }
}

// Adds to the sums of each resample (count, width) the sum of the subset that its byte chooses; the
// bytes of resamples are `stride` apart.
WELLPUT_CLONES
void add_subsets(const double* subsets, const std::uint8_t* bytes, std::size_t stride,
                 std::size_t count, std::size_t width, double* sums) {
    for (std::size_t r = 0; r < count; ++r) {
        const double* subset = subsets + bytes[r * stride] * width;
        for (std::size_t c = 0; c < width; c += 4) {
            Four sum, more;
            __builtin_memcpy(&sum, sums + r * width + c, sizeof sum);
            __builtin_memcpy(&more, subset + c, sizeof more);
            sum += more;
            __builtin_memcpy(sums + r * width + c, &sum, sizeof sum);
        }
    }
}

// For each resample, the sums of `differences` over the rows that it exchanges.
Matrix swap_sums(const Statistics& differences, std::size_t n_resamples, std::uint64_t seed,
                 int threads) {
    const std::size_t n = differences.shape(0);
    const std::size_t k = differences.shape(1);
    if (n == 0) throw std::invalid_argument("there are no rows to resample");
    double* result = nullptr;
    Matrix matrix = new_matrix(n_resamples, k, &result);
    const double* data = differences.data();
    const std::size_t width = (k + 3) / 4 * 4;
    const std::size_t words = (n + 63) / 64;

    nb::gil_scoped_release release;
    const auto body = [=, bits = std::vector<std::uint8_t>(), subsets = std::vector<double>(),
                       sums = std::vector<double>()](std::size_t begin, std::size_t end) mutable {
        bits.resize(BATCH_RESAMPLES * words * 8);
        subsets.resize(256 * width);
        for (std::size_t batch = begin; batch < end; ++batch) {
            const std::size_t first = batch * BATCH_RESAMPLES;
            const std::size_t count = std::min(BATCH_RESAMPLES, n_resamples - first);
            for (std::size_t r = 0; r < count; ++r)
                flip_packed(Stream(seed, first + r), words, bits.data() + r * words * 8);
            sums.assign(BATCH_RESAMPLES * width, 0.0);
            for (std::size_t start = 0; start < n; start += 8) {
                const std::size_t rows = std::min<std::size_t>(8, n - start);
                fill_subsets(data + start * k, rows, k, width, subsets.data());
                if (rows < 8)  // clear the bits past the last row
                    for (std::size_t r = 0; r < count; ++r)
                        bits[r * words * 8 + start / 8] &=
                            static_cast<std::uint8_t>((1 << rows) - 1);
                add_subsets(subsets.data(), bits.data() + start / 8, words * 8, count, width,
                            sums.data());
            }
            for (std::size_t r = 0; r < count; ++r)
                std::copy_n(sums.data() + r * width, k, result + (first + r) * k);
        }
    };
    parallel_for((n_resamples + BATCH_RESAMPLES - 1) / BATCH_RESAMPLES, threads, body, /*chunk=*/1);
    return matrix;
}

}  // namespace

void add_resampling(nb::module_& m) {
    m.def("bootstrap_sums", &bootstrap_sums, nb::arg("statistics"), nb::arg("n_resamples"),
          nb::arg("seed"), nb::arg("threads"));
    m.def("swap_sums", &swap_sums, nb::arg("differences"), nb::arg("n_resamples"), nb::arg("seed"),
          nb::arg("threads"));
}

}  // namespace wellput
