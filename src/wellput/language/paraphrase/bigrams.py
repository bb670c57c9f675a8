"""`BigramModel`: a small language model of word pairs, which says which of two words fits a place
better.

Probabilities use absolute discounting: a constant is subtracted from the count of each stored pair. The
probability that this frees, and the probability of rare pairs, which are not stored, is divided among
all words by their frequencies. The model takes six bytes for each pair. `count_pairs` counts pairs of
neighboring words in a corpus, part by part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.language.paraphrase.corpus_index import CorpusIndex

PART_TOKENS = 1 << 22
"""The corpus is counted in parts of about this many tokens."""
WordPairs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
KeyCounts = tuple[NDArray[np.int64], NDArray[np.int64]]


def count_pairs(index: CorpusIndex, words: Sequence[int]) -> WordPairs:
    """The first words, second words and counts of all pairs of neighbors within a sentence, sorted. The
    result numbers words by their place in `words`; pairs with other words are left out."""
    size = len(words)
    new_numbers = np.full(len(index.words), -1, np.int64)  # -1 for the words that are left out
    new_numbers[list(words)] = np.arange(size)
    counted_parts = [_count_part(part, index, new_numbers, size) for part in _parts(index)]
    keys, counts = _summed(counted_parts)
    return keys // size, keys % size, counts


def _parts(index: CorpusIndex) -> list[tuple[int, int]]:
    """Runs of whole sentences: the number of the first sentence, and of the one after the last."""
    places = np.arange(0, len(index), PART_TOKENS, dtype=np.uint64)
    firsts = np.searchsorted(index.starts, places).tolist()
    return list(pairwise(sorted({*firsts, len(index.starts) - 1})))


def _count_part(
    part: tuple[int, int], index: CorpusIndex, new_numbers: NDArray[np.int64], size: int
) -> KeyCounts:
    """The pairs of one part of the corpus, each as the key `first word · size + second word`, and their
    counts."""
    first, last = part
    starts = index.starts[first : last + 1].astype(np.int64)
    numbered = new_numbers[index.tokens[starts[0] : starts[-1]]]
    is_pair = (numbered[:-1] >= 0) & (numbered[1:] >= 0)
    is_pair[starts[1:-1] - starts[0] - 1] = False  # not across the end of a sentence
    return np.unique(numbered[:-1][is_pair] * size + numbered[1:][is_pair], return_counts=True)


def _summed(counted: Sequence[KeyCounts]) -> KeyCounts:
    keys = np.concatenate([keys for keys, _ in counted])
    counts = np.concatenate([counts for _, counts in counted])
    order = np.argsort(keys, kind="stable")  # merges sorted runs
    keys = keys[order]
    firsts = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[firsts], np.add.reduceat(counts[order], firsts)


DISCOUNT = 0.75
"""What is subtracted from the count of each pair."""
UNKNOWN_COUNT = 0.5
"""The count that an unknown word is treated as having."""
MAX_BIGRAM_WORDS = 1 << 16


@dataclass(frozen=True, eq=False)
class BigramModel:
    """Counts of words and of pairs. `pairs` is sorted; each entry is the first word's number · 2¹⁶ +
    the second word's number, and `pair_counts` has its count. `counts` has the count of each of the
    `words`; `total` is the number of tokens in the corpus, with those of unknown words."""

    words: list[str]
    counts: NDArray[np.uint32]
    pairs: NDArray[np.uint32]
    pair_counts: NDArray[np.uint16]
    total: float

    @cached_property
    def number_of(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def _left_over(self) -> Floats:
        """By first word, the share of its probability that is left for pairs that are not stored."""
        used = np.bincount(self.pairs >> 16, self.pair_counts - DISCOUNT, minlength=len(self.words))
        result: Floats = np.maximum(1 - used / np.maximum(self.counts, 1), 1e-6)
        return result

    def count(self, word: str) -> float:
        """How often the word occurs in the corpus; 0 for an unknown word."""
        number = self.number_of.get(word)
        return 0.0 if number is None else float(self.counts[number])

    def log_probabilities(self, windows: Sequence[Sequence[str]]) -> Floats:
        """For each window (a list of words), the natural log of the probability of its words after the
        first one, given the first."""
        sizes = [len(window) - 1 for window in windows]
        numbers = [[self.number_of.get(word, -1) for word in window] for window in windows]
        first = np.array([n for row in numbers for n in row[:-1]], np.int64)
        second = np.array([n for row in numbers for n in row[1:]], np.int64)
        logs = np.log(self._probabilities(first, second))
        rows = np.repeat(np.arange(len(windows)), sizes)
        return np.bincount(rows, logs, minlength=len(windows)).astype(np.float64)

    def _probabilities(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
        """The probability of each word `second` after the word `first`; a number below 0 stands for
        an unknown word."""
        known = np.maximum(second, 0)
        single = np.where(second < 0, UNKNOWN_COUNT, self.counts[known]) / self.total
        keys = (first << 16) + second
        places = np.minimum(np.searchsorted(self.pairs, keys), max(len(self.pairs) - 1, 0))
        result = np.where(first < 0, single, self._left_over[np.maximum(first, 0)] * single)
        if len(self.pairs):
            has_pair = (self.pairs[places] == keys) & (first >= 0) & (second >= 0)
            discounted = (self.pair_counts[places] - DISCOUNT) / self.counts[np.maximum(first, 0)]
            result = result + np.where(has_pair, discounted, 0.0)
        return result

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "counts": self.counts,
            "pairs": self.pairs,
            "pair_counts": self.pair_counts,
            "total": np.array([self.total], np.float64),
        }

    @classmethod
    def of_arrays(cls, words: list[str], arrays: Mapping[str, NDArray[Any]]) -> BigramModel:
        """Raises ValueError for arrays that do not fit together."""
        pairs = arrays["pairs"]
        if len(words) != len(arrays["counts"]) or len(pairs) != len(arrays["pair_counts"]):
            raise ValueError("words and counts, or pairs and their counts, differ in number")
        if (pairs >> 16 >= len(words)).any() or not 0 < arrays["total"][0] < np.inf:
            raise ValueError("a pair of unknown words, or no words at all")
        return cls(
            words,
            arrays["counts"],
            arrays["pairs"],
            arrays["pair_counts"],
            float(arrays["total"][0]),
        )


def train_bigrams(index: CorpusIndex, words: Sequence[int], *, min_count: int) -> BigramModel:
    """The model of a corpus. `words` are numbers of words of the index; their pairs within sentences
    are stored if they occur at least `min_count` times."""
    model_words = list(words)[:MAX_BIGRAM_WORDS]
    first, second, counts = count_pairs(index, model_words)
    is_frequent = counts >= min_count
    return BigramModel(
        [index.words[n] for n in model_words],
        index.counts[model_words].astype(np.uint32),
        ((first << 16) + second)[is_frequent].astype(np.uint32),
        np.minimum(counts[is_frequent], (1 << 16) - 1).astype(np.uint16),
        float(len(index)),
    )
