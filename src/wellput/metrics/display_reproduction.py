"""How far a system shows what people showed: precision, recall, F and node accuracy of displays.

Foster (2008), section 4.1. Each is the mean over sentences, as there, unless `average=corpus` pools the
counts. Matching is by motion (two nods of which one has raised brows share a motion) or by combination
(they differ). Precision, recall and F count motions and accuracy combinations unless told otherwise:
only so do the figures of Table 2 come out.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from wellput.core.displays import MOTIONS
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.core.table import Bounds
from wellput.metrics.base import BaseMetric, ratio
from wellput.metrics.schedules import MOTIONS_OF, Match, shown, unit_counts

Average: TypeAlias = Literal["sentence", "corpus"]
Empty: TypeAlias = Literal["skip", "zero", "agree"]

FOSTER = (
    "Foster 2008, Automated Metrics That Agree With Human Judgements On Generated Output for an "
    "Embodied Conversational Agent"
)
SCHEDULES: frozenset[Need] = frozenset({"derivation"})
AGAINST_ORIGINAL: frozenset[Need] = frozenset({"derivation", "original"})


@dataclass(frozen=True)
class Overlap(BaseMetric):
    """What the system's displays and the original's have in common.

    A sentence without displays on the side that is divided by has no score: it is left out of the
    mean (`empty=skip`), counts 0 (`zero`), or counts 1 where the other side has none either, else 0
    (`agree`). Statistics: sum and number of the sentences' scores; matched, chosen, original.
    """

    needs: ClassVar[frozenset[Need]] = AGAINST_ORIGINAL
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    perfect: ClassVar[Mapping[str, float]] = {"score": 1.0}
    paper: ClassVar[str] = FOSTER

    match: Match = "motion"
    average: Average = "sentence"
    empty: Empty = "skip"

    @abstractmethod
    def quotient(self, matched: Floats, chosen: Floats, original: Floats) -> Floats: ...

    def statistics(self, batch: Batch) -> Floats:
        units = shown(batch)
        if self.match == "motion":
            matched = units.sums(MOTIONS_OF[units.chosen & units.original])
            chosen = units.sums(MOTIONS_OF[units.chosen])
            original = units.sums(MOTIONS_OF[units.original])
        else:
            matched = units.sums(units.chosen == units.original)
            chosen, original = units.sums(units.chosen > 0), units.sums(units.original > 0)
        values = self.quotient(matched, chosen, original)
        if self.empty != "skip":
            agreed = (chosen + original == 0) & (self.empty == "agree")
            values = np.where(np.isnan(values), agreed.astype(np.float64), values)
        defined = ~np.isnan(values)
        return np.column_stack(
            [np.where(defined, values, 0.0), defined.astype(np.float64), matched, chosen, original]
        )

    def score(self, statistics: Floats) -> Floats:
        if self.average == "sentence":
            return ratio(statistics[..., 0], statistics[..., 1])
        return self.quotient(statistics[..., 2], statistics[..., 3], statistics[..., 4])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        names = ("matched", "chosen", "original")
        return {name: statistics[..., place] for place, name in enumerate(names, start=2)}


@dataclass(frozen=True)
class DisplayPrecision(Overlap):
    """The share of what the system shows that the original has on the same node."""

    family: ClassVar[str] = "display-precision"
    about: ClassVar[str] = "displays chosen that the original has, of those chosen"

    def quotient(self, matched: Floats, chosen: Floats, original: Floats) -> Floats:
        return ratio(matched, chosen)


@dataclass(frozen=True)
class DisplayRecall(Overlap):
    """The share of what the original has that the system shows on the same node."""

    family: ClassVar[str] = "display-recall"
    about: ClassVar[str] = "displays chosen that the original has, of the original's"

    def quotient(self, matched: Floats, chosen: Floats, original: Floats) -> Floats:
        return ratio(matched, original)


@dataclass(frozen=True)
class DisplayF(Overlap):
    """The harmonic mean of precision and recall, 2 · matched / (chosen + original).

    The paper names it so and prints half of it (P·R / (P+R)): .11 and .20 in Table 2 are .22 and .40.
    """

    family: ClassVar[str] = "display-f"
    about: ClassVar[str] = "harmonic mean of display-precision and display-recall"

    def quotient(self, matched: Floats, chosen: Floats, original: Floats) -> Floats:
        return ratio(2 * matched, chosen + original)


@dataclass(frozen=True)
class DisplayAccuracy(BaseMetric):
    """The share of units where the system shows what the original has, nothing included.

    By motion, the share of all decisions whether a unit has a motion. The component `no_motion` is
    the score of never showing anything. Statistics: sums of the sentences' scores and of those of no
    motion, number of sentences; right decisions, those of no motion, decisions.
    """

    family: ClassVar[str] = "display-accuracy"
    about: ClassVar[str] = "nodes with the original's display, or rightly without one"
    paper: ClassVar[str] = FOSTER
    needs: ClassVar[frozenset[Need]] = AGAINST_ORIGINAL
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    perfect: ClassVar[Mapping[str, float]] = {"score": 1.0}
    is_always_defined: ClassVar[bool] = True

    match: Match = "combination"
    average: Average = "sentence"

    def statistics(self, batch: Batch) -> Floats:
        units = shown(batch)
        decisions = unit_counts(batch).astype(np.float64)
        if self.match == "motion":
            decisions *= len(MOTIONS)
            wrong = units.sums(MOTIONS_OF[units.chosen ^ units.original])
            missed = units.sums(MOTIONS_OF[units.original])
        else:
            wrong = units.sums(units.chosen != units.original)
            missed = units.sums(units.original > 0)
        right, without = decisions - wrong, decisions - missed
        return np.column_stack(
            [
                right / decisions,
                without / decisions,
                np.ones(len(batch)),
                right,
                without,
                decisions,
            ]
        )

    def score(self, statistics: Floats) -> Floats:
        return self._share(statistics, 0)

    def components(self, statistics: Floats) -> dict[str, Floats]:
        return {
            "no_motion": self._share(statistics, 1),
            "right": statistics[..., 3],
            "decisions": statistics[..., 5],
        }

    def _share(self, statistics: Floats, place: int) -> Floats:
        first, last = (place, 2) if self.average == "sentence" else (place + 3, 5)
        return ratio(statistics[..., first], statistics[..., last])
