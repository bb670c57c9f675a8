"""Long tables: a row, or a line of JSONL, for each answer, with columns such as `item,system,output`.

The rows of an item, one for each system and sample, are joined; they may be anywhere in the table.
Several rows of one item and system are samples. The item's data (source, references, document, tags)
must be the same in all its rows; an empty cell is not compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from wellput.core.errors import InputError, Problems
from wellput.core.evalset import Item

ID_NAMES = ("id", "item", "item_id")
SYSTEM_NAMES = ("system", "model")
OUTPUT_NAMES = (
    "output", "response", "answer", "completion", "generation", "prediction", "hypothesis",
    "translation",
)  # fmt: skip
"""The names that the columns of ids, systems and outputs may have in a long table."""
SAMPLE = "sample"
"""The column with the number of a sample."""
OUTPUTS = "outputs."
"""The beginning of the name of a column with the outputs of one system, such as `outputs.A`."""
ONE_OUTPUT = f"{OUTPUTS}output"
"""The column of outputs in a table of a single system whose name is "output"."""


@dataclass(frozen=True, slots=True)
class LongColumns:
    """The names of a long table's columns. If `id` is None, rows with the same source are one item."""

    system: str
    output: str
    id: str | None

    @classmethod
    def among(cls, header: Sequence[str], *, names_system: bool = False) -> LongColumns | None:
        """The columns of a table with this header; None if the table is not long. If the user said
        which field a column is (`--column FIELD=NAME`), `header` has the field instead of the column's
        name. `names_system`: the user said which column has the systems."""
        system = next((name for name in SYSTEM_NAMES if name in header), None)
        identifier = next((name for name in ID_NAMES if name in header), None)
        prefixed = [name for name in header if name.startswith((OUTPUTS, "samples."))]
        outputs = [name for name in OUTPUT_NAMES if name in header] if not prefixed else []
        # With several columns such as `outputs.A` or `samples.A.0`, a row is an item, not an answer.
        if len(prefixed) == 1 and (
            names_system or prefixed[0].removeprefix(OUTPUTS) in OUTPUT_NAMES
        ):
            outputs = prefixed
        if names_system and len(outputs) != 1:
            raise InputError(
                "column='system=…' says that every row is one answer, so "
                "name the column of the answers once, too: outputs=NAME."
            )
        has_items = identifier is not None or "source" in header
        is_of_judgments = "judge" in header
        if system is None or not outputs or not has_items or is_of_judgments:
            return None
        return cls(system, outputs[0], identifier)

    def fields_in_words(self) -> dict[str, str]:
        """The field that each of these columns is read as, in words for the user."""
        words = {self.system: "system", self.output: "outputs of the system"}
        return words if self.id is None else {**words, self.id: "id"}

    def header(self, header: Sequence[str]) -> list[str]:
        """The header with the columns of outputs and ids renamed, as a table of a single system (whose
        name is "output") has them."""
        new_names = {self.output: ONE_OUTPUT, self.id: "id"}
        return [new_names.get(name, name) for name in header]

    def record(self, record: dict[str, Any]) -> dict[str, Any]:
        """A line of JSONL in the form of an item with one system (named "output"), as `header` does for
        tables."""
        renamed = dict(record)
        # The output of a column such as `outputs.A` is already in `outputs`.
        if not self.output.startswith(OUTPUTS):
            renamed["outputs"] = {ONE_OUTPUT.removeprefix(OUTPUTS): renamed.pop(self.output, None)}
        if self.id is not None and self.id in renamed:
            renamed["id"] = renamed.pop(self.id)
        return renamed

    def answer(self, record: dict[str, Any], system: Any) -> dict[str, Any] | str:
        """The record with its output under the system's name; or, as a text, what is wrong with it.
        Without ids, all records get the same id, and `joined_answers` joins them by their source."""
        if system in (None, "") or not isinstance(system, str | int) or isinstance(system, bool):
            return f"no {self.system}; every answer belongs to a system"
        if self.id is None:
            if record.get("source") in (None, ""):
                return "no source, and no id; every answer belongs to an item"
            record["id"] = "source"
        outputs = record.get("outputs") or {}
        text = next(iter(outputs.values()), None)
        record["outputs"] = {} if text is None else {str(system): text}
        return record


def sample_number(cell: Any) -> float | None:
    """The number of a sample in a cell; None if the cell has no number."""
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


SHARED_FIELDS = (
    "source", "context", "references", "trees", "derivation", "references_by_system",
    "trees_by_system", "document",
)  # fmt: skip
"""The fields that must be the same in all rows of an item."""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An item with the output of one system, or with none. `where` is its place in the table; rows
    with a `sample` number are put in the order of these numbers."""

    where: str
    item: Item
    sample: float | None = None


@dataclass(slots=True)
class _Answers:
    """The data of one item, and for each system the pairs of a sample's number and its text. `where` is
    the item's first row."""

    where: str
    item: Item
    outputs: dict[str, list[tuple[float, str]]] = field(default_factory=dict)


def joined_answers(
    rows: Iterable[AnswerRow], problems: Problems, *, by_source: bool = False
) -> list[Item]:
    """The items in the order of their first rows. `by_source`: rows with the same source are one item,
    and items are numbered from 1; otherwise rows with the same id are one item."""
    answers_by_item: dict[str | None, _Answers] = {}
    for row in rows:
        key = row.item.source if by_source else row.item.id
        answers = answers_by_item.setdefault(key, _Answers(row.where, row.item))
        if difference := _difference(answers.item, row.item):
            name = "" if by_source else f"item {row.item.id}: "
            problems.add(row.where, f"{name}another {difference} than in {answers.where}")
            continue
        answers.item = _completed(answers.item, row.item)
        for system, text in row.item.outputs.items():
            numbered = answers.outputs.setdefault(system, [])
            samples = text if isinstance(text, tuple) else (text,)
            for sample in samples:
                order = len(numbered) if row.sample is None else row.sample
                numbered.append((order, sample))  # type: ignore[arg-type]
    return [
        answers.item._replace(
            id=str(number) if by_source else answers.item.id,
            outputs={
                system: _one_or_several(sorted(numbered, key=lambda pair: pair[0]))
                for system, numbered in answers.outputs.items()
            },
        )
        for number, answers in enumerate(answers_by_item.values(), start=1)
    ]


def _difference(one: Item, other: Item) -> str:
    """The first field or tag in which two rows of one item differ; "" if they agree."""
    for name in SHARED_FIELDS:
        value, other_value = getattr(one, name), getattr(other, name)
        if value and other_value and value != other_value:
            return name
    for tag in one.tags.keys() & other.tags.keys():
        if one.tags[tag] != other.tags[tag]:
            return f"{tag} ({other.tags[tag]}, not {one.tags[tag]})"
    return ""


def _completed(one: Item, other: Item) -> Item:
    """The item `one` with the data that only `other`, another row of the same item, has."""
    added: dict[str, Any] = {
        name: getattr(other, name)
        for name in SHARED_FIELDS
        if getattr(other, name) and not getattr(one, name)
    }
    if other.tags.keys() - one.tags.keys():
        added["tags"] = {**other.tags, **one.tags}
    return one._replace(**added) if added else one


def _one_or_several(numbered: list[tuple[float, str]]) -> str | tuple[str, ...]:
    """The text of the only sample, or the texts of several, without their numbers."""
    return numbered[0][1] if len(numbered) == 1 else tuple(text for _, text in numbered)
