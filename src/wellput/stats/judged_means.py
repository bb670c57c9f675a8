"""Means of judges' answers about items, and how far they hold for other judges and other items.

`CrossedMeans`: the mean of each group (such as a system), and that mean without each
judge, without each item, and without each judge's answers on one item. A two-way jackknife
(`two_way_jackknife`) gives the variance of a mean, or of the difference of two.

A few judges may agree about two systems by chance, and among many pairs of systems some always get
such agreement. So the variance over judges is at least the average over all pairs. Where only one of
several judges rated a pair, it is that average. With two judges, or two items, there is one degree of
freedom and tests are very cautious: two people say little about other people.

With one judge the variance is that between items; with one item, that between judges. Where a group
has no value left without a judge or an item, the variance is unknown.

`head_to_head` is for two systems offered together: how often the first was chosen, and whether that
is more than half. A choice is 1 for the first system, 0 for the second, ½ for neither. Each pair
gets two inferences, the jackknife over judges and items and the exact binomial test of the choices
without ties (Clopper & Pearson 1934); the result has the wider bounds and the greater p-value. The
exact test is needed because a few choices may show no spread: 5 of 5 gives p = .0625.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.stats.places import Places
from wellput.stats.student import student_estimate
from wellput.stats.two_way_jackknife import crossed_variance, jackknife_variance
from wellput.stats.undefined_values import ratios


@dataclass(frozen=True, eq=False)
class CrossedMeans:
    """Means of groups over judges × items.

    `judges`, `items` and `answers` hold the sums and counts for each judge, each item, and each
    judge on an item: shape (units, groups) each.
    """

    are_shares: bool
    totals: Floats
    counts: Floats
    judges: tuple[Floats, Floats]
    items: tuple[Floats, Floats]
    answers: tuple[Floats, Floats]

    @classmethod
    def of(
        cls,
        values: Floats,
        *,
        groups: Places,
        judges: Places,
        items: Places,
        n_groups: int,
        are_shares: bool = False,
    ) -> CrossedMeans:
        """From one entry per judgment: its value, and the places of its group, judge and item.
        `are_shares`: the values lie between 0 and 1, and so do all means."""
        answers = judges * (int(items.max(initial=0)) + 1) + items
        units = {
            name: _sums(values, np.unique(places, return_inverse=True)[1], groups, n_groups)
            for name, places in (("judges", judges), ("items", items), ("answers", answers))
        }
        sums, counts = units["judges"]
        return cls(are_shares, sums.sum(axis=0), counts.sum(axis=0), **units)

    @property
    def means(self) -> Floats:
        """The mean of each group, NaN where it has no value."""
        return ratios(self.totals, self.counts)

    def mean(self, group: int, *, confidence: float = 0.95, null: float | None = None) -> Estimate:
        """The mean of one group with its interval; with `null`, also the p-value that it is `null`."""
        weights = np.zeros(len(self.totals))
        weights[group] = 1.0
        return self._estimate(weights, confidence, null=null)

    def difference(self, a: int, b: int, *, confidence: float = 0.95) -> Estimate:
        """The mean of group a minus that of group b, with interval and p-value (of no difference)."""
        weights = np.zeros(len(self.totals))
        weights[a], weights[b] = 1.0, -1.0
        return self._estimate(weights, confidence, null=0.0)

    def _estimate(self, weights: Floats, confidence: float, null: float | None) -> Estimate:
        used = np.flatnonzero(weights)
        weights = weights[used]
        value = float(self.means[used] @ weights)
        n = int(self.counts[used].sum())
        variance, freedom = self._variance(used, weights, is_tested=null is not None)
        if variance == 0 and self.are_shares:
            variance = self._variance_of_unanimity(used)
        if not variance > 0:
            return Estimate(value, method="no interval: the spread is unknown", n=n, null=null)
        found = student_estimate(
            value,
            math.sqrt(variance),
            freedom,
            null=null,
            confidence=confidence,
            method=f"jackknife, {freedom:.1f} df",
            n=n,
        )
        if not self.are_shares or found.low is None or found.high is None:
            return found
        least = float(np.minimum(weights, 0).sum())  # 0 for a share, −1 for a difference of two
        return replace(found, low=max(found.low, least), high=min(found.high, 1.0))

    def _variance(self, used: Places, weights: Floats, *, is_tested: bool) -> tuple[float, float]:
        """The variance and its degrees of freedom. Only tested figures use how judges differ about
        other groups: a judge's severity is in all means, so many means do not tell more about it
        than one."""
        judges, n_judges = self._jackknife(self.judges, used, weights)
        items, n_items = self._jackknife(self.items, used, weights)
        if len(self.judges[0]) < 2:
            return items, n_items - 1.0
        if n_items < 2:
            return judges, n_judges - 1.0
        one_judge = self._spread_of_means if len(used) == 1 else self._spread_of_differences
        if n_judges < 2:
            return crossed_variance(one_judge, items, 0.0, len(self.judges[0]), n_items)
        answers, _ = self._jackknife(self.answers, used, weights)
        n_groups = int((self.counts > 0).sum())
        if not is_tested or not math.isfinite(one_judge) or n_groups <= len(used):
            return crossed_variance(judges, items, answers, n_judges, n_items)
        # How judges differ about all systems is known better than how they differ about two.
        freedom = (n_judges - 1) * (n_groups - len(used) + 1)
        widest = max(judges, one_judge / n_judges)
        return crossed_variance(widest, items, answers, freedom + 1, n_items)

    @cached_property
    def _spread_of_means(self) -> float:
        """The variance of one judge's mean of a group, on average over the groups; NaN where no group
        has two judges."""
        return self._spread([np.array([group]) for group in range(len(self.totals))], np.ones(1))

    @cached_property
    def _spread_of_differences(self) -> float:
        """The same for the difference of two groups."""
        pairs = combinations(range(len(self.totals)), 2)
        return self._spread([np.array(pair) for pair in pairs], np.array([1.0, -1.0]))

    def _spread(self, figures: Sequence[Places], weights: Floats) -> float:
        found = [self._jackknife(self.judges, used, weights) for used in figures]
        spreads = [variance * n for variance, n in found if n > 1 and math.isfinite(variance)]
        return float(np.mean(spreads)) if spreads else math.nan

    def _variance_of_unanimity(self, used: Places) -> float:
        """For groups whose answers are all equal: nothing varies, but other answers might differ. Each
        group's variance is that of its share over its items with two answers of either kind added
        (Agresti & Coull 1998)."""
        n = (self.items[1][:, used] > 0).sum(axis=0)
        share = (self.means[used] * n + 2) / (n + 4)
        return float((share * (1 - share) / (n + 4)).sum())

    def _jackknife(
        self, units: tuple[Floats, Floats], used: Places, weights: Floats
    ) -> tuple[float, int]:
        """The variance from leaving units out one by one, and the number of units with any value; NaN
        where a group has values of one unit only."""
        sums, counts = units[0][:, used], units[1][:, used]
        has_values = counts.any(axis=1)
        n = int(has_values.sum())
        if n < 2:
            return math.nan, n
        left = self.counts[used] - counts[has_values]
        without = ratios(self.totals[used] - sums[has_values], left) @ weights
        return jackknife_variance(without), n


def _sums(values: Floats, units: Places, groups: Places, n_groups: int) -> tuple[Floats, Floats]:
    """Sums and counts of the values, units × groups."""
    n_units = int(units.max()) + 1 if len(units) else 0
    cell = units * n_groups + groups
    shape = (n_units, n_groups)
    size = n_units * n_groups
    sums: Floats = np.bincount(cell, weights=values, minlength=size).astype(np.float64)
    counts: Floats = np.bincount(cell, minlength=size).astype(np.float64)
    return sums.reshape(shape), counts.reshape(shape)


EVEN_SHARE = 0.5


def head_to_head(
    shares: ArrayLike,
    *,
    pairs: ArrayLike,
    judges: ArrayLike,
    items: ArrayLike,
    n_pairs: int,
    confidence: float = 0.95,
) -> tuple[Estimate, ...]:
    """The share of the first system of each pair, with its interval and the p-value that it is ½.

    There is one entry per choice: 1, ½ or 0, and the places of its pair, judge and item. A pair without
    any choice is NaN.

    >>> five = head_to_head([1, 1, 1, 1, 1], pairs=[0] * 5, judges=range(5), items=range(5), n_pairs=1)
    >>> round(five[0].p_value, 4)
    0.0625
    """
    values = np.asarray(shares, dtype=np.float64)
    groups = np.asarray(pairs, dtype=np.intp)
    means = CrossedMeans.of(
        values,
        groups=groups,
        judges=np.asarray(judges, dtype=np.intp),
        items=np.asarray(items, dtype=np.intp),
        n_groups=n_pairs,
        are_shares=True,
    )
    return tuple(
        _cautious(
            means.mean(pair, confidence=confidence, null=EVEN_SHARE),
            values[groups == pair],
            confidence,
            is_alone=len(means.judges[0]) < 2,
        )
        for pair in range(n_pairs)
    )


def _cautious(crossed: Estimate, values: Floats, confidence: float, *, is_alone: bool) -> Estimate:
    """`is_alone`: there is one judge, and the interval is not meant for others."""
    if not len(values):
        return Estimate(
            np.nan, method="undefined: they were never offered together", n=0, null=EVEN_SHARE
        )
    exact = _exact_binomial(values, confidence)
    if crossed.low is None or crossed.high is None or crossed.p_value is None:
        return exact if is_alone else crossed
    assert exact.low is not None and exact.high is not None and exact.p_value is not None
    return Estimate(
        crossed.value,
        min(crossed.low, exact.low),
        max(crossed.high, exact.high),
        max(crossed.p_value, exact.p_value),
        f"{crossed.method}, and exact binomial",
        len(values),
        null=EVEN_SHARE,
    )


def _exact_binomial(values: Floats, confidence: float) -> Estimate:
    """The exact test and interval of the choices without ties, on the scale where a tie is half a
    choice. For a given number of ties, the share is ½ exactly where the share among the others is
    ½."""
    from scipy.special import bdtr, betaincinv  # imported late: SciPy takes long to load

    won, lost = int((values > EVEN_SHARE).sum()), int((values < EVEN_SHARE).sum())
    n = won + lost
    tail = (1 - confidence) / 2
    low = float(betaincinv(won, lost + 1, tail)) if won else 0.0
    high = float(betaincinv(won + 1, lost, 1 - tail)) if lost else 1.0
    decided = n / len(values)
    p_value = min(1.0, 2 * float(bdtr(min(won, lost), n, EVEN_SHARE))) if n else 1.0
    return Estimate(
        float(values.mean()),
        EVEN_SHARE + decided * (low - EVEN_SHARE),
        EVEN_SHARE + decided * (high - EVEN_SHARE),
        p_value,
        "exact binomial",
        len(values),
        null=EVEN_SHARE,
    )
