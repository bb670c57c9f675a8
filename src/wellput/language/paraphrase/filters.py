"""Filters: the probability that a replacement is right in the context of the reference.

All give numbers from 0 to 1, or NaN for a word they do not know. A replacement is refused if its
number is NaN or below the filter's threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from wellput.core.metric import Floats
from wellput.language.models.ngrams import NgramModel
from wellput.language.paraphrase.bigrams import BigramModel
from wellput.language.paraphrase.candidates import Replacement
from wellput.language.paraphrase.classifiers import ContextClassifiers

LN_10 = float(np.log(10.0))


class Query(NamedTuple):
    """A replacement for words[first:last] of a sentence; `words` are its lower-cased tokens."""

    words: tuple[str, ...]
    first: int
    last: int
    replacement: Replacement

    def window(self, text: Sequence[str], reach: int) -> list[str]:
        """`text` in place of the words, with up to `reach` words on either side."""
        before = self.words[max(0, self.first - reach) : self.first]
        return [*before, *text, *self.words[self.last : self.last + reach]]


class Filter(Protocol):
    """Judges replacements in context."""

    @property
    def name(self) -> str:
        """The name that users choose."""

    @property
    def threshold(self) -> float:
        """Less probable replacements are refused, unless the user sets another threshold."""

    def probabilities(self, queries: Sequence[Query]) -> Floats:
        """One for every query."""


class NoFilter:
    """Everything passes; the probability is the source's prior, which decides between rivals."""

    name = "none"
    threshold = 0.0

    def probabilities(self, queries: Sequence[Query]) -> Floats:
        return np.array([query.replacement.prior for query in queries])


class ClassifierFilter:
    """The paper's filter: can the replacement stand in this context?"""

    name = "classifier"
    threshold = 0.5

    def __init__(self, classifiers: ContextClassifiers) -> None:
        self._classifiers = classifiers

    def probabilities(self, queries: Sequence[Query]) -> Floats:
        return sigmoid(replacement_margins(self._classifiers, queries))


class ContextwnFilter:
    """ContextWN: the paper's classifiers at the paper's balance of one negative for each positive.

    Classifiers that were learned with other numbers of negatives have their odds multiplied by that
    number. The paper accepts what is more probable than not (.5), which keeps three quarters of its
    proposals. It had 255,000 sentences a classifier; with the hundreds to thousands of our text, .5
    keeps less than half. The thresholds here let seven of ten proposals pass on DA2016: one for
    classifiers that see n-grams of the whole sentence, as the paper's, one for those that do not.
    """

    name = "contextwn"

    def __init__(self, classifiers: ContextClassifiers, negatives: float) -> None:
        self.threshold = 0.015 if classifiers.bag_order else 0.1
        self._classifiers = classifiers
        self._shift = float(np.log(negatives))

    def probabilities(self, queries: Sequence[Query]) -> Floats:
        return sigmoid(replacement_margins(self._classifiers, queries) + self._shift)


class RelativeFilter:
    """Which of the two words is likelier in this context, by their classifiers and frequencies?

    The share of positive examples is the same for every classifier, so a word's odds in running text
    are those of its classifier times its frequency.
    """

    name = "classifier"
    threshold = 0.5

    def __init__(self, classifiers: ContextClassifiers, bigrams: BigramModel) -> None:
        self._classifiers = classifiers
        self._bigrams = bigrams

    def probabilities(self, queries: Sequence[Query]) -> Floats:
        margins = replacement_margins(self._classifiers, queries) - np.nan_to_num(
            word_margins(self._classifiers, queries)
        )
        counts = [
            (self._bigrams.count(q.replacement.text), self._bigrams.count(q.words[q.first]))
            for q in queries
        ]
        frequency = np.log1p(np.array(counts).reshape(-1, 2))
        return sigmoid(margins + frequency[:, 0] - frequency[:, 1])


def replacement_margins(classifiers: ContextClassifiers, queries: Sequence[Query]) -> Floats:
    """Log odds of the replacement in its context; NaN without a classifier for it."""
    return classifiers.log_odds([(*query[:3], query.replacement.text) for query in queries])


def word_margins(classifiers: ContextClassifiers, queries: Sequence[Query]) -> Floats:
    """Log odds of the word itself in its context; NaN without a classifier for it."""
    return classifiers.log_odds(
        [(*query[:3], " ".join(query.words[query.first : query.last])) for query in queries]
    )


class LanguageModelFilter:
    """Whether a language model finds the rewritten reference at least as probable as the original."""

    name = "lm"
    threshold = 0.5

    def __init__(self, model: NgramModel, *, reach: int = 6) -> None:
        self._model = model
        self._reach = reach

    def probabilities(self, queries: Sequence[Query]) -> Floats:
        new = [q.window(q.replacement.text.split(" "), self._reach) for q in queries]
        old = [q.window(q.words[q.first : q.last], self._reach) for q in queries]
        scores = self._model.sentence_scores([" ".join(words) for words in new + old])
        return sigmoid((scores[: len(queries)] - scores[len(queries) :]) * LN_10)


class BigramFilter:
    """The same, by the bigrams of a paraphrase model."""

    name = "lm"
    threshold = 0.5

    def __init__(self, bigrams: BigramModel) -> None:
        self._bigrams = bigrams

    def probabilities(self, queries: Sequence[Query]) -> Floats:
        return sigmoid(bigram_gains(self._bigrams, queries))


def bigram_gains(bigrams: BigramModel, queries: Sequence[Query]) -> Floats:
    """The natural log of the factor by which the replacement makes the sentence more probable."""
    new = [_beside(query, query.replacement.text.split(" ")) for query in queries]
    old = [_beside(query, query.words[query.first : query.last]) for query in queries]
    scores = bigrams.log_probabilities(new + old)
    return scores[: len(queries)] - scores[len(queries) :]


def _beside(query: Query, text: Sequence[str]) -> list[str]:
    """The text with one word on either side, as bigrams need it; "" beyond the sentence."""
    before = query.words[query.first - 1] if query.first else ""
    after = query.words[query.last] if query.last < len(query.words) else ""
    return [before, *text, after]


def sigmoid(log_odds: Floats) -> Floats:
    """1 / (1 + e^−x), without overflow."""
    result: Floats = 0.5 * (1 + np.tanh(log_odds / 2))
    return result
