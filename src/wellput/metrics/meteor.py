"""METEOR of Lavie & Agarwal (2007), with exactly the same scores as NLTK.

Words of an output are matched with words of a reference: first equal words, then words with the same
stem, then words that share a WordNet synset (a set of synonyms). The score is a harmonic mean of
precision and recall, in which recall has more weight, minus a penalty for matched words that are not
neighbors. The penalty counts *chunks*: sequences of matched words that are neighbors in both texts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics.base import MeanMetric
from wellput.text.porter import stem
from wellput.text.tokenizers import TokenizerName, tokenizer_signature
from wellput.text.tokenizers import tokenize as tokens_of

if TYPE_CHECKING:
    from wellput.language.models.wordnet import WordNet

Match = tuple[int, int]
"""A word of the output and a word of the reference, by their places."""

MAX_CACHED_WORDS = 1 << 16


@dataclass(frozen=True)
class Meteor(MeanMetric):
    """METEOR, from 0 to 1; the score of a corpus is the mean of its segments.

    `alpha` is the weight of recall against precision (1: only recall counts), `beta` and `gamma` decide
    the size of the penalty. With several references, the one with the highest score counts. A segment
    without a match has the score 0. Words are compared in lower case. METEOR needs WordNet's files
    (Debian: `wordnet-base`).
    """

    family: ClassVar[str] = "meteor"
    about: ClassVar[str] = "matched words, stems and synonyms, less a penalty for their order"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    is_always_defined: ClassVar[bool] = True
    paper: ClassVar[str] = "Lavie & Agarwal 2007, METEOR: An Automatic Metric for MT Evaluation"

    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5
    tokenize: TokenizerName = "13a"

    def __post_init__(self) -> None:
        self.require(0 <= self.alpha <= 1, f"alpha must be between 0 and 1, not {self.alpha}")
        self.require(self.beta >= 0, f"beta must not be negative, but is {self.beta}")
        self.require(0 <= self.gamma <= 1, f"gamma must be between 0 and 1, not {self.gamma}")

    def values(self, batch: Batch) -> Floats:
        words = lru_cache(MAX_CACHED_WORDS)(self._words)
        synonyms = self._synonyms
        scores = []
        for output, references in zip(batch.texts, batch.references, strict=True):
            hypothesis = words(output)
            scores.append(
                max(self._score(hypothesis, words(text), synonyms) for text in references)
            )
            batch.on_rows(1)
        return np.array(scores, dtype=np.float64)

    def signature(self) -> str:
        return "|".join(
            [
                "case:lc",
                f"tok:{tokenizer_signature(self.tokenize)}",
                f"alpha:{self.alpha}",
                f"beta:{self.beta}",
                f"gamma:{self.gamma}",
                f"wordnet:{self._wordnet.fingerprint[:12]}",
            ]
        )

    @cached_property
    def _wordnet(self) -> WordNet:
        from wellput.language.models.wordnet import open_wordnet

        return open_wordnet()

    @cached_property
    def _synonyms(self) -> Callable[[str], frozenset[str]]:
        return lru_cache(MAX_CACHED_WORDS)(self._wordnet.single_word_synonyms)

    def _words(self, text: str) -> tuple[str, ...]:
        return tuple(word.lower() for word in tokens_of(text, self.tokenize))

    def _score(
        self,
        hypothesis: Sequence[str],
        reference: Sequence[str],
        synonyms: Callable[[str], frozenset[str]],
    ) -> float:
        """The score of one output with one reference. `synonyms` gives the synonyms of a word."""
        matches = align(hypothesis, reference, synonyms)
        if not matches:
            return 0.0
        precision, recall = len(matches) / len(hypothesis), len(matches) / len(reference)
        mean = precision * recall / (self.alpha * precision + (1 - self.alpha) * recall)
        penalty: float = self.gamma * (count_chunks(matches) / len(matches)) ** self.beta
        return (1 - penalty) * mean


def align(
    hypothesis: Sequence[str],
    reference: Sequence[str],
    synonyms: Callable[[str], Iterable[str]],
) -> list[Match]:
    """Pairs of matched words, in the order of the hypothesis.

    Three rounds match equal words, equal stems and synonyms. Each round goes through the hypothesis'
    words that have no match yet, from the last to the first, and matches a word with the last
    unmatched word of the reference that fits. As in NLTK, the third round looks up the synonyms of
    the stem of the hypothesis' word, and compares them with the stems of the reference's words.

    >>> align(["the", "car", "stops"], ["cars", "stop", "the", "auto"], lambda word: {"auto"})
    [(0, 2), (1, 0), (2, 1)]
    """
    output_words, reference_words = list(enumerate(hypothesis)), list(enumerate(reference))
    matches = _match(output_words, reference_words, lambda word: (word,))
    output_words, reference_words = _unmatched(output_words, reference_words, matches)
    output_words = [(i, stem(word)) for i, word in output_words]
    reference_words = [(j, stem(word)) for j, word in reference_words]
    matches += _match(output_words, reference_words, lambda word: (word,))
    output_words, reference_words = _unmatched(output_words, reference_words, matches)
    return sorted(
        matches + _match(output_words, reference_words, lambda word: {word, *synonyms(word)})
    )


Words = list[tuple[int, str]]
"""Words with their places."""


def _unmatched(
    output_words: Words, reference_words: Words, matches: Sequence[Match]
) -> tuple[Words, Words]:
    """The words of the output and of the reference that have no match."""
    matched_outputs, matched_references = {i for i, _ in matches}, {j for _, j in matches}
    return (
        [(i, word) for i, word in output_words if i not in matched_outputs],
        [(j, word) for j, word in reference_words if j not in matched_references],
    )


def _match(
    output_words: Words, reference_words: Words, forms_of: Callable[[str], Iterable[str]]
) -> list[Match]:
    """Matches words of the output with words of the reference that are one of their forms."""
    places: dict[str, list[int]] = {}
    for j, word in reference_words:
        places.setdefault(word, []).append(j)
    matches: list[Match] = []
    for i, word in reversed(output_words):
        fitting = [places[form] for form in forms_of(word) if places.get(form)]
        if fitting:
            matches.append((i, max(fitting, key=lambda positions: positions[-1]).pop()))
    return matches


def count_chunks(matches: Sequence[Match]) -> int:
    """The number of chunks: sequences of matches whose words are neighbors in both texts.

    >>> count_chunks([(0, 2), (1, 3), (2, 0)])
    2
    """
    joined = (
        next_i == i + 1 and next_j == j + 1
        for (i, j), (next_i, next_j) in itertools.pairwise(matches)
    )
    return len(matches) - sum(joined)
