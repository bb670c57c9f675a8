"""Tables of named columns: their rows from and to files of the four formats (`io.files`).

Judgments and segment scores are such tables; so is an evaluation set, but for JSONL, where it is
nested.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, Protocol

from wellput.core.errors import InputError, OutputError
from wellput.io.files import FORMATS, STANDARD_INPUT, InputFile, PathLike, format_of
from wellput.io.jsonl import read_json_lines
from wellput.io.output import check_writable, replacing, replacing_text
from wellput.io.parquet import read_parquet, writing_parquet
from wellput.io.problems import Problems
from wellput.io.tabular import DELIMITERS, Cell, TableWriter, read_table

NO_TEXT = (".json", ".xls", ".xlsx", ".ods", ".html", ".pdf", ".docx")


class RowSink(Protocol):
    """Where rows are written."""

    def write(self, rows: Iterable[Sequence[Cell]]) -> None:
        """Rows of as many cells as there are columns; None is a missing value."""
        ...


def check_table(path: PathLike) -> None:
    """Raises at once where a table cannot be written: the suffix is none of ours, or the folder does
    not allow it."""
    format_of(path, on_stream=".csv")
    check_writable(path)


def check_text(path: PathLike, *, allowed: Sequence[str] = ()) -> None:
    """Raises at once where text, a line each, cannot be written, or the suffix promises something else
    than text or the `allowed` ones."""
    suffix = InputFile(path).suffix if str(path) != STANDARD_INPUT else ""
    if suffix in (*FORMATS, *NO_TEXT) and suffix not in allowed:
        raise InputError(
            f"{path}: the sentences are written as plain text, to a file that ends in "
            f"{' or '.join(('.txt', *allowed))}."
        )
    check_writable(path)


def read_records(
    file: InputFile,
    problems: Problems,
    required: Sequence[str],
    *,
    on_stream: str = ".csv",
    advice: str = "",
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each row's number and its values by column; empty cells of CSV and TSV are empty texts.

    A table without the required columns is refused at once, with the `advice`; a JSON object without
    them is one problem.
    """
    suffix = format_of(file.path, on_stream=on_stream)
    if suffix == ".jsonl":
        for number, record in read_json_lines(file, problems):
            if not isinstance(record, dict):
                problems.add(f"line {number}", "an object is needed")
            elif missing := [name for name in required if name not in record]:
                problems.add(f"line {number}", f"no {', '.join(missing)}")
            else:
                yield number, record
        return
    header: list[str]
    rows: Iterator[tuple[int, list[Any]]]
    if suffix == ".parquet":
        header, rows = read_parquet(file)
    else:
        header, rows = read_table(file, DELIMITERS[suffix], problems)
    if missing := [name for name in required if name not in header]:
        raise InputError(missing_columns(file.name, missing, required, header, advice))
    for number, row in rows:
        yield number, dict(zip(header, row, strict=True))


def missing_columns(
    name: str,
    missing: Sequence[str],
    required: Sequence[str],
    there: Sequence[str],
    advice: str = "",
) -> str:
    """The message for a table that lacks columns: which it needs, and which it has."""
    columns = "column" if len(missing) == 1 else "columns"
    message = (
        f"{name} has no {columns} {', '.join(missing)}. It needs {', '.join(required)}, in any order; "
        f"it has {', '.join(there) or 'no columns'}."
    )
    return f"{message} {advice}" if advice else message


@contextmanager
def writing_table(
    path: PathLike,
    header: Sequence[str],
    *,
    numbers: Sequence[str] = (),
    on_stream: str = ".csv",
) -> Iterator[RowSink]:
    """A table that replaces `path` in the end; the columns in `numbers` are no text."""
    suffix = format_of(path, on_stream=on_stream)
    if suffix == ".parquet":
        with (
            replacing(path) as file,
            encodable(path),
            writing_parquet(file, header, numbers) as sink,
        ):
            yield sink
    elif suffix == ".jsonl":
        with replacing(path) as file:
            yield _JsonLines(file, header)
    else:
        with replacing_text(path) as text, encodable(path):
            yield TableWriter(text, DELIMITERS[suffix], header)


def json_line(record: dict[str, Any]) -> bytes:
    """The record on a line of UTF-8; escaped where it holds what UTF-8 cannot (lone surrogates)."""
    try:
        return (json.dumps(record, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(record) + "\n").encode()


@contextmanager
def encodable(path: PathLike) -> Iterator[None]:
    try:
        yield
    except UnicodeEncodeError as error:
        raise OutputError(
            f"Cannot write {path}: {error.object[error.start]!r} is half a character and not "
            "possible in UTF-8. Write JSONL, where it can be escaped."
        ) from None


class _JsonLines:
    def __init__(self, file: IO[bytes], header: Sequence[str]) -> None:
        self._file = file
        self._header = header

    def write(self, rows: Iterable[Sequence[Cell]]) -> None:
        for row in rows:
            self._file.write(json_line(dict(zip(self._header, row, strict=True))))
