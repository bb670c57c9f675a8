"""Intervals of a correlation with people, by resampling systems, items or both.

At system level a resample draws items, scores every system anew from its summed statistics, and draws
systems; no segment score is averaged that should not be. Segment level is left to
`stats.boot_both` and its siblings.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wellput.agree.cells import resampled_system_scores
from wellput.core.metric import Floats
from wellput.core.table import ScoreTable

Resampled = Literal["systems", "items", "both"]
CHUNK = 64


def system_level_replicates(
    table: ScoreTable,
    human: ScoreTable,
    cells: NDArray[np.bool_],
    *,
    resample: Resampled,
    n_resamples: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """The metric's and the judges' system scores in each resample, both (resamples, systems).

    With one seed every metric sees the same draws, so replicates of two metrics are paired.
    """
    rng = np.random.default_rng(seed)
    n_systems, n_items = cells.shape
    x, z = np.empty((n_resamples, n_systems)), np.empty((n_resamples, n_systems))
    for start in range(0, n_resamples, CHUNK):
        size = min(CHUNK, n_resamples - start)
        counts = np.ones((size, n_items))
        if resample != "systems":
            counts = rng.multinomial(n_items, np.full(n_items, 1 / n_items), size=size).astype(
                float
            )
        metric = resampled_system_scores(table, cells, counts)
        people = resampled_system_scores(human, cells, counts)
        if resample != "items":
            drawn = rng.integers(0, n_systems, size=(size, n_systems))
            metric = np.take_along_axis(metric, drawn, axis=1)
            people = np.take_along_axis(people, drawn, axis=1)
        x[start : start + size], z[start : start + size] = metric, people
    return x, z
