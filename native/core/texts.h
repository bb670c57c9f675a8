// Python strings as UTF-8, kept alive while a kernel runs without the GIL (Python's global lock).
//
// A kernel first copies its argument into a tuple, because another thread may change the caller's list
// as soon as the GIL is released. Lone surrogates (halves of a UTF-16 pair) have no UTF-8; Python's
// "surrogatepass" encodes them all the same, so that every kernel takes every Python text.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace wellput {

namespace nb = nanobind;

// The UTF-8 of a Python string. If Python does not keep it, the bytes are kept alive by `owners`.
inline std::string_view utf8_of(nb::handle text, std::vector<nb::object>& owners) {
    Py_ssize_t size = 0;
    if (!PyUnicode_Check(text.ptr())) throw nb::type_error("expected a sequence of str");
    if (const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size))
        return {data, static_cast<std::size_t>(size)};
    PyErr_Clear();
    PyObject* bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass");
    if (!bytes) throw nb::python_error();
    owners.push_back(nb::steal(bytes));
    char* data = nullptr;
    if (PyBytes_AsStringAndSize(bytes, &data, &size) != 0) throw nb::python_error();
    return {data, static_cast<std::size_t>(size)};
}

inline nb::object as_tuple(nb::handle sequence) {
    PyObject* tuple = PySequence_Tuple(sequence.ptr());
    if (!tuple) throw nb::python_error();
    return nb::steal(tuple);
}

// One text per item.
class Texts {
public:
    explicit Texts(nb::handle sequence) {
        nb::object tuple = as_tuple(sequence);
        const Py_ssize_t n = PyTuple_Size(tuple.ptr());
        views_.reserve(static_cast<std::size_t>(n));
        for (Py_ssize_t i = 0; i < n; ++i)
            views_.push_back(utf8_of(PyTuple_GetItem(tuple.ptr(), i), owners_));
        owners_.push_back(std::move(tuple));
    }
    std::size_t size() const { return views_.size(); }
    std::string_view operator[](std::size_t i) const { return views_[i]; }

private:
    std::vector<std::string_view> views_;
    std::vector<nb::object> owners_;
};

// A list of texts for each item, such as its references. Items may have different numbers of texts.
class TextLists {
public:
    explicit TextLists(nb::handle sequence) {
        nb::object outer = as_tuple(sequence);
        const Py_ssize_t n = PyTuple_Size(outer.ptr());
        starts_.reserve(static_cast<std::size_t>(n) + 1);
        views_.reserve(static_cast<std::size_t>(n));
        starts_.push_back(0);
        for (Py_ssize_t i = 0; i < n; ++i) {
            PyObject* item = PyTuple_GetItem(outer.ptr(), i);
            if (PyUnicode_Check(item))
                throw nb::type_error("expected a sequence of str for every item, not a str");
            if (PyList_CheckExact(item))
                add_list(item);
            else
                add_sequence(item);
            starts_.push_back(views_.size());
        }
        owners_.push_back(std::move(outer));
    }
    std::size_t size() const { return starts_.size() - 1; }
    std::size_t count(std::size_t i) const { return starts_[i + 1] - starts_[i]; }
    std::size_t total() const { return views_.size(); }
    // Whether every item has as many texts as in `other`.
    bool has_counts_of(const TextLists& other) const { return starts_ == other.starts_; }
    // The position of item i's first text among all texts.
    std::size_t first(std::size_t i) const { return starts_[i]; }
    std::string_view at(std::size_t i, std::size_t j) const { return views_[starts_[i] + j]; }
    std::span<const std::string_view> operator[](std::size_t i) const {
        return {views_.data() + starts_[i], count(i)};
    }

private:
    // Most items are short lists: keeping each text alive costs less than making a tuple of them.
    void add_list(PyObject* list) {
        const Py_ssize_t m = PyList_Size(list);
        for (Py_ssize_t j = 0; j < m; ++j) {
            owners_.push_back(nb::borrow(PyList_GetItem(list, j)));
            views_.push_back(utf8_of(owners_.back(), owners_));
        }
    }

    void add_sequence(PyObject* item) {
        nb::object inner = as_tuple(item);
        const Py_ssize_t m = PyTuple_Size(inner.ptr());
        for (Py_ssize_t j = 0; j < m; ++j)
            views_.push_back(utf8_of(PyTuple_GetItem(inner.ptr(), j), owners_));
        // A tuple is its own `inner`; the outer tuple keeps it alive.
        if (inner.ptr() != item) owners_.push_back(std::move(inner));
    }

    std::vector<std::string_view> views_;
    std::vector<std::size_t> starts_;
    std::vector<nb::object> owners_;
};

}  // namespace wellput
