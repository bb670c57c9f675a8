// Word and character error rate: substitutions, insertions and deletions along a cheapest alignment. Of
// several, it is the one that rapidfuzz picks, since jiwer counts errors along it.
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels.h"
#include "metrics/edit_bits.h"
#include "metrics/scoring.h"
#include "metrics/word_places.h"
#include "text/split.h"
#include "text/tokenize.h"
#include "text/vocabulary.h"

namespace wellput {

namespace {

using Words = std::span<const int>;

struct ErrorCounts {
    int substitutions = 0, insertions = 0, deletions = 0;

    int total() const { return substitutions + insertions + deletions; }
    void operator+=(const ErrorCounts& other) {
        substitutions += other.substitutions;
        insertions += other.insertions;
        deletions += other.deletions;
    }
};

// Counts the errors of a hypothesis as rapidfuzz's `opcodes(reference, hypothesis)` does.
class ErrorCounter {
public:
    ErrorCounts count(Words reference, Words hypothesis, int bound) {
        bound_ = bound;
        return count_within(reference, hypothesis, std::max(reference.size(), hypothesis.size()));
    }

private:
    using Row = EditRow<std::uint64_t>;

    // `max_errors` is an upper bound of the number of errors. This bound and the constants below are
    // rapidfuzz's: they decide whether the pair of texts is divided, and so which of several cheapest
    // alignments is found.
    ErrorCounts count_within(Words reference, Words hypothesis, std::size_t max_errors) {
        strip_common_ends(reference, hypothesis);
        const std::size_t n = hypothesis.size();
        const std::size_t m = reference.size();
        if (n == 0 || m == 0)
            return {.insertions = static_cast<int>(n), .deletions = static_cast<int>(m)};
        max_errors = std::min(max_errors, std::max(n, m));
        const std::size_t matrix_bytes = 2 * std::min(m, 2 * max_errors + 1) * n / 8;
        if (matrix_bytes < 1024 * 1024 || m < 65 || n < 10)
            return count_along(reference, hypothesis);
        return count_halves(reference, hypothesis);
    }

    static void strip_common_ends(Words& a, Words& b) {
        while (!a.empty() && !b.empty() && a.front() == b.front()) {
            a = a.subspan(1);
            b = b.subspan(1);
        }
        while (!a.empty() && !b.empty() && a.back() == b.back()) {
            a = a.first(a.size() - 1);
            b = b.first(b.size() - 1);
        }
    }

    // Walks back along the alignment; among the cheapest steps it prefers a deletion, then an
    // insertion.
    ErrorCounts count_along(Words reference, Words hypothesis) {
        fill_rows(reference, hypothesis);
        const std::size_t blocks = places_.blocks();
        const int n = static_cast<int>(hypothesis.size());
        const int m = static_cast<int>(reference.size());
        auto bit = [](std::uint64_t bits, int j) { return bits >> ((j - 1) % 64) & 1; };
        auto cell = [&](int i, int j) {
            return rows_[static_cast<std::size_t>(i) * blocks + (j - 1) / 64];
        };
        ErrorCounts errors;
        int i = n;
        int j = m;
        while (i > 0 && j > 0) {
            if (bit(cell(i, j).plus, j)) {
                ++errors.deletions;
                --j;
            } else if (--i > 0 && bit(cell(i, j).minus, j)) {
                ++errors.insertions;
            } else {
                --j;
                errors.substitutions += reference[j] != hypothesis[i];
            }
        }
        errors.insertions += i;
        errors.deletions += j;
        return errors;
    }

    // Fills the rows of the matrix: row i begins at rows_[i * blocks]; columns are the reference's
    // words.
    void fill_rows(Words reference, Words hypothesis) {
        places_.index(reference, bound_);
        const std::size_t blocks = places_.blocks();
        rows_.resize((hypothesis.size() + 1) * blocks);
        std::fill_n(rows_.begin(), blocks, Row{});
        Row* next = rows_.data();
        if (blocks == 1) {  // nearly always; the row then stays in registers
            Row row;
            for (const int word : hypothesis) {
                next_row(row, *places_[word]);
                *++next = row;
            }
        } else {
            for (const int word : hypothesis) {
                next_row(next, next + blocks, places_[word], blocks);
                next += blocks;
            }
        }
    }

    // Hirschberg's algorithm, for texts too long for a matrix: divides both texts in two. The first
    // half of the hypothesis is aligned with the shortest first part of the reference for which the
    // total number of errors is at its minimum.
    ErrorCounts count_halves(Words reference, Words hypothesis) {
        const std::size_t half = hypothesis.size() / 2;
        std::vector<int> ahead = last_row({reference.begin(), reference.end()},
                                          {hypothesis.begin(), hypothesis.begin() + half});
        std::vector<int> behind = last_row({reference.rbegin(), reference.rend()},
                                           {hypothesis.rbegin(), hypothesis.rend() - half});
        const std::size_t m = reference.size();
        std::size_t cut = 0;
        for (std::size_t j = 1; j <= m; ++j)
            if (ahead[j] + behind[m - j] < ahead[cut] + behind[m - cut]) cut = j;
        ErrorCounts errors = count_within(reference.first(cut), hypothesis.first(half),
                                          static_cast<std::size_t>(ahead[cut]));
        errors += count_within(reference.subspan(cut), hypothesis.subspan(half),
                               static_cast<std::size_t>(behind[m - cut]));
        return errors;
    }

