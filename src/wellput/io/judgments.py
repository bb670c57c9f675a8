"""Judgments of people in files: ratings with the header `judge,item,system,question,value`,
pairwise choices with `judge,item,system_a,system_b,question,choice`. Further columns are kept."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from wellput.core.errors import InputError
from wellput.core.judgment import CHOICES, Judgment, Preference
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.problems import Problems
from wellput.io.readers import read_known_judgments
from wellput.io.tables import read_records, writing_table

RATING = ("judge", "item", "system", "question", "value")
PAIRWISE = ("judge", "item", "system_a", "system_b", "question", "choice")


def read_judgments(path: PathLike) -> list[Judgment] | list[Preference]:
    """The judgments of a file, or its pairwise choices: the header tells.

    CSV, TSV, JSONL or Parquet by suffix; `-` is CSV on standard input. Recognized too: MQM ratings
    (TSV), a folder or a score file of mt-metrics-eval, evalica's comparisons (CSV), annotations of
    Label Studio (JSON) and Potato, and what readers of other packages know (`io.readers`).
    """
    if (known := read_known_judgments(str(path))) is not None:
        return known
    file = InputFile(path)
    check_readable(file)
    return _preferences(file) if _is_pairwise(file) else _judgments(file)


def write_judgments(answers: Sequence[Judgment] | Sequence[Preference], path: PathLike) -> None:
    """Writes judgments or pairwise choices, their extra columns after the fixed ones."""
    extra = list(dict.fromkeys(name for answer in answers for name in answer.extra))
    fixed = PAIRWISE if answers and isinstance(answers[0], Preference) else RATING
    with writing_table(path, [*fixed, *extra], numbers=["value"]) as sink:
        sink.write(
            [getattr(answer, name) for name in fixed]
            + [answer.extra.get(name, "") for name in extra]
            for answer in answers
        )


def _is_pairwise(file: InputFile) -> bool:
    """By the names in the first line; Parquet's are looked up by its reader."""
    if file.suffix == ".parquet":
        records = read_records(file, Problems(file.name), ())
        return "choice" in next(records, (0, {}))[1]
    first = next((line for line in file.lines() if line.strip()), "")
    return "system_a" in first and "choice" in first


def _judgments(file: InputFile) -> list[Judgment]:
    problems = Problems(file.name)
    found: list[Judgment] = []
    for where, record in _checked(file, RATING, problems):
        value = _number(record["value"])
        if value is None:
            problems.add(where, f"the value {record['value']!r} is not a number")
        else:
            judge, item, system, question = (str(record[name]) for name in RATING[:-1])
            extra = _extra(record, RATING)
            found.append(Judgment(judge, item, system, question, value, extra))
    _check_all(found, problems)
    return found


def _preferences(file: InputFile) -> list[Preference]:
    problems = Problems(file.name)
    found: list[Preference] = []
    for where, record in _checked(file, PAIRWISE, problems):
        if record["choice"] not in CHOICES:
            problems.add(where, f"the choice {record['choice']!r} is not {', '.join(CHOICES)}")
        elif record["system_a"] == record["system_b"]:
            problems.add(where, f"{record['system_a']} is compared with itself")
        else:
            judge, item, a, b, question = (str(record[name]) for name in PAIRWISE[:-1])
            extra = _extra(record, PAIRWISE)
            found.append(Preference(judge, item, a, b, question, record["choice"], extra))
    _check_all(found, problems)
    return found


def _checked(
    file: InputFile, required: Sequence[str], problems: Problems
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows whose names are all there."""
    unit = "row" if file.suffix == ".parquet" else "line"
    for number, record in read_records(file, problems, required):
        wrong = [name for name in required[:-1] if not _is_name(record[name])]
        if wrong:
            problems.add(f"{unit} {number}", f"no {' and no '.join(wrong)}")
        else:
            yield f"{unit} {number}", record


def _is_name(value: object) -> bool:
    return (isinstance(value, str) and value != "") or type(value) is int


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _extra(record: dict[str, Any], fixed: Iterable[str]) -> dict[str, str]:
    return {
        name: "" if value is None else str(value)
        for name, value in record.items()
        if name not in fixed
    }


def _check_all(found: Sequence[object], problems: Problems) -> None:
    problems.raise_if_any()
    if not found:
        raise InputError(f"{problems.name} holds no judgments.")
