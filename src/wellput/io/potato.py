"""Reads annotations made with the tool Potato, from its output folder, which has a folder for each
judge, or from its combined table:

- `annotation_output/JUDGE/annotated_instances.jsonl` (`label_annotations` of each instance) or
  `annotation_output/JUDGE/user_state.json` (newer versions);
- `annotated_instances.tsv` or `.csv` with the columns `user`, `instance_id` and `SCHEME:::LABEL`.

An instance is what Potato shows; it is named ITEM::SYSTEM, or ITEM::A::B for pairs. A scheme is a
question. The answer is the number that the judge entered, or the number in the chosen label (`scale_5`,
`rating-5`, `5`); for pairs it is a label such as `A`, `B` or `tie` (`tool_answers`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, TypeAlias

from wellput.core.errors import InputError, Problems
from wellput.core.judgment import Judgment, PairwiseChoice, Preference, number_in
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.jsonl import read_json_lines
from wellput.io.judgments import TRIAL_NAME_ADVICE, split_trial
from wellput.io.tables import read_records
from wellput.io.tool_answers import ToolAnswers, choice_of_label

INSTANCES_FILE = "annotated_instances.jsonl"
STATE_FILE = "user_state.json"
LABEL_SEPARATOR = ":::"
TEXT_BOX = "text_box"
"""The label of a text that a judge wrote."""
RATINGS_ADVICE = "Ratings are numbers, or labels with one number, such as 5 or scale_5."
LABEL_NUMBER = re.compile(r"(?:(?<![^\s=])[-−])?\d+(?:\.\d+)?")
"""A number in a label. A hyphen is a sign only at the beginning and after a blank or an equals sign."""

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
    """The ratings or the pairwise choices."""
    problems = Problems(str(path))
    answers = ToolAnswers(str(path), ratings_advice=RATINGS_ADVICE)
    for where, judge, name, schemes in _instances(Path(path), problems):
        trial = split_trial(name)
        if trial is None:
            problems.add(where, f"the instance {name!r} names no item and system")
            continue
        item, systems = trial
        is_pair = len(systems) == 2
        for question, labels in schemes.items():
            if is_pair and (choice := _choice(labels)) is not None:
                answers.add(Preference(judge, item, systems[0], systems[1], question, choice))
            elif not is_pair and (number := _number(labels)) is not None:
                answers.add(Judgment(judge, item, systems[0], question, number))
            elif content := _in_words(labels):
                answers.add_other(f"{where}, {name}", question, content, is_about_pair=is_pair)
    problems.raise_if_any(advice=TRIAL_NAME_ADVICE)
    return answers.ratings_or_choices()


def _judge_files(folder: Path) -> Iterator[Path]:
    """One file of each judge: of the judge whose folder this is, and of the judges whose folders are
    in it. If a judge has both files, the older form is read."""
    for judge_folder in (folder, *sorted(folder.glob("*/"))):
        paths = [judge_folder / name for name in (INSTANCES_FILE, STATE_FILE)]
        yield from [path for path in paths if path.is_file()][:1]


def _instances(path: Path, problems: Problems) -> Iterator[Instance]:
    """The instances in a file, or in all judges' files of a folder."""
    if path.is_dir():
        for file in _judge_files(path):
            yield from _instances(file, problems)
    elif path.name == INSTANCES_FILE:
        for number, record in read_json_lines(InputFile(path), problems):
            judge = path.parent.name
            where = f"{judge}, line {number}"
            if not isinstance(record, dict) or "id" not in record:
                problems.add(where, "no id")
                continue
            yield where, judge, str(record["id"]), _schemes(record.get("label_annotations"))
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
        for name, labels in instances.items():
            yield str(path), judge, name, _schemes_of_state(labels)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
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


def _schemes_of_state(labels: Any) -> dict[str, dict[str, Any]]:
    """The labels of an instance in `user_state.json`, by scheme. `labels` has one of the forms
    [[{"schema": "quality", "name": "5"}, true]], {"quality": {"labels": {"5": true}}} and
    {"quality": {"5": true}}."""
    if not isinstance(labels, list):
        return _schemes(
            {
                scheme: chosen.get("labels", chosen) if isinstance(chosen, dict) else chosen
                for scheme, chosen in labels.items()
            }
        )
    schemes: dict[str, dict[str, Any]] = {}
    for label, value in labels:
        schemes.setdefault(str(label["schema"]), {})[str(label["name"])] = value
    return schemes


def _schemes(value: object) -> dict[str, dict[str, Any]]:
    """The labels by scheme. A value without a label gets an empty label."""
    if not isinstance(value, dict):
        return {}
    return {
        scheme: labels if isinstance(labels, dict) else {"": labels}
        for scheme, labels in value.items()
    }


def _chosen(labels: Mapping[str, Any]) -> dict[str, Any]:
    """The labels that the judge chose or filled in. A label without a value counts only if it is the
    only one."""
    chosen = {
        label: value
        for label, value in labels.items()
        if value is not False and value not in ("false", "False")
    }
    filled = {label: value for label, value in chosen.items() if value not in ("", None)}
    return filled or chosen


def _number(labels: Mapping[str, Any]) -> float | None:
    """The number of the only chosen label: its value, or the number in its name; None otherwise."""
    chosen = _chosen(labels)
    if len(chosen) != 1:
        return None
    ((label, value),) = chosen.items()
    if (number := number_in(value)) is not None:
        return number
    # In `scale_-2` the hyphen is a sign, although it is after an underscore.
    numbers = LABEL_NUMBER.findall(label.replace("scale_", ""))
    return number_in(numbers[0].replace("−", "-")) if len(numbers) == 1 else None


def _choice(labels: Mapping[str, Any]) -> PairwiseChoice | None:
    """The choice that the only chosen label stands for, or its value; None otherwise."""
    chosen = _chosen(labels)
    if len(chosen) != 1 or TEXT_BOX in chosen:
        return None
    ((label, value),) = chosen.items()
    return choice_of_label(label) or choice_of_label(value if isinstance(value, str) else "")


def _in_words(labels: Mapping[str, Any]) -> str:
    """The chosen labels, with the texts that the judge entered; empty if there are none."""
    texts = [
        label if value is True or value in ("true", "True") else f"{label}={_shown(value)}"
        for label, value in _chosen(labels).items()
        if value not in ("", None)
    ]
    return ", ".join(text.removeprefix("=") for text in texts)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else shortened(value)
