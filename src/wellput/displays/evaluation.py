"""`evaluate`: scores systems that choose displays under every display metric, as Foster (2008) did.

The scores are those of `score`. Systems are tested against each other by Wilcoxon's rank sum test
over sentences, with Bonferroni's correction for the comparisons under one metric. Two kinds of metrics
are not tested: the frequencies of displays, which have no value for a single sentence, and beta, which
the paper does not test either.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from wellput.core.errors import InputError
from wellput.core.estimates import ScoreTable
from wellput.core.evalset import ORIGINAL
from wellput.core.metric import Floats, Metric
from wellput.core.options import checks_options
from wellput.core.result import Result
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.displays.corpus import sentences_of
from wellput.displays.schedules import ScheduleKind
from wellput.engine.result import ScoreResult
from wellput.engine.score import is_testable, score_source
from wellput.engine.scoring_plan import Inference, Resampling, ScoringPlan
from wellput.io import check_files, replacing_text
from wellput.io.files import PathLike
from wellput.io.named_files import paths_in
from wellput.metrics.registry import create_all
from wellput.stats.corrections import bonferroni
from wellput.stats.rank_tests import rank_sum

REPRODUCTION_METRICS = tuple(
    f"display-{name}" for name in ("precision", "recall", "f", "accuracy", "beta")
)
"""The metrics of Figure 4(a) of Foster (2008), which compare with the original displays."""

INTRINSIC_METRICS = tuple(f"display-{name}" for name in ("tokens", "types", "ttr"))
"""The metrics of Figure 4(b) of Foster (2008), which need no original displays."""

FREQUENCY_METRICS = tuple(f"display-{name}" for name in ("entropy", "commonest", "distance"))
"""Metrics of how often each display is shown in the whole corpus."""

EVERY_METRIC = (*REPRODUCTION_METRICS, *INTRINSIC_METRICS, *FREQUENCY_METRICS)

NO_MOTION = "no motion"
"""The name of a system that never shows a display. Node accuracy is tested against it."""


@dataclass(frozen=True, slots=True)
class RankSum:
    """Wilcoxon's rank sum test of two systems' sentences under one metric.

    `delta` is the score of a minus that of b, `n` the number of sentences of both that have a score,
    `p_adjusted` the p-value with Bonferroni's correction, `test` how p was computed.
    """

    metric: str
    a: str
    b: str
    delta: float
    p_value: float
    p_adjusted: float
    n: int
    test: str


@dataclass(frozen=True, repr=False)
class DisplayEvaluation(Result):
    """The scores of the systems (`result`), and the tests between systems (`rank_sums`)."""

    presented_by: ClassVar[str] = "wellput.displays.reports:displays_report"

    result: ScoreResult
    rank_sums: tuple[RankSum, ...]

    @property
    def no_motion(self) -> float | None:
        """The accuracy of a system that never shows a display; None without display-accuracy."""
        for score in self.result.scores:
            if score.metric.startswith("display-accuracy"):
                return score.components["no_motion"]
        return None

    def charts(self) -> dict[str, str]:
        """Charts like Figure 4 of Foster (2008), as SVG: `reproduction` and `intrinsic`, each if there
        are metrics for it."""
        from wellput.displays.reports import displays_charts

        return displays_charts(self.result)

    def records(self) -> list[dict[str, Any]]:
        """A record for each system under each metric."""
        return self.result.records()

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput score`, and the tests."""
        return {**self.result.values(), "rank_sums": [asdict(test) for test in self.rank_sums]}


