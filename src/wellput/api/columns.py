"""`columns`: which columns of a table are read as parts of an evalset, which are ignored, and which
options would name the ignored ones."""

from __future__ import annotations

from dataclasses import replace

from wellput.api.inputs import Columns, check_files
from wellput.core.errors import InputError
from wellput.io.column_view import ColumnsResult, column_views
from wellput.io.evalset_columns import column_entries
from wellput.io.evalset_writer import write_evalset
from wellput.io.evalsets import RecordSource, open_evalset
from wellput.io.files import PathLike

OUTPUT_FIELDS = ("outputs", "samples")


def columns(
    file: PathLike,
    *,
    column: Columns = (),
    save: PathLike | None = None,
    path: PathLike | None = None,
) -> ColumnsResult:
    """Shows for each column of a file whether it would be read as references, outputs and so on. For
    columns that would be ignored, it guesses what they hold.

    Parameters
    ----------
    file
        A CSV, TSV, JSONL or Parquet file. The columns of a JSONL file are the keys of its first lines.
    column
        Columns that are named already, as for `score`.
    save
        Writes the items to an evalset (JSONL, CSV, TSV or Parquet), so that other functions need no
        `column`.
    path
        Writes the table to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.

    Returns
    -------
    ColumnsResult
        `columns`, each with `read_as`, `guess` and an `example`; `options` to copy.

    Raises
    ------
    InputError
        The file cannot be read, is not a table, or lacks a column that was named; or it has no outputs
        to save.

    Examples
    --------
    >>> import tempfile, wellput
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.csv")
    ...     _ = file.write_text("prompt,gold,gpt\\nSay a.,a,a b\\n")
    ...     wellput.columns(file).options
    '--column source=prompt --column references=gold --column outputs=gpt'
    """
    check_files([path, save], [file])
    source = open_evalset(file, column=column)
    if not isinstance(source, RecordSource):
        raise InputError(f"{file} is not a table: its format says what its parts are.")
    named_columns = tuple(column_entries(column))
    result = ColumnsResult(str(file), tuple(column_views(source.files[0])), named=named_columns)
    if save is not None:
        if not any((view.read_as or "").startswith(OUTPUT_FIELDS) for view in result.columns):
            advice = f" Perhaps: {result.options}" if result.options else ""
            raise InputError(
                f"{file}: no column is read as outputs, so there is nothing to save. Name the columns "
                f"with column=.{advice}"
            )
        write_evalset(source, save)
        result = replace(result, saved=str(save))
    if path is not None:
        result.save(path)
    return result
