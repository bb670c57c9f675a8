"""`RecordFile`: one file of an evaluation set, read whole or in partitions.

The suffix tells the format: JSONL, CSV, TSV or Parquet. A `FilePartition` is a run of whole blocks of
one file, which another process can read separately. A compressed file and a CSV file are one
partition, because reading cannot start in the middle; so is a file at a URL, because counting its lines
would fetch it twice.

A block of JSONL is `BLOCK_ITEMS` lines that are not blank, cut from the bytes first. If all its lines
are plain (see evalset_lines.cpp in native/), they become columns without Python's JSON; otherwise
Python reads the block, which accepts more and says what is wrong. A thread reads a few blocks ahead
(`read_ahead`).
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from wellput import _native
from wellput.core.errors import InputError, Problems
from wellput.core.evalset import BLOCK_ITEMS, Item
from wellput.core.joined_answers import AnswerRow, joined_answers
from wellput.core.plain_block import PlainBlock
from wellput.core.source import BLOCKS_PER_PARTITION
from wellput.io.evalset_columns import OwnColumns
from wellput.io.files import InputFile, format_of, whole_lines
from wellput.io.jsonl import json_values, read_json_lines
from wellput.io.locations import is_url
from wellput.io.long_tables import SAMPLE, LongColumns, sample_number
from wellput.io.records import RecordReader

if TYPE_CHECKING:
    from wellput.io.evalset_columns import EvalSetColumns

T = TypeVar("T")

NO_OWN_COLUMNS = OwnColumns()
WAIT_SECONDS = 0.1
"""After this time a waiting thread checks whether its values are still wanted."""


def read_ahead(values: Iterable[T], *, ahead: int = 2) -> Iterator[T]:
    """The same values, read by a thread that is at most `ahead` values in advance.

    An error of the reading is raised here, at its place. Leaving the iterator early, also by an
    interruption, ends the thread.
    """
    ready: Queue[tuple[T] | BaseException | None] = Queue(ahead)
    is_left = Event()

    def put(entry: tuple[T] | BaseException | None) -> bool:
        while not is_left.is_set():
            try:
                ready.put(entry, timeout=WAIT_SECONDS)
                return True
            except Full:
                continue
        return False

    def read() -> None:
        try:
            for value in values:
                if not put((value,)):
                    return
            put(None)
        except BaseException as error:  # to be raised where the values are used
            put(error)

    reader = Thread(target=read, name="read ahead", daemon=True)
    reader.start()
    try:
        while True:
            try:
                # Without a timeout the wait could not be interrupted.
                entry = ready.get(timeout=WAIT_SECONDS)
            except Empty:
                continue
            if entry is None:
                return
            if isinstance(entry, BaseException):
                raise entry
            yield entry[0]
    finally:
        is_left.set()
        reader.join()


class ByteSpan(NamedTuple):
    """A run of whole lines of a file: its bytes, the numbers of its first line and first item (both
    from 1), and its number of items."""

    start: int
    stop: int
    first_line: int
    first_item: int
    items: int


class LineBlock(NamedTuple):
    """The bytes of the lines of one block."""

    span: ByteSpan
    data: bytes


def line_blocks(file: InputFile, span: ByteSpan | None = None) -> Iterator[LineBlock]:
    """Blocks of `BLOCK_ITEMS` lines of the whole file, or of `span`, which ends with a block."""
    start, line, item = (0, 1, 1) if span is None else (span[0], span.first_line, span.first_item)
    parts: list[bytes] = []
    items = lines = 0
    chunks = file.chunks() if span is None else file.bytes_between(span.start, span.stop)
    for piece in whole_lines(chunks, file.name):
        place = 0
        if start == 0 and not parts and piece.startswith(codecs.BOM_UTF8):
            start = place = len(codecs.BOM_UTF8)
        while place < len(piece):
            end, more_items, more_lines = _native.item_lines(piece, place, BLOCK_ITEMS - items)
            parts.append(piece[place:end])
            items, lines, place = items + more_items, lines + more_lines, end
            if items == BLOCK_ITEMS:
                block = _line_block(parts, start, line, item, items)
                yield block
                start, line, item = block.span.stop, line + lines, item + items
                parts, items, lines = [], 0, 0
    if parts:
        yield _line_block(parts, start, line, item, items)


def _line_block(parts: Sequence[bytes], start: int, line: int, item: int, items: int) -> LineBlock:
    data = b"".join(parts)
    return LineBlock(ByteSpan(start, start + len(data), line, item, items), data)


def read_item_lines(
    file: InputFile,
    problems: Problems,
    reader: RecordReader,
    span: ByteSpan | None = None,
    own_columns: OwnColumns = NO_OWN_COLUMNS,
) -> Iterator[Sequence[Item]]:
    """The items of each block. Lines that are wrong go to `problems` and are left out."""
    # Reading, unpacking and cutting run without the GIL; decoding needs it, so it stays here.
    for block in read_ahead(line_blocks(file, span)):
        columns = None if own_columns else _native.plain_columns(block.data)
        if columns is not None:
            yield PlainBlock(*columns)
            continue
        records = numbered_records(file, block, problems)
        if own_columns:
            records = _with_own_keys(records, own_columns, block.span.first_item)
        items = (reader.item(number, record) for number, record in records)
        yield [item for item in items if item is not None]


def numbered_records(
    file: InputFile, block: LineBlock, problems: Problems
) -> Iterator[tuple[int, Any]]:
    """Each line's number and value; lines that are not JSON go to `problems`."""
    try:
        lines = block.data.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        raise file.not_utf8() from None
    return json_values(enumerate(lines, start=block.span.first_line), problems)


