"""The base classes of metrics, which give a metric its name, options and signature; and the prose that
metrics of English score.

A metric is a frozen dataclass. Its fields are its options, with their defaults.

`english_prose` is what metrics of English score. An output in another language, of code alone or
without words has no score, and `undefined_reasons` says why. `check=false` scores every text as it is.
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
    """An option's value as it is written on the command line.

    >>> as_text(True), as_text(None)
    ('true', 'unset')
    """
    if value is None:
        return "unset"
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class BaseMetric(ABC):
    """Defaults for the `Metric` protocol."""

    family: ClassVar[str]
    needs: ClassVar[frozenset[Need]] = NEEDS_REFERENCES
    output_kind: ClassVar[str] = "text"  # or the name of a `core.output_kinds.OutputKind`
    perfect: ClassVar[Mapping[str, float]] = {}
    bounds: ClassVar[Bounds] = (None, None)  # all scores lie between these
    is_always_defined: ClassVar[bool] = False  # whether every segment has a score
    is_testable: ClassVar[bool] = True  # whether significance may be assessed
    about: ClassVar[str] = ""
    paper: ClassVar[str] = ""

    @property
    def higher_is_better(self) -> bool | None:
        return True

    @property
    def name(self) -> str:
        """The family and the options that differ from their defaults: `chrf:word_order=2`."""
        given = [
            f"{option.name}={as_text(value)}"
            for option in fields(self)
            if option.init and (value := getattr(self, option.name)) != option.default
        ]
        return ":".join([self.family, *([",".join(given)] if given else [])])

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
        """By row, the reason why it has no score, such as `"not English"`. The text is empty if the row
        has a score, or if no reason is known. An empty sequence says so of all rows."""
        return ()

    def signature(self) -> str:
        return "|".join(
            f"{option.name}:{as_text(getattr(self, option.name))}"
            for option in fields(self)
            if option.init
        )

    def require(self, claim: bool, message: str) -> None:
        """Raises InputError unless the claim is true; `message` says which values are allowed."""
        if not claim:
            raise InputError(f"{self.family}: {message}")


@dataclass(frozen=True)
class MeanMetric(BaseMetric):
    """A metric that does not decompose: statistics are (sum, count), the score is the mean.

    A subclass gives `values(batch)`: one number per row, NaN where undefined. The mean leaves such rows
    out.
    """

    has_gaps: ClassVar[bool] = False
    """Whether an undefined row means that nobody scored the output, so that two systems are compared
    only on items where both have a score."""

    @abstractmethod
    def values(self, batch: Batch) -> Floats: ...

    def statistics(self, batch: Batch) -> Floats:
        values = np.asarray(self.values(batch), dtype=np.float64)
        defined = ~np.isnan(values)
        return np.stack([np.where(defined, values, 0.0), defined.astype(np.float64)], axis=-1)

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 0], statistics[..., 1])


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Elementwise quotient, NaN where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    result = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def lowered(texts: Sequence[str]) -> list[str]:
    return [text.lower() for text in texts]


def lowered_lists(texts: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[text.lower() for text in row] for row in texts]


def english_prose(batch: Batch, *, check: bool) -> Sequence[ReadText]:
    """The prose of each output, empty with a reason if it is not English. Without `check`, the outputs
    as they are; those of white space alone have no words."""
    from wellput.language.models.language_check import ReadText, shipped_check

    if check:
        return batch.shared("English prose", lambda: shipped_check().read_all(batch.texts))
    return [ReadText(text) if text.strip() else ReadText("", "no words") for text in batch.texts]


def reasons_of(texts: Sequence[ReadText]) -> list[str]:
    return [text.reason or "" for text in texts]
