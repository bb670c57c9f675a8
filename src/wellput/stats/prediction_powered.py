"""The mean of a few labels, made more precise by many proxy scores: prediction-powered inference.

*Labels* y, such as people's ratings, are known for few *units*, such as outputs; the scores f of a
*proxy*, such as a language model, are known for all. For any λ the estimate

    λ · mean(f of the unlabeled units) + mean(y − λ f of the labeled units)

is right on average, however wrong the proxy is: its bias is measured on the labeled units and
subtracted. λ is tuned to the least variance (PPI++, Angelopoulos, Duchi & Zrnic 2023) and lies between
0, which uses people alone, and 1.

Intervals come from leaving out one cluster of units at a time, with λ tuned again each time, so they
hold with few labels too. Ratings near the end of their scale are skewed, and so is the t statistic of
their mean; Hall's transformation (`stats.student`) removes a share of this skewness, `hall_share`.

Labels may have been drawn with known, unequal probabilities: `weights` are 1 / probability. Then the
proxy's mean over all units is used instead of the mean over the unlabeled ones.

`inclusion_probabilities` and `systematic_sample` choose the units to label next. Units for which the
proxy's scores of the systems differ most are chosen more often, but each unit has a known probability
above 0, so that an estimate from the labels stays right on average. A unit's *size* is the spread of
its scores (over systems) plus the mean spread. Units are drawn with probabilities proportional to size,
in a random order, at equal steps of the cumulated probabilities (Madow 1949).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import Places
from wellput.core.estimates import NAN, Estimate
from wellput.core.metric import Floats
from wellput.stats.jackknife import rounding_error
from wellput.stats.student import CautiousStudent, hall_transformed, hall_untransformed

MIN_LABELS = 5
"""With fewer labeled clusters there is no interval, and λ is not tuned."""


@dataclass(frozen=True, eq=False)
class ProxyLabels:
    """One entry for each unit: its label (NaN where there is none), its proxy score, the number of its
    cluster, from 0, and the weight of its label; `weights` is None for equal weights. `stratum` is the
    name of the group of all these units, if they are one of several groups."""

    labels: Floats
    proxies: Floats
    clusters: Places
    weights: Floats | None = None
    stratum: str = ""

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
    """An estimated mean with its standard error. `error` is NaN where it is unknown, and `reason` says
    why; `skew` is the skewness of the mean, as far as it is removed (`hall_share`); `tuning` is λ;
    `n_clusters` is the number of clusters with labels, one more than the degrees of freedom."""

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

        The skewness of a difference is estimated from the few units that differ, so it is imprecise:
        95% intervals by Hall's transformation alone contain the truth too rarely with 20 labels (.91 to
        .94). So each bound is the wider one of Hall's and Student's.
        """
        if not self.error > 0:
            return self.estimate(confidence=confidence, null=0.0, method=method)
        student = CautiousStudent(self.value, self.error, self.n_clusters - 1, self.skew)
        return student.estimate(confidence=confidence, n=self.n_labeled, method=method)


def hall_share(n: int) -> float:
    """The share of the skewness that is removed, for n clusters with labels: all of it up to 20, and
    close to 0.6 with very many. On ratings of summaries (docs/results/estimate.md), removing all
    skewness gives intervals that are too wide for 50 labels and more.

    >>> hall_share(20), round(hall_share(100), 2)
    (1.0, 0.68)
    """
    return min(1.0, 0.6 + 8 / max(n, 1))


