"""Annotations exported from Label Studio as JSON: a list of tasks, each with its data and annotations.

A task's data names the item and the system: by the keys `item` and `system` (for pairs `system_a` and
`system_b`), or by one key `id` of the form ITEM::SYSTEM. Questions are the names of the controls.
`Rating` and `Number` give ratings, and so do `Choices` that begin with a number; `Pairwise` gives
pairwise choices (left is a).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from wellput.core.errors import InputError, Problems
from wellput.core.frames import is_name
from wellput.core.judgment import Judgment, PairwiseChoice, Preference
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.judgments import (
    CHOICE_OF_SIDE,
    CHOICE_OF_WORD,
    TRIAL_NAME_ADVICE,
    one_kind,
    split_trial,
)

MAX_LEAD_SECONDS = 1e9  # a lead time beyond this is damaged, and ignored
LEADING_NUMBER = re.compile(r"\s*(-?\d+(?:\.\d+)?)\b")


def knows(path: PathLike) -> bool:
    return InputFile(path).suffix == ".json"


def read_judgments(path: PathLike) -> list[Judgment] | list[Preference]:
    """The ratings or the pairwise choices of an export; cancelled annotations are left out.

    The judge is the email or the number of the person who completed the annotation. Label Studio's
    lead time is kept as `ms`.
    """
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    ratings: list[Judgment] = []
    choices: list[Preference] = []
    for number, task in enumerate(_tasks(file), start=1):
        where = f"task {task.get('id', number)}"
        place = _place(task.get("data"))
        if place is None:
            problems.add(where, "its data names no item and system")
            continue
        for annotation in task["annotations"]:
            if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
                continue
            for answer in _answers(annotation, *place):
                if isinstance(answer, Preference):
                    choices.append(answer)
                else:
                    ratings.append(answer)
    problems.raise_if_any(
        advice='Give tasks the data "item" and "system" ("system_a", "system_b"), or an "id". '
        f"{TRIAL_NAME_ADVICE}"
    )
    return one_kind(ratings, choices, file.name)


def _tasks(file: InputFile) -> list[dict[str, Any]]:
    try:
        record = json.loads("\n".join(file.lines()))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file.name} is not JSON: {error}.") from None
    if not isinstance(record, list) or not all(
        isinstance(task, dict) and isinstance(task.get("annotations"), list) for task in record
    ):
        raise InputError(
            f"{file.name} is not a Label Studio export, which is a list of tasks with annotations. "
            "Export the project as JSON (not JSON-MIN, which does not say who answered)."
        )
    return record


def _place(data: object) -> tuple[str, tuple[str, ...]] | None:
    """The item and its systems, from the data of a task."""
    if not isinstance(data, dict):
        return None
    item = data.get("item")
    if is_name(item):
        for keys in (("system",), ("system_a", "system_b")):
            if all(is_name(data.get(key)) for key in keys):
                return str(item), tuple(str(data[key]) for key in keys)
    name = data.get("id")
    return split_trial(name) if isinstance(name, str) else None


def _answers(
    annotation: Mapping[str, Any], item: str, systems: tuple[str, ...]
) -> Iterator[Judgment | Preference]:
    judge = _judge(annotation.get("completed_by"))
    seconds: Any = annotation.get("lead_time")
    is_timed = isinstance(seconds, int | float) and abs(seconds) < MAX_LEAD_SECONDS
    extra = {"ms": str(round(seconds * 1000))} if is_timed else {}
    results = annotation.get("result")
    for result in results if isinstance(results, list) else ():
        value = result.get("value") if isinstance(result, dict) else None
        if not isinstance(value, dict):
            continue
        question = str(result.get("from_name", ""))
        if len(systems) == 2:
            choice = _choice(value)
            if choice is not None:
                yield Preference(judge, item, systems[0], systems[1], question, choice, extra)
        elif (number := _number(value)) is not None:
            yield Judgment(judge, item, systems[0], question, number, extra)


def _judge(completed_by: object) -> str:
    if isinstance(completed_by, dict):
        return str(completed_by.get("email") or completed_by.get("id") or "unknown")
    return "unknown" if completed_by is None else str(completed_by)


def _number(value: Mapping[str, Any]) -> float | None:
    for key in ("rating", "number"):
        if isinstance(value.get(key), int | float):
            return float(value[key])
    chosen = value.get("choices")
    if isinstance(chosen, list) and len(chosen) == 1 and isinstance(chosen[0], str):
        found = LEADING_NUMBER.match(chosen[0])
        return None if found is None else float(found[1])
    return None


def _choice(value: Mapping[str, Any]) -> PairwiseChoice | None:
    if isinstance(value.get("selected"), str):
        return CHOICE_OF_SIDE.get(value["selected"])
    chosen = value.get("choices")
    if isinstance(chosen, list) and len(chosen) == 1:
        return CHOICE_OF_WORD.get(str(chosen[0]).lower())
    return None
