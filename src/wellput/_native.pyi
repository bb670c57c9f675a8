"""Kernels in C++ (native/). They release the GIL; `threads` never changes a digit."""

from collections.abc import Sequence

from wellput.core.metric import Floats

# alignment.cpp

# tokenize.cpp

# bleu.cpp

# chrf.cpp

# ter.cpp

def ter_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, threads: int = 1
) -> Floats:
    """Edits to the nearest reference and mean reference length, (n, 2). Words are what
    `str.split()` gives."""

# wer.cpp

# resampling.cpp

# ngrams.cpp

# rouge.cpp

