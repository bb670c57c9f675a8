"""Which metrics differ significantly in their agreement with people: all pairs, with corrected
p-values.

The smallest p-value that a test with m resamples can give is 1 / (m + 1), and the correction for
several tests multiplies it by up to the number of pairs. With 1000 resamples and the 105 pairs of 15
metrics, no p-value could be below 0.1. So the pairs whose p-value is small before the correction are
tested again, with enough resamples for the correction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.correlations import (
    MetricAgainstPeople,
    document_values,
    draw_documents,
    own_documents,
    segment_scores,
    system_scores,
)
from wellput.agreement.result import AgreementLevel, MetricDifference
from wellput.core.errors import InputError
from wellput.core.estimates import Estimate, ScoreTable
from wellput.core.metric import is_sentinel
from wellput.core.work import OnPhase, ignore_phase
from wellput.stats.corrections import CORRECTIONS, Correction, resamples_needed
from wellput.stats.correlation import Coefficient, Correlation, CorrelationLevel
from wellput.stats.metric_comparison import CORRELATION_TESTS, CorrelationTest

if TYPE_CHECKING:
    from wellput.agreement.analysis import AgreementOptions

CompareMetrics = Callable[[str, str, int], Estimate]
"""A function of the names of two metrics, a and b, and a number of resamples. It returns the
coefficient of a minus that of b, with its p-value."""


@dataclass(frozen=True, slots=True)
class PairTest:
    """How two metrics are compared. `n_resamples` is None for a test that does not resample."""

    name: str
    compare: CompareMetrics
    n_resamples: int | None
    correction: Correction
    alpha: float

    def resamples_needed(self, n_pairs: int) -> int | None:
        """How many resamples the test of a pair needs, so that the difference can be significant after
        the correction for all pairs."""
        if self.n_resamples is None or self.correction == "none":
            return self.n_resamples
        return resamples_needed(self.n_resamples, tests=n_pairs, alpha=self.alpha)


def pair_test(
    tables: Mapping[str, ScoreTable],
    human: ScoreTable,
    cells: NDArray[np.bool_],
    coefficient: Coefficient,
    compared: Mapping[str, MetricAgainstPeople],
    options: AgreementOptions,
) -> PairTest:
    """How two metrics are compared: by the test that the options name, or by a jackknife, which
    computes the difference of their coefficients without each system and item in turn. `compared` has
    each metric's comparison with people, by name."""
    if options.test in ("auto", "jackknife"):
        comparisons = {
            name: _length_made_positive(comparison) for name, comparison in compared.items()
        }
        return PairTest(
            "jackknife",
            lambda a, b, _: comparisons[a].minus(comparisons[b], options.uncertainty),
            None,
            options.correction,
            options.alpha,
        )
    if options.test == "paired-t":
        return _paired_t(tables, human, cells, coefficient, options)
    if options.level == "document" or coefficient == "spa":
        unsupported = "documents" if options.level == "document" else "soft pairwise accuracy"
        raise InputError(f"test={options.test!r} does not work for {unsupported}: leave test= out.")
    level = cast(CorrelationLevel, options.level)
    correlation = Correlation(level, options.average, coefficient)
    compare, n_resamples = _named_test(
        cast("CorrelationTest", options.test), tables, human, cells, correlation, options
    )
    return PairTest(options.test, compare, n_resamples, options.correction, options.alpha)


def _paired_t(
    tables: Mapping[str, ScoreTable],
    human: ScoreTable,
    cells: NDArray[np.bool_],
    coefficient: Coefficient,
    options: AgreementOptions,
) -> PairTest:
    """Student's paired test over documents, as in Kauchak & Barzilay (2006). It treats
    documents as independent, although they share systems, and documents that were drawn at random also
    share items. So its p-values are too small."""
    if options.level != "document":
        raise InputError("test='paired-t' compares metrics over documents: give level='document'.")
    from scipy.stats import ttest_rel

    documents_of_items = own_documents(next(iter(tables.values())), cells)
    documents = documents_of_items or draw_documents(
        cells,
        size=options.document_size,
        documents=options.documents,
        seed=options.uncertainty.seed,
    )
    values = {
        name: document_values(table, human, cells, documents, coefficient)
        for name, table in tables.items()
    }

    def compare(a: str, b: str, _: int) -> Estimate:
        has_both = np.isfinite(values[a]) & np.isfinite(values[b])
        test = ttest_rel(values[a][has_both], values[b][has_both])
        low, high = test.confidence_interval(options.uncertainty.confidence)
        delta = float((values[a][has_both] - values[b][has_both]).mean())
        return Estimate(delta, float(low), float(high), float(test.pvalue), method="paired-t")

    return PairTest("paired-t", compare, None, options.correction, options.alpha)


