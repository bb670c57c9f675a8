// Reads plain lines of an evaluation set in JSONL, without Python's JSON.
//
// A plain line is one object whose keys are among id, source, context, references, outputs, document
// and tags, each given once, with texts (or null) where texts belong; the document and a tag may also
// be a whole number. The reader in Python takes all other lines: it knows what is allowed and which
// message to give. For a plain line both readers must give exactly the same. Texts are found without
// the GIL and made with it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/arrays.h"
#include "core/texts.h"
#include "kernels.h"
#include "text/hash.h"

namespace wellput {
namespace {

// From this many names on, an object's names are compared by hash and not one by one.
constexpr std::size_t MIN_NAMES_TO_HASH = 32;

struct Text {
    std::string_view raw;
    bool is_escaped = false;
    bool is_null = false;
};

// References, outputs and tags lie in one list of texts for all lines, the last two with the name
// before each text. `tags_json` is the object of tags as it is written: of equal ones, one is made.
struct PlainLine {
    Text id, source, context, document;
    std::size_t references = 0, references_end = 0, outputs = 0, outputs_end = 0, tags = 0,
                tags_end = 0;
    std::string_view tags_json;
};

// Whether one of eight bytes is a quote, a backslash or a control character. Never misses one; may
// also say yes for a byte beyond ASCII that follows one.
bool has_special(const char* at) {
    constexpr std::uint64_t ONE_IN_EACH_BYTE = 0x0101010101010101ULL,
                            HIGH_BIT_IN_EACH_BYTE = 0x8080808080808080ULL;
    std::uint64_t bytes;
    std::memcpy(&bytes, at, 8);
    const std::uint64_t quote = bytes ^ (ONE_IN_EACH_BYTE * '"'),
                        backslash = bytes ^ (ONE_IN_EACH_BYTE * '\\');
    const std::uint64_t found = ((quote - ONE_IN_EACH_BYTE) & ~quote) |
                                ((backslash - ONE_IN_EACH_BYTE) & ~backslash) |
                                ((bytes - ONE_IN_EACH_BYTE * 0x20) & ~bytes);
    return found & HIGH_BIT_IN_EACH_BYTE;
}

// Reads one line; every function is false where the line is not plain.
class LineParser {
public:
    LineParser(std::string_view line, std::vector<Text>& pool)
        : at_(line.data()), end_(line.data() + line.size()), pool_(pool) {}

