"""`ColumnsResult`: how wellput reads each column of a table, and what the ignored columns may
contain."""

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
    """A column of a table: the field that it is read as (None if it is ignored), the field that it
    may contain (`guess`; None if it is read, or if no field is likely), and its first cell that is
    not empty."""

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
    """The path of the evalset that was written, if any."""
    named: tuple[tuple[str, str], ...] = ()
    """Pairs of a field and its column that the user gave."""

    @property
    def kind(self) -> FileKind:
        """What the file is: an evalset, judgments, or scores of another program."""
        return kind_of_columns(self.columns)

    @property
    def kind_sentence(self) -> str:
        """If the file is not an evalset, a sentence that says what it is and how to use it; else
        empty."""
        return kind_sentence(self.file, self.kind, [view.column for view in self.columns])

    @property
    def guesses(self) -> Mapping[str, str]:
        """The ignored columns for which a field is likely, each with this field."""
        return {view.column: view.guess for view in self.columns if view.guess is not None}

    @property
    def options(self) -> str:
        """The `--column` options that name the user's columns and the guessed ones; "" if nothing was
        guessed, or if the file is not an evalset."""
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
    user_fields = dict(file.own_columns.pairs)
    if user_fields:
        # Raises InputError for a named column that the file does not have.
        file.own_columns.header(header, file.file.name)
    # Cells of JSONL and Parquet can be None, lists and objects; those of other tables are text.
    has_json_values = file.suffix in (".jsonl", ".parquet")
    read_as = {
        column: user_fields.get(column, column)
        for column in header
        if column in user_fields or is_read(column, has_json_values=has_json_values)
    }
    if file.long_columns is not None:  # a table with a row for each output
        column_of = {user_fields.get(column, column): column for column in header}
        fields = file.long_columns.fields_in_words()
        read_as |= {column_of[field]: in_words for field, in_words in fields.items()}
    read_fields = {field.partition(".")[0] for field in read_as.values()}
    # Each of these three fields has one column: if it is read already, no other column is guessed.
    single_fields = read_fields & {"id", "document", "source"}
    guesses = guessed_columns(header, rows, [*read_as, *single_fields])
    views = [
        ColumnView(column, read_as.get(column), guesses.get(column), _example(column, rows))
        for column in header
    ]
    if kind_of_columns(views) != "judgments":
        return views
    judgment_fields = guessed_judgments(header)
    return [replace(view, read_as=None, guess=judgment_fields.get(view.column)) for view in views]


def kind_of_columns(views: Sequence[ColumnView]) -> FileKind:
    """What a file with these columns is; an evalset if any column of outputs is read."""
    if any((view.read_as or "").startswith(("outputs", "samples")) for view in views):
        return "evalset"
    guesses = {view.column: view.guess for view in views if view.guess is not None}
    return file_kind({view.column: view.example or "" for view in views}, guesses)


def kind_sentence(file: str, kind: FileKind, header: Sequence[str]) -> str:
    """If a file is not an evalset, a sentence that says what it is and how to use it; else empty.

    >>> kind_sentence("a.csv", "evalset", ["id"])
    ''
    """
    if kind == "judgments":
        fields = columns_to_name(header)
        options = " ".join(
            f"--column {shlex.quote(f'{field}={column}')}" for column, field in fields.items()
        )
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
    """Advice for the user: the names of the file's columns, and the guessed fields as a `column=`
    keyword to copy."""
    try:
        views = column_views(file)
    except InputError:
        return ""
    guesses = {view.column: view.guess for view in views if view.guess is not None}
    advice = f"The columns are {', '.join(view.column for view in views)}."
    if file.suffix == ".jsonl":
        advice = advice.replace("columns", "keys")
    header = [view.column for view in views]
    if sentence := kind_sentence(file.file.name, kind_of_columns(views), header):
        return f"{advice} {sentence}"
    if not guesses:
        return advice
    return f"{advice} Name those to read, perhaps: {column_keyword(guesses)}"


def _example(column: str, rows: list[dict[str, Any]]) -> str | None:
    """The first cell of the column that is not empty, on one line."""
    cells = (row.get(column) for row in rows)
    first = next((cell for cell in cells if cell is not None and cell != ""), None)
    return None if first is None else " ".join(str(first).split())
