"""Scores and their differences with a standard error from leaving out one item at a time.

*Statistics* are numbers that a metric counts on each item, such as BLEU's matching n-grams; an array of
a system's statistics has one row per item, (n, k). A `ScoreFunction` makes scores of sums of these
rows: from (…, k) to (…). `WithoutItems` holds a system's score without each item. The spread of those
scores gives the standard error (Efron & Tibshirani 1993, ch. 11), and Student's t gives the interval
and the p-value. The degrees of freedom are one less than the items; for a difference, one less than the
items on which the two systems differ, because only those show the spread. For a mean over items without
ties or skewness this is the paired t test. Where differences are skewed, the test is more cautious
(`CautiousStudent`). The method also works for any smooth function of sums, such as BLEU. Nothing is
random: the same rows give the same figures.

Two systems that are right or wrong on each item are compared by their shares of right items
(`proportions.py`).

Items are assumed to be independent. Where several come from one document, whole documents are left out
instead (`clusters.py`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.estimates import CONSTANT_SPREAD_SHARE, Bounds, Estimate, block_sum
from wellput.core.metric import Floats
from wellput.core.options import checks_options
from wellput.stats.proportions import is_share, share_interval
from wellput.stats.student import IDENTITY, CautiousStudent, Scale, student_estimate
from wellput.stats.two_way_jackknife import jackknife_variance

ScoreFunction: TypeAlias = Callable[[Floats], Floats]

MIN_RELATIVE_SPREAD = 1e-10
"""A standard deviation of differences this small, relative to the largest difference, is rounding."""
ROUNDING_STEPS = 32
"""The rounding error of one score is at most this many times a double's relative precision; that of
BLEU, which takes logarithms, is a few times."""
BLOCK_ROWS = 65_536
"""How many rows are scored at a time, so that a large corpus needs little more memory than its
scores."""


@dataclass(frozen=True, slots=True, eq=False)
class WithoutItems:
    """A system's score on all items (`value`), and without each: `scores[i]` is without item i.
    `contributes` says which items add anything to the statistics."""

    value: float
    scores: Floats
    contributes: NDArray[np.bool_]

    @property
    def error(self) -> float:
        """The standard error of the score; 0 where all items contribute the same."""
        return _error(self.scores[self.contributes], abs(self.value))


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A difference of two scores. `inferred` has the difference with its standard error; it is None
    where there is no standard error."""

    estimate: Estimate
    inferred: CautiousStudent | None

    def equivalence_p(self, margin: float) -> float | None:
        """The p-value that the true difference is `margin` or more away from 0, on either side; None
        without a standard error."""
        return None if self.inferred is None else self.inferred.equivalence_p(margin)


def scores_without_items(statistics: Floats, score: ScoreFunction) -> WithoutItems:
    """The score of all rows of statistics, and the score without each row."""
    total = block_sum(statistics)
    scores = np.empty(len(statistics))
    for start in range(0, len(statistics), BLOCK_ROWS):
        scores[start : start + BLOCK_ROWS] = score(total - statistics[start : start + BLOCK_ROWS])
    contributes: NDArray[np.bool_] = (statistics != 0).any(axis=1)
    return WithoutItems(float(score(total)), scores, contributes)


@checks_options
def score_interval(
    statistics: Floats,
    score: ScoreFunction,
    *,
    confidence: float = 0.95,
    bounds: Bounds = (None, None),
) -> Estimate:
    """The score of all items with its interval, which stays within `bounds`.

    Where every item counts 0 or 1 the interval is that of a share. Otherwise it is the jackknife's, on
    a scale where a score between bounds has a symmetric error: log odds between two bounds, the
    logarithm of the distance to a single bound. There is no interval where all items contribute the
    same, or where fewer than two items have statistics other than 0.
    """
    contributing = statistics[(statistics != 0).any(axis=1)]
    if is_share(contributing, score, bounds):
        hits = int(contributing[:, 0].sum())
        return share_interval(hits, len(contributing), confidence=confidence)
    return jackknife_interval(
        scores_without_items(statistics, score),
        freedom=len(contributing) - 1,
        n=len(statistics),
        confidence=confidence,
        bounds=bounds,
    )


def jackknife_interval(
    without: WithoutItems,
    *,
    freedom: float,
    n: int,
    confidence: float,
    bounds: Bounds,
    method: str = "jackknife",
) -> Estimate:
    """The jackknife's interval, from scores computed before; `n` is the number of items."""
    scale, slope = _scale_between(*bounds, at=without.value)
    estimate = student_estimate(
        without.value,
        without.error * slope,
        freedom,
        null=None,
        confidence=confidence,
        scale=scale,
        method=method,
        n=n,
    )
    return estimate if scale is not IDENTITY else _within(bounds, estimate)


@checks_options
def paired_jackknife(
    a: Floats, b: Floats, score: ScoreFunction, *, confidence: float = 0.95
) -> PairedDifference:
    """The difference score(a) − score(b) on the same items, with its interval and two-sided p-value."""
    return jackknife_difference(
        scores_without_items(a, score),
        scores_without_items(b, score),
        n_differing(a, b),
        confidence=confidence,
    )


