"""Tables with a row for each answer: the rows of an item, one for each system and sample, are put
together, wherever they are. Several rows of one item and system are samples. What rows say of their
item (source, references, document, tags) must be the same; an empty cell says nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from wellput.core.errors import Problems
from wellput.core.evalset import Item

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
