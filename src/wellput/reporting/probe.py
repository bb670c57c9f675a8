"""The tables of `wellput probe`, which changes texts in one place each: what each metric misses, in
words; how often it prefers the better text; how harmless changes alter its score; and whether more
harmful changes cost more.

A *variant* is a kind of change with its severity. A `Probe` has the figures of one metric and
one variant."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from wellput.agreement.probe_results import Probe, ProbeExample, ProbeResult, is_alarmed
from wellput.agreement.probing import UNCHANGED
from wellput.core.errors import counted
from wellput.language.perturb.catalog import KindAndSeverity
from wellput.reporting.table import Report, Table, number

CSV_COLUMNS = (
    "metric", "perturbation", "severity", "n", "accuracy", "ties", "low", "high", "effect",
    "effect_low", "effect_high", "share_lost", "losses", "losses_low", "losses_high", "undefined",
    "verdict",
)  # fmt: skip
MAX_METRICS_WITH_INTERVALS = 3
"""With more metrics the tables have no intervals; JSON and CSV have them."""
VERDICT_MARKS = {"noticed": "", "partly": "", "few": "", "blind": " ○", "misled": " ▼"}
"""The mark of a cell, by the verdict on a metric and a kind of change."""
MIN_SHARE_OF_TIES_SHOWN = 0.1
"""From this share on, ties are shown next to the accuracy."""


def probe_report(result: ProbeResult) -> Report:
    """The summary, the tables, and the examples if they were asked for."""
    tables = []
    if result.probes:
        tables.append(_summary_table(result))
        harmful = _variants(result, is_harmless=False)
        harmless = _variants(result, is_harmless=True)
        if harmful:
            tables.append(_accuracy_table(result, harmful))
        if harmless:
            tables.append(_harmless_table(result, harmless))
        if result.degrees:
            tables.append(_degrees_table(result))
    else:
        tables.append(_written_table(result))
    return Report(
        tables,
        result.values(),
        CSV_COLUMNS,
        result.records(),
        drawings=["\n\n".join(map(_example, result.examples))] if result.examples else [],
    )


def _variants(result: ProbeResult, *, is_harmless: bool) -> list[KindAndSeverity]:
    """The kinds of changes, with their severities, that are harmless; or those that are harmful."""
    variants = dict.fromkeys(probe.variant for probe in result.probes)
    return [variant for variant in variants if variant.is_harmless == is_harmless]


def _summary_table(result: ProbeResult) -> Table:
    rows = [[name, words] for name, words in result.summaries.items()]
    return Table(
        ["metric", "what it misses"], rows, title="What does each metric miss?", is_prose=True
    )


def _probes_by_variant(
    result: ProbeResult, variants: Sequence[KindAndSeverity]
) -> Iterator[tuple[KindAndSeverity, list[Probe]]]:
    """Each variant with its probes, one for each metric."""
    probe_of = {(probe.metric, probe.variant): probe for probe in result.probes}
    for variant in variants:
        yield variant, [probe_of[name, variant] for name in result.metrics]


def _accuracy_table(result: ProbeResult, variants: Sequence[KindAndSeverity]) -> Table:
    names = result.metrics
    rows = [
        [
            variant.kind,
            variant.severity,
            str(max(probe.n for probe in probes)),
            *(_accuracy_cell(probe, len(names)) for probe in probes),
        ]
        for variant, probes in _probes_by_variant(result, variants)
    ]
    level = f"{100 * result.confidence:g}%"
    has_intervals = len(names) <= MAX_METRICS_WITH_INTERVALS
    intervals = f" [{level} interval]" if has_intervals else ""
    where = "" if has_intervals else " (in JSON and CSV)"
    notes = [
        f"Percent of pairs in which the better text scores strictly higher{intervals}; = ties, from "
        f"{100 * MIN_SHARE_OF_TIES_SHOWN:.0f}% on.",
        "○ blind: the better text is not shown to win more than half, or wins fewer than 60%. ▼ "
        "misled: the worse text is shown to win more than half, and wins 60% or more.",
        *_undefined_notes(result),
        *result.notes,
        f"{counted(len(result.texts), 'text')}. Intervals{where} hold for other {_units(result)} like "
        "these.",
    ]
    return Table(
        ["harmful change", "severity", "texts", *names],
        rows,
        title="How often does the better text win?",
        notes=notes,
    )


def _units(result: ProbeResult) -> str:
    return "documents" if any(item.document for item in result.texts) else "texts"


def _accuracy_cell(probe: Probe, n_metrics: int) -> str:
    """How often the metric prefers the better text, in percent, with interval, ties and verdict."""
    if math.isnan(probe.accuracy):
        return "–"
    text = f"{100 * probe.accuracy:.0f}"
    if n_metrics <= MAX_METRICS_WITH_INTERVALS and probe.low is not None and probe.high is not None:
        text += f" [{100 * probe.low:.0f}, {100 * probe.high:.0f}]"
    if probe.ties >= MIN_SHARE_OF_TIES_SHOWN:
        text += f" ={100 * probe.ties:.0f}"
    return text + VERDICT_MARKS[probe.verdict]


def _harmless_table(result: ProbeResult, variants: Sequence[KindAndSeverity]) -> Table:
    rows = [
        [
            variant.kind,
            str(max(probe.n for probe in probes)),
            *(_alarm_cell(probe) for probe in probes),
        ]
        for variant, probes in _probes_by_variant(result, variants)
    ]
    has_comparisons = any(
        not math.isnan(probe.accuracy) for probe in result.probes if probe.variant.is_harmless
    )
    notes = [
        "First number: false alarms, the percent of comparisons in which the harmlessly changed text "
        "scores lower than the same text with a critical or major error. In parentheses: by how many "
        "percent the change alters the score (−: for the worse).",
        "▼ false alarm: 60% or more, shown to be more than half; or at least a quarter of the score.",
    ]
    if not has_comparisons:
        notes = [
            "There are no harmful changes to compare with. In parentheses: by how many percent the "
            "change alters the score (−: for the worse)."
        ]
    return Table(
        ["harmless change", "texts", *result.metrics],
        rows,
        title="Do harmless changes cost more than errors?",
        notes=notes,
    )


def _alarm_cell(probe: Probe) -> str:
    """How often a harmless change costs more than an error, and how much it alters the score, both in
    percent."""
    if math.isnan(probe.effect):
        return "–"
    parts = [] if math.isnan(probe.accuracy) else [f"{100 * probe.losses:.0f}"]
    if not math.isnan(probe.share_lost):
        parts.append(f"({number(-100 * probe.share_lost, 0, sign=True)})")
    return " ".join(parts) + (" ▼" if is_alarmed(probe) else "")


def _degrees_table(result: ProbeResult) -> Table:
    """How often scores fall from each degree of harm to the next, for kinds of changes with degrees."""
    kinds = dict.fromkeys(degree.perturbation for degree in result.degrees)
    degree_of = {(degree.metric, degree.perturbation): degree for degree in result.degrees}
    rows = []
    for kind in kinds:
        cells = []
        for name in result.metrics:
            degree = degree_of.get((name, kind))
            cells.append(
                "–"
                if degree is None
                else f"{100 * degree.ordered:.0f}{'' if degree.is_monotone else ' ▼'}"
            )
        rows.append([kind, *cells])
    return Table(
        ["change by degree", *result.metrics],
        rows,
        title="Does more harm cost more?",
        notes=[
            "Percent of texts whose score falls at every step: unchanged, minor, major, critical. ▼: "
            "the mean score does not fall at every step."
        ],
    )


def _undefined_notes(result: ProbeResult) -> list[str]:
    notes = []
    for name in result.metrics:
        missing = [probe for probe in result.of(name) if probe.undefined]
        if missing:
            kinds = ", ".join(dict.fromkeys(probe.perturbation for probe in missing))
            total = sum(probe.undefined for probe in missing)
            notes.append(f"{name} has no score for {counted(total, 'text')} ({kinds}), left out.")
    return notes


def _written_table(result: ProbeResult) -> Table:
    """The changed texts that were only written, to be scored by another program."""
    counts = [
        [name, str(sum(name in item.outputs for item in result.texts))]
        for name in result.texts.systems
    ]
    where = "" if result.written is None else f" written to {result.written}"
    return Table(
        ["system", "texts"],
        counts,
        title=f"Texts{where}",
        notes=[
            *result.notes,
            f"{UNCHANGED} has the texts themselves. Score all systems, one row for each system and "
            "item (columns system, item, metric, score). Then give the scores as scores=, and this "
            "file as dataset=.",
        ],
    )


def _example(example: ProbeExample) -> str:
    return (
        f"{example.metric}, {example.variant.kind} ({example.variant.severity}), item {example.item}\n"
        f"  better {number(example.better_score, 3)}  {example.better}\n"
        f"  worse  {number(example.worse_score, 3)}  {example.worse}"
    )