@checks_options
def evaluate(
    evalset: EvalSource | PathLike,
    *,
    metrics: str | Metric | Iterable[str | Metric] = (),
    confidence: bool = False,
    resamples: int | None = None,
    charts: PathLike | None = None,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> DisplayEvaluation:
    """Scores every system's display schedules against those of the system `original`. Systems are
    tested against each other by Wilcoxon's rank sum test with Bonferroni's correction.

    Parameters
    ----------
    evalset
        An `EvalSet` with schedules, or the path of one.
    metrics
        Display metrics, as for `score` (default: all of them).
    confidence
        Adds intervals, by leaving out one sentence at a time, as `score` does.
    resamples
        With `confidence`, percentile intervals of so many bootstrap resamples instead. For
        `display-distance` they lie too high: in a resample, the system's frequencies of displays are
        farther from the original's than in all sentences.
    charts
        Writes two charts, `PREFIX-reproduction.svg` and `PREFIX-intrinsic.svg`.
    path
        Writes the tables to a file; `.json`, `.csv`, `.tex` and `.md` choose the format.
    seed, threads, on_phase
        As for `score`.

    Returns
    -------
    DisplayEvaluation
        `result` has the scores, `rank_sums` the tests, `charts()` the charts as SVG.

    Raises
    ------
    InputError
        There are no schedules, or a metric does not score displays.

    Examples
    --------
    >>> import wellput
    >>> corpus = wellput.displays.example(n=30).evalset
    >>> chosen = wellput.displays.select(corpus, strategy="rule", folds=3).evalset
    >>> found = wellput.displays.evaluate(chosen, metrics="display-tokens,display-f")
    >>> found.result["original", "display-f"].score
    1.0
    """
    files = chart_files(charts)
    check_files([path, *files.values()], [evalset, *paths_in(metrics)])
    evaluation = evaluate_displays(
        sentences_of(evalset),
        metrics or EVERY_METRIC,
        confidence=confidence,
        n_resamples=resamples,
        seed=seed,
        threads=threads,
        on_phase=on_phase,
    )
    if files:
        for name, drawing in evaluation.charts().items():
            with replacing_text(files[name]) as file:
                file.write(drawing)
    if path is not None:
        evaluation.save(path)
    return evaluation


def chart_files(prefix: PathLike | None) -> dict[str, str]:
    """The files of the charts by name; empty without a prefix."""
    names = () if prefix is None else ("reproduction", "intrinsic")
    return {name: f"{prefix}-{name}.svg" for name in names}


def evaluate_displays(
    source: EvalSource,
    metrics: str | Metric | Iterable[str | Metric] = EVERY_METRIC,
    *,
    confidence: bool = False,
    n_resamples: int | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> DisplayEvaluation:
    """Scores every system's schedules against those of the system `original`, and tests the systems
    against each other."""
    chosen = create_all(metrics)
    text_metrics = [
        metric.name for metric in chosen if getattr(metric, "output_kind", "") != ScheduleKind.name
    ]
    if text_metrics:
        raise InputError(
            f"{', '.join(text_metrics)} scores text: displays have the metrics display-…."
        )
    cores = threads or available_cores()
    result = score_source(
        source,
        chosen,
        inference=Inference(
            has_intervals=confidence,
            has_percentiles=n_resamples is not None,
            resampling=Resampling(n_resamples or 1, seed, threads=cores),
        ),
        plan=ScoringPlan(threads=cores, keep_rows=True),  # the tests need each sentence's score
        on_phase=on_phase,
    )
    tests = [
        test
        for metric in chosen
        if metric.name.partition(":")[0] not in FREQUENCY_METRICS and is_testable(metric)
        for test in _rank_sums(result.table(metric.name), with_original=metric_is_intrinsic(metric))
    ]
    return DisplayEvaluation(result, tuple(tests))


def metric_is_intrinsic(metric: Metric) -> bool:
    """Whether a metric can score the original itself."""
    return "original" not in metric.needs


def _rank_sums(table: ScoreTable, *, with_original: bool) -> list[RankSum]:
    """The tests of all pairs of systems under one metric and, if the metric has a score for it, of each
    system against one that never shows a display."""
    rows = [row for row, name in enumerate(table.systems) if with_original or name != ORIGINAL]
    scores, overall, names = table.scores, table.system_scores, table.systems
    compared = [
        (names[a], names[b], scores[a], scores[b], float(overall[a] - overall[b]))
        for a, b in combinations(rows, 2)
    ]
    baselines = _no_motion(table)
    if baselines is not None:
        compared += [
            (
                names[row],
                NO_MOTION,
                scores[row],
                baselines[row],
                float(overall[row] - np.nanmean(baselines[row])),
            )
            for row in rows
        ]
    tests = [rank_sum(first, second) for _, _, first, second, _ in compared]
    p_values = np.array([np.nan if test.p_value is None else test.p_value for test in tests])
    return [
        RankSum(table.scorer, a, b, delta, float(p), float(adjusted), test.n or 0, test.method)
        for (a, b, _, _, delta), test, p, adjusted in zip(
            compared, tests, p_values, bonferroni(p_values), strict=True
        )
    ]


def _no_motion(table: ScoreTable) -> Floats | None:
    """The scores of a system that never shows a display, systems × items; None if the metric has
    none."""
    components = table.components(table.statistics)
    if "no_motion" not in components:
        return None
    return np.where(table.present, components["no_motion"], np.nan)
