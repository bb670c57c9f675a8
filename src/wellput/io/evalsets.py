"""Evaluation sets in files: `open_evalset` streams them, `read_evalset` holds them in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from wellput.core.errors import InputError
from wellput.core.evalset import BLOCK, EvalSet, EvalSource, Item
from wellput.io.columns import Columns
from wellput.io.duplicates import SeenIds, repeated
from wellput.io.eval_logs import is_eval_log, read_eval_logs
from wellput.io.files import STANDARD_INPUT, InputFile, PathLike, check_readable
from wellput.io.jsonl import read_json_lines
from wellput.io.mt_metrics_eval import find_language_pair, open_language_pair
from wellput.io.parquet import read_parquet
from wellput.io.problems import Problems
from wellput.io.records import RecordReader
from wellput.io.tables import format_of
from wellput.io.tabular import DELIMITERS, read_table

Records = Callable[[InputFile, Problems], Iterator[tuple[int, Any]]]


def open_evalset(path: PathLike, *, trees: bool = True) -> EvalSource:
    """The items of a file, read block by block: JSONL, CSV, TSV or Parquet by its suffix, behind
    which `.gz` or `.xz` may stand; `-` is JSONL on standard input; a folder of mt-metrics-eval with
    the language pair behind it (`wmt21.news/zh-en`); a log of inspect_ai or promptfoo (`.json`), or a
    folder of inspect_ai's.

    `trees=False` leaves trees unparsed, for metrics that need none.
    """
    pair = find_language_pair(path)
    if pair is not None:
        return open_language_pair(pair)
    if str(path) != STANDARD_INPUT and is_eval_log(path):
        return read_eval_logs(path)
    file = InputFile(path)
    check_readable(file)
    suffix = format_of(path, on_stream=".jsonl")
    records = {".jsonl": read_json_lines, ".parquet": _read_parquet}.get(suffix, _read_table)
    unit = "row" if suffix == ".parquet" else "line"
    return RecordSource(file, records, unit=unit, trees=trees)


def read_evalset(path: PathLike, *, trees: bool = True) -> EvalSet:
    """The whole of an evaluation set in memory."""
    source = open_evalset(path, trees=trees)
    return EvalSet(item for block in source.blocks() for item in block)


def _read_table(file: InputFile, problems: Problems) -> Iterator[tuple[int, Any]]:
    header, rows = read_table(file, DELIMITERS[file.suffix], problems)
    columns = Columns(header, file.name, has_null=False)
    return ((number, columns.record(row)) for number, row in rows)


def _read_parquet(file: InputFile, problems: Problems) -> Iterator[tuple[int, Any]]:
    header, rows = read_parquet(file)
    columns = Columns(header, file.name, has_null=True)
    return ((number, columns.record(row)) for number, row in rows)


class RecordSource:
    """An `EvalSource` over a file of records."""

    def __init__(self, file: InputFile, records: Records, *, unit: str, trees: bool) -> None:
        self._file = file
        self._records = records
        self._unit = unit
        self._trees = trees
        self._ids_are_unique = False

    def blocks(self) -> Iterator[list[Item]]:
        """The items; raises InputError in the end for all bad records and repeated ids."""
        problems = Problems(self._file.name)
        reader = RecordReader(problems, unit=self._unit, parse_trees=self._trees)
        seen = SeenIds()
        block: list[Item] = []
        is_empty = True
        for number, record in self._records(self._file, problems):
            item = reader.item(number, record)
            if item is None:
                continue
            block.append(item)
            if len(block) == BLOCK:
                seen.add(item.id for item in block)
                is_empty = False
                if not problems:
                    yield block
                block = []
        if block:
            seen.add(item.id for item in block)
            is_empty = False
        if not self._ids_are_unique and (suspects := seen.suspects()):
            self._find_repeated(suspects, problems)
        problems.raise_if_any()
        if is_empty:
            raise InputError(f"{self._file.name} holds no items.")
        self._ids_are_unique = True
        if block:
            yield block

    def _find_repeated(self, suspects: frozenset[int], problems: Problems) -> None:
        """Reads the file again for the ids that occur more than once, to name their places."""
        again = Problems(self._file.name)
        reader = RecordReader(again, unit=self._unit, parse_trees=False)
        numbered = (
            (number, item.id)
            for number, record in self._records(self._file, again)
            if (item := reader.item(number, record)) is not None
        )
        for identifier, numbers in repeated(numbered, suspects).items():
            places = ", ".join(map(str, numbers))
            problems.add(
                f"{self._unit}s {places}", f"the id {identifier} is used {len(numbers)} times"
            )
