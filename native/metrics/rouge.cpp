// Statistics of ROUGE. ROUGE-1, -2, … count common n-grams. ROUGE-L counts the words of the longest
// common subsequence. ROUGE-Lsum counts the words of each reference sentence that are in such a
// subsequence with some sentence of the output.
#include <algorithm>
#include <bit>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "kernels.h"
#include "metrics/edit_bits.h"
#include "metrics/ngram_counter.h"
#include "metrics/rows_backwards.h"
#include "metrics/scoring.h"
#include "metrics/word_places.h"
#include "text/vocabulary.h"

namespace wellput {

namespace {

bool is_word_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// rouge-score's words are runs of ASCII letters and digits; all other characters separate them.
void append_numbers(std::string_view text, Vocabulary& vocabulary, std::vector<int>& numbers) {
    const std::size_t size = text.size();
    for (std::size_t p = 0; p < size;) {
        const std::size_t begin = p;
        while (p < size && is_word_character(text[p])) ++p;
        if (p > begin)
            numbers.push_back(vocabulary.add(text.substr(begin, p - begin)));
        else
            ++p;
    }
}

// Fills a row with F, precision and recall for the reference with the highest F (of equally good ones,
// the first), and a 1 that counts the item; all stay 0 if there is no reference. A unit is a word or an
// n-gram.
class BestReference {
public:
    explicit BestReference(double* row) : row_(row) {}
    void take(int common, std::size_t hypothesis_units, std::size_t reference_units) {
        row_[3] = 1;
        if (common == 0) return;
        const double precision = common / static_cast<double>(hypothesis_units);
        const double recall = common / static_cast<double>(reference_units);
        const double f = 2 * precision * recall / (precision + recall);
        if (f <= row_[0]) return;
        row_[0] = f;
        row_[1] = precision;
        row_[2] = recall;
    }

private:
    double* row_;
};

// Hyyrö's algorithm (2004) for the lengths of longest common subsequences. Their table has a row for
// each word of one sequence and a column for each word of the other. A row is a bit string with a zero
// bit for every column where the length goes up by one.
using LcsRow = std::vector<std::uint64_t>;

// Turns a row into the next one; `matches` has a bit for each column whose word is equal to that of the
// next row.
void next_lcs_row(LcsRow& lcs_row, const std::uint64_t* matches, std::size_t blocks) {
    std::uint64_t carry = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
        const std::uint64_t taken = lcs_row[b] & matches[b];
        const std::uint64_t sum = lcs_row[b] + taken;
        const std::uint64_t with_carry = sum + carry;
        carry = (sum < taken) | (with_carry < sum);
        lcs_row[b] = with_carry | (lcs_row[b] - taken);
    }
}

class RougeNScorer {
public:
    explicit RougeNScorer(int order) : order_(static_cast<std::size_t>(order)) {}
    void score(std::string_view hypothesis, References references, double* row) {
        vocabulary_.clear();
        trie_.clear();
        grams_of(hypothesis, hypothesis_);
        BestReference best(row);
        for (const auto reference : references) {
            grams_of(reference, reference_);
            best.take(common(), hypothesis_.size(), reference_.size());
        }
    }

private:
    void grams_of(std::string_view text, std::vector<Node>& grams) {
        words_.clear();
        grams.clear();
        append_numbers(text, vocabulary_, words_);
        for (std::size_t i = 0; i + order_ <= words_.size(); ++i) {
            Node node = ROOT_NODE;
            for (std::size_t k = 0; k < order_; ++k)
                node = trie_.add(node, static_cast<Token>(words_[i + k]));
            grams.push_back(node);
        }
    }
    int common() {
        counts_.assign(trie_.size(), 0);
        for (const Node gram : hypothesis_) ++counts_[gram];
        int found = 0;
        for (const Node gram : reference_) found += counts_[gram]-- > 0;
        return found;
    }

    std::size_t order_;
    Vocabulary vocabulary_;
    Trie trie_;
    std::vector<int> words_, counts_;
    std::vector<Node> hypothesis_, reference_;
};

class RougeLScorer {
public:
    void score(std::string_view hypothesis, References references, double* row) {
        vocabulary_.clear();
        to_numbers(hypothesis, hypothesis_);
        BestReference best(row);
        for (const auto reference : references) {
            to_numbers(reference, reference_);
            best.take(longest_common_subsequence(), hypothesis_.size(), reference_.size());
        }
    }

private:
    void to_numbers(std::string_view text, std::vector<int>& numbers) {
        numbers.clear();
        append_numbers(text, vocabulary_, numbers);
    }

