"""The noun `DegradedSentences`: what was made from a corpus, by system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from wellput.core.evalset import EvalSet
from wellput.core.judgment import Judgment
from wellput.core.result import Result
from wellput.io import check_table, check_text, write_evalset
from wellput.io.files import PathLike
from wellput.io.output import write_text
from wellput.language.degrade.generate import known_order


@dataclass(frozen=True, repr=False)
class DegradedSentences(Result):
    """`outputs` has the sentences of each system; `sizes` the words in a sequence, of the systems made
    of sequences."""

    presented_by: ClassVar[str] = "wellput.reporting.language:degrade_report"

    outputs: Mapping[str, Sequence[str]]
    sizes: Mapping[str, int]
    is_evalset: bool = False
    """Whether an evalset was asked for, which may have several systems; else lines of text."""
    path: PathLike | None = None

    @property
    def sentences(self) -> list[str]:
        """All of them, system after system."""
        return [text for texts in self.outputs.values() for text in texts]

    @property
    def evalset(self) -> EvalSet:
        """An item for each place in the lists of sentences, without references."""
        return EvalSet.of(self.outputs)

    @property
    def gold(self) -> list[Judgment]:
        """What is known by construction, as judgments: the larger the sequences, the better."""
        n = len(next(iter(self.outputs.values())))
        return known_order(n, self.sizes)

    @property
    def is_summary(self) -> bool:
        """Whether the systems are shown with an example each; else every sentence."""
        return self.is_evalset or self.path is not None

    def save(self, path: PathLike) -> None:
        """Writes the evalset where one was asked for, else the sentences, one a line."""
        if self.is_evalset:
            check_table(path)
            write_evalset(self.evalset, path)
        else:
            check_text(path)
            write_text("".join(f"{text}\n" for text in self.sentences), path)

    def records(self) -> list[dict[str, Any]]:
        """A record for each system with its first sentence, or one for each sentence."""
        if self.is_summary:
            return [
                {"system": system, "sentences": len(texts), "example": texts[0]}
                for system, texts in self.outputs.items()
            ]
        return [
            {"system": system, "sentence": text}
            for system, texts in self.outputs.items()
            for text in texts
        ]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput degrade`."""
        return {"systems" if self.is_summary else "sentences": self.records()}
