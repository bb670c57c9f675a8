"""Chooses the best of several candidate outputs for each item, by a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wellput.core.errors import InputError, counted
from wellput.core.evalset import EvalSet, Item
from wellput.core.metric import Metric
from wellput.core.result import Result
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.engine.score import score_source
from wellput.engine.scoring_plan import ScoringPlan
from wellput.io import check_text, write_evalset
from wellput.io.files import PathLike
from wellput.io.nbest import Candidates
from wellput.io.output import write_text

CANDIDATE_SYSTEM = "candidate"


@dataclass(frozen=True)
class RerankChoice:
    """An item's candidates with their scores (NaN if undefined), and the place (from 0) of the best."""

    candidates: Candidates
    scores: tuple[float, ...]
    best: int

    @property
    def text(self) -> str:
        return self.candidates.texts[self.best]


@dataclass(frozen=True, repr=False)
class RerankResult(Result):
    """The choice for each item, made by the metric with this name and signature. `path` is the file to
    which the choices were written."""

    presented_by: ClassVar[str] = "wellput.reporting.rerank:rerank_report"

    metric: str
    signature: str
    choices: tuple[RerankChoice, ...]
    path: PathLike | None = None

    @property
    def texts(self) -> list[str]:
        """The best candidate of each item."""
        return [choice.text for choice in self.choices]

    @property
    def lines(self) -> str:
        """The best candidates, one a line."""
        return "".join(f"{' '.join(text.split())}\n" for text in self.texts)

    @property
    def evalset(self) -> EvalSet:
        """The items with two systems: the `first` candidate, and the chosen one (`reranked`)."""
        return EvalSet(
            [
                Item(
                    choice.candidates.id,
                    {"first": choice.candidates.texts[0], "reranked": choice.text},
                    choice.candidates.references,
                    source=choice.candidates.source,
                    context=choice.candidates.context,
                )
                for choice in self.choices
            ]
        )

    def save(self, path: PathLike) -> None:
        """Writes the best candidates, one a line; to a file that ends in `.jsonl`, writes the
        evalset."""
        check_text(path, allowed=[".jsonl"])
        if str(path).endswith(".jsonl"):
            write_evalset(self.evalset, path)
        else:
            write_text(self.lines, path)

    def records(self) -> list[dict[str, Any]]:
        """A record for each item; `place` is the place of the chosen candidate, from 1."""
        return [
            {
                "id": choice.candidates.id,
                "place": choice.best + 1,
                "candidates": len(choice.scores),
                "score": choice.scores[choice.best],
                "first_score": choice.scores[0],
                "text": choice.text,
            }
            for choice in self.choices
        ]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput rerank`."""
        return {"metric": self.metric, "signature": self.signature, "items": self.records()}


def rerank(
    nbest: Sequence[Candidates],
    metric: Metric,
    *,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> list[RerankChoice]:
    """Chooses the candidate with the best score for each item: the first one if several have it, or
    if no candidate has a score."""
    if metric.higher_is_better is None:
        raise InputError(f"{metric.name} cannot choose: a high value is neither good nor bad.")
    if not nbest:
        return []
    lacking = [f"item {candidates.id}" for candidates in nbest if not candidates.references]
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
            {CANDIDATE_SYSTEM: text},
            candidates.references,
            source=candidates.source,
            context=candidates.context,
        )
        for number, candidates in enumerate(nbest)
        for place, text in enumerate(candidates.texts)
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
    for candidates in nbest:
        row = tuple(next(scores) for _ in candidates.texts)
        best = int(np.argmax([-np.inf if np.isnan(value) else sign * value for value in row]))
        choices.append(RerankChoice(candidates, row, best))
    return choices
