"""Two markings of the same texts, compared character by character.

A *marking* says for each character whether it is marked, such as by a judge who marks errors. The *row*
of a text has four sums: the numbers of characters that both markings mark, that the first marks, that
the second marks, and that both would mark by chance, if each marked as many characters at random places
of this text. Rows are added; precision, recall and F1 are computed from the sums, so a text in which
nothing is marked changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from wellput.core.estimates import Estimate, ratios, undefined
from wellput.core.metric import Floats
from wellput.stats.clusters import (
    ClusteredItems,
    clustered_difference,
    clustered_interval,
    scores_without_clusters,
)
from wellput.stats.jackknife import ScoreFunction

Marked = NDArray[np.bool_]
"""Whether each character of a text is marked."""


class MarkedCount(IntEnum):
    """The columns of a row, in numbers of characters."""

    BOTH = 0
    FIRST = 1
    SECOND = 2
    BY_CHANCE = 3


def marked_counts(first: Marked, second: Marked) -> Floats:
    """The row of one text, from the two markings.

    >>> marked_counts(np.array([True, True, False, False]), np.array([False, True, True, False]))
    array([1., 2., 2., 1.])
    """
    n_first, n_second = int(first.sum()), int(second.sum())
    return np.array(
        [int((first & second).sum()), n_first, n_second, n_first * n_second / max(len(first), 1)],
        np.float64,
    )


def precision(sums: Floats) -> Floats:
    """The share of the characters marked by the first that the second marks too."""
    return ratios(sums[..., MarkedCount.BOTH], sums[..., MarkedCount.FIRST])


def recall(sums: Floats) -> Floats:
    """The share of the characters marked by the second that the first marks too."""
    return ratios(sums[..., MarkedCount.BOTH], sums[..., MarkedCount.SECOND])


def f1(sums: Floats) -> Floats:
    """Twice the number of characters that both mark, divided by the sum of the numbers that each
    marks."""
    return ratios(
        2 * sums[..., MarkedCount.BOTH],
        sums[..., MarkedCount.FIRST] + sums[..., MarkedCount.SECOND],
    )


def chance_f1(sums: Floats) -> Floats:
    """F1 if each marked as many characters of each text, at random places."""
    return ratios(
        2 * sums[..., MarkedCount.BY_CHANCE],
        sums[..., MarkedCount.FIRST] + sums[..., MarkedCount.SECOND],
    )


def chance_precision(sums: Floats) -> Floats:
    """Precision if each marked as many characters of each text, at random places."""
    return ratios(sums[..., MarkedCount.BY_CHANCE], sums[..., MarkedCount.FIRST])


def chance_recall(sums: Floats) -> Floats:
    """Recall if each marked as many characters of each text, at random places."""
    return ratios(sums[..., MarkedCount.BY_CHANCE], sums[..., MarkedCount.SECOND])


@dataclass(frozen=True, slots=True)
class MarkedAlike:
    """How far two markings agree, with intervals; the values that chance would give; and how far F1 is
    above its value by chance (`above_chance`), with the p-value of the hypothesis that the two are
    equal."""

    precision: Estimate
    recall: Estimate
    f1: Estimate
    chance_precision: float
    chance_recall: float
    chance_f1: float
    above_chance: Estimate


def marked_alike(
    rows: Floats, clusters: ClusteredItems, *, confidence: float = 0.95
) -> MarkedAlike:
    """The agreement, from the row of each item (the sum of its texts' rows). Intervals hold for other
    clusters of items."""
    total = rows.sum(axis=0)

    def estimate(score: ScoreFunction) -> Estimate:
        if not np.isfinite(score(total)):
            return undefined("nothing is marked", n=len(rows))
        return clustered_interval(rows, score, clusters, confidence=confidence, bounds=(0.0, 1.0))

    return MarkedAlike(
        estimate(precision),
        estimate(recall),
        estimate(f1),
        float(chance_precision(total)),
        float(chance_recall(total)),
        float(chance_f1(total)),
        _above_chance(rows, clusters, confidence),
    )


def _above_chance(rows: Floats, clusters: ClusteredItems, confidence: float) -> Estimate:
    """F1 minus its value by chance; both lie between 0 and 1."""
    if not np.isfinite(f1(rows.sum(axis=0))):
        return undefined("nothing is marked", n=len(rows))
    difference = clustered_difference(
        scores_without_clusters(rows, f1, clusters),
        scores_without_clusters(rows, chance_f1, clusters),
        rows[:, MarkedCount.BOTH] != rows[:, MarkedCount.BY_CHANCE],
        clusters,
        confidence=confidence,
    ).estimate
    low, high = (
        None if bound is None else min(max(bound, -1.0), 1.0)
        for bound in (difference.low, difference.high)
    )
    return replace(difference, low=low, high=high)
