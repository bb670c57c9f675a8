// Reads plain lines (plain_line.h) of an evaluation set in JSONL, without Python's JSON.
//
// The reader in Python takes all other lines: it knows what is allowed and which message to give. For a
// plain line both readers must give exactly the same. Lines are parsed without Python's global lock
// (the GIL); the Python objects are made with it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/arrays.h"
#include "core/texts.h"
#include "io/json_escapes.h"
#include "io/plain_line.h"
#include "kernels.h"
#include "text/hash.h"

namespace wellput {
namespace {

// Collects the Python objects of plain lines, column by column. If a text is not UTF-8 or has an escape
// that JSON does not have, functions return false or a null object.
class Columns {
public:
    explicit Columns(const std::vector<LineText>& pool) : pool_(pool) {}

    bool add(const PlainLine& line) {
        const bool is_added =
            append(ids_, str(line.id)) && append(references_, references(line)) &&
            append(sources_, str(line.source)) && append(contexts_, str(line.context)) &&
            append(documents_, document(line)) && append(tags_, tags(line)) && add_outputs(line);
        rows_ += is_added;
        return is_added;
    }

    // The columns in the order that `plain_columns` describes.
    nb::object result() {
        nb::dict outputs;
        for (auto& [name, column] : outputs_) outputs[name] = column;
        return nb::make_tuple(ids_, outputs, references_, sources_, contexts_,
                              has_documents_ ? nb::object(documents_) : nb::none(),
                              has_tags_ ? nb::object(tags_) : nb::none());
    }

private:
    nb::object str(const LineText& text) {
        if (text.is_null) return nb::none();
        std::string_view utf8 = text.raw;
        if (text.is_escaped) {
            if (!unescape(text.raw, unescaped_)) return {};
            utf8 = unescaped_;
        }
        PyObject* made =
            PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), nullptr);
        if (!made) PyErr_Clear();
        return nb::steal(made);
    }

    static bool append(nb::list& column, const nb::object& object) {
        return object && PyList_Append(column.ptr(), object.ptr()) == 0;
    }

    nb::object references(const PlainLine& line) {
        const std::size_t size = line.references.end - line.references.begin;
        if (size == 0) return no_references_;
        nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(size)));
        for (std::size_t i = 0; i < size; ++i) {
            nb::object text = str(pool_[line.references.begin + i]);
            if (!text) return {};
            PyTuple_SetItem(made.ptr(), static_cast<Py_ssize_t>(i), text.release().ptr());
        }
        // A tuple of texts is in no cycle of references: the garbage collector need not visit it.
        PyObject_GC_UnTrack(made.ptr());
        return made;
    }

    nb::object document(const PlainLine& line) {
        if (line.document.is_null) return nb::none();
        has_documents_ = true;
        nb::object& made = known_documents_[line.document.raw];
        if (!made) made = str(line.document);
        return made;
    }

    // Lines whose tags are written alike share one dictionary; nothing changes it later.
    nb::object tags(const PlainLine& line) {
        if (line.tags.begin == line.tags.end) return no_tags_;
        has_tags_ = true;
        nb::object& made = known_tags_[line.tags_json];
        if (made) return made;
        nb::dict named;
        for (std::size_t i = line.tags.begin; i < line.tags.end; i += 2) {
            if (pool_[i + 1].is_null) continue;
            const nb::object name = str(pool_[i]), value = str(pool_[i + 1]);
            if (!name || !value) return {};
            named[name] = value;
        }
        made = named;
        return made;
    }

    // A system without an output for a row has None there.
    bool add_outputs(const PlainLine& line) {
        for (std::size_t i = line.outputs.begin; i < line.outputs.end; i += 2) {
            if (pool_[i + 1].is_null) continue;
            nb::list* column = column_of(pool_[i]);
            if (!column || !append(*column, str(pool_[i + 1]))) return false;
        }
        for (auto& [name, column] : outputs_)
            if (column.size() == rows_) column.append(nb::none());
        return true;
    }

    // The outputs of a system. A new system has None in all rows so far.
    nb::list* column_of(const LineText& name) {
        const auto [found, is_new] = places_.try_emplace(name.raw, outputs_.size());
        if (!is_new) return &outputs_[found->second].second;
        nb::object made = str(name);
        if (!made) return nullptr;
        nb::list column;
        for (std::size_t row = 0; row < rows_; ++row) column.append(nb::none());
        outputs_.emplace_back(std::move(made), std::move(column));
        return &outputs_.back().second;
    }

    const std::vector<LineText>& pool_;
    std::size_t rows_ = 0;
    bool has_documents_ = false, has_tags_ = false;
    nb::list ids_, references_, sources_, contexts_, documents_, tags_;
    // By what is written in the line.
    std::unordered_map<std::string_view, nb::object> known_documents_, known_tags_;
    nb::object no_tags_ = nb::dict();
    std::unordered_map<std::string_view, std::size_t> places_;  // of the systems in outputs_
    std::vector<std::pair<nb::object, nb::list>> outputs_;
    nb::object no_references_ = nb::steal(PyTuple_New(0));
    std::string unescaped_;
};