def prediction_powered_mean(
    units: ProxyLabels, *, tuning: float | None = None, clip: bool = True
) -> PredictionPowered:
    """The mean label of all units. `tuning` is λ; None tunes it to the data, 0 uses people alone, 1
    takes the proxy's scores as they are. Without `clip` a tuned λ may exceed 1.

    >>> labels, proxies = np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 2, 3, 4, 6])
    >>> found = prediction_powered_mean(ProxyLabels.of(labels, proxies, np.full(50, 4.0)), tuning=1.0)
    >>> round(found.value, 9)  # 4 + (3 − 3.2)
    3.8
    """
    sums = _Sums.of(units)
    is_labeled = units.is_labeled
    n, extra = int(is_labeled.sum()), int((~is_labeled).sum())
    total = sums.total()
    n_clusters = int(sums.has_labels.sum())
    if not n:
        return PredictionPowered(NAN, NAN, 0.0, 0.0, 0, extra, 0, "there are no labels")
    if n_clusters < MIN_LABELS or not extra:
        tuning = 0.0 if tuning is None else tuning
    value, used_tuning = (float(figure.item()) for figure in total.mean(tuning, clip))
    if n_clusters < MIN_LABELS:
        reason = f"fewer than {MIN_LABELS} labeled clusters"
        return PredictionPowered(value, NAN, 0.0, used_tuning, n, extra, n_clusters, reason)
    without, _ = (total - sums).mean(tuning, clip)
    without_labeled, without_unlabeled = without[sums.has_labels], without[~sums.has_labels]
    has_noise = used_tuning != 0 and len(without_unlabeled) > 1
    labeled_variance = _jackknife_variance(without_labeled)
    unlabeled_variance = _jackknife_variance(without_unlabeled) if has_noise else 0.0
    error = math.sqrt(labeled_variance + unlabeled_variance)
    largest = float(
        np.nanmax(np.abs(units.labels)) + abs(used_tuning) * np.abs(units.proxies).max()
    )
    if error <= rounding_error(n, largest):
        error = 0.0
    skew = 0.0
    if error > 0:
        labeled_share = labeled_variance / (labeled_variance + unlabeled_variance)
        skew = _skew(without_labeled) * labeled_share**1.5
    return PredictionPowered(
        value,
        error,
        hall_share(n_clusters) * skew,
        used_tuning,
        n,
        extra,
        n_clusters,
    )


def weighted_sum(
    parts: list[PredictionPowered], shares: Floats, *, signs: Floats | None = None
) -> PredictionPowered:
    """The sum of independent means times `shares`: the shares of strata in the whole. `signs` (1 or −1)
    multiply the shares, for a difference. `n_clusters` of the result is one more than Satterthwaite's
    degrees of freedom, not a number of clusters."""
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


def _jackknife_variance(without: Floats) -> float:
    """The jackknife's variance, from the estimates without each cluster."""
    n = len(without)
    return (n - 1) / n * float(((without - without.mean()) ** 2).sum())


