"""Candidate outputs by item: JSON lines with `id`, `candidates` and, for metrics that need them,
`references`, `source` and `context`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from wellput.core.errors import Problems
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.jsonl import read_json_lines

TEXT_KEYS = ("source", "context")


class Candidates(NamedTuple):
    """The texts of an item from which one is chosen, in the given order."""

    id: str
    texts: tuple[str, ...]
    references: tuple[str, ...] = ()
    source: str | None = None
    context: str | None = None


CandidatesLike: TypeAlias = Candidates | Mapping[str, Any] | Sequence[str]
"""An item in memory: as read from a file, as the object of a line, or the texts alone."""


def read_nbest(path: PathLike) -> list[Candidates]:
    """The items of a file; raises one InputError for all bad lines."""
    file = InputFile(path)
    check_readable(file)
    problems = Problems(str(path))
    lines = ((f"line {number}", record) for number, record in read_json_lines(file, problems))
    found = _checked(lines, problems)
    problems.raise_if_any(advice='Each line is {"id": "7", "candidates": ["…", "…"]}.')
    return found


def nbest_of(given: Iterable[CandidatesLike]) -> list[Candidates]:
    """The items in memory; the id of a list of texts is its place, from 1.

    >>> nbest_of([["It rains.", "Rains it."]])[0].id
    '1'
    """
    problems = Problems("The list of candidates")
    found = _checked(
        ((f"place {place}", _record(one, place)) for place, one in enumerate(given, 1)), problems
    )
    problems.raise_if_any(
        advice='Each item is a list of texts, or {"id": "7", "candidates": ["…", "…"]}.'
    )
    return found


def _record(given: CandidatesLike, place: int) -> Any:
    if isinstance(given, Candidates):
        record = given._asdict()
        return {**record, "candidates": record.pop("texts")}
    if isinstance(given, Sequence) and not isinstance(given, str):
        return {"id": str(place), "candidates": given}
    return given


def _checked(records: Iterable[tuple[str, Any]], problems: Problems) -> list[Candidates]:
    found: list[Candidates] = []
    seen: set[str] = set()
    for where, record in records:
        why = _what_is_wrong(record)
        if not why and str(record["id"]) in seen:
            why = f"the id {str(record['id'])!r} is given twice"
        if why:
            problems.add(where, why)
            continue
        seen.add(str(record["id"]))
        found.append(
            Candidates(
                str(record["id"]),
                tuple(record["candidates"]),
                tuple(record.get("references", ())),
                record.get("source"),
                record.get("context"),
            )
        )
    return found


def nbest_line(own: Candidates) -> str:
    """The line that `read_nbest` reads, without keys for missing data."""
    others = {"references": own.references, "source": own.source, "context": own.context}
    given = {key: value for key, value in others.items() if value}
    return json.dumps({"id": own.id, "candidates": own.texts, **given}, ensure_ascii=False)


def _what_is_wrong(record: Any) -> str:
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