    bool read(PlainLine& line) {
        line.id.is_null = line.source.is_null = line.context.is_null = line.document.is_null = true;
        skip_space();
        if (!take('{')) return false;
        unsigned seen = 0;
        do {
            Text key;
            skip_space();
            if (!text(key) || key.is_escaped || !colon()) return false;
            unsigned which = 0;
            bool is_read = false;
            if (key.raw == "id") {
                which = 1;
                is_read = identifier(line.id);
            } else if (key.raw == "source") {
                which = 2;
                is_read = text_or_null(line.source);
            } else if (key.raw == "context") {
                which = 4;
                is_read = text_or_null(line.context);
            } else if (key.raw == "references") {
                which = 8;
                line.references = pool_.size();
                is_read = texts();
                line.references_end = pool_.size();
            } else if (key.raw == "outputs") {
                which = 16;
                line.outputs = pool_.size();
                is_read = by_name(&LineParser::text_or_null);
                line.outputs_end = pool_.size();
            } else if (key.raw == "document") {
                which = 32;
                is_read = name_or_null(line.document);
            } else if (key.raw == "tags") {
                which = 64;
                line.tags = pool_.size();
                const char* start = at_;
                is_read = by_name(&LineParser::name_or_null);
                line.tags_json = {start, static_cast<std::size_t>(at_ - start)};
                line.tags_end = pool_.size();
            }
            if (!is_read || (seen & which)) return false;
            seen |= which;
            skip_space();
        } while (take(','));
        if (!take('}')) return false;
        skip_space();
        return at_ == end_ && (seen & 1);
    }

private:
    void skip_space() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
    }
    bool take(char wanted) {
        if (at_ == end_ || *at_ != wanted) return false;
        ++at_;
        return true;
    }
    bool take_null() {
        if (end_ - at_ < 4 || std::memcmp(at_, "null", 4) != 0) return false;
        at_ += 4;
        return true;
    }
    bool colon() {
        skip_space();
        const bool is_there = take(':');
        skip_space();
        return is_there;
    }
    bool text(Text& found) {
        found = Text{};
        if (!take('"')) return false;
        const char* start = at_;
        for (; at_ != end_; ++at_) {
            while (end_ - at_ >= 8 && !has_special(at_)) at_ += 8;
            if (at_ == end_) return false;
            const auto byte = static_cast<unsigned char>(*at_);
            if (byte == '"') {
                found.raw = {start, static_cast<std::size_t>(at_ - start)};
                ++at_;
                return true;
            }
            if (byte < 0x20) return false;
            if (byte == '\\') {
                found.is_escaped = true;
                if (++at_ == end_) return false;
            }
        }
        return false;
    }
    bool text_or_null(Text& found) {
        if (text(found)) return true;
        found.is_null = take_null();
        return found.is_null;
    }
    // A text that is not empty, or a whole number as Python would print it.
    bool identifier(Text& found) {
        if (at_ != end_ && *at_ == '"') return text(found) && !found.raw.empty();
        return whole_number(found);
    }
    // The empty text is null.
    bool name_or_null(Text& found) {
        if (!text_or_null(found)) return whole_number(found);
        found.is_null = found.is_null || found.raw.empty();
        return true;
    }
    bool whole_number(Text& found) {
        found = Text{};
        const char* start = at_;
        if (at_ != end_ && *at_ == '-') ++at_;
        const char* digits = at_;
        while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
        if (at_ == digits || at_ - digits > 18 || (*digits == '0' && at_ - start > 1)) return false;
        found.raw = {start, static_cast<std::size_t>(at_ - start)};
        return at_ != end_ && *at_ != '.' && *at_ != 'e' && *at_ != 'E';
    }
    bool texts() {
        if (!take('[')) return take_null();
        skip_space();
        if (take(']')) return true;
        do {
            skip_space();
            if (!text(pool_.emplace_back())) return false;
            skip_space();
        } while (take(','));
        return take(']');
    }
    // The names and values of an object, read by `value`.
    bool by_name(bool (LineParser::*value)(Text&)) {
        const std::size_t first = pool_.size();
        std::unordered_set<std::string_view> seen;  // once there are many names
        if (!take('{')) return take_null();
        skip_space();
        if (take('}')) return true;
        do {
            Text name;
            skip_space();
            if (!text(name) || name.is_escaped || name.raw.empty()) return false;
            if (pool_.size() - first < 2 * MIN_NAMES_TO_HASH) {
                for (std::size_t i = first; i < pool_.size(); i += 2)
                    if (pool_[i].raw == name.raw) return false;
            } else {
                if (seen.empty())
                    for (std::size_t i = first; i < pool_.size(); i += 2) seen.insert(pool_[i].raw);
                if (!seen.insert(name.raw).second) return false;
            }
            pool_.push_back(name);
            if (!colon() || !(this->*value)(pool_.emplace_back())) return false;
            skip_space();
        } while (take(','));
        return take('}');
    }

