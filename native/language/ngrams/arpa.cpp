// Reads the lines of an ARPA file (n-grams with log10 probabilities and back-off weights, as text)
// into the arrays of a model. N-grams at depth d have d + 1 words.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include "core/checks.h"
#include "core/texts.h"
#include "kernels.h"
#include "language/ngrams/ngram_trie.h"
#include "text/word_table.h"

namespace wellput {
namespace {

// N-grams of one length as they were read. `ids` has the numbers of their words, n-gram after n-gram,
// each with its last word first; it is empty for unigrams, which stand at the number of their word.
struct Entries {
    std::vector<std::uint32_t> ids;
    std::vector<float> log_probs, backoffs;
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view next_field(std::string_view& line) {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    std::size_t n = 0;
    while (n < line.size() && !is_blank(line[n])) ++n;
    const auto field = line.substr(0, n);
    line.remove_prefix(n);
    return field;
}

// For numbers that std::from_chars calls out of range (too large or too small), and for standard
// libraries whose std::from_chars reads only whole numbers (libc++). A number that is too small is
// read as 0; one that is too large is refused.
bool parse_slowly(std::string_view field, float& value) {
    static const locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", nullptr);
    if (field.starts_with('+') || field.find_first_not_of("0123456789+-.eE") != field.npos)
        return false;
    const std::string text(field);
    char* end = nullptr;
    value = strtof_l(text.c_str(), &end, c_locale);
    return !text.empty() && end == text.c_str() + text.size() && std::isfinite(value);
}

bool parse_number(std::string_view field, float& value) {
    if (field.starts_with('+')) field.remove_prefix(1);
#ifdef __cpp_lib_to_chars
    const char* end = field.data() + field.size();
    const auto [at, error] = std::from_chars(field.data(), end, value);
    if (error != std::errc::result_out_of_range)
        return error == std::errc() && at == end && std::isfinite(value);
#endif
    return parse_slowly(field, value);
}

class ArpaReader {
public:
    explicit ArpaReader(int order) {
        constexpr int MAX_ORDER = 1000;
        require(order > 0 && order <= MAX_ORDER,
                "an n-gram model has at least one order, at most 1000");
        entries_.resize(static_cast<std::size_t>(order));
        // Special words that the file does not have are impossible, with the values of KenLM and SRILM.
        entries_[0].log_probs = {-100, -99, -99};
        entries_[0].backoffs = {0, 0, 0};
    }

    // Lines of n-grams with depth + 1 words. Returns the number of the first bad line, or -1.
    std::ptrdiff_t add(std::size_t depth, nb::handle sequence) {
        require(!is_finished_, "a reader makes one model");
        require(depth < entries_.size(), "n-grams longer than the order");
        const Texts lines(sequence);
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (!add_line(depth, lines[i])) return static_cast<std::ptrdiff_t>(i);
        return -1;
    }

    // A reader cannot be used afterwards: it gives its words away.
    nb::tuple finish() {
        require(!is_finished_, "a reader makes one model");
        is_finished_ = true;
        std::vector<TrieLevel> levels;
        {
            nb::gil_scoped_release release;
            for (std::size_t depth = entries_.size() - 1; depth >= 1; --depth) add_missing(depth);
            levels = build();
            fill_missing(levels);
        }
        return as_arrays(words_, levels);
    }

private:
    bool add_line(std::size_t depth, std::string_view line) {
        float log_prob = 0, backoff = 0;
        if (!parse_number(next_field(line), log_prob)) return false;
        auto& entries = entries_[depth];
        const std::size_t first = entries.ids.size();
        std::uint32_t id = 0;
        for (std::size_t k = 0; k <= depth; ++k) {
            const auto word = next_field(line);
            if (word.empty()) return drop_from(entries, first);
            id = depth == 0 ? words_.add(word) : words_.view().find(word);
            if (id == NO_WORD) return drop_from(entries, first);
            if (depth > 0) entries.ids.push_back(id);
        }
        if (depth == 0) {  // the word keeps its number, even if the line is bad
            entries.log_probs.resize(words_.size());
            entries.backoffs.resize(words_.size());
        }
        const auto rest = next_field(line);
        if (!rest.empty() && !parse_number(rest, backoff)) return drop_from(entries, first);
        if (!next_field(line).empty()) return drop_from(entries, first);
        if (depth > 0) {
            std::reverse(entries.ids.begin() + static_cast<std::ptrdiff_t>(first),
                         entries.ids.end());
            entries.log_probs.push_back(log_prob);
            entries.backoffs.push_back(backoff);
        } else {
            entries.log_probs[id] = log_prob;
            entries.backoffs[id] = backoff;
        }
        return true;
    }

    // Removes what was read of a bad line; returns false, as add_line does for such a line.
    static bool drop_from(Entries& entries, std::size_t first) {
        entries.ids.resize(first);
        return false;
    }

