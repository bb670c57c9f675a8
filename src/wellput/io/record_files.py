"""`RecordFile`: one file of an evaluation set, read whole or in partitions.

The suffix tells the format: JSONL, CSV, TSV or Parquet. A `FilePartition` is a run of whole blocks of
one file, which another process can read separately. A compressed file and a CSV file are one
partition, because reading cannot start in the middle; so is a file at a URL, because counting its lines
would fetch it twice.

`item_lines` reads the lines of JSONL.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wellput.core.errors import InputError, Problems
from wellput.core.evalset import BLOCK_ITEMS, Item
from wellput.core.long_tables import SAMPLE, AnswerRow, LongColumns, joined_answers, sample_number
from wellput.core.source import BLOCKS_PER_PARTITION
from wellput.io.evalset_columns import OwnColumns
from wellput.io.files import InputFile, read_format_of
from wellput.io.item_lines import (
    NO_OWN_COLUMNS,
    ByteSpan,
    line_blocks,
    numbered_items,
    read_item_lines,
    with_own_keys,
)
from wellput.io.jsonl import read_json_lines
from wellput.io.locations import is_url
from wellput.io.records import RecordReader

if TYPE_CHECKING:
    from wellput.io.evalset_columns import EvalSetColumns

MIN_BYTES_TO_CUT = 1 << 24
"""A smaller JSONL file is one partition, so that its lines need not be counted first."""


class RowSpan(NamedTuple):
    """A run of rows of a table: the number of its first item (from 1), and its number of items."""

    first_item: int
    items: int


Span = ByteSpan | RowSpan


class RecordFile:
    """One file of items."""

    def __init__(
        self, file: InputFile, *, trees: bool = True, own_columns: OwnColumns = NO_OWN_COLUMNS
    ) -> None:
        self.file = file
        self.trees = trees
        self.own_columns = own_columns
        if not file.is_stdin:
            self.suffix = read_format_of(file.path, on_stream=".jsonl")

    @cached_property
    def suffix(self) -> str:
        """`.jsonl`, `.csv`, `.tsv` or `.parquet`; that of standard input is seen in its first line."""
        return stream_format(self.file)

    @property
    def unit(self) -> str:
        return "row" if self.suffix == ".parquet" else "line"

    def blocks(self, problems: Problems, span: Span | None = None) -> Iterator[Sequence[Item]]:
        """The items in blocks of `BLOCK_ITEMS`; bad ones go to `problems` and are left out."""
        reader = RecordReader(
            problems, unit=self.unit, parse_trees=self.trees, are_named=self._are_named
        )
        if self.long is not None:
            items = self._joined(problems, reader, self.long)
            for start in range(0, len(items), BLOCK_ITEMS):
                yield items[start : start + BLOCK_ITEMS]
            return
        if self.suffix == ".jsonl":
            assert not isinstance(span, RowSpan)
            yield from read_item_lines(self.file, problems, reader, span, self.own_columns)
            return
        assert not isinstance(span, ByteSpan)
        made = (reader.item(number, record) for number, record in self._records(problems, span))
        good = (item for item in made if item is not None)
        while block := list(islice(good, BLOCK_ITEMS)):
            yield block

    @cached_property
    def long(self) -> LongColumns | None:
        """The columns of a table with a row for each answer; None for one with a row for each item."""
        try:
            header, _ = first_rows(self, 1)
        except InputError:
            return None  # reading the file says what is wrong with it
        own = self.own_columns
        return LongColumns.among(own.targets(header), names_system=own.names_system)

    def _records(self, problems: Problems, span: RowSpan | None) -> Iterator[tuple[int, Any]]:
        """The records of items; of a long table, those of its answers."""
        own, long = self.own_columns, self.long
        if self.suffix == ".jsonl":
            lines = read_json_lines(self.file, problems)
            if long is not None:
                return self._answer_lines(lines, long, problems)
            return with_own_keys(lines, own, first_item=1) if own else lines
        from wellput.io.evalset_columns import EvalSetColumns

        header, rows = self._table(problems, span)
        named = own.header(header, self.file.name) if own else header
        columns = EvalSetColumns(
            named if long is None else long.header(named),
            self.file.name,
            has_null=self.suffix == ".parquet",
            are_named=self._are_named,
            advice=self.advice,
        )
        if long is not None:
            return self._answer_rows(named, columns, rows, long, problems)
        records = ((number, columns.record(row)) for number, row in rows)
        first = 1 if span is None else span.first_item
        return numbered_items(records, first) if own else records

    def _answer_rows(
        self,
        header: Sequence[str],
        columns: EvalSetColumns,
        rows: Iterator[tuple[int, list[Any]]],
        long: LongColumns,
        problems: Problems,
    ) -> Iterator[tuple[int, Any]]:
        system = header.index(long.system)
        sample = header.index(SAMPLE) if SAMPLE in header else None
        for number, row in rows:
            record = columns.record(row)
            if sample is not None:
                record[SAMPLE] = row[sample]
            yield from self._answer(number, record, row[system], long, problems)

    def _answer_lines(
        self, lines: Iterator[tuple[int, Any]], long: LongColumns, problems: Problems
    ) -> Iterator[tuple[int, Any]]:
        for number, given in lines:
            if isinstance(given, dict):
                record = long.record(self.own_columns.record(given))
                yield from self._answer(
                    number, record, record.pop(long.system, None), long, problems
                )
            else:
                yield number, given

    def _answer(
        self,
        number: int,
        record: dict[str, Any],
        system: Any,
        long: LongColumns,
        problems: Problems,
    ) -> Iterator[tuple[int, Any]]:
        found = long.answer(record, system)
        if isinstance(found, str):
            problems.add(f"{self.unit} {number}", found)
        else:
            yield number, found

    def _joined(self, problems: Problems, reader: RecordReader, long: LongColumns) -> list[Item]:
        """The items of a long table."""
        rows = (
            AnswerRow(f"{self.unit} {number}", item, sample_number(record.get(SAMPLE)))
            for number, record in self._records(problems, None)
            if (item := reader.item(number, record)) is not None
        )
        return joined_answers(rows, problems, by_source=long.id is None)

    def _table(
        self, problems: Problems, span: RowSpan | None
    ) -> tuple[Sequence[str], Iterator[tuple[int, list[Any]]]]:
        if self.suffix == ".parquet":
            from wellput.io.parquet import read_parquet

            return read_parquet(self.file, span)
        from wellput.io.tables import DELIMITERS, read_table

        header, rows = read_table(self.file, DELIMITERS[self.suffix], problems)
        return header, ((number, list(row)) for number, row in rows)

    @property
    def _are_named(self) -> bool:
        """Whether unknown columns are the user's own, not misspelled ones."""
        return bool(self.own_columns) or self.long is not None

    def advice(self) -> str:
        """What to do if nothing can be read: the columns that were found, and the likeliest mapping."""
        from wellput.io.column_view import column_advice

        return column_advice(self)

    def placed_ids(self) -> Iterator[tuple[int, str]]:
        """Each item's line or row, and its id; reads the file again."""
        problems = Problems(self.file.name)
        reader = RecordReader(
            problems, unit=self.unit, parse_trees=False, are_named=self._are_named
        )
        if self.long is not None:
            for joined in self._joined(problems, reader, self.long):
                yield 0, joined.id
            return
        for number, record in self._records(problems, None):
            if (item := reader.item(number, record)) is not None:
                yield number, item.id

    def partitions(self) -> Iterator[FilePartition]:
        """The file in runs of whole blocks, in order; each comes as soon as its end is known."""
        if self.long is not None:  # the rows of an item may be anywhere
            yield FilePartition(self.file.path, self.trees, None, self.own_columns)
        elif self.suffix == ".parquet":
            from wellput.io.parquet import count_rows

            size, rows = BLOCK_ITEMS * BLOCKS_PER_PARTITION, count_rows(self.file)
            for first in range(0, rows, size):
                span = RowSpan(first + 1, min(size, rows - first))
                yield FilePartition(self.file.path, self.trees, span, self.own_columns)
        elif self.suffix == ".jsonl" and self._is_worth_cutting():
            blocks = (block.span for block in line_blocks(self.file))
            while run := list(islice(blocks, BLOCKS_PER_PARTITION)):
                yield FilePartition(
                    self.file.path, self.trees, _joined_spans(run), self.own_columns
                )
        else:
            yield FilePartition(self.file.path, self.trees, None, self.own_columns)

    def _is_worth_cutting(self) -> bool:
        if is_url(self.file.path) or self.file.is_packed:
            return False
        return Path(self.file.path).stat().st_size > MIN_BYTES_TO_CUT


