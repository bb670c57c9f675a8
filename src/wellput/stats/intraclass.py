"""Intraclass correlations: how far judges give a unit the same rating, of all that ratings vary.

The six of Shrout & Fleiss (1979), by the mean squares of an analysis of variance. *ICC1*: every unit
has judges of its own. *ICC2*: the same judges rate all units and stand for others; severity counts
as disagreement. *ICC3*: these very judges; severity does not count. With *k*, of the mean of k judges
instead of one.

ICC2 and ICC3 need every judge's rating of every unit. ICC1 does not: where units have different numbers
of ratings, the variance of the units' means takes the place of their mean square, and the harmonic mean
of the numbers that of k (Thomas & Hultquist 1978).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.ratings import NAN, as_ratings, is_constant

IntraclassName = Literal["ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k"]


@dataclass(frozen=True, slots=True)
class Intraclass:
    """One coefficient, with the interval and the F-test that R's psych::ICC prints.

    `p_value` is that of the one-sided F-test that units do not differ, the interval is two-sided: they
    are two statements. `k` is the number of judges averaged, 1 for a single one.
    """

    name: IntraclassName
    value: float
    low: float
    high: float
    f: float
    df1: float
    df2: float
    p_value: float
    k: float


@dataclass(frozen=True)
class IntraclassTable:
    """The coefficients that the ratings allow, by name; `reason` says why others are missing."""

    rows: dict[IntraclassName, Intraclass]
    n_units: int
    reason: str = ""


def intraclass_correlations(ratings: ArrayLike, *, confidence: float = 0.95) -> IntraclassTable:
    """The intraclass correlations of ratings (judges × units, NaN = missing).

    >>> judges = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    >>> {name: round(row.value, 2) for name, row in intraclass_correlations(judges).rows.items()}
    {'ICC1': 0.17, 'ICC2': 0.29, 'ICC3': 0.71, 'ICC1k': 0.44, 'ICC2k': 0.62, 'ICC3k': 0.91}
    """
    if not 0 < confidence < 1:
        raise InputError(f"A confidence lies between 0 and 1, {confidence} does not.")
    ratings = as_ratings(ratings)
    given = ~np.isnan(ratings)
    ratings = ratings[given.any(axis=1)][:, given.any(axis=0)]
    given = ~np.isnan(ratings)
    n_units = ratings.shape[1]
    counts = given.sum(axis=0)
    if n_units < 2 or not (counts > 1).any():
        return IntraclassTable({}, n_units, "there are no two units, or none with two ratings")
    if is_constant(ratings[given]):
        return IntraclassTable({}, n_units, "all ratings are the same")
    if not given.all():
        reason = (
            "not every judge rated every trial, which ICC2 and ICC3 need: ICC1 takes each trial's "
            "judges for its own"
        )
        return IntraclassTable(_by_name(_one_way(ratings, confidence)), n_units, reason)
    rows = [*_one_way(ratings, confidence), *_two_way(ratings, confidence)]
    return IntraclassTable(_by_name(rows), n_units)


def _by_name(rows: list[Intraclass]) -> dict[IntraclassName, Intraclass]:
    return {row.name: row for row in sorted(rows, key=lambda row: (row.name[-1] == "k", row.name))}


def _one_way(ratings: Floats, confidence: float) -> list[Intraclass]:
    counts = (~np.isnan(ratings)).sum(axis=0)
    means = np.nansum(ratings, axis=0) / counts
    k = len(counts) / float((1 / counts).sum())
    df1, df2 = len(counts) - 1, int(counts.sum()) - len(counts)
    within = float(np.nansum((ratings - means) ** 2)) / df2
    f = _quotient(k * float(means.var(ddof=1)), within)
    return _from_f(("ICC1", "ICC1k"), f, df1, df2, k, confidence)


def _two_way(ratings: Floats, confidence: float) -> list[Intraclass]:
    k, n = ratings.shape
    units, judges = ratings.mean(axis=0), ratings.mean(axis=1)
    residuals = ratings - units - judges[:, None] + ratings.mean()
    df1, df2 = n - 1, (n - 1) * (k - 1)
    between = k * float(units.var(ddof=1))
    among_judges = n * float(judges.var(ddof=1))
    error = float((residuals**2).sum()) / df2
    f = _quotient(between, error)
    fixed = _from_f(("ICC3", "ICC3k"), f, df1, df2, k, confidence)
    p_value = fixed[0].p_value
    spread = (among_judges - error) / n
    single = _quotient(between - error, between + (k - 1) * error + k * spread)
    low, high = _random_bounds(single, between, among_judges, error, (k, n), confidence)
    random = [
        Intraclass("ICC2", single, low, high, f, df1, df2, p_value, 1),
        Intraclass(
            "ICC2k",
            _quotient(between - error, between + spread),
            _stepped_up(low, k),
            _stepped_up(high, k),
            f, df1, df2, p_value, k,
        ),
    ]  # fmt: skip
    return [*random, *fixed]


def _from_f(
    names: tuple[IntraclassName, IntraclassName],
    f: float,
    df1: int,
    df2: int,
    k: float,
    confidence: float,
) -> list[Intraclass]:
    """Of one judge and of the mean of k, both from F: (F − 1) / (F + k − 1) and (F − 1) / F."""
    from scipy.special import fdtrc, fdtri  # imported late: SciPy takes long to load

    upper = (1 + confidence) / 2
    low, high = f / float(fdtri(df1, df2, upper)), f * float(fdtri(df2, df1, upper))
    p_value = float(fdtrc(df1, df2, f))
    single, mean = ([_of_f(value, each) for value in (f, low, high)] for each in (k, 1))
    return [
        Intraclass(names[0], single[0], single[1], single[2], f, df1, df2, p_value, 1),
        Intraclass(names[1], mean[0], mean[1], mean[2], f, df1, df2, p_value, k),
    ]


def _of_f(f: float, k: float) -> float:
    return 1.0 if np.isinf(f) else (f - 1) / (f + k - 1)


def _random_bounds(
    value: float,
    between: float,
    among_judges: float,
    error: float,
    shape: tuple[int, int],
    confidence: float,
) -> tuple[float, float]:
    """Shrout & Fleiss' interval of ICC2, with Satterthwaite's degrees of freedom."""
    from scipy.special import fdtri

    k, n = shape
    if not error:
        return NAN, NAN
    ratio = among_judges / error
    a = k * value * ratio
    b = n * (1 + (k - 1) * value) - k * value
    freedom = (k - 1) * (n - 1) * (a + b) ** 2 / ((n - 1) * a**2 + b**2)
    upper = (1 + confidence) / 2
    f_low, f_high = float(fdtri(n - 1, freedom, upper)), float(fdtri(freedom, n - 1, upper))
    noise = k * among_judges + (k * n - k - n) * error
    low = n * (between - f_low * error) / (f_low * noise + n * between)
    high = n * (f_high * between - error) / (noise + n * f_high * between)
    return low, high


def _stepped_up(value: float, k: float) -> float:
    """Spearman & Brown: the coefficient of the mean of k from that of one."""
    return k * value / (1 + (k - 1) * value)


def _quotient(part: float, whole: float) -> float:
    if whole:
        return part / whole
    return float("inf") if part > 0 else NAN
