"""Evaluation sets in files: `open_evalset` streams them, `read_evalset` holds them in memory,
`write_evalset` writes them as JSONL, or as CSV, TSV or Parquet with the columns of `evalset_columns`.

Data that a table cannot hold is refused, never changed: CSV and TSV cannot hold missing outputs, empty
references or empty samples, and no table can hold an empty list of references for one system. In a
table all outputs of a system that has samples are in columns of samples.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from wellput.core.errors import InputError, OutputError, Problems
from wellput.core.evalset import EvalSet, Item
from wellput.core.plain_block import ids_of
from wellput.core.source import EvalSource, Partition
from wellput.core.tree import Tree
from wellput.io.duplicates import SeenIds, repeated
from wellput.io.evalset_columns import Columns, OwnColumns
from wellput.io.files import (
    SHARD_SUFFIXES,
    STANDARD_INPUT,
    InputFile,
    PathLike,
    check_readable,
    format_of,
)
from wellput.io.locations import files_in, is_folder, is_pattern, is_url
from wellput.io.output import replacing
from wellput.io.readers import open_known_evalset
from wellput.io.record_files import RecordFile
from wellput.io.tables import TableCell, json_line, writing_table
from wellput.io.trees import format_tree


def open_evalset(path: PathLike, *, trees: bool = True, column: Columns = ()) -> EvalSource:
    """The items of a path, read block by block.

    The path is a file of JSONL, CSV, TSV or Parquet, by its suffix (`.gz` or `.xz` may follow), with a
    row for each item, or for each answer (`io.long_tables`); `-`, standard input, with JSONL, CSV or
    TSV; a folder of such files or a pattern (`shards/*.jsonl`); a folder of mt-metrics-eval and a
    language pair (`wmt21.news/zh-en`); a log of inspect_ai, promptfoo, DeepEval, ragas or
    lm-evaluation-harness, or a folder of logs; or a format that another package reads (`io.readers`).
    Files, folders and patterns may be URLs of PyArrow's filesystems (`s3://…`).

    `trees=False` does not parse trees, for metrics that need none. `column` names columns or keys of
    another layout: `["id=prompt_id", "source=prompt", "references=gold", "outputs=gpt"]`.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(
            "evalset: give an EvalSet (EvalSet.from_frame makes one) or a path, not "
            f"{type(path).__name__}."
        )
    name = str(path)
    own = OwnColumns.of(column)
    if (known := open_known_evalset(name)) is not None:
        if own:
            raise InputError(f"column= names columns of a table, and {name} is not one.")
        return known
    if name != STANDARD_INPUT and (is_pattern(name) or is_folder(name)):
        return _open_shards(files_in(name, SHARD_SUFFIXES), own, trees=trees)
    check_readable(InputFile(name))
    return _open_shards([name], own, trees=trees)


def _open_shards(names: Sequence[str], own: OwnColumns, *, trees: bool) -> RecordSource:
    files = [InputFile(name) for name in names]
    check_readable(*(file for file in files if not is_url(file.path)))  # a URL costs a request
    return RecordSource([RecordFile(file, trees=trees, own_columns=own) for file in files])


def read_evalset(path: PathLike, *, trees: bool = True, column: Columns = ()) -> EvalSet:
    """A whole evaluation set in memory; see `open_evalset`."""
    source = open_evalset(path, trees=trees, column=column)
    return EvalSet(item for block in source.blocks() for item in block)


class RecordSource(EvalSource):
    """The items of files of records, one file after another. Every file begins a new block."""

    def __init__(self, files: Sequence[RecordFile]) -> None:
        self.files = files
        self._ids_are_unique = False
        self.are_ids_checked_by_partition = self._is_read_here

    def blocks(self) -> Iterator[Sequence[Item]]:
        """The items. At the end of a file, raises InputError for all bad records and repeated ids."""
        seen = SeenIds()
        for file in self.files:
            problems = Problems(file.file.name)
            for block in file.blocks(problems):
                seen.add(ids_of(block))
                if block and not problems:
                    yield block
            if file is self.files[-1]:
                self._add_repeated(
                    frozenset() if self._ids_are_unique else seen.suspects(), problems
                )
            problems.raise_if_any()
        if not seen.total:
            raise InputError(f"{self.files[0].file.name} holds no items.")

    @property
    def advice(self) -> str:
        return self.files[0].advice()

    @property
    def _is_read_here(self) -> bool:
        """Whether only this process can read it, as with standard input."""
        return any(file.file.is_read_once for file in self.files)

    def partitions(self, *, threads: int = 1) -> Iterator[Partition]:
        if self._is_read_here:
            return super().partitions(threads=threads)
        return (partition for file in self.files for partition in file.partitions())

    def refuse_repeated(self, repeated_hashes: frozenset[int]) -> None:
        """Raises InputError with the places of the ids that are used more than once."""
        problems = Problems(", ".join(file.file.name for file in self.files[:3]))
        self._add_repeated(repeated_hashes, problems)
        problems.raise_if_any()

    def _add_repeated(self, suspects: frozenset[int], problems: Problems) -> None:
        """Reads the files again for the ids that occur more than once, to name their places."""
        if not suspects:
            self._ids_are_unique = True
            return
        unit = self.files[0].unit
        one = len(self.files) == 1
        placed = (
            (str(number) if one else f"{number} of {file.file.name}", identifier)
            for file in self.files
            for number, identifier in file.placed_ids()
        )
        found = repeated(placed, suspects)
        for identifier, places in found.items():
            problems.add(
                f"{unit}s {', '.join(places)}", f"the id {identifier} is used {len(places)} times"
            )


