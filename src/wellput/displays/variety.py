"""Metrics of how many displays a system shows and how varied they are. Most do not need the original
displays, which people showed.

A display is shown on a *unit* of a sentence: a node of its derivation, or a span of nodes. It is stored
as a *code*, a number with a bit for each of its motions (see `reproduction`).

*Tokens* are the displays of a sentence, *types* the different ones. In Foster (2008), section 4.2,
tokens, types and their ratio per sentence agreed with people's choices. `display-entropy`,
`display-commonest` and `display-distance` use the frequencies of displays in the whole corpus, because
a sentence has too few displays.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from wellput.core.errors import InputError
from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Integers, Need
from wellput.core.source import EvalSource
from wellput.displays.reproduction import (
    FOSTER_2008,
    MOTION_COUNTS,
    NEEDS_DERIVATION,
    NEEDS_ORIGINAL,
    DisplayMatch,
    array_digest,
    displays_in,
    shown_units,
)
from wellput.displays.schedules import MOTIONS, ScheduleKind
from wellput.metrics.base import BaseMetric, MeanMetric, ratio


@dataclass(frozen=True)
class DisplayCount(MeanMetric):
    """A mean over sentences. It counts displays or, with `match=motion`, the motions in them."""

    output_kind: ClassVar[str] = ScheduleKind.name
    needs: ClassVar[frozenset[Need]] = NEEDS_DERIVATION
    paper: ClassVar[str] = FOSTER_2008

    match: DisplayMatch = "combination"

    @property
    def higher_is_better(self) -> bool | None:
        return None

    def tokens(self, batch: Batch) -> Floats:
        """The number of displays of each sentence."""
        units = shown_units(batch)
        by_motion = self.match == "motion"
        return units.sums(MOTION_COUNTS[units.chosen] if by_motion else units.chosen > 0)

    def types(self, batch: Batch) -> Floats:
        """The number of different displays of each sentence."""
        units = shown_units(batch)
        total = np.zeros(units.n)
        if self.match == "motion":
            for place in range(len(MOTIONS)):
                total += units.sums(units.chosen >> place & 1) > 0
            return total
        is_shown = units.chosen > 0
        pairs = np.unique(units.rows[is_shown] * len(MOTION_COUNTS) + units.chosen[is_shown])
        return np.bincount(pairs // len(MOTION_COUNTS), minlength=units.n).astype(np.float64)


@dataclass(frozen=True)
class DisplayTokens(DisplayCount):
    """The number of displays in a sentence."""

    family: ClassVar[str] = "display-tokens"
    about: ClassVar[str] = "displays per sentence"
    is_always_defined: ClassVar[bool] = True

    def values(self, batch: Batch) -> Floats:
        return self.tokens(batch)


@dataclass(frozen=True)
class DisplayTypes(DisplayCount):
    """The number of different displays in a sentence."""

    family: ClassVar[str] = "display-types"
    about: ClassVar[str] = "different displays per sentence"
    is_always_defined: ClassVar[bool] = True

    def values(self, batch: Batch) -> Floats:
        return self.types(batch)


@dataclass(frozen=True)
class DisplayTypeTokenRatio(DisplayCount):
    """The number of different displays in a sentence, divided by the number of displays. The mean
    leaves out sentences without displays."""

    family: ClassVar[str] = "display-ttr"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    about: ClassVar[str] = "different displays / displays of a sentence"

    def values(self, batch: Batch) -> Floats:
        return ratio(self.types(batch), self.tokens(batch))


@dataclass(frozen=True)
class DisplayFrequencies(BaseMetric):
    """A metric of how often each display occurs in all sentences together.

    Statistics: a count for each display that any system shows (`prepare_outputs` collects them);
    `display-distance` adds the original's counts. Undefined without a display.
    """

    output_kind: ClassVar[str] = ScheduleKind.name
    needs: ClassVar[frozenset[Need]] = NEEDS_DERIVATION

    _codes: Integers | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def higher_is_better(self) -> bool | None:
        return None

    def prepare_outputs(self, source: EvalSource) -> Self:
        prepared = replace(self)
        object.__setattr__(prepared, "_codes", displays_in(source))
        return prepared

    @abstractmethod
    def score(self, statistics: Floats) -> Floats: ...

    def statistics(self, batch: Batch) -> Floats:
        units = shown_units(batch)
        return self.counts(units.rows, units.chosen, units.n)

    def counts(self, rows: Integers, displays: Integers, n: int) -> Floats:
        """How often each of n sentences has each display: `rows` has the place of the sentence of each
        unit, `displays` the code of its display. The result has a row for each sentence, and a column
        for each display that any system shows."""
        if self._codes is None:
            raise InputError(
                f"{self.family} must see all displays first: call prepare_outputs(source)."
            )
        is_shown = displays > 0
        k = len(self._codes)
        places = rows[is_shown] * k + np.searchsorted(self._codes, displays[is_shown])
        return np.bincount(places, minlength=n * k).reshape(n, k).astype(np.float64)

    def signature(self) -> str:
        codes = np.zeros(0, dtype=np.int64) if self._codes is None else self._codes
        return f"displays:{len(codes)}-{array_digest(codes)}"


@dataclass(frozen=True)
class DisplayEntropy(DisplayFrequencies):
    """Shannon's entropy of the frequencies of displays, in bits; 0 if all displays are the same."""

    family: ClassVar[str] = "display-entropy"
    bounds: ClassVar[Bounds] = (0.0, None)
    about: ClassVar[str] = "entropy of the frequencies of displays, in bits"

    def score(self, statistics: Floats) -> Floats:
        return entropy(ratio(statistics, statistics.sum(axis=-1, keepdims=True)))