    int longest_common_subsequence() {
        places_.index(reference_, vocabulary_.bound());
        lcs_row_.assign(places_.blocks(), ~std::uint64_t{0});
        for (const int word : hypothesis_) next_lcs_row(lcs_row_, places_[word], lcs_row_.size());
        int length = 0;
        for (const std::uint64_t bits : lcs_row_) length += std::popcount(~bits);
        return length;
    }

    Vocabulary vocabulary_;
    std::vector<int> hypothesis_, reference_;
    WordPlaces places_;
    LcsRow lcs_row_;
};

// As rouge-score's rougeLsum, where each line is a sentence. A word of a reference sentence is a hit if
// it is in the longest common subsequence with some sentence of the hypothesis. A word has at most as
// many hits as it has occurrences in either text.
class RougeLsumScorer {
public:
    void score(std::string_view hypothesis, References references, double* row) {
        vocabulary_.clear();
        to_sentences(hypothesis, hypothesis_);
        BestReference best(row);
        for (const auto reference : references) {
            to_sentences(reference, reference_);
            best.take(hits(), hypothesis_.words.size(), reference_.words.size());
        }
    }

private:
    using Words = std::span<const int>;
    struct Sentences {
        std::vector<int> words;
        std::vector<std::size_t> ends;
        std::size_t size() const { return ends.size(); }
        Words operator[](std::size_t i) const {
            const std::size_t begin = i ? ends[i - 1] : 0;
            return Words(words).subspan(begin, ends[i] - begin);
        }
    };

    void to_sentences(std::string_view text, Sentences& sentences) {
        sentences.words.clear();
        sentences.ends.clear();
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            append_numbers(text.substr(begin, end - begin), vocabulary_, sentences.words);
            sentences.ends.push_back(sentences.words.size());
            begin = end + 1;
        }
    }

    int hits() {
        const auto bound = static_cast<std::size_t>(vocabulary_.bound());
        unused_in_hypothesis_.assign(bound, 0);
        unused_in_reference_.assign(bound, 0);
        for (const int word : hypothesis_.words) ++unused_in_hypothesis_[word];
        for (const int word : reference_.words) ++unused_in_reference_[word];
        int found = 0;
        for (std::size_t r = 0; r < reference_.size(); ++r) {
            const Words sentence = reference_[r];
            is_common_.assign(sentence.size(), false);
            for (std::size_t h = 0; h < hypothesis_.size(); ++h)
                mark_common(sentence, hypothesis_[h]);
            for (std::size_t i = 0; i < sentence.size(); ++i) {
                int& in_reference = unused_in_reference_[sentence[i]];
                int& in_hypothesis = unused_in_hypothesis_[sentence[i]];
                if (!is_common_[i] || in_reference == 0 || in_hypothesis == 0) continue;
                ++found;
                --in_reference;
                --in_hypothesis;
            }
        }
        return found;
    }

    // Marks the reference words of a longest common subsequence, of several such the one that
    // rouge-score takes. The walk back through the table takes two words that are equal. Of two
    // different words it passes over that of the hypothesis if the subsequence would be shorter without
    // that of the reference, else over that of the reference.
    void mark_common(Words reference, Words hypothesis) {
        const std::size_t rows = reference.size();
        const std::size_t columns = hypothesis.size();
        if (rows == 0 || columns == 0) return;
        const std::size_t width = columns + 1;
        if (rows * width > MAX_TABLE_CELLS) return mark_common_of_long(reference, hypothesis);
        table_.assign((rows + 1) * width, 0);
        for (std::size_t i = 1; i <= rows; ++i)
            for (std::size_t j = 1; j <= columns; ++j)
                table_[i * width + j] =
                    reference[i - 1] == hypothesis[j - 1]
                        ? table_[(i - 1) * width + j - 1] + 1
                        : std::max(table_[(i - 1) * width + j], table_[i * width + j - 1]);
        for (std::size_t i = rows, j = columns; i > 0 && j > 0;) {
            if (reference[i - 1] == hypothesis[j - 1]) {
                is_common_[--i] = true;
                --j;
            } else if (table_[i * width + j - 1] > table_[(i - 1) * width + j]) {
                --j;
            } else {
                --i;
            }
        }
    }