def write_evalset(source: EvalSource, path: PathLike) -> None:
    """Writes the items in the format of the suffix; `-` is JSONL on standard output.

    A table needs its columns before its rows, so the source is then read twice.
    """
    suffix = format_of(path, on_stream=".jsonl")
    if suffix == ".jsonl":
        with replacing(path) as file:
            for block in source.blocks():
                file.writelines(json_line(_record(item)) for item in block)
        return
    sampled = _sampled_systems(source)
    header = _header(source, sampled)
    with writing_table(path, header) as sink:
        for block in source.blocks():
            sink.write(
                _row(item, header, path, sampled, has_null=suffix == ".parquet") for item in block
            )


def _record(item: Item) -> dict[str, Any]:
    """The item as a JSON object, without keys for missing data."""
    record = {
        "id": item.id,
        "source": item.source,
        "context": item.context,
        "references": list(item.references) or None,
        "trees": [_tree(tree) for tree in item.trees] or None,
        "outputs": dict(item.outputs) or None,
        "references_by_system": dict(item.references_by_system) or None,
        "trees_by_system": {
            system: [_tree(tree) for tree in trees]
            for system, trees in item.trees_by_system.items()
        }
        or None,
        "derivation": item.derivation,
        "document": item.document,
        "tags": dict(item.tags) or None,
    }
    return {key: value for key, value in record.items() if value is not None}


def _tree(tree: Tree | None) -> str | None:
    return None if tree is None else format_tree(tree).removesuffix("\n")


def _sampled_systems(source: EvalSource) -> frozenset[str]:
    """The systems that have several samples of an output."""
    return frozenset(
        system
        for block in source.blocks()
        for item in block
        for system, output in item.outputs.items()
        if isinstance(output, tuple)
    )


def _header(source: EvalSource, sampled: frozenset[str]) -> list[str]:
    """The columns that the items need, in the order of the keys and of the systems."""
    found: dict[str, None] = {"id": None}
    for block in source.blocks():
        for item in block:
            found.update((name, None) for name, cell in _cells(item, sampled) if cell is not None)
    keys = (
        "id",
        "document",
        "tags",
        "source",
        "context",
        "references",
        "trees",
        "outputs",
        "samples",
    )
    order = {key: place for place, key in enumerate(keys)}
    return sorted(found, key=lambda name: order.get(name.partition(".")[0], len(keys)))


def _cells(item: Item, sampled: frozenset[str]) -> Iterator[tuple[str, str | None]]:
    yield "id", item.id
    yield "document", item.document
    yield from ((f"tags.{tag}", value) for tag, value in item.tags.items())
    yield "source", item.source
    yield "context", item.context
    yield from ((f"references.{i}", text) for i, text in enumerate(item.references))
    yield from ((f"trees.{i}", _tree(tree)) for i, tree in enumerate(item.trees))
    for system, output in item.outputs.items():
        if isinstance(output, tuple):
            yield from ((f"samples.{system}.{i}", text) for i, text in enumerate(output))
        else:
            name = f"samples.{system}.0" if system in sampled else f"outputs.{system}"
            yield name, output if isinstance(output, str) else json.dumps(output)
    for system, references in item.references_by_system.items():
        yield from (
            (f"references_by_system.{system}.{i}", text) for i, text in enumerate(references)
        )
    for system, trees in item.trees_by_system.items():
        yield from ((f"trees_by_system.{system}.{i}", _tree(tree)) for i, tree in enumerate(trees))
    yield "derivation", None if item.derivation is None else json.dumps(item.derivation)


def _row(
    item: Item, header: list[str], path: PathLike, sampled: frozenset[str], *, has_null: bool
) -> list[TableCell]:
    cells = dict(_cells(item, sampled))
    row: list[TableCell] = [cells.get(name) for name in header]
    if not all(item.references_by_system.values()):
        raise _impossible(path, item, "has an empty list of references for one system", "JSONL")
    if has_null:
        return row
    for name, cell in zip(header, row, strict=True):
        if cell is None and name.startswith("outputs."):
            system = name.removeprefix("outputs.")
            what = f"has no output of {system}, which would be read as an empty one"
            raise _impossible(path, item, what, "JSONL or Parquet")
        if cell == "" and name.startswith(("references.", "references_by_system.")):
            raise _impossible(path, item, "has an empty reference", "JSONL or Parquet")
        if cell == "" and name.startswith("samples."):
            raise _impossible(path, item, "has an empty sample", "JSONL or Parquet")
    return row


def _impossible(path: PathLike, item: Item, what: str, instead: str) -> OutputError:
    return OutputError(f"Cannot write {path}: item {item.id} {what}. Write {instead} instead.")
