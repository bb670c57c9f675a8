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

# ngrams.cpp

# rouge.cpp

