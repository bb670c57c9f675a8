"""Logs of language-model evaluations as evaluation sets: inspect_ai's and promptfoo's.

Answers to an item that was asked several times (epochs, repeats) are one: the first text, the mean of
each score.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.inspect_archives import read_archive
from wellput.io.inspect_logs import inspect_answers, is_inspect_log
from wellput.io.logged_answers import LoggedAnswer
from wellput.io.object_stores import is_url
from wellput.io.promptfoo_logs import is_promptfoo_log, promptfoo_answers

ARCHIVE = ".eval"
SUFFIXES = (".json", ARCHIVE)


def knows(path: PathLike) -> bool:
    """Whether the path is a log by its name, or a folder of inspect_ai's logs."""
    given = Path(path)
    if given.is_dir():
        return any(InputFile(file).suffix in SUFFIXES for file in given.iterdir())
    return InputFile(path).suffix in SUFFIXES and not is_url(str(path))


def open_evalset(path: PathLike) -> EvalSet:
    """The items of one log, or of all logs of a folder, with every system's answers."""
    given = Path(path)
    inside = sorted(given.iterdir()) if given.is_dir() else [given]
    files = [file for file in inside if InputFile(file).suffix in SUFFIXES]
    logs = {str(file): _loaded(InputFile(file)) for file in files}
    if all(is_inspect_log(log) for log in logs.values()):
        return evalset_of(inspect_answers(logs), str(path))
    if len(logs) == 1 and is_promptfoo_log(next(iter(logs.values()))):
        return evalset_of(promptfoo_answers(*logs.values()), str(path))
    raise InputError(
        f"{path} is neither a log of inspect_ai (an object with eval and samples) nor one of promptfoo "
        "(an object with results). An evaluation set has one item a line and ends in .jsonl."
    )


def evalset_of(answers: Iterable[LoggedAnswer], name: str) -> EvalSet:
    """Items in the order in which they first occur."""
    found: dict[str, dict[str, list[LoggedAnswer]]] = {}
    for answer in answers:
        found.setdefault(answer.item, {}).setdefault(answer.system, []).append(answer)
    if not found:
        raise InputError(f"{name} holds no samples with an output.")
    return EvalSet(_item(identifier, systems) for identifier, systems in found.items())


def _item(identifier: str, systems: Mapping[str, Sequence[LoggedAnswer]]) -> Item:
    every = [answer for answers in systems.values() for answer in answers]
    references = dict.fromkeys(text for answer in every for text in answer.references)
    return Item(
        identifier,
        {system: answers[0].output for system, answers in systems.items()},
        tuple(references),
        source=next((answer.source for answer in every if answer.source), None),
        logged={system: dict(_means(answers)) for system, answers in systems.items()},
    )


def _means(answers: Sequence[LoggedAnswer]) -> Iterator[tuple[str, float]]:
    for name in dict.fromkeys(name for answer in answers for name in answer.scores):
        values = [answer.scores[name] for answer in answers if name in answer.scores]
        yield name, sum(values) / len(values)


def _loaded(file: InputFile) -> Any:
    check_readable(file)
    if file.suffix == ARCHIVE:
        return read_archive(file)
    try:
        with file.seekable() as stream:
            return json.load(stream)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file.name} is not JSON: {error}") from None
