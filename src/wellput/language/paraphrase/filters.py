"""Filters: the probability that a replacement is right in the context of the reference.

A filter gives a number from 0 to 1 for each replacement, or NaN for a word that it does not know. A
replacement is refused if its number is NaN or below the filter's threshold. *The paper* is Kauchak &
Barzilay (2006).
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
    """A replacement for `words[first:last]`; `words` are the lower-cased tokens of the sentence."""

    words: tuple[str, ...]
    first: int
    last: int
    replacement: Replacement

    def window(self, text: Sequence[str], reach: int) -> list[str]:
        """The words of `text` in place of the replaced words, with up to `reach` words on either
        side."""
        before = self.words[max(0, self.first - reach) : self.first]
        return [*before, *text, *self.words[self.last : self.last + reach]]


class Filter(Protocol):
    """Judges replacements in context."""

    @property
    def name(self) -> str:
        """The name that users choose."""

    @property
    def threshold(self) -> float:
        """The least probability of a replacement that is kept, unless the user sets another
        threshold."""

    def probabilities(self, queries: Sequence[Query]) -> Floats:
        """The probability of each query's replacement."""


class NoFilter:
    """Lets every replacement pass. The probability is the source's prior, which decides where two
    replacements need the same word."""

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
        return sigmoid(replacement_log_odds(self._classifiers, queries))


class ContextwnFilter:
    """The paper's method ContextWN: its classifiers, with as many negative as positive examples.

    The odds of classifiers that were learned with `negatives` negative examples for each positive one
    are multiplied by this number, as if both had been equally many. In the paper three quarters of the
    proposals passed with the threshold 0.5. The paper had far more sentences for each classifier, so
    the thresholds here are lower: seven of ten proposals pass on the data set DA2016 (ratings of
    translations).
    """

    name = "contextwn"

    def __init__(self, classifiers: ContextClassifiers, negatives: float) -> None:
        # With a `bag_order`, classifiers see n-grams of the whole sentence, like those of the paper.
        self.threshold = 0.015 if classifiers.bag_order else 0.1
        self._classifiers = classifiers
        self._shift = float(np.log(negatives))

    def probabilities(self, queries: Sequence[Query]) -> Floats:
        return sigmoid(replacement_log_odds(self._classifiers, queries) + self._shift)


class RelativeFilter:
    """Asks which of the two words is likelier in this context, by their classifiers and frequencies:
    the filter `classifier` with the option `relative`.

    The share of positive examples is the same for every classifier, whatever the word's frequency. So a
    word's odds in running text are the odds from its classifier times the word's frequency, but for a
    factor that is the same for all words.
    """

    name = "classifier"
    threshold = 0.5

    def __init__(self, classifiers: ContextClassifiers, bigrams: BigramModel) -> None:
        self._classifiers = classifiers
        self._bigrams = bigrams

    def probabilities(self, queries: Sequence[Query]) -> Floats:
        log_odds = replacement_log_odds(self._classifiers, queries) - np.nan_to_num(
            word_log_odds(self._classifiers, queries)
        )
        counts = [
            (self._bigrams.count(q.replacement.text), self._bigrams.count(q.words[q.first]))
            for q in queries
        ]
        frequencies = np.log1p(np.array(counts).reshape(-1, 2))
        return sigmoid(log_odds + frequencies[:, 0] - frequencies[:, 1])


def replacement_log_odds(classifiers: ContextClassifiers, queries: Sequence[Query]) -> Floats:
    """Log odds of the replacement in its context; NaN without a classifier for it."""
    return classifiers.log_odds(
        [(query.words, query.first, query.last, query.replacement.text) for query in queries]
    )


def word_log_odds(classifiers: ContextClassifiers, queries: Sequence[Query]) -> Floats:
    """Log odds of the word itself in its context; NaN without a classifier for it."""
    return classifiers.log_odds(
        [
            (query.words, query.first, query.last, " ".join(query.words[query.first : query.last]))
            for query in queries
        ]
    )


class LanguageModelFilter:
    """Whether a language model finds the rewritten reference at least as probable as the original. It
    reads `reach` words on either side of the replacement."""

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
    """Whether the rewritten reference is at least as probable as the original, by the bigrams of a
    paraphrase model."""

    name = "lm"
    threshold = 0.5

    def __init__(self, bigrams: BigramModel) -> None:
        self._bigrams = bigrams

    def probabilities(self, queries: Sequence[Query]) -> Floats:
        return sigmoid(bigram_gains(self._bigrams, queries))


def bigram_gains(bigrams: BigramModel, queries: Sequence[Query]) -> Floats:
    """The natural log of the factor by which the replacement makes the sentence more probable."""
    new = [_with_neighbors(query, query.replacement.text.split(" ")) for query in queries]
    old = [_with_neighbors(query, query.words[query.first : query.last]) for query in queries]
    scores = bigrams.log_probabilities(new + old)
    return scores[: len(queries)] - scores[len(queries) :]


def _with_neighbors(query: Query, text: Sequence[str]) -> list[str]:
    """The words of `text` with the word before and after the replaced words; "" beyond the sentence."""
    before = query.words[query.first - 1] if query.first else ""
    after = query.words[query.last] if query.last < len(query.words) else ""
    return [before, *text, after]


def sigmoid(log_odds: Floats) -> Floats:
    """1 / (1 + e^−x), without overflow."""
    result: Floats = 0.5 * (1 + np.tanh(log_odds / 2))
    return result
