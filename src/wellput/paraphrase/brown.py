"""Brown classes: words that stand next to the same words, in a given number of classes.

The paper took 1,000 classes and the 20 most frequent words of each. Every word of the vocabulary, the
most frequent ones of a corpus, gets a class; pairs with other words are left out of the counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.paraphrase.corpus_index import CorpusIndex

CLASSES = 1000
Rows = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]


def train_brown(
    index: CorpusIndex, words: Sequence[int], *, classes: int = CLASSES
) -> NDArray[np.uint16]:
    """The class of each of these words of an index, which must come most frequent first."""
    if len(words) < classes:
        raise InputError(
            f"The corpus is too small for {classes} Brown classes: there are {len(words)} words to "
            "put into them. Bring more text, or ask for fewer classes."
        )
    after, before = bigrams(index, words)
    found, _ = _native.brown_clusters(*after, *before, classes)
    return np.array(found, np.uint16)


def bigrams(index: CorpusIndex, words: Sequence[int]) -> tuple[Rows, Rows]:
    """By word, the words that follow it with counts, and those that precede it."""
    number = np.full(len(index.words), -1, np.int64)
    number[list(words)] = np.arange(len(words))
    numbered = number[index.tokens]
    is_pair = (numbered[:-1] >= 0) & (numbered[1:] >= 0)
    is_pair[(index.starts[1:-1] - 1).astype(np.int64)] = False
    first, second = numbered[:-1][is_pair], numbered[1:][is_pair]
    return _rows(first, second, len(words)), _rows(second, first, len(words))


def _rows(first: NDArray[np.int64], second: NDArray[np.int64], size: int) -> Rows:
    keys, counts = np.unique(first * size + second, return_counts=True)
    begins = np.searchsorted(keys, np.arange(size + 1) * size)
    return begins.astype(np.uint64), (keys % size).astype(np.uint32), counts.astype(np.uint32)
