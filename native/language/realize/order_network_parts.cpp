// The order network's parts from arrays of Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "kernels.h"
#include "language/realize/order_network.h"

namespace nb = nanobind;

namespace wellput {
namespace {

// The arrays of a model file, by name.
class Parts {
public:
    explicit Parts(const nb::dict& arrays) : arrays_(arrays) {}

    std::vector<float> numbers(const std::string& name) const {
        const auto array = found<Array<float>>(name);
        std::vector<float> values(array.data(), array.data() + array.size());
        for (const float value : values)
            require(value > -1e6f && value < 1e6f, "the order network has a number out of range");
        return values;
    }
    WholeMatrix matrix(const std::string& name) const {
        const auto steps = found<Array<std::int8_t, 2>>(name + ".steps");
        const std::vector<float> scales = numbers(name + ".scales");
        std::vector<float> bias;
        if (arrays_.contains((name + ".bias").c_str())) bias = numbers(name + ".bias");
        return {steps.data(), steps.shape(0), steps.shape(1), scales, bias};
    }
    WholeVectors vectors(const std::string& name) const {
        const auto steps = found<Array<std::int8_t, 2>>(name + ".steps");
        return {steps.data(), steps.shape(0), steps.shape(1), numbers(name + ".scales")};
    }
    Normalization normalization(const std::string& name) const {
        return {numbers(name + ".gain"), numbers(name + ".bias")};
    }

private:
    template <typename T>
    T found(const std::string& name) const {
        require(arrays_.contains(name.c_str()), "the order network lacks a part");
        T array;
        require(nb::try_cast(nb::object(arrays_[name.c_str()]), array, /*convert=*/false),
                "a part of the order network has another type");
        return array;
    }
    const nb::dict& arrays_;
};

void make_network(OrderNetwork* network, const nb::dict& arrays, std::size_t layers,
                  std::size_t attention_heads) {
    const Parts parts(arrays);
    OrderNetwork made;
    made.pieces = parts.vectors("pieces");
    made.from_pieces = parts.matrix("from_pieces");
    made.as_head = parts.matrix("as_head");
    made.items = parts.matrix("items");
    made.ends = parts.matrix("ends");
    made.context = parts.matrix("context");
    made.query = parts.matrix("query");
    made.last = parts.normalization("last");
    made.starts = parts.numbers("starts");
    made.attention_heads = attention_heads;
    for (std::size_t t = 0; t < OrderNetwork::VECTOR_TABLES; ++t)
        made.tables.push_back(parts.vectors("table" + std::to_string(t)));
    for (std::size_t l = 0; l < layers; ++l) {
        const std::string name = "layer" + std::to_string(l) + ".";
        made.layers.push_back({parts.normalization(name + "before"),
                               parts.normalization(name + "between"),
                               parts.matrix(name + "attention"), parts.matrix(name + "joined"),
                               parts.matrix(name + "inner"), parts.matrix(name + "outer"),
                               parts.numbers(name + "places")});
    }
    made.check();
    // `network` is the memory of a Python object that is not yet filled.
    new (network) OrderNetwork(std::move(made));
}

}  // namespace

void add_order_network(nb::module_& m) {
    nb::class_<OrderNetwork>(m, "OrderNetwork")
        .def("__init__", &make_network, nb::arg("arrays"), nb::arg("layers"),
             nb::arg("attention_heads"));
}

}  // namespace wellput
