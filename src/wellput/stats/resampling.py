"""Intervals and paired tests by resampling statistics; text is not read again.

*Statistics* are numbers that a metric counts on each item, such as BLEU's matching n-grams; an array of
a system's statistics has one row per item, (n, k). A `ScoreFunction` makes scores of sums of these
rows: from (…, k) to (…). A *replicate* is the score of one resample. With one seed, all metrics and
systems with the same number of items get the same draws, so replicates of two systems are paired one by
one. Two paired systems must have the same items in the same order.

A replicate is undefined (NaN) where none of a resample's items has a score. Undefined replicates are
left out of an interval; where their share is larger than 1 - confidence, the interval is undefined. In
a test they count as extreme, so they can only raise p.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.estimates import Estimate, block_sum
from wellput.core.metric import Floats
from wellput.core.options import check_number, checks_options
from wellput.stats.jackknife import ScoreFunction

MAX_RESAMPLES = 1_000_000_000
RELATIVE_ROUNDING = 1e-12
"""Differences this close, relative to the scores, are equal. A resample that happens to be the observed
assignment must count as extreme, even if its sums are rounded differently."""


def bootstrap(
    statistics: Floats,
    score: ScoreFunction,
    *,
    n_resamples: int,
    seed: int,
    threads: int = 1,
    confidence: float = 0.95,
) -> Estimate:
    """The score of all items with its percentile interval (Efron & Tibshirani 1993, ch. 13).

    With few items the interval is too narrow: docs/results/calibration.md measures how often it holds.
    """
    replicates = bootstrap_replicates(
        statistics, score, n_resamples=n_resamples, seed=seed, threads=threads
    )
    low, high = percentile_interval(replicates, confidence=confidence)
    return Estimate(
        value=_total(statistics, score),
        low=low,
        high=high,
        method=f"percentile bootstrap, {n_resamples} resamples",
        n=len(statistics),
        seed=seed,
    )


@checks_options
def paired_bootstrap(
    a: Floats,
    b: Floats,
    score: ScoreFunction,
    *,
    n_resamples: int,
    seed: int,
    threads: int = 1,
    confidence: float = 0.95,
    null: Literal["centered", "sacrebleu"] = "centered",
) -> Estimate:
    """The difference score(a) - score(b), its percentile interval and two-sided p-value.

    The differences d of the replicates, shifted to mean 0, show what chance gives when the systems are
    equally good. p is the share of the shifted differences that are at least as far from 0 as the
    observed difference.

    `null="sacrebleu"` gives the p-value of sacreBLEU's paired bootstrap, to compare with published
    figures: the share of |d| - mean |d| that reaches the observed |difference|. Because the sign is
    dropped before centering, it counts one tail only, about half the two-sided p-value: at a level
    of .05 it rejects more than one in ten true null hypotheses (docs/results/calibration.md).
    """
    _refuse_unpaired(a, b)
    replicates_a, replicates_b = (
        bootstrap_replicates(rows, score, n_resamples=n_resamples, seed=seed, threads=threads)
        for rows in (a, b)
    )
    differences = replicates_a - replicates_b
    low, high = percentile_interval(differences, confidence=confidence)
    if null == "sacrebleu":
        by_chance = _centered(np.abs(differences))
    else:
        by_chance = np.abs(_centered(differences))
    score_a, score_b = _total(a, score), _total(b, score)
    return Estimate(
        value=score_a - score_b,
        low=low,
        high=high,
        p_value=_p_value(by_chance, score_a, score_b),
        method=f"paired bootstrap, {n_resamples} resamples",
        n=len(a),
        seed=seed,
    )


def approximate_randomization(
    a: Floats, b: Floats, score: ScoreFunction, *, n_resamples: int, seed: int, threads: int = 1
) -> Estimate:
    """The difference score(a) - score(b) with its two-sided p-value (Riezler & Maxwell 2005).

    Every resample exchanges the two systems' outputs on each item with probability 1/2; p is the
    share of resamples whose difference is at least as large as the observed one, in either direction.
    Ties count, unlike in sacreBLEU: two identical systems get p = 1, not the smallest possible p.

    The test is exact where items are independent and, on each item, exchanging the two outputs does not
    change their distribution. Equal true scores are not enough (docs/results/calibration.md).
    """
    _refuse_unpaired(a, b)
    check_resampling(n_resamples, seed)
    score_a, score_b = _total(a, score), _total(b, score)
    p_value = float("nan")
    if len(a):
        exchanged = _native.swap_sums(np.subtract(a, b), n_resamples, seed, threads)
        by_chance = score(block_sum(a) - exchanged) - score(block_sum(b) + exchanged)
        p_value = _p_value(np.abs(by_chance), score_a, score_b)
    return Estimate(
        value=score_a - score_b,
        p_value=p_value,
        method=f"approximate randomization, {n_resamples} resamples",
        n=len(a),
        seed=seed,
    )


def bootstrap_replicates(
    statistics: Floats, score: ScoreFunction, *, n_resamples: int, seed: int, threads: int = 1
) -> Floats:
    """The scores of `n_resamples` resamples of the items, NaN where undefined."""
    check_resampling(n_resamples, seed)
    if not len(statistics):
        return np.full(n_resamples, np.nan)
    rows = np.ascontiguousarray(statistics, dtype=np.float64)
    return score(_native.bootstrap_sums(rows, n_resamples, seed, threads))


def percentile_interval(replicates: Floats, *, confidence: float) -> tuple[float, float]:
    """The bounds of the middle share `confidence` of the replicates; (NaN, NaN) when too many are
    undefined."""
    check_number("confidence", confidence)
    defined = replicates[~np.isnan(replicates)]
    outside = 1 - confidence
    if not len(defined) or len(defined) < confidence * len(replicates):
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [outside / 2, 1 - outside / 2])
    return float(low), float(high)


def _total(statistics: Floats, score: ScoreFunction) -> float:
    return float(score(block_sum(statistics)))


def _centered(differences: Floats) -> Floats:
    """The differences minus the mean of those that are defined."""
    defined = ~np.isnan(differences)
    return differences - differences[defined].mean() if defined.any() else differences


def _p_value(by_chance: Floats, score_a: float, score_b: float) -> float:
    observed = abs(score_a - score_b)
    if np.isnan(observed):
        return float("nan")
    least_extreme = observed - RELATIVE_ROUNDING * max(abs(score_a), abs(score_b))
    return resampling_p_value(by_chance, least_extreme)


def resampling_p_value(by_chance: Floats, observed: float) -> float:
    """(b + 1) / (m + 1), where b of the m resamples are undefined or at least as large as
    `observed`."""
    # NaN is not less than anything, so it is counted.
    return float((np.count_nonzero(~(by_chance < observed)) + 1) / (len(by_chance) + 1))


def _refuse_unpaired(a: Floats, b: Floats) -> None:
    if a.shape != b.shape:
        raise InputError(
            f"A paired test needs the same items and statistics for both systems; "
            f"one has {a.shape[0]} × {a.shape[1]}, the other {b.shape[0]} × {b.shape[1]}."
        )


def check_resampling(n_resamples: int, seed: int) -> None:
    """Raises InputError for numbers with which the native code cannot draw."""
    if n_resamples < 1:
        raise InputError(f"At least one resample is needed, not {n_resamples}.")
    if n_resamples > MAX_RESAMPLES:
        raise InputError(f"At most {MAX_RESAMPLES:,} resamples can be drawn, not {n_resamples:,}.")
    if not 0 <= seed < 2**64:
        raise InputError(f"The seed must be a whole number from 0 to 2^64 - 1, not {seed}.")
