"""Reads annotations made with the tool Potato, from its output folder, which has a folder for each
judge, or from its combined table:

- `annotation_output/JUDGE/annotated_instances.jsonl` (`label_annotations` of each instance) or
  `annotation_output/JUDGE/user_state.json` (newer versions);
- `annotated_instances.tsv` or `.csv` with the columns `user`, `instance_id` and `SCHEME:::LABEL`.

An instance is what Potato shows; it is named ITEM::SYSTEM, or ITEM::A::B for pairs. A scheme is a
question. The answer is the number that the judge entered, or the number in the chosen label (`scale_5`,
`5`); for pairs it is a label `A`, `B` or `tie`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from wellput.core.errors import InputError, Problems
from wellput.core.judgment import Judgment, PairwiseChoice, Preference
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.jsonl import read_json_lines
from wellput.io.judgments import TRIAL_NAME_ADVICE, ratings_or_choices, split_trial
from wellput.io.pairwise_choices import CHOICE_OF_WORD
from wellput.io.tables import read_records

INSTANCES_FILE = "annotated_instances.jsonl"
STATE_FILE = "user_state.json"
LABEL_SEPARATOR = ":::"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

# An instance that a judge annotated: its place in the file, the judge, its name, its labels by scheme.
Instance: TypeAlias = tuple[str, str, str, Mapping[str, Mapping[str, Any]]]


def knows(path: PathLike) -> bool:
    """Whether the path is Potato's folder, a judge's folder or file in it, or the combined table."""
    path = Path(path)
    if path.is_dir():
        return any(_judge_files(path))
    if path.name in (INSTANCES_FILE, STATE_FILE):
        return True
    if path.suffix not in (".tsv", ".csv") or not path.is_file():
        return False
    header = next(InputFile(path).lines(), "")
    return "instance_id" in header and "user" in header and LABEL_SEPARATOR in header


def read_judgments(path: PathLike) -> list[Judgment] | list[Preference]:
    """The ratings or the pairwise choices; answers that are neither are left out."""
    problems = Problems(str(path))
    ratings: list[Judgment] = []
    choices: list[Preference] = []
    for where, judge, name, schemes in _instances(Path(path), problems):
        place = split_trial(name)
        if place is None:
            problems.add(where, f"the instance {name!r} names no item and system")
            continue
        item, systems = place
        for question, labels in schemes.items():
            if len(systems) == 2:
                if (choice := _choice(labels)) is not None:
                    choices.append(
                        Preference(judge, item, systems[0], systems[1], question, choice)
                    )
            elif (number := _number(labels)) is not None:
                ratings.append(Judgment(judge, item, systems[0], question, number))
    problems.raise_if_any(advice=TRIAL_NAME_ADVICE)
    return ratings_or_choices(ratings, choices, str(path))


def _judge_files(folder: Path) -> Iterator[Path]:
    for name in (INSTANCES_FILE, STATE_FILE):
        paths = sorted([folder / name, *folder.glob(f"*/{name}")])
        if any(path.is_file() for path in paths):
            yield from (path for path in paths if path.is_file())
            return


def _instances(path: Path, problems: Problems) -> Iterator[Instance]:
    """The instances in a file, or in all judges' files of a folder."""
    if path.is_dir():
        for file in _judge_files(path):
            yield from _instances(file, problems)
    elif path.name == INSTANCES_FILE:
        for number, record in read_json_lines(InputFile(path), problems):
            if not isinstance(record, dict) or "id" not in record:
                problems.add(f"{path.parent.name}, line {number}", "no id")
                continue
            schemes = record.get("label_annotations")
            yield f"line {number}", path.parent.name, str(record["id"]), _schemes(schemes)
    elif path.name == STATE_FILE:
        yield from _state(path)
    else:
        yield from _table(path, problems)


def _state(path: Path) -> Iterator[Instance]:
    """The instances in a file `user_state.json`."""
    file = InputFile(path)
    check_readable(file)
    try:
        record = json.loads(file.whole())
        judge = str(record.get("user_id") or path.parent.name)
        instances = record["instance_id_to_label_to_value"]
        for name, schemes in instances.items():
            # {"quality": {"labels": {"5": true}}}, or {"quality": {"5": true}}
            labels_by_scheme = {
                scheme: labels.get("labels", labels) if isinstance(labels, dict) else {}
                for scheme, labels in schemes.items()
            }
            yield str(path), judge, name, _schemes(labels_by_scheme)
    except (ValueError, KeyError, AttributeError, RecursionError):
        raise InputError(f"{path} is not a file of Potato's user states.") from None


def _table(path: Path, problems: Problems) -> Iterator[Instance]:
    """The instances in Potato's combined table."""
    file = InputFile(path)
    check_readable(file)
    for number, record in read_records(file, problems, ("user", "instance_id")):
        schemes: dict[str, dict[str, Any]] = {}
        for column, value in record.items():
            scheme, separator, label = column.partition(LABEL_SEPARATOR)
            if separator and value not in ("", None):
                schemes.setdefault(scheme, {})[label] = value
        yield f"line {number}", str(record["user"]), str(record["instance_id"]), schemes


def _schemes(value: object) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict):
        return {}
    return {scheme: labels for scheme, labels in value.items() if isinstance(labels, dict)}


def _number(labels: Mapping[str, Any]) -> float | None:
    """The number of the only chosen label: its value, or the number in its name; None otherwise."""
    chosen = [(label, value) for label, value in labels.items() if value not in (False, "false")]
    if len(chosen) != 1:
        return None
    label, value = chosen[0]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and NUMBER.fullmatch(value.strip()):
        return float(value)
    numbers = NUMBER.findall(label.replace("scale_", ""))
    return float(numbers[0]) if len(numbers) == 1 else None


def _choice(labels: Mapping[str, Any]) -> PairwiseChoice | None:
    """The choice that the only chosen label stands for; None otherwise."""
    chosen = [label for label, value in labels.items() if value not in (False, "false")]
    if len(chosen) != 1:
        return None
    value = labels[chosen[0]]
    return CHOICE_OF_WORD.get(chosen[0].lower()) or CHOICE_OF_WORD.get(str(value).lower())
