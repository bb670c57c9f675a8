"""Metrics that compare a system's displays with those that people showed: precision, recall, F, node
accuracy and beta.

The metrics are those of Foster (2008), section 4.1. As in the paper, all but beta are means over
sentences; `average=corpus` pools the counts instead. Displays are matched by motion (a nod, and a nod
with raised brows, share a motion) or by combination (a nod differs from a nod with raised brows). By
default precision, recall and F count motions, and accuracy counts combinations: these defaults give the
figures of the paper's Table 2. Beta is that of Artstein & Poesio, with partial credit for displays that
overlap.

A display is shown on a *unit*: a node of the sentence's derivation (the tree over its words), or a span
of nodes. The *original* displays are those that people showed. All metrics whose names begin with
`display-` take schedules as arrays of units. These arrays list only the units that have a display of
the system or of the original, item by item. `unit_counts` has the number of all units. The *code* of a
display is a number with a bit for each of its motions.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.core.estimates import Bounds
from wellput.core.evalset import ORIGINAL, Batch
from wellput.core.metric import Floats, Integers, Need
from wellput.core.source import EvalSource
from wellput.displays.schedules import (
    MOTIONS,
    SPAN_MARK,
    Schedule,
    ScheduleKind,
    count_nodes,
    display_code,
    display_motions,
    schedules_of,
)
from wellput.metrics.base import BaseMetric, ratio
from wellput.stats.judges.weighted_agreement import Distance, distances

DisplayMatch: TypeAlias = Literal["motion", "combination"]

MOTION_COUNTS: Integers = np.array([code.bit_count() for code in range(1 << len(MOTIONS))])
"""How many motions a display has: the entry at its code."""


@dataclass(frozen=True, eq=False)
class ShownUnits:
    """The units with a display, of one system's outputs for n items. `rows`, `chosen` and `original`
    have an entry for each unit: the place of its item, the code of the system's display, and that of
    the original display (0 for none). `spans` has the number of each item's units that are spans."""

    rows: Integers
    chosen: Integers
    original: Integers
    spans: Integers
    n: int

    def sums(self, values: NDArray[np.generic]) -> Floats:
        """The sum of the units' values for each item."""
        weights = values.astype(np.float64)
        return np.bincount(self.rows, weights=weights, minlength=self.n).astype(np.float64)


def shown_units(batch: Batch) -> ShownUnits:
    """The displays of a batch, computed once for all metrics."""
    return batch.shared("displays", lambda: _listed_units(batch))


def unit_counts(batch: Batch) -> Integers:
    """The number of units of each item, with or without a display."""
    return batch.shared(
        "display units",
        lambda: (
            np.array([count_nodes(derivation) for derivation in batch.derivations if derivation])
            + shown_units(batch).spans
        ),
    )


def _listed_units(batch: Batch) -> ShownUnits:
    """The displays of a batch, unit by unit."""
    codes = _Codes()
    rows: list[int] = []
    chosen: list[int] = []
    originals: list[int] = []
    spans = np.zeros(len(batch), dtype=np.int64)
    for row, (output, original_output) in enumerate(
        zip(batch.outputs, batch.originals, strict=True)
    ):
        schedule: Schedule = output if isinstance(output, Mapping) else {}
        original: Schedule = original_output if isinstance(original_output, Mapping) else {}
        keys = [*schedule, *(key for key in original if key not in schedule)]
        for key in keys:
            code, original_code = (
                codes[tuple(schedule.get(key, ()))],
                codes[tuple(original.get(key, ()))],
            )
            if code or original_code:
                rows.append(row)
                chosen.append(code)
                originals.append(original_code)
                spans[row] += SPAN_MARK in key
    return ShownUnits(_integers(rows), _integers(chosen), _integers(originals), spans, len(batch))


class _Codes(dict[tuple[str, ...], int]):
    """The code of each display, computed when it is first needed."""

    def __missing__(self, motions: tuple[str, ...]) -> int:
        code = self[motions] = display_code(motions)
        return code


def _integers(values: Sequence[int]) -> Integers:
    return np.array(values, dtype=np.int64)


def displays_in(source: EvalSource) -> Integers:
    """The codes of all displays that any system shows, ascending."""
    displays: set[tuple[str, ...]] = set()
    for block in source.blocks():
        for item in block:
            for schedule in schedules_of(item).values():
                displays.update(map(tuple, schedule.values()))
    return np.unique(_integers([display_code(motions) for motions in displays if motions]))


def array_digest(values: NDArray[np.generic]) -> str:
    """Eight hexadecimal digits that stand for an array in a signature."""
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:8]


