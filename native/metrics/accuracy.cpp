// Errors between each hypothesis and each of its references: in the string, and in the treelets.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/parallel.h"
#include "core/texts.h"
#include "kernels.h"
#include "metrics/alignment.h"
#include "metrics/treelets.h"
#include "text/token_symbols.h"
#include "text/tokenize.h"
#include "text/vocabulary.h"

namespace wellput {

namespace {

using CostTuple = std::tuple<int, int, int>;  // insertion, deletion, substitution

Costs costs_of(const CostTuple& costs) {
    constexpr int dearest = 1000;
    for (const int cost : {std::get<0>(costs), std::get<1>(costs), std::get<2>(costs)})
        require(cost >= 1 && cost <= dearest, "costs must be between 1 and 1000");
    return Costs{std::get<0>(costs), std::get<1>(costs), std::get<2>(costs)};
}

void require_heads(std::span<const int> heads) {
    for (const int head : heads)
        require(head >= -1 && head < static_cast<int>(heads.size()), "a head is out of range");
}

// Replaces `numbers` by one number for each of the tokens, equal for equal tokens.
void number(const std::vector<std::string_view>& tokens, TokenSymbols& symbols,
            std::vector<int>& numbers) {
    numbers.resize(tokens.size());
    symbols.add(tokens, reinterpret_cast<std::uint32_t*>(numbers.data()));
}

// Numbers are below this.
int bound(const TokenSymbols& symbols) { return static_cast<int>(symbols.size()) + 1; }

void write(double* row, std::size_t hypothesis, std::size_t reference, const Errors& errors) {
    row[0] = static_cast<double>(hypothesis);
    row[1] = static_cast<double>(reference);
    row[2] = errors.substitutions;
    row[3] = errors.insertions;
    row[4] = errors.deletions;
    row[5] = errors.moves;
}

// Columns: hypothesis length, reference length, substitutions, insertions, deletions, moves; a row
// for every reference, item by item.
Matrix string_errors(nb::handle hypotheses, nb::handle references, const std::string& tokenizer,
                     const CostTuple& costs, int threads) {
    const Texts texts(hypotheses);
    const TextLists lists(references);
    if (texts.size() != lists.size())
        throw std::invalid_argument("hypotheses and references differ in length");
    const Tokenizer kind = tokenizer_named(tokenizer);
    double* data = nullptr;
    Matrix result = new_matrix(lists.total(), 6, &data);
    nb::gil_scoped_release release;
    Aligner aligner(costs_of(costs));
    std::deque<std::string> buffers(1);  // one per text: the symbols' tokens lie in them
    std::vector<std::string_view> tokens;
    std::vector<int> hypothesis, reference;
    TokenSymbols symbols;
    auto work = [=, &texts, &lists](std::size_t begin, std::size_t end) mutable {
        for (std::size_t i = begin; i < end; ++i) {
            symbols.clear();
            tokenize(kind, texts[i], buffers[0], tokens);
            number(tokens, symbols, hypothesis);
            if (buffers.size() <= lists.count(i)) buffers.resize(lists.count(i) + 1);
            for (std::size_t j = 0; j < lists.count(i); ++j) {
                tokenize(kind, lists.at(i, j), buffers[j + 1], tokens);
                number(tokens, symbols, reference);
                const Errors errors = aligner.align(reference, hypothesis, bound(symbols));
                write(data + 6 * (lists.first(i) + j), hypothesis.size(), reference.size(), errors);
            }
        }
    };
    parallel_for(texts.size(), threads, work);
    return result;
}

// The same for treelets, one row an item; the seventh column is the string's substitutions.
// `references` are token lists, `heads` their heads by position (-1 for a root's), end to end.
Matrix treelet_errors(nb::handle hypotheses, nb::handle references, Array<int> heads,
                      const std::string& tokenizer, const CostTuple& costs, int threads) {
    const Texts texts(hypotheses);
    const TextLists lists(references);
    if (texts.size() != lists.size() || heads.shape(0) != lists.total())
        throw std::invalid_argument("hypotheses, references and heads do not fit together");
    for (std::size_t i = 0; i < lists.size(); ++i)
        require_heads({heads.data() + lists.first(i), lists.count(i)});
    const Tokenizer kind = tokenizer_named(tokenizer);
    double* data = nullptr;
    Matrix result = new_matrix(texts.size(), 7, &data);
    const int* const all_heads = heads.data();
    nb::gil_scoped_release release;
    TreeletAligner aligner(costs_of(costs));
    std::string buffer;
    std::vector<std::string_view> tokens;
    std::vector<int> hypothesis, reference;
    Vocabulary vocabulary;
    auto work = [=, &texts, &lists](std::size_t begin, std::size_t end) mutable {
        for (std::size_t i = begin; i < end; ++i) {
            vocabulary.clear();
            tokenize(kind, texts[i], buffer, tokens);
            hypothesis.clear();
            for (const auto& token : tokens) hypothesis.push_back(vocabulary.add(token));
            reference.clear();
            for (std::size_t j = 0; j < lists.count(i); ++j)
                reference.push_back(vocabulary.add(lists.at(i, j)));
            const std::span<const int> tree(all_heads + lists.first(i), reference.size());
            const Errors errors = aligner.align(reference, tree, hypothesis, vocabulary.size());
            double* const row = data + 7 * i;
            write(row, hypothesis.size(), reference.size(), errors);
            row[6] = aligner.string_errors().substitutions;
        }
    };
    parallel_for(texts.size(), threads, work);
    return result;
}

// One alignment for showing: pairs of positions from left to right, -1 where one side has nothing.
nb::list alignment_path(nb::handle reference, nb::handle hypothesis, const CostTuple& costs) {
    const Texts left(reference), right(hypothesis);
    Vocabulary vocabulary;
    std::vector<int> expected, found;
    for (std::size_t i = 0; i < left.size(); ++i) expected.push_back(vocabulary.add(left[i]));
    for (std::size_t j = 0; j < right.size(); ++j) found.push_back(vocabulary.add(right[j]));
    Aligner aligner(costs_of(costs));
    aligner.align(expected, found, vocabulary.size());
    nb::list pairs;
    const auto path = aligner.path();
    for (auto step = path.rbegin(); step != path.rend(); ++step)
        pairs.append(nb::make_tuple(step->reference, step->hypothesis));
    return pairs;
}

// The treelets of one tree for showing: where each node's token is in the hypothesis (-1: nowhere),
// and (head, substitutions, insertions, deletions, moves) for every treelet.
nb::tuple treelet_details(nb::handle reference, Array<int> heads, nb::handle hypothesis,
                          const CostTuple& costs) {
    const Texts left(reference), right(hypothesis);
    if (heads.shape(0) != left.size())
        throw std::invalid_argument("reference and heads differ in length");
    require_heads({heads.data(), left.size()});
    Vocabulary vocabulary;
    std::vector<int> expected, found;
    for (std::size_t i = 0; i < left.size(); ++i) expected.push_back(vocabulary.add(left[i]));
    for (std::size_t j = 0; j < right.size(); ++j) found.push_back(vocabulary.add(right[j]));
    const std::span<const int> tree(heads.data(), left.size());
    TreeletAligner aligner(costs_of(costs));
    aligner.align(expected, tree, found, vocabulary.size());
    nb::list tokens, treelets;
    for (const int token : aligner.token_of()) tokens.append(token);
    for (int i = 0; i < static_cast<int>(left.size()); ++i) {
        if (!aligner.has_treelet(i, tree)) continue;
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
