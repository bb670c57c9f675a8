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

# rouge.cpp
