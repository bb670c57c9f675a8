"""Which systems differ, and between which ranks each lies, all at once.

Intervals of all differences hold together with the stated confidence: their common critical value is
that of the largest of all pairs' t-statistics (single-step max-t; Hothorn, Bretz & Westfall 2008),
simulated. A system's rank then lies between one more than the number of systems surely better and
the number of systems not surely worse (Mogstad et al. 2024); these ranges hold together with the same
confidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from wellput.stats.mixed_equations import Floats
from wellput.stats.mixed_laplace import LaplaceMixed
from wellput.stats.mixed_linear import LinearMixed

DRAWS_AT_ONCE = 10_000
LEAST_FREEDOM, LARGEST_FREEDOM = 1.0, 1e6
"""Satterthwaite's approximation may fall below 1 where a design says next to nothing of a component; at
the other end Student's t is normal."""


@dataclass(frozen=True, eq=False)
class AllPairs:
    """The differences a − b of all pairs of systems, in the order of `pairs`.

    `low` and `high` are simultaneous, `p_adjusted` is corrected in the same way: it is below 1 −
    confidence just where the interval leaves 0 out. `single_low` and `single_high` are those of one
    pair on its own, and go with `p_values`.
    """

    pairs: NDArray[np.int64]
    values: Floats
    errors: Floats
    freedom: Floats
    p_values: Floats
    p_adjusted: Floats
    low: Floats
    high: Floats
    single_low: Floats
    single_high: Floats
    confidence: float
    draws: int
    seed: int

    def better(self) -> NDArray[np.bool_]:
        """Whether the system of the row is surely better than that of the column."""
        n = int(self.pairs.max()) + 1
        found = np.zeros((n, n), np.bool_)
        first, second = self.pairs.T
        found[first, second] = self.low > 0
        found[second, first] = self.high < 0
        return found


def compare_all_pairs(
    fitted: LinearMixed | LaplaceMixed,
    n_systems: int,
    *,
    confidence: float = 0.95,
    draws: int = 50_000,
    seed: int = 0,
) -> AllPairs:
    """Compare every two systems of a fit, with simultaneous intervals.

    Degrees of freedom may differ between pairs: a pair's t-statistic is then measured by its own
    p-value, and these are compared on the scale of the median degrees of freedom.
    """
    pairs = np.array(list(combinations(range(n_systems), 2)), np.int64)
    weights = np.zeros((len(pairs), n_systems))
    rows = np.arange(len(pairs))
    weights[rows, pairs[:, 0]], weights[rows, pairs[:, 1]] = 1.0, -1.0
    found = fitted.contrast(weights)
    freedom = found.freedom.clip(LEAST_FREEDOM, LARGEST_FREEDOM)
    common = float(np.median(freedom))
    covariance = found.covariance[:n_systems, :n_systems]
    largest = _largest_statistics(covariance, pairs, found.errors, common, draws, seed)
    p_values = 2 * student.sf(np.abs(found.values / found.errors), freedom)
    at_common = student.isf(p_values / 2, common)
    exceeding = draws - np.searchsorted(largest, at_common - 1e-12)
    critical_p = 2 * student.sf(np.quantile(largest, confidence), common)
    half = found.errors * student.isf(critical_p / 2, freedom)
    single = found.errors * student.isf((1 - confidence) / 2, freedom)
    return AllPairs(
        pairs=pairs,
        values=found.values,
        errors=found.errors,
        freedom=freedom,
        p_values=p_values,
        p_adjusted=np.maximum((exceeding + 1) / (draws + 1), p_values),
        low=found.values - half,
        high=found.values + half,
        single_low=found.values - single,
        single_high=found.values + single,
        confidence=confidence,
        draws=draws,
        seed=seed,
    )


def _largest_statistics(
    covariance: Floats,
    pairs: NDArray[np.int64],
    errors: Floats,
    freedom: float,
    draws: int,
    seed: int,
) -> Floats:
    """The largest |t| of all pairs in every draw if no two systems differ, ascending."""
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    largest = np.empty(draws)
    for begin in range(0, draws, DRAWS_AT_ONCE):
        size = min(DRAWS_AT_ONCE, draws - begin)
        effects = rng.standard_normal((size, len(covariance))) @ root
        spread = np.sqrt(rng.chisquare(freedom, size) / freedom)
        differences = effects[:, pairs[:, 0]] - effects[:, pairs[:, 1]]
        largest[begin : begin + size] = np.abs(differences / errors).max(axis=1) / spread
    return np.sort(largest)


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
