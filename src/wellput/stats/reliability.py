"""How much of a panel's mean ratings is the judges' own noise: the noun `Reliability`.

The *reliability* is the share of the variance of the units' mean ratings that other judges would give
again; its root is the *ceiling*, the correlation that the units' true values are expected to have with
these means. What other judges would give again is the covariance of ratings that two different judges
gave to one unit. The variance of the means is taken as it is, so that units with few ratings count
with the noise that they have. Where every judge rated every unit this is Cronbach's alpha.

Intervals are those of a jackknife over judges and items on the scale of log(1 − reliability): they hold
for other judges and other items.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wellput.core.metric import Floats
from wellput.core.table import Estimate
from wellput.stats.ratings import FEWEST, NAN, as_ratings, undefined
from wellput.stats.two_way import crossed_variance

Places = NDArray[np.intp]
MAX_GROUPS = 40
"""More judges or items than this are left out in so many groups of nearly equal size."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """Of the mean rating: the share of its variance that is not noise, and the root of that share.

    Both are NaN, with the reason as the method, where they are undefined; `ceiling` also where judges
    agree no more than by chance.
    """

    reliability: Estimate
    ceiling: Estimate


def panel_reliability(
    ratings: ArrayLike,
    items: ArrayLike | None = None,
    *,
    confidence: float = 0.95,
    seed: int = 12345,
) -> Reliability:
    """Of ratings (judges × units, NaN = missing); `items` numbers the item of each unit, as outputs for
    one item are left out together. Without it every unit is an item.

    With two judges there is no interval: leaving out one leaves nobody to agree with.
    """
    array = as_ratings(ratings)
    judges, units = np.nonzero(~np.isnan(array))
    of_unit = np.arange(array.shape[1]) if items is None else np.asarray(items, dtype=np.intp)
    given = _Given(array[judges, units], judges, units, of_unit[units])
    n = len(np.unique(units))
    if n < FEWEST or len(np.unique(judges)) < 2:
        return _undefined("two judges and three units are needed", n)
    value = given.reliability()
    if math.isnan(value):
        return _undefined("too few units have ratings of two judges, or all means are alike", n)
    low, high, method = _interval(given, value, confidence, np.random.default_rng(seed))
    found = Estimate(value, low, high, method=method, n=n)
    if value <= 0:
        return Reliability(found, undefined("judges agree no more than by chance", n=n))
    ceiling = Estimate(
        math.sqrt(value),
        None if low is None else math.sqrt(max(low, 0.0)),
        None if high is None else math.sqrt(max(high, 0.0)),
        method=method,
        n=n,
    )
    return Reliability(found, ceiling)


def _undefined(reason: str, n: int) -> Reliability:
    return Reliability(undefined(reason, n=n), undefined(reason, n=n))


@dataclass(frozen=True, eq=False)
class _Given:
    """One entry a rating: its value, and the places of its judge, unit and item."""

    values: Floats
    judges: Places
    units: Places
    items: Places

    def without(self, left_out: NDArray[np.bool_]) -> _Given:
        kept = ~left_out
        return _Given(self.values[kept], self.judges[kept], self.units[kept], self.items[kept])

    @property
    def mean_share(self) -> float:
        """The mean over units of 1 / number of ratings: how much of one rating's noise is in a mean."""
        counts = np.bincount(self.units)
        return float((1 / counts[counts > 0]).mean())

    def reliability(self, mean_share: float | None = None) -> float:
        """NaN where no variance of the true values can be estimated. With `mean_share`, of a panel with
        such numbers of ratings: what is left of a panel when some are left out has fewer."""
        if not len(self.values):
            return NAN
        counts = np.bincount(self.units).astype(np.float64)
        sums = np.bincount(self.units, self.values)
        rated = counts > 0
        means = np.divide(sums, counts, out=np.zeros(len(counts)), where=rated)
        center = means[rated].mean()
        variance = float(means[rated].var())
        shared = counts > 1
        if not variance > 0 or shared.sum() < FEWEST:
            return NAN
        true = self._covariance(counts, shared, center)
        if mean_share is not None:
            variance = true + (variance - true) * mean_share / self.mean_share
        return true / variance

    def _covariance(self, counts: Floats, shared: NDArray[np.bool_], center: float) -> float:
        """The mean product of two judges' ratings of one unit, less that of two judges' ratings of any
        units; every unit has the same weight."""
        kept = shared[self.units]
        values, judges, units = self.values[kept] - center, self.judges[kept], self.units[kept]
        sums = np.bincount(units, values, minlength=len(counts))[shared]
        squares = np.bincount(units, values**2, minlength=len(counts))[shared]
        k = counts[shared]
        together = float(((sums**2 - squares) / (k * (k - 1))).mean())
        weights = 1 / counts[units]
        of_judge, weight = np.bincount(judges, weights * values), np.bincount(judges, weights)
        pairs = float(weight.sum() ** 2 - (weight**2).sum())
        apart = float(of_judge.sum() ** 2 - (of_judge**2).sum()) / pairs
        return together - apart


def _interval(
    given: _Given, value: float, confidence: float, rng: np.random.Generator
) -> tuple[float | None, float | None, str]:
    if len(np.unique(given.judges)) < 3:
        return None, None, "no interval: two judges do not show how far others would differ"
    judges, n_judges = _jackknife(given, given.judges, rng)
    items, n_items = _jackknife(given, given.items, rng)
    answers, _ = _jackknife(given, given.judges * (given.items.max() + 1) + given.items, rng)
    # Leaving out one of a unit's few ratings changes their products at least twice as much as other
    # judges would: half of what single answers vary by is no part of the judges' share. All of it would
    # be right for a crowd, and too much for a panel of strong tastes (coverage .91).
    own = max(judges - answers / 2, 0.0)
    variance, freedom = crossed_variance(own, items, 0.0, n_judges, n_items)
    if not variance > 0 or not value < 1:
        return None, None, "no interval: the spread is unknown"
    method = f"jackknife over judges and items, {freedom:.1f} df"
    from scipy.special import stdtrit  # imported late: SciPy takes long to load

    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * math.sqrt(variance)
    center = math.log(1 - value)
    return 1 - math.exp(center + reach), 1 - math.exp(center - reach), method


def _jackknife(given: _Given, units: Places, rng: np.random.Generator) -> tuple[float, int]:
    """The variance of log(1 − reliability) when units are left out, one by one or group by group; NaN
    where a figure is undefined without one of them."""
    names, places = np.unique(units, return_inverse=True)
    n = len(names)
    if n > MAX_GROUPS:
        groups = rng.permutation(n) % MAX_GROUPS
        places, n = groups[places], MAX_GROUPS
    if n < 2:
        return NAN, n
    share = given.mean_share
    found = np.array([given.without(places == place).reliability(share) for place in range(n)])
    if np.isnan(found).any() or (found >= 1).any():
        return NAN, n
    logs = np.log(1 - found)
    return float((n - 1) / n * ((logs - logs.mean()) ** 2).sum()), n
