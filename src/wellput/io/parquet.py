"""Parquet through PyArrow, which is imported only here and only when needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import IO, Any

from wellput.core.errors import InputError, MissingExtra
from wellput.core.evalset import BLOCK
from wellput.io.files import InputFile
from wellput.io.object_stores import is_lost, unreadable
from wellput.io.tabular import Cell


def read_parquet(
    file: InputFile, span: tuple[int, int] | None = None
) -> tuple[list[str], Iterator[tuple[int, list[Any]]]]:
    """The column names, and each row's number from 1 with its values; null is None. `span` is the
    number of the first row wanted, and how many are."""
    with opened_parquet(file) as table:
        return list(table.schema_arrow.names), _rows(file, span)


def count_rows(file: InputFile) -> int:
    with opened_parquet(file) as table:
        return int(table.metadata.num_rows)


def _rows(file: InputFile, span: tuple[int, int] | None) -> Iterator[tuple[int, list[Any]]]:
    with opened_parquet(file) as table:
        first, rows = (1, table.metadata.num_rows) if span is None else span
        groups, number = _groups_with(table.metadata, first, rows)
        for batch in table.iter_batches(BLOCK, row_groups=groups):
            skipped = min(max(0, first - number), len(batch))
            wanted = batch.slice(skipped, max(0, first + rows - number - skipped))
            number += skipped
            for row in zip(*map(_values, wanted.columns), strict=True):
                yield number, list(row)
                number += 1
            if number >= first + rows:
                return


def _groups_with(metadata: Any, first: int, rows: int) -> tuple[list[int], int]:
    """The row groups that hold some of the rows, and the number of the first row in them."""
    groups: list[int] = []
    before, start = 1, 1
    for group in range(metadata.num_row_groups):
        after = before + metadata.row_group(group).num_rows
        if before < first + rows and after > first:
            start = start if groups else before
            groups.append(group)
        before = after
    return groups, start


@contextmanager
def opened_parquet(file: InputFile) -> Iterator[Any]:
    pyarrow, parquet = import_pyarrow()
    try:
        with file.seekable() as stream, parquet.ParquetFile(stream) as table:
            yield table
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and is_lost(error):
            raise unreadable(file.path, error) from None
        raise InputError(f"{file.name} is not a Parquet file, or damaged: {error}") from None


def _values(column: Any) -> list[Any]:
    """A column's values as Python has them, a map as a dict."""
    values: list[Any] = column.to_pylist()
    if str(column.type).startswith("map<"):
        return [None if pairs is None else dict(pairs) for pairs in values]
    return values


class ParquetWriter:
    """Writes rows of text, and of numbers in the columns named so."""

    def __init__(self, file: IO[bytes], header: Sequence[str], numbers: Sequence[str]) -> None:
        self._pyarrow, parquet = import_pyarrow()
        types = {True: self._pyarrow.float64(), False: self._pyarrow.string()}
        self._schema = self._pyarrow.schema([(name, types[name in numbers]) for name in header])
        self._writer = parquet.ParquetWriter(file, self._schema)

    def write(self, rows: Iterable[Sequence[Cell]]) -> None:
        iterator = iter(rows)
        while block := list(islice(iterator, 16 * BLOCK)):
            columns = zip(*block, strict=True)
            arrays = [
                self._pyarrow.array(column, field.type)
                for column, field in zip(columns, self._schema, strict=True)
            ]
            self._writer.write_table(self._pyarrow.Table.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


@contextmanager
def writing_parquet(
    file: IO[bytes], header: Sequence[str], numbers: Sequence[str]
) -> Iterator[ParquetWriter]:
    writer = ParquetWriter(file, header, numbers)
    try:
        yield writer
        writer.close()
    except BaseException:
        # Left open, it would try to write once more when it is collected.
        with suppress(Exception):
            writer.close()
        raise


def import_pyarrow(what: str = "Parquet") -> tuple[Any, Any]:
    """`pyarrow` and `pyarrow.parquet`; raises MissingExtra, which says what they are needed for."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(what, "parquet") from None
    return pyarrow, pyarrow.parquet
