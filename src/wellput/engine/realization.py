"""Realizers scored on trees whose order is known: the table of Bangalore, Rambow & Whittaker 2000.

The order in the file is the reference. Words are compared in lower case, because a sentence's first
capital is the realizer's to put.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wellput.core.cores import available_cores
from wellput.core.evalset import EvalSet
from wellput.core.progress import OnPhase, unheard_phase
from wellput.core.tree import Tree
from wellput.engine.plan import ScoringPlan
from wellput.engine.result import ScoreResult
from wellput.engine.score import score_source
from wellput.engine.significance import Inference, Resampling
from wellput.metrics.registry import create_all

METRICS = ("ssa", "gsa", "sta", "gta", "understandability", "quality", "bleu", "exact")
OPTIONS = {"bleu": ":tokenize=none,lowercase=true,force=true", "exact": ":lowercase=true"}
PLAIN = ":tokenize=none,lowercase=true"


def evaluate_order(
    outputs: Mapping[str, Sequence[str]],
    trees: Sequence[Tree],
    *,
    baseline: str | None = None,
    metrics: Sequence[str] = METRICS,
    n_resamples: int = 1000,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = unheard_phase,
) -> ScoreResult:
    """Scores each system's sentences (words with spaces between them) against the trees' own order;
    with a baseline, each difference from it is tested."""
    references = [" ".join(word.form for word in tree.words) for tree in trees]
    plain = [Tree(tree.words) for tree in trees]  # multiword tokens are of no concern here
    evalset = EvalSet.of(outputs, references, trees=plain)
    named = {f"{metric}{OPTIONS.get(metric, PLAIN)}": metric for metric in metrics}
    cores = threads or available_cores()
    result = score_source(
        evalset,
        create_all(list(named)),
        inference=Inference(
            baseline=baseline, resampling=Resampling(n_resamples, seed, threads=cores)
        ),
        plan=ScoringPlan(threads=cores, keep_rows=True),
        on_phase=on_phase,
    )
    return _with_short_names(result)


def _with_short_names(result: ScoreResult) -> ScoreResult:
    """Metrics by their bare names; their signatures keep the options."""

    def short(name: str) -> str:
        return name.partition(":")[0]

    return replace(
        result,
        metrics=tuple(map(short, result.metrics)),
        scores=tuple(replace(one, metric=short(one.metric)) for one in result.scores),
        differences=tuple(replace(one, metric=short(one.metric)) for one in result.differences),
        tables={short(name): table for name, table in result.tables.items()},
        higher_is_better={short(name): value for name, value in result.higher_is_better.items()},
    )
