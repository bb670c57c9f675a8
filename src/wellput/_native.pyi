"""Kernels in C++ (native/). They release the GIL; `threads` never changes a digit."""

from collections.abc import Sequence

from wellput.core.metric import Floats

# alignment.cpp

# tokenize.cpp
def tokenize(texts: Sequence[str], tokenizer: str, threads: int) -> list[list[str]]: ...

# bleu.cpp

# chrf.cpp

# ter.cpp

# wer.cpp

# resampling.cpp

# ngrams.cpp

# rouge.cpp

