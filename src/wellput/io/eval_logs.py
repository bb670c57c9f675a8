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
from wellput.io.inspect_logs import inspect_runs, is_inspect_log
from wellput.io.promptfoo_logs import is_promptfoo_log, promptfoo_runs
from wellput.io.runs import Run

CONVERT = "Convert .eval logs with: inspect log convert LOGS --to json --output-dir DIR"


def is_eval_log(path: PathLike) -> bool:
    """Whether the path is a JSON log or a folder of inspect_ai's logs."""
    given = Path(path)
    if given.is_dir():
        return any(file.suffix in (".json", ".eval") for file in given.iterdir())
    return InputFile(path).suffix in (".json", ".eval")


def read_eval_logs(path: PathLike) -> EvalSet:
    """The items of one log, or of all logs of a folder, with every system's answers."""
    given = Path(path)
    files = sorted(given.glob("*.json")) if given.is_dir() else [given]
    if not files or given.suffix == ".eval":
        raise InputError(f"{path} holds inspect_ai's binary logs. {CONVERT}")
    logs = {str(file): _loaded(InputFile(file)) for file in files}
    if all(is_inspect_log(log) for log in logs.values()):
        return evalset_of(inspect_runs(logs), str(path))
    if len(logs) == 1 and is_promptfoo_log(next(iter(logs.values()))):
        return evalset_of(promptfoo_runs(*logs.values()), str(path))
    raise InputError(
        f"{path} is neither a log of inspect_ai (an object with eval and samples) nor one of promptfoo "
        "(an object with results). An evaluation set has one item a line and ends in .jsonl."
    )


def evalset_of(runs: Iterable[Run], name: str) -> EvalSet:
    """Items in the order in which they first occur."""
    found: dict[str, dict[str, list[Run]]] = {}
    for run in runs:
        found.setdefault(run.item, {}).setdefault(run.system, []).append(run)
    if not found:
        raise InputError(f"{name} holds no samples with an output.")
    return EvalSet(_item(identifier, systems) for identifier, systems in found.items())


def _item(identifier: str, systems: Mapping[str, Sequence[Run]]) -> Item:
    every = [run for runs in systems.values() for run in runs]
    references = dict.fromkeys(text for run in every for text in run.references)
    return Item(
        identifier,
        {system: runs[0].output for system, runs in systems.items()},
        tuple(references),
        source=next((run.source for run in every if run.source), None),
        logged={system: dict(_means(runs)) for system, runs in systems.items()},
    )


def _means(runs: Sequence[Run]) -> Iterator[tuple[str, float]]:
    for name in dict.fromkeys(name for run in runs for name in run.scores):
        values = [run.scores[name] for run in runs if name in run.scores]
        yield name, sum(values) / len(values)


def _loaded(file: InputFile) -> Any:
    check_readable(file)
    try:
        with file.seekable() as stream:
            return json.load(stream)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file.name} is not JSON: {error}") from None
