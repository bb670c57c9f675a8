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
from wellput.core.work import MapParts, map_here
from wellput.language.paraphrase.corpus_index import CorpusIndex
from wellput.language.paraphrase.pairs import count_pairs

CLASSES = 1000
Rows = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]


def train_brown(
    index: CorpusIndex,
    words: Sequence[int],
    *,
    classes: int = CLASSES,
    map_parts: MapParts = map_here,
) -> NDArray[np.uint16]:
    """The class of each of these words of an index, which must come most frequent first."""
    if len(words) < classes:
        raise InputError(
            f"The corpus is too small for {classes} Brown classes: there are {len(words)} words to "
            "put into them. Bring more text, or ask for fewer classes."
        )
    after, before = bigrams(index, words, map_parts=map_parts)
    found, _ = _native.brown_clusters(*after, *before, classes)
    return np.array(found, np.uint16)


def bigrams(
    index: CorpusIndex, words: Sequence[int], *, map_parts: MapParts = map_here
) -> tuple[Rows, Rows]:
    """By word, the words that follow it with counts, and those that precede it."""
    first, second, counts = count_pairs(index, words, map_parts=map_parts)
    order = np.lexsort((first, second))
    return (
        _rows(first, second, counts, len(words)),
        _rows(second[order], first[order], counts[order], len(words)),
    )


def _rows(
    rows: NDArray[np.int64], columns: NDArray[np.int64], counts: NDArray[np.int64], size: int
) -> Rows:
    begins = np.searchsorted(rows, np.arange(size + 1))
    return begins.astype(np.uint64), columns.astype(np.uint32), counts.astype(np.uint32)
