// NumPy arrays that kernels read and return.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <limits>
#include <new>
#include <span>
#include <utility>
#include <vector>

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

// An array whose memory NumPy owns. It must be made while Python's global lock (the GIL) is held; it
// may be filled without the lock.
template <typename T, std::size_t Dims = 1>
using NewArray = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<Dims>, nanobind::c_contig>;
using Matrix = NewArray<double, 2>;

// A zeroed (rows, columns) array.
template <typename T>
NewArray<T, 2> new_table(std::size_t rows, std::size_t columns) {
    constexpr std::size_t MAX_VALUES = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T);
    if (columns > 0 && rows >= MAX_VALUES / columns) throw std::bad_alloc();
    T* const data = new T[rows * columns + 1]();
    nanobind::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return NewArray<T, 2>(data, {rows, columns}, owner);
}

// A zeroed (rows, columns) array of doubles; `*data` becomes the address of its first value.
inline Matrix new_matrix(std::size_t rows, std::size_t columns, double** data) {
    Matrix result = new_table<double>(rows, columns);
    *data = result.data();
    return result;
}

// The values of a vector as an array, without a copy.
template <typename T>
NewArray<T> as_array(std::vector<T>&& values) {
    auto* const kept = new std::vector<T>(std::move(values));
    nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return NewArray<T>(kept->data(), {kept->size()}, owner);
}

}  // namespace wellput
