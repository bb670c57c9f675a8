"""The noun `ParaphraseResult`: an evaluation set with rewritten references, and what was proposed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wellput.core.result import Result
from wellput.core.source import EvalSource
from wellput.io import write_evalset
from wellput.io.files import PathLike
from wellput.language.paraphrase.references import Substitution


@dataclass(frozen=True, repr=False)
class ParaphraseResult(Result):
    """`evalset` has the new references; it is in memory unless it was written to a file. With `explain`
    every substitution is shown, otherwise how many there are."""

    presented_by: ClassVar[str] = "wellput.reporting.language:paraphrase_report"

    evalset: EvalSource
    substitutions: tuple[Substitution, ...]
    signature: str
    explain: bool = False

    @property
    def kept(self) -> int:
        """How many of the proposals passed the filter."""
        return sum(substitution.kept for substitution in self.substitutions)

    def save(self, path: PathLike) -> None:
        """Writes the evaluation set with its new references."""
        write_evalset(self.evalset, path)

    def records(self) -> list[dict[str, Any]]:
        """A record for each substitution, kept or refused."""
        return [substitution.to_dict() for substitution in self.substitutions]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput paraphrase`."""
        if self.explain:
            return {"substitutions": self.records(), "signature": self.signature}
        proposed = len(self.substitutions)
        return {"proposed": proposed, "kept": self.kept, "signature": self.signature}
