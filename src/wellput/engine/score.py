"""Scoring a source: all systems under all metrics, with intervals and tests, from one pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wellput import __version__
from wellput.core.clusters import clusters_among
from wellput.core.errors import InputError, counted
from wellput.core.estimates import ScoreTable
from wellput.core.metric import Metric
from wellput.core.scores import Score
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, ignore_phase, ignore_progress
from wellput.engine.blocks import OnSegments
from wellput.engine.collect import Collection, collect
from wellput.engine.result import Comparison, ScoreResult, UnscoredItems
from wellput.engine.scoring_plan import Inference, ScoringPlan

if TYPE_CHECKING:
    from wellput.engine.result import ErrorSources

TOKENIZERS_AT_SPACES = frozenset(["tok:13a", "tok:intl", "tok:none", "tok:rouge", "tok:tercom"])
TOKENIZERS_BY_SCRIPT = {"Chinese": "zh", "Japanese": "ja-mecab"}


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
        metric.name: score_signature(metric, collection, asked, parser=source.parser)
        for metric in collection.metrics
    }
    clusters = None
    if keep_rows:
        clusters = clusters_among(collection.documents, collection.tags, asked.cluster)
    tables = (
        {m.name: collection.table(m, signatures[m.name], clusters) for m in collection.metrics}
        if keep_rows
        else {}
    )
    masks = None
    if asked.by is not None:
        from wellput.engine.slices import slice_masks

        masks = slice_masks(collection.tags, asked.by)
    n_columns = len(collection.columns)
    resampling = asked.resampling
    on_score = (
        on_phase("computing intervals", n_columns) if asked.has_intervals else ignore_progress
    )
    scores: list[Score] = []
    for metric in collection.metrics:
        for score in _scores(collection, metric, signatures[metric.name]):
            if asked.has_intervals:
                interval = resampling.interval(
                    tables[metric.name], score.system, by_bootstrap=asked.draws == "bs"
                )
                score = replace(
                    score, low=interval.low, high=interval.high, method=interval.method or None
                )
            scores.append(score)
            on_score(1)
    pairs = _pairs(collection, asked, baseline)
    compared = _compared(collection, tables, asked, pairs, on_phase)
    if compared:
        from wellput.engine.differences import scores_with_differences

        scores = scores_with_differences(
            scores,
            compared,
            baseline,
            {metric.name: metric.higher_is_better for metric in collection.metrics},
            resampling.alpha,
            clusters,
        )
    sources: tuple[ErrorSources, ...] = ()
    if clusters is not None or any(table.samples is not None for table in tables.values()):
        from wellput.engine.result import error_sources

        sources = error_sources(list(tables.values()), compared)
    result = ScoreResult(
        items=collection.items,
        systems=tuple(collection.systems),
        metrics=tuple(metric.name for metric in collection.metrics),
        scores=tuple(scores),
        seed=resampling.seed,
        n_resamples=resampling.n_resamples,
        confidence=resampling.confidence,
        test=asked.test,
        alpha=resampling.alpha,
        margin=asked.margin,
        differences=tuple(compared),
        comparisons=tuple(compared) if asked.all_pairs else (),
        skipped=tuple(collection.skipped),
        left_out=_left_out(collection),
        notes=(
            *_empty_notes(collection),
            *_form_notes(collection),
            *_spacing_notes(collection),
            *source.notes,
            *(note for m in collection.metrics for note in getattr(m, "notes", ())),
        ),
        tables=tables,
        higher_is_better={m.name: m.higher_is_better for m in collection.metrics},
        clusters=clusters,
        error_sources=sources,
        tags=tuple(collection.tags),
    )
    if masks is None:
        return result
    testable = frozenset(metric.name for metric in collection.metrics if is_testable(metric))
    return _with_slices(result, *masks, pairs, testable, asked, on_phase)


def _with_slices(
    result: ScoreResult,
    masks: Mapping[str, NDArray[np.bool_]],
    without: int,
    pairs: Sequence[tuple[str, str]],
    testable: frozenset[str],
    asked: Inference,
    on_phase: OnPhase,
) -> ScoreResult:
    """The result with those of its slices, and tests whether differences depend on the slice: of the
    pairs that are compared, or else of all pairs."""
    from wellput.engine.slices import slice_tests, slices_of

    assert asked.by is not None
    slices = slices_of(result, masks, asked.by, pairs, testable, asked, on_phase)
    tables = {
        part.by[asked.by]: {name: part.tables[name] for name in part.metrics if name in testable}
        for part in slices
        if part.by is not None
    }
    tests = slice_tests(tables, pairs or list(combinations(result.systems, 2)))
    return replace(result, slices=slices, in_no_slice=without, slice_tests=tests)


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
        raise InputError(f"Nothing to score: no item has an output. {source.advice}".rstrip())
    collection.refuse_no_references()
    return collection


def _scores(collection: Collection, metric: Metric, signed: str) -> Iterator[Score]:
    """The scores of all systems under one metric, which are computed together."""
    name, needs_references = metric.name, "references" in metric.needs
    columns = [collection.columns[system, name] for system in collection.systems]
    sums = np.stack([column.sums for column in columns])
    values = metric.score(sums).tolist()
    parts = {part: found.tolist() for part, found in metric.components(sums).items()}
    for row, (system, column) in enumerate(zip(collection.systems, columns, strict=True)):
        left_out = collection.left_out[system] if needs_references else 0
        yield Score(
            system=system,
            metric=name,
            score=float(values[row]),
            signature=signed,
            n=collection.counts[system] - left_out,
            left_out=left_out,
            undefined=column.undefined,
            undefined_reasons=dict(column.reasons),
            components={part: float(found[row]) for part, found in parts.items()},
        )


def _pairs(collection: Collection, asked: Inference, baseline: str | None) -> list[tuple[str, str]]:
    """All pairs of systems, or each against the baseline; none if nothing is compared."""
    if baseline is None:
        return []
    systems = collection.systems
    if asked.all_pairs:
        return list(combinations(systems, 2))
    return [(system, baseline) for system in systems if system != baseline]


def _compared(
    collection: Collection,
    tables: Mapping[str, ScoreTable],
    asked: Inference,
    pairs: Sequence[tuple[str, str]],
    on_phase: OnPhase,
) -> list[Comparison]:
    """The pairs of systems under every metric that can be tested."""
    if not pairs:
        return []
    testable = {m.name: tables[m.name] for m in collection.metrics if is_testable(m)}
    from wellput.engine.differences import compare_systems

    on_pair = on_phase("comparing systems", len(pairs) * len(testable))
    return compare_systems(testable, pairs, asked, on_pair)


def _left_out(collection: Collection) -> tuple[UnscoredItems, ...]:
    """The items without references, which some metrics do not score."""
    found = collection.unreferenced
    metrics = tuple(m.name for m in collection.metrics if "references" in m.needs)
    if not found.n or not metrics:
        return ()
    return (UnscoredItems("no reference", metrics, found.n, found.first),)


def _empty_notes(collection: Collection) -> list[str]:
    """How many outputs of each system are empty: they may be missing, but are scored."""
    return [
        f"{n:,} output{'' if n == 1 else 's'} of {system} "
        f"{'is empty and counts as an empty text' if n == 1 else 'are empty and count as empty texts'}."
        for system, n in collection.empty.items()
        if n
    ]


def _form_notes(collection: Collection) -> list[str]:
    """How many outputs of each system cannot match letters with accents, although they look alike."""
    return [
        f"{n:,} output{'' if n == 1 else 's'} of {system} {'is' if n == 1 else 'are'} in another "
        "Unicode form (NFC or NFD) than the references: letters such as é do not match. Convert both "
        "to NFC."
        for system, n in collection.other_unicode_form.items()
        if n
    ]


def _spacing_notes(collection: Collection) -> list[str]:
    """How many outputs are in a script without spaces, where a metric takes what stands between spaces
    for a word."""
    metrics = [
        metric.name
        for metric in collection.metrics
        if TOKENIZERS_AT_SPACES.intersection(metric.signature().split("|"))
    ]
    if not metrics:
        return []
    return [
        f"{counted(n, 'output')} {'is' if n == 1 else 'are'} {script}, without spaces between words: "
        f"{', '.join(metrics)} cannot see single words there. Take bleu:tokenize="
        f"{TOKENIZERS_BY_SCRIPT[script]}, or chrf, which compares characters."
        for script, n in collection.unspaced.items()
    ]


def is_testable(metric: Metric) -> bool:
    """Whether differences can be tested; true if the metric does not say."""
    return getattr(metric, "is_testable", True)


def score_signature(
    metric: Metric, collection: Collection, asked: Inference, *, parser: str | None = None
) -> str:
    """Everything that must be equal for two scores to be comparable, in sacreBLEU's order."""
    fields: list[str] = []
    if "references" in metric.needs:
        fields.append(f"nrefs:{collection.references_label}")
    if asked.draws is not None:
        resampling = asked.resampling
        fields += [f"{asked.draws}:{resampling.n_resamples}", f"seed:{resampling.seed}"]
    if parser is not None and "tree" in metric.needs:
        fields.append(f"trees:{parser}")
    own = metric.signature()
    return "|".join([*fields, *([own] if own else []), f"version:wellput-{__version__}"])
