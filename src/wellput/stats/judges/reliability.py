"""How reliable judges are: intraclass correlations, and the reliability of a panel's mean ratings. A
*unit* is what a judge rates at once, such as one output.

`Intraclass` is one of the six intraclass correlations of Shrout & Fleiss (1979), computed from
the mean squares of an analysis of variance: the share of the variance of ratings that units explain.

- *ICC1*: every unit has its own judges.
- *ICC2*: the same judges rate all units, and the result is about any judges; if one judge is more
  severe than another, this counts as disagreement.
- *ICC3*: the same judges rate all units, and the result is about these judges; severity does not count.
- *ICC1k*, *ICC2k*, *ICC3k*: the same for the mean of k judges instead of one.

ICC2 and ICC3 need every judge's rating of every unit. ICC1 does not: where units have different numbers
of ratings, the variance of the units' means is used instead of their mean square, and the harmonic mean
of these numbers instead of k (Thomas & Hultquist 1978).

`Reliability` is the share of the variance of the units' mean ratings that other judges would
reproduce. Its root is the *ceiling*: the expected correlation of the units' true values with the units'
mean ratings. The reproducible variance is the covariance of the ratings that two different judges give
to one unit. The variance of the means includes the noise of units with few ratings. Where every judge
rated every unit, reliability is Cronbach's alpha. If units are samples of outputs, the means are those
of outputs, and two judges' ratings of different samples are not taken as ratings of one thing.
Intervals come from a jackknife over judges and items on the scale of log(1 − reliability): they hold
for other judges and other items.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wellput.core.clusters import Places
from wellput.core.estimates import NAN, Estimate, is_constant, undefined
from wellput.core.metric import Floats
from wellput.core.options import check_number, checks_options
from wellput.stats.judges.ratings import (
    MIN_UNITS_TO_COMPARE,
    as_ratings,
    noise_share,
    without_empty,
)
from wellput.stats.two_way_jackknife import crossed_variance, jackknife_variance

IntraclassName = Literal["ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k"]


@dataclass(frozen=True, slots=True)
class Intraclass:
    """One coefficient, with the interval and the F-test (with `df1` and `df2` degrees of freedom) that
    R's psych::ICC prints.

    `p_value` is that of the one-sided F-test that units do not differ. The interval is two-sided, so
    p-value and interval may disagree. `k` is the number of judges averaged, 1 for a single judge.
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
    check_number("confidence", confidence)
    ratings = without_empty(as_ratings(ratings))
    is_rated = ~np.isnan(ratings)
    n_units = ratings.shape[1]
    counts = is_rated.sum(axis=0)
    if n_units < 2 or not (counts > 1).any():
        reason = "it needs at least two units, and one of them with two ratings"
        return IntraclassTable({}, n_units, reason)
    if is_constant(ratings[is_rated]):
        return IntraclassTable({}, n_units, "all ratings are the same")
    if not is_rated.all():
        reason = (
            "ICC2 and ICC3 need every judge's rating of every unit; ICC1 assumes that each unit has "
            "its own judges"
        )
        return IntraclassTable(_by_name(_one_way(ratings, confidence)), n_units, reason)
    rows = [*_one_way(ratings, confidence), *_two_way(ratings, confidence)]
    return IntraclassTable(_by_name(rows), n_units)


def _by_name(rows: list[Intraclass]) -> dict[IntraclassName, Intraclass]:
    """The coefficients by name, those of single judges first."""
    return {row.name: row for row in sorted(rows, key=lambda row: (row.name[-1] == "k", row.name))}


def _one_way(ratings: Floats, confidence: float) -> list[Intraclass]:
    """ICC1 and ICC1k, by a one-way analysis of variance."""
    is_rated = ~np.isnan(ratings)
    values, units = ratings[is_rated], np.nonzero(is_rated)[1]
    counts = np.bincount(units)
    means = np.bincount(units, values) / counts
    k = len(counts) / float((1 / counts).sum())
    df1, df2 = len(counts) - 1, int(counts.sum()) - len(counts)
    within = float(((values - means[units]) ** 2).sum()) / df2
    f = _quotient(k * float(means.var(ddof=1)), within)
    return _from_f(("ICC1", "ICC1k"), f, df1, df2, k, confidence)


