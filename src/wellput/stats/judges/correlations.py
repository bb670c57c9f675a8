"""Correlations between judges: how far judges agree, how reliable their mean is, who differs.

Ratings are judges × units (see `stats.judges.ratings`). Correlations are Pearson's, over the units
that both sides have, at least three. The mean and the spread of a judge's ratings do not matter for the
correlation of two judges. They matter where judges who rated different units are averaged (split
halves, the rest of the panel): normalize per judge first, or the units of a mild judge look like good
units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wellput.core.errors import InputError
from wellput.core.estimates import Estimate, present_means, ratios, undefined
from wellput.core.metric import Floats
from wellput.core.options import checks_options
from wellput.stats.judges.ratings import (
    CELLS_AT_A_TIME,
    MIN_UNITS_TO_COMPARE,
    PairSummary,
    as_ratings,
    constant_judges,
    noise_share,
    packed_by_unit,
    pair_pearson,
    pearson,
    row_pearson,
    shared_units,
    sharing_pairs,
    summarize_pairs,
    without_empty,
)

MAD_TO_SD = 1.4826
"""A normal distribution's standard deviation divided by its median absolute deviation."""

MIN_UNITS_FOR_OUTLIER = 10
"""A low correlation with the other judges counts only from this many units on: on fewer, chance alone
can make it negative."""

MAX_CORRELATION_FOR_Z = 0.999999
"""Larger correlations are replaced by this, because Fisher's z is infinite at 1."""


@dataclass(frozen=True, slots=True)
class PairCorrelation:
    """The correlation of two rows; `first` and `second` are the rows' places, from 0."""

    first: int
    second: int
    estimate: Estimate


def pair_correlations(rows: ArrayLike) -> tuple[PairCorrelation, ...]:
    """The correlations of all pairs of rows: judges × units, or questions × units, averaged over
    judges."""
    return tuple(
        PairCorrelation(first, second, _correlation(x, y))
        for first, second, x, y in shared_units(as_ratings(rows))
    )


def pairwise_correlations(ratings: ArrayLike, *, fewest: int = MIN_UNITS_TO_COMPARE) -> PairSummary:
    """Mean, minimum, maximum and standard deviation of the correlations between judges who share at
    least `fewest` units, as Mutton et al. (2007) report them; where there are very many pairs, of a
    sample of them (`stats.judges.ratings`).

    A judge of zero variance correlates with nobody: such judges' pairs are left out, and the summary
    names the judges.
    """
    ratings = as_ratings(ratings)
    values = pair_pearson(ratings, sharing_pairs(ratings, fewest=fewest))
    return summarize_pairs(values.tolist(), len(ratings), constant_judges(ratings), fewest=fewest)


def _correlation(x: Floats, y: Floats) -> Estimate:
    return _estimated(pearson(x, y) if len(x) >= MIN_UNITS_TO_COMPARE else np.nan, len(x))


def _estimated(value: float, n: int) -> Estimate:
    """Pearson's r of n units; NaN where one of the two is constant."""
    if n < MIN_UNITS_TO_COMPARE:
        reason = f"{n} units in common, at least {MIN_UNITS_TO_COMPARE} are needed"
        return undefined(reason, n=n)
    if np.isnan(value):
        return undefined("one of the two is constant on the units they share", n=n)
    return Estimate(value, method="Pearson", n=n)


def spearman_brown(r: float, factor: float) -> float:
    """The reliability of a panel `factor` times as large as one whose reliability is r.

    For r below 0 the plain formula goes to minus infinity. With |r| in the denominator the result stays
    between −1 and 0, as with `fix.negative = "bilateral"` in R's AATtools.

    >>> spearman_brown(0.5, 2)
    0.6666666666666666
    """
    return factor * r / (1 + (factor - 1) * abs(r))