DisplayAverage: TypeAlias = Literal["sentence", "corpus"]
EmptySentences: TypeAlias = Literal["skip", "zero", "agree"]

FOSTER_2008 = (
    "Foster 2008, Automated Metrics That Agree With Human Judgements On Generated Output for an "
    "Embodied Conversational Agent"
)
NEEDS_DERIVATION: frozenset[Need] = frozenset({"derivation"})
NEEDS_ORIGINAL: frozenset[Need] = frozenset({"derivation", "original"})


@dataclass(frozen=True)
class DisplayOverlap(BaseMetric):
    """What the system's displays and the original's have in common.

    A sentence whose denominator is 0 has no score: it is left out of the mean (`empty=skip`), counts 0
    (`zero`), or counts 1 if neither side has displays, else 0 (`agree`). Statistics: sum and number of
    the sentences' scores; matched, chosen, original.
    """

    output_kind: ClassVar[str] = ScheduleKind.name
    needs: ClassVar[frozenset[Need]] = NEEDS_ORIGINAL
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    perfect: ClassVar[Mapping[str, float]] = {"score": 1.0}
    paper: ClassVar[str] = FOSTER_2008

    match: DisplayMatch = "motion"
    average: DisplayAverage = "sentence"
    empty: EmptySentences = "skip"

    @abstractmethod
    def quotient(self, matched: Floats, chosen: Floats, original: Floats) -> Floats:
        """The score from numbers of displays: those in common, the system's, the original's."""

    def statistics(self, batch: Batch) -> Floats:
        units = shown_units(batch)
        if self.match == "motion":
            matched = units.sums(MOTION_COUNTS[units.chosen & units.original])
            chosen = units.sums(MOTION_COUNTS[units.chosen])
            original = units.sums(MOTION_COUNTS[units.original])
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
class DisplayPrecision(DisplayOverlap):
    """The share of the system's displays that the original has on the same unit."""

    family: ClassVar[str] = "display-precision"
    about: ClassVar[str] = "share of the chosen displays that the original has"

    def quotient(self, matched: Floats, chosen: Floats, original: Floats) -> Floats:
        return ratio(matched, chosen)


@dataclass(frozen=True)
class DisplayRecall(DisplayOverlap):
    """The share of the original's displays that the system has on the same unit."""

    family: ClassVar[str] = "display-recall"
    about: ClassVar[str] = "share of the original's displays that were chosen"

    def quotient(self, matched: Floats, chosen: Floats, original: Floats) -> Floats:
        return ratio(matched, original)


@dataclass(frozen=True)
class DisplayF(DisplayOverlap):
    """The harmonic mean of precision and recall, 2 · matched / (chosen + original).

    The paper says harmonic mean but prints half of it, P·R / (P+R), where P is precision and R is
    recall: .11 and .20 in Table 2 are .22 and .40 here.
    """

    family: ClassVar[str] = "display-f"
    about: ClassVar[str] = "harmonic mean of display-precision and display-recall"

    def quotient(self, matched: Floats, chosen: Floats, original: Floats) -> Floats:
        return ratio(2 * matched, chosen + original)


