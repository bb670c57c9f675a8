"""Between which ranks each system lies, and its cluster, from the differences that are surely real.

A system's rank lies between one more than the number of systems surely better and the number of systems
not surely worse (Mogstad et al. 2024). If the differences hold together with some confidence, as Holm's
correction makes them, so do these ranges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wellput.stats.mixed.equations import Floats


def rank_ranges(better: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lowest and highest rank (1 is best) of each system, by who is surely better than whom."""
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def rank_clusters(estimates: Floats, better: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Each system's cluster, 1 the best, as WMT draws them: every system of a cluster is surely better
    than every system of the clusters below it."""
    order = np.argsort(-np.asarray(estimates), kind="stable")
    clusters = np.ones(len(order), np.int64)
    for place in range(1, len(order)):
        is_divided = bool(better[np.ix_(order[:place], order[place:])].all())
        clusters[order[place]] = clusters[order[place - 1]] + is_divided
    return clusters
