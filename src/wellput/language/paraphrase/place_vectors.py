"""`PlaceVectors`: how well a word goes together with the two words before it and the two after it.

The counts of neighbors at these four places are weighted by positive pointwise mutual information and
reduced to few dimensions (Levy & Goldberg 2014). The dot product of a word's vector and the vector of a
neighbor at a place says how well the two go together, even if they never occur together. The wide
windows of LSA find words of the same topic; these narrow ones find words that can replace each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.language.paraphrase.corpus_index import CorpusIndex
from wellput.language.paraphrase.filters import Query
from wellput.language.paraphrase.similar_words import frequent_words

# The places of the neighbors, counted from the word.
NEIGHBOR_PLACES = (-2, -1, 1, 2)
NEIGHBOR_WORDS = 2000
"""The number of frequent words that are counted as neighbors, at each place."""
DIMENSIONS = 64
"""The length of the vectors."""
SMOOTHING_POWER = 0.75
"""The neighbors' frequencies are raised to this power, as Levy, Goldberg & Dagan (2015) advise."""


@dataclass(frozen=True, eq=False)
class PlaceVectors:
    """Vectors stored as bytes: a row of bytes times its step is a vector. `vectors` has a row for each
    of `words`. `neighbors` has a row for each of `neighbor_words` at the first place, then one for
    each at the second place, and so on."""

    words: list[str]
    neighbor_words: list[str]
    vectors: NDArray[np.int8]
    steps: NDArray[np.float32]
    neighbors: NDArray[np.int8]
    neighbor_steps: NDArray[np.float32]

    def features(self, queries: Sequence[Query]) -> Floats:
        """A row for each query: how well the replacement goes with its neighbors, how much better than
        the replaced word, and the cosine of the two words; NaN for unknown words."""
        new = self._vectors_of([query.replacement.text for query in queries])
        old = self._vectors_of(
            [" ".join(query.words[query.first : query.last]) for query in queries]
        )
        rows = np.array([self._neighbor_rows(query) for query in queries], np.int64)
        rows = rows.reshape(-1, len(NEIGHBOR_PLACES))
        known = self._neighbor_vectors[rows] * (rows >= 0)[..., None]
        context = known.sum(axis=1)
        fit = (new * context).sum(axis=1)
        lengths = np.linalg.norm(new, axis=1) * np.linalg.norm(old, axis=1)
        cosine = (new * old).sum(axis=1) / np.where(lengths == 0, 1, lengths)
        return np.column_stack([fit, fit - (old * context).sum(axis=1), cosine])

    def _vectors_of(self, words: Sequence[str]) -> Floats:
        """The vector of each word; NaN for an unknown word."""
        rows = np.array([self._row_of.get(word, -1) for word in words], np.int64)
        vectors = self.vectors[rows].astype(np.float64) * self.steps[rows, None]
        vectors[rows < 0] = np.nan
        return vectors

    def _neighbor_rows(self, query: Query) -> list[int]:
        """For each place, the row of the query's neighbor there in `neighbors`; −1 for an unknown
        neighbor and beyond the sentence."""
        rows = []
        for number, place in enumerate(NEIGHBOR_PLACES):
            at = query.first + place if place < 0 else query.last + place - 1
            word = query.words[at] if 0 <= at < len(query.words) else ""
            row = self._row_of_neighbor.get(word, -1)
            rows.append(row if row < 0 else number * len(self.neighbor_words) + row)
        return rows

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def _row_of_neighbor(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.neighbor_words)}

    @cached_property
    def _neighbor_vectors(self) -> Floats:
        vectors: Floats = self.neighbors.astype(np.float64) * self.neighbor_steps[:, None]
        return vectors

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays for a model file, which stores `words` and `neighbor_words` separately."""
        return {
            "vectors": self.vectors,
            "steps": self.steps,
            "neighbors": self.neighbors,
            "neighbor_steps": self.neighbor_steps,
        }

    @classmethod
    def of_arrays(
        cls, words: list[str], neighbor_words: list[str], arrays: Mapping[str, NDArray[Any]]
    ) -> PlaceVectors:
        """Raises ValueError for arrays that do not fit together."""
        vectors, neighbors = arrays["vectors"], arrays["neighbors"]
        n_neighbors = len(NEIGHBOR_PLACES) * len(neighbor_words)
        if vectors.shape != (len(arrays["steps"]), vectors.shape[-1]) or neighbors.shape != (
            len(arrays["neighbor_steps"]),
            vectors.shape[-1],
        ):
            raise ValueError("the number of vectors or dimensions is wrong")
        if len(neighbors) != n_neighbors or len(vectors) > len(words):
            raise ValueError("the number of words is wrong")
        return cls(
            words[: len(vectors)],
            neighbor_words,
            arrays["vectors"],
            arrays["steps"],
            arrays["neighbors"],
            arrays["neighbor_steps"],
        )


def train_place_vectors(
    index: CorpusIndex,
    *,
    vocabulary: int,
    neighbors: int = NEIGHBOR_WORDS,
    dimensions: int = DIMENSIONS,
) -> PlaceVectors:
    """Vectors of the `vocabulary` most frequent words of a corpus, and of its `neighbors` most frequent
    tokens as neighbors."""
    from scipy.sparse.linalg import svds

    words = frequent_words(index, vocabulary)
    neighbor_numbers = [int(n) for n in np.argsort(-index.counts, kind="stable")[:neighbors]]
    weighted = _mutual_information(_counts(index, words, neighbor_numbers))
    rank = min(dimensions, min(weighted.shape) - 1)
    start = np.random.default_rng(0).standard_normal(min(weighted.shape))
    left, values, right = svds(weighted, rank, v0=start)
    vectors, steps = _in_bytes(left * np.sqrt(values))
    rows, row_steps = _in_bytes(right.T * np.sqrt(values))
    return PlaceVectors(
        [index.words[n] for n in words],
        [index.words[n] for n in neighbor_numbers],
        vectors,
        steps,
        rows,
        row_steps,
    )


def _counts(index: CorpusIndex, words: list[int], neighbor_numbers: list[int]) -> Any:
    """How often each neighbor stands at each place of each word within a sentence. A sparse array:
    words by (places × neighbors)."""
    from scipy.sparse import coo_array

    row = np.full(len(index.words), -1, np.int64)
    row[words] = np.arange(len(words))
    column = np.full(len(index.words), -1, np.int64)
    column[neighbor_numbers] = np.arange(len(neighbor_numbers))
    lengths = (index.starts[1:] - index.starts[:-1]).astype(np.int64)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    shape = len(words), len(NEIGHBOR_PLACES) * len(neighbor_numbers)
    total = coo_array(shape, dtype=np.float64).tocsr()
    for number, place in enumerate(NEIGHBOR_PLACES):
        word_places = np.arange(max(0, -place), len(index) - max(0, place))
        rows, columns = row[index.tokens[word_places]], column[index.tokens[word_places + place]]
        used = (
            (rows >= 0) & (columns >= 0) & (sentence[word_places] == sentence[word_places + place])
        )
        cells = rows[used], columns[used] + number * len(neighbor_numbers)
        total = total + coo_array((np.ones(used.sum()), cells), shape=shape).tocsr()
    return total.tocoo()


def _mutual_information(counts: Any) -> Any:
    """max(0, log(P(neighbor | word, place) / P(neighbor | place))); the divisor is smoothed."""
    from scipy.sparse import coo_array

    by_word = np.asarray(counts.sum(axis=1)).ravel() / len(NEIGHBOR_PLACES)
    by_neighbor = (
        np.asarray(counts.sum(axis=0)).reshape(len(NEIGHBOR_PLACES), -1) ** SMOOTHING_POWER
    )
    by_neighbor = (by_neighbor / by_neighbor.sum(axis=1, keepdims=True)).ravel()
    ratio = counts.data / (by_word[counts.row] * by_neighbor[counts.col])
    information = np.maximum(np.log(ratio), 0)
    return coo_array((information, (counts.row, counts.col)), shape=counts.shape).tocsr()


def _in_bytes(rows: Floats) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """The rows rounded to bytes, and the step by which each row of bytes must be multiplied."""
    steps = np.abs(rows).max(axis=1) / 127
    rounded = np.round(rows / np.where(steps == 0, 1, steps)[:, None]).astype(np.int8)
    return rounded, steps.astype(np.float32)