@checks_options
def split_half(
    ratings: ArrayLike,
    *,
    split: Literal["judges", "units"] = "judges",
    n_splits: int = 200,
    seed: int = 12345,
) -> Estimate:
    """The reliability of the panel's mean rating; `panel_reliability` gives it with an interval.

    The judges are split at random into two halves, each unit's ratings are averaged within each
    half, and the two averages are correlated over the units that have both. The Spearman–Brown formula
    then turns the mean correlation of `n_splits` splits, which is that of half a panel, into the
    reliability of the whole panel. Its factor is the mean of 1 / n in a half divided by the mean of
    1 / n in the whole panel, where n is the number of ratings of a unit. With an odd number of judges,
    each split leaves out one at random.

    `split="judges"` splits the panel once for all units: for judges who all rate (nearly) all units.
    `split="units"` splits each unit's ratings: for a crowd where few judges share a unit. Units with
    one rating cannot be split; they count in the factor, because their noise is in the means.
    """
    if n_splits < 1:
        raise InputError(f"At least one split is needed, not {n_splits}.")
    ratings = without_empty(as_ratings(ratings))
    counts = (~np.isnan(ratings)).sum(axis=0)
    ratings = ratings if (counts > 1).all() else ratings[:, counts > 1]
    judges, units = ratings.shape
    if judges < 2 or units < MIN_UNITS_TO_COMPARE:
        return undefined(
            f"{units} units with two ratings, at least {MIN_UNITS_TO_COMPARE} are needed", n=units
        )
    rng = np.random.default_rng(seed)
    splits = _halves_of_panel(ratings, rng) if split == "judges" else _halves_of_units(ratings, rng)
    correlations, noise = np.array(
        [_correlation_and_noise(*next(splits)) for _ in range(n_splits)]
    ).T
    is_defined = ~np.isnan(correlations)
    defined = correlations[is_defined]
    if len(defined) < n_splits / 2:
        reason = (
            f"in {n_splits - len(defined)} of {n_splits} splits a half is constant or too small"
        )
        return undefined(reason, n=units)
    factor = float(noise[is_defined].mean()) / noise_share(counts)
    return Estimate(
        spearman_brown(float(defined.mean()), factor),
        method=f"split half over {split}, Spearman–Brown of the mean of {len(defined)} splits",
        n=units,
        seed=seed,
    )


Half = tuple[Floats, Floats]
"""The means and the numbers of ratings of all units in one half."""


def _halves_of_panel(ratings: Floats, rng: np.random.Generator) -> Iterator[tuple[Half, Half]]:
    """Random splits of the judges, without end."""
    half = len(ratings) // 2
    while True:
        order = rng.permutation(len(ratings))
        yield _half(ratings[order[:half]]), _half(ratings[order[half : 2 * half]])


def _halves_of_units(ratings: Floats, rng: np.random.Generator) -> Iterator[tuple[Half, Half]]:
    """Random splits of each unit's ratings, without end."""
    ratings = packed_by_unit(ratings)
    # A unit a row: sorting and adding along rows is several times quicker than along columns.
    missing = np.ascontiguousarray(np.isnan(ratings).T)
    known = np.where(missing, 0.0, ratings.T)
    half = (~missing).sum(axis=1) // 2
    place = np.arange(len(ratings))
    is_first = place < half[:, None]
    is_second = ~is_first & (place < 2 * half[:, None])
    counts = half.astype(np.float64)
    while True:
        keys = np.ascontiguousarray(rng.random(ratings.shape).T)
        keys[missing] = np.inf
        shuffled = np.take_along_axis(known, np.argsort(keys, axis=1), axis=1)
        first, second = (
            np.where(in_half, shuffled, 0.0).sum(axis=1) for in_half in (is_first, is_second)
        )
        yield (ratios(first, counts), counts), (ratios(second, counts), counts)


def _half(ratings: Floats) -> Half:
    return present_means(ratings, axis=0), (~np.isnan(ratings)).sum(axis=0).astype(np.float64)


def _correlation_and_noise(first: Half, second: Half) -> tuple[float, float]:
    """The correlation of the means of two halves, over the units rated in both, and the mean of the
    halves' `noise_share`; both are NaN where the correlation is undefined."""
    is_shared = (first[1] > 0) & (second[1] > 0)
    value = _correlation(first[0][is_shared], second[0][is_shared]).value
    if np.isnan(value):
        return value, value
    return value, (noise_share(first[1][is_shared]) + noise_share(second[1][is_shared])) / 2


