// ROUGE-L: the longest common subsequence of words, against each of their lengths.
#include <bit>
#include <string_view>
#include <vector>

#include "kernels.h"
#include "metrics/scoring.h"
#include "metrics/word_places.h"
#include "text/vocabulary.h"

namespace wellput {

namespace {

bool is_word_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

class RougeScorer {
public:
    // row: F, precision and recall for the reference with the highest F (the first of several), and
    // 1 to count the item; all 0 if there is no reference.
    void score(std::string_view hypothesis, References references, double* row) {
        vocabulary_.clear();
        to_numbers(hypothesis, hypothesis_);
        for (std::size_t k = 0; k < references.size(); ++k) {
            row[3] = 1;
            to_numbers(references[k], reference_);
            const int common = longest_common_subsequence();
            if (common == 0) continue;
            const double precision = common / static_cast<double>(hypothesis_.size());
            const double recall = common / static_cast<double>(reference_.size());
            const double f = 2 * precision * recall / (precision + recall);
            if (f <= row[0]) continue;
            row[0] = f;
            row[1] = precision;
            row[2] = recall;
        }
    }

private:
    // rouge-score's words are runs of ASCII letters and digits; all other characters separate them.
    void to_numbers(std::string_view text, std::vector<int>& numbers) {
        numbers.clear();
        const std::size_t size = text.size();
        for (std::size_t p = 0; p < size;) {
            const std::size_t begin = p;
            while (p < size && is_word_character(text[p])) ++p;
            if (p > begin)
                numbers.push_back(vocabulary_.add(text.substr(begin, p - begin)));
            else
                ++p;
        }
    }

    // Hyyrö 2004: a zero bit for every column of the reference where the length goes up by one.
    int longest_common_subsequence() {
        places_.index(reference_, vocabulary_.bound());
        const std::size_t blocks = places_.blocks();
        level_.assign(blocks, ~std::uint64_t{0});
        for (const int word : hypothesis_) {
            const std::uint64_t* matches = places_[word];
            std::uint64_t carry = 0;
            for (std::size_t b = 0; b < blocks; ++b) {
                const std::uint64_t taken = level_[b] & matches[b];
                const std::uint64_t sum = level_[b] + taken;
                const std::uint64_t with_carry = sum + carry;
                carry = (sum < taken) | (with_carry < sum);
                level_[b] = with_carry | (level_[b] - taken);
            }
        }
        int length = 0;
        for (const std::uint64_t bits : level_) length += std::popcount(~bits);
        return length;
    }

    Vocabulary vocabulary_;
    std::vector<int> hypothesis_, reference_;
    WordPlaces places_;
    std::vector<std::uint64_t> level_;
};

Matrix rouge_l_statistics(nb::handle hypotheses, nb::handle references, int threads) {
    return score_items(Texts(hypotheses), TextLists(references), 4, threads, RougeScorer());
}

}  // namespace

void add_rouge(nb::module_& m) { m.def("rouge_l_statistics", &rouge_l_statistics); }

}  // namespace wellput
