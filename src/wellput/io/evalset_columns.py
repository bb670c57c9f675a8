"""The columns of an evaluation set in a table: the keys of JSONL, with dots for nested keys.

    id, source, context, references.0, references.1, trees.0, outputs.A, outputs.B,
    references_by_system.A.0, trees_by_system.A.0, derivation, document, tags.domain,
    samples.A.0, samples.A.1

One column `references` stands for `references.0`. A system's name may contain dots. CSV and TSV
cannot distinguish a missing text from an empty one. An empty cell is an empty output, so that a
system that says nothing is scored; in the other columns it is a missing reference, tree, source,
context, sample, document or tag. In Parquet, null is missing; nested columns (`references` as a list,
`outputs` as a struct or map) are read too. A derivation is a cell of JSON; in a row with a derivation,
an output may be a JSON object too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from wellput.core.errors import InputError
from wellput.io.records import BY_SYSTEM, KNOWN_KEYS, intended_key

NESTED_KEYS = ("references", "trees", "outputs", "tags", *BY_SYSTEM)
SAMPLES = "samples"
"""The numbered samples of a system; in a record they are a list among the outputs."""
Put = Callable[[dict[str, Any], Any], None]


class Numbered(dict[int, Any]):
    """The cells of numbered columns: `references.0` and `references.1` of a row."""


class EvalSetColumns:
    """The meaning of each column of a header."""

    def __init__(
        self,
        header: Sequence[str],
        name: str,
        *,
        has_null: bool,
        are_named: bool = False,
        advice: Callable[[], str] = str,
    ) -> None:
        """`has_null`: cells may be None, lists and objects, as in Parquet; else they are text.
        `are_named`: the user named columns, so the others are not misspelled, and items without an id
        are numbered. `advice` says what to do about a wrong header."""
        self._has_null = has_null
        self._is_output = [column.startswith("outputs.") for column in header]
        self._puts = [
            None
            if column == "references" and not has_null and "references.0" in header
            else _put(column, has_null)
            for column in header
        ]
        wrong = [
            f"column {column}: did you mean {meant}?"
            for column, put in zip(header, self._puts, strict=True)
            if put is None and (meant := _intended(column)) and meant not in header
            if not are_named
        ]
        wrong += [
            f"{system} has a column outputs.{system} and columns samples.{system}.0, …; keep one kind"
            for system in dict.fromkeys(
                column.removeprefix(f"{SAMPLES}.").rpartition(".")[0]
                for column in header
                if column.startswith(f"{SAMPLES}.")
            )
            if f"outputs.{system}" in header
        ]
        if "id" not in header and not are_named:
            wrong.append("no column id; every item needs one")
        if wrong:
            raise InputError.collect(f"{name}: the header is wrong:", wrong, advice())

    def record(self, cells: Sequence[Any]) -> dict[str, Any]:
        """The row as the record of a JSONL file."""
        record: dict[str, Any] = {}
        for put, cell, is_output in zip(self._puts, cells, self._is_output, strict=True):
            is_missing = cell is None if self._has_null else cell == "" and not is_output
            if put is not None and not is_missing:
                put(record, cell)
        if isinstance(record.get("references"), str):
            record["references"] = [record["references"]]
        _list_numbered(record)
        if isinstance(record.get("derivation"), str):
            _decode_objects(record)
        return record


def _put(column: str, has_null: bool) -> Put | None:
    """The function that stores a cell of this column in a record; None for an unknown column."""
    key, _, rest = column.partition(".")
    if column in KNOWN_KEYS and (has_null or column not in NESTED_KEYS):
        return _stored(column)
    if key in ("outputs", "tags") and rest:
        return _stored(key, rest)
    if column == "references":
        return _stored(column, 0)
    if key in ("references", "trees") and _is_number(rest):
        return _stored(key, int(rest))
    system, _, number = rest.rpartition(".")
    if key == SAMPLES and system and _is_number(number):
        return _stored("outputs", system, int(number))
    if key in BY_SYSTEM and system and _is_number(number):
        return _stored(key, system, int(number))
    return None


def is_read(column: str, *, has_null: bool) -> bool:
    """Whether a column is one of an evaluation set."""
    return _put(column, has_null) is not None


def _is_number(text: str) -> bool:
    """Whether it is the number of a column; Python refuses to read thousands of digits."""
    return text.isdecimal() and len(text) < 10


def _stored(*path: str | int) -> Put:
    *outer, last = path

    def put(record: dict[str, Any], cell: Any) -> None:
        place: dict[Any, Any] = record
        for depth, key in enumerate(outer, start=1):
            is_last = depth == len(outer)
            place = place.setdefault(key, Numbered() if is_last and isinstance(last, int) else {})
        place[last] = cell

    return put


def _intended(column: str) -> str:
    """The column that was probably meant, for a misspelled name; else an empty string."""
    key, _, rest = column.partition(".")
    meant = intended_key(key)
    if meant not in NESTED_KEYS:
        return meant if not rest else ""
    example = (
        "domain"
        if meant == "tags"
        else "A"
        if meant == "outputs"
        else "A.0"
        if meant in BY_SYSTEM
        else "0"
    )
    return f"{meant}.{rest if rest and meant != key else example}"


def _list_numbered(record: dict[str, Any]) -> None:
    """Turns numbered cells into lists, with each tree at the place of its reference."""
    shared = record.get("references")
    if "trees" in record or shared is not None:
        references, trees = _paired(shared, record.get("trees"))
        record.update(references=references, trees=trees)
    own, own_trees = (record.get(key) or {} for key in BY_SYSTEM)
    for system, trees in own_trees.items():
        _, own_trees[system] = _paired(own.get(system, shared), trees)
    for system, references in own.items():
        own[system], _ = _paired(references, None)
    outputs = record.get("outputs")
    if isinstance(outputs, dict):
        for system, output in outputs.items():
            if isinstance(output, Numbered):
                outputs[system] = [output[i] for i in sorted(output)]


def _paired(references: Any, trees: Any) -> tuple[Any, Any]:
    """Turns numbered references and trees into lists; a tree without a reference comes last."""
    if isinstance(references, Numbered):
        order = sorted(references)
    else:
        order = list(range(len(references))) if isinstance(references, list) else []
    if isinstance(trees, Numbered):
        strays = [trees[i] for i in sorted(trees) if i not in order]
        trees = [trees.get(i) for i in order] + strays
    if isinstance(references, Numbered):
        cells = [references[i] for i in order]
        # A column of a user's own may hold lists of references.
        has_list = any(isinstance(cell, list) for cell in cells)
        references = [text for cell in cells for text in _listed(cell)] if has_list else cells
    return references, trees


def _listed(cell: Any) -> list[Any]:
    return cell if isinstance(cell, list) else [cell]


def _decode_objects(record: dict[str, Any]) -> None:
    """Decodes the JSON of a derivation and of outputs that are objects; other text stays text."""
    record["derivation"] = _decoded(record["derivation"])
    outputs = record.get("outputs", {})
    for system, output in outputs.items():
        if isinstance(output, str) and output.startswith("{"):
            outputs[system] = _decoded(output)


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
