"""Kernels in C++ (native/). They release the GIL; `threads` never changes a digit."""

from collections.abc import Sequence

from wellput.core.metric import Floats

# alignment.cpp

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

# wer.cpp

# resampling.cpp

# ngrams.cpp

# rouge.cpp
