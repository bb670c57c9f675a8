"""Kernels in C++ (native/). They release the GIL; `threads` never changes a digit. Arguments that do
not fit together are a ValueError."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats

# metrics/accuracy.cpp
def string_errors(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    tokenizer: str,
    costs: tuple[int, int, int],
    threads: int,
) -> Floats: ...
def treelet_errors(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    heads: NDArray[np.int32],
    tokenizer: str,
    costs: tuple[int, int, int],
    threads: int,
) -> Floats: ...
def alignment_path(
    reference: Sequence[str], hypothesis: Sequence[str], costs: tuple[int, int, int]
) -> list[tuple[int, int]]: ...
def treelet_details(
    reference: Sequence[str],
    heads: NDArray[np.int32],
    hypothesis: Sequence[str],
    costs: tuple[int, int, int],
) -> tuple[list[int], list[tuple[int, int, int, int, int]]]: ...

# text/tokenize.cpp
def tokenize(texts: Sequence[str], tokenizer: str, threads: int) -> list[list[str]]: ...

# metrics/bleu.cpp
def bleu_statistics(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    tokenizer: str,
    max_ngram_order: int,
    shortest: bool,
    threads: int,
) -> Floats: ...

# metrics/chrf.cpp
def chrf_statistics(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    char_order: int,
    word_order: int,
    beta_squared: float,
    whitespace: bool,
    eps_smoothing: bool,
    threads: int,
) -> Floats: ...

# metrics/ter.cpp
def ter_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], threads: int
) -> Floats: ...

# metrics/wer.cpp
def wer_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], tokenizer: str, threads: int
) -> Floats: ...
def cer_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], threads: int
) -> Floats: ...

# stats/resampling.cpp
def bootstrap_sums(statistics: Floats, n_resamples: int, seed: int, threads: int) -> Floats: ...
def swap_sums(differences: Floats, n_resamples: int, seed: int, threads: int) -> Floats: ...

# metrics/: diversity.cpp, nist.cpp, length.cpp
class NgramCounter:
    """Counts every n-gram up to `order` in the texts added so far. Can be pickled."""

    def __init__(self, order: int, tokenizer: str) -> None: ...
    def add(self, texts: Sequence[str]) -> None: ...
    def total(self, n: int) -> int: ...
    def distinct(self, n: int) -> int: ...

def nist_statistics(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    weights: NgramCounter,
    threads: int,
) -> Floats: ...
def distinct_ngrams(texts: Sequence[str], n: int, tokenizer: str, threads: int) -> Floats: ...
def token_counts(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    tokenizer: str,
    threads: int,
) -> Floats: ...

# language/ngrams/: ngram_training.cpp, arpa.cpp, ngram_model.cpp
# offsets (uint64), text (uint8), slots (uint32)
WordArrays = tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.uint32]]
# words, begins, log_probs, backoffs
LevelArrays = tuple[
    NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float32], NDArray[np.float32]
]

class NgramTrainer:
    """Counts n-grams of the texts added; word numbers beyond `run_tokens` go to `folder`. A trainer
    makes one model."""

    def __init__(self, order: int, run_tokens: int, folder: str, threads: int) -> None: ...
    def know_only(self, words: Sequence[str]) -> None: ...
    def add(self, texts: Sequence[str], tokenizer: str) -> int: ...
    def checkpoint(self) -> int: ...
    def resume(self, n_numbers: int, words: Sequence[str]) -> None: ...
    def words_from(self, begin: int) -> bytes: ...
    # The vocabulary, n-grams by length, discounts by length, occurrences by length without the last.
    def finish(
        self, min_count: int
    ) -> tuple[
        WordArrays,
        list[LevelArrays],
        list[tuple[float, float, float]],
        list[NDArray[np.uint64]],
    ]: ...

class ArpaReader:
    """`add` returns the number of the first line that is not an n-gram, or -1."""

    def __init__(self, order: int) -> None: ...
    def add(self, depth: int, lines: Sequence[str]) -> int: ...
    def finish(self) -> tuple[WordArrays, list[LevelArrays]]: ...

def sums_within(steps: NDArray[np.uint32], begins: NDArray[np.uint32]) -> NDArray[np.uint32]: ...
def word_slots(offsets: NDArray[np.uint64], text: NDArray[np.uint8]) -> NDArray[np.uint32]: ...

class NgramModel:
    """Scores from arrays, which must fit together; wrong numbers in them give wrong scores."""

    def __init__(self, vocabulary: WordArrays, levels: Sequence[LevelArrays]) -> None: ...
    def scores(self, texts: Sequence[str], tokenizer: str, threads: int) -> Floats: ...
    def word_scores(self, text: str, tokenizer: str) -> Floats: ...
    def arpa_lines(self, depth: int, begin: int, end: int) -> bytes: ...

# metrics/rouge.cpp
def rouge_n_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], order: int, threads: int
) -> Floats: ...
def rouge_l_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], threads: int
) -> Floats: ...
def rouge_lsum_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], threads: int
) -> Floats: ...

# metrics/scoring.cpp
class TooLarge(MemoryError):
    """There is not enough memory for the statistics of one item; `args` has its number in the batch,
    from 0."""

# metrics/sari.cpp
def sari_statistics(
    hypotheses: Sequence[str],
    sources_and_references: Sequence[Sequence[str]],
    tokenizer: str,
    threads: int,
) -> Floats: ...

# stats/bootstrapped_correlations.cpp
def bootstrapped_correlations(
    x: Floats,
    z: Floats,
    grouping: str,
    coefficient: str,
    drawn: str,
    n_resamples: int,
    seed: int,
    threads: int,
) -> Floats: ...

# stats/left_out_correlations.cpp
def left_out_correlations(
    x: Floats, z: Floats, grouping: str, coefficient: str, epsilon: float
) -> tuple[Floats, Floats]: ...

# stats/exchanged_correlations.cpp
def exchanged_correlations(
    x: Floats,
    z: Floats,
    grouping: str,
    coefficient: str,
    exchanges: int,
    seed: int,
    threads: int,
) -> Floats: ...

# stats/permuted_correlations.cpp
def permuted_correlations(
    x: Floats,
    y: Floats,
    z: Floats,
    grouping: str,
    coefficient: str,
    swapped: str,
    n_resamples: int,
    seed: int,
    threads: int,
) -> Floats: ...

# language/realize/lattice.cpp
def best_paths(
    vocabulary: WordArrays,
    levels: Sequence[LevelArrays],
    words: Sequence[Sequence[str]],
    begins: NDArray[np.int64],
    arc_begins: NDArray[np.int64],
    n_states: NDArray[np.int64],
    arcs: NDArray[np.int32],
    weights: Floats,
    lm_weight: float,
    n_best: int,
    width: int,
    threads: int,
) -> list[tuple[list[tuple[float, float, list[int]]], bool]]: ...

# language/models/tagger.cpp
def train_tagger(
    sentences: Sequence[Sequence[str]],
    tags: NDArray[np.int32],
    classes: int,
    epochs: int,
    min_updates: int,
    weight_unit: float,
    seed: int,
    on_epoch: Callable[[int], object],
    given: Sequence[Sequence[str]] = (),
) -> bytes: ...
def mean_weights(models: Sequence[bytes], classes: int, smallest: float) -> bytes:
    """The mean of models made by `train_tagger` or `train_arc_hybrid`; `smallest` is in units."""

class TaggerModel:
    """Weights made by `train_tagger`; results have a row for each word of all sentences."""

    def __init__(self, weights: bytes, classes: int) -> None: ...
    def tag(
        self,
        sentences: Sequence[Sequence[str]],
        threads: int,
        given: Sequence[Sequence[str]] = (),
    ) -> NDArray[np.int32]: ...
    def candidates(
        self, sentences: Sequence[Sequence[str]], k: int, sharpness: float, threads: int
    ) -> tuple[NDArray[np.int32], Floats]: ...

# language/paraphrase/: context_classifiers.cpp, boosting.cpp, brown_clusters.cpp
def word_keys(words: Sequence[str]) -> NDArray[np.uint64]: ...
def postings(
    numbers: NDArray[np.uint32], size: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]: ...
def context_examples(
    tokens: NDArray[np.uint32],
    sentence_starts: NDArray[np.uint64],
    keys_of_words: NDArray[np.uint64],
    keys_of_classes: NDArray[np.uint64],
    places: NDArray[np.uint64],
    bag_order: int,
    has_collocations: bool,
    min_count: int,
) -> tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint32]]: ...

class ContextModels:
    def __init__(
        self,
        begins: NDArray[np.uint32],
        keys: NDArray[np.uint32],
        weights: NDArray[np.float32],
        biases: NDArray[np.float32],
        bag_order: int,
        has_collocations: bool,
    ) -> None: ...
    def margins(
        self,
        sentences: Sequence[Sequence[str]],
        queries: NDArray[np.int64],
        classes: Sequence[Sequence[str]],
    ) -> NDArray[np.float64]: ...

def boost(
    rows: NDArray[np.uint64],
    columns: NDArray[np.uint32],
    labels: NDArray[np.uint8],
    width: int,
    rounds: int,
    smoothing: float,
) -> tuple[list[int], list[float], list[float]]: ...
def fit_logistic(
    rows: NDArray[np.uint64],
    columns: NDArray[np.uint32],
    labels: NDArray[np.uint8],
    width: int,
    penalty: float,
    passes: int,
    tolerance: float,
) -> list[float]: ...
def brown_clusters(
    after_begins: NDArray[np.uint64],
    after_words: NDArray[np.uint32],
    after_counts: NDArray[np.uint32],
    before_begins: NDArray[np.uint64],
    before_words: NDArray[np.uint32],
    before_counts: NDArray[np.uint32],
    classes: int,
) -> tuple[list[int], list[tuple[int, int]]]: ...

# language/models/arc_hybrid.cpp
def train_arc_hybrid(
    words: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]],
    hints: Sequence[Sequence[str]],
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    n_labels: int,
    epochs: int,
    min_updates: int,
    weight_unit: float,
    seed: int,
    on_epoch: Callable[[int], object],
) -> bytes: ...
def arc_hybrid_costs(heads: NDArray[np.int32], moves: NDArray[np.int32]) -> list[int]: ...
def whole_products(weights: NDArray[np.int8], vectors: NDArray[np.int16]) -> NDArray[np.float32]:
    """The products of a matrix with vectors, a row for each vector, by every way that this processor
    knows: first all by one way, then all by the next."""

class BiaffineModel:
    """A network with whole-number weights: tables in the order of `biaffine_parser.py`. `parse` gives
    head, relation, tag and category of each word of all sentences."""

    def __init__(
        self,
        steps: Sequence[NDArray[np.int8]],
        scales: Sequence[NDArray[np.float32]],
        biases: Sequence[NDArray[np.float32]],
        arc_root: NDArray[np.float32],
        label_root: NDArray[np.float32],
        root_label: int,
    ) -> None: ...
    def parse(
        self,
        begins: NDArray[np.int32],
        piece_begins: NDArray[np.int32],
        words: NDArray[np.int32],
        affixes: NDArray[np.int32],
        tags: NDArray[np.int32],
        spans: NDArray[np.int32],
        pieces: NDArray[np.int32],
        threads: int,
    ) -> NDArray[np.int32]: ...

class ArcHybridModel:
    """Weights made by `train_arc_hybrid`; `parse` gives head and label of each word of all
    sentences."""

    def __init__(self, weights: bytes, labels: int) -> None: ...
    def parse(
        self,
        words: Sequence[Sequence[str]],
        tags: Sequence[Sequence[str]],
        hints: Sequence[Sequence[str]],
        threads: int,
    ) -> NDArray[np.int32]: ...

# language/degrade/word_filling.cpp
def fill_words(
    templates: NDArray[np.int32],
    tag_begins: NDArray[np.int32],
    tag_words: NDArray[np.int32],
    tag_probs: NDArray[np.float64],
    bigram_begins: NDArray[np.int32],
    bigram_words: NDArray[np.int32],
    bigram_probs: NDArray[np.float64],
    unigrams: NDArray[np.float64],
    start: int,
    repeated: float,
    threads: int,
) -> list[list[int]]: ...

# language/models/tree_model.cpp
Int32s = NDArray[np.int32]

class TreeModel:
    """Supertags by number, from counts in arrays. Tree i is the rows begins[i] to begins[i + 1]:
    lexeme, shape, head in the tree (-1 at the root), category, relation (-1 unknown)."""

    def __init__(self, arrays: Mapping[str, Int32s | int], weights: Sequence[float]) -> None: ...
    def choose(
        self,
        begins: Int32s,
        rows: Int32s,
        names: NDArray[np.uint64],
        method: str,
        n_best: int,
        width: int,
        threads: int,
    ) -> list[list[tuple[float, list[int]]]]: ...
    def terms(
        self,
        begins: Int32s,
        rows: Int32s,
        names: NDArray[np.uint64],
        supertags: Int32s,
        threads: int,
    ) -> Floats: ...
    def candidates(
        self, begins: Int32s, rows: Int32s, names: NDArray[np.uint64], width: int
    ) -> list[list[tuple[int, float]]]: ...

# language/models/head_driven.cpp
class HeadDriven:
    """The chart of the head-driven parser. It keeps the arrays of its model."""

    def __init__(
        self,
        tables: Sequence[NDArray[np.generic]],
        tags: Sequence[NDArray[np.int32]],
        unigrams: NDArray[np.float32],
        n_classes: int,
        sentence_start: int,
        head_share: float,
        after_share: float,
        continuing: float,
    ) -> None: ...
    def parse(
        self,
        sentences: NDArray[np.int64],
        words: NDArray[np.int32],
        lattice_starts: NDArray[np.int64],
        lattice_tags: NDArray[np.int32],
        weights: NDArray[np.float32],
        heads: NDArray[np.int32],
        tags: NDArray[np.int32],
        limits: tuple[int, int],
        threads: int,
    ) -> Floats: ...

# language/realize/ordering.cpp
Forms = Sequence[Sequence[str]]

def train_orderer(
    forms: Forms,
    tags: Forms,
    relations: Forms,
    heads: NDArray[np.int32],
    epochs: int,
    min_updates: int,
    weight_unit: float,
    min_weight: float,
    width: int,
    seed: int,
    on_epoch: Callable[[int, int], None],
) -> bytes: ...

class OrderNetwork:
    def __init__(
        self, arrays: dict[str, NDArray[Any]], layers: int, attention_heads: int
    ) -> None: ...

class Orderer:
    def __init__(self, weights: bytes) -> None: ...
    def use_network(self, network: OrderNetwork, weight: float) -> None: ...
    def use_ngrams(
        self, vocabulary: WordArrays, levels: Sequence[LevelArrays], weight: float
    ) -> None: ...
    def order(
        self,
        forms: Forms,
        tags: Forms,
        relations: Forms,
        heads: NDArray[np.int32],
        width: int,
        threads: int,
        numbers: NDArray[np.int32] | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8]]: ...
    def scores(
        self,
        forms: Forms,
        tags: Forms,
        relations: Forms,
        heads: NDArray[np.int32],
        numbers: NDArray[np.int32] | None = None,
    ) -> list[float]: ...
    def best_orders(
        self,
        forms: Forms,
        tags: Forms,
        relations: Forms,
        heads: NDArray[np.int32],
        n_best: int,
        width: int,
        threads: int,
        numbers: NDArray[np.int32] | None = None,
    ) -> list[list[tuple[list[int], float]]]: ...

# language/realize/label_training.cpp
def usual_labels(
    forms: Forms, labels: NDArray[np.int32]
) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]: ...
def train_label_chooser(
    forms: Forms,
    known: Forms,
    heads: NDArray[np.int32],
    labels: NDArray[np.int32],
    categories: Sequence[str],
    relations: Sequence[str],
    usual_words: NDArray[np.uint32],
    usual: NDArray[np.uint16],
    epochs: int,
    min_updates: int,
    weight_unit: float,
    min_weight: float,
    width: int,
    seed: int,
    on_epoch: Callable[[int, int], None],
) -> tuple[bytes, bytes]: ...

# language/realize/label_choosing.cpp
class LabelChooser:
    def __init__(
        self,
        local: bytes,
        edges: bytes,
        categories: Sequence[str],
        relations: Sequence[str],
        usual_words: NDArray[np.uint32],
        usual: NDArray[np.uint16],
    ) -> None: ...
    def choose(
        self,
        forms: Forms,
        known: Forms,
        heads: NDArray[np.int32],
        width: int,
        threads: int,
        allowed: NDArray[np.int32],
        masks: NDArray[np.uint8],
    ) -> NDArray[np.int32]: ...
    def probabilities(
        self,
        forms: Forms,
        known: Forms,
        heads: NDArray[np.int32],
        width: int,
        weight_unit: float,
        threads: int,
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]: ...

# io/evalset_lines.cpp
def plain_columns(
    data: bytes,
) -> (
    tuple[
        list[str],
        dict[str, list[str | None]],
        list[tuple[str, ...]],
        list[str | None],
        list[str | None],
        list[str | None] | None,
        list[Mapping[str, str]] | None,
    ]
    | None
): ...
def item_lines(data: bytes, start: int, max_items: int) -> tuple[int, int, int]: ...
def text_hashes(texts: Sequence[str]) -> NDArray[np.uint64]: ...

# mixed_equations.cpp
def scale_blocks(matrix: Floats, begins: NDArray[np.int64], own: Floats, shared: Floats) -> None:
    """R X R in place of a symmetric X, of which only the lower triangle is read and written.

    R has the blocks own · I + shared · J, J all ones; block b begins at column `begins[b]`.
    """

class MixedEquations:
    """A'WA with 1 added at random columns; `absorbed` columns come first, then other random ones."""

    def __init__(
        self,
        columns: NDArray[np.int32],
        values: Floats,
        absorbed: int,
        random: int,
        all: int,
    ) -> None: ...
    def factor(self, scale: Floats, weights: Floats) -> tuple[float, Floats]: ...
    def forward(self, x: Floats) -> Floats: ...
    def backward(self, x: Floats) -> Floats: ...
    def invert(self, core_inverse: Floats) -> tuple[Floats, Floats]: ...
    def multiply(self, x: Floats) -> Floats: ...
    def multiply_transposed(self, v: Floats) -> Floats: ...
