"""Differences between two correlations with the same judgments, with bootstrap intervals over items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.stats.resampling import percentile_interval

RESAMPLES = 2000


@dataclass(frozen=True, eq=False)
class Correlated:
    """For each output its judgment (`y`), its predictions (`columns`) and its item. The bootstrap draws whole
    items."""

    y: Floats
    columns: Mapping[str, Floats]
    items: Sequence[str]

    def correlations(self) -> dict[str, float]:
        return {name: float(np.corrcoef(self.y, x)[0, 1]) for name, x in self.columns.items()}

    def replicates(self, name: str, counts: Floats, places: Mapping[str, int]) -> Floats:
        """r of a column in each resample: `counts[resample, place]` says how often an item was drawn, `places`
        the place of each item."""
        at = [places[item] for item in self.items]
        x = self.columns[name] - self.columns[name].mean()
        y = self.y - self.y.mean()
        sums = np.zeros((len(places), 6))
        np.add.at(sums, at, np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y]))
        n, sx, sy, sxx, syy, sxy = (counts @ sums).T
        variances = (sxx - sx * sx / n) * (syy - sy * sy / n)
        return np.asarray((sxy - sx * sy / n) / np.sqrt(variances), dtype=np.float64)


def difference(found: Correlated, first: str, second: str, *, seed: int) -> Estimate:
    """r of the first column minus r of the second, with an interval."""
    return mean_difference([found], first, second, seed=seed)


def mean_difference(
    tables: Sequence[Correlated], first: str, second: str, *, seed: int
) -> Estimate:
    """The difference averaged over the questions of a set (`tables`), for which the same items are drawn."""
    items = list(dict.fromkeys(item for table in tables for item in table.items))
    places = {item: place for place, item in enumerate(items)}
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(len(items), np.full(len(items), 1 / len(items)), size=RESAMPLES)
    weights = counts.astype(np.float64)
    values = [table.correlations() for table in tables]
    replicates = np.mean(
        [
            table.replicates(first, weights, places) - table.replicates(second, weights, places)
            for table in tables
        ],
        axis=0,
    )
    low, high = percentile_interval(replicates, confidence=0.95)
    value = float(np.mean([one[first] - one[second] for one in values]))
    return Estimate(value, low=low, high=high, method="bootstrap of items", seed=seed)
