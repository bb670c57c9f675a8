"""Candidate outputs by item: JSON lines with `id`, `candidates` and, where a metric wants them,
`references`, `source` and `context`."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.jsonl import read_json_lines
from wellput.io.problems import Problems

TEXTS = ("source", "context")


class Candidates(NamedTuple):
    """The texts among which one is to be chosen, in the order given."""

    id: str
    texts: tuple[str, ...]
    references: tuple[str, ...] = ()
    source: str | None = None
    context: str | None = None


def read_nbest(path: PathLike) -> list[Candidates]:
    """Raises one InputError for all lines that are wrong."""
    file = InputFile(path)
    check_readable(file)
    problems = Problems(str(path))
    found: list[Candidates] = []
    seen: set[str] = set()
    for number, record in read_json_lines(file, problems):
        why = _what_is_wrong(record)
        if not why and str(record["id"]) in seen:
            why = f"the id {str(record['id'])!r} is given twice"
        if why:
            problems.add(f"line {number}", why)
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
    problems.raise_if_any(advice='Each line is {"id": "7", "candidates": ["…", "…"]}.')
    return found


def nbest_line(own: Candidates) -> str:
    """The line that `read_nbest` reads; what is not there is left out."""
    others = {"references": own.references, "source": own.source, "context": own.context}
    given = {key: value for key, value in others.items() if value}
    return json.dumps({"id": own.id, "candidates": own.texts, **given}, ensure_ascii=False)


def _what_is_wrong(record: Any) -> str:
    if not isinstance(record, dict):
        return "not an object"
    if not isinstance(record.get("id"), str | int) or isinstance(record["id"], bool):
        return 'no "id"'
    for key in ("candidates", "references"):
        texts = record.get(key, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return f'"{key}" is no list of texts'
    if not record.get("candidates"):
        return 'no "candidates"'
    wrong = [key for key in TEXTS if not isinstance(record.get(key), str | None)]
    return f'"{wrong[0]}" is no text' if wrong else ""
