"""The columns that an evaluation set has in a table: the keys of JSONL, with dots for nested keys.

    id, source, context, references.0, references.1, trees.0, outputs.A, outputs.B,
    references_by_system.A.0, trees_by_system.A.0, derivation, document, tags.domain,
    samples.A.0, samples.A.1

A column `references` without a number means `references.0`. A system's name may contain dots. CSV and
TSV cannot distinguish a missing text from an empty one. There an empty cell of a system's column is
an empty output, so that a system that says nothing is scored; in other columns an empty cell is a
missing reference, tree, source, context, sample, document or tag. In Parquet, null is missing; nested
columns (`references` as a list, `outputs` as a struct or map) are read, too. A derivation (a tree to
which facial displays are attached) is a cell of JSON; in a row with a derivation, an output may also be
a JSON object: the displays that a system chose (`wellput.displays`).

`OwnColumns` says which columns of a user's table contain ids, sources, references, outputs and tags.
The user writes FIELD=NAME for each column: `id=prompt_id`, `outputs=gpt`. A system or a tag has the
name of its column, or another name: `outputs.A=gpt`, `tags.domain=topic`. In a table with a row for
each answer (`core.long_tables`), `system=model` names the column of the systems, and `outputs` is one
column.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from wellput.core.errors import InputError, did_you_mean
from wellput.io.records import KEYS_BY_SYSTEM, KNOWN_KEYS, intended_key

SINGLE_FIELDS = ("id", "source", "context", "document", "system")
FIELDS = (*SINGLE_FIELDS, "references", "outputs", "tags")
NAMED_FIELDS = ("outputs", "tags")
"""Fields that may have several columns, each with a name: a system, or a tag."""

Columns: TypeAlias = str | Sequence[str] | Mapping[str, str | Sequence[str] | Mapping[str, str]]
"""`["id=prompt_id", "outputs=gpt"]`, or `{"id": "prompt_id", "outputs": ["gpt"]}`."""


@dataclass(frozen=True, slots=True)
class OwnColumns:
    """Pairs of a column in the user's table and the column of an evaluation set that it stands for,
    such as ("gpt", "outputs.gpt")."""

    pairs: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.pairs)

    @property
    def names_system(self) -> bool:
        """Whether the pairs name a column of systems; then every row is one answer."""
        return any(target == "system" for _, target in self.pairs)

    @classmethod
    def of(cls, given: Columns) -> OwnColumns:
        """Raises InputError for an unknown field, a field given twice, or a column without a name."""
        pairs: list[tuple[str, str]] = []
        n_references = 0
        for field, column in column_entries(given):
            base, _, name = field.partition(".")
            if base not in FIELDS or (name and base not in NAMED_FIELDS):
                raise InputError(
                    f"column='{field}={column}': {field} is not a field of an item."
                    f"{did_you_mean(field, FIELDS)} The fields are {', '.join(FIELDS)}."
                )
            target = field
            if base in NAMED_FIELDS:
                target = f"{base}.{name or column}"
            elif base == "references":
                target = f"references.{n_references}"
                n_references += 1
            if target in (used_target for _, used_target in pairs):
                raise InputError(f"column='{field}={column}': {target} is given twice.")
            if column in (used_column for used_column, _ in pairs):
                raise InputError(f"column='{field}={column}': the column {column} is used twice.")
            pairs.append((column, target))
        return cls(tuple(pairs))

    def targets(self, header: Sequence[str]) -> list[str]:
        """The header with the fields instead of the columns' names. Named columns that the header
        does not have are ignored."""
        field_of = dict(self.pairs)
        return [field_of.get(column, column) for column in header]

    def header(self, header: Sequence[str], name: str) -> list[str]:
        """The header with the fields instead of the columns' names. Raises InputError for named columns
        that the header does not have; `name` is the file's name in the message."""
        self._check(header, name)
        return self.targets(header)

    def record(self, record: dict[str, Any]) -> dict[str, Any]:
        """The record of a JSONL file, with the user's keys replaced by those of an evaluation set."""
        renamed = {key: value for key, value in record.items() if key not in dict(self.pairs)}
        for column, target in self.pairs:
            if (value := record.get(column)) is None:
                continue
            base, _, name = target.partition(".")
            if base in NAMED_FIELDS:
                entries = renamed.setdefault(base, {})
                if isinstance(entries, dict):
                    entries[name] = value
            elif base == "references":
                texts = value if isinstance(value, list) else [value]
                renamed["references"] = [*(renamed.get("references") or []), *texts]
            else:
                renamed[base] = value
        return renamed

    def _check(self, header: Sequence[str], name: str) -> None:
        """Raises InputError that lists named columns which the header does not have."""
        missing = [
            f"no column {column!r} for {target.partition('.')[0]}.{did_you_mean(column, header)}"
            for column, target in self.pairs
            if column not in header
        ]
        if missing:
            raise InputError.collect(
                f"{name} lacks columns that were named:",
                missing,
                f"It has {', '.join(header)}.",
            )