    // A pruned model may have an n-gram, but not its ending (the n-gram without its first word). The
    // ending is added here; fill_missing gives it the probability of backing off.
    void add_missing(std::size_t depth) {
        sort(depth);
        if (depth == 1) return;
        sort(depth - 1);
        auto& shorter = entries_[depth - 1];
        const auto& longer = entries_[depth].ids;
        const std::size_t n_known = shorter.log_probs.size();
        std::size_t at = 0;
        for (std::size_t x = 0; x < longer.size(); x += depth + 1) {
            const auto* ending = longer.data() + x;
            if (x > 0 && std::equal(ending, ending + depth, ending - depth - 1)) continue;
            while (at < n_known && less(shorter.ids.data() + at * depth, ending, depth)) ++at;
            if (at < n_known && std::equal(ending, ending + depth, shorter.ids.data() + at * depth))
                continue;
            shorter.ids.insert(shorter.ids.end(), ending, ending + depth);
            shorter.log_probs.push_back(MISSING_LOG_PROB);
            shorter.backoffs.push_back(0);
        }
    }

    static bool less(const std::uint32_t* a, const std::uint32_t* b, std::size_t n) {
        return std::lexicographical_compare(a, a + n, b, b + n);
    }

    // Sorts n-grams and drops the second of two equal ones.
    void sort(std::size_t depth) {
        auto& entries = entries_[depth];
        const std::size_t n = depth + 1, size = entries.log_probs.size();
        const auto* ids = entries.ids.data();
        std::size_t at = 1;
        while (at < size && less(ids + (at - 1) * n, ids + at * n, n)) ++at;
        if (at >= size) return;  // already sorted, as in the files that wellput writes
        std::vector<std::size_t> order(size);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](auto a, auto b) { return less(ids + a * n, ids + b * n, n); });
        Entries sorted;
        for (const auto x : order) {
            const auto* from = ids + x * n;
            if (!sorted.ids.empty() &&
                std::equal(from, from + n, sorted.ids.end() - static_cast<std::ptrdiff_t>(n)))
                continue;
            sorted.ids.insert(sorted.ids.end(), from, from + n);
            sorted.log_probs.push_back(entries.log_probs[x]);
            sorted.backoffs.push_back(entries.backoffs[x]);
        }
        entries = std::move(sorted);
    }

    // Every n-gram's ending is there and levels are sorted: children follow in their parents' order.
    std::vector<TrieLevel> build() {
        std::vector<TrieLevel> levels(entries_.size());
        for (std::size_t depth = 0; depth < levels.size(); ++depth) {
            auto& level = levels[depth];
            const auto& ids = entries_[depth].ids;
            for (std::size_t x = depth; depth > 0 && x < ids.size(); x += depth + 1)
                level.words.push_back(ids[x]);
            level.log_probs = entries_[depth].log_probs;
            if (depth + 1 == levels.size()) break;
            level.backoffs = entries_[depth].backoffs;
            const auto& longer = entries_[depth + 1].ids;
            const std::size_t size = level.log_probs.size(), n = depth + 1;
            std::size_t child = 0;
            for (std::size_t x = 0; x <= size; ++x) {
                level.begins.push_back(static_cast<std::uint32_t>(child));
                const auto word = static_cast<std::uint32_t>(x);
                const auto* own = depth == 0 ? &word : ids.data() + x * n;
                while (x < size && child * (n + 1) < longer.size() &&
                       std::equal(own, own + n, longer.data() + child * (n + 1)))
                    ++child;
            }
        }
        return levels;
    }

    void fill_missing(std::vector<TrieLevel>& levels) {
        std::vector<std::uint32_t> contexts;
        for (std::size_t depth = 1; depth + 1 < levels.size(); ++depth) {
            contexts = contexts_at(levels, depth, contexts);
            const auto& above = levels[depth - 1];
            for (std::size_t parent = 0; parent < above.log_probs.size(); ++parent)
                for (std::uint32_t x = above.begins[parent]; x < above.begins[parent + 1]; ++x) {
                    if (levels[depth].log_probs[x] != MISSING_LOG_PROB) continue;
                    const float backoff = contexts[x] == NO_NODE ? 0 : above.backoffs[contexts[x]];
                    levels[depth].log_probs[x] = backoff + above.log_probs[parent];
                }
        }
    }

    static constexpr float MISSING_LOG_PROB = 1e30f;  // until fill_missing
    bool is_finished_ = false;
    WordTable words_{SPECIAL_WORDS};
    std::vector<Entries> entries_;
};

}  // namespace

void add_arpa(nb::module_& m) {
    nb::class_<ArpaReader>(m, "ArpaReader")
        .def(nb::init<int>(), nb::arg("order"))
        .def("add", &ArpaReader::add, nb::arg("depth"), nb::arg("lines"))
        .def("finish", &ArpaReader::finish);
}

}  // namespace wellput