def _two_way(ratings: Floats, confidence: float) -> list[Intraclass]:
    """The other four coefficients, by a two-way analysis of variance."""
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
    low, high = _icc2_bounds(single, between, among_judges, error, (k, n), confidence)
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
    """The coefficients of one judge and of the mean of k: (F − 1) / (F + k − 1) and (F − 1) / F."""
    from scipy.special import fdtrc, fdtri  # imported late: SciPy takes long to load

    upper = (1 + confidence) / 2
    low, high = f / float(fdtri(df1, df2, upper)), f * float(fdtri(df2, df1, upper))
    p_value = float(fdtrc(df1, df2, f))
    # With k = 1, the formula of one judge becomes that of the mean.
    single, mean = (
        [_coefficient(value, formula_k) for value in (f, low, high)] for formula_k in (k, 1)
    )
    return [
        Intraclass(names[0], single[0], single[1], single[2], f, df1, df2, p_value, 1),
        Intraclass(names[1], mean[0], mean[1], mean[2], f, df1, df2, p_value, k),
    ]


def _coefficient(f: float, k: float) -> float:
    """(F − 1) / (F + k − 1); NaN where judges disagree and all units have the same mean (F = 0) and
    k = 1."""
    if np.isinf(f):
        return 1.0
    return (f - 1) / (f + k - 1) if f + k > 1 else math.nan