// Whether a line has an item, because it is not blank. A line that begins with a character beyond ASCII
// is blank (Unicode has more spaces) or wrong, so it has no item.
bool has_item(std::string_view line) {
    for (const unsigned char byte : line)
        if (!(byte == ' ' || (byte >= 0x09 && byte <= 0x0d) || (byte >= 0x1c && byte <= 0x1f)))
            return byte < 0x80;
    return false;
}

// Ids, outputs by system, references, sources, contexts, documents and tags of the lines; the last
// two are None if no line has any. None if a line is not plain.
nb::object plain_columns(nb::bytes data) {
    std::vector<PlainLine> lines;
    std::vector<LineText> pool;
    const std::string_view all(static_cast<const char*>(data.data()), data.size());
    bool is_plain = true;
    {
        nb::gil_scoped_release release;
        for (std::size_t start = 0; is_plain && start < all.size();) {
            const std::size_t end = std::min(all.find('\n', start), all.size());
            const std::string_view line = all.substr(start, end - start);
            if (has_item(line))
                is_plain = LineParser(line, pool).read(lines.emplace_back());
            else  // the reader in Python knows more kinds of blank lines
                is_plain = line.find_first_not_of(" \t\r") == std::string_view::npos;
            start = end + 1;
        }
    }
    if (!is_plain) return nb::none();
    Columns columns(pool);
    for (const PlainLine& line : lines)
        if (!columns.add(line)) return nb::none();
    return columns.result();
}

// Passes over lines from the place `start` on, until `max_items` lines with an item are passed or the
// data end. Returns the place that is reached, and the numbers of items and of lines passed.
std::tuple<std::size_t, std::size_t, std::size_t> item_lines(nb::bytes data, std::size_t start,
                                                             std::size_t max_items) {
    const std::string_view all(static_cast<const char*>(data.data()), data.size());
    nb::gil_scoped_release release;
    std::size_t items = 0, lines = 0;
    while (start < all.size() && items < max_items) {
        const std::size_t end = std::min(all.find('\n', start), all.size());
        items += has_item(all.substr(start, end - start));
        ++lines;
        start = std::min(end + 1, all.size());
    }
    return {start, items, lines};
}

// Hashes that are the same in every process, as Python's own hashes are not.
NewArray<std::uint64_t> text_hashes(nb::handle texts) {
    const Texts views(texts);
    std::vector<std::uint64_t> hashes(views.size());
    for (std::size_t i = 0; i < views.size(); ++i) hashes[i] = fnv1a(views[i]);
    return as_array(std::move(hashes));
}

}  // namespace

void add_evalset_lines(nb::module_& m) {
    m.def("plain_columns", &plain_columns);
    m.def("item_lines", &item_lines);
    m.def("text_hashes", &text_hashes);
}

}  // namespace wellput
