"""chrF and chrF++ (Popović 2015, 2017), 0 to 100: the same options and exactly the same scores as
sacreBLEU.

An *order* is the length of n-grams: order 2 has the pairs of neighboring characters or words. A row of
statistics has three numbers for every order, those of characters before those of words: the number of
n-grams in the hypothesis, in the reference that gives the best score, and in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wellput import _native
from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics.base import BaseMetric, lowered, lowered_lists

EMPTY_ORDER_VALUE = 1e-16
"""The value that sacreBLEU uses for an order without n-grams or matches, if `eps_smoothing` is true."""


MAX_BETA = 1_000_000
"""With a larger beta, precision would have no visible influence on the score."""


@dataclass(frozen=True)
class Chrf(BaseMetric):
    """chrF; with `word_order=2`, chrF++. `char_order` and `word_order` are the greatest lengths of
    n-grams of characters and of words. `beta` is the weight of recall; with `whitespace`, spaces
    count as characters, too.

    Precision and recall are averaged over the orders for which both texts have n-grams, and the
    score is their F-measure; with `eps_smoothing` it is the mean F-measure of all orders.
    """

    char_order: int = 6
    word_order: int = 0
    beta: int | float = 2
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False

    family: ClassVar[str] = "chrf"
    is_always_defined: ClassVar[bool] = True
    about: ClassVar[str] = "F-score over character n-grams (and words, as chrF++), 0 to 100"
    paper: ClassVar[str] = "Popović 2015, 2017"
    bounds: ClassVar[Bounds] = (0.0, 100.0)
    perfect: ClassVar[Mapping[str, float]] = {
        "score": 100.0,
        "precision": 100.0,
        "recall": 100.0,
    }

    def __post_init__(self) -> None:
        self.require(
            min(self.char_order, self.word_order) >= 0
            and max(self.char_order, self.word_order) <= 1000
            and self.char_order + self.word_order >= 1,
            "char_order and word_order must be from 0 to 1000, and one of them 1 or more.",
        )
        self.require(0 <= self.beta <= MAX_BETA, f"beta must be from 0 to {MAX_BETA:,}.")

    def statistics(self, batch: Batch) -> Floats:
        hypotheses, references = batch.texts, batch.references
        if self.lowercase:
            hypotheses, references = lowered(hypotheses), lowered_lists(references)
        return _native.chrf_statistics(
            hypotheses,
            references,
            self.char_order,
            self.word_order,
            float(self.beta**2),
            self.whitespace,
            self.eps_smoothing,
            batch.threads,
        )

    def score(self, statistics: Floats) -> Floats:
        if self.eps_smoothing:
            return self._mean_f(statistics)
        return 100.0 * self._f(*self._averages(statistics))

    def components(self, statistics: Floats) -> dict[str, Floats]:
        """Average precision and recall in percent; lengths in characters (in words if char_order=0)."""
        precision, recall = self._averages(statistics)
        return {
            "precision": 100.0 * precision,
            "recall": 100.0 * recall,
            "length": statistics[..., 0],
            "reference_length": statistics[..., 1],
        }

    def signature(self) -> str:
        """The fields of sacreBLEU's signature in its order. beta, which sacreBLEU has in the metric's
        name, is shown only if it is not 2."""
        return "|".join(
            [
                f"case:{'lc' if self.lowercase else 'mixed'}",
                f"eff:{'no' if self.eps_smoothing else 'yes'}",
                f"nc:{self.char_order}",
                f"nw:{self.word_order}",
                f"space:{'yes' if self.whitespace else 'no'}",
                *([f"beta:{self.beta}"] if self.beta != 2 else []),
            ]
        )

    def _f(self, precision: Floats, recall: Floats, *, otherwise: float = 0.0) -> Floats:
        """The F-measure of precision and recall; `otherwise` where its denominator is 0."""
        factor = self.beta**2
        denominator = factor * precision + recall
        result = np.full(denominator.shape, otherwise)
        np.divide((1 + factor) * precision * recall, denominator, out=result, where=denominator > 0)
        return result

    def _averages(self, statistics: Floats) -> tuple[Floats, Floats]:
        """Precision and recall, averaged over the orders for which both texts have n-grams."""
        hypothesis, reference, matches = _by_order(statistics)
        is_counted = (hypothesis > 0) & (reference > 0)
        orders = np.maximum(is_counted.sum(axis=0), 1)
        precision = np.divide(matches, hypothesis, out=np.zeros(matches.shape), where=is_counted)
        recall = np.divide(matches, reference, out=np.zeros(matches.shape), where=is_counted)
        return precision.sum(axis=0) / orders, recall.sum(axis=0) / orders

    def _mean_f(self, statistics: Floats) -> Floats:
        """The mean F-measure of all orders; an order without n-grams or matches has a very small
        value."""
        hypothesis, reference, matches = _by_order(statistics)
        shape = matches.shape
        precision = np.divide(
            matches, hypothesis, out=np.full(shape, EMPTY_ORDER_VALUE), where=hypothesis > 0
        )
        recall = np.divide(
            matches, reference, out=np.full(shape, EMPTY_ORDER_VALUE), where=reference > 0
        )
        by_order = self._f(precision, recall, otherwise=EMPTY_ORDER_VALUE)
        return np.asarray(100.0 * by_order.sum(axis=0) / len(by_order))


def _by_order(statistics: Floats) -> tuple[Floats, Floats, Floats]:
    """The numbers of n-grams in the hypothesis, in the reference and in both, with the orders along the
    first axis."""
    counts = np.moveaxis(statistics, -1, 0)
    return counts[0::3], counts[1::3], counts[2::3]
