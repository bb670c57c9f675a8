"""How far judges mark the same errors: the same characters (F1), the same spans (γ), with the same
severity, and whether they say of the same outputs that something is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from wellput.agreement.marked_outputs import MarkedOutput, MarkedQuestion
from wellput.core.clusters import places_of
from wellput.core.estimates import Estimate
from wellput.core.judgment import ErrorSpan
from wellput.core.metric import Floats
from wellput.stats.judges.krippendorff import krippendorff_alpha
from wellput.stats.spans.gamma import Gamma, MarkedPanel, gamma
from wellput.stats.spans.marked_characters import (
    Marked,
    MarkedAlike,
    f1,
    marked_alike,
    marked_row,
    precision,
    recall,
)
from wellput.stats.spans.span_alignment import (
    MarkedSpans,
    TooManyAlignments,
    coincidences,
    overlapping_pairs,
    same_share,
    severity_alpha,
)

BY_PAIRS = (
    "γ is that of all pairs of judges: there are too many ways to align the spans of all at once"
)
MIN_SHARED_OUTPUTS = 10
"""A pair of judges with fewer shared outputs is not among the lowest and highest pairs."""


@dataclass(frozen=True, slots=True)
class JudgeMarks:
    """A judge against the other judges of the same outputs: a character counts as marked by them if at
    least half of them marked it."""

    judge: str
    n_outputs: int
    n_spans: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class SpanSummary:
    """How far the judges of one question mark the same errors.

    `f1` is pooled over all pairs of judges and outputs, `chance` is its level of chance, `pairs` has
    the lowest and the highest pair of judges. `leave_one_out` compares each judge with the others.
    `gamma` has γ with the disorders, `severity` α on the spans that two judges marked, `missing` α on
    whether something is missing from an output. Estimates have value, low, high.
    """

    question: str
    n_judges: int
    n_outputs: int
    n_shared: int
    n_spans: int
    n_missing: int
    unit: str = "item"
    f1: Mapping[str, Any] | None = None
    chance: float | None = None
    above_chance: Mapping[str, Any] | None = None
    pairs: Mapping[str, float] | None = None
    leave_one_out: Mapping[str, Any] | None = None
    judges: Sequence[JudgeMarks] = field(default=())
    gamma: Mapping[str, Any] | None = None
    severity: Mapping[str, Any] | None = None
    missing: Mapping[str, Any] | None = None
    note: str = ""


def summarize_spans(
    marked: MarkedQuestion, *, confidence: float = 0.95, seed: int = 12345
) -> SpanSummary:
    """The figures of one question; empty if no two judges share an output."""
    shared = [one for one in marked.outputs if len(one.spans) > 1]
    spans = [span for one in marked.outputs for own in one.spans.values() for span in own]
    counts: dict[str, Any] = {
        "question": marked.question,
        "n_judges": len(marked.judges),
        "n_outputs": len(marked.outputs),
        "n_shared": len(shared),
        "n_spans": sum(not span.is_missing for span in spans),
        "n_missing": sum(span.is_missing for span in spans),
        "unit": marked.unit,
    }
    if not shared:
        return SpanSummary(**counts, note="no two judges marked errors in the same output")
    everyone, pairs = _pair_rows(shared, len(marked.items))
    together = marked_alike(everyone, marked.clusters, confidence=confidence)
    rest, judges = _against_the_rest(shared, marked.judges, len(marked.items))
    alone = marked_alike(rest, marked.clusters, confidence=confidence)
    found, note = _gamma(shared, marked, seed, confidence)
    return SpanSummary(
        **counts,
        f1=interval_bounds(together.f1),
        chance=known(together.chance_f1),
        above_chance=tested(together),
        pairs=_extremes(pairs),
        leave_one_out=interval_bounds(alone.f1),
        judges=judges,
        gamma={
            **interval_bounds(found.estimate),
            "observed": known(found.observed),
            "expected": known(found.expected),
            "draws": found.draws,
        },
        severity=_severities(shared, marked, confidence),
        missing=_omissions(shared, marked.judges),
        note=note,
    )


def _gamma(
    shared: Sequence[MarkedOutput], marked: MarkedQuestion, seed: int, confidence: float
) -> tuple[Gamma, str]:
    """γ of all judges at once, or of all pairs of them where that would take too long; and a note that
    says so."""
    try:
        found = gamma(panels_of(shared), clusters=marked.clusters, seed=seed, confidence=confidence)
    except TooManyAlignments:
        pairs = panels_of([two for one in shared for two in _in_pairs(one)])
        found = gamma(pairs, clusters=marked.clusters, seed=seed, confidence=confidence)
        return found, BY_PAIRS
    return found, ""


def _in_pairs(one: MarkedOutput) -> list[MarkedOutput]:
    """The output once for each pair of its judges."""
    return [
        replace(one, spans={judge: one.spans[judge] for judge in pair})
        for pair in combinations(sorted(one.spans), 2)
    ]


def _pair_rows(
    outputs: Sequence[MarkedOutput], n_items: int
) -> tuple[Floats, dict[tuple[str, str], tuple[int, Floats]]]:
    """The sums of each item over all pairs of judges; and for each pair its outputs and sums."""
    rows = np.zeros((n_items, 4))
    pairs: dict[tuple[str, str], tuple[int, Floats]] = {}
    for one in outputs:
        marks = {judge: one.marked(judge) for judge in sorted(one.spans)}
        for pair in combinations(marks, 2):
            row = marked_row(marks[pair[0]], marks[pair[1]])
            rows[one.item] += row
            n, total = pairs.get(pair, (0, np.zeros(4)))
            pairs[pair] = n + 1, total + row
    return rows, pairs


def _extremes(
    pairs: Mapping[tuple[str, str], tuple[int, Floats]],
) -> dict[str, float] | None:
    values = [float(f1(total)) for n, total in pairs.values() if n >= MIN_SHARED_OUTPUTS]
    defined = [value for value in values if not np.isnan(value)]
    if not defined:
        return None
    return {"min": min(defined), "max": max(defined), "n": len(defined)}


def _against_the_rest(
    outputs: Sequence[MarkedOutput], judges: Sequence[str], n_items: int
) -> tuple[Floats, list[JudgeMarks]]:
    rows = np.zeros((n_items, 4))
    own = {judge: np.zeros(4) for judge in judges}
    n_outputs = dict.fromkeys(judges, 0)
    n_spans = dict.fromkeys(judges, 0)
    for one in outputs:
        marks = {judge: one.marked(judge) for judge in one.spans}
        for judge, mark in marks.items():
            others = [other for name, other in marks.items() if name != judge]
            row = marked_row(mark, marked_by_half(others))
            rows[one.item] += row
            own[judge] += row
            n_outputs[judge] += 1
            n_spans[judge] += sum(not span.is_missing for span in one.spans[judge])
    return rows, [
        JudgeMarks(
            judge,
            n_outputs[judge],
            n_spans[judge],
            known(float(precision(own[judge]))),
            known(float(recall(own[judge]))),
            known(float(f1(own[judge]))),
        )
        for judge in judges
        if n_outputs[judge]
    ]


def marked_by_half(marks: Sequence[Marked]) -> Marked:
    """The characters that at least half of the judges marked."""
    return np.asarray(2 * np.sum(marks, axis=0) >= len(marks), np.bool_)


def panels_of(outputs: Sequence[MarkedOutput]) -> list[MarkedPanel]:
    """The outputs of each set of judges, laid end to end in their order, one place apart."""
    by_judges: dict[tuple[str, ...], list[MarkedOutput]] = {}
    for one in outputs:
        by_judges.setdefault(tuple(sorted(one.spans)), []).append(one)
    severities = sorted(
        {span.severity for one in outputs for own in one.spans.values() for span in own}
    )
    return [_panel(judges, own, severities) for judges, own in by_judges.items()]


def _panel(
    judges: Sequence[str], outputs: Sequence[MarkedOutput], severities: Sequence[str]
) -> MarkedPanel:
    ends = np.cumsum([len(one.text) + 1 for one in outputs]).astype(np.float64)
    placed: list[tuple[int, float, ErrorSpan]] = []
    for one, end in zip(outputs, ends.tolist(), strict=True):
        start = end - len(one.text) - 1
        for place, judge in enumerate(judges):
            own = dict.fromkeys(span for span in one.spans[judge] if not span.is_missing)
            placed += [(place, start, span) for span in own]
    spans = MarkedSpans(
        np.array([judge for judge, _, _ in placed], np.intp),
        np.array([start + span.start for _, start, span in placed], np.float64),
        np.array([start + span.end for _, start, span in placed], np.float64),
        places_of([span.severity for _, _, span in placed], severities),
        len(judges),
    )
    return MarkedPanel(spans, ends, np.array([one.item for one in outputs], np.intp))


def _severities(
    outputs: Sequence[MarkedOutput], marked: MarkedQuestion, confidence: float
) -> dict[str, Any] | None:
    met: list[tuple[int, tuple[str, str]]] = []
    for one in outputs:
        for first, second in combinations(sorted(one.spans), 2):
            met += [
                (one.item, (a.severity, b.severity))
                for a, b in overlapping_pairs(one.spans[first], one.spans[second])
                if a.severity and b.severity
            ]
    if not met:
        return None
    names = sorted({name for _, pair in met for name in pair})
    rows = np.zeros((len(marked.items), len(names) ** 2))
    for item, pair in met:
        rows[item] += coincidences([pair], names)
    return {
        **interval_bounds(severity_alpha(rows, marked.clusters, confidence=confidence)),
        "same": known(float(same_share(rows.sum(axis=0)))),
        "n": len(met),
        "severities": names,
    }


def _omissions(outputs: Sequence[MarkedOutput], judges: Sequence[str]) -> dict[str, Any] | None:
    """α on whether something is missing; None where nobody says so."""
    row_of = {judge: row for row, judge in enumerate(judges)}
    units = np.full((len(judges), len(outputs)), np.nan)
    for column, one in enumerate(outputs):
        for judge, spans in one.spans.items():
            units[row_of[judge], column] = any(span.is_missing for span in spans)
    if not np.nansum(units):
        return None
    return {"alpha": known(krippendorff_alpha(units, level="nominal").value), "n": len(outputs)}


def tested(found: MarkedAlike) -> dict[str, Any]:
    """How far F1 is above chance, with its interval and p."""
    return {**interval_bounds(found.above_chance), "p_value": found.above_chance.p_value}


def interval_bounds(estimate: Estimate) -> dict[str, Any]:
    return {"value": known(estimate.value), "low": estimate.low, "high": estimate.high}


def known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
