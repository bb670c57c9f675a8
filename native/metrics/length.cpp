// Lengths in tokens, of hypotheses and their references.
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kernels.h"
#include "metrics/scoring.h"
#include "text/tokenize.h"

namespace wellput {
namespace {

class LengthScorer {
public:
    explicit LengthScorer(Tokenizer tokenizer) : tokenizer_(tokenizer) {}

    // row: the length of the hypothesis, and that of the reference closest in length (of two equally
    // close ones, the shorter; 0 without a reference).
    void score(std::string_view hypothesis, References references, double* row) {
        const std::int64_t length = length_of(hypothesis);
        std::int64_t closest = 0;
        bool is_first = true;
        for (const std::string_view reference : references) {
            const std::int64_t other = length_of(reference);
            const std::int64_t nearer_by = std::abs(closest - length) - std::abs(other - length);
            if (is_first || nearer_by > 0 || (nearer_by == 0 && other < closest)) closest = other;
            is_first = false;
        }
        row[0] = static_cast<double>(length);
        row[1] = static_cast<double>(closest);
    }

private:
    std::int64_t length_of(std::string_view text) {
        tokenize(tokenizer_, text, buffer_, tokens_);
        return static_cast<std::int64_t>(tokens_.size());
    }

    Tokenizer tokenizer_;
    std::string buffer_;
    std::vector<std::string_view> tokens_;
};

Matrix token_counts(nb::handle hypotheses, nb::handle references, std::string_view tokenizer,
                    int threads) {
    return score_items(Texts(hypotheses), TextLists(references), 2, threads,
                       LengthScorer(tokenizer_named(tokenizer)));
}

}  // namespace

void add_length(nb::module_& m) {
    m.def("token_counts", &token_counts, nb::arg("hypotheses"), nb::arg("references"),
          nb::arg("tokenizer"), nb::arg("threads"));
}

}  // namespace wellput
