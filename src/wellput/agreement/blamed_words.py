"""Which words a metric or a machine judge blames for an error, compared with the errors that people
marked.

What a metric blames in an output is compared with the marks of each person who marked the output, and
all comparisons are pooled. People are compared with each other in the same way, so that a metric's
precision, recall and F1 can be compared with people's.
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
from wellput.agreement.span_summary import above_chance_with_p, interval_bounds, none_if_nan
from wellput.core.errors import InputError
from wellput.core.evalset import Batch, Item
from wellput.core.line_breaks import with_line_feeds
from wellput.core.metric import Metric
from wellput.core.source import EvalSource
from wellput.metrics.alignments import BlamedSpans, Blames
from wellput.stats.spans.marked_characters import Marked, MarkedCount, marked_alike, marked_counts

PEOPLE = "people"
"""The name of the row that compares people with each other."""

BlamedIn = Callable[[MarkedOutput], Marked | None]
"""From an output to the characters that are blamed; None where the scorer says nothing about the
output."""


@dataclass(frozen=True, slots=True)
class BlamedWords:
    """How far the characters that `scorer` (a metric, a machine judge, or people) blames are the
    characters that people marked. `share_blamed` and `share_marked` are shares of all characters.
    Precision is the share of blamed characters that a person marked, recall the share of marked
    characters that are blamed. `chance` has the precision, recall and F1 of a scorer that blames as
    many characters of each output, but at random places; `above_chance` is F1 minus its chance
    level."""

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
        columns: dict[str, Any] = {"scorer": self.scorer, "question": self.question}
        for name in ("precision", "recall", "f1"):
            figure = getattr(self, name)
            columns |= {
                name: figure["value"],
                f"{name}_low": figure["low"],
                f"{name}_high": figure["high"],
                f"{name}_chance": self.chance[name],
            }
        return {
            **columns,
            "above_chance": self.above_chance["value"],
            "p_value": self.above_chance["p_value"],
            "n_outputs": self.n_outputs,
            "share_blamed": self.share_blamed,
            "share_marked": self.share_marked,
        }


def blaming_metrics(metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics as a list. Raises InputError for a metric that cannot say which words are wrong."""
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
) -> dict[str, dict[Trial, BlamedSpans]]:
    """For each metric, by name, the spans that it blames in each output that people marked."""
    trials = dict.fromkeys(output.trial for question in marked for output in question.outputs)
    item_ids = {item for item, _, _ in trials}
    items = [item for block in source.blocks() for item in block if item.id in item_ids]
    blamed: dict[str, dict[Trial, BlamedSpans]] = {metric.name: {} for metric in metrics}
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
                blamed[metric.name][trial] = spans
    return blamed


def blame_of_judges(marked: Sequence[MarkedQuestion]) -> dict[str, dict[Trial, BlamedSpans]]:
    """For each judge, by name, the spans that the judge marked in each output. If a judge marked it on
    several questions, the marks on the first of these are taken."""
    marked_by_judge: dict[str, dict[Trial, BlamedSpans]] = {}
    for question in marked:
        for output in question.outputs:
            for judge, spans in output.spans.items():
                offsets = [(span.start, span.end) for span in spans if not span.is_missing]
                marked_by_judge.setdefault(judge, {}).setdefault(output.trial, offsets)
    return marked_by_judge


def _rows_of(
    system: str, items: Sequence[Item], trials: Mapping[Trial, None]
) -> list[tuple[Trial, Item]]:
    """The judged outputs of a system that have a reference, each as an item with only this output."""
    by_id = {item.id: item for item in items}
    rows: list[tuple[Trial, Item]] = []
    for trial in trials:
        item_id, trial_system, sample = trial
        item = by_id[item_id]
        text = output_text(item, system, sample)
        if trial_system == system and text is not None and item.references_for(system):
            rows.append((trial, item._replace(outputs={system: with_line_feeds(text)})))
    return rows


def against_people(
    marked: MarkedQuestion,
    blame: Mapping[str, Mapping[Trial, BlamedSpans]],
    *,
    confidence: float = 0.95,
) -> list[BlamedWords]:
    """A row for each scorer in `blame`, the highest F1 first; the last row compares people with each
    other."""
    rows: list[BlamedWords] = []
    for name, blamed_by_trial in blame.items():

        def blamed_in(
            output: MarkedOutput, blamed_by_trial: Mapping[Trial, BlamedSpans] = blamed_by_trial
        ) -> Marked | None:
            spans = blamed_by_trial.get(output.trial)
            return None if spans is None else marked_characters(spans, output.text)

        rows.append(_row(name, marked, blamed_in, confidence))
    rows.sort(key=lambda row: -(row.f1["value"] if row.f1["value"] is not None else -1.0))
    return [*rows, _row(PEOPLE, marked, None, confidence)]


def _row(
    name: str, marked: MarkedQuestion, blamed_in: BlamedIn | None, confidence: float
) -> BlamedWords:
    """One scorer compared with people; people are compared with each other if `blamed_in` is None."""
    sums = np.zeros((len(marked.items), len(MarkedCount)))
    n_outputs = n_characters = 0
    for output in marked.outputs:
        people = {judge: output.marked(judge) for judge in output.spans}
        pairs: list[tuple[Marked, Marked]]
        if blamed_in is None:
            pairs = [(a, b) for j, a in people.items() for k, b in people.items() if j != k]
        else:
            blamed = blamed_in(output)
            pairs = [] if blamed is None else [(blamed, person) for person in people.values()]
        for first, second in pairs:
            sums[output.item] += marked_counts(first, second)
        n_characters += len(output.text) * len(pairs)
        n_outputs += bool(pairs)
    total = sums.sum(axis=0)
    alike = marked_alike(sums, marked.clusters, confidence=confidence)
    return BlamedWords(
        scorer=name,
        question=marked.question,
        n_outputs=n_outputs,
        share_blamed=none_if_nan(float(total[MarkedCount.FIRST]) / n_characters)
        if n_characters
        else None,
        share_marked=none_if_nan(float(total[MarkedCount.SECOND]) / n_characters)
        if n_characters
        else None,
        precision=interval_bounds(alike.precision),
        recall=interval_bounds(alike.recall),
        f1=interval_bounds(alike.f1),
        chance={
            "precision": none_if_nan(alike.chance_precision),
            "recall": none_if_nan(alike.chance_recall),
            "f1": none_if_nan(alike.chance_f1),
        },
        above_chance=above_chance_with_p(alike),
        note="" if n_outputs else "no output that people marked",
    )
