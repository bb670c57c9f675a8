"""Reads and writes label plans, which say with what probability each item is chosen to be judged by
people, and whether it was chosen. A plan is a CSV file with the columns `item,probability,chosen` and
a row for every item of an evalset."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from wellput.core.errors import InputError, Problems
from wellput.core.judgment import number_in
from wellput.core.metric import Floats
from wellput.core.options import MIN_MAGNITUDE
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.tables import read_records, writing_table

LABEL_PLAN_COLUMNS = ("item", "probability", "chosen")


def write_label_plan(
    path: PathLike, probabilities: Mapping[str, float], chosen: Collection[str]
) -> None:
    """Writes the probability of every item, and in the column `chosen` 1 for chosen items and 0 for
    others."""
    names = set(chosen)
    with writing_table(path, LABEL_PLAN_COLUMNS, numbers=["probability", "chosen"]) as sink:
        sink.write([item, p, int(item in names)] for item, p in probabilities.items())


def read_label_probabilities(path: PathLike, items: Sequence[str]) -> Floats:
    """The probability of each of these items, from a file. Raises InputError for a missing item, and
    for a probability that is not above 0 and at most 1."""
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    probabilities: dict[str, float] = {}
    for line, record in read_records(file, problems, LABEL_PLAN_COLUMNS[:2]):
        value = number_in(record["probability"])
        if value is None or not MIN_MAGNITUDE <= value <= 1:  # callers compute 1 / value
            problems.add(
                f"line {line}",
                f"the probability {record['probability']!r} is not above 0 and at most 1",
            )
        else:
            probabilities[str(record["item"])] = value
    problems.raise_if_any()
    missing = [item for item in items if item not in probabilities]
    if missing:
        raise InputError(
            f"{file.name} has no probability for {len(missing):,} items; the first is {missing[0]!r}."
        )
    return np.array([probabilities[item] for item in items])
