"""Tables in Parquet, read and written by PyArrow, which is imported only when needed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import IO, Any

from wellput.core.errors import InputError, MissingExtra
from wellput.core.evalset import BLOCK_ITEMS
from wellput.io.compression import MAX_UNPACKED_TIMES, max_unpacked_bytes, too_much_unpacked
from wellput.io.files import InputFile
from wellput.io.locations import is_connection_lost, unreadable


def read_parquet(
    file: InputFile, span: tuple[int, int] | None = None
) -> tuple[list[str], Iterator[tuple[int, list[Any]]]]:
    """The column names, and each row's number (from 1) with its values; null is None. `span` is the
    number of the first row to read, and the number of rows; None is all rows."""
    with opened_parquet(file) as table:
        return list(table.schema_arrow.names), _parquet_rows(file, span)


def count_rows(file: InputFile) -> int:
    with opened_parquet(file) as table:
        return int(table.metadata.num_rows)


def _parquet_rows(file: InputFile, span: tuple[int, int] | None) -> Iterator[tuple[int, list[Any]]]:
    """The rows of a span (first row, number of rows), each with its number from 1; all rows without a
    span."""
    with opened_parquet(file) as table:
        first, rows = (1, table.metadata.num_rows) if span is None else span
        groups, number = _groups_with(table.metadata, first, rows)
        _check_unpacked_size(table.metadata, groups, file)
        maximum = max_unpacked_bytes()
        for batch in table.iter_batches(BLOCK_ITEMS, row_groups=groups):
            if batch.nbytes > maximum:
                raise too_much_unpacked(file.name, batch.nbytes, maximum)
            skipped = min(max(0, first - number), len(batch))
            wanted_rows = batch.slice(skipped, max(0, first + rows - number - skipped))
            number += skipped
            for row in zip(*map(_column_values, wanted_rows.columns), strict=True):
                yield number, list(row)
                number += 1
            if number >= first + rows:
                return


def _groups_with(metadata: Any, first: int, rows: int) -> tuple[list[int], int]:
    """The row groups that contain the `rows` rows from row `first` on, and the number of the first
    row in these groups."""
    groups: list[int] = []
    group_start, start = 1, 1
    for group in range(metadata.num_row_groups):
        next_start = group_start + metadata.row_group(group).num_rows
        if group_start < first + rows and next_start > first:
            start = start if groups else group_start
            groups.append(group)
        group_start = next_start
    return groups, start


def _check_unpacked_size(metadata: Any, groups: Sequence[int], file: InputFile) -> None:
    """Raises InputError for a row group that, by its metadata, is too large when unpacked. A large
    file of many groups is allowed, because it is read in parts."""
    maximum = max_unpacked_bytes()
    # Not by the metadata of the columns: damaged ones end the process, not only the call.
    sizes = [metadata.row_group(group).total_byte_size for group in groups]
    if max(sizes, default=0) <= maximum:
        return
    with file.seekable() as stream:
        packed_bytes = stream.seek(0, os.SEEK_END)
    if max(sizes) > max(maximum, MAX_UNPACKED_TIMES * packed_bytes):
        raise too_much_unpacked(file.name, max(sizes), maximum)


@contextmanager
def opened_parquet(file: InputFile) -> Iterator[Any]:
    """The open Parquet file; errors of PyArrow become InputErrors."""
    pyarrow, parquet = import_pyarrow()
    try:
        with file.seekable() as stream, parquet.ParquetFile(stream) as table:
            yield table
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and is_connection_lost(error):
            raise unreadable(file.path, error) from None
        raise InputError(f"{file.name} is damaged, or not a Parquet file: {error}") from None


def _column_values(column: Any) -> list[Any]:
    """The values of a column as Python objects, a map as a dict."""
    values: list[Any] = column.to_pylist()
    if str(column.type).startswith("map<"):
        return [None if pairs is None else dict(pairs) for pairs in values]
    return values


class ParquetWriter:
    """Writes rows to a Parquet file; the columns in `numbers` are numbers, the others text."""

    def __init__(self, file: IO[bytes], header: Sequence[str], numbers: Sequence[str]) -> None:
        self._pyarrow, parquet = import_pyarrow()
        types = {True: self._pyarrow.float64(), False: self._pyarrow.string()}
        self._schema = self._pyarrow.schema([(name, types[name in numbers]) for name in header])
        self._writer = parquet.ParquetWriter(file, self._schema)

    def write(self, rows: Iterable[Sequence[object]]) -> None:
        iterator = iter(rows)
        while block := list(islice(iterator, 16 * BLOCK_ITEMS)):
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
    """A writer of rows that is closed when the block ends."""
    writer = ParquetWriter(file, header, numbers)
    try:
        yield writer
        writer.close()
    except BaseException:
        # An open writer would try to write again when Python deletes it.
        with suppress(Exception):
            writer.close()
        raise


def import_pyarrow(what: str = "Parquet") -> tuple[Any, Any]:
    """`pyarrow` and `pyarrow.parquet`; raises MissingExtra, which says what needs them."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(what, "parquet") from None
    return pyarrow, pyarrow.parquet