    const char* at_;
    const char* end_;
    std::vector<Text>& pool_;
};

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

long hex_unit(const char* at, const char* end) {
    if (end - at < 4) return -1;
    long unit = 0;
    for (int i = 0; i < 4; ++i) {
        const int digit = hex_digit(at[i]);
        if (digit < 0) return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

void append_utf8(std::string& out, long point) {
    if (point < 0x80) {
        out += static_cast<char>(point);
    } else if (point < 0x800) {
        out += static_cast<char>(0xC0 | (point >> 6));
        out += static_cast<char>(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        out += static_cast<char>(0xE0 | (point >> 12));
        out += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
        out += static_cast<char>(0x80 | (point & 0x3F));
    } else {
        out += static_cast<char>(0xF0 | (point >> 18));
        out += static_cast<char>(0x80 | ((point >> 12) & 0x3F));
        out += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
        out += static_cast<char>(0x80 | (point & 0x3F));
    }
}

// False for an escape that JSON does not have, and for half a surrogate pair.
bool unescape(std::string_view raw, std::string& out) {
    static constexpr std::string_view ESCAPE_LETTERS = "\"\\/bfnrt",
                                      ESCAPED_CHARACTERS = "\"\\/\b\f\n\r\t";
    out.clear();
    const char* at = raw.data();
    const char* end = at + raw.size();
    while (at != end) {
        if (*at != '\\') {
            out += *at++;
            continue;
        }
        const char kind = at[1];
        at += 2;
        if (kind != 'u') {
            const std::size_t place = ESCAPE_LETTERS.find(kind);
            if (place == std::string_view::npos) return false;
            out += ESCAPED_CHARACTERS[place];
            continue;
        }
        long point = hex_unit(at, end);
        if (point < 0 || (point >= 0xDC00 && point < 0xE000)) return false;
        at += 4;
        if (point >= 0xD800 && point < 0xDC00) {
            if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return false;
            const long low = hex_unit(at + 2, end);
            if (low < 0xDC00 || low >= 0xE000) return false;
            point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
            at += 6;
        }
        append_utf8(out, point);
    }
    return true;
}

// Collects the Python objects of plain lines, column by column. Functions are false for a text that
// is not UTF-8 or has an escape that JSON does not have.
class Columns {
public:
    explicit Columns(const std::vector<Text>& pool) : pool_(pool) {}

    bool add(const PlainLine& line) {
        return append(ids_, str(line.id)) && append(references_, tuple(line)) &&
               append(sources_, str(line.source)) && append(contexts_, str(line.context)) &&
               append(documents_, document(line)) && append(tags_, tags(line)) &&
               add_outputs(line) && ++rows_;
    }

    nb::object result() {
        nb::dict outputs;
        for (auto& [name, column] : outputs_) outputs[name] = column;
        return nb::make_tuple(ids_, outputs, references_, sources_, contexts_,
                              has_documents_ ? nb::object(documents_) : nb::none(),
                              has_tags_ ? nb::object(tags_) : nb::none());
    }

private:
    nb::object str(const Text& text) {
        if (text.is_null) return nb::none();
        std::string_view utf8 = text.raw;
        if (text.is_escaped) {
            if (!unescape(text.raw, scratch_)) return {};
            utf8 = scratch_;
        }
        PyObject* made =
            PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), nullptr);
        if (!made) PyErr_Clear();
        return nb::steal(made);
    }

    static bool append(nb::list& column, const nb::object& object) {
        return object && PyList_Append(column.ptr(), object.ptr()) == 0;
    }

    nb::object tuple(const PlainLine& line) {
        if (line.references == line.references_end) return empty_;
        const std::size_t size = line.references_end - line.references;
        nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(size)));
        for (std::size_t i = 0; i < size; ++i) {
            nb::object text = str(pool_[line.references + i]);
            if (!text) return {};
            PyTuple_SetItem(made.ptr(), static_cast<Py_ssize_t>(i), text.release().ptr());
        }
        // A tuple of texts is in no cycle: untracking it saves the garbage collector the work.
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

    // Lines with the same tags share one dictionary; nothing changes it later.
    nb::object tags(const PlainLine& line) {
        if (line.tags == line.tags_end) return no_tags_;
        has_tags_ = true;
        nb::object& made = known_tags_[line.tags_json];
        if (made) return made;
        nb::dict named;
        for (std::size_t i = line.tags; i < line.tags_end; i += 2) {
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
        for (std::size_t i = line.outputs; i < line.outputs_end; i += 2) {
            if (pool_[i + 1].is_null) continue;
            nb::list* column = column_of(pool_[i]);
            if (!column || !append(*column, str(pool_[i + 1]))) return false;
        }
        for (auto& [name, column] : outputs_)
            if (column.size() == rows_) column.append(nb::none());
        return true;
    }

    nb::list* column_of(const Text& name) {
        const auto [found, is_new] = places_.try_emplace(name.raw, outputs_.size());
        if (!is_new) return &outputs_[found->second].second;
        nb::object made = str(name);
        if (!made) return nullptr;
        nb::list column;
        for (std::size_t row = 0; row < rows_; ++row) column.append(nb::none());
        outputs_.emplace_back(std::move(made), std::move(column));
        return &outputs_.back().second;
    }

    const std::vector<Text>& pool_;
    std::size_t rows_ = 0;
    bool has_documents_ = false, has_tags_ = false;
    nb::list ids_, references_, sources_, contexts_, documents_, tags_;
    std::unordered_map<std::string_view, nb::object> known_documents_, known_tags_;  // as written
    nb::object no_tags_ = nb::dict();
    std::unordered_map<std::string_view, std::size_t> places_;  // of the systems in outputs_
    std::vector<std::pair<nb::object, nb::list>> outputs_;
    nb::object empty_ = nb::steal(PyTuple_New(0));
    std::string scratch_;
};

// Whether a line holds an item: blank lines do not. A line that begins with a character beyond
// ASCII is blank (Unicode has more spaces) or wrong, so it is no item.
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
    std::vector<Text> pool;
    const std::string_view all(static_cast<const char*>(data.data()), data.size());
    bool is_plain = true;
    {
        nb::gil_scoped_release release;
        for (std::size_t start = 0; is_plain && start < all.size();) {
            const std::size_t end = std::min(all.find('\n', start), all.size());
            const std::string_view line = all.substr(start, end - start);
            if (has_item(line))
                is_plain = LineParser(line, pool).read(lines.emplace_back());
            else
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

// The place, counted from `start`, where the `most`-th line with an item ends (or the data); and
// the number of items and of lines up to there.
std::tuple<std::size_t, std::size_t, std::size_t> item_lines(nb::bytes data, std::size_t start,
                                                             std::size_t most) {
    const std::string_view all(static_cast<const char*>(data.data()), data.size());
    nb::gil_scoped_release release;
    std::size_t items = 0, lines = 0;
    while (start < all.size() && items < most) {
        const std::size_t end = std::min(all.find('\n', start), all.size());
        items += has_item(all.substr(start, end - start));
        ++lines;
        start = std::min(end + 1, all.size());
    }
    return {start, items, lines};
}

// The same in every process; Python's own hash is not.
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
