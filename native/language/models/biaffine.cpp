// The biaffine parser: heads, relations and tags of words, by a network with whole-number weights.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/parallel.h"
#include "kernels.h"
#include "language/models/biaffine_network.h"
#include "language/models/projective_tree.h"

namespace nb = nanobind;

namespace wellput {
namespace {

// Sentences that go through the network together.
constexpr std::size_t GROUP_SENTENCES = 32;
constexpr std::size_t GROUP_WORDS = 640;
constexpr std::size_t WORD_COLUMNS = 4;  // of the result: head, relation, tag, category

// Tables in the order in which Python gives them: three of the small language model, then `VECTORS`
// and `MATRICES` of biaffine_parser.py.
constexpr std::size_t NETWORK_TABLES = 20;
constexpr std::size_t FIRST_SIDE_TABLE = 7, SIDE_TABLES_END = 15;

std::vector<Step> rounded(const Array<float>& values) {
    std::vector<Step> steps(values.shape(0));
    round_to_steps(values.data(), steps.size(), steps.data());
    return steps;
}

void require_finite(std::span<const float> values) {
    for (const float value : values) require(std::isfinite(value), "a number is not finite");
}

std::size_t argmax(std::span<const float> values) {
    return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) -
                                    values.begin());
}

class BiaffineModel {
public:
    BiaffineModel(const std::vector<Array<std::int8_t, 2>>& steps,
                  const std::vector<Array<float>>& scales, const std::vector<Array<float>>& biases,
                  const Array<float>& arc_root, const Array<float>& label_root,
                  std::size_t root_label) {
        require(steps.size() == NETWORK_TABLES && scales.size() == NETWORK_TABLES &&
                    biases.size() == NETWORK_TABLES,
                "a network of another kind");
        const auto vectors = [&](std::size_t i) {
            require_finite(values_of(scales[i]));
            return WholeVectors(steps[i].data(), steps[i].shape(0), steps[i].shape(1),
                                values_of(scales[i]));
        };
        const auto matrix = [&](std::size_t i) {
            require_finite(values_of(scales[i]));
            require_finite(values_of(biases[i]));
            return WholeMatrix(steps[i].data(), steps[i].shape(0), steps[i].shape(1),
                               values_of(scales[i]), values_of(biases[i]));
        };
        BiaffineWeights& w = weights_;
        w.pieces = vectors(0);
        w.piece_gates = matrix(1);
        w.piece_states = matrix(2);
        w.words = vectors(3);
        w.affixes = vectors(4);
        w.tags = vectors(5);
        w.read = matrix(6);
        for (std::size_t i = FIRST_SIDE_TABLE; i < SIDE_TABLES_END; i += 2) {
            const std::size_t side = (i - FIRST_SIDE_TABLE) / 2;
            w.layers[side / 2][side % 2] = {matrix(i), matrix(i + 1)};
        }
        w.parts = matrix(15);
        w.arcs = matrix(16);
        w.labels = matrix(17);
        w.head_labels = matrix(18);
        w.dependent_labels = matrix(19);
        require_finite(values_of(arc_root));
        require_finite(values_of(label_root));
        w.arc_root = rounded(arc_root);
        w.label_root = rounded(label_root);
        w.check();
        require(root_label < w.n_labels(), "no such relation");
        root_label_ = root_label;
    }

    // Head (0 for the root), relation, tag and category of every word of all sentences, a row each.
    NewArray<std::int32_t, 2> parse(const Array<std::int32_t>& begins,
                                    const Array<std::int32_t>& piece_begins,
                                    const Array<std::int32_t>& words,
                                    const Array<std::int32_t, 2>& affixes,
                                    const Array<std::int32_t>& tags,
                                    const Array<std::int32_t, 2>& spans,
                                    const Array<std::int32_t>& pieces, int threads) const {
        const BiaffineInput input{affixes.shape(1), values_of(begins), values_of(piece_begins),
                                  words.data(),     affixes.data(),    tags.data(),
                                  spans.data(),     values_of(pieces)};
        const std::size_t n = words.shape(0);
        require(affixes.shape(0) == n && tags.shape(0) == n && spans.shape(0) == n &&
                    spans.shape(1) == 2,
                "each word needs its affixes, a tag and a span of pieces");
        check(input, n);
        require_below(values_of(words), weights_.words.rows(), "no such word");
        require_below(values_of(tags), weights_.tags.rows(), "no such tag");
        require_below(std::span(affixes.data(), affixes.size()), weights_.affixes.rows(),
                      "no such affix");
        require_below(values_of(pieces), weights_.pieces.rows(), "no such piece");
        auto result = new_table<std::int32_t>(n, WORD_COLUMNS);
        std::int32_t* const rows = result.data();
        nb::gil_scoped_release release;
        const auto groups = grouped(input);
        for_items(
            groups.size(), threads, Worker(weights_),
            [&](Worker& own, std::size_t g) { parse_group(own, input, groups[g], rows); }, 1);
        return result;
    }

private:
    struct Worker {
        explicit Worker(const BiaffineWeights& weights) : run(weights) {}
        BiaffineRun run;
        ProjectiveTree tree;
        std::vector<std::int64_t> arcs;
        std::vector<float> labels;
    };

