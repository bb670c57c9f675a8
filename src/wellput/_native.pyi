"""Kernels in C++ (native/). They release the GIL; `threads` never changes a digit."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats

# accuracy.cpp
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

# tokenize.cpp
def tokenize(texts: Sequence[str], tokenizer: str, threads: int) -> list[list[str]]: ...

# bleu.cpp
def bleu_statistics(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    tokenizer: str,
    max_ngram_order: int,
    shortest: bool,
    threads: int,
) -> Floats: ...

# chrf.cpp
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

# ter.cpp
def ter_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], threads: int
) -> Floats: ...

# wer.cpp
def wer_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], tokenizer: str, threads: int
) -> Floats: ...

# resampling.cpp
def bootstrap_sums(statistics: Floats, n_resamples: int, seed: int, threads: int) -> Floats: ...
def swap_sums(differences: Floats, n_resamples: int, seed: int, threads: int) -> Floats: ...

# ngrams.cpp
class NgramCounter:
    """How often every n-gram up to `order` occurs in the texts added so far. Can be pickled."""

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

# ngram_training.cpp, arpa.cpp, ngram_model.cpp
# offsets (uint64), text (uint8), slots (uint32)
WordArrays = tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.uint32]]
# words, begins, log_probs, backoffs
LevelArrays = tuple[
    NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float32], NDArray[np.float32]
]

class NgramTrainer:
    """Counts n-grams of the texts added; numbers of tokens past `run_tokens` go to `folder`."""

    def __init__(self, order: int, run_tokens: int, folder: str) -> None: ...
    def add(self, texts: Sequence[str], tokenizer: str) -> int: ...
    def finish(
        self, min_count: int
    ) -> tuple[WordArrays, list[LevelArrays], list[tuple[float, float, float]]]: ...

class ArpaReader:
    """`add` returns the place of the first line that is no n-gram, or -1."""

    def __init__(self, order: int) -> None: ...
    def add(self, depth: int, lines: Sequence[str]) -> int: ...
    def finish(self) -> tuple[WordArrays, list[LevelArrays]]: ...

class NgramModel:
    """Scores from arrays, which it does not check."""

    def __init__(self, vocabulary: WordArrays, levels: Sequence[LevelArrays]) -> None: ...
    def scores(self, texts: Sequence[str], tokenizer: str, threads: int) -> Floats: ...
    def word_scores(self, text: str, tokenizer: str) -> Floats: ...
    def arpa_lines(self, depth: int, begin: int, end: int) -> bytes: ...

# rouge.cpp
def rouge_l_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], threads: int
) -> Floats: ...

# bootstrapped_correlations.cpp
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

# permuted_correlations.cpp
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

# tagger.cpp
def train_tagger(
    sentences: Sequence[Sequence[str]],
    tags: NDArray[np.int32],
    classes: int,
    epochs: int,
    min_updates: int,
    unit: float,
    seed: int,
    on_epoch: Callable[[int], object],
) -> bytes: ...

class TaggerModel:
    """Weights made by `train_tagger`; results have a row for each word of all sentences."""

    def __init__(self, weights: bytes, classes: int) -> None: ...
    def tag(self, sentences: Sequence[Sequence[str]], threads: int) -> NDArray[np.int32]: ...
    def candidates(
        self, sentences: Sequence[Sequence[str]], k: int, sharpness: float, threads: int
    ) -> tuple[NDArray[np.int32], Floats]: ...

# Contexts of words, and what is learned from them.
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
