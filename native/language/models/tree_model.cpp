// Supertags for unordered trees of words, from a model in arrays.
#include "language/models/tree_model.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "core/parallel.h"
#include "kernels.h"
#include "language/models/tree_chooser.h"

namespace wellput {
namespace {

namespace nb = nanobind;
using IntArray = nb::ndarray<const std::int32_t, nb::c_contig, nb::device::cpu>;
using HashArray = Array<std::uint64_t>;

Ints ints_of(nb::handle object) {
    const auto array = nb::cast<IntArray>(object);
    return Ints(array.data(), array.data() + array.size());
}

void require_ids(const Ints& ids, std::size_t size, std::size_t bound) {
    require(ids.size() == size, "the arrays of a tree model do not fit together");
    require_below(std::span(ids), bound, "a number in a tree model is out of range");
}

// Rows with a number for each of `bounds` and a count. Each number must be below its bound; a bound of
// 0 means none.
void require_counts(const Ints& rows, std::initializer_list<std::size_t> bounds) {
    const std::size_t width = bounds.size() + 1;
    require(rows.size() % width == 0, "the counts of a tree model are not whole rows");
    for (std::size_t i = 0; i < rows.size(); i += width) {
        std::size_t column = i;
        for (const std::size_t bound : bounds) {
            const std::int32_t value = rows[column++];
            require(value >= 0 && (bound == 0 || static_cast<std::size_t>(value) < bound),
                    "a number in a tree model is out of range");
        }
        require(rows[column] > 0, "a count of a tree model is not above 0");
    }
}

void check(const TreeModelArrays& a) {
    using P = TreeProbabilities;
    const std::size_t supertags = a.category.size(), stems = a.stem_role.size();
    const std::size_t roles = a.role_slot.size(), sites = a.site_category.size();
    require(roles > 0 && a.weights.size() == P::LEVEL_WEIGHTS && a.words >= 0,
            "a tree model without its parts");
    for (const double weight : a.weights)
        require(weight >= 0 && weight <= P::MAX_WEIGHT, "a weight of a tree model is out of range");
    require_ids(a.category, supertags, P::MAX_CATEGORIES);
    require_ids(a.stem, supertags, stems);
    require_ids(a.site, supertags, sites);
    require_ids(a.frame, supertags, P::MAX_EVENTS);
    require(a.slot_begin.size() == supertags + 1, "the arrays of a tree model do not fit together");
    require_pieces(std::span(a.slot_begin), a.slots.size(),
                   "the beginnings of the slots are out of order");
    for (std::size_t t = 0; t < supertags; ++t)
        require(a.slot_begin[t + 1] - a.slot_begin[t] <= P::MAX_SLOTS,
                "a supertag with too many slots");
    require_ids(a.stem_role, stems, roles);
    require_ids(a.role_slot, roles, P::MAX_SLOT_KINDS);
    const auto slot_kinds =
        static_cast<std::size_t>(*std::max_element(a.role_slot.begin(), a.role_slot.end()));
    require_ids(a.slots, a.slots.size(), slot_kinds + 1);
    require(a.stem_mother.size() == stems, "the arrays of a tree model do not fit together");
    for (std::size_t stem = 0; stem < stems; ++stem)
        require(a.role_slot[a.stem_role[stem]] == a.root_slot ||
                    static_cast<std::size_t>(a.stem_mother[stem]) < P::MAX_MOTHER_KINDS,
                "a number in a tree model is out of range");
    require_ids(a.site_category, sites, P::MAX_CATEGORIES);
    require_ids(a.site_coarse, sites, P::MAX_MOTHER_KINDS);
    require_pieces(std::span(a.lexicon_begin), a.lexicon_supertag.size(),
                   "the beginnings of the lexicon are out of order");
    const std::size_t lexemes = a.lexicon_begin.size() - 1,
                      words = static_cast<std::size_t>(a.words);
    require(
        words <= lexemes && lexemes < P::MAX_EVENTS && a.lexicon_begin[words] > a.lexicon_begin[0],
        "a tree model without words");
    require_ids(a.lexicon_supertag, a.lexicon_supertag.size(), supertags);
    require(a.lexicon_count.size() == a.lexicon_supertag.size(),
            "a count is needed for each supertag");
    require_counts(a.lexicon_count, {});
    require_counts(a.role_counts, {sites, roles});
    require_counts(a.lexical_counts, {words, 0, roles});
    require_counts(a.bilexical_counts, {lexemes, stems, lexemes});
    require_counts(a.adjunct_counts, {supertags, 0});
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
    check(a);
    return a;
}

// The columns of a forest's rows.
enum NodeColumn : std::size_t { LEXEME, SHAPE, HEAD, CATEGORY, RELATION, NODE_COLUMNS };

// Trees one after the other: tree i has the rows from begin[i] to before begin[i + 1], one for each
// word. Heads are places in the tree, from 0; a negative head is the root's.
struct Forest {
    Forest(nb::handle begins, nb::handle rows, nb::handle names, std::size_t lexemes)
        : begin(ints_of(begins)) {
        const Ints flat = ints_of(rows);
        const auto hashes = nb::cast<HashArray>(names);
        require(flat.size() == NODE_COLUMNS * hashes.size(),
                "a row and a name are needed for each word");
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const int* row = &flat[NODE_COLUMNS * i];
            require(row[LEXEME] >= 0 && static_cast<std::size_t>(row[LEXEME]) < lexemes &&
                        row[SHAPE] >= -1 && row[SHAPE] < static_cast<int>(lexemes),
                    "a lexeme is out of range");
            require(row[CATEGORY] >= -1 &&
                        row[CATEGORY] < static_cast<int>(TreeProbabilities::MAX_CATEGORIES),
                    "a category is out of range");
            nodes.push_back({row[LEXEME], row[SHAPE], row[HEAD], row[CATEGORY], row[RELATION],
                             hashes.data()[i]});
        }
        require_pieces(std::span<const std::int32_t>(begin), nodes.size(),
                       "the beginnings of the trees are out of order");
        for (std::size_t i = 0; i < size(); ++i) {
            Ints heads;
            const auto words = static_cast<int>((*this)[i].size());
            for (const TreeNode& node : (*this)[i]) {
                require(node.head < words, "the heads of a tree do not form a tree");
                heads.push_back(std::max(node.head, -1) + 1);
            }
            require(is_tree(heads), "the heads of a tree do not form a tree");
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
          probabilities_(arrays_of(arrays, std::move(weights))) {
        require(role_relation_.size() == probabilities_.a.role_slot.size(),
                "a relation is needed for each role");
    }

    // For each tree its analyses, the best first; each is a score and the supertags.
    std::vector<std::vector<std::pair<double, Ints>>> choose(nb::handle begins, nb::handle rows,
                                                             nb::handle names,
                                                             const std::string& method, int n_best,
                                                             int width, int threads) const {
        require(n_best > 0 && width > 0, "n_best and width must be at least 1");
        const Forest forest(begins, rows, names, lexemes());
        std::vector<std::vector<std::pair<double, Ints>>> result(forest.size());
        const bool is_exact = method == "exact", is_top_down = method == "top-down";
        nb::gil_scoped_release release;
        for_items(
            forest.size(), threads, TreeChooser(probabilities_, role_relation_, width),
            [&](TreeChooser& chooser, std::size_t i) {
                std::vector<Analysis> found;
                if (is_exact)
                    found = chooser.exact(forest[i], n_best);
                else
                    found.push_back(is_top_down ? chooser.top_down(forest[i])
                                                : chooser.alone(forest[i]));
                for (auto& [score, supertags] : found)
                    result[i].emplace_back(score, std::move(supertags));
            },
            16);
        return result;
    }

    // For each word of all trees: the two terms of TreeChooser::terms.
    Matrix terms(nb::handle begins, nb::handle rows, nb::handle names, nb::handle supertags,
                 int threads) const {
        const Forest forest(begins, rows, names, lexemes());
        const Ints chosen = ints_of(supertags);
        require_ids(chosen, forest.nodes.size(),
                    static_cast<std::size_t>(probabilities_.supertags()));
        double* out = nullptr;
        Matrix result = new_matrix(chosen.size(), 2, &out);
        nb::gil_scoped_release release;
        for_items(forest.size(), threads, TreeChooser(probabilities_, role_relation_, 1),
                  [&](TreeChooser& chooser, std::size_t i) {
                      const int first = forest.begin[i], last = forest.begin[i + 1];
                      const Ints own(chosen.begin() + first, chosen.begin() + last);
                      double* row = out + 2 * first;
                      for (const auto& [arc, inner] : chooser.terms(forest[i], own)) {
                          *row++ = arc;
                          *row++ = inner;
                      }
                  });
        return result;
    }

    // For each word of all trees: its candidates with their scores, the best first.
    std::vector<std::vector<std::pair<int, double>>> candidates(nb::handle begins, nb::handle rows,
                                                                nb::handle names, int width) const {
        require(width > 0, "width must be at least 1");
        const Forest forest(begins, rows, names, lexemes());
        nb::gil_scoped_release release;
        TreeChooser chooser(probabilities_, role_relation_, width);
        std::vector<std::vector<std::pair<int, double>>> result;
        for (std::size_t i = 0; i < forest.size(); ++i)
            for (auto& own : chooser.candidates(forest[i])) result.push_back(std::move(own));
        return result;
    }

private:
    std::size_t lexemes() const { return probabilities_.a.lexicon_begin.size() - 1; }

    Ints role_relation_;
    TreeProbabilities probabilities_;
};

}  // namespace

void add_tree_model(nb::module_& m) {
    nb::class_<TreeModel>(m, "TreeModel")
        .def(nb::init<const nb::dict&, std::vector<double>>(), nb::arg("arrays"),
             nb::arg("weights"))
        .def("choose", &TreeModel::choose, nb::arg("begins"), nb::arg("rows"), nb::arg("names"),
             nb::arg("method"), nb::arg("n_best"), nb::arg("width"), nb::arg("threads"))
        .def("terms", &TreeModel::terms, nb::arg("begins"), nb::arg("rows"), nb::arg("names"),
             nb::arg("supertags"), nb::arg("threads"))
        .def("candidates", &TreeModel::candidates, nb::arg("begins"), nb::arg("rows"),
             nb::arg("names"), nb::arg("width"));
}

}  // namespace wellput
