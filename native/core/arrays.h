// NumPy arrays into and out of kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <limits>
#include <new>
#include <span>

namespace wellput {

// An array to read from, with one dimension or more.
template <typename T, std::size_t Dims = 1>
using Array =
    nanobind::ndarray<const T, nanobind::ndim<Dims>, nanobind::c_contig, nanobind::device::cpu>;

// A view of the values of an array with one dimension.
template <typename T>
std::span<const T> values_of(const Array<T>& array) {
    return {array.data(), array.shape(0)};
}

using Matrix = nanobind::ndarray<nanobind::numpy, double, nanobind::ndim<2>, nanobind::c_contig>;

// A zeroed (rows, columns) array that NumPy will own. Make it with the GIL held, fill it without.
inline Matrix new_matrix(std::size_t rows, std::size_t columns, double** data) {
    constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(double);
    if (columns > 0 && rows >= most / columns) throw std::bad_alloc();
    *data = new double[rows * columns + 1]();
    nanobind::capsule owner(*data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return Matrix(*data, {rows, columns}, owner);
}

}  // namespace wellput
