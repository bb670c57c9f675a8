"""`OwnColumns`: which columns of a user's table hold ids, sources, references, outputs and tags.

A mapping is written FIELD=NAME, once for each column: `id=prompt_id`, `outputs=gpt`. A system and a tag
have the name of their column, or another one: `outputs.A=gpt`, `tags.domain=topic`. In a table with a
row for each answer (`io.long_tables`), `system=model` names the column of the systems, and `outputs` is
one column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from wellput.core.errors import InputError, did_you_mean

SINGLE_FIELDS = ("id", "source", "context", "document", "system")
FIELDS = (*SINGLE_FIELDS, "references", "outputs", "tags")
NAMED_FIELDS = ("outputs", "tags")

Columns: TypeAlias = str | Sequence[str] | Mapping[str, str | Sequence[str] | Mapping[str, str]]
"""`["id=prompt_id", "outputs=gpt"]`, or `{"id": "prompt_id", "outputs": ["gpt"]}`."""


@dataclass(frozen=True, slots=True)
class OwnColumns:
    """Pairs of a column and the column of an evaluation set that it stands for, such as
    ("gpt", "outputs.gpt"); see `io.evalset_columns`."""

    pairs: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.pairs)

    @property
    def names_system(self) -> bool:
        """Whether they say which column has the systems: then every row is one answer."""
        return any(target == "system" for _, target in self.pairs)

    @classmethod
    def of(cls, given: Columns) -> OwnColumns:
        """Raises InputError for an unknown field, a field given twice, or a column without a name."""
        pairs: list[tuple[str, str]] = []
        references = 0
        for field, column in column_entries(given):
            base, _, name = field.partition(".")
            if base not in FIELDS or (name and base not in NAMED_FIELDS):
                raise InputError(
                    f"column='{field}={column}': {field} is not a field of an item."
                    f"{did_you_mean(field, FIELDS)} There are {', '.join(FIELDS)}."
                )
            target = field
            if base in NAMED_FIELDS:
                target = f"{base}.{name or column}"
            elif base == "references":
                target = f"references.{references}"
                references += 1
            if target in (known for _, known in pairs):
                raise InputError(f"column='{field}={column}': {target} is given twice.")
            if column in (taken for taken, _ in pairs):
                raise InputError(f"column='{field}={column}': the column {column} is used twice.")
            pairs.append((column, target))
        return cls(tuple(pairs))

    def targets(self, header: Sequence[str]) -> list[str]:
        """The fields in place of the columns' names; columns that were not found are left out."""
        known = dict(self.pairs)
        return [known.get(column, column) for column in header]

    def header(self, header: Sequence[str], name: str) -> list[str]:
        """The header with the fields in place of the columns' names."""
        self._check(header, name)
        return self.targets(header)

    def record(self, record: dict[str, Any]) -> dict[str, Any]:
        """The record of a JSONL file with its own keys put where they belong."""
        found = {key: value for key, value in record.items() if key not in dict(self.pairs)}
        for column, target in self.pairs:
            if (value := record.get(column)) is None:
                continue
            base, _, name = target.partition(".")
            if base in NAMED_FIELDS:
                own = found.setdefault(base, {})
                if isinstance(own, dict):
                    own[name] = value
            elif base == "references":
                texts = value if isinstance(value, list) else [value]
                found["references"] = [*(found.get("references") or []), *texts]
            else:
                found[base] = value
        return found

    def _check(self, header: Sequence[str], name: str) -> None:
        lacking = [
            f"no column {column!r} for {target.partition('.')[0]}.{did_you_mean(column, header)}"
            for column, target in self.pairs
            if column not in header
        ]
        if lacking:
            raise InputError.collect(
                f"{name} lacks columns that were named:",
                lacking,
                f"It has {', '.join(header)}.",
            )


def column_entries(given: Columns) -> list[tuple[str, str]]:
    """Pairs of a field and its column."""
    if isinstance(given, Mapping):
        found: list[tuple[str, str]] = []
        for field, columns in given.items():
            if isinstance(columns, Mapping):
                found += [(f"{field}.{name}", column) for name, column in columns.items()]
            else:
                several = [columns] if isinstance(columns, str) else columns
                found += [(field, column) for column in several]
        return found
    entries = []
    for text in [given] if isinstance(given, str) else given:
        field, equals, column = text.partition("=")
        if not equals or not field or not column:
            raise InputError(
                f"column={text!r}: write FIELD=NAME, such as column='outputs={text}' for the column "
                f"{text!r} with a system's outputs."
            )
        entries.append((field.strip(), column))
    return entries
