"""Reads results of ragas: the data frame of `result.to_pandas()`, saved as CSV, JSON, JSONL or
Parquet. It has a row for each answer, with `user_input`, `response`, `reference` and a column for
each metric.

The system is the file's name; in a folder, each file is a system. Rows with the same `user_input` and
`reference` are one item; its id comes from the column `id` or, without it, is the item's number. A
column of numbers is a score, unless it is a column of ragas' own samples (`SAMPLE_COLUMNS`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from wellput.core.errors import Problems, WellputError
from wellput.core.evalset import EvalSet
from wellput.io.files import InputFile, PathLike
from wellput.io.locations import is_url
from wellput.io.logged_answers import (
    LoggedAnswer,
    Question,
    as_number,
    evalset_of_answers,
    questions_of,
    text_of,
)
from wellput.io.tables import read_records

RAGAS_COLUMNS = frozenset({"user_input", "response"})
SAMPLE_COLUMNS = RAGAS_COLUMNS | {
    "reference", "retrieved_contexts", "reference_contexts", "retrieved_context_ids",
    "reference_context_ids", "multi_responses", "rubrics", "rubric", "reference_tool_calls",
    "reference_topics", "persona_name", "query_style", "query_length", "synthesizer_name", "id",
}  # fmt: skip
"""The columns of ragas' samples and test sets; the others are metrics."""
TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
PEEKED_BYTES = 1 << 16
"""The number of bytes that are looked at to recognize a file."""
Rows: TypeAlias = Sequence[Mapping[str, Any]]


def is_ragas_table(path: PathLike) -> bool:
    """Whether a table has ragas' columns. To find this out, only the beginning of the file is read (of
    Parquet, the end), and the first row."""
    file = InputFile(path)
    if file.suffix not in TABLE_SUFFIXES or is_url(str(path)) or not Path(path).is_file():
        return False
    try:
        if file.suffix == ".parquet":
            with Path(path).open("rb") as stream:
                stream.seek(max(0, Path(path).stat().st_size - PEEKED_BYTES))
                peeked = stream.read()
        else:
            peeked = next(iter(file.chunks()), b"")[:PEEKED_BYTES].partition(b"\n")[0]
        if any(name.encode() not in peeked for name in RAGAS_COLUMNS):
            return False
        _, first = next(iter(read_records(file, Problems(file.name), ())), (0, {}))
    except (WellputError, OSError):
        return False
    return first.keys() >= RAGAS_COLUMNS


knows = is_ragas_table


def open_evalset(path: PathLike) -> EvalSet:
    """The items of a table of results."""
    return evalset_of_answers(ragas_answers({str(path): table_rows(InputFile(path))}), str(path))


def table_rows(file: InputFile) -> Rows:
    """The rows of a table, with their columns as keys."""
    problems = Problems(file.name)
    rows = [dict(record) for _, record in read_records(file, problems, ())]
    problems.raise_if_any()
    return rows


def ragas_rows(log: Any) -> Rows:
    """The rows of a data frame that was saved as JSON, by rows or by columns; empty if the JSON is
    something else."""
    if isinstance(log, dict) and log.keys() >= RAGAS_COLUMNS:
        if not all(isinstance(column, dict) for column in log.values()):
            return []
        row_keys = log["user_input"]
        return [{name: column.get(key) for name, column in log.items()} for key in row_keys]
    is_rows = isinstance(log, list) and all(isinstance(row, dict) for row in log)
    return log if is_rows and log and all(row.keys() >= RAGAS_COLUMNS for row in log) else []


def ragas_answers(rows_by_file: Mapping[str, Rows]) -> Iterator[LoggedAnswer]:
    """The answers in these files, given as the rows of each file by its name."""
    rows = [(file, row) for file, file_rows in rows_by_file.items() for row in file_rows]
    questions = questions_of(
        [(text_of(row["user_input"]), _reference(row) or "") for _, row in rows]
    )
    items: dict[Question, str] = {}
    for (file, row), question in zip(rows, questions, strict=True):
        response, row_id = row["response"], row.get("id")
        new_item = str(len(items) + 1) if row_id in (None, "") else text_of(row_id)
        item = items.setdefault(question, new_item)
        if response is None or _is_nan(response):
            continue
        reference = _reference(row)
        yield LoggedAnswer(
            item=item,
            system=Path(file).name.partition(".")[0],
            output=_text(response),
            source=_text(row["user_input"]),
            references=() if reference is None else (reference,),
            scores=dict(_scores(row)),
            question=question[0],
            log=file,
        )


def _reference(row: Mapping[str, Any]) -> str | None:
    reference = row.get("reference")
    return None if reference in (None, "") or _is_nan(reference) else _text(reference)


def _scores(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in row.items():
        if not name or name in SAMPLE_COLUMNS or name.lower().startswith("unnamed"):
            continue
        score = as_number(value)
        if score is not None and math.isfinite(score):
            yield name, score


def _text(value: Any) -> str:
    """The value as text; of a conversation, the last message."""
    if isinstance(value, list) and value and isinstance(value[-1], dict):
        return text_of(value[-1].get("content"))
    return text_of(value)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
