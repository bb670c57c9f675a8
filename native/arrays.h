// NumPy arrays into and out of kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>

namespace wellput {

// An array to read from, with one dimension or more.
template <typename T, std::size_t Dims = 1>
using Array = nanobind::ndarray<const T, nanobind::ndim<Dims>, nanobind::c_contig,
                                nanobind::device::cpu>;

using Matrix = nanobind::ndarray<nanobind::numpy, double, nanobind::ndim<2>, nanobind::c_contig>;

// A zeroed (rows, columns) array that NumPy will own. Make it with the GIL held, fill it without.
inline Matrix new_matrix(std::size_t rows, std::size_t columns, double** data) {
    *data = new double[rows * columns + 1]();
    nanobind::capsule owner(*data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return Matrix(*data, {rows, columns}, owner);
}

}  // namespace wellput