    // The same walk back for long sentences, with a bit for each cell, and in pieces. A step down from
    // row i - 1 to row i raises the length by `rise`, 0 or 1: if 1, the subsequence would be shorter
    // without the word of the reference.
    void mark_common_of_long(Words reference, Words hypothesis) {
        places_.index(hypothesis, vocabulary_.bound());
        std::size_t j = hypothesis.size();  // the column that the walk has reached
        auto advance = [&](LcsRow& lcs_row, std::size_t i) {
            next_lcs_row(lcs_row, places_[reference[i - 1]], (j + 63) / 64);
        };
        auto walk = [&](LcsRow lcs_row, std::size_t begin, std::size_t end) {
            const std::size_t blocks = (j + 63) / 64;
            lcs_rows_.resize((end - begin + 1) * blocks);
            for (std::size_t i = begin;; advance(lcs_row, ++i)) {
                std::copy_n(lcs_row.begin(), blocks, lcs_rows_.begin() + (i - begin) * blocks);
                if (i == end) break;
            }
            for (std::size_t i = end; i > begin && j > 0;) {
                const std::uint64_t* const above = lcs_rows_.data() + (i - 1 - begin) * blocks;
                const std::uint64_t* const row = above + blocks;
                int rise = length_at(row, j) - length_at(above, j);
                for (; j > 0 && rise == 1 && reference[i - 1] != hypothesis[j - 1]; --j)
                    rise += goes_up_at(above, j) - goes_up_at(row, j);
                --i;
                if (j > 0 && reference[i] == hypothesis[j - 1]) {
                    is_common_[i] = true;
                    --j;
                }
            }
        };
        const std::size_t blocks = (j + 63) / 64;
        visit_backwards(LcsRow(blocks, ~std::uint64_t{0}), 0, reference.size(),
                        MAX_LCS_BLOCKS / blocks, advance, walk);
    }

    static int goes_up_at(const std::uint64_t* lcs_row, std::size_t column) {
        return static_cast<int>(~lcs_row[(column - 1) / 64] >> ((column - 1) % 64) & 1);
    }
    // The length in this column: how often it goes up until there.
    static int length_at(const std::uint64_t* lcs_row, std::size_t column) {
        int length = 0;
        for (std::size_t b = 0; b < column / 64; ++b) length += std::popcount(~lcs_row[b]);
        if (column % 64)
            length += std::popcount(~lcs_row[column / 64] & low_bits<std::uint64_t>(column % 64));
        return length;
    }

    // Of `table_` and of `lcs_rows_`: 16 MiB each.
    static constexpr std::size_t MAX_TABLE_CELLS = std::size_t{1} << 22;
    static constexpr std::size_t MAX_LCS_BLOCKS = std::size_t{1} << 21;

    Vocabulary vocabulary_;
    Sentences hypothesis_, reference_;
    std::vector<int> unused_in_hypothesis_, unused_in_reference_, table_;
    std::vector<bool> is_common_;
    WordPlaces places_;
    LcsRow lcs_rows_;  // rows one after the other
};

Matrix rouge_n_statistics(nb::handle hypotheses, nb::handle references, int order, int threads) {
    if (order < 1) throw std::invalid_argument("the order of n-grams must be at least 1");
    return score_items(Texts(hypotheses), TextLists(references), 4, threads, RougeNScorer(order));
}

Matrix rouge_l_statistics(nb::handle hypotheses, nb::handle references, int threads) {
    return score_items(Texts(hypotheses), TextLists(references), 4, threads, RougeLScorer());
}

Matrix rouge_lsum_statistics(nb::handle hypotheses, nb::handle references, int threads) {
    return score_items(Texts(hypotheses), TextLists(references), 4, threads, RougeLsumScorer());
}

}  // namespace

void add_rouge(nb::module_& m) {
    m.def("rouge_n_statistics", &rouge_n_statistics);
    m.def("rouge_l_statistics", &rouge_l_statistics);
    m.def("rouge_lsum_statistics", &rouge_lsum_statistics);
}

}  // namespace wellput
