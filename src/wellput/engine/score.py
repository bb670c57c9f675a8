"""Scores a source (an evaluation set): all systems under all metrics, with intervals and tests, from
one pass over the items."""

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
"""Signatures of tokenizers that find words only where there are spaces."""
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
    """Scores every system of the source under every metric; `inference` says which intervals and
    tests are computed, `plan` where and how.

    `on_segments` is called with the scores of segments, block by block; this is refused where the plan
    needs partitions.
    """
    inference = inference or Inference()
    plan = plan or ScoringPlan()
    keep_rows = plan.keep_rows or inference.needs_rows
    collection = _collected(source, metrics, plan, keep_rows, on_segments, on_phase)
    baseline = inference.baseline_among(collection.systems)
    signatures = {
        metric.name: score_signature(metric, collection, inference, parser=source.parser)
        for metric in collection.metrics
    }
    clusters = None
    if keep_rows:
        clusters = clusters_among(collection.documents, collection.tags, inference.cluster)
    tables = (
        {m.name: collection.table(m, signatures[m.name], clusters) for m in collection.metrics}
        if keep_rows
        else {}
    )
    # The items of each slice, and the number of items that are in none.
    masks_and_rest = None
    if inference.by is not None:
        from wellput.engine.slices import slice_masks

        masks_and_rest = slice_masks(collection.tags, inference.by)
    n_columns = len(collection.columns)
    resampling = inference.resampling
    on_score = (
        on_phase("computing intervals", n_columns) if inference.has_intervals else ignore_progress
    )
    scores: list[Score] = []
    for metric in collection.metrics:
        for score in _scores(collection, metric, signatures[metric.name]):
            if inference.has_intervals:
                interval = resampling.interval(
                    tables[metric.name],
                    score.system,
                    by_bootstrap=inference.random_procedure == "bs",
                )
                score = replace(
                    score, low=interval.low, high=interval.high, method=interval.method or None
                )
            scores.append(score)
            on_score(1)
    pairs = _pairs(collection, inference, baseline)
    compared = _compared(collection, tables, inference, pairs, on_phase)
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
        test=inference.test,
        alpha=resampling.alpha,
        margin=inference.margin,
        differences=tuple(compared),
        comparisons=tuple(compared) if inference.all_pairs else (),
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
    if masks_and_rest is None:
        return result
    testable = frozenset(metric.name for metric in collection.metrics if is_testable(metric))
    return _with_slices(result, *masks_and_rest, pairs, testable, inference, on_phase)


def _with_slices(
    result: ScoreResult,
    masks: Mapping[str, NDArray[np.bool_]],
    n_without_tag: int,
    pairs: Sequence[tuple[str, str]],
    testable: frozenset[str],
    inference: Inference,
    on_phase: OnPhase,
) -> ScoreResult:
    """The result with a result for each slice (the items with one value of the tag), and with tests
    of whether differences depend on the slice. The tests are of `pairs`, or of all pairs if `pairs`
    is empty. `masks` has the items of each slice; `n_without_tag` items are in no slice."""
    from wellput.engine.slices import slice_tests, slices_of

    assert inference.by is not None
    slices = slices_of(result, masks, inference.by, pairs, testable, inference, on_phase)
    tables = {
        slice_result.by[inference.by]: {
            name: slice_result.tables[name] for name in slice_result.metrics if name in testable
        }
        for slice_result in slices
        if slice_result.by is not None
    }
    tests = slice_tests(tables, pairs or list(combinations(result.systems, 2)))
    return replace(result, slices=slices, in_no_slice=n_without_tag, slice_tests=tests)


def _collected(
    source: EvalSource,
    metrics: Sequence[Metric],
    plan: ScoringPlan,
    keep_rows: bool,
    on_segments: OnSegments | None,
    on_phase: OnPhase,
) -> Collection:
    """The statistics, computed as `plan` says; raises InputError if there is nothing to score.
    `keep_rows` also keeps those of single segments."""
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


