"""Reads candidates: several texts for each item, from which one is to be chosen. A line of JSON has
`id`, `candidates` and, for metrics that need them, `references`, `source` and `context`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from wellput.core.errors import Problems
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.jsonl import read_json_lines

TEXT_KEYS = ("source", "context")


class Candidates(NamedTuple):
    """The texts from which one is chosen for an item, in the given order, and the item's other data."""

    id: str
    texts: tuple[str, ...]
    references: tuple[str, ...] = ()
    source: str | None = None
    context: str | None = None


CandidatesLike: TypeAlias = Candidates | Mapping[str, Any] | Sequence[str]
"""An item in memory: `Candidates`, a mapping with the keys of a line, or a list of the texts."""


def read_nbest(path: PathLike) -> list[Candidates]:
    """The items of a file; raises one InputError for all bad lines."""
    file = InputFile(path)
    check_readable(file)
    problems = Problems(str(path))
    lines = ((f"line {number}", record) for number, record in read_json_lines(file, problems))
    items = _checked(lines, problems)
    problems.raise_if_any(advice='Each line is {"id": "7", "candidates": ["…", "…"]}.')
    return items


def nbest_of(items: Iterable[CandidatesLike]) -> list[Candidates]:
    """The items as `Candidates`; the id of an item that is only a list of texts is its place, from 1.

    >>> nbest_of([["It rains.", "Rains it."]])[0].id
    '1'
    """
    problems = Problems("The list of candidates")
    candidates = _checked(
        ((f"place {place}", _record(item, place)) for place, item in enumerate(items, 1)), problems
    )
    problems.raise_if_any(
        advice='Each item is a list of texts, or {"id": "7", "candidates": ["…", "…"]}.'
    )
    return candidates


def _record(item: CandidatesLike, place: int) -> Any:
    """The item as a line has it. A mapping is returned unchanged, as is anything else, which `_checked`
    refuses."""
    if isinstance(item, Candidates):
        record = item._asdict()
        return {**record, "candidates": record.pop("texts")}
    if isinstance(item, Sequence) and not isinstance(item, str):
        return {"id": str(place), "candidates": item}
    return item


def _checked(records: Iterable[tuple[str, Any]], problems: Problems) -> list[Candidates]:
    """The records as `Candidates`, without those that have a problem; `records` has pairs of a place
    and a record."""
    candidates: list[Candidates] = []
    ids: set[str] = set()
    for where, record in records:
        problem = _problem_of(record)
        if not problem and str(record["id"]) in ids:
            problem = f"the id {str(record['id'])!r} is given twice"
        if problem:
            problems.add(where, problem)
            continue
        ids.add(str(record["id"]))
        candidates.append(
            Candidates(
                str(record["id"]),
                tuple(record["candidates"]),
                tuple(record.get("references", ())),
                record.get("source"),
                record.get("context"),
            )
        )
    return candidates


def nbest_line(item: Candidates) -> str:
    """The item as a line that `read_nbest` reads, without keys for missing data."""
    others = {"references": item.references, "source": item.source, "context": item.context}
    present = {key: value for key, value in others.items() if value}
    return json.dumps({"id": item.id, "candidates": item.texts, **present}, ensure_ascii=False)


def _problem_of(record: Any) -> str:
    """What is wrong with a record; empty if nothing is."""
    if not isinstance(record, Mapping):
        return "not an object"
    if not isinstance(record.get("id"), str | int) or isinstance(record["id"], bool):
        return 'no "id"'
    for key in ("candidates", "references"):
        texts = record.get(key, [])
        if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
            return f'"{key}" is not a list of texts'
    if not record.get("candidates"):
        return 'no "candidates"'
    wrong = [key for key in TEXT_KEYS if not isinstance(record.get(key), str | None)]
    return f'"{wrong[0]}" is not a text' if wrong else ""
