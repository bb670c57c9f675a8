// What unpacking a compact n-gram model needs beside NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "kernels.h"
#include "language/ngrams/ngram_trie.h"
#include "text/word_table.h"

namespace wellput {

namespace nb = nanobind;

namespace {

// The third array of a vocabulary from the other two.
nb::object word_slots(const Array<std::uint64_t>& offsets, const Array<std::uint8_t>& text) {
    require_pieces(values_of(offsets), text.shape(0), "words that are no pieces of the text");
    const WordView view{.offsets = offsets.data(),
                        .n_words = offsets.shape(0) - 1,
                        .text = reinterpret_cast<const char*>(text.data()),
                        .text_size = text.shape(0)};
    WordTable words;
    words.reserve(offsets.shape(0) - 1);
    for (std::uint32_t id = FIRST_WORD; id + 1 < offsets.shape(0); ++id) words.add(view[id]);
    return as_array(std::move(words.slots()));
}

// Sums of `steps` from each beginning on to the next one.
nb::object sums_within(const Array<std::uint32_t>& steps, const Array<std::uint32_t>& begins) {
    const std::size_t size = steps.shape(0);
    std::vector<std::uint32_t> sums(size);
    for (std::size_t x = 0; x + 1 < begins.shape(0); ++x) {
        std::uint32_t sum = 0;
        const std::size_t end = std::min<std::size_t>(begins.data()[x + 1], size);
        for (std::size_t i = begins.data()[x]; i < end; ++i) sums[i] = sum += steps.data()[i];
    }
    return as_array(std::move(sums));
}

}  // namespace

void add_ngram_compact(nb::module_& m) {
    m.def("word_slots", &word_slots, nb::arg("offsets"), nb::arg("text"));
    m.def("sums_within", &sums_within, nb::arg("steps"), nb::arg("begins"));
}

}  // namespace wellput
