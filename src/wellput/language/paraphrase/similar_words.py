"""Words with similar neighbors, as replacements of each other: LSA and Brown classes.

*The paper* is Kauchak & Barzilay (2006). In latent semantic analysis (LSA), words are similar if the
same words stand around them. The settings are the paper's, which were the defaults of the program
Infomap: 20,000 words, 1,000 features (the most frequent words that are not function words), 15 words
on either side, 100 dimensions. The paper does not say how counts are weighted; here it is by positive
pointwise mutual information.

Brown classes divide the words into a given number of classes whose words stand next to the same words.
The paper took 1,000 classes and the 20 most frequent words of each. Only the most frequent words of the
corpus get a class, and only pairs of two such words are counted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.language.paraphrase.bigrams import count_pairs
from wellput.language.paraphrase.candidates import Replacement
from wellput.language.paraphrase.corpus_index import CorpusIndex
from wellput.language.paraphrase.sentences import FUNCTION_WORDS

PLACES_A_BLOCK = 1 << 20
"""Cooccurrences are counted for this many places of the corpus at a time."""


@dataclass(frozen=True)
class LsaTraining:
    """Sizes for LSA: the words that get vectors, the words that serve as features, the words on either
    side that are counted, and the dimensions of a vector."""

    vocabulary: int = 20_000
    features: int = 1000
    window: int = 15
    dimensions: int = 100


@dataclass(frozen=True, eq=False)
class WordVectors:
    """LSA vectors of words, a row for each, the most frequent words first. Bytes are enough, because
    only angles between vectors are used."""

    words: list[str]
    vectors: NDArray[np.int8]

    @cached_property
    def row_of(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def _units(self) -> NDArray[np.float32]:
        vectors = self.vectors.astype(np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)

    def unit(self, word: str) -> NDArray[np.float32] | None:
        """The word's vector, scaled to length 1; None for an unknown word."""
        row = self.row_of.get(word)
        return None if row is None else self._units[row]

    def nearest(self, word: str, n: int) -> list[tuple[str, float]]:
        """The n most similar words with their cosines; none for an unknown word."""
        row = self.row_of.get(word)
        if row is None:
            return []
        cosines = self._units @ self._units[row]
        cosines[row] = -np.inf
        best = np.argpartition(-cosines, min(n, len(cosines) - 1))[:n]
        order = best[np.lexsort((best, -cosines[best]))]
        return [(self.words[i], float(cosines[i])) for i in order if np.isfinite(cosines[i])]


