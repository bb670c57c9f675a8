"""Evaluation sets in files: `open_evalset` streams them, `read_evalset` holds them in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from wellput.core.errors import InputError, Problems
from wellput.core.evalset import EvalSet, Item
from wellput.core.plain_block import ids_of
from wellput.core.source import EvalSource, Partition
from wellput.io.duplicates import SeenIds, repeated
from wellput.io.evalset_columns import Columns, OwnColumns
from wellput.io.files import SHARD_SUFFIXES, STANDARD_INPUT, InputFile, PathLike, check_readable
from wellput.io.locations import files_in, is_folder, is_pattern, is_url
from wellput.io.readers import open_known_evalset
from wellput.io.record_files import RecordFile


def open_evalset(path: PathLike, *, trees: bool = True, column: Columns = ()) -> EvalSource:
    """The items of a path, read block by block.

    The path is a file of JSONL, CSV, TSV or Parquet, by its suffix (`.gz` or `.xz` may follow), with a
    row for each item, or for each answer (`core.long_tables`); `-`, standard input, with JSONL, CSV or
    TSV; a folder of such files or a pattern (`shards/*.jsonl`); a folder of mt-metrics-eval followed by
    a language pair (`wmt21.news/zh-en`); a log of inspect_ai, promptfoo, DeepEval, ragas or
    lm-evaluation-harness, or a folder of logs; or a format that another package reads (`io.readers`).
    Files, folders and patterns may be URLs of PyArrow's filesystems (`s3://…`).

    `trees=False` does not parse trees, for metrics that need none. If columns or keys have other names,
    `column` says which is which: `["id=prompt_id", "source=prompt", "references=gold", "outputs=gpt"]`.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(
            "evalset: give an EvalSet (EvalSet.from_frame makes one) or a path, not "
            f"{type(path).__name__}."
        )
    name = str(path)
    own_columns = OwnColumns.of(column)
    if (known := open_known_evalset(name)) is not None:
        if own_columns:
            raise InputError(f"column= names columns of a table, and {name} is not one.")
        return known
    if name != STANDARD_INPUT and (is_pattern(name) or is_folder(name)):
        return _open_shards(files_in(name, SHARD_SUFFIXES), own_columns, trees=trees)
    check_readable(InputFile(name))
    return _open_shards([name], own_columns, trees=trees)


def _open_shards(names: Sequence[str], own_columns: OwnColumns, *, trees: bool) -> RecordSource:
    """The items of these files. Without `trees`, trees in the files are not parsed."""
    files = [InputFile(name) for name in names]
    check_readable(*(file for file in files if not is_url(file.path)))  # no requests for URLs
    return RecordSource([RecordFile(file, trees=trees, own_columns=own_columns) for file in files])


def read_evalset(path: PathLike, *, trees: bool = True, column: Columns = ()) -> EvalSet:
    """A whole evaluation set in memory; see `open_evalset`."""
    source = open_evalset(path, trees=trees, column=column)
    return EvalSet(item for block in source.blocks() for item in block)


class RecordSource(EvalSource):
    """The items of files of records, one file after another. Every file begins a new block."""

    def __init__(self, files: Sequence[RecordFile]) -> None:
        self.files = files
        self._ids_are_unique = False
        # If a file can be read only once, the partitions come from `blocks`, which checks the ids.
        self.are_ids_checked_by_partition = self._has_read_once_file

    def blocks(self) -> Iterator[Sequence[Item]]:
        """The items. At the end of a file, raises InputError for all its bad records; at the end of the
        last file, also for repeated ids."""
        seen_ids = SeenIds()
        for file in self.files:
            problems = Problems(file.file.name)
            for block in file.blocks(problems):
                seen_ids.add(ids_of(block))
                if block and not problems:
                    yield block
            if file is self.files[-1]:
                self._add_repeated(
                    frozenset() if self._ids_are_unique else seen_ids.repeated_hashes(), problems
                )
            problems.raise_if_any()
        if not seen_ids.total:
            raise InputError(f"{self.files[0].file.name} holds no items.")

    @property
    def advice(self) -> str:
        return self.files[0].advice()

    @property
    def input_paths(self) -> tuple[str, ...]:
        """The files, which no output may replace."""
        return tuple(file.file.path for file in self.files)

    @property
    def _has_read_once_file(self) -> bool:
        """Whether a file can be read only once, and only by this process: standard input, or a pipe."""
        return any(file.file.is_read_once for file in self.files)

    def partitions(self, *, threads: int = 1) -> Iterator[Partition]:
        if self._has_read_once_file:
            return super().partitions(threads=threads)
        return (partition for file in self.files for partition in file.partitions())

    def refuse_repeated(self, repeated_hashes: frozenset[int]) -> None:
        """Raises InputError with the places of the ids that are used more than once."""
        problems = Problems(", ".join(file.file.name for file in self.files[:3]))
        self._add_repeated(repeated_hashes, problems)
        problems.raise_if_any()

    def _add_repeated(self, repeated_hashes: frozenset[int], problems: Problems) -> None:
        """Adds a problem for each id that occurs more than once, with its places; to find them, it
        reads the files again. `repeated_hashes` are the hashes that occur more than once."""
        if not repeated_hashes:
            self._ids_are_unique = True
            return
        unit = self.files[0].unit
        is_one_file = len(self.files) == 1
        placed = (
            (str(number) if is_one_file else f"{number} of {file.file.name}", identifier)
            for file in self.files
            for number, identifier in file.placed_ids()
        )
        for identifier, places in repeated(placed, repeated_hashes).items():
            problems.add(
                f"{unit}s {', '.join(places)}", f"the id {identifier} is used {len(places)} times"
            )