def _joined_spans(run: Sequence[ByteSpan]) -> ByteSpan:
    items = sum(span.items for span in run)
    return run[0]._replace(stop=run[-1].stop, items=items)


@dataclass(frozen=True)
class FilePartition:
    """A run of whole blocks of a file; the whole file if `span` is None. It can be sent to another
    process, which reads the file itself."""

    path: str
    trees: bool
    span: Span | None
    own_columns: OwnColumns = NO_OWN_COLUMNS

    @property
    def name(self) -> str:
        if self.span is None:
            return self.path
        last = self.span.first_item + self.span.items - 1
        return f"{self.path}, items {self.span.first_item:,} to {last:,}"

    def blocks(self) -> Iterator[Sequence[Item]]:
        """The items. At the end, raises InputError for all bad records."""
        problems = Problems(self.path)
        file = RecordFile(InputFile(self.path), trees=self.trees, own_columns=self.own_columns)
        for block in file.blocks(problems, self.span):
            if block and not problems:
                yield block
        problems.raise_if_any()

    def fingerprint(self) -> str:
        """SHA-256 of the bytes of its lines, or of the whole file if it is not cut by bytes."""
        file = InputFile(self.path)
        own = self.own_columns.pairs
        digest = hashlib.sha256(repr((self.trees, self.span, *own)).encode())
        if isinstance(self.span, ByteSpan):
            for chunk in file.bytes_between(self.span.start, self.span.stop):
                digest.update(chunk)
        else:
            for chunk in file.raw_chunks():
                digest.update(chunk)
        return digest.hexdigest()


