"""How often words stand side by side, counted in parts of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wellput.core.work import MapParts, map_here
from wellput.language.paraphrase.corpus_index import CorpusIndex

PART_TOKENS = 1 << 22
Pairs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
Counts = tuple[NDArray[np.int64], NDArray[np.int64]]


def count_pairs(
    index: CorpusIndex, words: Sequence[int], *, map_parts: MapParts = map_here
) -> Pairs:
    """First words, second words and counts of the pairs within sentences, sorted. Words are given by
    their place in `words`; pairs with other words are left out."""
    size = len(words)
    number = np.full(len(index.words), -1, np.int64)
    number[list(words)] = np.arange(size)
    found = list(map_parts(_count_part, _parts(index), index, number, size))
    keys, counts = _summed(found)
    return keys // size, keys % size, counts


def _parts(index: CorpusIndex) -> list[tuple[int, int]]:
    """Runs of whole sentences: the first, and the one after the last."""
    places = np.arange(0, len(index), PART_TOKENS, dtype=np.uint64)
    firsts = np.searchsorted(index.starts, places).tolist()
    return list(pairwise(sorted({*firsts, len(index.starts) - 1})))


def _count_part(
    part: tuple[int, int], index: CorpusIndex, number: NDArray[np.int64], size: int
) -> Counts:
    first, last = part
    starts = index.starts[first : last + 1].astype(np.int64)
    numbered = number[index.tokens[starts[0] : starts[-1]]]
    is_pair = (numbered[:-1] >= 0) & (numbered[1:] >= 0)
    is_pair[starts[1:-1] - starts[0] - 1] = False  # not over the end of a sentence
    return np.unique(numbered[:-1][is_pair] * size + numbered[1:][is_pair], return_counts=True)


def _summed(counted: Sequence[Counts]) -> Counts:
    keys = np.concatenate([keys for keys, _ in counted])
    counts = np.concatenate([counts for _, counts in counted])
    order = np.argsort(keys, kind="stable")  # which merges what is sorted
    keys = keys[order]
    firsts = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[firsts], np.add.reduceat(counts[order], firsts)
