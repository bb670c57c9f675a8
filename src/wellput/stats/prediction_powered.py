"""The mean of a few labels, made more precise by many proxy scores: prediction-powered inference.

Labels y are known for few units, a proxy's scores f for all. For any λ the estimate

    λ · mean(f of the unlabeled) + mean(y − λ f of the labeled)

is right on average, however wrong the proxy is: its bias is measured on the labeled units and taken
out. λ is tuned to the least variance (PPI++, Angelopoulos, Duchi & Zrnic 2023) and lies between 0,
people alone, and 1.

Intervals come from leaving out one cluster of units at a time, with λ tuned again each time, so they
hold with few labels too. Ratings near the end of their scale are skewed, and so is their mean's t;
Hall's transformation (`stats.student`) removes as much of it as `hall_share` says.

Labels may have been drawn with known, unequal probabilities: `weights` are their inverses. Then the
proxy's mean over all units takes the place of that over the unlabeled.

`inclusion_probabilities` and `systematic_sample` choose the units to label next: more often those
about which a proxy's scores differ most, each with a known probability, so that an estimate from the
labels stays right on average. A unit's size is the spread of its scores (over systems) plus the mean
spread, so that no unit is left without a chance. Units are drawn with probabilities proportional to
size, in a random order, at equal steps of the cumulated probabilities (Madow 1949).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import Places
from wellput.core.estimates import NAN, Estimate
from wellput.core.metric import Floats
from wellput.stats.student import CautiousStudent, hall_transformed, hall_untransformed

MIN_LABELS = 5
"""Fewer labeled clusters give no interval and no λ."""


@dataclass(frozen=True, eq=False)
class ProxyLabels:
    """One entry for each unit: its label (NaN without one), its proxy score, the place of its cluster,
    and the weight of its label; None for equal weights."""

    labels: Floats
    proxies: Floats
    clusters: Places
    weights: Floats | None = None

    @property
    def is_labeled(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        return np.asarray(~np.isnan(self.labels))

    @classmethod
    def of(cls, labels: Floats, proxies: Floats, unlabeled: Floats) -> ProxyLabels:
        """From the labeled units' labels and proxies, and the proxies of the unlabeled; every unit is
        a cluster."""
        n, extra = len(labels), len(unlabeled)
        return cls(
            np.concatenate([labels, np.full(extra, NAN)]),
            np.concatenate([proxies, unlabeled]),
            np.arange(n + extra),
        )


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """An estimated mean with its standard error. `error` is NaN where it is unknown; `skew` is the
    skewness of the mean; `n_clusters` counts those with labels."""

    value: float
    error: float
    skew: float
    tuning: float
    n_labeled: int
    n_unlabeled: int
    n_clusters: int
    reason: str = ""

    def estimate(
        self, *, confidence: float = 0.95, null: float | None = None, method: str = ""
    ) -> Estimate:
        """The interval by Student's t with Hall's transformation; with `null` also the p-value that
        the mean is `null`."""
        from scipy.special import stdtr, stdtrit  # imported late: SciPy takes long to load

        n = self.n_labeled
        if not self.error > 0:
            reason = self.reason or "the labels do not differ"
            return Estimate(self.value, method=f"no interval: {reason}", n=n, null=null)
        freedom = self.n_clusters - 1
        critical = float(stdtrit(freedom, (1 + confidence) / 2))
        low, high = (
            self.value - hall_untransformed(side, self.skew) * self.error
            for side in (critical, -critical)
        )
        p_value = None
        if null is not None:
            t = hall_transformed((self.value - null) / self.error, self.skew)
            p_value = 2 * float(stdtr(freedom, -abs(t)))
        return Estimate(self.value, low, high, p_value, method=method, n=n, null=null)

    def difference(self, *, confidence: float = 0.95, method: str = "") -> Estimate:
        """The interval of a difference, and the p-value that it is 0.

        Its skewness is that of few values which differ, and is known badly: Hall's transformation
        alone covers too little with 20 labels (.91 to .94), so each side takes the wider of its
        bound and Student's.
        """
        if not self.error > 0:
            return self.estimate(confidence=confidence, null=0.0, method=method)
        student = CautiousStudent(self.value, self.error, self.n_clusters - 1, self.skew)
        return student.estimate(confidence=confidence, n=self.n_labeled, method=method)


def hall_share(n: int) -> float:
    """The share of the skewness that is taken out: all with 20 labels, seven tenths with very many.
    Measured on ratings of summaries (docs/results/estimate.md): all of it gives intervals that are too
    wide for 50 labels and more.

    >>> hall_share(20), round(hall_share(100), 2)
    (1.0, 0.68)
    """
    return min(1.0, 0.6 + 8 / max(n, 1))


def prediction_powered_mean(
    given: ProxyLabels, *, tuning: float | None = None, clip: bool = True
) -> PredictionPowered:
    """The mean. `tuning` is λ; None tunes it to the data, 0 is people alone, 1 trusts the proxy as it
    is. Without `clip` a tuned λ may exceed 1.

    >>> labels, proxies = np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 2, 3, 4, 6])
    >>> found = prediction_powered_mean(ProxyLabels.of(labels, proxies, np.full(50, 4.0)), tuning=1.0)
    >>> round(found.value, 9)  # 4 + (3 − 3.2)
    3.8
    """
    sums = _Sums.of(given)
    is_labeled = given.is_labeled
    n, extra = int(is_labeled.sum()), int((~is_labeled).sum())
    total = sums.total()
    n_clusters = int(sums.has_labels.sum())
    if not n:
        return PredictionPowered(NAN, NAN, 0.0, 0.0, 0, extra, 0, "there are no labels")
    if n_clusters < MIN_LABELS or not extra:
        tuning = 0.0 if tuning is None else tuning
    value, used = (float(one.item()) for one in total.mean(tuning, clip))
    if n_clusters < MIN_LABELS:
        reason = f"fewer than {MIN_LABELS} labeled clusters"
        return PredictionPowered(value, NAN, 0.0, used, n, extra, n_clusters, reason)
    without, _ = (total - sums).mean(tuning, clip)
    labeled, others = without[sums.has_labels], without[~sums.has_labels]
    variance = _jackknife(labeled)
    noise = _jackknife(others) if used and len(others) > 1 else 0.0
    skew = _skew(labeled) * (variance / (variance + noise)) ** 1.5 if variance > 0 else 0.0
    return PredictionPowered(
        value,
        math.sqrt(variance + noise),
        hall_share(n_clusters) * skew,
        used,
        n,
        extra,
        n_clusters,
    )


def combined(
    parts: list[PredictionPowered], shares: Floats, *, signs: Floats | None = None
) -> PredictionPowered:
    """The sum of independent means times their shares: of strata, or (1, −1) for a difference."""
    factors = shares if signs is None else shares * signs
    errors = np.array([part.error for part in parts]) * np.abs(factors)
    value = float(np.array([part.value for part in parts]) @ factors)
    variance = float((errors**2).sum())
    freedoms = np.array([part.n_clusters - 1 for part in parts])
    error = math.sqrt(variance) if math.isfinite(variance) else NAN
    freedom = 1.0
    skew = 0.0
    if error > 0:
        freedom = variance**2 / float((errors**4 / freedoms).sum())
        skews = np.array([part.skew for part in parts]) * np.sign(factors)
        skew = float(skews @ errors**3) / error**3
    return PredictionPowered(
        value,
        error,
        skew,
        float(np.array([part.tuning for part in parts]) @ np.abs(shares))
        / float(np.abs(shares).sum()),
        sum(part.n_labeled for part in parts),
        sum(part.n_unlabeled for part in parts),
        max(2, math.floor(freedom) + 1),
        next((part.reason for part in parts if part.reason), ""),
    )


def _jackknife(without: Floats) -> float:
    n = len(without)
    return (n - 1) / n * float(((without - without.mean()) ** 2).sum())


def _skew(without: Floats) -> float:
    """The skewness of the values behind a mean, over the root of their number, from the means without
    each; corrected for few values."""
    n = len(without)
    gaps = without.mean() - without
    spread = float((gaps**2).mean())
    if n < 3 or not spread > 0:
        return 0.0
    raw = float((gaps**3).mean()) / math.pow(spread, 1.5)
    return raw * math.sqrt(n - 1) / (n - 2)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over the units of each cluster, or of all: weights, labels, proxies, their products, of the
    labeled; counts, proxies and squared proxies of the unlabeled; the same of all."""

    rows: Floats
    has_labels: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
    is_weighted: bool

    @classmethod
    def of(cls, given: ProxyLabels) -> _Sums:
        known = given.is_labeled
        f = given.proxies - given.proxies.mean()  # so that squares lose no digits
        y = np.where(known, given.labels, 0.0)
        w = known * (np.ones(len(y)) if given.weights is None else given.weights)
        w = np.where(known, w, 0.0)
        free = (~known).astype(np.float64)
        columns = [w, w * y, w * f, w * y * f, w * f * f, free, free * f, np.ones(len(y)), f, f * f]
        n = int(given.clusters.max()) + 1
        rows = np.array([np.bincount(given.clusters, column, minlength=n) for column in columns])
        present = np.bincount(given.clusters, minlength=n) > 0
        labeled = np.bincount(given.clusters, known, minlength=n) > 0
        return cls(rows[:, present], labeled[present], given.weights is not None)

    def total(self) -> _Sums:
        return replace(self, rows=self.rows.sum(axis=1, keepdims=True))

    def __sub__(self, other: _Sums) -> _Sums:
        return replace(self, rows=self.rows - other.rows)

    def mean(self, tuning: float | None, clip: bool) -> tuple[Floats, Floats]:
        """The estimate and λ, for each column of sums."""
        w, wy, wf, wyf, wff, free, free_f, count, f, ff = self.rows
        with np.errstate(divide="ignore", invalid="ignore"):
            y_mean, f_mean = wy / w, wf / w
            covariance = wyf / w - y_mean * f_mean
            if self.is_weighted:
                spread, far = wff / w - f_mean**2, f / count
            else:
                # As ppi-python has it: the variance of all proxies, divided by their number less one.
                spread = (ff - f**2 / count) / (count - 1) * (1 + w / free)
                far = free_f / free
            used = covariance / spread if tuning is None else np.full(len(w), tuning)
            used = (
                np.where(np.isfinite(used), np.maximum(used, 0.0), 0.0) if tuning is None else used
            )
            if tuning is None and clip:
                used = np.minimum(used, 1.0)
            gain = np.where(used != 0, used * (far - f_mean), 0.0)
            return y_mean + gain, used


