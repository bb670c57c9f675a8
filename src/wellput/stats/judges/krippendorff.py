"""Krippendorff's alpha: agreement of any number of judges, with missing ratings, at any level of
measurement.

Alpha is 1 − observed / expected disagreement (Krippendorff 2004, ch. 11): 1 is perfect agreement, 0 is
chance, below 0 is systematic disagreement. The level says how much two ratings a and b disagree:

- `nominal`: 0 or 1;
- `interval`: (a − b)²;
- `ordinal`: (a − b)² of their mean ranks among all ratings that count;
- `ratio`: ((a − b) / (a + b))².

Only units with two ratings or more count.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from wellput.core.errors import InputError
from wellput.core.estimates import NAN, Estimate, undefined
from wellput.core.metric import Floats
from wellput.stats.judges.ratings import as_ratings, packed_by_unit
from wellput.stats.resampling import check_resampling, percentile_interval

MeasurementLevel = Literal["nominal", "ordinal", "interval", "ratio"]

BLOCK_VALUES = 1024
"""How many distinct values are compared at a time with all others, at the ratio level."""


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    level: MeasurementLevel = "interval",
    n_resamples: int = 0,
    seed: int = 12345,
    confidence: float = 0.95,
) -> Estimate:
    """Alpha of ratings (judges × units, NaN = missing), with an interval if `n_resamples` > 0.

    The interval is the percentile bootstrap over units. Each resample has its own disagreements, and at
    the ordinal level its own ranks.
    """
    if level not in get_args(MeasurementLevel):
        raise InputError(f"level={level!r} is none of {', '.join(get_args(MeasurementLevel))}.")
    if n_resamples:
        check_resampling(n_resamples, seed)
    ratings = packed_by_unit(as_ratings(ratings))
    ratings = ratings[:, (~np.isnan(ratings)).sum(axis=0) > 1]
    units = ratings.shape[1]
    if not units:
        return undefined("no unit has two ratings", n=0)
    if level == "ratio" and (ratings < 0).any():
        return undefined("ratings below 0 have no ratio; use the interval level", n=units)
    value = _alpha(ratings, level)
    if np.isnan(value):
        return undefined("all ratings are the same", n=units)
    method = f"Krippendorff's alpha, {level}"
    if not n_resamples:
        return Estimate(value, method=method, n=units)
    rng = np.random.default_rng(seed)
    replicates = np.array(
        [_alpha(ratings[:, rng.integers(0, units, units)], level) for _ in range(n_resamples)]
    )
    low, high = percentile_interval(replicates, confidence=confidence)
    method += f"; percentile bootstrap over units, {n_resamples} resamples"
    return Estimate(value, low, high, method=method, n=units, seed=seed)


def _alpha(ratings: Floats, level: MeasurementLevel) -> float:
    """Alpha of the result of `packed_by_unit`, with at least two ratings in each unit; NaN where all
    ratings are the same."""
    present = ~np.isnan(ratings)
    counts = present.sum(axis=0)
    all_ratings = ratings[present]
    if np.ptp(all_ratings) == 0:
        return NAN
    if level == "interval":
        within, total = _squared_differences(ratings, counts)
    elif level == "ordinal":
        within, total = _squared_differences(_mean_ranks(ratings), counts)
    elif level == "nominal":
        within, total = _unequal_pairs(ratings, counts)
    else:
        within, total = _ratio_differences(ratings)
    n = int(counts.sum())
    return float(1 - (within / (counts - 1)).sum() * (n - 1) / total)


def _mean_ranks(ratings: Floats) -> Floats:
    """The mean rank of each rating among all ratings. Krippendorff's ordinal difference of two values
    counts the ratings between them, and half of the ratings that equal one of them: this is the
    difference of the values' mean ranks."""
    present = ~np.isnan(ratings)
    _, codes, sizes = np.unique(ratings[present], return_inverse=True, return_counts=True)
    ranks = np.full(ratings.shape, np.nan)
    ranks[present] = (np.cumsum(sizes) - (sizes - 1) / 2)[codes]
    return ranks


def _squared_differences(ratings: Floats, counts: Floats) -> tuple[Floats, float]:
    """The sums of (a − b)² over all ordered pairs, within each unit and over all ratings.

    For m ratings, this sum is 2 m times the sum of their squared differences from their mean.
    """
    n = counts.sum()
    centered = ratings - np.nansum(ratings) / n
    deviations = centered - np.nansum(centered, axis=0) / counts
    within = 2 * counts * np.nansum(deviations**2, axis=0)
    return within, float(2 * n * np.nansum(centered**2))


def _unequal_pairs(ratings: Floats, counts: Floats) -> tuple[Floats, float]:
    """How many ordered pairs of ratings differ, within each unit and over all ratings."""
    present = ~np.isnan(ratings)
    _, codes, sizes = np.unique(ratings[present], return_inverse=True, return_counts=True)
    units = np.nonzero(present)[1]
    cells, repeats = np.unique(units * len(sizes) + codes, return_counts=True)
    equal = np.bincount(cells // len(sizes), weights=repeats**2, minlength=len(counts))
    return counts**2 - equal, float(counts.sum() ** 2 - (sizes**2).sum())


def _ratio_differences(ratings: Floats) -> tuple[Floats, float]:
    """The sums of ((a − b) / (a + b))² over all ordered pairs, within each unit and over all
    ratings."""
    within = np.zeros(ratings.shape[1])
    for place in range(len(ratings) - 1):
        within += 2 * np.nansum(_ratio_distance(ratings[place], ratings[place + 1 :]), axis=0)
    values, sizes = np.unique(ratings[~np.isnan(ratings)], return_counts=True)
    total = 0.0
    for start in range(0, len(values), BLOCK_VALUES):
        block = slice(start, start + BLOCK_VALUES)
        total += float(sizes[block] @ _ratio_distance(values[block, None], values) @ sizes)
    return within, total


def _ratio_distance(a: Floats, b: Floats) -> Floats:
    total = a + b
    ratio = np.divide(a - b, total, out=np.zeros(total.shape), where=total != 0)
    return np.where(np.isnan(total), np.nan, ratio**2)