def _scores(collection: Collection, metric: Metric, signature: str) -> Iterator[Score]:
    """The scores of all systems under one metric, which are computed in one call of the metric."""
    name, needs_references = metric.name, "references" in metric.needs
    columns = [collection.columns[system, name] for system in collection.systems]
    sums = np.stack([column.sums for column in columns])
    values = metric.score(sums).tolist()
    components = {part: by_system.tolist() for part, by_system in metric.components(sums).items()}
    for row, (system, column) in enumerate(zip(collection.systems, columns, strict=True)):
        left_out = collection.left_out[system] if needs_references else 0
        yield Score(
            system=system,
            metric=name,
            score=float(values[row]),
            signature=signature,
            n=collection.counts[system] - left_out,
            left_out=left_out,
            undefined=column.undefined,
            undefined_reasons=dict(column.reasons),
            components={part: float(by_system[row]) for part, by_system in components.items()},
        )


def _pairs(
    collection: Collection, inference: Inference, baseline: str | None
) -> list[tuple[str, str]]:
    """All pairs of systems, or each against the baseline; none if nothing is compared."""
    if baseline is None:
        return []
    systems = collection.systems
    if inference.all_pairs:
        return list(combinations(systems, 2))
    return [(system, baseline) for system in systems if system != baseline]


def _compared(
    collection: Collection,
    tables: Mapping[str, ScoreTable],
    inference: Inference,
    pairs: Sequence[tuple[str, str]],
    on_phase: OnPhase,
) -> list[Comparison]:
    """The differences of these pairs of systems under every metric that can be tested."""
    if not pairs:
        return []
    testable = {m.name: tables[m.name] for m in collection.metrics if is_testable(m)}
    from wellput.engine.differences import compare_systems

    on_pair = on_phase("comparing systems", len(pairs) * len(testable))
    return compare_systems(testable, pairs, inference, on_pair)


def _left_out(collection: Collection) -> tuple[UnscoredItems, ...]:
    """The items without references, which the metrics that need references do not score."""
    unreferenced = collection.unreferenced
    metrics = tuple(m.name for m in collection.metrics if "references" in m.needs)
    if not unreferenced.n or not metrics:
        return ()
    return (UnscoredItems("no reference", metrics, unreferenced.n, unreferenced.first),)


def _empty_notes(collection: Collection) -> list[str]:
    """Sentences on the number of empty outputs of each system: they are scored, but may really be
    missing."""
    return [
        f"{n:,} output{'' if n == 1 else 's'} of {system} "
        f"{'is empty and counts as an empty text' if n == 1 else 'are empty and count as empty texts'}."
        for system, n in collection.empty.items()
        if n
    ]


def _form_notes(collection: Collection) -> list[str]:
    """Sentences on outputs whose accented letters look like those of their references but do not match,
    because they are encoded in another Unicode form."""
    return [
        f"{n:,} output{'' if n == 1 else 's'} of {system} {'is' if n == 1 else 'are'} in another "
        "Unicode form (NFC or NFD) than the references: letters such as é do not match. Convert both "
        "to NFC."
        for system, n in collection.other_unicode_form.items()
        if n
    ]


def _spacing_notes(collection: Collection) -> list[str]:
    """Sentences on outputs in a script without spaces between words, if a metric finds words by
    spaces."""
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
    """Whether differences of this metric can be tested: its attribute `is_testable`, by default
    true."""
    return getattr(metric, "is_testable", True)


def score_signature(
    metric: Metric, collection: Collection, inference: Inference, *, parser: str | None = None
) -> str:
    """The signature of a metric's scores: everything that must be equal for two scores to be
    comparable, in sacreBLEU's order of fields."""
    fields: list[str] = []
    if "references" in metric.needs:
        fields.append(f"nrefs:{collection.references_label}")
    if inference.random_procedure is not None:
        resampling = inference.resampling
        fields += [
            f"{inference.random_procedure}:{resampling.n_resamples}",
            f"seed:{resampling.seed}",
        ]
    if parser is not None and "tree" in metric.needs:
        fields.append(f"trees:{parser}")
    metric_signature = metric.signature()
    return "|".join(
        [
            *fields,
            *([metric_signature] if metric_signature else []),
            f"version:wellput-{__version__}",
        ]
    )
