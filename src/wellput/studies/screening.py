"""Screening questions, which decide who may take part in an open study, and their TOML file: entries
`[[screening]]` with a text, its choices, and those of them that are accepted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wellput.core.errors import InputError
from wellput.core.line_breaks import all_with_line_feeds
from wellput.io.files import read_toml
from wellput.studies.questions import NOT_STORABLE, is_storable

EXAMPLE = '[[screening]] text = "…" choices = ["yes", "no"] accepted = ["yes"]'


@dataclass(frozen=True)
class ScreeningQuestion:
    """A question before the study. Only people who choose one of `accepted` may take part."""

    text: str
    choices: tuple[str, ...]
    accepted: tuple[str, ...]

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> ScreeningQuestion:
        """The question of a checked entry of a file, or of a stored one."""
        return cls(entry["text"], tuple(entry["choices"]), tuple(entry["accepted"]))


def read_screening(path: str | Path) -> tuple[ScreeningQuestion, ...]:
    """The questions of a file. Raises InputError with all that is wrong."""
    record = all_with_line_feeds(read_toml(path))
    entries = record.get("screening")
    if set(record) != {"screening"} or not isinstance(entries, list) or not entries:
        raise InputError(f"{path} has no screening questions. It needs entries as {EXAMPLE}.")
    problems = [
        f"[[screening]] number {place}: {problem}"
        for place, entry in enumerate(entries, start=1)
        for problem in _problems(entry)
    ]
    if problems:
        raise InputError.collect(f"{path} cannot be used:", problems)
    return tuple(ScreeningQuestion.of(entry) for entry in entries)


def _problems(entry: Any) -> list[str]:
    """What is wrong with a question of the screening file, in words."""
    if not isinstance(entry, dict) or set(entry) != {"text", "choices", "accepted"}:
        return ["text, choices and accepted are needed, and nothing else"]
    problems = []
    if not isinstance(entry["text"], str) or not entry["text"].strip():
        problems.append("text must be a question")
    elif not is_storable(entry["text"]):
        problems.append(f"text {NOT_STORABLE}")
    for name in ("choices", "accepted"):
        values = entry[name]
        if not isinstance(values, list) or not all(
            isinstance(value, str) and value and is_storable(value) for value in values
        ):
            problems.append(f"{name} must be a list of texts")
    if not problems and len(set(entry["choices"])) < 2:
        problems.append("at least two different choices are needed")
    if not problems and not (entry["accepted"] and set(entry["accepted"]) <= set(entry["choices"])):
        problems.append("accepted must name one or more of the choices")
    return problems
