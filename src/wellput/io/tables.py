"""Reads and writes tables of named columns as CSV, TSV, JSONL and Parquet; the suffix of the file's
name says which format it has (`io.files`).

Judgments, segment scores and evaluation sets are such tables, except evaluation sets in JSONL, which
are nested. CSV and TSV have a header and a row for each record. Columns are separated by commas,
semicolons or tabs; the header shows by which of them. TSV is CSV with tabs: a field that begins with
a double quote is quoted, as pandas and spreadsheets write it, so that a cell (such as a tree) may
have line breaks.

`without_formula` protects people who open CSV and TSV files in a spreadsheet. A text that the
spreadsheet would execute as a formula, such as `=HYPERLINK(…)` as the name of a judge, is written
with an apostrophe before it. wellput's readers remove the apostrophe.

A text is dangerous if it begins with `=`, `+`, `-`, `@`, a tab, a line break, or one of the wide
signs `＝＋－＠` (OWASP, "CSV injection"). Numbers are not dangerous and are written unchanged. A text
that has apostrophes before such a sign gets one more, so that reading gives back exactly what was
written.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import IO, Any, Protocol, TextIO, TypeAlias, TypeVar

from wellput.core.errors import InputError, OutputError, Problems, counted
from wellput.io.files import (
    TABLE_FORMATS,
    InputFile,
    PathLike,
    format_of,
    read_format_of,
)
from wellput.io.jsonl import read_json_lines
from wellput.io.output import STANDARD_OUTPUT, check_writable, replacing, replacing_text
from wellput.io.parquet import read_parquet, writing_parquet

_DANGEROUS_SIGN = r"[=+\-@\t\r\n＝＋－＠]"
_FORMULA = re.compile(_DANGEROUS_SIGN)
_FORMULA_AFTER_APOSTROPHES = re.compile(rf"'+{_DANGEROUS_SIGN}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)

AnyCell = TypeVar("AnyCell")


def without_formula(cell: AnyCell) -> AnyCell | str:
    """The cell as it is written: with an apostrophe before it if it is a text that a spreadsheet would
    execute.

    >>> without_formula("=1+1"), without_formula("-1.5"), without_formula("Ann"), without_formula(-2)
    ("'=1+1", '-1.5', 'Ann', -2)
    """
    if not isinstance(cell, str):
        return cell
    is_formula = _FORMULA.match(cell) and not _NUMBER.match(cell)
    return f"'{cell}" if is_formula or _FORMULA_AFTER_APOSTROPHES.match(cell) else cell


def with_formula(cell: str) -> str:
    """The inverse of `without_formula`.

    >>> with_formula("'=1+1"), with_formula("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell[:1] == "'" and _FORMULA_AFTER_APOSTROPHES.match(cell) else cell


TableCell: TypeAlias = str | float | None

DELIMITERS = {".csv": ",", ".tsv": "\t"}
MAX_FIELD_CHARACTERS = 1 << 27
"""The longest cell that can be read."""
OTHER_DELIMITERS = (";", "\t", ",")
"""Delimiters that a table may have instead of the usual one of its suffix."""
_QUOTED = re.compile('"[^"]*"')
_NUMBER_WITH_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?([eE][+-]?\d+)?\s*", re.ASCII)


def read_table(
    file: InputFile,
    delimiter: str,
    problems: Problems,
    *,
    is_number: Callable[[str], bool] | None = None,
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header, and for each row the number of its first line and its cells, as many as the header
    has.

    If the delimiter is a semicolon, columns for which `is_number` is true may have decimal commas (as
    spreadsheets in many countries write them); these become points.
    """
    csv.field_size_limit(MAX_FIELD_CHARACTERS)
    lines = file.lines()
    first = next(lines, "")
    delimiter = _delimiter_in(first, delimiter)
    reader = csv.reader(
        (line + "\n" for line in chain([first], lines)),
        delimiter=delimiter,
        strict=True,
        quotechar='"',
    )
    try:
        header = next(reader, [])
    except csv.Error as error:
        raise InputError(f"{file.name}, line 1: the header cannot be read: {error}.") from None
    repeated = [name for name, n in Counter(header).items() if n > 1]
    if repeated:
        raise InputError(f"{file.name}: the header names {', '.join(repeated)} twice.")
    if len(header) == 1 and any(mark in header[0] for mark in (*OTHER_DELIMITERS, "|")):
        raise InputError(
            f"{file.name}: the header is a single column, {header[0]!r:.80}. Save the table with "
            "commas, semicolons or tabs between the columns."
        )
    rows = _text_rows(reader, len(header), problems)
    if is_number is not None and delimiter == ";":
        return header, _with_decimal_points(header, rows, is_number)
    return header, rows


def _delimiter_in(header: str, usual: str) -> str:
    """The delimiter of a table, recognized by its first line: `usual` if the line has it, or if the
    line does not have exactly one other delimiter; otherwise that other delimiter."""
    unquoted = _QUOTED.sub("", header)
    delimiters = [mark for mark in OTHER_DELIMITERS if mark in unquoted]
    return delimiters[0] if usual not in delimiters and len(delimiters) == 1 else usual


def _with_decimal_points(
    header: Sequence[str], rows: Iterable[tuple[int, list[str]]], is_number: Callable[[str], bool]
) -> Iterator[tuple[int, list[str]]]:
    """The rows, with decimal points instead of decimal commas in columns for which `is_number` is true
    and in which all cells are numbers."""
    all_rows = list(rows)
    places = [
        place
        for place, name in enumerate(header)
        if is_number(name)
        and all(
            _NUMBER_WITH_COMMA.fullmatch(row[place]) for _, row in all_rows if row[place].strip()
        )
    ]
    for number, row in all_rows:
        for place in places:
            row[place] = row[place].replace(",", ".")
        yield number, row


def _text_rows(
    reader: Iterator[list[str]], width: int, problems: Problems
) -> Iterator[tuple[int, list[str]]]:
    """The rows with `width` cells, each with the number of its first line; other rows are
    problems."""
    while True:
        number = reader.line_num + 1  # type: ignore[attr-defined]
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.add(f"line {number}", f"{error}; quotes inside a quoted field are doubled")
            continue
        if len(row) == width:
            yield number, row
        elif row:
            problems.add(f"line {number}", f"{counted(len(row), 'cell')}; the header has {width}")


class TableWriter:
    """Writes rows below a header; None is an empty cell. With `mark_formulas`, a text that a
    spreadsheet would execute is written as `without_formula` gives it."""

    def __init__(
        self,
        file: TextIO,
        delimiter: str,
        header: Sequence[str],
        *,
        mark_formulas: bool = False,
    ) -> None:
        self._mark_formulas = mark_formulas
        self._plain_writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        # For rows with a carriage return: the plain writer does not quote it, and readers would take it
        # for the end of the row.
        self._quoting_writer = csv.writer(
            file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL
        )
        self.write([header])

    def write(self, rows: Iterable[Sequence[TableCell]]) -> None:
        if self._mark_formulas:
            rows = ([without_formula(cell) for cell in row] for row in rows)
        for row in rows:
            has_return = any(isinstance(cell, str) and "\r" in cell for cell in row)
            (self._quoting_writer if has_return else self._plain_writer).writerow(row)


NON_TEXT_SUFFIXES = (".json", ".xls", ".xlsx", ".ods", ".html", ".pdf", ".docx")
"""Suffixes of formats other than plain text."""


class RowSink(Protocol):
    """An open table to which rows are written."""

    def write(self, rows: Iterable[Sequence[TableCell]]) -> None:
        """Writes rows with a cell for each column; None is a missing value."""
        ...


def check_table(path: PathLike) -> None:
    """Raises an error if a table cannot be written: if the suffix is unknown, or the path cannot be
    written."""
    format_of(path, on_stream=".csv")
    check_writable(path)


def check_text(path: PathLike, *, allowed: Sequence[str] = ()) -> None:
    """Raises an error if lines of text cannot be written to the path, or if its suffix is that of
    another format and not in `allowed`."""
    suffix = InputFile(path).suffix if str(path) != STANDARD_OUTPUT else ""
    if suffix in (*TABLE_FORMATS, *NON_TEXT_SUFFIXES) and suffix not in allowed:
        raise InputError(
            f"{path}: sentences are written as plain text, to a file that ends in "
            f"{' or '.join(('.txt', *allowed))}."
        )
    check_writable(path)


def read_records(
    file: InputFile,
    problems: Problems,
    required: Sequence[str],
    *,
    on_stream: str = ".csv",
    advice: str | Callable[[Sequence[str]], str] = "",
    formulas_marked: bool = False,
    is_number: Callable[[str], bool] | None = None,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each row's number and its values by column; empty cells of CSV and TSV are empty texts.

    `formulas_marked`: the apostrophes that `writing_table` put before texts in CSV and TSV are removed.
    `is_number`: as for `read_table`. `on_stream` is the format of standard input.

    Raises InputError for a table without the required columns, with `advice` (a text, or a function
    that makes it from the header). A line of JSONL without them is added to `problems`.
    """
    suffix = read_format_of(file.path, on_stream=on_stream)
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
        header, rows = read_table(file, DELIMITERS[suffix], problems, is_number=is_number)
        if formulas_marked:
            header = [with_formula(name) for name in header]
            rows = ((number, [with_formula(cell) for cell in row]) for number, row in rows)
    if missing := [name for name in required if name not in header]:
        advice_text = advice if isinstance(advice, str) else advice(header)
        raise InputError(missing_columns(file.name, missing, required, header, advice_text))
    for number, row in rows:
        yield number, dict(zip(header, row, strict=True))


def missing_columns(
    name: str,
    missing: Sequence[str],
    required: Sequence[str],
    header: Sequence[str],
    advice: str = "",
) -> str:
    """The message for missing columns, with the columns that the table needs and those that it has."""
    columns = "column" if len(missing) == 1 else "columns"
    message = (
        f"{name} has no {columns} {', '.join(missing)}. It needs {', '.join(required)}, in any order; "
        f"it has {', '.join(header) or 'no columns'}."
    )
    return f"{message} {advice}" if advice else message


@contextmanager
def writing_table(
    path: PathLike,
    header: Sequence[str],
    *,
    numbers: Sequence[str] = (),
    on_stream: str = ".csv",
    mark_formulas: bool = False,
) -> Iterator[RowSink]:
    """A table that replaces `path` at the end; the columns in `numbers` hold numbers, not text.

    `mark_formulas`: in CSV and TSV, an apostrophe is put before a text that a spreadsheet would
    execute. This is for tables with texts by strangers, such as judges' names and answers.
    `on_stream` is the format of standard output.
    """
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
            table = TableWriter(text, DELIMITERS[suffix], header, mark_formulas=mark_formulas)
            yield table


def json_line(record: dict[str, Any]) -> bytes:
    """The record as a line of JSON in UTF-8; single surrogates, which UTF-8 cannot hold, are
    escaped."""
    try:
        return (json.dumps(record, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(record) + "\n").encode()


@contextmanager
def encodable(path: PathLike) -> Iterator[None]:
    """Turns the error for a text that UTF-8 cannot hold into an OutputError."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise OutputError(
            f"Cannot write {path}: {error.object[error.start]!r} is half a character, which UTF-8 "
            "cannot hold. Write JSONL, where it can be escaped."
        ) from None


class _JsonLines:
    def __init__(self, file: IO[bytes], header: Sequence[str]) -> None:
        self._file = file
        self._header = header

    def write(self, rows: Iterable[Sequence[TableCell]]) -> None:
        for row in rows:
            self._file.write(json_line(dict(zip(self._header, row, strict=True))))