@dataclass(frozen=True, slots=True)
class JudgeAgainstRest:
    """A judge's correlation with the mean of all others. `reason` says why the judge is an outlier."""

    judge: int
    correlation: Estimate
    is_outlier: bool
    reason: str = ""


def judges_against_rest(
    ratings: ArrayLike, *, least: float = 0.0, deviations: float = 3.0
) -> tuple[JudgeAgainstRest, ...]:
    """Each judge against the mean of the others, on the units that this judge and somebody else rated.

    An outlier is a judge who

    1. gave the same rating to all units, at least three, or
    2. correlates with the others at or below `least` on ten units or more, or
    3. lies more than `deviations` standard deviations below the median judge on Fisher's z scale. The
       standard deviation is robust (1.4826 times the judges' median absolute deviation), and at least
       1 / √(n − 3), what chance alone gives a judge of n units.

    A judge whose correlation is undefined for another reason is not an outlier.
    """
    ratings = as_ratings(ratings)
    is_used = ~np.isnan(ratings)
    sums, counts = np.where(is_used, ratings, 0.0).sum(axis=0), is_used.sum(axis=0)
    is_used &= counts > 1
    correlations = _with_rest(ratings, is_used, sums, counts)
    z = np.array([_fisher_z(estimate.value) for estimate in correlations])
    z = z[~np.isnan(z)]
    center = float(np.median(z)) if len(z) else np.nan
    spread = MAD_TO_SD * float(np.median(np.abs(z - center))) if len(z) else np.nan
    constant = frozenset(constant_judges(ratings))

    def why_outlier(judge: int, estimate: Estimate) -> str:
        r, n = estimate.value, estimate.n or 0
        if judge in constant and n >= MIN_UNITS_TO_COMPARE:
            return "gave every unit the same rating"
        if r <= least and n >= MIN_UNITS_FOR_OUTLIER:
            return f"correlates {r:.2f} with the rest, not above {least:g}"
        if n > 3 and _fisher_z(r) < center - deviations * max(spread, 1 / np.sqrt(n - 3)):
            return (
                f"correlates {r:.2f} with the rest, more than {deviations:g} standard deviations "
                f"below the median judge's {np.tanh(center):.2f}"
            )
        return ""

    reasons = [why_outlier(judge, estimate) for judge, estimate in enumerate(correlations)]
    return tuple(
        JudgeAgainstRest(judge, estimate, bool(reason), reason)
        for judge, (estimate, reason) in enumerate(zip(correlations, reasons, strict=True))
    )


def _with_rest(
    ratings: Floats, is_used: NDArray[np.bool_], sums: Floats, counts: NDArray[np.intp]
) -> list[Estimate]:
    """Each judge's correlation with the mean of the others, on the units that `is_used` (judges ×
    units) marks; `sums` and `counts` are those of all ratings of each unit. The units of each judge are
    moved to the left of a table, so that many judges are compared at once."""
    judges, units = np.nonzero(is_used)
    n = np.bincount(judges, minlength=len(ratings))
    ends = np.cumsum(n)
    columns = np.arange(len(judges)) - np.repeat(ends - n, n)
    of_judge = ratings[judges, units]
    of_others = (sums[units] - of_judge) / (counts[units] - 1)
    width = max(1, int(n.max(initial=0)))
    values: list[float] = []
    step = max(1, CELLS_AT_A_TIME // width)
    for start in range(0, len(ratings), step):
        stop = min(start + step, len(ratings))
        block = slice(int(ends[start] - n[start]), int(ends[stop - 1]))
        x, y = np.zeros((2, stop - start, width))
        rows = judges[block] - start
        x[rows, columns[block]], y[rows, columns[block]] = of_judge[block], of_others[block]
        is_filled = np.arange(width) < n[start:stop, None]
        values += row_pearson(x, y, is_filled).tolist()
    return [_estimated(value, int(size)) for value, size in zip(values, n, strict=True)]


def _fisher_z(r: float) -> float:
    return float(np.arctanh(np.clip(r, -MAX_CORRELATION_FOR_Z, MAX_CORRELATION_FOR_Z)))
