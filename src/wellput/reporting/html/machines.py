"""The section of a report about machine judges, such as language models: the means of people, of the
machine, and corrected ones side by side; how far the machine is wrong about each system; and the worst
disagreements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Any

from wellput.agreement.machines.comparison import Disagreement, MachineComparison
from wellput.agreement.machines.verdict import shown, signed_interval, verdict_sentences
from wellput.core.evalset import Item
from wellput.reporting.table import Table

MAX_TEXT_CHARACTERS = 160
CORRECTED_NOTE = (
    "corrected: what people would say of all items that the machine judged, from the machine's answers "
    "and people's labels. machine − people is on the trials that both answered."
)


def machine_words(comparison: MachineComparison) -> list[str]:
    """The sentences of the verdict on the machine. The keyword `min_items=` is replaced by the option
    of `wellput vet`, and backticks are removed, because the page does not format text."""
    option = "wellput vet --min-items"
    return [
        sentence.replace("min_items= ", f"{option} ")
        .replace("min_items=", f"{option} ")
        .replace("`", "")
        for sentence in verdict_sentences(comparison.vet)
    ]


def comparison_name(comparison: MachineComparison) -> str:
    """The question and the machine, as the reader chooses them in the chart."""
    return f"{comparison.question}, {comparison.judge}"


def machine_rows(comparison: MachineComparison) -> list[dict[str, Any]]:
    """Rows of the chart: each system by people, by the machine, and corrected."""
    rows: list[dict[str, Any]] = []
    for row in comparison.systems:
        shared = {"comparison": comparison_name(comparison), "system": row.system}
        for source, value, low, high in (
            ("people", row.people.value, row.people.low, row.people.high),
            ("machine", row.proxy_only, None, None),
            ("corrected", row.estimate.value, row.estimate.low, row.estimate.high),
        ):
            rows.append({**shared, "who": source, "value": value, "low": low, "high": high})
    return rows


def machine_tables(comparison: MachineComparison, items: Sequence[Item]) -> list[Table]:
    """The systems, and the worst disagreements."""
    tables = [_systems_table(comparison)]
    if comparison.worst:
        tables.append(_worst_table(comparison, {item.id: item for item in items}))
    return tables


def _systems_table(comparison: MachineComparison) -> Table:
    gaps = {row.system: row for row in comparison.vet.biases.by_system}
    rows = []
    for row in comparison.systems:
        gap = gaps.get(row.system)  # its `severity` is the machine's mean minus people's
        rows.append(
            [
                row.system,
                shown(row.people.value),
                bounds_of(row.people.low, row.people.high),
                shown(row.proxy_only),
                shown(row.estimate.value),
                bounds_of(row.estimate.low, row.estimate.high),
                "–" if gap is None else shown(gap.severity.value, sign=True),
                "–" if gap is None else signed_interval(gap.severity) or "–",
                f"{row.n_labeled} of {row.n_labeled + row.n_unlabeled}",
            ]
        )
    return Table(
        [
            "system", "people", "95% interval", "machine", "corrected", "95% interval",
            "machine − people", "95% interval", "labeled",
        ],
        rows,
        title=f"People and {comparison.judge} side by side: {comparison.question}",
        notes=[CORRECTED_NOTE],
    )  # fmt: skip


def bounds_of(low: float | None, high: float | None) -> str:
    """The interval as text, – if there is none."""
    return "–" if low is None or high is None else f"[{shown(low)}, {shown(high)}]"


def _worst_table(comparison: MachineComparison, items: Mapping[str, Item]) -> Table:
    rows = [
        [
            " against ".join(disagreement.systems),
            disagreement.item,
            shown(disagreement.people),
            shown(disagreement.judge),
            shown(disagreement.judge - disagreement.people, sign=True),
            _text(disagreement, items),
        ]
        for disagreement in comparison.worst
    ]
    are_choices = len(comparison.worst[0].systems) > 1
    notes = ["Shares of choices for the first system."] if are_choices else []
    return Table(
        ["system", "item", "people", "machine", "machine − people", "output"],
        rows,
        title=f"Where {comparison.judge} is farthest from people: {comparison.question}",
        notes=notes,
        text_columns=frozenset({5}),
    )


def _text(disagreement: Disagreement, items: Mapping[str, Item]) -> str:
    """The outputs that were judged, shortened."""
    item = items.get(disagreement.item)
    if item is None:
        return ""
    texts = []
    for system in disagreement.systems:
        output = item.outputs.get(system, "")
        text = output if isinstance(output, str) else output[0] if isinstance(output, tuple) else ""
        texts.append(
            shorten(text, MAX_TEXT_CHARACTERS // len(disagreement.systems), placeholder=" …")
        )
    return " / ".join(texts)
