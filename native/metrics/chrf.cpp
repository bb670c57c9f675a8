// chrF's statistics, by order: the numbers of n-grams of the hypothesis, of the best reference, and of
// their matches.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/checks.h"
#include "kernels.h"
#include "metrics/ngram_matches.h"
#include "metrics/scoring.h"
#include "text/tokenize.h"
#include "text/vocabulary.h"

namespace wellput {

namespace {

struct Options {
    int char_order;
    int word_order;
    double beta_squared;
    bool whitespace;
    bool eps_smoothing;

    int orders() const { return char_order + word_order; }
};

// The F score of one row, with the operations in the same order as in sacreBLEU, because the last digit
// may decide which of two almost equal references is better.
double f_score(const double* row, const Options& options) {
    constexpr double EPSILON = 1e-16;
    const double factor = options.beta_squared;
    double sum = 0, precision_sum = 0, recall_sum = 0;
    int effective = 0;
    for (int n = 0; n < options.orders(); ++n) {
        const double in_hypothesis = row[3 * n], in_reference = row[3 * n + 1];
        const double matches = row[3 * n + 2];
        const double precision = in_hypothesis > 0 ? matches / in_hypothesis : EPSILON;
        const double recall = in_reference > 0 ? matches / in_reference : EPSILON;
        const double denominator = factor * precision + recall;
        sum += denominator > 0 ? (1 + factor) * precision * recall / denominator : EPSILON;
        if (in_hypothesis > 0 && in_reference > 0) {
            precision_sum += precision;
            recall_sum += recall;
            ++effective;
        }
    }
    if (options.eps_smoothing) return 100 * sum / options.orders();
    if (effective == 0 || precision_sum + recall_sum == 0) return 0;
    const double precision = precision_sum / effective;
    const double recall = recall_sum / effective;
    return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

bool is_ascii_punctuation(char c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}

// Splits a text at whitespace, and splits one punctuation character off each word: the last character,
// or else the first.
void split_words(std::string_view text, std::vector<std::string_view>& scratch,
                 std::vector<std::string_view>& words) {
    std::string unused;
    tokenize(Tokenizer::NONE, text, unused, scratch);
    words.clear();
    for (const std::string_view word : scratch) {
        const std::size_t rest = word.size() - 1;
        if (rest > 0 && is_ascii_punctuation(word.back())) {
            words.push_back(word.substr(0, rest));
            words.push_back(word.substr(rest));
        } else if (rest > 0 && is_ascii_punctuation(word.front())) {
            words.push_back(word.substr(0, 1));
            words.push_back(word.substr(1));
        } else {
            words.push_back(word);
        }
    }
}

// Code points below this have at most two bytes in UTF-8: Latin, Greek, Cyrillic, Hebrew, Arabic, ...
constexpr std::size_t DIRECT_CHARACTERS = 0x800;

// Numbers the characters of one pair of texts at a time: 1, 2, 3, ...
class CharacterSymbols {
public:
    explicit CharacterSymbols(bool with_whitespace) : with_whitespace_(with_whitespace) {}

    void clear() {
        count_ = 0;
        if (++stamp_ == 0) {  // after 2^32 pairs the stamps start over
            std::fill(direct_.begin(), direct_.end(), Slot{});
            std::fill(hashed_.begin(), hashed_.end(), Slot{});
            stamp_ = 1;
        }
    }
    // Every symbol is below this.
    int bound() const { return static_cast<int>(count_) + 1; }
    // Writes the symbols of a text's characters, new ones for new characters, and returns the end of
    // what it wrote. There must be room for as many symbols as the text has bytes.
    std::uint32_t* add(std::string_view text, std::uint32_t* symbols) {
        reserve(count_ + text.size());
        return walk<true>(text, symbols);
    }
    // The same, with 0 for a character that was not added.
    std::uint32_t* find(std::string_view text, std::uint32_t* symbols) {
        reserve(count_);
        return walk<false>(text, symbols);
    }

private:
    struct Slot {
        std::uint32_t stamp = 0;  // a slot with another stamp than stamp_ is empty
        std::uint32_t symbol = 0;
    };

    // The slot of a character beyond the direct ones, or the empty slot that it may take.
    Slot& slot_of(char32_t character) {
        const std::size_t mask = hashed_.size() - 1;
        std::size_t at = (character * 0x9e3779b1u >> 7) & mask;
        while (hashed_[at].stamp == stamp_ && characters_[at] != character) at = (at + 1) & mask;
        characters_[at] = character;
        return hashed_[at];
    }

    template <bool adding>
    std::uint32_t* walk(std::string_view text, std::uint32_t* symbols) {
        Slot* const direct = direct_.data();
        const std::uint32_t stamp = stamp_;
        const bool with_whitespace = with_whitespace_;
        std::uint32_t count = count_;
        const char* p = text.data();
        const char* const end = p + text.size();
        while (p < end) {
            const auto byte = static_cast<unsigned char>(*p);
            Slot* slot = direct + byte;
            bool is_space;
            if (byte < 0x80) {
                is_space = is_ascii_whitespace(byte);
                ++p;
            } else {
                const char32_t character = code_point_at(p);
                slot = character < DIRECT_CHARACTERS ? direct + character : &slot_of(character);
                is_space = whitespace_at(p, end) != 0;
                p += character_size(*p);
            }
            const bool is_new = slot->stamp != stamp;
            // All bits are set if the character is known, so that no branch is needed.
            const std::uint32_t known_mask = 0u - std::uint32_t{!is_new};
            const bool is_kept = with_whitespace | !is_space;
            if constexpr (adding) {
                count += is_new & is_kept;
                *symbols = (slot->symbol & known_mask) | (count & ~known_mask);
                *slot = {stamp, *symbols};
            } else {
                *symbols = slot->symbol & known_mask;
            }
            symbols += is_kept;
        }
        count_ = count;
        return symbols;
    }

    // Makes room for `count` characters. To be called before a text is read, so that no slot moves
    // meanwhile.
    void reserve(std::size_t count) {
        if (direct_.empty()) direct_.resize(DIRECT_CHARACTERS);
        std::size_t size = std::max<std::size_t>(hashed_.size(), 512);
        while (size < 2 * count) size *= 2;
        if (size == hashed_.size()) return;
        std::vector<Slot> old(size);
        std::vector<char32_t> old_characters(size);
        old.swap(hashed_);
        old_characters.swap(characters_);
        for (std::size_t at = 0; at < old.size(); ++at)
            if (old[at].stamp == stamp_) slot_of(old_characters[at]) = old[at];
    }

    bool with_whitespace_;
    // Code points below `DIRECT_CHARACTERS` have fixed places, the others are found by hash.
    std::vector<Slot> direct_;
    std::vector<Slot> hashed_;
    std::vector<char32_t> characters_;  // of the hashed slots
    std::uint32_t count_ = 0;
    std::uint32_t stamp_ = 1;
};

class ChrfScorer {
public:
    explicit ChrfScorer(const Options& options)
        : options_(options), characters_(options.whitespace),
          row_(3 * static_cast<std::size_t>(options.orders())),
          matched_(static_cast<std::size_t>(options.orders())) {}

    // row: the statistics for the reference with the highest F score; of equally good ones, the first.
    void score(std::string_view hypothesis, References references, double* row) {
        if (options_.word_order > 0) split_words(hypothesis, scratch_, words_);
        double best_score = -1;
        for (const std::string_view reference : references) {
            if (options_.char_order > 0) count_characters(hypothesis, reference);
            if (options_.word_order > 0) count_words(reference);
            const bool is_only = references.size() == 1;
            const double score = is_only ? 0 : f_score(row_.data(), options_);
            if (score > best_score) {
                best_score = score;
                std::copy(row_.begin(), row_.end(), row);
            }
        }
    }

private:
    void count_characters(std::string_view hypothesis, std::string_view reference) {
        matches_.clear();
        characters_.clear();
        std::uint32_t* start = matches_.add_reference(reference.size());
        const std::uint32_t* end = characters_.add(reference, start);
        const auto reference_length = static_cast<std::size_t>(end - start);
        matches_.end_reference(end);
        start = matches_.add_hypothesis(hypothesis.size());
        end = characters_.find(hypothesis, start);
        const auto length = static_cast<std::size_t>(end - start);
        matches_.end_hypothesis(end);
        matches_.count(characters_.bound(), options_.char_order, matched_.data());
        fill(length, reference_length, options_.char_order, row_.data());
    }
    void count_words(std::string_view reference) {
        split_words(reference, scratch_, reference_words_);
        matches_.clear();
        vocabulary_.clear();
        const std::size_t size = reference_words_.size();
        matches_.end_reference(vocabulary_.add(reference_words_, matches_.add_reference(size)));
        matches_.end_hypothesis(vocabulary_.find(words_, matches_.add_hypothesis(words_.size())));
        matches_.count(vocabulary_.bound(), options_.word_order, matched_.data());
        fill(words_.size(), size, options_.word_order, row_.data() + 3 * options_.char_order);
    }
    // If the reference has no n-grams of an order, those of the hypothesis do not count either.
    void fill(std::size_t length, std::size_t reference_length, int orders, double* row) const {
        const auto ngrams = [](std::size_t size, std::size_t n) {
            return static_cast<double>(size >= n ? size - n + 1 : 0);
        };
        for (int n = 0; n < orders; ++n) {
            const auto order = static_cast<std::size_t>(n) + 1;
            const double in_reference = ngrams(reference_length, order);
            row[3 * n] = in_reference > 0 ? ngrams(length, order) : 0;
            row[3 * n + 1] = in_reference;
            row[3 * n + 2] = matched_[static_cast<std::size_t>(n)];
        }
    }

    Options options_;
    NgramMatches matches_;
    CharacterSymbols characters_;
    Vocabulary vocabulary_;
    std::vector<std::string_view> scratch_, words_, reference_words_;
    std::vector<double> row_;      // the statistics with one reference
    std::vector<double> matched_;  // by order
};

Matrix chrf_statistics(nb::handle hypotheses, nb::handle reference_lists, int char_order,
                       int word_order, double beta_squared, bool whitespace, bool eps_smoothing,
                       int threads) {
    constexpr int MAX_ORDER = 1000;
    require(char_order >= 0 && word_order >= 0 && char_order <= MAX_ORDER &&
                word_order <= MAX_ORDER && char_order + word_order > 0,
            "the orders of chrF must be from 0 to 1000, and one of them 1 or more");
    const Options options{char_order, word_order, beta_squared, whitespace, eps_smoothing};
    const TextLists references(reference_lists);
    require_references(references);
    return score_items(Texts(hypotheses), references,
                       3 * static_cast<std::size_t>(options.orders()), threads,
                       ChrfScorer(options));
}

}  // namespace

void add_chrf(nb::module_& m) {
    m.def("chrf_statistics", &chrf_statistics, nb::arg("hypotheses"), nb::arg("references"),
          nb::arg("char_order"), nb::arg("word_order"), nb::arg("beta_squared"),
          nb::arg("whitespace"), nb::arg("eps_smoothing"), nb::arg("threads"));
}

}  // namespace wellput
