"""`RecordFile`: one file of an evaluation set, read as a whole or in partitions.

The suffix says the format: JSONL, CSV, TSV or Parquet. A `FilePartition` is a part of one file that
another process can read separately; it has whole blocks of items. A compressed file and a CSV file
are a single partition, because reading cannot start in the middle. A JSONL file at a URL is a single
partition, too, because counting its lines would fetch it twice.

The module `item_lines` reads the lines of JSONL.
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
"""A smaller JSONL file is a single partition, so that its lines need not be counted first."""


class RowSpan(NamedTuple):
    """Consecutive rows of a table: the number of their first item (from 1), and the number of items."""

    first_item: int
    items: int


Span = ByteSpan | RowSpan


class RecordFile:
    """One file of items. Without `trees`, trees in the file are not parsed. `own_columns` are the
    columns that the user named."""

    def __init__(
        self, file: InputFile, *, trees: bool = True, own_columns: OwnColumns = NO_OWN_COLUMNS
    ) -> None:
        self.file = file
        self.trees = trees
        self.own_columns = own_columns
        if not file.is_stdin:  # otherwise the property `suffix` recognizes the format
            self.suffix = read_format_of(file.path, on_stream=".jsonl")

    @cached_property
    def suffix(self) -> str:
        """`.jsonl`, `.csv`, `.tsv` or `.parquet`; for standard input, recognized by the first line."""
        return stream_format(self.file)

    @property
    def unit(self) -> str:
        return "row" if self.suffix == ".parquet" else "line"

    def blocks(self, problems: Problems, span: Span | None = None) -> Iterator[Sequence[Item]]:
        """The items in blocks of `BLOCK_ITEMS`. Bad items are left out, and what is wrong with them is
        added to `problems`. `span` is the part of the file to read; None is the whole file."""
        reader = RecordReader(
            problems, unit=self.unit, parse_trees=self.trees, are_named=self._are_named
        )
        if self.long_columns is not None:
            items = self._joined(problems, reader, self.long_columns)
            for start in range(0, len(items), BLOCK_ITEMS):
                yield items[start : start + BLOCK_ITEMS]
            return
        if self.suffix == ".jsonl":
            assert not isinstance(span, RowSpan)
            yield from read_item_lines(self.file, problems, reader, span, self.own_columns)
            return
        assert not isinstance(span, ByteSpan)
        checked = (reader.item(number, record) for number, record in self._records(problems, span))
        good_items = (item for item in checked if item is not None)
        while block := list(islice(good_items, BLOCK_ITEMS)):
            yield block

    @cached_property
    def long_columns(self) -> LongColumns | None:
        """The columns of a long table, which has a row for each answer; None for a table with a row for
        each item."""
        try:
            header, _ = first_rows(self, 1)
        except InputError:
            return None  # reading the file says what is wrong with it
        own_columns = self.own_columns
        return LongColumns.among(own_columns.targets(header), names_system=own_columns.names_system)

    def _records(self, problems: Problems, span: RowSpan | None) -> Iterator[tuple[int, Any]]:
        """The records of the items, each with its line or row; for a long table, the records of its
        answers."""
        own_columns, long = self.own_columns, self.long_columns
        if self.suffix == ".jsonl":
            lines = read_json_lines(self.file, problems)
            if long is not None:
                return self._answer_lines(lines, long, problems)
            return with_own_keys(lines, own_columns, first_item=1) if own_columns else lines
        from wellput.io.evalset_columns import EvalSetColumns

        header, rows = self._table(problems, span)
        named = own_columns.header(header, self.file.name) if own_columns else header
        columns = EvalSetColumns(
            named if long is None else long.header(named),
            self.file.name,
            has_json_values=self.suffix == ".parquet",
            are_named=self._are_named,
            advice=self.advice,
        )
        if long is not None:
            return self._answer_rows(named, columns, rows, long, problems)
        records = ((number, columns.record(row)) for number, row in rows)
        first = 1 if span is None else span.first_item
        # If the user named the columns, items may have no id.
        return numbered_items(records, first) if own_columns else records

    def _answer_rows(
        self,
        header: Sequence[str],
        columns: EvalSetColumns,
        rows: Iterator[tuple[int, list[Any]]],
        long: LongColumns,
        problems: Problems,
    ) -> Iterator[tuple[int, Any]]:
        """The records of the answers in a long table, each with its line or row."""
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
        """The records of the answers in lines of JSONL, each with its line."""
        for number, value in lines:
            if isinstance(value, dict):
                record = long.record(self.own_columns.record(value))
                yield from self._answer(
                    number, record, record.pop(long.system, None), long, problems
                )
            else:
                yield number, value

    def _answer(
        self,
        number: int,
        record: dict[str, Any],
        system: Any,
        long: LongColumns,
        problems: Problems,
    ) -> Iterator[tuple[int, Any]]:
        """The record of an answer, if nothing is wrong with it."""
        answer = long.answer(record, system)
        if isinstance(answer, str):
            problems.add(f"{self.unit} {number}", answer)
        else:
            yield number, answer

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
        """The header of a table, and its rows with their numbers."""
        if self.suffix == ".parquet":
            from wellput.io.parquet import read_parquet

            return read_parquet(self.file, span)
        from wellput.io.tables import DELIMITERS, read_table

        header, rows = read_table(self.file, DELIMITERS[self.suffix], problems)
        return header, ((number, list(row)) for number, row in rows)

    @property
    def _are_named(self) -> bool:
        """Whether columns were named, so that unknown columns are not reported as misspelled."""
        return bool(self.own_columns) or self.long_columns is not None

    def advice(self) -> str:
        """Advice if nothing can be read: the columns that the file has, and the fields that they
        probably contain."""
        from wellput.io.column_view import column_advice

        return column_advice(self)

    def placed_ids(self) -> Iterator[tuple[int, str]]:
        """Each item's line or row, and its id; reads the file again."""
        problems = Problems(self.file.name)
        reader = RecordReader(
            problems, unit=self.unit, parse_trees=False, are_named=self._are_named
        )
        if self.long_columns is not None:
            for joined in self._joined(problems, reader, self.long_columns):
                yield 0, joined.id  # an item of several rows has no single line
            return
        for number, record in self._records(problems, None):
            if (item := reader.item(number, record)) is not None:
                yield number, item.id

    def partitions(self) -> Iterator[FilePartition]:
        """The partitions of the file, in order; each is given as soon as its end is known."""
        if self.long_columns is not None:  # the rows of an item may be anywhere
            yield FilePartition(self.file.path, self.trees, None, self.own_columns)
        elif self.suffix == ".parquet":
            from wellput.io.parquet import count_rows

            size, n_rows = BLOCK_ITEMS * BLOCKS_PER_PARTITION, count_rows(self.file)
            for first in range(0, n_rows, size):
                span = RowSpan(first + 1, min(size, n_rows - first))
                yield FilePartition(self.file.path, self.trees, span, self.own_columns)
        elif self.suffix == ".jsonl" and self._is_worth_cutting():
            blocks = (block.span for block in line_blocks(self.file))
            while span_run := list(islice(blocks, BLOCKS_PER_PARTITION)):
                yield FilePartition(
                    self.file.path, self.trees, _joined_spans(span_run), self.own_columns
                )
        else:
            yield FilePartition(self.file.path, self.trees, None, self.own_columns)

    def _is_worth_cutting(self) -> bool:
        if is_url(self.file.path) or self.file.is_packed:
            return False
        return Path(self.file.path).stat().st_size > MIN_BYTES_TO_CUT


def _joined_spans(spans: Sequence[ByteSpan]) -> ByteSpan:
    """One span for consecutive spans."""
    items = sum(span.items for span in spans)
    return spans[0]._replace(stop=spans[-1].stop, items=items)


@dataclass(frozen=True)
class FilePartition:
    """Consecutive whole blocks of a file; the whole file if `span` is None. It can be sent to another
    process, which reads this part of the file itself. `trees` and `own_columns` are as for
    `RecordFile`."""

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
        """SHA-256 of what is read: of the partition's lines, or of the whole file if the partition is
        not a span of bytes; with the options of reading."""
        file = InputFile(self.path)
        user_pairs = self.own_columns.pairs
        digest = hashlib.sha256(repr((self.trees, self.span, *user_pairs)).encode())
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
    """The columns of a table (or the keys of JSONL), and the first `n` rows by column."""
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
        first_cells = [row for _, row in islice(cells, n)]
    else:
        header, texts = read_table(file.file, DELIMITERS[file.suffix], problems)
        first_cells = [list(row) for _, row in islice(texts, n)]
    return list(header), [dict(zip(header, row, strict=True)) for row in first_cells]