    static void check(const BiaffineInput& input, std::size_t n) {
        const char* const wrong = "the beginnings of the sentences do not fit the words and pieces";
        require(!input.begins.empty() && input.begins.size() == input.piece_begins.size(), wrong);
        require_pieces(input.begins, n, wrong);
        require_pieces(input.piece_begins, input.pieces.size(), wrong);
        require(input.begins.front() == 0 && static_cast<std::size_t>(input.begins.back()) == n,
                wrong);
        for (std::size_t s = 0; s + 1 < input.begins.size(); ++s) {
            const std::int32_t size = input.piece_begins[s + 1] - input.piece_begins[s];
            for (std::int32_t word = input.begins[s]; word < input.begins[s + 1]; ++word)
                require(input.spans[2 * word] >= 0 &&
                            input.spans[2 * word] <= input.spans[2 * word + 1] &&
                            input.spans[2 * word + 1] < size,
                        "a word beyond its sentence's pieces");
        }
    }

    // Sentences that have words, the longest first, in groups.
    static std::vector<std::vector<std::size_t>> grouped(const BiaffineInput& input) {
        const auto size = [&](std::size_t s) {
            return static_cast<std::size_t>(input.begins[s + 1] - input.begins[s]);
        };
        std::vector<std::size_t> order(input.begins.size() - 1);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::erase_if(order, [&](std::size_t s) { return size(s) == 0; });
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
        std::vector<std::vector<std::size_t>> groups;
        std::size_t words = 0;
        for (const std::size_t s : order) {
            if (groups.empty() || groups.back().size() == GROUP_SENTENCES ||
                words + size(s) > GROUP_WORDS) {
                groups.emplace_back();
                words = 0;
            }
            groups.back().push_back(s);
            words += size(s);
        }
        return groups;
    }

    void parse_group(Worker& own, const BiaffineInput& input, std::span<const std::size_t> group,
                     std::int32_t* rows) const {
        own.run.run(input, group);
        for (std::size_t place = 0; place < group.size(); ++place) {
            const std::size_t n = own.run.size(place), labels = weights_.n_labels();
            own.run.arc_scores(place, own.arcs);
            const auto& heads = own.tree.best(own.arcs.data(), n);
            own.run.label_scores(place, heads, own.labels);
            std::int32_t* row =
                rows + WORD_COLUMNS * static_cast<std::size_t>(input.begins[group[place]]);
            for (std::size_t word = 0; word < n; ++word, row += WORD_COLUMNS) {
                const std::size_t at = own.run.begin(place) + word;
                row[0] = heads[word];
                row[1] = static_cast<std::int32_t>(
                    heads[word] == 0 ? root_label_
                                     : best_label({own.labels.data() + word * labels, labels}));
                row[2] = static_cast<std::int32_t>(argmax(own.run.tag_scores(at)));
                row[3] = static_cast<std::int32_t>(argmax(own.run.category_scores(at)));
            }
        }
    }

    // The best relation of a word that is not the root: any but that of the root, if there is another.
    std::size_t best_label(std::span<float> scores) const {
        if (scores.size() > 1) scores[root_label_] = -std::numeric_limits<float>::infinity();
        return argmax(scores);
    }

    BiaffineWeights weights_;
    std::size_t root_label_ = 0;
};

// The products of a matrix with vectors, a row for each vector, computed in every way that this
// processor supports: first all rows of the first way, then those of the next. For a test that all ways
// give the same products.
NewArray<float, 2> whole_products_by_way(const Array<std::int8_t, 2>& weights,
                                         const Array<Step, 2>& vectors) {
    const std::size_t rows = weights.shape(0), columns = weights.shape(1), n = vectors.shape(0);
    require(vectors.shape(1) == columns, "vectors of another length");
    const std::vector<float> scales(rows, 1.0f);
    const WholeMatrix matrix(weights.data(), rows, columns, scales, {});
    std::vector<Step> padded(n * matrix.width(), 0);
    for (std::size_t v = 0; v < n; ++v)
        std::copy_n(vectors.data() + v * columns, columns, padded.data() + v * matrix.width());
    const std::size_t ways = whole_products::ways().size();
    auto result = new_table<float>(ways * n, rows);
    const float unit = 1.0f;
    for (std::size_t way = 0; way < ways; ++way)
        matrix.multiply(padded.data(), n, &unit, false, result.data() + way * n * rows, way);
    return result;
}

}  // namespace

void add_biaffine(nb::module_& m) {
    m.def("whole_products", &whole_products_by_way, nb::arg("weights"), nb::arg("vectors"));
    nb::class_<BiaffineModel>(m, "BiaffineModel")
        .def(nb::init<const std::vector<Array<std::int8_t, 2>>&, const std::vector<Array<float>>&,
                      const std::vector<Array<float>>&, const Array<float>&, const Array<float>&,
                      std::size_t>(),
             nb::arg("steps"), nb::arg("scales"), nb::arg("biases"), nb::arg("arc_root"),
             nb::arg("label_root"), nb::arg("root_label"))
        .def("parse", &BiaffineModel::parse, nb::arg("begins"), nb::arg("piece_begins"),
             nb::arg("words"), nb::arg("affixes"), nb::arg("tags"), nb::arg("spans"),
             nb::arg("pieces"), nb::arg("threads"));
}

}  // namespace wellput
