// Best paths of word lattices under an n-gram model.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/checks.h"
#include "core/parallel.h"
#include "core/texts.h"
#include "kernels.h"
#include "language/ngrams/ngram_view.h"
#include "language/realize/lattice_search.h"

namespace wellput {
namespace {

// The automata of many lattices, one after another. Lattice i has automata begins[i] to
// begins[i + 1]; automaton a has arcs arc_begins[a] to arc_begins[a + 1]. Arcs number words and
// automata from the first of their lattice.
class Lattices {
public:
    Lattices(const Array<std::int64_t, 1>& begins, const Array<std::int64_t, 1>& arc_begins,
             const Array<std::int64_t, 1>& n_states, const Array<std::int32_t, 2>& arcs,
             const Array<double, 1>& weights, const TextLists& words)
        : begins_(begins.data()), n_lattices_(begins.shape(0) - 1) {
        const char* const misfit = "the arrays of a lattice do not fit together";
        require(arcs.shape(1) == 3 && arcs.shape(0) == weights.shape(0), misfit);
        require(arc_begins.shape(0) == n_states.shape(0) + 1, misfit);
        require_pieces(values_of(arc_begins), arcs.shape(0), misfit);
        require_pieces(values_of(begins), n_states.shape(0), misfit);
        require(words.size() == n_lattices_, misfit);
        arcs_.reserve(arcs.shape(0));
        for (std::size_t i = 0; i < arcs.shape(0); ++i)
            arcs_.push_back({arcs(i, 0), arcs(i, 1), arcs(i, 2), weights(i)});
        for (std::size_t a = 0; a < n_states.shape(0); ++a) {
            const auto begin = static_cast<std::size_t>(arc_begins(a));
            const auto end = static_cast<std::size_t>(arc_begins(a + 1));
            automata_.push_back(
                {arcs_.data() + begin, end - begin, static_cast<std::size_t>(n_states(a))});
        }
        for (std::size_t i = 0; i < n_lattices_; ++i) check(i, words.count(i));
    }
    std::size_t size() const { return n_lattices_; }
    std::vector<Automaton> operator[](std::size_t i) const {
        return {automata_.begin() + begins_[i], automata_.begin() + begins_[i + 1]};
    }

private:
    // Arcs lead to higher states, and hold a word of the lattice or an earlier automaton.
    void check(std::size_t lattice, std::size_t n_words) const {
        const std::int64_t first = begins_[lattice], end = begins_[lattice + 1];
        require(first < end, "a lattice without an automaton");
        for (std::int64_t a = first; a < end; ++a) {
            const Automaton& automaton = automata_[static_cast<std::size_t>(a)];
            require(automaton.n_states > 0 && automaton.n_states <= arcs_.size() + 1,
                    "an automaton with too few or too many states");
            for (const Arc& arc : std::span(automaton.arcs, automaton.n_arcs)) {
                require(0 <= arc.source && arc.source < arc.target &&
                            static_cast<std::size_t>(arc.target) < automaton.n_states,
                        "an arc does not lead to a higher state");
                require(arc.label >= 0 ? static_cast<std::size_t>(arc.label) < n_words
                                       : ~arc.label < a - first,
                        "an arc has neither a word nor an earlier automaton");
            }
        }
    }

    const std::int64_t* begins_;
    std::size_t n_lattices_;
    std::vector<Arc> arcs_;
    std::vector<Automaton> automata_;
};

nb::tuple as_tuple_of(const FoundPath& path) {
    nb::list words;
    for (const auto word : path.words) words.append(word);
    return nb::make_tuple(path.score, path.log_prob, words);
}

// By lattice: ([(score, log10 probability, [number of a word, ...]), ...], is_exact).
nb::list best_paths(nb::handle vocabulary, nb::handle levels, nb::handle words,
                    const Array<std::int64_t, 1>& begins, const Array<std::int64_t, 1>& arc_begins,
                    const Array<std::int64_t, 1>& n_states, const Array<std::int32_t, 2>& arcs,
                    const Array<double, 1>& weights, double lm_weight, std::size_t n_best,
                    std::size_t width, int threads) {
    const NgramView model(vocabulary, levels);
    if (model.order() > LatticeSearch::MAX_ORDER)
        throw std::invalid_argument("the order of the n-gram model is more than 4");
    const TextLists texts(words);
    const Lattices lattices(begins, arc_begins, n_states, arcs, weights, texts);
    constexpr std::size_t WIDTH_BOUND = 1u << 30;
    require(n_best > 0 && n_best < WIDTH_BOUND && width > 0 && width < WIDTH_BOUND,
            "n_best and width must be at least 1");
    std::vector<std::vector<FoundPath>> found(lattices.size());
    std::vector<char> exact(lattices.size());
    {
        nb::gil_scoped_release release;
        for_items(
            lattices.size(), threads, LatticeSearch(model, lm_weight, n_best, width),
            [&](LatticeSearch& own, std::size_t i) {
                found[i] = own.search(lattices[i], texts[i]);
                exact[i] = own.is_exact();
            },
            /*chunk=*/1);
    }
    nb::list result;
    for (std::size_t i = 0; i < found.size(); ++i) {
        nb::list paths;
        for (const auto& path : found[i]) paths.append(as_tuple_of(path));
        result.append(nb::make_tuple(paths, static_cast<bool>(exact[i])));
    }
    return result;
}

}  // namespace

void add_lattice(nb::module_& m) {
    m.def("best_paths", &best_paths, nb::arg("vocabulary"), nb::arg("levels"), nb::arg("words"),
          nb::arg("begins"), nb::arg("arc_begins"), nb::arg("n_states"), nb::arg("arcs"),
          nb::arg("weights"), nb::arg("lm_weight"), nb::arg("n_best"), nb::arg("width"),
          nb::arg("threads"));
}

}  // namespace wellput
