"""Reads and writes pairwise comparisons in the format of the package evalica: CSV with the columns
`left` and `right` (two systems) and `winner`, which is `left`, `right` or `tie`.

As in evalica, rows with another winner are ignored. Other columns are ignored, too, except `judge`,
`item` and `question`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from wellput.core.errors import InputError, Problems
from wellput.core.judgment import PairwiseChoice, Preference
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.tables import read_records, writing_table

EVALICA_COLUMNS = ("left", "right", "winner")
CHOICE_OF_WINNER: dict[str, PairwiseChoice] = {"left": "a", "right": "b", "tie": "tie"}
WINNER_OF_CHOICE = {choice: winner for winner, choice in CHOICE_OF_WINNER.items()}


def knows(path: PathLike) -> bool:
    """Whether the header has evalica's columns."""
    file = InputFile(path)
    if file.suffix not in (".csv", ".tsv"):
        return False
    header = next(file.lines(), "").removesuffix("\r").replace('"', "")
    return set(EVALICA_COLUMNS) <= set(re.split("[,;\t]", header))


def read_judgments(path: PathLike) -> list[Preference]:
    """The comparisons. Without the columns `judge`, `item` and `question`, the judge is `evalica`, the
    item is the number of the row, and the question is `preference`."""
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    preferences: list[Preference] = []
    rows = read_records(file, problems, EVALICA_COLUMNS, formulas_marked=True)
    for row, (number, record) in enumerate(rows, start=1):
        choice = CHOICE_OF_WINNER.get(str(record["winner"]).lower())
        left, right = record["left"], record["right"]
        if choice is None:
            continue
        if not left or not right or left == right:
            problems.add(f"line {number}", "left and right must be two different names")
            continue
        judge = record.get("judge") or "evalica"
        item, question = record.get("item") or str(row), record.get("question") or "preference"
        preferences.append(Preference(judge, item, left, right, question, choice))
    problems.raise_if_any()
    if not preferences:
        raise InputError(f"{file.name} holds no comparisons.")
    return preferences


def write_evalica(preferences: Sequence[Preference], path: PathLike) -> None:
    """Writes `left,right,winner`, and judge, item and question in columns that evalica ignores."""
    with writing_table(
        path, [*EVALICA_COLUMNS, "judge", "item", "question"], mark_formulas=True
    ) as sink:
        sink.write(
            [
                preference.system_a,
                preference.system_b,
                WINNER_OF_CHOICE[preference.choice],
                preference.judge,
                preference.item,
                preference.question,
            ]
            for preference in preferences
        )
