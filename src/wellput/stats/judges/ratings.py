"""A panel's ratings as an array, and arithmetic that the measures of agreement share.

*Ratings* are judges × units, NaN where a judge did not rate a unit. A *unit* is one system's output for
one item.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wellput.core.errors import InputError
from wellput.core.estimates import NAN, is_constant
from wellput.core.metric import Floats

MIN_UNITS_TO_COMPARE = 3
"""Two judges are compared where they share at least this many units; any two points lie on a line."""

MIN_SHARED_UNITS = 10
"""Two judges' agreement is reported from this many units on: on three, chance can give any
correlation."""


def as_ratings(ratings: ArrayLike) -> Floats:
    """The ratings as floats, judges × units; raises InputError where the shape or a number is wrong."""
    array = np.asarray(ratings, dtype=np.float64)
    if array.ndim != 2:
        raise InputError(f"Ratings must be judges × units; this array has {array.ndim} axes.")
    if np.isinf(array).any():
        places = [f"judge {judge}, unit {unit}" for judge, unit in np.argwhere(np.isinf(array))]
        raise InputError.collect("Ratings must be finite; these are infinite:", places)
    return array


def gathered(ratings: Floats) -> Floats:
    """Each unit's ratings moved to the first rows; the rows that are left empty are dropped.

    Which judge gave a rating is lost. For a crowd where each judge sees a few units, few rows remain.
    """
    units, judges = np.nonzero(~np.isnan(ratings).T)
    counts = np.bincount(units, minlength=ratings.shape[1])
    places = np.arange(len(units)) - np.repeat(np.cumsum(counts) - counts, counts)
    found = np.full((int(counts.max(initial=0)), ratings.shape[1]), np.nan)
    found[places, units] = ratings[judges, units]
    return found


def without_empty(ratings: Floats) -> Floats:
    """The ratings without the judges and the units that have none. A table of a crowd is large, so it
    is copied only if there are any."""
    given = ~np.isnan(ratings)
    judges, units = given.any(axis=1), given.any(axis=0)
    if not judges.all():
        ratings = ratings[judges]
    return ratings if units.all() else ratings[:, units]


def noise_share(counts: Floats | NDArray[np.intp]) -> float:
    """The mean of 1 / number of ratings over the rated units: how much of one rating's noise is in a
    unit's mean rating."""
    return float((1 / counts[counts > 0]).mean())


def pearson(x: Floats, y: Floats) -> float:
    """Pearson's r of two rows without NaN; NaN where one of them is constant."""
    if len(x) < 2 or is_constant(x) or is_constant(y):
        return NAN
    x, y = x - x.mean(), y - y.mean()
    x, y = x / np.abs(x).max(), y / np.abs(y).max()  # squares neither overflow nor vanish
    # Sums of products, because dot products make BLAS wake all cores, here hundreds of times.
    product = (x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum())
    return float(np.clip(product, -1.0, 1.0))


def shared_units(ratings: Floats, *, fewest: int = 0) -> Iterator[tuple[int, int, Floats, Floats]]:
    """Every pair of rows that share at least `fewest` units, with the values of both on these units."""
    present = ~np.isnan(ratings)
    counts = present.astype(np.float64) @ present.T
    # In a crowd, few of the many pairs share anything.
    for first, second in np.argwhere(np.triu(counts >= fewest, 1)).tolist():
        both = present[first] & present[second]
        yield first, second, ratings[first, both], ratings[second, both]


@dataclass(frozen=True, slots=True)
class PairSummary:
    """A measure of two judges, summarized over all pairs. `sd` is the sample standard deviation.

    `undefined_pairs` counts the pairs without a value, which are left out. `constant` has the rows of
    judges who gave one rating to all their units. `reason` says why a figure is NaN.
    """

    mean: float
    min: float
    max: float
    sd: float
    n_pairs: int
    undefined_pairs: int = 0
    constant: tuple[int, ...] = ()
    reason: str = ""


def summarize_pairs(
    values: Sequence[float],
    judges: int,
    constant: tuple[int, ...] = (),
    *,
    fewest: int = MIN_UNITS_TO_COMPARE,
) -> PairSummary:
    """The summary of `values`, one for each pair of `judges` judges that was measured; NaN is
    undefined."""
    defined = np.array([value for value in values if not np.isnan(value)])
    left_out = judges * (judges - 1) // 2 - len(defined)
    if not len(defined):
        reason = f"no pair of judges shares {fewest} units on which both vary"
        return PairSummary(NAN, NAN, NAN, NAN, 0, left_out, constant, reason)
    return PairSummary(
        mean=float(defined.mean()),
        min=float(defined.min()),
        max=float(defined.max()),
        sd=float(defined.std(ddof=1)) if len(defined) > 1 else NAN,
        n_pairs=len(defined),
        undefined_pairs=left_out,
        constant=constant,
        reason="" if len(defined) > 1 else "a single pair has no standard deviation",
    )


def constant_judges(ratings: Floats) -> tuple[int, ...]:
    """The rows of judges who gave the same rating to all their units, at least two."""
    given = (row[~np.isnan(row)] for row in ratings)
    return tuple(
        judge for judge, values in enumerate(given) if len(values) > 1 and is_constant(values)
    )
