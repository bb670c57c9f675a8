"""Data of the alternative annotator test (Calderon et al. 2025) as judgments: annotations of people and of
language models, and the figures that the authors print."""

from __future__ import annotations

import csv
import gzip
import json
from typing import Any, NamedTuple, cast

from benchmarks.catalog import ALT_TEST
from benchmarks.data import data_path
from wellput.core.judgment import Judgment, PairwiseChoice, Preference, with_question_values

CHOICES: dict[str, PairwiseChoice] = {"model_a": "a", "model_b": "b", "tie": "tie"}


class Expected(NamedTuple):
    """One line of what the authors print; numbers are text with two decimals."""

    dataset: str
    model: str
    scoring: str
    epsilon: str
    winning_rate: str
    advantage_probability: str


def expected() -> list[Expected]:
    """The figures of the authors."""
    with data_path(f"{ALT_TEST}/expected.tsv").open(encoding="utf-8", newline="") as file:
        return [Expected(**row) for row in csv.DictReader(file, delimiter="\t")]


def judge_of(model: str) -> str:
    """The name of a model among the judges."""
    return f"model:{model}"


def judgments(dataset: str) -> list[Judgment] | list[Preference]:
    """All annotations of a data set, first those of people. A trial is named `question__a__b__turn` in mtbench, and
    `item__system__question` or `item__question` in data sets with ratings."""
    answers = [
        (judge if who == "human" else judge_of(judge), trial, value)
        for who in ("human", "llm")
        for judge, given in _annotations(dataset, who).items()
        for trial, value in given.items()
    ]
    if dataset == "mtbench":
        return [_choice(*answer) for answer in answers]
    return with_question_values([_rating(dataset, *answer) for answer in answers])


def _annotations(dataset: str, who: str) -> dict[str, dict[str, Any]]:
    path = data_path(f"{ALT_TEST}/{dataset}/{who}_annotations.json.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return cast("dict[str, dict[str, Any]]", json.load(file))


def _choice(judge: str, trial: str, value: str) -> Preference:
    question, a, b, turn = trial.split("__")
    return Preference(judge, f"{question}-{turn}", a, b, "better", CHOICES[value])


def _rating(dataset: str, judge: str, trial: str, value: Any) -> Judgment:
    if dataset == "wax":
        return Judgment(judge, trial, "-", "relation", value)
    parts = trial.split("__")
    item, system, question = parts if len(parts) == 3 else (parts[0], "-", parts[1])
    return Judgment(
        judge, item, system, question, value if isinstance(value, str) else float(value)
    )
