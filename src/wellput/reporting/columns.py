"""The table of `wellput columns`: how the columns of a user's file are read as parts of an evalset."""

from __future__ import annotations

import shlex

from wellput.io.column_view import ColumnsResult
from wellput.reporting.table import Report, Table

MAX_EXAMPLE_CHARACTERS = 40


def columns_report(result: ColumnsResult) -> Report:
    """A row for each column of the file, with an example; the notes say how to go on."""
    rows = [
        [
            view.column,
            view.read_as or "",
            "" if view.guess is None else f"{view.guess}?",
            _short(view.example or ""),
        ]
        for view in result.columns
    ]
    ignored = [view.column for view in result.columns if view.read_as is None]
    notes = [f"Ignored: {', '.join(ignored)}."] if ignored else []
    if result.saved is not None:
        notes.append(f"Written: {result.saved}. Other commands read it without --column.")
    elif result.kind_sentence:  # the file is not an evalset
        notes.append(result.kind_sentence)
    elif result.options:
        notes += [
            "To read them as guessed:",
            f"  wellput score {shlex.quote(result.file)} -m chrf {result.options}",
            "`wellput columns` with the same options and --save EVALSET.jsonl writes an evalset, which "
            "other commands read without them.",
        ]
    table = Table(
        columns=["column", "read as", "probably", "example"],
        rows=rows,
        notes=notes,
        caption=f"Columns of {result.file}",
        name="columns",
    )
    return Report(
        [table], result.values(), ("column", "read_as", "guess", "example"), result.records()
    )


def _short(text: str) -> str:
    return text if len(text) <= MAX_EXAMPLE_CHARACTERS else f"{text[: MAX_EXAMPLE_CHARACTERS - 1]}…"