    // The distances of the whole `hypothesis` to all beginnings of `reference`, from the empty one on.
    std::vector<int> last_row(const std::vector<int>& reference,
                              const std::vector<int>& hypothesis) {
        places_.index(reference, bound_);
        std::vector<Row> row(places_.blocks());
        for (const int word : hypothesis)
            next_row(row.data(), row.data(), places_[word], row.size());
        std::vector<int> values(reference.size() + 1);
        values[0] = static_cast<int>(hypothesis.size());
        for (std::size_t j = 0; j < reference.size(); ++j)
            values[j + 1] = values[j] + static_cast<int>(row[j / 64].plus >> (j % 64) & 1) -
                            static_cast<int>(row[j / 64].minus >> (j % 64) & 1);
        return values;
    }

    int bound_ = 0;
    WordPlaces places_;
    std::vector<Row> rows_;
};

// jiwer's words are separated by a space or by two or more whitespace characters. A single tab or
// no-break space within the text is part of a word.
constexpr auto separates_for_jiwer = [](char first, int characters) {
    return first == ' ' || characters > 1;
};

// The words of a text, as numbers.
class WordNumbers {
public:
    explicit WordNumbers(Tokenizer tokenizer) : tokenizer_(tokenizer) {}

    void clear() {
        vocabulary_.clear();
        buffers_.clear();
    }
    int bound() const { return vocabulary_.bound(); }
    void to_numbers(std::string_view text, std::vector<int>& numbers) {
        if (tokenizer_ == Tokenizer::NONE) {
            numbers.clear();
            const char* const end = text.data() + text.size();
            split_at_gaps(text, separates_for_jiwer, [&](std::string_view word) {
                numbers.push_back(vocabulary_.add(word, end));
            });
        } else {
            tokenize(tokenizer_, text, buffers_.emplace_back(), tokens_);
            vocabulary_.add(tokens_, numbers);
        }
    }

private:
    Tokenizer tokenizer_;
    Vocabulary vocabulary_;
    std::deque<std::string> buffers_;  // one for each text: the vocabulary points into them
    std::vector<std::string_view> tokens_;
};

// The characters of a text, white space included, as numbers.
class CharacterNumbers {
public:
    void clear() { vocabulary_.clear(); }
    int bound() const { return vocabulary_.bound(); }
    void to_numbers(std::string_view text, std::vector<int>& numbers) {
        numbers.clear();
        const char* const end = text.data() + text.size();
        for (const char* p = text.data(); p < end;) {
            const int size = character_size(*p);
            numbers.push_back(
                vocabulary_.add(std::string_view(p, static_cast<std::size_t>(size)), end));
            p += size;
        }
    }

private:
    Vocabulary vocabulary_;
};

// `Units` is WordNumbers or CharacterNumbers.
template <typename Units>
class ErrorRateScorer {
public:
    explicit ErrorRateScorer(Units units) : units_(std::move(units)) {}

    // row: the substitutions, insertions and deletions for the reference with the lowest error rate (of
    // equally good ones, the first), and its length.
    void score(std::string_view hypothesis, References references, double* row) {
        units_.clear();
        units_.to_numbers(hypothesis, hypothesis_);
        double lowest = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < references.size(); ++k) {
            units_.to_numbers(references[k], reference_);
            const ErrorCounts errors = counter_.count(reference_, hypothesis_, units_.bound());
            const double rate = error_rate(errors.total(), reference_.size());
            if (k > 0 && rate >= lowest) continue;
            lowest = rate;
            row[0] = errors.substitutions;
            row[1] = errors.insertions;
            row[2] = errors.deletions;
            row[3] = static_cast<double>(reference_.size());
        }
    }

private:
    static double error_rate(int errors, std::size_t length) {
        if (errors == 0) return 0;
        return length ? errors / static_cast<double>(length)
                      : std::numeric_limits<double>::infinity();
    }

    Units units_;
    std::vector<int> hypothesis_, reference_;
    ErrorCounter counter_;
};

Matrix wer_statistics(nb::handle hypotheses, nb::handle references, std::string_view tokenizer,
                      int threads) {
    return score_items(Texts(hypotheses), TextLists(references), 4, threads,
                       ErrorRateScorer(WordNumbers(tokenizer_named(tokenizer))));
}

Matrix cer_statistics(nb::handle hypotheses, nb::handle references, int threads) {
    return score_items(Texts(hypotheses), TextLists(references), 4, threads,
                       ErrorRateScorer(CharacterNumbers()));
}

}  // namespace

void add_wer(nb::module_& m) {
    m.def("wer_statistics", &wer_statistics);
    m.def("cer_statistics", &cer_statistics);
}

}  // namespace wellput