def _icc2_bounds(
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
    """The coefficient of the mean of k judges from that of one judge, by Spearman and Brown's formula.
    As in R's psych::ICC, the denominator has no absolute value (compare `spearman_brown`)."""
    return k * value / (1 + (k - 1) * value)


def _quotient(part: float, whole: float) -> float:
    """part / whole; where the whole is 0, ∞ for a positive part, else NaN."""
    if whole:
        return part / whole
    return float("inf") if part > 0 else NAN


MAX_GROUPS = 40
"""If there are more judges, or items, they are left out in this many groups of nearly equal size."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """The share of the mean ratings' variance that is not noise, and the root of that share
    (`ceiling`).

    Both are NaN where they are undefined, with the reason as the method. `ceiling` is also NaN where
    judges agree no more than by chance.
    """

    reliability: Estimate
    ceiling: Estimate


@checks_options
def panel_reliability(
    ratings: ArrayLike,
    items: ArrayLike | None = None,
    outputs: ArrayLike | None = None,
    *,
    confidence: float = 0.95,
    seed: int = 12345,
) -> Reliability:
    """The reliability of ratings (judges × units, NaN = missing). `items` has the number of each unit's
    item, because outputs for one item are left out together; by default every unit is an item.

    If units are samples of outputs, `outputs` has the number of each unit's output. The result is then
    the reliability of the outputs' mean ratings: means over judges of each judge's mean over samples.

    With two judges there is no interval: if one is left out, nobody remains to agree with.
    """
    array = as_ratings(ratings)
    judges, units = np.nonzero(~np.isnan(array))
    item_of_unit = np.arange(array.shape[1]) if items is None else np.asarray(items, dtype=np.intp)
    entries = _Entries(array[judges, units], judges, units, item_of_unit[units])
    if outputs is not None and len(np.unique(outputs)) < array.shape[1]:
        entries = _means_over_samples(entries, np.asarray(outputs, dtype=np.intp)[units])
    n = len(np.unique(entries.units))
    if n < MIN_UNITS_TO_COMPARE or len(np.unique(judges)) < 2:
        return _undefined("it needs two judges and three units", n)
    value = entries.reliability()
    if math.isnan(value):
        return _undefined("too few units have ratings of two judges, or all means are equal", n)
    low, high, method = _interval(entries, value, confidence, np.random.default_rng(seed))
    reliability = Estimate(value, low, high, method=method, n=n)
    if value <= 0:
        return Reliability(reliability, undefined("judges agree no more than by chance", n=n))
    ceiling = Estimate(
        math.sqrt(value),
        None if low is None else math.sqrt(max(low, 0.0)),
        None if high is None else math.sqrt(max(high, 0.0)),
        method=method,
        n=n,
    )
    return Reliability(reliability, ceiling)


def _undefined(reason: str, n: int) -> Reliability:
    return Reliability(undefined(reason, n=n), undefined(reason, n=n))


@dataclass(frozen=True, eq=False)
class _Entries:
    """One entry for each rating: its value, and the numbers of its judge, unit and item, from 0. If
    units are outputs with several samples, the value is a judge's mean over samples, and `samples` has
    the entries of the samples, of which `sample_of` has the places in this table."""

    values: Floats
    judges: Places
    units: Places
    items: Places
    samples: _Entries | None = None
    sample_of: Places | None = None

    def without(self, left_out: NDArray[np.bool_]) -> _Entries:
        is_kept = ~left_out
        kept = _Entries(
            self.values[is_kept], self.judges[is_kept], self.units[is_kept], self.items[is_kept]
        )
        if self.samples is None or self.sample_of is None:
            return kept
        places = (np.cumsum(is_kept) - 1)[self.sample_of]
        lost = left_out[self.sample_of]
        return replace(kept, samples=self.samples.without(lost), sample_of=places[~lost])

    @property
    def noise_share(self) -> float:
        """How much of the noise of one rating is in a unit's mean rating: the mean over units of
        1 / (number of ratings)."""
        return noise_share(np.bincount(self.units))

    def reliability(self, noise: float | None = None) -> float:
        """The reliability; NaN where it cannot be estimated. `noise` is the `noise_share` of the whole
        panel: it corrects for the means' greater noise when some ratings are left out."""
        if not len(self.values):
            return NAN
        counts = np.bincount(self.units).astype(np.float64)
        sums = np.bincount(self.units, self.values)
        rated = counts > 0
        means = np.divide(sums, counts, out=np.zeros(len(counts)), where=rated)
        center = means[rated].mean()
        variance = float(means[rated].var())
        shared = counts > 1
        if not variance > 0 or shared.sum() < MIN_UNITS_TO_COMPARE:
            return NAN
        true_variance = self._covariance(counts, shared, center)
        if self.samples is not None and self.sample_of is not None:
            true_variance = self._of_samples(true_variance, counts, center)
        if noise is not None:
            variance = true_variance + (variance - true_variance) * noise / self.noise_share
        return true_variance / variance if variance > 0 else NAN

    def _covariance(self, counts: Floats, shared: NDArray[np.bool_], center: float) -> float:
        """The mean product of two judges' ratings of one unit minus that of two judges' ratings of any
        units; every unit has the same weight."""
        is_shared = shared[self.units]
        values, judges, units = (
            self.values[is_shared] - center,
            self.judges[is_shared],
            self.units[is_shared],
        )
        sums = np.bincount(units, values, minlength=len(counts))[shared]
        squares = np.bincount(units, values**2, minlength=len(counts))[shared]
        k = counts[shared]
        within_units = float(((sums**2 - squares) / (k * (k - 1))).mean())
        weights = 1 / counts[units]
        sum_of_judge, weight_of_judge = (
            np.bincount(judges, weights * values),
            np.bincount(judges, weights),
        )
        pair_weight = float(weight_of_judge.sum() ** 2 - (weight_of_judge**2).sum())
        by_chance = float(sum_of_judge.sum() ** 2 - (sum_of_judge**2).sum()) / pair_weight
        return within_units - by_chance

    def _of_samples(self, covariance: float, counts: Floats, center: float) -> float:
        """The variance of the outputs' true means, from the covariance of two judges' ratings of one
        output. It is a mean of the covariance of two ratings of one sample and that of two ratings of
        different samples. The first has the weight `p` in the variance, and `q` in the covariance."""
        assert self.samples is not None and self.sample_of is not None
        samples = self.samples.units
        weights = 1 / np.bincount(self.sample_of)[self.sample_of]
        outputs = np.zeros(int(samples.max()) + 1, dtype=np.intp)
        outputs[samples] = self.units[self.sample_of]
        together = np.bincount(outputs, np.bincount(samples, weights) ** 2, len(counts))
        alone = np.bincount(outputs, np.bincount(samples, weights**2), len(counts))
        rated, shared = counts > 0, counts > 1
        p = float((together[rated] / counts[rated] ** 2).mean())
        q = float(((together - alone)[shared] / (counts * (counts - 1))[shared]).mean())
        if q > 1 - 1e-9:  # all judges of an output rated the same sample
            return covariance
        n = np.bincount(samples).astype(np.float64)
        if (n > 1).sum() < MIN_UNITS_TO_COMPARE:
            return NAN
        of_one_sample = self.samples._covariance(n, n > 1, center)
        return covariance + (of_one_sample - covariance) * (p - q) / (1 - q)


def _means_over_samples(samples: _Entries, outputs: Places) -> _Entries:
    """The entries of outputs: each judge's mean over samples. `outputs` has each entry's output."""
    names = samples.judges * (outputs.max() + 1) + outputs
    _, first, places = np.unique(names, return_index=True, return_inverse=True)
    means = np.bincount(places, samples.values) / np.bincount(places)
    judges, items = samples.judges[first], samples.items[first]
    return _Entries(means, judges, outputs[first], items, samples, places)


def _interval(
    entries: _Entries, value: float, confidence: float, rng: np.random.Generator
) -> tuple[float | None, float | None, str]:
    """The bounds of the reliability, None where there are none, and the method or the reason."""
    if len(np.unique(entries.judges)) < 3:
        return None, None, "no interval: two judges do not show how much others would differ"
    if len(np.unique(entries.items)) < 2:
        return None, None, "no interval: one item does not show how much others would differ"
    judge_variance, n_judges = _jackknife(entries, entries.judges, rng)
    item_variance, n_items = _jackknife(entries, entries.items, rng)
    judge_item_variance, _ = _jackknife(
        entries, entries.judges * (entries.items.max() + 1) + entries.items, rng
    )
    # The jackknife over judges overstates their variance: leaving out one of a unit's few ratings
    # changes the products of its ratings at least twice as much as drawing another judge would. So half
    # of the variance from leaving out a judge's ratings of one item is subtracted. Subtracting all of
    # it would be right for many judges with few ratings each, but too much where judges disagree much
    # about systems (95% intervals would contain the truth in 91% of cases).
    judge_variance = max(judge_variance - judge_item_variance / 2, 0.0)
    variance, freedom = crossed_variance(
        judge_variance,
        item_variance,
        cells=0.0,
        row_freedom=n_judges - 1,
        column_freedom=n_items - 1,
    )
    if not variance > 0 or not value < 1:
        return None, None, "no interval: the spread is unknown"
    method = f"jackknife over judges and items, {freedom:.1f} df"
    from scipy.special import stdtrit  # imported late: SciPy takes long to load

    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * math.sqrt(variance)
    center = math.log(1 - value)
    return 1 - math.exp(center + reach), 1 - math.exp(center - reach), method


def _jackknife(entries: _Entries, left_out: Places, rng: np.random.Generator) -> tuple[float, int]:
    """The variance of log(1 − reliability) from leaving out some of the ratings in each of several
    rounds, and the number of rounds. Ratings with the same number in `left_out` (the number of their
    judge, item, or both) are left out together; with more than `MAX_GROUPS` numbers, so are random
    groups of them. NaN where the reliability is undefined in one of the rounds."""
    names, places = np.unique(left_out, return_inverse=True)
    n = len(names)
    if n > MAX_GROUPS:
        groups = rng.permutation(n) % MAX_GROUPS
        places, n = groups[places], MAX_GROUPS
    if n < 2:
        return NAN, n
    noise = entries.noise_share
    without_each = np.array(
        [entries.without(places == place).reliability(noise) for place in range(n)]
    )
    if np.isnan(without_each).any() or (without_each >= 1).any():
        return NAN, n
    return jackknife_variance(np.log(1 - without_each)), n
