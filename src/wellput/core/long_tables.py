"""Long tables: a row, or a line of JSONL, for each answer, with columns such as `item,system,output`.

The rows of an item, one for each system and sample, are put together, wherever they are. Several rows
of one item and system are samples. What rows say of their item (source, references, document, tags)
must be the same; an empty cell says nothing.
"""

from __future__ import annotations

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
SAMPLE = "sample"
OUTPUTS = "outputs."
ONE_OUTPUT = f"{OUTPUTS}output"


@dataclass(frozen=True, slots=True)
class LongColumns:
    """The columns of a long table. Without an `id`, items are told apart by their source."""

    system: str
    output: str
    id: str | None

    @classmethod
    def among(cls, header: Sequence[str], *, names_system: bool = False) -> LongColumns | None:
        """The columns of a table with this header, where columns that the user named have the names
        of their fields; None if the table is not long. `names_system`: the user said which column has
        the systems."""
        system = next((name for name in SYSTEM_NAMES if name in header), None)
        identifier = next((name for name in ID_NAMES if name in header), None)
        named = [name for name in header if name.startswith((OUTPUTS, "samples."))]
        plain = [name for name in OUTPUT_NAMES if name in header] if not named else []
        if len(named) == 1 and (names_system or named[0].removeprefix(OUTPUTS) in OUTPUT_NAMES):
            plain = named
        if names_system and len(plain) != 1:
            raise InputError(
                "column='system=…' says that every row is one answer: name the column of the answers "
                "once, too, outputs=NAME."
            )
        is_told_apart = identifier is not None or "source" in header
        if system is None or not plain or not is_told_apart or "judge" in header:
            return None
        return cls(system, plain[0], identifier)

    def read_as(self) -> dict[str, str]:
        """What each column is, for people."""
        known = {self.system: "system", self.output: "outputs of the system"}
        return known if self.id is None else {**known, self.id: "id"}

    def header(self, header: Sequence[str]) -> list[str]:
        """The header as that of a table with one system."""
        known = {self.output: ONE_OUTPUT, self.id: "id"}
        return [known.get(name, name) for name in header]

    def record(self, record: dict[str, Any]) -> dict[str, Any]:
        """A line of JSONL as that of an item with one system; what `header` does for tables."""
        found = dict(record)
        if not self.output.startswith(OUTPUTS):
            found["outputs"] = {ONE_OUTPUT.removeprefix(OUTPUTS): found.pop(self.output, None)}
        if self.id is not None and self.id in found:
            found["id"] = found.pop(self.id)
        return found

    def answer(self, record: dict[str, Any], system: Any) -> dict[str, Any] | str:
        """The record with the system's name on its output; or what is wrong with it. Without ids, all
        records get the same id, and `core.long_tables` tells items apart by their source."""
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
    """The number of a sample; None where there is none."""
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None


SHARED_FIELDS = (
    "source", "context", "references", "trees", "derivation", "references_by_system",
    "trees_by_system", "document",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An item with the output of one system, or with none. `where` is its place in the table; rows
    with a `sample` number are put in the order of these numbers."""

    where: str
    item: Item
    sample: float | None = None


@dataclass(slots=True)
class _Answers:
    where: str
    item: Item
    outputs: dict[str, list[tuple[float, str]]] = field(default_factory=dict)


def joined_answers(
    rows: Iterable[AnswerRow], problems: Problems, *, by_source: bool = False
) -> list[Item]:
    """The items in the order of their first rows. `by_source`: items are told apart by their source,
    and numbered from 1."""
    found: dict[str | None, _Answers] = {}
    for row in rows:
        key = row.item.source if by_source else row.item.id
        answers = found.setdefault(key, _Answers(row.where, row.item))
        if parting := _parting(answers.item, row.item):
            name = "" if by_source else f"item {row.item.id}: "
            problems.add(row.where, f"{name}another {parting} than in {answers.where}")
            continue
        answers.item = _completed(answers.item, row.item)
        for system, text in row.item.outputs.items():
            given = answers.outputs.setdefault(system, [])
            samples = text if isinstance(text, tuple) else (text,)
            for sample in samples:
                place = len(given) if row.sample is None else row.sample
                given.append((place, sample))  # type: ignore[arg-type]
    return [
        answers.item._replace(
            id=str(number) if by_source else answers.item.id,
            outputs={
                system: _one_or_several(sorted(texts, key=lambda text: text[0]))
                for system, texts in answers.outputs.items()
            },
        )
        for number, answers in enumerate(found.values(), start=1)
    ]


def _parting(one: Item, other: Item) -> str:
    """What two rows of one item say differently; "" if nothing."""
    for name in SHARED_FIELDS:
        ours, theirs = getattr(one, name), getattr(other, name)
        if ours and theirs and ours != theirs:
            return name
    for tag in one.tags.keys() & other.tags.keys():
        if one.tags[tag] != other.tags[tag]:
            return f"{tag} ({other.tags[tag]}, not {one.tags[tag]})"
    return ""


def _completed(one: Item, other: Item) -> Item:
    """The item with what only the other row says of it."""
    more: dict[str, Any] = {
        name: getattr(other, name)
        for name in SHARED_FIELDS
        if getattr(other, name) and not getattr(one, name)
    }
    if other.tags.keys() - one.tags.keys():
        more["tags"] = {**other.tags, **one.tags}
    return one._replace(**more) if more else one


def _one_or_several(texts: list[tuple[float, str]]) -> str | tuple[str, ...]:
    return texts[0][1] if len(texts) == 1 else tuple(text for _, text in texts)
