"""The base classes of metrics, which give a metric its name, options and signature; and
`english_prose`, the text that metrics of English score.

A metric is a frozen dataclass. Its fields are its options, with their defaults.

Metrics of English score the prose of an output. An output in another language, with only code or
without words has no score, and `undefined_reasons` says why. With `check=false` every text is scored
as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from wellput.core.errors import InputError
from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need

if TYPE_CHECKING:
    from wellput.language.models.language_check import ReadText

NEEDS_REFERENCES: frozenset[Need] = frozenset({"references"})
NEEDS_NOTHING: frozenset[Need] = frozenset()


def as_text(value: object) -> str:
    """An option's value in the form in which the command line has it.

    >>> as_text(True), as_text(None)
    ('true', 'unset')
    """
    if value is None:
        return "unset"
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class BaseMetric(ABC):
    """Default implementations of the protocol `Metric`."""

    family: ClassVar[str]
    needs: ClassVar[frozenset[Need]] = NEEDS_REFERENCES
    output_kind: ClassVar[str] = "text"  # or the name of a `core.output_kinds.OutputKind`
    perfect: ClassVar[Mapping[str, float]] = {}
    bounds: ClassVar[Bounds] = (None, None)  # all scores lie between these
    is_always_defined: ClassVar[bool] = False  # whether every segment has a score
    is_testable: ClassVar[bool] = True  # whether differences may be tested
    about: ClassVar[str] = ""
    paper: ClassVar[str] = ""

    @property
    def higher_is_better(self) -> bool | None:
        return True

    @property
    def name(self) -> str:
        """The family and the options that differ from their defaults: `chrf:word_order=2`."""
        options = [
            f"{option.name}={as_text(value)}"
            for option in fields(self)
            if option.init and (value := getattr(self, option.name)) != option.default
        ]
        return ":".join([self.family, *([",".join(options)] if options else [])])

    def prepare(self, references: Iterable[Sequence[str]]) -> Self:
        return self

    @abstractmethod
    def statistics(self, batch: Batch) -> Floats: ...

    @abstractmethod
    def score(self, statistics: Floats) -> Floats: ...

    def segment_score(self, statistics: Floats) -> Floats:
        return self.score(statistics)

    def components(self, statistics: Floats) -> dict[str, Floats]:
        return {}

    def undefined_reasons(self, batch: Batch) -> Sequence[str]:
        """For each row the reason why it has no score, such as `"not English"`; empty if the row has a
        score, or if no reason is known. An empty sequence means that no row has a reason."""
        return ()

    def signature(self) -> str:
        return "|".join(
            f"{option.name}:{as_text(getattr(self, option.name))}"
            for option in fields(self)
            if option.init
        )

    def require(self, claim: bool, message: str) -> None:
        """Raises InputError unless `claim` is true; `message` says which values are allowed."""
        if not claim:
            raise InputError(f"{self.family}: {message}")


@dataclass(frozen=True)
class MeanMetric(BaseMetric):
    """A metric whose score is the mean of its segment scores; its statistics are (sum, count).

    A subclass defines `values(batch)`: a number for each row, NaN if it is undefined. Such rows are
    left out of the mean.
    """

    has_gaps: ClassVar[bool] = False
    """Whether two systems are compared only on the items for which both have a score. Otherwise items
    with an undefined score stay in the comparison and add nothing."""

    @abstractmethod
    def values(self, batch: Batch) -> Floats: ...

    def statistics(self, batch: Batch) -> Floats:
        values = np.asarray(self.values(batch), dtype=np.float64)
        defined = ~np.isnan(values)
        return np.stack([np.where(defined, values, 0.0), defined.astype(np.float64)], axis=-1)

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 0], statistics[..., 1])


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """The elementwise quotient, NaN where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    result = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def lowered(texts: Sequence[str]) -> list[str]:
    return [text.lower() for text in texts]


def lowered_lists(texts: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[text.lower() for text in row] for row in texts]


def english_prose(batch: Batch, *, check: bool) -> Sequence[ReadText]:
    """The prose of each output; if the output is not English prose, an empty text with the reason.
    Without `check`, each output as it is; an output with only white space has the reason "no
    words"."""
    from wellput.language.models.language_check import ReadText, shipped_check

    if check:
        return batch.shared("English prose", lambda: shipped_check().read_all(batch.texts))
    return [ReadText(text) if text.strip() else ReadText("", "no words") for text in batch.texts]


def reasons_of(texts: Sequence[ReadText]) -> list[str]:
    return [text.reason or "" for text in texts]
