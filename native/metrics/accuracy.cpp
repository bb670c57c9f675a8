// Errors between each hypothesis and each of its references: in the string, and in the treelets (the
// nodes of the reference's dependency tree with their daughters).
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/texts.h"
#include "kernels.h"
#include "metrics/alignment.h"
#include "metrics/scoring.h"
#include "metrics/treelets.h"
#include "text/tokenize.h"
#include "text/vocabulary.h"

namespace wellput {

namespace {

constexpr std::size_t STRING_ERROR_COLUMNS = 6;   // of `string_errors`
constexpr std::size_t TREELET_ERROR_COLUMNS = 7;  // of `treelet_errors`

using CostTuple = std::tuple<int, int, int>;  // insertion, deletion, substitution

Costs costs_of(const CostTuple& costs) {
    constexpr int MAX_COST = 1000;
    for (const int cost : {std::get<0>(costs), std::get<1>(costs), std::get<2>(costs)})
        require(cost >= 1 && cost <= MAX_COST, "costs must be between 1 and 1000");
    return Costs{std::get<0>(costs), std::get<1>(costs), std::get<2>(costs)};
}

void require_heads(std::span<const int> heads) {
    for (const int head : heads)
        require(head >= -1 && head < static_cast<int>(heads.size()), "a head is out of range");
}

void write(double* row, std::size_t hypothesis_length, std::size_t reference_length,
           const Errors& errors) {
    row[0] = static_cast<double>(hypothesis_length);
    row[1] = static_cast<double>(reference_length);
    row[2] = errors.substitutions;
    row[3] = errors.insertions;
    row[4] = errors.deletions;
    row[5] = errors.moves;
}

// Aligns strings, with the scratch space of one worker thread.
class StringAligner {
public:
    StringAligner(Tokenizer tokenizer, Costs costs) : tokenizer_(tokenizer), aligner_(costs) {}

    // Fills a row of `STRING_ERROR_COLUMNS` for every reference.
    void align(std::string_view hypothesis, References references, double* rows) {
        vocabulary_.clear();
        number(hypothesis, 0, hypothesis_);
        for (std::size_t j = 0; j < references.size(); ++j, rows += STRING_ERROR_COLUMNS) {
            number(references[j], j + 1, reference_);
            const Errors errors = aligner_.align(reference_, hypothesis_, vocabulary_.bound());
            write(rows, hypothesis_.size(), reference_.size(), errors);
        }
    }

private:
    // Fills `numbers` with one number for each token, equal for equal tokens.
    void number(std::string_view text, std::size_t buffer, std::vector<int>& numbers) {
        if (buffers_.size() <= buffer) buffers_.resize(buffer + 1);
        tokenize(tokenizer_, text, buffers_[buffer], tokens_);
        vocabulary_.add(tokens_, numbers);
    }

    Tokenizer tokenizer_;
    Aligner aligner_;
    Vocabulary vocabulary_;
    std::deque<std::string> buffers_;  // one for each text: the vocabulary's tokens lie in them
    std::vector<std::string_view> tokens_;
    std::vector<int> hypothesis_, reference_;
};

// A row for every reference, item by item. Columns: the length of the hypothesis, that of the
// reference, substitutions, insertions, deletions, moves.
Matrix string_errors(nb::handle hypotheses, nb::handle references, const std::string& tokenizer,
                     const CostTuple& costs, int threads) {
    const Texts texts(hypotheses);
    const TextLists lists(references);
    require_same_items(texts, lists);
    const StringAligner aligner(tokenizer_named(tokenizer), costs_of(costs));
    double* rows = nullptr;
    Matrix result = new_matrix(lists.total(), STRING_ERROR_COLUMNS, &rows);
    nb::gil_scoped_release release;
    for_items_that_fit(texts.size(), threads, aligner, [&](StringAligner& own, std::size_t i) {
        own.align(texts[i], lists[i], rows + STRING_ERROR_COLUMNS * lists.first(i));
    });
    return result;
}

// Aligns hypotheses with trees, with the scratch space of one worker thread.
class TreeAligner {
public:
    TreeAligner(Tokenizer tokenizer, Costs costs) : tokenizer_(tokenizer), aligner_(costs) {}

