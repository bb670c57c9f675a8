"""Scoring a source: all systems under all metrics, with intervals and tests, from one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from wellput import __version__
from wellput.core.errors import InputError
from wellput.core.estimates import ScoreTable
from wellput.core.metric import Metric
from wellput.core.scores import Score
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, ignore_phase, ignore_progress
from wellput.engine.blocks import OnSegments
from wellput.engine.collect import Collection, collect
from wellput.engine.result import Comparison, ScoreResult, UnscoredItems
from wellput.engine.scoring_plan import Inference, ScoringPlan


def score_source(
    source: EvalSource,
    metrics: Sequence[Metric],
    *,
    inference: Inference | None = None,
    plan: ScoringPlan | None = None,
    on_segments: OnSegments | None = None,
    on_phase: OnPhase = ignore_phase,
) -> ScoreResult:
    """Scores every system of the source under every metric, as planned.

    `on_segments` is called with the scores of segments, block by block; only the local engine does so.
    """
    asked = inference or Inference()
    plan = plan or ScoringPlan()
    keep_rows = plan.keep_rows or asked.needs_rows
    collection = _collected(source, metrics, plan, keep_rows, on_segments, on_phase)
    baseline = asked.baseline_among(collection.systems)
    signatures = {
        metric.name: signature(metric, collection, asked, parser=source.parser)
        for metric in collection.metrics
    }
    tables = (
        {m.name: collection.table(m, signatures[m.name]) for m in collection.metrics}
        if keep_rows
        else {}
    )
    n_columns = len(collection.columns)
    how = asked.resampling
    on_score = (
        on_phase("computing intervals", n_columns) if asked.has_intervals else ignore_progress
    )
    scores: list[Score] = []
    for metric in collection.metrics:
        for system in collection.systems:
            score = _score(collection, system, metric, signatures[metric.name])
            if asked.has_intervals:
                interval = how.interval(
                    tables[metric.name], system, by_bootstrap=asked.draws == "bs"
                )
                score = replace(
                    score, low=interval.low, high=interval.high, method=interval.method or None
                )
            scores.append(score)
            on_score(1)
    compared = _compared(collection, tables, asked, baseline, on_phase)
    return ScoreResult(
        items=collection.items,
        systems=tuple(collection.systems),
        metrics=tuple(metric.name for metric in collection.metrics),
        scores=tuple(_with_differences(scores, compared, baseline, collection.metrics, how.alpha)),
        seed=how.seed,
        n_resamples=how.n_resamples,
        confidence=how.confidence,
        test=asked.test,
        alpha=how.alpha,
        margin=asked.margin,
        differences=tuple(compared),
        comparisons=tuple(compared) if asked.all_pairs else (),
        skipped=tuple(collection.skipped),
        left_out=_left_out(collection),
        tables=tables,
        higher_is_better={m.name: m.higher_is_better for m in collection.metrics},
    )


def _collected(
    source: EvalSource,
    metrics: Sequence[Metric],
    plan: ScoringPlan,
    keep_rows: bool,
    on_segments: OnSegments | None,
    on_phase: OnPhase,
) -> Collection:
    """The statistics, computed as planned; raises InputError if there are none."""
    if not plan.needs_partitions:
        collection = collect(
            source,
            metrics,
            threads=plan.threads,
            keep_rows=keep_rows,
            on_segments=on_segments,
            on_phase=on_phase,
        )
    elif on_segments is not None:
        raise InputError("on_segments= needs engine='local' without resume= and on_error='skip'.")
    else:
        from wellput.engine.partitions import collect_partitions

        collection = collect_partitions(source, metrics, plan, keep_rows, on_phase)
    if not collection.systems and collection.skipped:
        raise InputError.collect(
            "Nothing is left to score: every partition failed.",
            [f"{skipped.partition}: {skipped.reason}" for skipped in collection.skipped],
        )
    if not collection.systems:
        raise InputError("Nothing to score: no item has an output.")
    collection.refuse_no_references()
    return collection


def _score(collection: Collection, system: str, metric: Metric, signed: str) -> Score:
    column = collection.columns[system, metric.name]
    left_out = collection.left_out[system] if "references" in metric.needs else 0
    return Score(
        system=system,
        metric=metric.name,
        score=float(metric.score(column.sums)),
        signature=signed,
        n=collection.counts[system] - left_out,
        left_out=left_out,
        undefined=column.undefined,
        components={name: float(value) for name, value in metric.components(column.sums).items()},
    )


def _compared(
    collection: Collection,
    tables: Mapping[str, ScoreTable],
    asked: Inference,
    baseline: str | None,
    on_phase: OnPhase,
) -> list[Comparison]:
    """All pairs of systems, or each against the baseline, under every metric that can be tested."""
    if baseline is None:
        return []
    testable = {m.name: tables[m.name] for m in collection.metrics if is_testable(m)}
    from wellput.engine.differences import compare_systems

    systems = collection.systems
    pairs = (
        list(combinations(systems, 2))
        if asked.all_pairs
        else [(system, baseline) for system in systems if system != baseline]
    )
    on_pair = on_phase("comparing systems", len(pairs) * len(testable))
    return compare_systems(testable, pairs, asked, on_pair)


def _with_differences(
    scores: Sequence[Score],
    compared: Sequence[Comparison],
    baseline: str | None,
    metrics: Sequence[Metric],
    alpha: float,
) -> list[Score]:
    """The scores with their differences from the baseline, if these were tested."""
    if not compared:
        return list(scores)
    from wellput.engine.differences import is_worse, with_difference

    higher_is_better = {metric.name: metric.higher_is_better for metric in metrics}
    differences = {
        (pair.a, pair.metric): pair
        for either in compared
        for pair in (either, either.turned)
        if pair.b == baseline
    }
    return [
        score
        if (found := differences.get((score.system, score.metric))) is None
        else with_difference(
            score, found, is_worse=is_worse(found, higher_is_better[score.metric], alpha)
        )
        for score in scores
    ]


def _left_out(collection: Collection) -> tuple[UnscoredItems, ...]:
    """The items without references, which some metrics do not score."""
    found = collection.unreferenced
    metrics = tuple(m.name for m in collection.metrics if "references" in m.needs)
    if not found.n or not metrics:
        return ()
    return (UnscoredItems("no reference", metrics, found.n, found.first),)


def is_testable(metric: Metric) -> bool:
    """Whether differences can be tested; true if the metric does not say."""
    return getattr(metric, "is_testable", True)


def signature(
    metric: Metric, collection: Collection, asked: Inference, *, parser: str | None = None
) -> str:
    """Everything that must be equal for two scores to be comparable, in sacreBLEU's order."""
    fields: list[str] = []
    if "references" in metric.needs:
        fields.append(f"nrefs:{collection.references_label}")
    if asked.draws is not None:
        how = asked.resampling
        fields += [f"{asked.draws}:{how.n_resamples}", f"seed:{how.seed}"]
    if parser is not None and "tree" in metric.needs:
        fields.append(f"trees:{parser}")
    own = metric.signature()
    return "|".join([*fields, *([own] if own else []), f"version:wellput-{__version__}"])
