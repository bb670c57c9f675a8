"""Error spans that a machine or a metric found, which judges keep, change or remove.

The file has the columns `item`, `system` and `spans`, as `wellput judge --design spans` writes them;
other columns are ignored. Each span must lie inside its output. Offsets may count a line break CR LF as
one character or as two (`core.line_breaks`). If a span has a category that the study does not have, it
is shown without a category, and the judge chooses one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wellput.core.errors import InputError, Problems
from wellput.core.evalset import Item
from wellput.core.judgment import SPANS_COLUMN
from wellput.core.line_breaks import place_with_line_feeds, with_line_feeds
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.tables import read_records
from wellput.studies.marked_spans import SPAN_KEYS, Span, checked_spans
from wellput.studies.questions import Question
from wellput.studies.study_setup import StudySetup

NEEDED_COLUMNS = ("item", "system", SPANS_COLUMN)


def with_prefilled(setup: StudySetup, path: PathLike, items: Iterable[Item] = ()) -> StudySetup:
    """The study with the spans of a file. `items` are those of the evalset, with their own line breaks.
    Raises InputError with every span that cannot be shown."""
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
    given_outputs = {item.id: item.outputs for item in items}
    spans_of_item: dict[str, dict[str, tuple[Span, ...]]] = {}
    judge_of: dict[tuple[str, str], Any] = {}  # None without a column `judge`
    for number, record in read_records(file, problems, NEEDED_COLUMNS):
        item, system = str(record["item"]), str(record["system"])
        if item not in by_id or system not in by_id[item].outputs:
            continue  # the study shows only a part of the evalset
        if (item, system) in judge_of:
            # A judge's answers to several questions about an output have the same error spans.
            if judge_of[item, system] != record.get("judge"):
                problems.add(
                    f"line {number}", f"item {item}, system {system} comes twice: keep one judge"
                )
            continue
        judge_of[item, system] = record.get("judge")
        text = by_id[item].outputs[system]
        given_text = str(given_outputs.get(item, {}).get(system, text))
        spans, reasons = _spans(record[SPANS_COLUMN], text, given_text, question)
        for reason in reasons:
            problems.add(f"line {number}", f"item {item}, system {system}: {reason}")
        spans_of_item.setdefault(item, {})[system] = tuple(spans)
    problems.raise_if_any()
    if not spans_of_item:
        raise InputError(f"{file.name} has no spans of outputs that this study shows.")
    prefilled = tuple(
        replace(item, prefilled=spans_of_item.get(item.id, {})) for item in setup.items
    )
    # Without a new dictionary, `replace` would give the same one to both setups.
    return replace(setup, items=prefilled, trials_of_judges={})


def _spans(
    value: object, text: str, given_text: str, question: Question
) -> tuple[list[Span], list[str]]:
    """The spans in a cell of the file, checked, and the reasons why some are refused. `given_text` is
    the output with the line breaks of the evalset."""
    if isinstance(value, str):
        try:
            value = json.loads(value or "[]")
        except (ValueError, RecursionError):
            return [], ["spans must be a JSON list"]
    if not isinstance(value, list):
        return [], ["spans must be a JSON list"]
    shown = [_for_judges(record, given_text, question.choices) for record in value]
    return checked_spans(
        shown,
        text,
        severities=question.severities,
        categories=("", *question.choices) if question.choices else (),
    )


def _for_judges(record: object, given_text: str, categories: Sequence[str]) -> object:
    """A span without the keys that a study does not use, such as a metric's confidence, and without a
    category that the study does not have. Its offsets count a line break as one character."""
    if not isinstance(record, Mapping):
        return record
    known = {key: value for key, value in record.items() if key in SPAN_KEYS}
    start, end, quote = known.get("start"), known.get("end"), known.get("text")
    if type(start) is int and type(end) is int:
        known["start"], known["end"] = place_with_line_feeds(start, end, given_text, quote)
    if isinstance(quote, str):
        known["text"] = with_line_feeds(quote)
    category = record.get("category", "")
    return {**known, "category": category if category in categories else ""}