def _with_own_keys(
    records: Iterator[tuple[int, Any]], own_columns: OwnColumns, first_item: int
) -> Iterator[tuple[int, Any]]:
    renamed = (
        (number, own_columns.record(record) if isinstance(record, dict) else record)
        for number, record in records
    )
    return _numbered_items(renamed, first_item)


def _numbered_items(
    records: Iterator[tuple[int, Any]], first_item: int
) -> Iterator[tuple[int, Any]]:
    """The records; those without an id get their number, counted from 1."""
    for item, (number, record) in enumerate(records, start=first_item):
        if isinstance(record, dict):
            record.setdefault("id", item)
        yield number, record


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
            self.suffix = format_of(file.path, on_stream=".jsonl")

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
            return _with_own_keys(lines, own, first_item=1) if own else lines
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
        return _numbered_items(records, first) if own else records

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
            from wellput.io.tables import read_parquet

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
            from wellput.io.tables import count_rows

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
    table with tabs or commas."""
    try:
        head = next(file.chunks(), b"").removeprefix(codecs.BOM_UTF8).lstrip()
    except InputError:
        return ".jsonl"  # reading it says what is wrong with it
    line = head.partition(b"\n")[0]
    if line.startswith((b"{", b"[")):
        return ".jsonl"
    return ".tsv" if b"\t" in line else ".csv" if b"," in line else ".jsonl"


def first_rows(file: RecordFile, n: int) -> tuple[list[str], list[dict[str, Any]]]:
    """The columns of a table, or the keys of JSONL, and the first rows."""
    problems = Problems(file.file.name)
    if file.suffix == ".jsonl":
        lines = islice(read_json_lines(file.file, problems), n)
        rows = [record for _, record in lines if isinstance(record, dict)]
        return list(dict.fromkeys(key for row in rows for key in row)), rows
    from wellput.io.tables import DELIMITERS, read_parquet, read_table

    header: list[str]
    if file.suffix == ".parquet":
        header, cells = read_parquet(file.file)
        found = [row for _, row in islice(cells, n)]
    else:
        header, texts = read_table(file.file, DELIMITERS[file.suffix], problems)
        found = [list(row) for _, row in islice(texts, n)]
    return list(header), [dict(zip(header, row, strict=True)) for row in found]
