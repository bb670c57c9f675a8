"""Display schedules as arrays, for the metrics of the family `display-…`.

A *unit* is a node of the derivation, or a span of nodes that carries a display. Arrays list only
the units that have a display of the system or of the original, item by item. `unit_counts` has the
number of all units.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Integers
from wellput.core.source import EvalSource
from wellput.displays.schedules import (
    MOTIONS,
    SPAN_MARK,
    Schedule,
    count_nodes,
    display_code,
    schedules_of,
)

DisplayMatch: TypeAlias = Literal["motion", "combination"]

MOTION_COUNTS: Integers = np.array([code.bit_count() for code in range(1 << len(MOTIONS))])
"""How many motions a display has, by its code."""


@dataclass(frozen=True, eq=False)
class ShownUnits:
    """The units of a batch that carry a display, in parallel arrays: the row of the item, the system's
    display, the original's display (0 for none). `spans` counts the spans of each row."""

    rows: Integers
    chosen: Integers
    original: Integers
    spans: Integers
    n: int

    def sums(self, values: NDArray[np.generic]) -> Floats:
        """The sum of the units' values for each row."""
        weights = values.astype(np.float64)
        return np.bincount(self.rows, weights=weights, minlength=self.n).astype(np.float64)


def shown_units(batch: Batch) -> ShownUnits:
    """The displays of a batch, computed once for all metrics."""
    return batch.shared("displays", lambda: _listed_units(batch))


def unit_counts(batch: Batch) -> Integers:
    """The number of units of each row, with or without a display."""
    return batch.shared(
        "display units",
        lambda: (
            np.array([count_nodes(each) for each in batch.derivations if each])
            + shown_units(batch).spans
        ),
    )


def _listed_units(batch: Batch) -> ShownUnits:
    codes = _Codes()
    rows: list[int] = []
    chosen: list[int] = []
    originals: list[int] = []
    spans = np.zeros(len(batch), dtype=np.int64)
    for row, (output, other) in enumerate(zip(batch.outputs, batch.originals, strict=True)):
        schedule: Schedule = output if isinstance(output, Mapping) else {}
        original: Schedule = other if isinstance(other, Mapping) else {}
        keys = [*schedule, *(key for key in original if key not in schedule)]
        for key in keys:
            mine, theirs = codes[tuple(schedule.get(key, ()))], codes[tuple(original.get(key, ()))]
            if mine or theirs:
                rows.append(row)
                chosen.append(mine)
                originals.append(theirs)
                spans[row] += SPAN_MARK in key
    return ShownUnits(_integers(rows), _integers(chosen), _integers(originals), spans, len(batch))


class _Codes(dict[tuple[str, ...], int]):
    def __missing__(self, motions: tuple[str, ...]) -> int:
        code = self[motions] = display_code(motions)
        return code


def _integers(values: Sequence[int]) -> Integers:
    return np.array(values, dtype=np.int64)


def displays_in(source: EvalSource) -> Integers:
    """The codes of all displays that any system shows, ascending."""
    met: set[tuple[str, ...]] = set()
    for block in source.blocks():
        for item in block:
            for schedule in schedules_of(item).values():
                met.update(map(tuple, schedule.values()))
    return np.unique(_integers([display_code(motions) for motions in met if motions]))


def fingerprint(values: NDArray[np.generic]) -> str:
    """Eight hexadecimal digits that stand for an array in a signature."""
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:8]