def _skew(without: Floats) -> float:
    """The skewness of a mean (that of the values, divided by the root of their number), from the means
    without each value; corrected for few values."""
    n = len(without)
    gaps = without.mean() - without
    spread = float((gaps**2).mean())
    if n < 3 or not spread > 0:
        return 0.0
    raw = float((gaps**3).mean()) / math.pow(spread, 1.5)
    return raw * math.sqrt(n - 1) / (n - 2)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over the units of each cluster, or over all units: a column for each, and ten rows (see
    `of`). For labeled units these are weights, labels, proxies and products of them; for unlabeled
    units, counts and proxies; for all units, counts, proxies and squared proxies."""

    rows: Floats
    has_labels: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
    is_weighted: bool

    @classmethod
    def of(cls, units: ProxyLabels) -> _Sums:
        """The sums by cluster: w are the weights, y the labels, f the centered proxies."""
        known = units.is_labeled
        f = units.proxies - units.proxies.mean()  # so that squares lose no digits
        y = np.where(known, units.labels, 0.0)
        w = known * (np.ones(len(y)) if units.weights is None else units.weights)
        w = np.where(known, w, 0.0)
        is_unlabeled = (~known).astype(np.float64)
        columns = [
            w,
            w * y,
            w * f,
            w * y * f,
            w * f * f,
            is_unlabeled,
            is_unlabeled * f,
            np.ones(len(y)),
            f,
            f * f,
        ]
        n = int(units.clusters.max()) + 1
        rows = np.array([np.bincount(units.clusters, column, minlength=n) for column in columns])
        present = np.bincount(units.clusters, minlength=n) > 0
        labeled = np.bincount(units.clusters, known, minlength=n) > 0
        return cls(rows[:, present], labeled[present], units.weights is not None)

    def total(self) -> _Sums:
        return replace(self, rows=self.rows.sum(axis=1, keepdims=True))

    def __sub__(self, other: _Sums) -> _Sums:
        return replace(self, rows=self.rows - other.rows)

    def mean(self, tuning: float | None, clip: bool) -> tuple[Floats, Floats]:
        """The estimate and λ (`tuning`), for each column of sums. If `tuning` is None, the best λ is
        used, and with `clip` at most 1."""
        w, wy, wf, wyf, wff, n_unlabeled, unlabeled_f, count, f, ff = self.rows
        with np.errstate(divide="ignore", invalid="ignore"):
            y_mean, f_mean = wy / w, wf / w
            covariance = wyf / w - y_mean * f_mean
            if self.is_weighted:
                spread, target_f_mean = wff / w - f_mean**2, f / count
            else:
                # As in ppi-python: the variance of all proxies, with their number − 1 as divisor.
                spread = (ff - f**2 / count) / (count - 1) * (1 + w / n_unlabeled)
                target_f_mean = unlabeled_f / n_unlabeled
            used_tuning = covariance / spread if tuning is None else np.full(len(w), tuning)
            used_tuning = (
                np.where(np.isfinite(used_tuning), np.maximum(used_tuning, 0.0), 0.0)
                if tuning is None
                else used_tuning
            )
            if tuning is None and clip:
                used_tuning = np.minimum(used_tuning, 1.0)
            gain = np.where(used_tuning != 0, used_tuning * (target_f_mean - f_mean), 0.0)
            return y_mean + gain, used_tuning


def inclusion_probabilities(spreads: Floats, budget: int) -> Floats:
    """Probabilities of labeling each unit, proportional to its spread plus the mean spread. They add up
    to `budget`, the number of units to label; none is above 1.

    >>> inclusion_probabilities(np.array([0.0, 1.0, 1.0, 2.0]), 2).tolist()
    [0.25, 0.5, 0.5, 0.75]
    """
    spreads = np.nan_to_num(np.asarray(spreads, dtype=np.float64))
    average = float(spreads.mean()) if len(spreads) else 0.0
    sizes = spreads + average if average > 0 else np.ones(len(spreads))
    probabilities = np.zeros(len(sizes))
    is_certain = np.zeros(len(sizes), dtype=bool)
    if budget >= len(sizes):
        return np.ones(len(sizes))
    while True:
        is_open = ~is_certain
        probabilities[is_open] = sizes[is_open] * (budget - is_certain.sum()) / sizes[is_open].sum()
        probabilities[is_certain] = 1.0
        above = probabilities > 1 + 1e-12  # more than rounding
        if not above.any():
            return np.minimum(probabilities, 1.0)
        is_certain |= above


def systematic_sample(probabilities: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """The places of the units drawn with these probabilities, in ascending order; their number is the
    rounded sum of the probabilities."""
    order = rng.permutation(len(probabilities))
    # 1e-9: rounding must not keep the sum below a whole number.
    steps = np.floor(np.cumsum(probabilities[order]) + rng.random() + 1e-9)
    return np.sort(order[np.diff(steps, prepend=0.0) > 0])


def united_probabilities(before: Floats, now: Floats) -> Floats:
    """The probability of being drawn in at least one of two rounds: with probability `before` in the
    first, and, if not, with probability `now` in the second.

    >>> united_probabilities(np.array([0.5]), np.array([0.5])).tolist()
    [0.75]
    """
    return np.asarray(before + (1 - before) * now)


def p_of_constant_labels(labels: Floats, n_clusters: int) -> float | None:
    """The p-value of the sign test that the mean is 0, if all labels are the same number and not 0:
    without a spread there is no other test, although the evidence could not be clearer. None if labels
    differ."""
    if n_clusters < 2 or labels[0] == 0 or np.ptp(labels) > 0:
        return None
    return float(2 * 0.5**n_clusters)
