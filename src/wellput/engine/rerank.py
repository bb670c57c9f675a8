"""Choosing among candidate outputs by a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wellput.core.cores import available_cores
from wellput.core.counted import counted
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.metric import Metric
from wellput.core.progress import OnPhase, unheard_phase
from wellput.engine.plan import ScoringPlan
from wellput.engine.score import score_source
from wellput.io.nbest import Candidates

SYSTEM = "candidate"


@dataclass(frozen=True)
class Choice:
    """An item's candidates with their scores, NaN where undefined, and the place of the best."""

    candidates: Candidates
    scores: tuple[float, ...]
    best: int

    @property
    def text(self) -> str:
        return self.candidates.texts[self.best]


def rerank(
    nbest: Sequence[Candidates],
    metric: Metric,
    *,
    threads: int | None = None,
    on_phase: OnPhase = unheard_phase,
) -> list[Choice]:
    """The best candidate of each item; of equal ones the first, and the first if none has a score."""
    if metric.higher_is_better is None:
        raise InputError(f"{metric.name} is neither good nor bad, so nothing can be chosen by it.")
    if not nbest:
        return []
    lacking = [f"item {own.id}" for own in nbest if not own.references]
    if "references" in metric.needs and lacking:
        raise InputError.collect(
            f"{metric.name} needs references; {len(lacking):,} of {counted(len(nbest), 'item')} "
            f"{'has' if len(lacking) == 1 else 'have'} none:",
            lacking,
            'Put "references": ["…"] beside "candidates".',
        )
    items = [
        Item(
            f"{number} {place}",
            {SYSTEM: text},
            own.references,
            source=own.source,
            context=own.context,
        )
        for number, own in enumerate(nbest)
        for place, text in enumerate(own.texts)
    ]
    scored = score_source(
        EvalSet(items),
        [metric],
        plan=ScoringPlan(threads=threads or available_cores(), keep_rows=True),
        on_phase=on_phase,
    )
    table = scored.table(metric.name)
    scores = iter(table.scores[0].tolist())
    sign = 1.0 if metric.higher_is_better else -1.0
    choices = []
    for own in nbest:
        row = tuple(next(scores) for _ in own.texts)
        best = int(np.argmax([-np.inf if np.isnan(value) else sign * value for value in row]))
        choices.append(Choice(own, row, best))
    return choices
