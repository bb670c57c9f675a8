"""Kernels in C++ (native/). They release the GIL; `threads` never changes a digit."""

from collections.abc import Sequence

from wellput.core.metric import Floats

# alignment.cpp

# tokenize.cpp

# bleu.cpp

# chrf.cpp

# ter.cpp

# wer.cpp

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

# rouge.cpp
