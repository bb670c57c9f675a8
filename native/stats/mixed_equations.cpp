// The equations of mixed models for Python. The module wellput.stats.mixed.equations uses them together
// with LAPACK.
#include "stats/mixed_equations.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/arrays.h"
#include "kernels.h"
#include "stats/column_blocks.h"

namespace nb = nanobind;

namespace wellput {
namespace {

MixedEquations make_equations(const Array<std::int32_t, 2>& columns, const Array<double, 2>& values,
                              std::size_t absorbed, std::size_t random, std::size_t all) {
    require(columns.shape(0) == values.shape(0) && columns.shape(1) == values.shape(1),
            "values are not shaped as columns are");
    nb::gil_scoped_release release;
    return MixedEquations({columns.data(), columns.size()}, {values.data(), values.size()},
                          columns.shape(0), absorbed, random, all);
}

nb::tuple factor(MixedEquations& equations, const Array<double>& scale,
                 const Array<double>& weights) {
    double* core = nullptr;
    Matrix matrix = new_matrix(equations.core(), equations.core(), &core);
    double log_determinant = 0;
    {
        nb::gil_scoped_release release;
        log_determinant = equations.factor(values_of(scale), values_of(weights), core);
    }
    return nb::make_tuple(log_determinant, matrix);
}

// Calls work(values of x, number of columns of x) on a copy of x, and returns the copy.
template <typename Work>
Matrix in_copy(const MixedEquations& equations, const Array<double, 2>& x, const Work& work) {
    require(x.shape(0) == equations.columns(), "a row for each column is needed");
    double* data = nullptr;
    Matrix result = new_matrix(x.shape(0), x.shape(1), &data);
    nb::gil_scoped_release release;
    std::copy(x.data(), x.data() + x.size(), data);
    work(data, x.shape(1));
    return result;
}

Matrix forward(const MixedEquations& equations, const Array<double, 2>& x) {
    return in_copy(equations, x,
                   [&](double* data, std::size_t sides) { equations.forward(data, sides); });
}

Matrix backward(const MixedEquations& equations, const Array<double, 2>& x) {
    return in_copy(equations, x,
                   [&](double* data, std::size_t sides) { equations.backward(data, sides); });
}

nb::tuple invert(MixedEquations& equations, const Array<double, 2>& core_inverse) {
    require(core_inverse.shape(0) == equations.core() && core_inverse.shape(1) == equations.core(),
            "the inverse is not that of the core");
    double *diagonal = nullptr, *leverages = nullptr;
    Matrix diagonal_row = new_matrix(1, equations.absorbed(), &diagonal);
    Matrix leverage_row = new_matrix(1, equations.rows(), &leverages);
    {
        nb::gil_scoped_release release;
        equations.invert(core_inverse.data(), diagonal, leverages);
    }
    return nb::make_tuple(diagonal_row, leverage_row);
}

Matrix multiply(const MixedEquations& equations, const Array<double, 2>& x) {
    require(x.shape(0) == equations.columns(), "a row for each column is needed");
    double* data = nullptr;
    Matrix result = new_matrix(equations.rows(), x.shape(1), &data);
    nb::gil_scoped_release release;
    equations.multiply(x.data(), x.shape(1), data);
    return result;
}

Matrix multiply_transposed(const MixedEquations& equations, const Array<double, 2>& v) {
    require(v.shape(0) == equations.rows(), "a value for each row is needed");
    double* data = nullptr;
    Matrix result = new_matrix(equations.columns(), v.shape(1), &data);
    nb::gil_scoped_release release;
    equations.multiply_transposed(v.data(), v.shape(1), data);
    return result;
}

using Changed = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;  // in place

void scale_blocks(const Changed& matrix, const Array<std::int64_t>& begins,
                  const Array<double>& own, const Array<double>& shared) {
    require(matrix.shape(0) == matrix.shape(1), "the matrix is not square");
    nb::gil_scoped_release release;
    ColumnBlocks(values_of(begins), values_of(own), values_of(shared), matrix.shape(0))
        .scale(matrix.data());
}

}  // namespace

void add_mixed_equations(nb::module_& m) {
    nb::class_<MixedEquations>(m, "MixedEquations")
        .def(
            "__init__",
            [](MixedEquations* self, const Array<std::int32_t, 2>& columns,
               const Array<double, 2>& values, std::size_t absorbed, std::size_t random,
               std::size_t all) {
                new (self) MixedEquations(make_equations(columns, values, absorbed, random, all));
            },
            nb::arg("columns"), nb::arg("values"), nb::arg("absorbed"), nb::arg("random"),
            nb::arg("all"))
        .def("factor", &factor, nb::arg("scale"), nb::arg("weights"))
        .def("forward", &forward, nb::arg("x"))
        .def("backward", &backward, nb::arg("x"))
        .def("invert", &invert, nb::arg("core_inverse"))
        .def("multiply", &multiply, nb::arg("x"))
        .def("multiply_transposed", &multiply_transposed, nb::arg("v"));
    // `.noconvert()` forbids a conversion, which would change a copy and not the caller's matrix.
    m.def("scale_blocks", &scale_blocks, nb::arg("matrix").noconvert(), nb::arg("begins"),
          nb::arg("own"), nb::arg("shared"));
}

}  // namespace wellput