def train_lsa(index: CorpusIndex, settings: LsaTraining) -> WordVectors:
    """Vectors of the most frequent words of a corpus."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import svds

    words = frequent_words(index, settings.vocabulary)
    feature_words = [
        n for n in words if index.words[n] not in FUNCTION_WORDS and index.words[n][0].isalpha()
    ][: settings.features]
    if len(feature_words) <= settings.dimensions:
        raise InputError(
            f"The corpus is too small for {settings.dimensions} dimensions of LSA: it has only "
            f"{len(feature_words)} words for features. Add text, or use fewer dimensions."
        )
    counts = cooccurrences(index, words, feature_words, settings.window)
    weighted = csr_array(_mutual_information(counts))
    start = np.random.default_rng(0).standard_normal(len(feature_words))
    left, values, _ = svds(weighted, settings.dimensions, v0=start)
    vectors = left * values
    scale = np.abs(vectors).max(axis=1, keepdims=True)
    rounded = np.round(vectors / np.where(scale == 0, 1, scale) * 127).astype(np.int8)
    return WordVectors([index.words[n] for n in words], rounded)


def frequent_words(index: CorpusIndex, n: int) -> list[int]:
    """The numbers of the n most frequent words, without punctuation and numbers; of equally frequent
    ones the first in the corpus comes first."""
    order = np.argsort(-index.counts, kind="stable")
    return [int(i) for i in order if index.words[i][0].isalpha()][:n]


def cooccurrences(
    index: CorpusIndex, words: list[int], features: list[int], window: int
) -> NDArray[np.float32]:
    """How often each of the `features` (feature words) stands within `window` words of each of the
    `words`, also across sentence ends. The result is words by features; both arguments are numbers of
    words of the index."""
    rows = np.full(len(index.words), -1, np.int64)
    rows[words] = np.arange(len(words))
    columns = np.full(len(index.words), -1, np.int64)
    columns[features] = np.arange(len(features))
    counts = np.zeros(len(words) * len(features), np.float32)
    feature_places = np.flatnonzero(columns[index.tokens] >= 0)
    for begin in range(0, len(feature_places), PLACES_A_BLOCK):
        places = feature_places[begin : begin + PLACES_A_BLOCK]
        column = columns[index.tokens[places]]
        for offset in (*range(-window, 0), *range(1, window + 1)):
            neighbors = places + offset
            inside = (neighbors >= 0) & (neighbors < len(index))
            row = rows[index.tokens[neighbors[inside]]]
            cells = row[row >= 0] * len(features) + column[inside][row >= 0]
            distinct_cells, cell_counts = np.unique(cells, return_counts=True)
            counts[distinct_cells] += cell_counts
    return counts.reshape(len(words), len(features))


def _mutual_information(counts: NDArray[np.float32]) -> Floats:
    """max(0, log(P(word, feature) / (P(word) P(feature))))."""
    total = counts.sum(dtype=np.float64)
    expected = np.outer(
        counts.sum(axis=1, dtype=np.float64), counts.sum(axis=0, dtype=np.float64) / total
    )
    ratio = np.ones_like(expected)
    np.divide(counts, expected, out=ratio, where=counts > 0)
    result: Floats = np.maximum(np.log(ratio), 0)
    return result


BROWN_CLASSES = 1000
PairRows = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]
"""Pairs of words, row by row: where each row begins, and the columns and counts of the pairs."""


def train_brown(
    index: CorpusIndex,
    words: Sequence[int],
    *,
    classes: int = BROWN_CLASSES,
) -> NDArray[np.uint16]:
    """The class of each of the `words`, which are numbers of words of the index, the most frequent
    first."""
    if len(words) < classes:
        raise InputError(
            f"The corpus is too small for {classes} Brown classes: it has only {len(words)} words. "
            "Add text, or use fewer classes."
        )
    after, before = bigrams(index, words)
    class_numbers, _ = _native.brown_clusters(*after, *before, classes)
    return np.array(class_numbers, np.uint16)


def bigrams(index: CorpusIndex, words: Sequence[int]) -> tuple[PairRows, PairRows]:
    """For each word, the words that follow it with their counts, and the words that precede it with
    theirs."""
    first, second, counts = count_pairs(index, words)
    order = np.lexsort((first, second))
    return (
        _rows(first, second, counts, len(words)),
        _rows(second[order], first[order], counts[order], len(words)),
    )


def _rows(
    rows: NDArray[np.int64], columns: NDArray[np.int64], counts: NDArray[np.int64], size: int
) -> PairRows:
    """The sorted pairs as `PairRows` with `size` rows."""
    begins = np.searchsorted(rows, np.arange(size + 1))
    return begins.astype(np.uint64), columns.astype(np.uint32), counts.astype(np.uint32)


MAX_REPLACEMENTS = 20
"""The most replacements of a word, as in the paper."""


class WordCandidates(ABC):
    """A source of single words that can replace a word; it has no phrases."""

    def may_be_phrase(self, words: tuple[str, ...]) -> bool:
        return False

    def replacements(
        self, text: str, tag: str | None, offered: Set[str]
    ) -> Mapping[str, Replacement]:
        candidates = self.found_for(text)
        return {other: candidates[other] for other in candidates.keys() & offered}

    @abstractmethod
    def found_for(self, text: str) -> Mapping[str, Replacement]:
        """All words that can replace this one."""


class LsaCandidates(WordCandidates):
    """The 20 words most similar to a word by LSA; the prior is their cosine."""

    name = "lsa"

    def __init__(self, vectors: WordVectors, fingerprint: str) -> None:
        self._vectors = vectors
        self._cached: dict[str, dict[str, Replacement]] = {}
        self.fingerprint = fingerprint

    def found_for(self, text: str) -> Mapping[str, Replacement]:
        replacements = self._cached.get(text)
        if replacements is None:
            near = [] if text in FUNCTION_WORDS else self._vectors.nearest(text, MAX_REPLACEMENTS)
            replacements = {
                word: Replacement(word, self.name, max(0.0, cosine))
                for word, cosine in near
                if word not in FUNCTION_WORDS
            }
            self._cached[text] = replacements
        return replacements


class BrownCandidates(WordCandidates):
    """The 20 most frequent words of a Brown class, which can replace each other; the prior is 1."""

    name = "brown"

    def __init__(self, words: list[str], classes: NDArray[np.uint16], fingerprint: str) -> None:
        members: dict[int, list[str]] = {}
        for word, number in zip(words, classes.tolist(), strict=False):  # most frequent first
            members.setdefault(number, []).append(word)
        self._by_word: dict[str, dict[str, Replacement]] = {}
        for all_members in members.values():
            frequent = all_members[:MAX_REPLACEMENTS]
            replaceable = [word for word in frequent if word not in FUNCTION_WORDS]
            entries = {word: Replacement(word, self.name, 1.0) for word in replaceable}
            for word in replaceable:
                self._by_word[word] = {other: r for other, r in entries.items() if other != word}
        self.fingerprint = fingerprint

    def found_for(self, text: str) -> Mapping[str, Replacement]:
        return self._by_word.get(text, {})
