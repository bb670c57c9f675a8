"""Writing evaluation sets: as JSONL, or as CSV, TSV or Parquet with the columns of `evalset_columns`.

If a table cannot hold the data, an error is raised and the data are not changed: CSV and TSV cannot
hold missing outputs, empty references or empty samples, and no table can hold an empty list of
references for one system. If any output of a system has several samples, a table has all its outputs
in columns of samples.

This module is separate from `io.evalsets` because it imports `io.tables`, which is not needed for
scoring JSONL.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from wellput.core.errors import OutputError
from wellput.core.evalset import Item
from wellput.core.source import EvalSource
from wellput.core.tree import Tree
from wellput.io.files import PathLike, format_of
from wellput.io.output import replacing
from wellput.io.tables import TableCell, json_line, writing_table
from wellput.io.trees import format_tree


def write_evalset(source: EvalSource, path: PathLike) -> None:
    """Writes the items in the format of the suffix; `-` is JSONL on standard output.

    For a table the source is read three times: columns must be known before rows are written.
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
    """The systems that have an output with several samples."""
    return frozenset(
        system
        for block in source.blocks()
        for item in block
        for system, output in item.outputs.items()
        if isinstance(output, tuple)
    )


def _header(source: EvalSource, sampled: frozenset[str]) -> list[str]:
    """The columns that the items need, ordered by the keys of an item, then by first appearance."""
    names: dict[str, None] = {"id": None}
    for block in source.blocks():
        for item in block:
            names.update((name, None) for name, cell in _cells(item, sampled) if cell is not None)
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
    return sorted(names, key=lambda name: order.get(name.partition(".")[0], len(keys)))


def _cells(item: Item, sampled: frozenset[str]) -> Iterator[tuple[str, str | None]]:
    """The item's cells as pairs of a column and its text; `sampled` are systems with samples."""
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
    """The item's row; raises OutputError if the format cannot hold it. `has_null`: the format
    distinguishes a missing cell from an empty one."""
    cells = dict(_cells(item, sampled))
    row: list[TableCell] = [cells.get(name) for name in header]
    if not all(item.references_by_system.values()):
        raise _cannot_hold(path, item, "has an empty list of references for one system", "JSONL")
    if has_null:
        return row
    for name, cell in zip(header, row, strict=True):
        if cell is None and name.startswith("outputs."):
            system = name.removeprefix("outputs.")
            what = f"has no output of {system}, which would be read as an empty one"
            raise _cannot_hold(path, item, what, "JSONL or Parquet")
        if cell == "" and name.startswith(("references.", "references_by_system.")):
            raise _cannot_hold(path, item, "has an empty reference", "JSONL or Parquet")
        if cell == "" and name.startswith("samples."):
            raise _cannot_hold(path, item, "has an empty sample", "JSONL or Parquet")
    return row


def _cannot_hold(path: PathLike, item: Item, what: str, instead: str) -> OutputError:
    return OutputError(f"Cannot write {path}: item {item.id} {what}. Write {instead} instead.")
