"""Tests differences between systems, from the rows (segment statistics) of score tables, with corrected
p-values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import Clusters
from wellput.core.estimates import Bounds, Estimate, ScoreTable
from wellput.core.metric import Floats
from wellput.core.scores import MIN_ITEMS_FOR_CLAIMS, Score
from wellput.core.work import OnProgress, ignore_progress
from wellput.engine.result import Comparison
from wellput.engine.scoring_plan import Inference, PairedTest, Resampling
from wellput.stats.clusters import (
    ClusteredItems,
    WithoutClusters,
    clustered_difference,
    scores_without_clusters,
)
from wellput.stats.corrections import holm, resamples_needed
from wellput.stats.jackknife import (
    PairedDifference,
    WithoutItems,
    effect_size,
    is_differing,
    jackknife_difference,
    n_differing,
    scores_without_items,
)
from wellput.stats.proportions import DifferenceOfShares, is_share


def compare_systems(
    tables: Mapping[str, ScoreTable],
    pairs: Sequence[tuple[str, str]],
    inference: Inference,
    on_progress: OnProgress = ignore_progress,
    *,
    n_slices: int = 1,
) -> list[Comparison]:
    """Tests every pair under every metric; p-values are corrected by Holm's method for all tests. If
    the systems are also compared in `n_slices` slices, there are enough resamples for a correction
    for all slices together."""
    test, resampling = inference.test, inference.resampling
    assert test is not None
    n_needed = resamples_needed(
        resampling.n_resamples, tests=len(pairs) * len(tables) * n_slices, alpha=resampling.alpha
    )
    comparisons: list[Comparison] = []
    for metric, table in tables.items():
        rows = _Rows(table)
        for a, b in pairs:
            if not rows.common(a, b).any():
                pair = _comparison(
                    rows, a, b, Estimate(math.nan, p_value=math.nan, method=test, n=0)
                )
            elif test == "jackknife":
                pair = _by_jackknife(
                    rows, a, b, resampling.confidence, inference.margin.get(metric)
                )
            else:
                pair = _by_resamples(rows, a, b, test, resampling, n_needed)
            comparisons.append(pair)
            on_progress(1)
    return corrected(comparisons)


def scores_with_differences(
    scores: Sequence[Score],
    compared: Sequence[Comparison],
    baseline: str | None,
    higher_is_better: Mapping[str, bool | None],
    alpha: float,
    clusters: Clusters | None,
) -> list[Score]:
    """The scores with their differences from the baseline, if these were tested."""
    are_few = clusters is not None and clusters.are_few
    differences = {
        (pair.a, pair.metric): pair
        for comparison in compared
        for pair in (comparison, comparison.swapped)
        if pair.b == baseline
    }
    return [
        score
        if (difference := differences.get((score.system, score.metric))) is None
        else with_difference(
            score,
            difference,
            is_worse=None
            if are_few
            else is_worse(difference, higher_is_better[score.metric], alpha),
        )
        for score in scores
    ]


def with_difference(score: Score, difference: Comparison, *, is_worse: bool | None) -> Score:
    """A score with its difference from the baseline (score − baseline)."""
    return replace(
        score,
        baseline=difference.b,
        delta=difference.delta,
        delta_low=difference.low,
        delta_high=difference.high,
        p_value=difference.p_value,
        p_adjusted=difference.p_adjusted,
        p_is_bound=difference.p_is_bound,
        effect_size=difference.effect_size,
        equivalence_p=difference.equivalence_p,
        equivalence_p_adjusted=difference.equivalence_p_adjusted,
        n_common=difference.n,
        is_worse=is_worse,
        delta_method=difference.method,
    )


def is_worse(difference: Comparison, higher_is_better: bool | None, alpha: float) -> bool | None:
    """Whether a system is significantly worse than the baseline; None if there are too few items, or if
    neither high nor low scores are better."""
    if higher_is_better is None or difference.n < MIN_ITEMS_FOR_CLAIMS:
        return None
    better = difference.delta if higher_is_better else -difference.delta
    return better < 0 and difference.p_adjusted < alpha


@dataclass(frozen=True)
class _Rows:
    """The rows of a table. What is computed for one system is kept, because several pairs need it. The
    keys are the number of the system's row and, in the first two dictionaries, the items that count (as
    packed bits)."""

    table: ScoreTable
    _without_items: dict[tuple[int, bytes], WithoutItems] = field(default_factory=dict)
    _without_clusters: dict[tuple[int, bytes], WithoutClusters] = field(default_factory=dict)
    _segment_scores: dict[int, Floats] = field(default_factory=dict)

    def common(self, a: str, b: str) -> NDArray[np.bool_]:
        """The items for which both systems have an output."""
        present = self.table.present
        both: NDArray[np.bool_] = present[self.table.row(a)] & present[self.table.row(b)]
        return both

    def of(self, system: str, items: NDArray[np.bool_]) -> Floats:
        """The statistics of a system for the items where `items` is true."""
        rows: Floats = self.table.statistics[self.table.row(system)]
        return rows if items.all() else rows[items]

    def is_share(self, system: str, items: NDArray[np.bool_]) -> bool:
        """Whether the system's score is a share of items: each item counts 0 or 1."""
        return is_share(self.of(system, items), self.table.aggregate, self.table.bounds)

    def scores_without_items(self, system: str, items: NDArray[np.bool_]) -> WithoutItems:
        key = self.table.row(system), np.packbits(items).tobytes()
        if key not in self._without_items:
            self._without_items[key] = scores_without_items(
                self.of(system, items), self.table.aggregate
            )
        return self._without_items[key]

    def clusters(self, items: NDArray[np.bool_]) -> ClusteredItems | None:
        """The clusters of these items; None if all items are independent."""
        clusters = self.table.clusters
        return None if clusters is None else ClusteredItems.of(clusters.codes[items])

    def scores_without_clusters(
        self, system: str, items: NDArray[np.bool_], clusters: ClusteredItems
    ) -> WithoutClusters:
        key = self.table.row(system), np.packbits(items).tobytes()
        if key not in self._without_clusters:
            self._without_clusters[key] = scores_without_clusters(
                self.of(system, items), self.table.aggregate, clusters
            )
        return self._without_clusters[key]

    def effect_size(self, a: str, b: str) -> float | None:
        return effect_size(self._scores(a), self._scores(b))

    def _scores(self, system: str) -> Floats:
        row = self.table.row(system)
        if row not in self._segment_scores:
            self._segment_scores[row] = self.table.scores_of(row)
        return self._segment_scores[row]


