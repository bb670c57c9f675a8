"""Reads the items of JSONL block by block.

A block is `BLOCK_ITEMS` lines that are not blank; first the bytes of the file are divided into
blocks. If all lines of a block are plain (objects with only the commonest keys, see plain_line.h
in native/), C++ code turns them into columns; otherwise Python's JSON reads the block, which accepts
more and says what is wrong. A thread reads a few blocks ahead (`read_ahead`). This module is separate
from `io.jsonl` because it imports the C++ extension, which commands such as `wellput runs` do not
need.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, NamedTuple, TypeVar

from wellput import _native
from wellput.core.errors import Problems
from wellput.core.evalset import BLOCK_ITEMS, Item
from wellput.core.plain_block import PlainBlock
from wellput.io.evalset_columns import OwnColumns
from wellput.io.files import InputFile, whole_lines
from wellput.io.jsonl import json_values
from wellput.io.records import RecordReader

T = TypeVar("T")

NO_OWN_COLUMNS = OwnColumns()
WAIT_SECONDS = 0.1
"""After this time a waiting thread checks whether its values are still wanted."""


def read_ahead(values: Iterable[T], *, ahead: int = 2) -> Iterator[T]:
    """The same values, read by a thread that is at most `ahead` values in advance.

    If reading raises an error, this iterator raises it after the values that were read before. The
    thread ends if the iterator is closed early, also by an interruption.
    """
    ready: Queue[tuple[T] | BaseException | None] = Queue(ahead)
    is_closed = Event()

    def put(entry: tuple[T] | BaseException | None) -> bool:
        while not is_closed.is_set():
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
        is_closed.set()
        reader.join()


class ByteSpan(NamedTuple):
    """Consecutive whole lines of a file: their bytes from `start` up to but without `stop`, the
    numbers of their first line and first item (both from 1), and the number of items."""

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
    """Blocks of `BLOCK_ITEMS` items, of the whole file or of `span`, which consists of whole blocks."""
    start, line, item = (
        (0, 1, 1) if span is None else (span.start, span.first_line, span.first_item)
    )
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
    """The block of lines in `parts`. It begins at byte `start`, with the line number `line` and the
    item number `item`, and has `items` items."""
    data = b"".join(parts)
    return LineBlock(ByteSpan(start, start + len(data), line, item, items), data)


def read_item_lines(
    file: InputFile,
    problems: Problems,
    reader: RecordReader,
    span: ByteSpan | None = None,
    own_columns: OwnColumns = NO_OWN_COLUMNS,
) -> Iterator[Sequence[Item]]:
    """The items of each block. Bad lines are left out and added to `problems`."""
    # The thread reads, unpacks and divides into blocks without the GIL; decoding needs the GIL, so it
    # is done here.
    for block in read_ahead(line_blocks(file, span)):
        columns = None if own_columns else _native.plain_columns(block.data)
        if columns is not None:
            yield PlainBlock(*columns)
            continue
        records = numbered_records(file, block, problems)
        if own_columns:
            records = with_own_keys(records, own_columns, block.span.first_item)
        items = (reader.item(number, record) for number, record in records)
        yield [item for item in items if item is not None]


def numbered_records(
    file: InputFile, block: LineBlock, problems: Problems
) -> Iterator[tuple[int, Any]]:
    """Each line's number and value; lines that are not JSON are left out and added to `problems`."""
    try:
        lines = block.data.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        raise file.not_utf8() from None
    return json_values(enumerate(lines, start=block.span.first_line), problems)


def with_own_keys(
    records: Iterator[tuple[int, Any]], own_columns: OwnColumns, first_item: int
) -> Iterator[tuple[int, Any]]:
    """The records with wellput's keys instead of the user's keys (`OwnColumns`); records without an
    id get their number as id."""
    renamed = (
        (number, own_columns.record(record) if isinstance(record, dict) else record)
        for number, record in records
    )
    return numbered_items(renamed, first_item)


def numbered_items(
    records: Iterator[tuple[int, Any]], first_item: int
) -> Iterator[tuple[int, Any]]:
    """The records; records without an id get their number as id, counted from `first_item`."""
    for item, (number, record) in enumerate(records, start=first_item):
        if isinstance(record, dict):
            record.setdefault("id", item)
        yield number, record
