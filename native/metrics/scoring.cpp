// The exception of scoring kernels for an item that does not fit into memory.
#include "metrics/scoring.h"

#include <exception>

#include "kernels.h"

namespace wellput {

void add_too_large(nb::module_& m) {
    PyObject* const type =
        PyErr_NewException("wellput._native.TooLarge", PyExc_MemoryError, nullptr);
    if (!type) throw nb::python_error();
    m.attr("TooLarge") = nb::steal(type);
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void* type) {
            try {
                std::rethrow_exception(thrown);
            } catch (const TooLarge& error) {
                const nb::object number = nb::int_(error.item);
                PyErr_SetObject(static_cast<PyObject*>(type), number.ptr());
            }
        },
        type);
}

}  // namespace wellput
