"""`score`: metrics × systems with intervals and significance, from one pass over the items."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar, get_args

from wellput import __version__
from wellput.core.errors import InputError, did_you_mean
from wellput.core.metric import Metric
from wellput.core.progress import OnPhase, OnProgress, unheard, unheard_phase
from wellput.core.score import Score
from wellput.core.source import EvalSource
from wellput.core.table import ScoreTable
from wellput.engine.blocks import OnSegments
from wellput.engine.collect import Collection, collect
from wellput.engine.plan import Engine, OnError, Plan
from wellput.engine.result import Comparison, LeftOut, ScoreResult
from wellput.engine.significance import Resampling, Test, compare_all, is_worse
from wellput.io import open_evalset
from wellput.io.files import PathLike
from wellput.metrics.registry import create_all

T = TypeVar("T")


def score(
    evalset: EvalSource | str | Path,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    confidence: bool | float = False,
    paired: Test | None = None,
    baseline: str | None = None,
    all_pairs: bool = False,
    alpha: float = 0.05,
    n_resamples: int = 1000,
    seed: int = 12345,
    threads: int | None = None,
    keep_rows: bool = False,
    engine: Engine = "local",
    address: str | None = None,
    resume: PathLike | None = None,
    on_error: OnError = "stop",
    segments: PathLike | None = None,
    on_segments: OnSegments | None = None,
    on_progress: OnProgress = unheard,
    on_phase: OnPhase = unheard_phase,
) -> ScoreResult:
    """Scores every system of an EvalSet (or of a file) under every metric.

    `metrics` are names with options (`"bleu,chrf:word_order=2"`) or metric objects. `confidence` asks
    for bootstrap intervals: True for 95%, or the level. `paired` tests every system against the
    `baseline` (the first system, unless named): approximate randomization or paired bootstrap;
    `all_pairs` tests every pair too, with Holm's correction. `threads` None means all cores; it
    never changes a digit. `keep_rows` keeps segment statistics for `result.table(metric)`.

    `engine="ray"` computes on the cluster at `address` (without one, on processes of this machine), to
    the same digits. `resume` is a folder in which finished partitions are kept: a run that was stopped
    goes on from there. `on_error="skip"` leaves out partitions that cannot be read and lists them in
    `result.skipped`. `segments` is a folder for segment scores, a Parquet file a partition;
    `on_segments` is called with them instead, by the local engine alone. `on_progress` is called with
    the numbers of items done, `on_phase` with what is done next, to tell a user who waits.

    >>> import wellput
    >>> sets = wellput.EvalSet.of({"A": ["a cat sat"], "B": ["sat a cat"]}, ["a cat sat"])
    >>> wellput.score(sets, "ssa,gsa")["B", "gsa"].score
    0.6666666666666667
    """
    if isinstance(evalset, str | Path):
        evalset = open_evalset(evalset)
    chosen = create_all(metrics)
    level = 0.95 if isinstance(confidence, bool) else float(confidence)
    if not 0 < level < 1:
        raise InputError(f"confidence={level} must lie between 0 and 1, such as 0.95.")
    if paired not in (None, *get_args(Test)):
        raise InputError(f"paired={paired!r} is no test; there are {', '.join(get_args(Test))}.")
    if n_resamples < 1 or seed < 0 or (threads is not None and threads < 1):
        raise InputError(
            f"n_resamples={n_resamples} and threads={threads} must be 1 or more, seed={seed} 0 or more."
        )
    if address is not None and engine == "local":
        raise InputError(
            f"address={address!r} is that of a Ray cluster: ask for the engine ray, too."
        )
    test: Test | None = paired or ("ar" if baseline is not None or all_pairs else None)
    plan = Plan(
        engine=_one_of("engine", engine, Engine),
        address=address,
        threads=threads or available_cores(),
        keep_rows=keep_rows or confidence is not False or test is not None,
        resume=resume,
        on_error=_one_of("on_error", on_error, OnError),
        segments=segments,
        parser=evalset.parser,
    )
    collection = _collected(evalset, chosen, plan, on_segments, on_progress, on_phase)
    systems = collection.systems
    if test is not None:
        baseline = _baseline(systems, baseline)
    resampling = Resampling(n_resamples, seed, threads or available_cores(), alpha, level)
    resampled = confidence is not False or test is not None
    signatures = {
        metric.name: signature(
            metric,
            collection,
            resampling if resampled else None,
            test,
            parser=evalset.parser,
        )
        for metric in collection.metrics
    }
    tables = (
        {m.name: collection.table(m, signatures[m.name]) for m in collection.metrics}
        if keep_rows or resampled
        else {}
    )
    on_scores = on_phase("resampling scores", len(collection.columns)) if resampled else unheard
    scores = [
        _score(
            collection,
            system,
            metric,
            signatures[metric.name],
            tables.get(metric.name),
            resampling,
            confidence is not False,
            test,
            baseline,
            on_scores,
        )
        for metric in collection.metrics
        for system in systems
    ]
    pairs: list[Comparison] = []
    if all_pairs and test is not None:
        testable = [metric for metric in collection.metrics if is_testable(metric)]
        n_pairs = math.comb(len(systems), 2)
        on_pair = on_phase("comparing systems", n_pairs * len(testable))
        for metric in testable:
            pairs += compare_all(tables[metric.name], test, resampling, on_pair)
    return ScoreResult(
        items=collection.items,
        systems=tuple(systems),
        metrics=tuple(metric.name for metric in collection.metrics),
        scores=tuple(scores),
        seed=seed,
        n_resamples=n_resamples,
        confidence=level,
        test=test,
        alpha=alpha,
        comparisons=tuple(pairs),
        skipped=tuple(collection.skipped),
        left_out=_left_out(collection),
        tables=tables,
        higher_is_better={m.name: m.higher_is_better for m in collection.metrics},
    )


def _collected(
    evalset: EvalSource,
    metrics: Sequence[Metric],
    plan: Plan,
    on_segments: OnSegments | None,
    on_progress: OnProgress,
    on_phase: OnPhase,
) -> Collection:
    """The statistics, as planned; raises InputError where there are none."""
    if not plan.needs_partitions:
        collection = collect(
            evalset,
            metrics,
            threads=plan.threads,
            keep_rows=plan.keep_rows,
            on_segments=on_segments,
            on_progress=on_progress,
            on_phase=on_phase,
        )
    elif on_segments is not None:
        raise InputError("on_segments needs engine='local' without resume and on_error='skip'.")
    else:
        from wellput.engine.partitioned import collect_partitions

        collection = collect_partitions(evalset, metrics, plan, on_progress, on_phase)
    if not collection.systems and collection.skipped:
        raise InputError.collect(
            "Nothing is left to score: every partition failed.",
            [f"{skipped.partition}: {skipped.reason}" for skipped in collection.skipped],
        )
    if not collection.systems:
        raise InputError("Nothing to score: no item has an output.")
    collection.refuse_no_references()
    return collection


def _score(
    collection: Collection,
    system: str,
    metric: Metric,
    signed: str,
    table: ScoreTable | None,
    resampling: Resampling,
    has_interval: bool,
    test: Test | None,
    baseline: str | None,
    on_progress: OnProgress,
) -> Score:
    column = collection.columns[system, metric.name]
    left_out = collection.left_out[system] if "references" in metric.needs else 0
    interval = delta = None
    if table is not None and has_interval:
        interval = resampling.interval(table, system)
    is_compared = test is not None and system != baseline and is_testable(metric)
    if table is not None and test is not None and baseline is not None and is_compared:
        delta = resampling.difference(table, system, baseline, test)
    on_progress(1)
    return Score(
        system=system,
        metric=metric.name,
        score=float(metric.score(column.sums)),
        signature=signed,
        n=collection.counts[system] - left_out,
        left_out=left_out,
        undefined=column.undefined,
        components={name: float(value) for name, value in metric.components(column.sums).items()},
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        baseline=baseline if delta else None,
        delta=delta.value if delta else None,
        p_value=delta.p_value if delta else None,
        n_common=delta.n if delta else None,
        is_worse=is_worse(delta, metric.higher_is_better, resampling.alpha) if delta else None,
    )


def _left_out(collection: Collection) -> tuple[LeftOut, ...]:
    """The items that metrics which need references pass over."""
    found = collection.unreferenced
    metrics = tuple(m.name for m in collection.metrics if "references" in m.needs)
    if not found.n or not metrics:
        return ()
    return (LeftOut("no reference", metrics, found.n, found.first),)


def _one_of(name: str, value: T, choices: object) -> T:
    if value not in get_args(choices):
        raise InputError(
            f"{name}={value!r} is not known; there are {', '.join(get_args(choices))}."
        )
    return value


def is_testable(metric: Metric) -> bool:
    """Whether significance may be assessed; a metric of others need not say so."""
    return getattr(metric, "is_testable", True)


def _baseline(systems: Sequence[str], baseline: str | None) -> str:
    if len(systems) < 2:
        raise InputError(f"A paired test needs two systems; there is only {systems[0]}.")
    if baseline is not None and baseline not in systems:
        raise InputError(
            f"No system {baseline!r} to compare with.{did_you_mean(baseline, systems)} "
            f"There are {', '.join(systems)}."
        )
    return baseline if baseline is not None else systems[0]


def signature(
    metric: Metric,
    collection: Collection,
    resampling: Resampling | None,
    test: Test | None,
    *,
    parser: str | None = None,
) -> str:
    """Everything that must be equal for two scores to be comparable, in sacreBLEU's order."""
    fields: list[str] = []
    if "references" in metric.needs:
        fields.append(f"nrefs:{collection.references_label}")
    if resampling is not None:
        fields += [f"{test or 'bs'}:{resampling.n_resamples}", f"seed:{resampling.seed}"]
    if parser is not None and "tree" in metric.needs:
        fields.append(f"trees:{parser}")
    own = metric.signature()
    return "|".join([*fields, *([own] if own else []), f"version:wellput-{__version__}"])


def available_cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
