"""`ColumnsResult`: what is read of each column of a table, and what the ignored ones may hold."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from wellput.core.errors import InputError
from wellput.core.result import Result
from wellput.io.column_guesses import (
    FIELD_ORDER,
    ROWS_LOOKED_AT,
    FileKind,
    column_keyword,
    file_kind,
    guessed_columns,
)
from wellput.io.evalset_columns import is_read
from wellput.io.judgment_columns import columns_to_name, guessed_judgments
from wellput.io.record_files import first_rows

if TYPE_CHECKING:
    from wellput.io.record_files import RecordFile


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A column of a table: what it is read as (None if it is ignored), what it may hold (None if it is
    read, or if nothing is known), and its first cell that is not empty."""

    column: str
    read_as: str | None
    guess: str | None
    example: str | None


@dataclass(frozen=True, repr=False)
class ColumnsResult(Result):
    """The columns of a file, in their order."""

    presented_by: ClassVar[str] = "wellput.reporting.columns:columns_report"

    file: str
    columns: tuple[ColumnView, ...]
    saved: str | None = None
    """The evalset that was written."""
    named: tuple[tuple[str, str], ...] = ()
    """Fields and columns that were named already."""

    @property
    def kind(self) -> FileKind:
        """What the file is: an evalset, judgments, or scores made elsewhere."""
        return kind_of_columns(self.columns)

    @property
    def kind_sentence(self) -> str:
        """If the file is not an evalset: what it is, and how to use it; else empty."""
        return kind_sentence(self.file, self.kind, [view.column for view in self.columns])

    @property
    def guesses(self) -> Mapping[str, str]:
        """The field that each ignored column probably holds, where one is likely."""
        return {view.column: view.guess for view in self.columns if view.guess is not None}

    @property
    def options(self) -> str:
        """The mapping that was given, with the likeliest one of the ignored columns, as options of a
        command; "" if there is no likely one, or if the file is no evalset."""
        if self.kind != "evalset" or not self.guesses:
            return ""
        guessed = [(field, column) for column, field in self.guesses.items()]
        guessed.sort(key=lambda guess: FIELD_ORDER.index(guess[0]))
        return " ".join(
            f"--column {shlex.quote(f'{field}={column}')}"
            for field, column in (*self.named, *guessed)
        )

    def records(self) -> list[dict[str, Any]]:
        """A record for each column."""
        return [asdict(view) for view in self.columns]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput columns`."""
        return {
            "file": self.file,
            "kind": self.kind,
            "columns": self.records(),
            "options": self.options,
            "saved": self.saved,
        }


def column_views(file: RecordFile) -> list[ColumnView]:
    """The columns of a table, or the keys of the first lines of JSONL, in their order."""
    header, rows = first_rows(file, ROWS_LOOKED_AT)
    own = dict(file.own_columns.pairs)
    if own:
        file.own_columns.header(header, file.file.name)
    is_table = file.suffix != ".jsonl"
    read = {
        column: own.get(column, column)
        for column in header
        if column in own or is_read(column, has_null=not is_table or file.suffix == ".parquet")
    }
    if file.long is not None:
        named = {own.get(column, column): column for column in header}
        read |= {named[field]: what for field, what in file.long.read_as().items()}
    taken = {field.partition(".")[0] for field in read.values()}
    guesses = guessed_columns(header, rows, [*read, *(taken & {"id", "document", "source"})])
    views = [
        ColumnView(column, read.get(column), guesses.get(column), _example(column, rows))
        for column in header
    ]
    if kind_of_columns(views) != "judgments":
        return views
    of_judgments = guessed_judgments(header)
    return [replace(view, read_as=None, guess=of_judgments.get(view.column)) for view in views]


def kind_of_columns(views: Sequence[ColumnView]) -> FileKind:
    """What the file of these columns is; an evalset if any column of texts is read."""
    if any((view.read_as or "").startswith(("outputs", "samples")) for view in views):
        return "evalset"
    guesses = {view.column: view.guess for view in views if view.guess is not None}
    return file_kind({view.column: view.example or "" for view in views}, guesses)


def kind_sentence(file: str, kind: FileKind, header: Sequence[str]) -> str:
    """If a file is not an evalset: what it is, and how to use it.

    >>> kind_sentence("a.csv", "evalset", ["id"])
    ''
    """
    if kind == "judgments":
        guesses = columns_to_name(header)
        options = " ".join(f"--column {shlex.quote(f'{f}={c}')}" for c, f in guesses.items())
        named = f", with {options}." if options else "."
        needed = (
            ""
            if options
            else " Its columns must be named judge, item, system, question, value; or judge, item, "
            "system_a, system_b, question, choice."
        )
        return (
            f"{file} looks like a file of judgments, not of outputs: give it as JUDGMENTS, such as to "
            f"`wellput rank`{named}{needed}"
        )
    if kind == "scores":
        path = file if "/" in file or "\\" in file else f"./{file}"
        return (
            f"{file} looks like a file of scores, not of outputs: give it as a metric, "
            f"`-m {shlex.quote(path)}`, beside the evalset. It needs a column of systems (system or "
            "model), one of items (item, id or prompt_id), and score or a column for each metric; or "
            "item, and a column for each system."
        )
    return ""


def column_advice(file: RecordFile) -> str:
    """The columns that were found, and the likeliest mapping, as a keyword to copy."""
    try:
        views = column_views(file)
    except InputError:
        return ""
    guesses = {view.column: view.guess for view in views if view.guess is not None}
    found = f"The columns are {', '.join(view.column for view in views)}."
    if file.suffix == ".jsonl":
        found = found.replace("columns", "keys")
    header = [view.column for view in views]
    if sentence := kind_sentence(file.file.name, kind_of_columns(views), header):
        return f"{found} {sentence}"
    if not guesses:
        return found
    return f"{found} Name those to read, perhaps: {column_keyword(guesses)}"


def _example(column: str, rows: list[dict[str, Any]]) -> str | None:
    cells = (row.get(column) for row in rows)
    first = next((cell for cell in cells if cell is not None and cell != ""), None)
    return None if first is None else " ".join(str(first).split())
