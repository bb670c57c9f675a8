"""Intervals of a correlation with people, by resampling systems, items or both.

At system level a resample draws items, scores every system anew from its summed statistics, and draws
systems; no segment score is averaged that should not be. Segment level is left to
`stats.boot_both` and its siblings.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.cells import resampled_system_scores
from wellput.core.metric import Floats
from wellput.core.table import Estimate, ScoreTable
from wellput.stats.correlation import Coefficient, Correlation, correlate

Resampled = Literal["systems", "items", "both"]
CHUNK = 64


def vector_correlation(x: Floats, z: Floats, coefficient: Coefficient) -> Estimate:
    """The coefficient of two vectors, a score for each system."""
    return correlate(x[:, None], z[:, None], Correlation("system", coefficient=coefficient))


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


def replicate_correlations(x: Floats, z: Floats, coefficient: Coefficient) -> Floats:
    """The coefficient of each row of x with the same row of z, NaN where undefined.

    All rows at once, for resamples of a few systems.
    """
    if coefficient == "spearman":
        x, z = _ranks(x), _ranks(z)
    if coefficient in ("pearson", "spearman"):
        return _cosines(x - x.mean(axis=1, keepdims=True), z - z.mean(axis=1, keepdims=True))
    signs_x, signs_z = _pair_signs(x), _pair_signs(z)
    if coefficient == "kendall":
        return _cosines(signs_x, signs_z)
    return np.array(
        [vector_correlation(a, b, coefficient).value for a, b in zip(x, z, strict=True)]
    )


def _cosines(a: Floats, b: Floats) -> Floats:
    """Row by row; Pearson's r of centered values, Kendall's τ-b of the signs of pairs."""
    lengths = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    result = np.full(len(a), np.nan)
    np.divide((a * b).sum(axis=1), lengths, out=result, where=lengths > 1e-12)
    return result


def _pair_signs(values: Floats) -> Floats:
    first, second = np.triu_indices(values.shape[1], k=1)
    return np.sign(values[:, first] - values[:, second])


def _ranks(values: Floats) -> Floats:
    """Average ranks within each row."""
    below = (values[:, None, :] < values[:, :, None]).sum(axis=2)
    equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    ranks: Floats = below + (equal + 1) / 2
    return ranks
