"""Which words a metric or a machine blames, against the errors that people marked.

Each output is compared with each person who marked it, and all comparisons are pooled. So the figures
can be compared with those of two people, which are made in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wellput.agreement.marked_outputs import (
    MarkedOutput,
    MarkedQuestion,
    Trial,
    marked_characters,
    output_text,
)
from wellput.agreement.span_summary import interval_bounds, known, tested
from wellput.core.errors import InputError
from wellput.core.evalset import Batch, Item
from wellput.core.metric import Metric
from wellput.core.source import EvalSource
from wellput.metrics.alignments import Blamed, Blames
from wellput.stats.spans.marked_characters import Marked, marked_alike, marked_row

PEOPLE = "people"
"""The row of people among themselves."""

Blame = Callable[[MarkedOutput], Marked | None]
"""The characters of an output that are blamed; None where nothing is said about the output."""


@dataclass(frozen=True, slots=True)
class BlamedWords:
    """How far the characters that `scorer` blames are those that people marked. `share_blamed` and
    `share_marked` are shares of all characters. Precision is the share of blamed characters that a
    person marked, recall the share of marked characters that are blamed. The levels of chance are
    those of a scorer that blames as many characters of each output, but at random places."""

    scorer: str
    question: str
    n_outputs: int
    share_blamed: float | None
    share_marked: float | None
    precision: Mapping[str, Any]
    recall: Mapping[str, Any]
    f1: Mapping[str, Any]
    chance: Mapping[str, float | None]
    above_chance: Mapping[str, Any]
    note: str = ""

    def flat(self) -> dict[str, Any]:
        """One value for each column of a table."""
        found: dict[str, Any] = {"scorer": self.scorer, "question": self.question}
        for name in ("precision", "recall", "f1"):
            figure = getattr(self, name)
            found |= {
                name: figure["value"],
                f"{name}_low": figure["low"],
                f"{name}_high": figure["high"],
                f"{name}_chance": self.chance[name],
            }
        return {
            **found,
            "above_chance": self.above_chance["value"],
            "p_value": self.above_chance["p_value"],
            "n_outputs": self.n_outputs,
            "share_blamed": self.share_blamed,
            "share_marked": self.share_marked,
        }


def blaming_metrics(metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics; raises InputError for one that points at no words."""
    silent = [metric.name for metric in metrics if not isinstance(metric, Blames)]
    if silent:
        raise InputError(
            f"level='span' compares words that a metric blames, and {', '.join(silent)} "
            f"{'blames' if len(silent) == 1 else 'blame'} none. ssa, gsa, sta and gta do, and so do "
            "machine judges whose judgments have spans."
        )
    return list(metrics)


def blame_of(
    source: EvalSource, metrics: Sequence[Metric], marked: Sequence[MarkedQuestion]
) -> dict[str, dict[Trial, Blamed]]:
    """What each metric blames in each output that people marked."""
    trials = dict.fromkeys(one.trial for question in marked for one in question.outputs)
    wanted = {item for item, _, _ in trials}
    items = [item for block in source.blocks() for item in block if item.id in wanted]
    found: dict[str, dict[Trial, Blamed]] = {metric.name: {} for metric in metrics}
    for metric in metrics:
        ready = metric.prepare(item.references for item in items)
        if not isinstance(ready, Blames):
            continue
        for system in dict.fromkeys(system for _, system, _ in trials):
            rows = _rows_of(system, items, trials)
            if not rows:
                continue
            batch = Batch.of(system, [item for _, item in rows])
            for (trial, _), spans in zip(rows, ready.blamed(batch), strict=True):
                found[metric.name][trial] = spans
    return found


def blame_of_judges(marked: Sequence[MarkedQuestion]) -> dict[str, dict[Trial, Blamed]]:
    """What each of these judges marked, on any question."""
    found: dict[str, dict[Trial, Blamed]] = {}
    for question in marked:
        for one in question.outputs:
            for judge, spans in one.spans.items():
                places = [(span.start, span.end) for span in spans if not span.is_missing]
                found.setdefault(judge, {}).setdefault(one.trial, places)
    return found


def _rows_of(
    system: str, items: Sequence[Item], trials: Mapping[Trial, None]
) -> list[tuple[Trial, Item]]:
    """The judged outputs of a system that have a reference, each as an item with one text."""
    by_id = {item.id: item for item in items}
    rows: list[tuple[Trial, Item]] = []
    for trial in trials:
        item = by_id[trial[0]]
        text = output_text(item, system, trial[2])
        if trial[1] == system and text is not None and item.references_for(system):
            rows.append((trial, item._replace(outputs={system: text})))
    return rows


def against_people(
    marked: MarkedQuestion,
    blame: Mapping[str, Mapping[Trial, Blamed]],
    *,
    confidence: float = 0.95,
) -> list[BlamedWords]:
    """A row for each scorer that blames; the last row has people among themselves."""
    rows: list[BlamedWords] = []
    for name, own in blame.items():

        def of_metric(one: MarkedOutput, own: Mapping[Trial, Blamed] = own) -> Marked | None:
            spans = own.get(one.trial)
            return None if spans is None else marked_characters(spans, one.text)

        rows.append(_row(name, marked, of_metric, confidence))
    rows.sort(key=lambda row: -(row.f1["value"] if row.f1["value"] is not None else -1.0))
    return [*rows, _row(PEOPLE, marked, None, confidence)]


def _row(name: str, marked: MarkedQuestion, blame: Blame | None, confidence: float) -> BlamedWords:
    sums = np.zeros((len(marked.items), 4))
    n_outputs = n_characters = 0
    for one in marked.outputs:
        people = {judge: one.marked(judge) for judge in one.spans}
        pairs: list[tuple[Marked, Marked]]
        if blame is None:
            pairs = [(a, b) for j, a in people.items() for k, b in people.items() if j != k]
        else:
            own = blame(one)
            pairs = [] if own is None else [(own, other) for other in people.values()]
        for first, second in pairs:
            sums[one.item] += marked_row(first, second)
        n_characters += len(one.text) * len(pairs)
        n_outputs += bool(pairs)
    total = sums.sum(axis=0)
    found = marked_alike(sums, marked.clusters, confidence=confidence)
    return BlamedWords(
        scorer=name,
        question=marked.question,
        n_outputs=n_outputs,
        share_blamed=known(float(total[1]) / n_characters) if n_characters else None,
        share_marked=known(float(total[2]) / n_characters) if n_characters else None,
        precision=interval_bounds(found.precision),
        recall=interval_bounds(found.recall),
        f1=interval_bounds(found.f1),
        chance={
            "precision": known(found.chance_precision),
            "recall": known(found.chance_recall),
            "f1": known(found.chance_f1),
        },
        above_chance=tested(found),
        note="" if n_outputs else "no output that people marked",
    )
