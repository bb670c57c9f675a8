// Supertags for unordered trees of words, from a model in arrays.
#include "tree_model.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "arrays.h"
#include "kernels.h"
#include "parallel.h"
#include "tree_chooser.h"

namespace wellput {
namespace {

namespace nb = nanobind;
using IntArray = nb::ndarray<const std::int32_t, nb::c_contig, nb::device::cpu>;
using HashArray = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Ints ints_of(nb::handle object) {
    const auto array = nb::cast<IntArray>(object);
    return Ints(array.data(), array.data() + array.size());
}

TreeModelArrays arrays_of(const nb::dict& given, std::vector<double> weights) {
    TreeModelArrays a;
    const auto take = [&](const char* name) { return ints_of(given[name]); };
    a.category = take("category");
    a.stem = take("stem");
    a.site = take("site");
    a.frame = take("frame");
    a.slot_begin = take("slot_begin");
    a.slots = take("slots");
    a.stem_role = take("stem_role");
    a.stem_mother = take("stem_mother");
    a.role_slot = take("role_slot");
    a.site_category = take("site_category");
    a.site_coarse = take("site_coarse");
    a.lexicon_begin = take("lexicon_begin");
    a.lexicon_supertag = take("lexicon_supertag");
    a.lexicon_count = take("lexicon_count");
    a.role_counts = take("role_counts");
    a.lexical_counts = take("lexical_counts");
    a.bilexical_counts = take("bilexical_counts");
    a.adjunct_counts = take("adjunct_counts");
    a.words = nb::cast<int>(given["words"]);
    a.root_slot = nb::cast<int>(given["root_slot"]);
    a.weights = std::move(weights);
    return a;
}

// Trees one after the other: tree i is the rows from begins[i] to begins[i + 1]. A row is lexeme,
// shape, head within the tree, category, relation.
struct Forest {
    Forest(nb::handle begins, nb::handle rows, nb::handle names) : begin(ints_of(begins)) {
        const Ints flat = ints_of(rows);
        const auto hashes = nb::cast<HashArray>(names);
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const int* row = &flat[5 * i];
            nodes.push_back({row[0], row[1], row[2], row[3], row[4], hashes.data()[i]});
        }
    }
    std::size_t size() const { return begin.size() - 1; }
    std::span<const TreeNode> operator[](std::size_t i) const {
        return std::span(nodes).subspan(begin[i], begin[i + 1] - begin[i]);
    }
    Ints begin;
    std::vector<TreeNode> nodes;
};

class TreeModel {
public:
    TreeModel(const nb::dict& arrays, std::vector<double> weights)
        : role_relation_(ints_of(arrays["role_relation"])),
          probabilities_(arrays_of(arrays, std::move(weights))) {}

    // By tree its analyses from the best down, each a score and the supertags.
    std::vector<std::vector<std::pair<double, Ints>>> choose(nb::handle begins, nb::handle rows,
                                                             nb::handle names,
                                                             const std::string& method, int n_best,
                                                             int width, int threads) const {
        const Forest forest(begins, rows, names);
        std::vector<std::vector<std::pair<double, Ints>>> result(forest.size());
        const bool is_exact = method == "exact", is_top_down = method == "top-down";
        nb::gil_scoped_release release;
        parallel_for(
            forest.size(), threads,
            [&, chooser = TreeChooser(probabilities_, role_relation_, width)](
                std::size_t begin, std::size_t end) mutable {
                for (std::size_t i = begin; i < end; ++i) {
                    std::vector<Analysis> found;
                    if (is_exact)
                        found = chooser.exact(forest[i], n_best);
                    else
                        found.push_back(is_top_down ? chooser.top_down(forest[i])
                                                    : chooser.alone(forest[i]));
                    for (auto& [score, supertags] : found)
                        result[i].emplace_back(score, std::move(supertags));
                }
            },
            16);
        return result;
    }

    // By word of all trees: log probability of word and role, of frame and daughters.
    Matrix terms(nb::handle begins, nb::handle rows, nb::handle names, nb::handle supertags,
                 int threads) const {
        const Forest forest(begins, rows, names);
        const Ints chosen = ints_of(supertags);
        double* out = nullptr;
        Matrix result = new_matrix(chosen.size(), 2, &out);
        nb::gil_scoped_release release;
        parallel_for(forest.size(), threads,
                     [&, chooser = TreeChooser(probabilities_, role_relation_, 1)](
                         std::size_t begin, std::size_t end) mutable {
                         for (std::size_t i = begin; i < end; ++i) {
                             const int first = forest.begin[i], last = forest.begin[i + 1];
                             const Ints own(chosen.begin() + first, chosen.begin() + last);
                             double* row = out + 2 * first;
                             for (const auto& [arc, inner] : chooser.terms(forest[i], own)) {
                                 *row++ = arc;
                                 *row++ = inner;
                             }
                         }
                     });
        return result;
    }

    // By word of all trees: candidates with their scores, best first.
    std::vector<std::vector<std::pair<int, double>>> candidates(nb::handle begins, nb::handle rows,
                                                                nb::handle names, int width) const {
        const Forest forest(begins, rows, names);
        nb::gil_scoped_release release;
        TreeChooser chooser(probabilities_, role_relation_, width);
        std::vector<std::vector<std::pair<int, double>>> result;
        for (std::size_t i = 0; i < forest.size(); ++i)
            for (auto& own : chooser.candidates(forest[i])) result.push_back(std::move(own));
        return result;
    }

private:
    Ints role_relation_;
    TreeProbabilities probabilities_;
};

}  // namespace

void add_tree_model(nb::module_& m) {
    nb::class_<TreeModel>(m, "TreeModel")
        .def(nb::init<const nb::dict&, std::vector<double>>(), nb::arg("arrays"), nb::arg("weights"))
        .def("choose", &TreeModel::choose, nb::arg("begins"), nb::arg("rows"), nb::arg("names"),
             nb::arg("method"), nb::arg("n_best"), nb::arg("width"), nb::arg("threads"))
        .def("terms", &TreeModel::terms, nb::arg("begins"), nb::arg("rows"), nb::arg("names"),
             nb::arg("supertags"), nb::arg("threads"))
        .def("candidates", &TreeModel::candidates, nb::arg("begins"), nb::arg("rows"),
             nb::arg("names"), nb::arg("width"));
}

}  // namespace wellput
