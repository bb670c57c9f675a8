"""The result of `wellput convert`: dependency trees made from Penn brackets."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

from wellput.core.result import Result
from wellput.core.tree import Tree
from wellput.io.files import PathLike
from wellput.reporting.table import Report, Table

CONVERSION_COLUMNS = ("relation", "words")


@dataclass(frozen=True, eq=False, repr=False)
class TreeConversion(Result):
    """The dependency trees."""

    presented_by: ClassVar[str] = "wellput.reporting.conversion:conversion_report"

    trees: tuple[Tree, ...]

    def save(self, path: PathLike) -> None:
        """Writes the trees to a CoNLL-U file."""
        from wellput.io import write_trees

        write_trees(self.trees, path)

    def records(self) -> list[dict[str, Any]]:
        """A record for each relation, the most frequent first."""
        counts = Counter(word.relation for tree in self.trees for word in tree.words)
        ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
        return [dict(zip(CONVERSION_COLUMNS, entry, strict=True)) for entry in ranked]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput convert`."""
        words = sum(len(tree.words) for tree in self.trees)
        return {"trees": len(self.trees), "words": words, "relations": self.records()}


def conversion_report(made: TreeConversion) -> Report:
    """A row per relation."""
    values = made.values()
    table = Table(
        CONVERSION_COLUMNS,
        [[record["relation"], f"{record['words']:,}"] for record in values["relations"]],
        notes=[f"{values['trees']:,} trees, {values['words']:,} words."],
        caption="Relations of the converted trees",
    )
    return Report([table], values, CONVERSION_COLUMNS, made.records())