@dataclass(frozen=True, slots=True)
class MeasuredDifference:
    """The difference of two systems on `n` items (`delta`), and the numbers that tests use: a value
    (`center`), its standard `error`, and the degrees of `freedom` of this error. `center` is `delta`,
    except for differences of shares: there it is the difference after a correction for small numbers
    (`DifferenceOfShares.smoothed_and_error`)."""

    delta: float
    center: float
    error: float
    freedom: float
    n: int


def measured_differences(
    table: ScoreTable, pairs: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], MeasuredDifference]:
    """The differences of these pairs; pairs without a standard error are absent."""
    rows = _Rows(table)
    measured: dict[tuple[str, str], MeasuredDifference] = {}
    for a, b in pairs:
        is_common = rows.common(a, b)
        n = int(np.count_nonzero(is_common))
        if n < 2:
            continue
        are_shares = rows.is_share(a, is_common) and rows.is_share(b, is_common)
        if are_shares and table.clusters is None:
            shares = DifferenceOfShares.of(rows.of(a, is_common)[:, 0], rows.of(b, is_common)[:, 0])
            center, error = shares.smoothed_and_error
            delta = shares.estimate.value
            measured[a, b] = MeasuredDifference(delta, center, error, n - 1, n)
        # The confidence, 0.95, does not matter: no interval is used.
        elif (student := _jackknifed(rows, a, b, is_common, 0.95).inferred) is not None:
            measured[a, b] = MeasuredDifference(
                student.value, student.value, student.error, student.freedom, n
            )
    return measured


def _jackknifed(
    rows: _Rows, a: str, b: str, is_common: NDArray[np.bool_], confidence: float
) -> PairedDifference:
    """The difference on the items that both systems have, with its standard error; the units that are
    left out in turn are items, or clusters if there are any."""
    a_rows, b_rows = rows.of(a, is_common), rows.of(b, is_common)
    if (clusters := rows.clusters(is_common)) is not None:
        return clustered_difference(
            rows.scores_without_clusters(a, is_common, clusters),
            rows.scores_without_clusters(b, is_common, clusters),
            is_differing(a_rows, b_rows),
            clusters,
            confidence=confidence,
        )
    return jackknife_difference(
        rows.scores_without_items(a, is_common),
        rows.scores_without_items(b, is_common),
        n_differing(a_rows, b_rows),
        confidence=confidence,
    )