    // Fills a row of `TREELET_ERROR_COLUMNS`.
    void align(std::string_view hypothesis, References reference, std::span<const int> heads,
               double* row) {
        vocabulary_.clear();
        tokenize(tokenizer_, hypothesis, buffer_, tokens_);
        vocabulary_.add(tokens_, hypothesis_);
        reference_.clear();
        for (const auto& token : reference) reference_.push_back(vocabulary_.add(token));
        const Errors errors = aligner_.align(reference_, heads, hypothesis_, vocabulary_.bound());
        write(row, hypothesis_.size(), reference_.size(), errors);
        row[6] = aligner_.string_errors().substitutions;
    }

private:
    Tokenizer tokenizer_;
    TreeletAligner aligner_;
    Vocabulary vocabulary_;
    std::string buffer_;
    std::vector<std::string_view> tokens_;
    std::vector<int> hypothesis_, reference_;
};

// Errors in treelets, a row for each item. The first six columns are as in `string_errors`; the seventh
// has the substitutions of the string alignment. `references` are lists of tokens. `heads` has the
// position of each token's head in its reference (-1 for a root), for all references one after the
// other.
Matrix treelet_errors(nb::handle hypotheses, nb::handle references, Array<int> heads,
                      const std::string& tokenizer, const CostTuple& costs, int threads) {
    const Texts texts(hypotheses);
    const TextLists lists(references);
    require_same_items(texts, lists);
    require(heads.shape(0) == lists.total(), "a head is needed for each token of the references");
    const std::span<const int> all_heads = values_of(heads);
    const auto heads_of = [&](std::size_t i) {
        return all_heads.subspan(lists.first(i), lists.count(i));
    };
    for (std::size_t i = 0; i < lists.size(); ++i) require_heads(heads_of(i));
    const TreeAligner aligner(tokenizer_named(tokenizer), costs_of(costs));
    double* rows = nullptr;
    Matrix result = new_matrix(texts.size(), TREELET_ERROR_COLUMNS, &rows);
    nb::gil_scoped_release release;
    for_items_that_fit(texts.size(), threads, aligner, [&](TreeAligner& own, std::size_t i) {
        own.align(texts[i], lists[i], heads_of(i), rows + TREELET_ERROR_COLUMNS * i);
    });
    return result;
}

// One number for each token, equal for equal tokens.
std::vector<int> numbers_of(const Texts& tokens, Vocabulary& vocabulary) {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < tokens.size(); ++i) numbers.push_back(vocabulary.add(tokens[i]));
    return numbers;
}

// One alignment, for display: pairs of positions (reference, hypothesis) from left to right, -1 where
// one of the two has no token.
nb::list alignment_path(nb::handle reference, nb::handle hypothesis, const CostTuple& costs) {
    const Texts reference_tokens(reference), hypothesis_tokens(hypothesis);
    Vocabulary vocabulary;
    const std::vector<int> reference_numbers = numbers_of(reference_tokens, vocabulary);
    const std::vector<int> hypothesis_numbers = numbers_of(hypothesis_tokens, vocabulary);
    Aligner aligner(costs_of(costs));
    aligner.align(reference_numbers, hypothesis_numbers, vocabulary.bound());
    nb::list pairs;
    const auto path = aligner.path();
    for (auto step = path.rbegin(); step != path.rend(); ++step)
        pairs.append(nb::make_tuple(step->reference, step->hypothesis));
    return pairs;
}

// The treelets of one tree, for display: the place of each node's token in the hypothesis (-1 if it has
// none), and (head, substitutions, insertions, deletions, moves) for every treelet.
nb::tuple treelet_details(nb::handle reference, Array<int> heads, nb::handle hypothesis,
                          const CostTuple& costs) {
    const Texts reference_tokens(reference), hypothesis_tokens(hypothesis);
    if (heads.shape(0) != reference_tokens.size())
        throw std::invalid_argument("reference and heads differ in length");
    require_heads(values_of(heads));
    Vocabulary vocabulary;
    const std::vector<int> reference_numbers = numbers_of(reference_tokens, vocabulary);
    const std::vector<int> hypothesis_numbers = numbers_of(hypothesis_tokens, vocabulary);
    TreeletAligner aligner(costs_of(costs));
    aligner.align(reference_numbers, values_of(heads), hypothesis_numbers, vocabulary.bound());
    nb::list tokens, treelets;
    for (const int token : aligner.token_of()) tokens.append(token);
    for (int i = 0; i < static_cast<int>(reference_tokens.size()); ++i) {
        if (!aligner.has_treelet(i, values_of(heads))) continue;
        const Errors errors = aligner.treelet(i);
        treelets.append(nb::make_tuple(i, errors.substitutions, errors.insertions, errors.deletions,
                                       errors.moves));
    }
    return nb::make_tuple(tokens, treelets);
}

}  // namespace

void add_accuracy(nb::module_& m) {
    m.def("string_errors", &string_errors);
    m.def("treelet_errors", &treelet_errors);
    m.def("alignment_path", &alignment_path);
    m.def("treelet_details", &treelet_details);
}

}  // namespace wellput
