"""Evaluation sets in JSONL, a block of items at a time.

Blocks are cut from the bytes first: `BLOCK` lines that are not blank. Lines that are plain (see
native/evalset_lines.cpp) then become columns without Python's JSON; a block with any other line is
read by Python, which accepts more and says what is wrong. The next bytes are read meanwhile.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from wellput import _native
from wellput.core.evalset import BLOCK, Item
from wellput.core.plain_block import PlainBlock
from wellput.io.files import InputFile, whole_lines
from wellput.io.jsonl import json_values
from wellput.io.problems import Problems
from wellput.io.read_ahead import read_ahead
from wellput.io.records import RecordReader


class ByteSpan(NamedTuple):
    """A run of whole lines of a file: its bytes, the number of its first line and of its first item
    (both from 1), and how many items there are."""

    start: int
    stop: int
    first_line: int
    first_item: int
    items: int


class LineBlock(NamedTuple):
    """The lines of one block, as they are in the file."""

    span: ByteSpan
    data: bytes


def line_blocks(file: InputFile, span: ByteSpan | None = None) -> Iterator[LineBlock]:
    """The lines in blocks of `BLOCK` items; `span`, which ends at a block's end, of a part alone."""
    start, line, item = (0, 1, 1) if span is None else (span[0], span.first_line, span.first_item)
    parts: list[bytes] = []
    items = lines = 0
    chunks = file.chunks() if span is None else file.bytes_between(span.start, span.stop)
    for piece in whole_lines(chunks):
        place = 0
        if start == 0 and not parts and piece.startswith(codecs.BOM_UTF8):
            start = place = len(codecs.BOM_UTF8)
        while place < len(piece):
            end, more_items, more_lines = _native.item_lines(piece, place, BLOCK - items)
            parts.append(piece[place:end])
            items, lines, place = items + more_items, lines + more_lines, end
            if items == BLOCK:
                block = _block(parts, start, line, item, items)
                yield block
                start, line, item = block.span.stop, line + lines, item + items
                parts, items, lines = [], 0, 0
    if parts:
        yield _block(parts, start, line, item, items)


def _block(parts: Sequence[bytes], start: int, line: int, item: int, items: int) -> LineBlock:
    data = b"".join(parts)
    return LineBlock(ByteSpan(start, start + len(data), line, item, items), data)


def read_item_lines(
    file: InputFile, problems: Problems, reader: RecordReader, span: ByteSpan | None = None
) -> Iterator[Sequence[Item]]:
    """The items of each block. Lines that are wrong go to `problems` and are left out."""
    # Reading, unpacking and cutting need no GIL; decoding does, and would only fight for it.
    for block in read_ahead(line_blocks(file, span)):
        columns = _native.plain_columns(block.data)
        if columns is not None:
            yield PlainBlock(*columns)
            continue
        records = numbered_records(file, block, problems)
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
