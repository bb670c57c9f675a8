// Translation edit rate: the fewest shifts and edits from a hypothesis to one of its references.
#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "kernels.h"
#include "metrics/beam_distance.h"
#include "metrics/scoring.h"
#include "metrics/shift_search.h"
#include "text/split.h"
#include "text/vocabulary.h"

namespace wellput {

namespace {

class TerScorer {
public:
    // row: the edits to the reference that needs the fewest, and the mean length of the references.
    void score(std::string_view hypothesis, References references, double* row) {
        vocabulary_.clear();
        to_numbers(hypothesis, hypothesis_);
        const std::size_t count = references.size();
        int fewest = std::numeric_limits<int>::max();
        double length = 0;
        for (std::size_t k = 0; k < count; ++k) {
            to_numbers(references[k], reference_);
            length += static_cast<double>(reference_.size());
            fewest = std::min(fewest, edits(fewest));
        }
        row[0] = count ? fewest : 0;
        row[1] = count ? length / static_cast<double>(count) : 0;
    }

private:
    void to_numbers(std::string_view text, std::vector<int>& numbers) {
        numbers.clear();
        split_at_gaps(
            text, [](char, int) { return true; },
            [&, end = text.data() + text.size()](std::string_view word) {
                numbers.push_back(vocabulary_.add(word, end));
            });
    }

    // A lower bound of the number of edits, whatever the order of the hypothesis words: the greater
    // length minus the number of common words.
    int fewest_in_any_order() {
        unmatched_.assign(static_cast<std::size_t>(vocabulary_.bound()), 0);
        for (const int word : reference_) ++unmatched_[word];
        int common = 0;
        for (const int word : hypothesis_) common += unmatched_[word]-- > 0;
        return static_cast<int>(std::max(hypothesis_.size(), reference_.size())) - common;
    }

    // The shifts and edits to the current reference; or a lower bound of them, if it is not below
    // `to_beat`.
    int edits(int to_beat) {
        const int n = static_cast<int>(hypothesis_.size());
        const int m = static_cast<int>(reference_.size());
        if (n == 0 || m == 0) return n + m;
        const int floor = fewest_in_any_order();
        if (floor >= to_beat) return floor;
        if (m <= bits64_.MAX_COLUMNS) return edits_with(bits64_, floor);
        if (m <= bits128_.MAX_COLUMNS) return edits_with(bits128_, floor);
        return edits_in_beam(floor);
    }

    template <typename Bits>
    int edits_with(BitDistance<Bits>& distance, int floor) {
        distance.start(hypothesis_, reference_, vocabulary_.bound());
        if (!beam_is_wide_enough(distance.current(), static_cast<int>(hypothesis_.size()),
                                 static_cast<int>(reference_.size())))
            return edits_in_beam(floor);
        return search_.edits(distance, reference_, vocabulary_.bound(), floor);
    }

    int edits_in_beam(int floor) {
        beam_.start(hypothesis_, reference_);
        return search_.edits(beam_, reference_, vocabulary_.bound(), floor);
    }

    Vocabulary vocabulary_;
    std::vector<int> hypothesis_, reference_, unmatched_;
    BitDistance<std::uint64_t> bits64_;
    BitDistance<unsigned __int128> bits128_;
    BeamDistance beam_;
    ShiftSearch search_;
};

Matrix ter_statistics(nb::handle hypotheses, nb::handle references, int threads) {
    return score_items(Texts(hypotheses), TextLists(references), 2, threads, TerScorer());
}

}  // namespace

void add_ter(nb::module_& m) { m.def("ter_statistics", &ter_statistics); }

}  // namespace wellput