def column_entries(given: Columns) -> list[tuple[str, str]]:
    """Pairs of a field and its column, from any form in which a user may give them."""
    entries: list[tuple[str, str]] = []
    if isinstance(given, Mapping):
        for field, columns in given.items():
            if isinstance(columns, Mapping):
                entries += [(f"{field}.{name}", column) for name, column in columns.items()]
            else:
                names = [columns] if isinstance(columns, str) else columns
                entries += [(field, column) for column in names]
        return entries
    for text in [given] if isinstance(given, str) else given:
        field, equals, column = text.partition("=")
        if not equals or not field or not column:
            raise InputError(
                f"column={text!r}: write FIELD=NAME, such as column='outputs={text}' for the column "
                f"{text!r} with a system's outputs."
            )
        entries.append((field.strip(), column))
    return entries


NESTED_KEYS = ("references", "trees", "outputs", "tags", *KEYS_BY_SYSTEM)
SAMPLES_FIELD = "samples"
"""The field of columns with numbered samples; in a record, a system's samples are a list in
`outputs`."""
Put = Callable[[dict[str, Any], Any], None]
"""A function that stores a cell in a record."""


class Numbered(dict[int, Any]):
    """The cells of numbered columns in a row, by number: of `references.0` and `references.1`, for
    example."""


class EvalSetColumns:
    """Turns rows of a table into records, by the columns of its header."""

    def __init__(
        self,
        header: Sequence[str],
        name: str,
        *,
        has_json_values: bool,
        are_named: bool = False,
        advice: Callable[[], str] = str,
    ) -> None:
        """`has_json_values`: cells may be None, lists and objects, as in Parquet; otherwise they are
        text. `are_named`: the user named columns; then other columns are not reported as misspelled,
        and items without an id are numbered. `advice` is called for advice about a wrong header."""
        self._has_json_values = has_json_values
        self._is_output = [column.startswith("outputs.") for column in header]
        # If there is a column `references.0`, a column `references` (notes, for example) is not read.
        self._puts = [
            None
            if column == "references" and not has_json_values and "references.0" in header
            else _put(column, has_json_values)
            for column in header
        ]
        wrong = [
            f"column {column}: did you mean {intended}?"
            for column, put in zip(header, self._puts, strict=True)
            if put is None and (intended := _intended(column)) and intended not in header
            if not are_named
        ]
        wrong += [
            f"{system} has a column outputs.{system} and columns samples.{system}.0, …; keep one kind"
            for system in dict.fromkeys(
                column.removeprefix(f"{SAMPLES_FIELD}.").rpartition(".")[0]
                for column in header
                if column.startswith(f"{SAMPLES_FIELD}.")
            )
            if f"outputs.{system}" in header
        ]
        if "id" not in header and not are_named:
            wrong.append("no column id; every item needs one")
        if wrong:
            raise InputError.collect(f"{name}: the header is wrong:", wrong, advice())

    def record(self, cells: Sequence[Any]) -> dict[str, Any]:
        """The row as a record, in the form of a line of JSONL."""
        record: dict[str, Any] = {}
        for put, cell, is_output in zip(self._puts, cells, self._is_output, strict=True):
            is_missing = cell is None if self._has_json_values else cell == "" and not is_output
            if put is not None and not is_missing:
                put(record, cell)
        if isinstance(record.get("references"), str):
            record["references"] = [record["references"]]
        _list_numbered(record)
        if isinstance(record.get("derivation"), str):
            _decode_objects(record)
        return record


