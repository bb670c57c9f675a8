"""Scoring a source: metrics × systems with intervals and significance, from one pass over the items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from wellput import __version__
from wellput.core.errors import InputError
from wellput.core.metric import Metric
from wellput.core.progress import OnPhase, unheard, unheard_phase
from wellput.core.score import Score
from wellput.core.source import EvalSource
from wellput.core.table import ScoreTable
from wellput.engine.blocks import OnSegments
from wellput.engine.collect import Collection, collect
from wellput.engine.plan import ScoringPlan
from wellput.engine.result import Comparison, LeftOut, ScoreResult
from wellput.engine.significance import Inference, compare_all, is_worse


def score_source(
    source: EvalSource,
    metrics: Sequence[Metric],
    *,
    inference: Inference | None = None,
    plan: ScoringPlan | None = None,
    on_segments: OnSegments | None = None,
    on_phase: OnPhase = unheard_phase,
) -> ScoreResult:
    """Scores every system of the source under every metric, as planned.

    `on_segments` is called with the scores of segments, block by block, by the local engine alone.
    """
    asked = inference or Inference()
    plan = plan or ScoringPlan()
    keep_rows = plan.keep_rows or asked.resamples
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
    on_score = on_phase("resampling scores", n_columns) if asked.resamples else unheard
    scores: list[Score] = []
    for metric in collection.metrics:
        for system in collection.systems:
            plain = _score(collection, system, metric, signatures[metric.name])
            scores.append(_with_inference(plain, metric, tables, asked, baseline))
            on_score(1)
    return ScoreResult(
        items=collection.items,
        systems=tuple(collection.systems),
        metrics=tuple(metric.name for metric in collection.metrics),
        scores=tuple(scores),
        seed=asked.resampling.seed,
        n_resamples=asked.resampling.n_resamples,
        confidence=asked.resampling.confidence,
        test=asked.test,
        alpha=asked.resampling.alpha,
        comparisons=tuple(_all_pairs(collection, tables, asked, on_phase)),
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
    """The statistics, as planned; raises InputError where there are none."""
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
        from wellput.engine.partitioned import collect_partitions

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


def _with_inference(
    score: Score,
    metric: Metric,
    tables: Mapping[str, ScoreTable],
    asked: Inference,
    baseline: str | None,
) -> Score:
    """The score with its interval and its difference from the baseline, where they were asked for."""
    resampling = asked.resampling
    if asked.has_intervals:
        interval = resampling.interval(tables[metric.name], score.system)
        score = replace(score, low=interval.low, high=interval.high)
    if asked.test is None or baseline in (None, score.system) or not is_testable(metric):
        return score
    assert baseline is not None
    delta = resampling.difference(tables[metric.name], score.system, baseline, asked.test)
    return replace(
        score,
        baseline=baseline,
        delta=delta.value,
        p_value=delta.p_value,
        n_common=delta.n,
        is_worse=is_worse(delta, metric.higher_is_better, resampling.alpha),
    )


def _all_pairs(
    collection: Collection,
    tables: Mapping[str, ScoreTable],
    asked: Inference,
    on_phase: OnPhase,
) -> list[Comparison]:
    if not asked.all_pairs or asked.test is None:
        return []
    testable = [metric for metric in collection.metrics if is_testable(metric)]
    n_pairs = math.comb(len(collection.systems), 2)
    on_pair = on_phase("comparing systems", n_pairs * len(testable))
    return [
        pair
        for metric in testable
        for pair in compare_all(tables[metric.name], asked.test, asked.resampling, on_pair)
    ]


def _left_out(collection: Collection) -> tuple[LeftOut, ...]:
    """The items that metrics which need references pass over."""
    found = collection.unreferenced
    metrics = tuple(m.name for m in collection.metrics if "references" in m.needs)
    if not found.n or not metrics:
        return ()
    return (LeftOut("no reference", metrics, found.n, found.first),)


def is_testable(metric: Metric) -> bool:
    """Whether significance may be assessed; a metric of others need not say so."""
    return getattr(metric, "is_testable", True)


def signature(
    metric: Metric, collection: Collection, asked: Inference, *, parser: str | None = None
) -> str:
    """Everything that must be equal for two scores to be comparable, in sacreBLEU's order."""
    fields: list[str] = []
    if "references" in metric.needs:
        fields.append(f"nrefs:{collection.references_label}")
    if asked.resamples:
        how = asked.resampling
        fields += [f"{asked.test or 'bs'}:{how.n_resamples}", f"seed:{how.seed}"]
    if parser is not None and "tree" in metric.needs:
        fields.append(f"trees:{parser}")
    own = metric.signature()
    return "|".join([*fields, *([own] if own else []), f"version:wellput-{__version__}"])
