// NumPy arrays out of kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>

namespace wellput {

using Matrix = nanobind::ndarray<nanobind::numpy, double, nanobind::ndim<2>, nanobind::c_contig>;

// A zeroed (rows, columns) array that NumPy will own. Make it with the GIL held, fill it without.
inline Matrix new_matrix(std::size_t rows, std::size_t columns, double** data) {
    *data = new double[rows * columns + 1]();
    nanobind::capsule owner(*data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return Matrix(*data, {rows, columns}, owner);
}

}  // namespace wellput