def stream_format(file: InputFile) -> str:
    """The format of records on standard input: JSONL, unless the first line looks like the header of a
    table with tabs, commas or semicolons."""
    try:
        head = next(file.chunks(), b"").removeprefix(codecs.BOM_UTF8).lstrip()
    except InputError:
        return ".jsonl"  # reading it says what is wrong with it
    line = head.partition(b"\n")[0]
    if line.startswith((b"{", b"[")):
        return ".jsonl"
    return ".tsv" if b"\t" in line else ".csv" if b"," in line or b";" in line else ".jsonl"


def first_rows(file: RecordFile, n: int) -> tuple[list[str], list[dict[str, Any]]]:
    """The columns of a table, or the keys of JSONL, and the first rows."""
    problems = Problems(file.file.name)
    if file.suffix == ".jsonl":
        lines = islice(read_json_lines(file.file, problems), n)
        rows = [record for _, record in lines if isinstance(record, dict)]
        return list(dict.fromkeys(key for row in rows for key in row)), rows
    from wellput.io.parquet import read_parquet
    from wellput.io.tables import DELIMITERS, read_table

    header: list[str]
    if file.suffix == ".parquet":
        header, cells = read_parquet(file.file)
        found = [row for _, row in islice(cells, n)]
    else:
        header, texts = read_table(file.file, DELIMITERS[file.suffix], problems)
        found = [list(row) for _, row in islice(texts, n)]
    return list(header), [dict(zip(header, row, strict=True)) for row in found]
