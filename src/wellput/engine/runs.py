"""Keeping what was scored: `save_run` stores a result, `run_of` says what is stored."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from wellput import __version__
from wellput.core.evalset import Item
from wellput.core.metric import Metric
from wellput.core.run import Run, RunScore
from wellput.core.score import Score
from wellput.core.source import EvalSource
from wellput.engine.data_hashes import DataHashes
from wellput.engine.result import ScoreResult
from wellput.io import open_evalset, run_files
from wellput.metrics.registry import create_all


def save_run(
    folder: str | Path,
    result: ScoreResult,
    evalset: EvalSource | str | Path,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    command: str = "",
) -> Run:
    """Stores a result in a folder of runs (Parquet, needs the extra `parquet`); `evalset` and `metrics`
    are those it was scored from. The data is read once more, for its hash, without what was left out
    of the scores."""
    run_files.check_store(folder)
    if isinstance(evalset, str | Path):
        evalset = open_evalset(evalset)
    return run_files.save_run(folder, run_of(result, evalset, metrics, command=command))


def run_of(
    result: ScoreResult,
    source: EvalSource,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    command: str = "",
) -> Run:
    """A result with all that is needed to find and compare it again; it has no id yet."""
    needs = {metric.name: metric.needs for metric in create_all(metrics)}
    if result.skipped:
        source = _Scored(source, frozenset(skipped.partition for skipped in result.skipped))
    hashes = DataHashes(source, frozenset().union(*needs.values()))
    return Run(
        id="",
        time=datetime.now(UTC),
        command=command,
        wellput=__version__,
        python=platform.python_version(),
        platform=f"{sys.platform}-{platform.machine()}",
        items=result.items,
        seed=result.seed,
        resamples=result.n_resamples,
        confidence=result.confidence,
        alpha=result.alpha,
        test=result.test,
        skipped=len(result.skipped),
        scores=tuple(
            RunScore(
                **{field.name: getattr(score, field.name) for field in fields(score)},
                higher_is_better=result.higher_is_better.get(score.metric),
                data=hashes.data(score.system, needs[score.metric]),
                outputs=hashes.outputs(score.system),
                p_against=_p_against(result, score),
            )
            for score in result.scores
        ),
    )


@dataclass(frozen=True)
class _Scored(EvalSource):
    """A source without the partitions that were left out of the scores."""

    source: EvalSource
    left_out: frozenset[str]

    def blocks(self) -> Iterator[Sequence[Item]]:
        for partition in self.source.partitions():
            if partition.name not in self.left_out:
                yield from partition.blocks()


def _p_against(result: ScoreResult, score: Score) -> dict[str, float]:
    """Holm's p-value against each system, where all pairs were tested."""
    return {
        pair.b if pair.a == score.system else pair.a: pair.p_adjusted
        for pair in result.comparisons
        if pair.metric == score.metric and score.system in (pair.a, pair.b)
    }
