"""Error spans that a machine or a metric found, which judges keep, change or remove.

The file has the columns `item`, `system` and `spans`, as `wellput judge --design spans` writes them;
other columns are ignored. Each span must lie inside its output. If a span has a category that the
study does not have, it is shown without a category, and the judge chooses one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from wellput.core.errors import InputError, Problems
from wellput.core.judgment import SPANS_COLUMN
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.tables import read_records
from wellput.studies.marked_spans import SPAN_KEYS, Span, checked_spans
from wellput.studies.questions import Question
from wellput.studies.study_setup import StudySetup

NEEDED_COLUMNS = ("item", "system", SPANS_COLUMN)


def with_prefilled(setup: StudySetup, path: PathLike) -> StudySetup:
    """The study with the spans of a file. Raises InputError with every span that cannot be shown."""
    asked = setup.questionnaire.questions
    question = next((question for question in asked if question.kind == "spans"), None)
    if question is None:
        raise InputError(
            "prefill= needs the design spans or mqm: judges of a "
            f"{setup.questionnaire.kind} study mark nothing."
        )
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    by_id = {item.id: item for item in setup.items}
    spans_of_item: dict[str, dict[str, tuple[Span, ...]]] = {}
    raters: dict[tuple[str, str], Any] = {}
    for number, record in read_records(file, problems, NEEDED_COLUMNS):
        item, system = str(record["item"]), str(record["system"])
        if item not in by_id or system not in by_id[item].outputs:
            continue  # the study shows only a part of the evalset
        if (item, system) in raters:
            if raters[item, system] != record.get("judge"):
                problems.add(
                    f"line {number}", f"item {item}, system {system} comes twice: keep one judge"
                )
            continue
        raters[item, system] = record.get("judge")
        spans, reasons = _spans(record[SPANS_COLUMN], by_id[item].outputs[system], question)
        for reason in reasons:
            problems.add(f"line {number}", f"item {item}, system {system}: {reason}")
        spans_of_item.setdefault(item, {})[system] = tuple(spans)
    problems.raise_if_any()
    if not spans_of_item:
        raise InputError(f"{file.name} has no spans of outputs that this study shows.")
    items = tuple(replace(item, prefilled=spans_of_item.get(item.id, {})) for item in setup.items)
    return replace(setup, items=items, memo={})


def _spans(value: object, text: str, question: Question) -> tuple[list[Span], list[str]]:
    """The spans in a cell of the file, checked, and the reasons why some are refused."""
    if isinstance(value, str):
        try:
            value = json.loads(value or "[]")
        except (ValueError, RecursionError):
            return [], ["spans must be a JSON list"]
    if not isinstance(value, list):
        return [], ["spans must be a JSON list"]
    shown = [_for_judges(record, question.choices) for record in value]
    return checked_spans(
        shown,
        text,
        severities=question.severities,
        categories=("", *question.choices) if question.choices else (),
    )


def _for_judges(record: object, categories: Sequence[str]) -> object:
    """A span without the keys that a study does not use, such as a metric's confidence, and without a
    category that the study does not have."""
    if not isinstance(record, Mapping):
        return record
    known = {key: value for key, value in record.items() if key in SPAN_KEYS}
    category = record.get("category", "")
    return {**known, "category": category if category in categories else ""}