@dataclass(frozen=True)
class DisplayAccuracy(BaseMetric):
    """The share of units where system and original have the same display, or both none.

    By motion: for each unit and each motion there is a decision whether the unit has the motion; the
    score is the share of right decisions. The component `no_motion` is the score of a system that never
    shows a display. Statistics: sums of the sentences' scores and of their `no_motion` scores, number
    of sentences; right decisions, decisions that such a system would have right, all decisions.
    """

    family: ClassVar[str] = "display-accuracy"
    about: ClassVar[str] = "nodes with the original's display, or rightly without one"
    paper: ClassVar[str] = FOSTER_2008
    output_kind: ClassVar[str] = ScheduleKind.name
    needs: ClassVar[frozenset[Need]] = NEEDS_ORIGINAL
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    perfect: ClassVar[Mapping[str, float]] = {"score": 1.0}
    is_always_defined: ClassVar[bool] = True

    match: DisplayMatch = "combination"
    average: DisplayAverage = "sentence"

    def statistics(self, batch: Batch) -> Floats:
        units = shown_units(batch)
        decisions = unit_counts(batch).astype(np.float64)
        if self.match == "motion":
            decisions *= len(MOTIONS)
            wrong = units.sums(MOTION_COUNTS[units.chosen ^ units.original])
            missed = units.sums(MOTION_COUNTS[units.original])
        else:
            wrong = units.sums(units.chosen != units.original)
            missed = units.sums(units.original > 0)
        right, right_without_motion = decisions - wrong, decisions - missed
        return np.column_stack(
            [
                right / decisions,
                right_without_motion / decisions,
                np.ones(len(batch)),
                right,
                right_without_motion,
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
        """The accuracy of the system (place 0), or of never showing a display (place 1)."""
        first, last = (place, 2) if self.average == "sentence" else (place + 3, 5)
        return ratio(statistics[..., first], statistics[..., last])


@dataclass(frozen=True)
class DisplayBeta(BaseMetric):
    """1 − observed / expected disagreement over all units of the corpus; 1 is perfect, 0 is chance.

    Disagreement is the distance between two displays as sets of motions: `jaccard` (1 − the share of
    common motions among all their motions), `masi` (the same, but common motions count less: 2/3 if one
    set contains the other, else 1/3) or `nominal` (1 for different sets). A missing display is the
    empty set. The expected disagreement comes from the frequencies of the system's and of the
    original's displays in the whole corpus. A sentence's score has its own observed disagreement, and
    the expected disagreement of the corpus. Beta has intervals but is not tested, as in the paper. It
    is undefined if all displays are the same. Statistics: observed disagreement; units × expected
    disagreement; units.
    """

    family: ClassVar[str] = "display-beta"
    about: ClassVar[str] = "agreement with the original beyond chance, partial credit for overlap"
    paper: ClassVar[str] = FOSTER_2008
    output_kind: ClassVar[str] = ScheduleKind.name
    needs: ClassVar[frozenset[Need]] = NEEDS_ORIGINAL
    perfect: ClassVar[Mapping[str, float]] = {"score": 1.0}
    is_testable: ClassVar[bool] = False

    distance: Distance = "jaccard"
    _codes: Integers | None = field(default=None, init=False, repr=False, compare=False)
    _expected: Mapping[str, float] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def prepare_outputs(self, source: EvalSource) -> Self:
        codes = np.concatenate([[0], displays_in(source)])
        counts_by_system: dict[str, tuple[Integers, Integers]] = {}
        for batch in _compared_batches(source):
            chosen_counts, original_counts = counts_by_system.setdefault(
                batch.system, (np.zeros_like(codes), np.zeros_like(codes))
            )
            units = shown_units(batch)
            n_without_display = unit_counts(batch).sum() - len(units.rows)
            for counts, values in (
                (chosen_counts, units.chosen),
                (original_counts, units.original),
            ):
                counts += np.bincount(np.searchsorted(codes, values), minlength=len(codes))
                counts[0] += n_without_display
        display_distances = self._distances(codes)
        prepared = replace(self)
        object.__setattr__(prepared, "_codes", codes)
        object.__setattr__(
            prepared,
            "_expected",
            {
                system: float(chosen_counts @ display_distances @ original_counts)
                / (float(chosen_counts.sum()) * float(original_counts.sum()))
                for system, (chosen_counts, original_counts) in counts_by_system.items()
            },
        )
        return prepared

    def statistics(self, batch: Batch) -> Floats:
        if self._codes is None or batch.system not in self._expected:
            raise InputError(
                "display-beta must see all displays first: call prepare_outputs(source)."
            )
        units, display_distances = shown_units(batch), self._distances(self._codes)
        chosen, original = (
            np.searchsorted(self._codes, values) for values in (units.chosen, units.original)
        )
        counts = unit_counts(batch).astype(np.float64)
        observed = units.sums(display_distances[chosen, original])
        return np.column_stack([observed, counts * self._expected[batch.system], counts])

    def score(self, statistics: Floats) -> Floats:
        return 1 - ratio(statistics[..., 0], statistics[..., 1])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        units = statistics[..., 2]
        return {
            "observed": ratio(statistics[..., 0], units),
            "expected": ratio(statistics[..., 1], units),
        }

    def signature(self) -> str:
        expected = np.array(list(self._expected.values()))
        return f"distance:{self.distance}|expected:{array_digest(expected)}"

    def _distances(self, codes: Integers) -> Floats:
        """The distances of all pairs of displays, by their codes."""
        return distances([frozenset(display_motions(int(code))) for code in codes], self.distance)


def _compared_batches(source: EvalSource) -> Iterator[Batch]:
    """The items with original displays and a derivation: a batch for each block of items and system."""
    for block in source.blocks():
        comparable = [
            item for item in block if ORIGINAL in item.outputs and item.derivation is not None
        ]
        for system in dict.fromkeys(name for item in comparable for name in item.outputs):
            yield Batch.of(system, comparable)
