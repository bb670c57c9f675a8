"""Artstein & Poesio's beta between a system's displays and the original's, with partial credit for
displays that overlap (Foster 2008, section 4.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from wellput.core.displays import display_motions
from wellput.core.errors import InputError
from wellput.core.evalset import ORIGINAL, Batch
from wellput.core.metric import Floats, Need
from wellput.core.source import EvalSource
from wellput.metrics.base import BaseMetric, ratio
from wellput.metrics.display_reproduction import AGAINST_ORIGINAL, FOSTER
from wellput.metrics.schedules import Integers, displays_in, fingerprint, shown, unit_counts
from wellput.stats.weighted_agreement import Distance, distances


@dataclass(frozen=True)
class DisplayBeta(BaseMetric):
    """1 − observed / expected disagreement over all units of the corpus; 1 is perfect, 0 is chance.

    Disagreement is the distance of two displays as sets of motions: `jaccard` (1 − the share of all
    their motions that is common), `masi` or `nominal`; no display is a value too. What to expect comes
    from the system's own frequencies and the original's, over the whole corpus; a sentence's figure is
    its observed disagreement over that of the corpus. Significance is not assessed for beta (as the
    paper notes): it has intervals, but takes no part in tests. Undefined where all displays are the
    same. Statistics: observed disagreement; units × expected disagreement; units.
    """

    family: ClassVar[str] = "display-beta"
    about: ClassVar[str] = "agreement with the original beyond chance, partial credit for overlap"
    paper: ClassVar[str] = FOSTER
    needs: ClassVar[frozenset[Need]] = AGAINST_ORIGINAL
    perfect: ClassVar[Mapping[str, float]] = {"score": 1.0}
    is_testable: ClassVar[bool] = False

    distance: Distance = "jaccard"
    _codes: Integers | None = field(default=None, init=False, repr=False, compare=False)
    _expected: Mapping[str, float] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def prepare_outputs(self, source: EvalSource) -> Self:
        codes = np.concatenate([[0], displays_in(source)])
        pairs: dict[str, tuple[Integers, Integers]] = {}
        for batch in _compared(source):
            first, second = pairs.setdefault(
                batch.system, (np.zeros_like(codes), np.zeros_like(codes))
            )
            units = shown(batch)
            without = unit_counts(batch).sum() - len(units.rows)
            for counts, values in ((first, units.chosen), (second, units.original)):
                counts += np.bincount(np.searchsorted(codes, values), minlength=len(codes))
                counts[0] += without
        apart = self._apart(codes)
        prepared = replace(self)
        object.__setattr__(prepared, "_codes", codes)
        object.__setattr__(
            prepared,
            "_expected",
            {
                system: float(first @ apart @ second) / (float(first.sum()) * float(second.sum()))
                for system, (first, second) in pairs.items()
            },
        )
        return prepared

    def statistics(self, batch: Batch) -> Floats:
        if self._codes is None or batch.system not in self._expected:
            raise InputError(
                "display-beta must see all displays first: call prepare_outputs(source)."
            )
        units, apart = shown(batch), self._apart(self._codes)
        chosen, original = (
            np.searchsorted(self._codes, values) for values in (units.chosen, units.original)
        )
        counts = unit_counts(batch).astype(np.float64)
        observed = units.sums(apart[chosen, original])
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
        return f"distance:{self.distance}|expected:{fingerprint(expected)}"

    def _apart(self, codes: Integers) -> Floats:
        return distances([frozenset(display_motions(int(code))) for code in codes], self.distance)


def _compared(source: EvalSource) -> Iterator[Batch]:
    """The outputs that have an original and a derivation, a batch for each block and system."""
    for block in source.blocks():
        there = [item for item in block if ORIGINAL in item.outputs and item.derivation is not None]
        for system in dict.fromkeys(name for item in there for name in item.outputs):
            yield Batch.of(system, there)
