"""CSV and TSV: a header, then a row a record.

TSV is CSV with tabs: a field that begins with a double quote is quoted as in CSV, as pandas and
spreadsheets write it, so that texts with line breaks (trees) fit into a cell.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO, TypeAlias

from wellput.core.errors import InputError
from wellput.io.files import InputFile
from wellput.io.problems import Problems

Cell: TypeAlias = str | float | None

DELIMITERS = {".csv": ",", ".tsv": "\t"}
LONGEST_FIELD = 1 << 27
OTHERS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
"""What a table is separated by when it is not by what its name says."""


def read_table(
    file: InputFile, delimiter: str, problems: Problems
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header, and each row's first line number with its cells, as many as the header has."""
    csv.field_size_limit(LONGEST_FIELD)
    reader = csv.reader(
        (line + "\n" for line in file.lines()), delimiter=delimiter, strict=True, quotechar='"'
    )
    try:
        header = next(reader, [])
    except csv.Error as error:
        raise InputError(f"{file.name}, line 1: the header cannot be read: {error}.") from None
    twice = [name for name in dict.fromkeys(header) if header.count(name) > 1]
    if twice:
        raise InputError(f"{file.name}: the header names {', '.join(twice)} twice.")
    if len(header) == 1 and (other := next((mark for mark in OTHERS if mark in header[0]), None)):
        raise InputError(
            f"{file.name}: the header is a single column; it seems to be separated by {OTHERS[other]}. "
            "Save it with commas (.csv) or tabs (.tsv)."
        )
    return header, _rows(reader, len(header), problems)


def _rows(
    reader: Iterator[list[str]], width: int, problems: Problems
) -> Iterator[tuple[int, list[str]]]:
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
            cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
            problems.add(f"line {number}", f"{cells}; the header has {width}")


class TableWriter:
    """Writes rows below a header; None is an empty cell."""

    def __init__(self, file: TextIO, delimiter: str, header: Sequence[str]) -> None:
        self._plain = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        # Quotes all cells: the plain writer leaves a carriage return bare, which readers take for
        # the end of the row.
        self._careful = csv.writer(
            file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL
        )
        self.write([header])

    def write(self, rows: Iterable[Sequence[Cell]]) -> None:
        for row in rows:
            has_return = any(isinstance(cell, str) and "\r" in cell for cell in row)
            (self._careful if has_return else self._plain).writerow(row)