def _put(column: str, has_json_values: bool) -> Put | None:
    """The function that stores a cell of this column in a record; None for an unknown column."""
    key, _, rest = column.partition(".")
    # A cell of text cannot hold a list or an object: there, nested keys need columns such as
    # `tags.domain`.
    if column in KNOWN_KEYS and (has_json_values or column not in NESTED_KEYS):
        return _stored(column)
    if key in ("outputs", "tags") and rest:
        return _stored(key, rest)
    if column == "references":
        return _stored(column, 0)
    if key in ("references", "trees") and _is_number(rest):
        return _stored(key, int(rest))
    system, _, number = rest.rpartition(".")
    if key == SAMPLES_FIELD and system and _is_number(number):
        return _stored("outputs", system, int(number))
    if key in KEYS_BY_SYSTEM and system and _is_number(number):
        return _stored(key, system, int(number))
    return None


def is_read(column: str, *, has_json_values: bool) -> bool:
    """Whether an evaluation set may have a column of this name."""
    return _put(column, has_json_values) is not None


def _is_number(text: str) -> bool:
    """Whether the text is a number of at most 9 digits, as in a column's name; Python refuses to read
    thousands of digits."""
    return text.isdecimal() and len(text) < 10


def _stored(*path: str | int) -> Put:
    """A function that stores a cell in a record under these nested keys; an integer is the number of a
    numbered column."""
    *outer, last = path

    def put(record: dict[str, Any], cell: Any) -> None:
        place: dict[Any, Any] = record
        for depth, key in enumerate(outer, start=1):
            is_last = depth == len(outer)
            place = place.setdefault(key, Numbered() if is_last and isinstance(last, int) else {})
        place[last] = cell

    return put


def _intended(column: str) -> str:
    """The name that was probably intended, for a misspelled column; otherwise an empty string."""
    key, _, rest = column.partition(".")
    intended = intended_key(key)
    if intended not in NESTED_KEYS:
        return intended if not rest else ""
    examples = {"tags": "domain", "outputs": "A", **dict.fromkeys(KEYS_BY_SYSTEM, "A.0")}
    example = examples.get(intended, "0")
    return f"{intended}.{rest if rest and intended != key else example}"


def _list_numbered(record: dict[str, Any]) -> None:
    """Turns the numbered cells of a record into lists, with each tree at the place of its reference."""
    shared = record.get("references")
    if "trees" in record or shared is not None:
        references, trees = _paired(shared, record.get("trees"))
        record.update(references=references, trees=trees)
    references_by_system, trees_by_system = (record.get(key) or {} for key in KEYS_BY_SYSTEM)
    for system, trees in trees_by_system.items():
        _, trees_by_system[system] = _paired(references_by_system.get(system, shared), trees)
    for system, references in references_by_system.items():
        references_by_system[system], _ = _paired(references, None)
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
        without_reference = [trees[i] for i in sorted(trees) if i not in order]
        trees = [trees.get(i) for i in order] + without_reference
    if isinstance(references, Numbered):
        cells = [references[i] for i in order]
        # A column that the user named may contain lists of references.
        has_list = any(isinstance(cell, list) for cell in cells)
        references = [text for cell in cells for text in _listed(cell)] if has_list else cells
    return references, trees


def _listed(cell: Any) -> list[Any]:
    return cell if isinstance(cell, list) else [cell]


def _decode_objects(record: dict[str, Any]) -> None:
    """Decodes the JSON of the derivation, and of outputs that begin like an object; text that is not
    JSON stays as it is."""
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