def n_differing(a: Floats, b: Floats) -> int:
    """The number of items whose statistics differ."""
    return int(np.count_nonzero(is_differing(a, b)))


def is_differing(a: Floats, b: Floats) -> NDArray[np.bool_]:
    """Whether the statistics of each item differ, by more than rounding: the mean of three samples
    depends on their order in its last digit."""
    largest = np.maximum(np.abs(a), np.abs(b))
    return np.asarray(np.any(np.abs(a - b) > CONSTANT_SPREAD_SHARE * largest, axis=1))


def jackknife_difference(
    a: WithoutItems,
    b: WithoutItems,
    differing: int,
    *,
    confidence: float = 0.95,
    freedom: float | None = None,
    n: int | None = None,
    method: str = "jackknife",
) -> PairedDifference:
    """As `paired_jackknife`, from scores computed before; the systems differ on `differing` items. The
    degrees of freedom are `differing` - 1, unless given; `n` is the number of items, by default that of
    the scores.

    Three cases have no interval. Two systems that differ on one item or none get p = 1. Two systems
    whose outputs differ, but whose scores are always equal, such as a BLEU of 0, get p = 1. Where every
    item differs by the same amount there is no spread to measure: p is the chance that equally good
    systems differ in the same direction on every item.
    """
    value = a.value - b.value
    contributes = a.contributes | b.contributes
    differences = (a.scores - b.scores)[contributes]
    size = max(abs(a.value), abs(b.value))
    error = _error(differences, size)
    if not error > 0 or differing < 2:
        is_equal = abs(value) <= rounding_error(len(differences), size)
        p_value = 1.0 if is_equal else 2.0 ** min(0, 1 - differing)
        if math.isnan(error):
            p_value = math.nan
        estimate = Estimate(
            value, p_value=p_value, method="sign", n=n or len(contributes), null=0.0
        )
        return PairedDifference(estimate, None)
    # Without an item whose difference is large, the difference of the scores falls: skewness is
    # negated.
    inferred = CautiousStudent(
        value, error, differing - 1 if freedom is None else freedom, -_skew(differences)
    )
    estimate = inferred.estimate(confidence=confidence, n=n or len(contributes), method=method)
    return PairedDifference(estimate, inferred)


def effect_size(a: Floats, b: Floats) -> float | None:
    """Cohen's d of paired items (d_z): the mean of the differences of segment scores divided by their
    standard deviation; None where fewer than two items have a difference, or all differences are equal.

    >>> effect_size(np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0, 1.0]))
    1.0
    """
    differences = a - b
    differences = differences[~np.isnan(differences)]
    if len(differences) < 2:
        return None
    spread = float(differences.std(ddof=1))
    is_flat = spread <= MIN_RELATIVE_SPREAD * float(np.abs(differences).max())
    return None if is_flat else float(differences.mean()) / spread


def _error(scores: Floats, size: float) -> float:
    """The jackknife's standard error, from scores without one item each; `size` is the absolute value
    of the score of all items."""
    error = math.sqrt(jackknife_variance(scores))
    return 0.0 if error <= rounding_error(len(scores), size) else error


def rounding_error(n: int, size: float) -> float:
    """How large the standard error of n scores of this size is by rounding alone."""
    return ROUNDING_STEPS * sys.float_info.epsilon * math.sqrt(n) * size


def _skew(values: Floats) -> float:
    """The skewness of the values divided by the root of their number: the skewness of their mean."""
    deviations = values - values.mean()
    if not (deviations**2).sum() ** 1.5 > 0:  # too small to be squared
        largest = np.abs(deviations).max()
        deviations = deviations / largest if largest > 0 else np.ones_like(deviations)
    return float((deviations**3).sum() / (deviations**2).sum() ** 1.5)


def _within(bounds: Bounds, estimate: Estimate) -> Estimate:
    """The interval without what lies beyond a bound. Needed for a score on a bound, which
    `_scale_between` does not transform."""
    low, high, value = estimate.low, estimate.high, estimate.value
    bottom, top = bounds
    if low is not None and bottom is not None:
        low = max(low, min(bottom, value))
    if high is not None and top is not None:
        high = min(high, max(top, value))
    return replace(estimate, low=low, high=high)


def _scale_between(low: float | None, high: float | None, *, at: float) -> tuple[Scale, float]:
    """The scale for the score `at` between bounds, and the scale's slope there, which converts a
    standard error to that scale (the delta method). A score on or beyond a bound is not transformed."""
    if not (math.isfinite(at) and (low is None or low < at) and (high is None or at < high)):
        return IDENTITY, 1.0
    if low is not None and high is not None:
        bottom, width = low, high - low
        scale = Scale(
            lambda x: np.arctanh(2 * (x - bottom) / width - 1),
            lambda z: bottom + width * (np.tanh(z) + 1) / 2,
        )
        return scale, width / (2 * (at - low) * (high - at))
    if low is not None:
        bottom = low
        return Scale(lambda x: np.log(x - bottom), lambda z: bottom + np.exp(z)), 1 / (at - low)
    if high is not None:
        top = high
        return Scale(lambda x: -np.log(top - x), lambda z: top - np.exp(-z)), 1 / (high - at)
    return IDENTITY, 1.0