def _by_jackknife(
    rows: _Rows, a: str, b: str, confidence: float, margin: float | None
) -> Comparison:
    """The comparison of a pair by the jackknife, or by McNemar's test if both scores are shares of
    independent items."""
    is_common = rows.common(a, b)
    a_rows, b_rows = rows.of(a, is_common), rows.of(b, is_common)
    clusters = rows.clusters(is_common)
    are_shares = rows.is_share(a, is_common) and rows.is_share(b, is_common)
    difference: PairedDifference | DifferenceOfShares
    # Without a differing item the jackknife has no standard error. Each cluster counts as one item.
    if clusters is not None and are_shares and not n_differing(a_rows, b_rows):
        difference = DifferenceOfShares(
            only_a=0, only_b=0, n=len(clusters.sizes), confidence=confidence
        )
    elif clusters is None and are_shares:
        difference = DifferenceOfShares.of(a_rows[:, 0], b_rows[:, 0], confidence)
    else:
        difference = _jackknifed(rows, a, b, is_common, confidence)
    bounds = (0.0, 1.0) if are_shares else rows.table.bounds
    return replace(
        _comparison(
            rows, a, b, replace(_with_possible_interval(difference.estimate, bounds), n=len(a_rows))
        ),
        equivalence_p=None if margin is None else difference.equivalence_p(margin),
    )


def _with_possible_interval(difference: Estimate, bounds: Bounds) -> Estimate:
    """The estimate, with its interval limited to the differences that scores within `bounds` can
    have."""
    lowest, highest = bounds
    if lowest is None or highest is None or difference.low is None or difference.high is None:
        return difference
    largest = highest - lowest
    return replace(
        difference, low=max(difference.low, -largest), high=min(difference.high, largest)
    )


def _by_resamples(
    rows: _Rows, a: str, b: str, test: PairedTest, resampling: Resampling, n_needed: int
) -> Comparison:
    """The comparison of a pair by a test with random resamples. If its p-value is below alpha, the
    test is repeated with `n_needed` resamples, so that the p-value can stay below alpha after the
    correction."""
    from wellput.stats.resampling import approximate_randomization, paired_bootstrap

    is_common = rows.common(a, b)
    a_rows, b_rows = rows.of(a, is_common), rows.of(b, is_common)
    if (clusters := rows.clusters(is_common)) is not None:  # whole clusters are drawn or exchanged
        a_rows, b_rows = clusters.sums(a_rows), clusters.sums(b_rows)
    # `bs` is sacreBLEU's test, with sacreBLEU's p-value; the report warns of its weakness.
    procedure: Callable[..., Estimate] = (
        approximate_randomization
        if test == "ar"
        else partial(paired_bootstrap, null="sacrebleu", confidence=resampling.confidence)
    )
    test_with = partial(
        procedure,
        a_rows,
        b_rows,
        rows.table.aggregate,
        seed=resampling.seed,
        threads=resampling.threads,
    )
    n_resamples = resampling.n_resamples
    estimate = test_with(n_resamples=n_resamples)
    if n_needed > n_resamples and (estimate.p_value or 0) < resampling.alpha:
        n_resamples = n_needed
        estimate = test_with(n_resamples=n_resamples)
    # p is (b + 1) / (n_resamples + 1), where b resamples are as extreme as the data. With b = 0 the
    # true p-value may be smaller.
    is_bound = (estimate.p_value or 0) <= 1 / (n_resamples + 1)
    return replace(
        _comparison(rows, a, b, estimate), p_is_bound=is_bound, n=int(np.count_nonzero(is_common))
    )


def _comparison(rows: _Rows, a: str, b: str, estimate: Estimate) -> Comparison:
    """The comparison of `a` and `b` with this estimate of their difference, not yet corrected."""
    p_value = float("nan") if estimate.p_value is None else estimate.p_value
    return Comparison(
        metric=rows.table.scorer,
        a=a,
        b=b,
        delta=estimate.value,
        p_value=p_value,
        p_adjusted=p_value,
        n=estimate.n or 0,
        low=estimate.low,
        high=estimate.high,
        effect_size=rows.effect_size(a, b),
        method=estimate.method,
    )


def corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with p-values corrected by Holm's method for all of them."""
    p_values = holm(np.array([pair.p_value for pair in comparisons]))
    equivalence = holm(
        np.array([np.nan if p.equivalence_p is None else p.equivalence_p for p in comparisons])
    )
    return [
        replace(
            pair,
            p_adjusted=float(p_value),
            equivalence_p_adjusted=None if pair.equivalence_p is None else float(equal),
        )
        for pair, p_value, equal in zip(comparisons, p_values, equivalence, strict=True)
    ]
