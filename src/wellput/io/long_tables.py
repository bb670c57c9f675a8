"""Long tables: a row, or a line of JSONL, for each answer, with columns such as `item,system,output`.
`core.joined_answers` puts the rows of an item together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wellput.core.errors import InputError

ID_NAMES = ("id", "item", "item_id")
SYSTEM_NAMES = ("system", "model")
OUTPUT_NAMES = (
    "output", "response", "answer", "completion", "generation", "prediction", "hypothesis",
    "translation",
)  # fmt: skip
SAMPLE = "sample"
OUTPUTS = "outputs."
ONE_OUTPUT = f"{OUTPUTS}output"


@dataclass(frozen=True, slots=True)
class LongColumns:
    """The columns of a long table. Without an `id`, items are told apart by their source."""

    system: str
    output: str
    id: str | None

    @classmethod
    def among(cls, header: Sequence[str], *, names_system: bool = False) -> LongColumns | None:
        """The columns of a table with this header, where columns that the user named have the names
        of their fields; None if the table is not long. `names_system`: the user said which column has
        the systems."""
        system = next((name for name in SYSTEM_NAMES if name in header), None)
        identifier = next((name for name in ID_NAMES if name in header), None)
        named = [name for name in header if name.startswith((OUTPUTS, "samples."))]
        plain = [name for name in OUTPUT_NAMES if name in header] if not named else []
        if len(named) == 1 and (names_system or named[0].removeprefix(OUTPUTS) in OUTPUT_NAMES):
            plain = named
        if names_system and len(plain) != 1:
            raise InputError(
                "column='system=…' says that every row is one answer: name the column of the answers "
                "once, too, outputs=NAME."
            )
        is_told_apart = identifier is not None or "source" in header
        if system is None or not plain or not is_told_apart or "judge" in header:
            return None
        return cls(system, plain[0], identifier)

    def read_as(self) -> dict[str, str]:
        """What each column is, for people."""
        known = {self.system: "system", self.output: "outputs of the system"}
        return known if self.id is None else {**known, self.id: "id"}

    def header(self, header: Sequence[str]) -> list[str]:
        """The header as that of a table with one system."""
        known = {self.output: ONE_OUTPUT, self.id: "id"}
        return [known.get(name, name) for name in header]

    def record(self, record: dict[str, Any]) -> dict[str, Any]:
        """A line of JSONL as that of an item with one system; what `header` does for tables."""
        found = dict(record)
        if not self.output.startswith(OUTPUTS):
            found["outputs"] = {ONE_OUTPUT.removeprefix(OUTPUTS): found.pop(self.output, None)}
        if self.id is not None and self.id in found:
            found["id"] = found.pop(self.id)
        return found

    def answer(self, record: dict[str, Any], system: Any) -> dict[str, Any] | str:
        """The record with the system's name on its output; or what is wrong with it. Without ids, all
        records get the same id, and `core.joined_answers` tells items apart by their source."""
        if system in (None, "") or not isinstance(system, str | int) or isinstance(system, bool):
            return f"no {self.system}; every answer belongs to a system"
        if self.id is None:
            if record.get("source") in (None, ""):
                return "no source, and no id; every answer belongs to an item"
            record["id"] = "source"
        outputs = record.get("outputs") or {}
        text = next(iter(outputs.values()), None)
        record["outputs"] = {} if text is None else {str(system): text}
        return record


def sample_number(cell: Any) -> float | None:
    """The number of a sample; None where there is none."""
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None
