// Parses a plain line of an evaluation set in JSONL.
//
// A plain line is one object whose keys are among id, source, context, references, outputs, document
// and tags, each given once, with texts (or null) where texts belong; the document and a tag may also
// be a whole number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace wellput {

// A text of a line, as it is written between the quotes; or a whole number, as it is written; or null.
struct LineText {
    std::string_view raw;
    bool is_escaped = false;  // whether the text has a backslash
    bool is_null = false;
};

// The texts of references, outputs and tags of all lines lie in one vector, the pool. In outputs and
// tags, a name stands before each text.
struct PoolRange {
    std::size_t begin = 0, end = 0;
};

struct PlainLine {
    LineText id, source, context, document;
    PoolRange references, outputs, tags;
    std::string_view tags_json;  // the object of tags as it is written
};

// Whether one of eight bytes is a quote, a backslash or a control character.
inline bool has_special(const char* at) {
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

// Reads one line. A function that reads a part of it returns false if the line is not plain there.
class LineParser {
public:
    LineParser(std::string_view line, std::vector<LineText>& pool)
        : at_(line.data()), end_(line.data() + line.size()), pool_(pool) {}

    bool read(PlainLine& line) {
        line.id.is_null = line.source.is_null = line.context.is_null = line.document.is_null = true;
        skip_space();
        if (!take('{')) return false;
        unsigned seen_keys = 0;  // a bit for each key
        do {
            LineText key;
            skip_space();
            if (!text(key) || key.is_escaped || !colon()) return false;
            unsigned key_bit = 0;
            bool is_read = false;
            if (key.raw == "id") {
                key_bit = 1;
                is_read = identifier(line.id);
            } else if (key.raw == "source") {
                key_bit = 2;
                is_read = text_or_null(line.source);
            } else if (key.raw == "context") {
                key_bit = 4;
                is_read = text_or_null(line.context);
            } else if (key.raw == "references") {
                key_bit = 8;
                line.references.begin = pool_.size();
                is_read = texts();
                line.references.end = pool_.size();
            } else if (key.raw == "outputs") {
                key_bit = 16;
                line.outputs.begin = pool_.size();
                is_read = object(&LineParser::text_or_null);
                line.outputs.end = pool_.size();
            } else if (key.raw == "document") {
                key_bit = 32;
                is_read = text_or_number(line.document);
            } else if (key.raw == "tags") {
                key_bit = 64;
                line.tags.begin = pool_.size();
                const char* start = at_;
                is_read = object(&LineParser::text_or_number);
                line.tags_json = {start, static_cast<std::size_t>(at_ - start)};
                line.tags.end = pool_.size();
            }
            if (!is_read || (seen_keys & key_bit)) return false;
            seen_keys |= key_bit;
            skip_space();
        } while (take(','));
        if (!take('}')) return false;
        skip_space();
        return at_ == end_ && (seen_keys & 1);
    }

private:
    // From this many names on, an object's names are compared by hash and not one by one.
    static constexpr std::size_t MIN_NAMES_TO_HASH = 32;

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
    bool text(LineText& found) {
        found = LineText{};
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
    bool text_or_null(LineText& found) {
        if (text(found)) return true;
        found.is_null = take_null();
        return found.is_null;
    }
    // A text that is not empty, or a whole number.
    bool identifier(LineText& found) {
        if (at_ != end_ && *at_ == '"') return text(found) && !found.raw.empty();
        return whole_number(found);
    }
    // A text, a whole number or null. The empty text counts as null.
    bool text_or_number(LineText& found) {
        if (!text_or_null(found)) return whole_number(found);
        found.is_null = found.is_null || found.raw.empty();
        return true;
    }
    // A whole number of at most 18 digits, written as Python would print it.
    bool whole_number(LineText& found) {
        found = LineText{};
        const char* start = at_;
        if (at_ != end_ && *at_ == '-') ++at_;
        const char* digits = at_;
        while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
        if (at_ == digits || at_ - digits > 18 || (*digits == '0' && at_ - start > 1)) return false;
        found.raw = {start, static_cast<std::size_t>(at_ - start)};
        return at_ != end_ && *at_ != '.' && *at_ != 'e' && *at_ != 'E';
    }
    // A list of texts, or null. Adds the texts to the pool.
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
    // An object whose values are read by `value`, or null. Adds its names and values to the pool. No
    // name may be empty or given twice.
    bool object(bool (LineParser::*value)(LineText&)) {
        const std::size_t first = pool_.size();
        std::unordered_set<std::string_view> hashed_names;  // empty as long as there are few names
        if (!take('{')) return take_null();
        skip_space();
        if (take('}')) return true;
        do {
            LineText name;
            skip_space();
            if (!text(name) || name.is_escaped || name.raw.empty()) return false;
            if (pool_.size() - first < 2 * MIN_NAMES_TO_HASH) {
                for (std::size_t i = first; i < pool_.size(); i += 2)
                    if (pool_[i].raw == name.raw) return false;
            } else {
                if (hashed_names.empty())
                    for (std::size_t i = first; i < pool_.size(); i += 2)
                        hashed_names.insert(pool_[i].raw);
                if (!hashed_names.insert(name.raw).second) return false;
            }
            pool_.push_back(name);
            if (!colon() || !(this->*value)(pool_.emplace_back())) return false;
            skip_space();
        } while (take(','));
        return take('}');
    }

    const char* at_;
    const char* end_;
    std::vector<LineText>& pool_;
};

}  // namespace wellput