def _length_made_positive(comparison: MetricAgainstPeople) -> MetricAgainstPeople:
    """Longer outputs may be better or worse: a negative correlation of length is negated, so that other
    metrics are compared with its size."""
    figure = comparison.figure
    if not comparison.metric.startswith("length-only") or figure is None or figure.value >= 0:
        return comparison
    return replace(comparison, figure=-figure)


def _named_test(
    test: CorrelationTest,
    tables: Mapping[str, ScoreTable],
    human: ScoreTable,
    cells: NDArray[np.bool_],
    correlation: Correlation,
    options: AgreementOptions,
) -> tuple[CompareMetrics, int | None]:
    """A published test, and its number of resamples (None if it does not resample)."""
    # These two tests take vectors of systems' scores, as tables of one column, correlated like pooled
    # segments. The other tests exchange or draw segments at system level too, and average them as the
    # papers do.
    is_flat = correlation.level == "system" and test in ("williams", "perm-systems")
    scores = system_scores if is_flat else segment_scores
    arrays = {name: scores(table, cells) for name, table in tables.items()}
    people = scores(human, cells)
    if is_flat:
        correlation = Correlation(coefficient=correlation.coefficient)
        arrays = {name: values[:, None] for name, values in arrays.items()}
        people = people[:, None]
    if test == "williams":
        return lambda a, b, _: CORRELATION_TESTS[test](
            arrays[a], arrays[b], people, correlation
        ), None
    resampling = {"seed": options.uncertainty.seed, "threads": options.uncertainty.threads}

    def compare(a: str, b: str, n_resamples: int) -> Estimate:
        return CORRELATION_TESTS[test](
            arrays[a], arrays[b], people, correlation, n_resamples=n_resamples, **resampling
        )

    return compare, options.uncertainty.n_resamples


def compare_pairs(
    metrics: Sequence[str],
    test: PairTest,
    *,
    question: str,
    level: AgreementLevel,
    coefficient: Coefficient,
    on_phase: OnPhase = ignore_phase,
) -> list[MetricDifference]:
    """One `MetricDifference` per pair. If the p-value of a pair is small and the correction needs more
    resamples, the pair is tested again, and the result of the second test is used.

    p-values are corrected for the number of pairs of metrics. Pairs with a sentinel (a metric such as
    `random`, for comparison) are corrected separately.
    """
    pairs = list(combinations(metrics, 2))
    n_resamples = test.n_resamples or 0
    n_needed = test.resamples_needed(len(pairs)) or 0
    estimates: list[Estimate] = []
    on_pair = on_phase("comparing metrics", len(pairs))
    for a, b in pairs:
        estimate = test.compare(a, b, n_resamples)
        if n_needed > n_resamples and _p_value(estimate) < test.alpha:
            estimate = test.compare(a, b, n_needed)
        estimates.append(estimate)
        on_pair(1)
    p_values = np.array([_p_value(estimate) for estimate in estimates])
    adjusted = np.full(len(pairs), np.nan)
    # Three families of tests: pairs with no sentinel, with one, and with two.
    families = np.array([sum(is_sentinel(metric) for metric in pair) for pair in pairs])
    for family in np.unique(families):
        is_in_family = families == family
        adjusted[is_in_family] = CORRECTIONS[test.correction](p_values[is_in_family])
    return [
        MetricDifference(
            metrics=pair,
            question=question,
            level=level,
            coefficient=coefficient,
            delta=estimate.value,
            p_value=float(p),
            p_adjusted=float(q),
            test=test.name,
            low=estimate.low,
            high=estimate.high,
        )
        for pair, estimate, p, q in zip(pairs, estimates, p_values, adjusted, strict=True)
    ]


def _p_value(estimate: Estimate) -> float:
    return float("nan") if estimate.p_value is None else estimate.p_value