@dataclass(frozen=True)
class DisplayCommonest(DisplayFrequencies):
    """The share of the most common display among all displays; 1 if all are the same."""

    family: ClassVar[str] = "display-commonest"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    about: ClassVar[str] = "share of the commonest display"

    def score(self, statistics: Floats) -> Floats:
        if not statistics.shape[-1]:
            return np.full(statistics.shape[:-1], np.nan)
        return ratio(statistics.max(axis=-1), statistics.sum(axis=-1))


@dataclass(frozen=True)
class DisplayDistance(DisplayFrequencies):
    """The Jensen–Shannon distance between the system's frequencies of displays and the original's.

    The square root of the divergence in bits: 0 for the same frequencies, 1 without a common display.
    """

    family: ClassVar[str] = "display-distance"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    about: ClassVar[str] = "distance of the frequencies of displays from the original's"
    needs: ClassVar[frozenset[Need]] = NEEDS_ORIGINAL
    perfect: ClassVar[Mapping[str, float]] = {"score": 0.0}

    @property
    def higher_is_better(self) -> bool | None:
        return False

    def statistics(self, batch: Batch) -> Floats:
        units = shown_units(batch)
        counts = (self.counts(units.rows, side, units.n) for side in (units.chosen, units.original))
        return np.concatenate([*counts], axis=1)

    def score(self, statistics: Floats) -> Floats:
        k = statistics.shape[-1] // 2
        shares, original_shares = (
            ratio(counts, counts.sum(axis=-1, keepdims=True))
            for counts in (statistics[..., :k], statistics[..., k:])
        )
        divergence = (
            entropy((shares + original_shares) / 2)
            - (entropy(shares) + entropy(original_shares)) / 2
        )
        return np.sqrt(np.clip(divergence, 0.0, 1.0))


def entropy(shares: Floats) -> Floats:
    """The entropy over the last axis, in bits; NaN if a share is NaN or there are no shares."""
    logarithms = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    bits = np.abs((shares * logarithms).sum(axis=-1))
    return np.asarray(bits if shares.shape[-1] else np.full(bits.shape, np.nan))