def inclusion_probabilities(spreads: Floats, budget: int) -> Floats:
    """Probabilities proportional to spread plus mean spread that add up to the budget; none above 1.

    >>> inclusion_probabilities(np.array([0.0, 1.0, 1.0, 2.0]), 2).tolist()
    [0.25, 0.5, 0.5, 0.75]
    """
    spreads = np.nan_to_num(np.asarray(spreads, dtype=np.float64))
    average = float(spreads.mean()) if len(spreads) else 0.0
    sizes = spreads + average if average > 0 else np.ones(len(spreads))
    found = np.zeros(len(sizes))
    certain = np.zeros(len(sizes), dtype=bool)
    if budget >= len(sizes):
        return np.ones(len(sizes))
    while True:
        rest = ~certain
        found[rest] = sizes[rest] * (budget - certain.sum()) / sizes[rest].sum()
        found[certain] = 1.0
        above = found > 1 + 1e-12
        if not above.any():
            return np.minimum(found, 1.0)
        certain |= above


def systematic_sample(probabilities: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """Places drawn with these probabilities, in order; as many as they add up to, rounded."""
    order = rng.permutation(len(probabilities))
    steps = np.floor(np.cumsum(probabilities[order]) + rng.random() + 1e-9)
    return np.sort(order[np.diff(steps, prepend=0.0) > 0])


def united_probabilities(before: Floats, now: Floats) -> Floats:
    """The probability of being drawn before, or else now.

    >>> united_probabilities(np.array([0.5]), np.array([0.5])).tolist()
    [0.75]
    """
    return np.asarray(before + (1 - before) * now)
