"""The noun `RecordFile`: one file of an evaluation set, read whole or in partitions.

JSONL, CSV, TSV and Parquet, told apart by their suffixes. A `FilePartition` is a run of whole blocks of
one file, which another process can read by itself; a file that cannot be entered in the middle
(compressed, CSV) is one partition, and so is a file behind a URL: counting its lines would mean
fetching it twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from wellput.core.evalset import BLOCK, Item
from wellput.core.source import BLOCKS_A_PARTITION
from wellput.io.files import InputFile, format_of
from wellput.io.item_lines import ByteSpan, line_blocks, read_item_lines
from wellput.io.jsonl import read_json_lines
from wellput.io.object_stores import is_url
from wellput.io.problems import Problems
from wellput.io.records import RecordReader

WORTH_CUTTING = 1 << 24
"""Bytes of JSONL below which a file is one partition: its lines need not be counted first."""


class RowSpan(NamedTuple):
    """A run of rows of a table: the number of its first item (from 1), how many there are."""

    first_item: int
    items: int


Span = ByteSpan | RowSpan


class RecordFile:
    """One file of items."""

    def __init__(self, file: InputFile, *, trees: bool = True) -> None:
        self.file = file
        self.trees = trees
        self.suffix = format_of(file.path, on_stream=".jsonl")
        self.unit = "row" if self.suffix == ".parquet" else "line"

    def blocks(self, problems: Problems, span: Span | None = None) -> Iterator[Sequence[Item]]:
        """The items in blocks of `BLOCK`, but for bad ones, which go to `problems`."""
        reader = RecordReader(problems, unit=self.unit, parse_trees=self.trees)
        if self.suffix == ".jsonl":
            assert not isinstance(span, RowSpan)
            yield from read_item_lines(self.file, problems, reader, span)
            return
        assert not isinstance(span, ByteSpan)
        made = (reader.item(number, record) for number, record in self._records(problems, span))
        items = (item for item in made if item is not None)
        while block := list(islice(items, BLOCK)):
            yield block

    def _records(self, problems: Problems, span: RowSpan | None) -> Iterator[tuple[int, Any]]:
        header: Sequence[str]
        rows: Iterator[tuple[int, list[Any]]]
        if self.suffix == ".jsonl":
            return read_json_lines(self.file, problems)
        from wellput.io.columns import Columns

        if self.suffix == ".parquet":
            from wellput.io.parquet import read_parquet

            header, rows = read_parquet(self.file, span)
        else:
            from wellput.io.tabular import DELIMITERS, read_table

            header, rows = read_table(self.file, DELIMITERS[self.suffix], problems)
        columns = Columns(header, self.file.name, has_null=self.suffix == ".parquet")
        return ((number, columns.record(row)) for number, row in rows)

    def placed_ids(self) -> Iterator[tuple[int, str]]:
        """Each item's line or row, and its id; reads the file again."""
        problems = Problems(self.file.name)
        reader = RecordReader(problems, unit=self.unit, parse_trees=False)
        for number, record in self._records(problems, None):
            if (item := reader.item(number, record)) is not None:
                yield number, item.id

    def partitions(self) -> Iterator[FilePartition]:
        """The file in runs of whole blocks, in order, each as soon as its end is known."""
        if self.suffix == ".parquet":
            from wellput.io.parquet import count_rows

            size, rows = BLOCK * BLOCKS_A_PARTITION, count_rows(self.file)
            for first in range(0, rows, size):
                span = RowSpan(first + 1, min(size, rows - first))
                yield FilePartition(self.file.path, self.trees, span)
        elif self.suffix == ".jsonl" and self._is_worth_cutting():
            blocks = (block.span for block in line_blocks(self.file))
            while run := list(islice(blocks, BLOCKS_A_PARTITION)):
                yield FilePartition(self.file.path, self.trees, _joined(run))
        else:
            yield FilePartition(self.file.path, self.trees, None)

    def _is_worth_cutting(self) -> bool:
        if is_url(self.file.path) or self.file.is_packed:
            return False
        return Path(self.file.path).stat().st_size > WORTH_CUTTING


def _joined(run: Sequence[ByteSpan]) -> ByteSpan:
    items = sum(span.items for span in run)
    return run[0]._replace(stop=run[-1].stop, items=items)


@dataclass(frozen=True)
class FilePartition:
    """A run of whole blocks of a file; all of it where `span` is None. It can be sent to another
    process, which reads the file itself."""

    path: str
    trees: bool
    span: Span | None

    @property
    def name(self) -> str:
        if self.span is None:
            return self.path
        last = self.span.first_item + self.span.items - 1
        return f"{self.path}, items {self.span.first_item:,} to {last:,}"

    def blocks(self) -> Iterator[Sequence[Item]]:
        """The items; raises InputError in the end for all bad records."""
        problems = Problems(self.path)
        file = RecordFile(InputFile(self.path), trees=self.trees)
        for block in file.blocks(problems, self.span):
            if block and not problems:
                yield block
        problems.raise_if_any()

    def fingerprint(self) -> str:
        """SHA-256 of the bytes: of the lines, or of the whole file where it is no JSONL."""
        file = InputFile(self.path)
        digest = hashlib.sha256(repr((self.trees, self.span)).encode())
        if isinstance(self.span, ByteSpan):
            for chunk in file.bytes_between(self.span.start, self.span.stop):
                digest.update(chunk)
        else:
            for chunk in file.raw_chunks():
                digest.update(chunk)
        return digest.hexdigest()
