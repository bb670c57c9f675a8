"""How far judges mark the same errors: the same characters (F1), the same spans (γ, gamma), with the
same severity (α, Krippendorff's alpha), and whether they say of the same outputs that something is
missing (α)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import nan
from typing import Any

import numpy as np

from wellput.agreement.marked_outputs import MarkedOutput, MarkedQuestion
from wellput.core.clusters import places_of
from wellput.core.estimates import Estimate, undefined
from wellput.core.judgment import ErrorSpan
from wellput.core.metric import Floats
from wellput.stats.judges.krippendorff import krippendorff_alpha
from wellput.stats.spans.gamma import Gamma, MarkedPanel, gamma
from wellput.stats.spans.marked_characters import (
    Marked,
    MarkedAlike,
    MarkedCount,
    f1,
    marked_alike,
    marked_counts,
    precision,
    recall,
)
from wellput.stats.spans.span_alignment import (
    MarkedSpans,
    TooManyAlignments,
    coincidences,
    overlapping_pairs,
    severity_alpha,
    share_of_same_severity,
)

BY_PAIRS = (
    "γ is that of {} pairs of judges{}: to align the spans of all at once would take too long"
)
FEWER_DRAWS = (
    "γ is from {} random shifts, because more would take long: the disagreement expected by chance is "
    "known to within {:.1f}%"
)
TOO_DENSE = "there are too many ways to align the spans of even two judges"
MIN_SHARED_OUTPUTS = 10
"""Pairs of judges with fewer shared outputs are not used for the lowest and the highest F1 of a
pair."""


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

    `f1` is pooled over all pairs of judges and outputs. `chance` is the F1 of judges who mark as many
    characters at random places. `pairs` has the lowest and the highest F1 of a pair of judges.
    `leave_one_out` compares each judge with the others. `gamma` has γ with the observed and the
    expected disorder (disagreement) that it is computed from, `severity` α on the spans that two judges
    marked, `missing` α on whether something is missing from an output. Estimates have value, low, high.
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
    """The figures of one question. If no two judges marked the same output, there are only counts."""
    shared = [output for output in marked.outputs if len(output.spans) > 1]
    spans = [
        span
        for output in marked.outputs
        for judge_spans in output.spans.values()
        for span in judge_spans
    ]
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
    sums_of_pairs, pairs = _pair_rows(shared, len(marked.items))
    pairs_alike = marked_alike(sums_of_pairs, marked.clusters, confidence=confidence)
    sums_against_others, judges = _against_the_rest(shared, marked.judges, len(marked.items))
    judges_alike = marked_alike(sums_against_others, marked.clusters, confidence=confidence)
    gamma_result, note = _gamma(shared, marked, seed, confidence, counts["n_spans"])
    return SpanSummary(
        **counts,
        f1=interval_bounds(pairs_alike.f1),
        chance=none_if_nan(pairs_alike.chance_f1),
        above_chance=above_chance_with_p(pairs_alike),
        pairs=_extremes(pairs),
        leave_one_out=interval_bounds(judges_alike.f1),
        judges=judges,
        gamma={
            **interval_bounds(gamma_result.estimate),
            "observed": none_if_nan(gamma_result.observed),
            "expected": none_if_nan(gamma_result.expected),
            "draws": gamma_result.draws,
        },
        severity=_severities(shared, marked, confidence),
        missing=_omissions(shared, marked.judges),
        note=note,
    )


def _gamma(
    shared: Sequence[MarkedOutput],
    marked: MarkedQuestion,
    seed: int,
    confidence: float,
    n_spans: int,
) -> tuple[Gamma, str]:
    """γ of all judges together. If that would take too long: of all pairs of judges, or of some;
    undefined if even one pair would take too long. And a note, if γ is not that of all judges
    together, or if few random shifts were drawn."""
    options: dict[str, Any] = {"clusters": marked.clusters, "seed": seed, "confidence": confidence}
    try:
        result = gamma(panels_of(shared), **options, n_spans=n_spans)
    except TooManyAlignments:
        pairs = panels_of([copy for output in shared for copy in _in_pairs(output)])
        n_pairs = sum(len(panel.spans) > 0 for panel in pairs)
        try:
            result = gamma(pairs, **options, n_spans=n_spans, can_sample_panels=True)
        except TooManyAlignments:
            return Gamma(undefined(TOO_DENSE), nan, nan, 0), f"γ is undefined: {TOO_DENSE}"
        some = f"{result.n_panels:,} of {n_pairs:,}" if result.n_panels < n_pairs else "all"
        drawn = ", drawn at random" if result.n_panels < n_pairs else ""
        notes = [BY_PAIRS.format(some, drawn)]
    else:
        notes = []
    if result.few_draws_error:
        notes.append(FEWER_DRAWS.format(result.draws, 100 * result.few_draws_error))
    return result, "; ".join(notes)


def _in_pairs(output: MarkedOutput) -> list[MarkedOutput]:
    """Copies of the output, one for each pair of its judges, with only their spans."""
    return [
        replace(output, spans={judge: output.spans[judge] for judge in pair})
        for pair in combinations(sorted(output.spans), 2)
    ]


def _pair_rows(
    outputs: Sequence[MarkedOutput], n_items: int
) -> tuple[Floats, dict[tuple[str, str], tuple[int, Floats]]]:
    """For each item the sums of `marked_counts` over all pairs of judges; and for each pair the number
    of its outputs and its sums."""
    rows = np.zeros((n_items, len(MarkedCount)))
    pairs: dict[tuple[str, str], tuple[int, Floats]] = {}
    for output in outputs:
        marks = {judge: output.marked(judge) for judge in sorted(output.spans)}
        for pair in combinations(marks, 2):
            row = marked_counts(marks[pair[0]], marks[pair[1]])
            rows[output.item] += row
            n, total = pairs.get(pair, (0, np.zeros(len(MarkedCount))))
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
    """The sums of each item over all judges, each compared with the other judges of the output; and a
    row for each judge."""
    rows = np.zeros((n_items, len(MarkedCount)))
    sums_by_judge = {judge: np.zeros(len(MarkedCount)) for judge in judges}
    n_outputs = dict.fromkeys(judges, 0)
    n_spans = dict.fromkeys(judges, 0)
    for output in outputs:
        marks = {judge: output.marked(judge) for judge in output.spans}
        for judge, mark in marks.items():
            others = [other for name, other in marks.items() if name != judge]
            row = marked_counts(mark, marked_by_half(others))
            rows[output.item] += row
            sums_by_judge[judge] += row
            n_outputs[judge] += 1
            n_spans[judge] += sum(not span.is_missing for span in output.spans[judge])
    return rows, [
        JudgeMarks(
            judge,
            n_outputs[judge],
            n_spans[judge],
            none_if_nan(float(precision(sums_by_judge[judge]))),
            none_if_nan(float(recall(sums_by_judge[judge]))),
            none_if_nan(float(f1(sums_by_judge[judge]))),
        )
        for judge in judges
        if n_outputs[judge]
    ]


def marked_by_half(marks: Sequence[Marked]) -> Marked:
    """The characters that at least half of the judges marked."""
    return np.asarray(2 * np.sum(marks, axis=0) >= len(marks), np.bool_)


def panels_of(outputs: Sequence[MarkedOutput]) -> list[MarkedPanel]:
    """One panel for each set of judges: the outputs that these judges marked, laid end to end, one
    character apart."""
    by_judges: dict[tuple[str, ...], list[MarkedOutput]] = {}
    for output in outputs:
        by_judges.setdefault(tuple(sorted(output.spans)), []).append(output)
    severities = sorted(
        {span.severity for output in outputs for spans in output.spans.values() for span in spans}
    )
    return [_panel(judges, own_outputs, severities) for judges, own_outputs in by_judges.items()]


def _panel(
    judges: Sequence[str], outputs: Sequence[MarkedOutput], severities: Sequence[str]
) -> MarkedPanel:
    """The outputs of one set of judges, laid end to end, with the offsets of spans shifted
    accordingly."""
    ends = np.cumsum([len(output.text) + 1 for output in outputs]).astype(np.float64)
    # The place of the judge, the start of the output on the line, and the span.
    placed: list[tuple[int, float, ErrorSpan]] = []
    for output, end in zip(outputs, ends.tolist(), strict=True):
        start = end - len(output.text) - 1
        for place, judge in enumerate(judges):
            own_spans = dict.fromkeys(span for span in output.spans[judge] if not span.is_missing)
            placed += [(place, start, span) for span in own_spans]
    spans = MarkedSpans(
        np.array([judge for judge, _, _ in placed], np.intp),
        np.array([start + span.start for _, start, span in placed], np.float64),
        np.array([start + span.end for _, start, span in placed], np.float64),
        places_of([span.severity for _, _, span in placed], severities),
        len(judges),
    )
    return MarkedPanel(spans, ends, np.array([output.item for output in outputs], np.intp))


def _severities(
    outputs: Sequence[MarkedOutput], marked: MarkedQuestion, confidence: float
) -> dict[str, Any] | None:
    """α on the severities of spans of two judges that overlap; None if there are no such spans."""
    severity_pairs: list[tuple[int, tuple[str, str]]] = []
    for output in outputs:
        for first, second in combinations(sorted(output.spans), 2):
            severity_pairs += [
                (output.item, (a.severity, b.severity))
                for a, b in overlapping_pairs(output.spans[first], output.spans[second])
                if a.severity and b.severity
            ]
    if not severity_pairs:
        return None
    names = sorted({name for _, pair in severity_pairs for name in pair})
    rows = np.zeros((len(marked.items), len(names) ** 2))
    for item, pair in severity_pairs:
        rows[item] += coincidences([pair], names)
    return {
        **interval_bounds(severity_alpha(rows, marked.clusters, confidence=confidence)),
        "same": none_if_nan(float(share_of_same_severity(rows.sum(axis=0)))),
        "n": len(severity_pairs),
        "severities": names,
    }


def _omissions(outputs: Sequence[MarkedOutput], judges: Sequence[str]) -> dict[str, Any] | None:
    """α on whether something is missing; None if no judge says so of any output."""
    row_of = {judge: row for row, judge in enumerate(judges)}
    units = np.full((len(judges), len(outputs)), np.nan)
    for column, output in enumerate(outputs):
        for judge, spans in output.spans.items():
            units[row_of[judge], column] = any(span.is_missing for span in spans)
    if not np.nansum(units):
        return None
    return {
        "alpha": none_if_nan(krippendorff_alpha(units, level="nominal").value),
        "n": len(outputs),
    }


def above_chance_with_p(alike: MarkedAlike) -> dict[str, Any]:
    """How far F1 is above chance, with its interval and p."""
    return {**interval_bounds(alike.above_chance), "p_value": alike.above_chance.p_value}


def interval_bounds(estimate: Estimate) -> dict[str, Any]:
    """For JSON: the value with its interval."""
    return {"value": none_if_nan(estimate.value), "low": estimate.low, "high": estimate.high}


def none_if_nan(value: float) -> float | None:
    """The value; None instead of NaN."""
    return None if np.isnan(value) else float(value)
