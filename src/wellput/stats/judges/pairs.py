"""Pairs of judges who share enough units, compared many at a time.

The number of pairs grows with the square of the number of judges. So at most `MAX_PAIRS` pairs, of at
most `MAX_PAIRED_JUDGES` judges who rated enough units, are compared. If there are more, they are drawn
at random, always the same ones. Means over 50,000 pairs have negligible sampling error; the lowest and
highest value are those of the pairs drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import Places
from wellput.core.estimates import CONSTANT_SPREAD_SHARE, NAN
from wellput.core.metric import Floats

MAX_PAIRS = 50_000
MAX_PAIRED_JUDGES = 4_000
CELLS_AT_A_TIME = 1 << 21
SPARSE_COST = 50
"""What counting one shared unit costs, in multiplications of a dense product of matrices."""


@dataclass(frozen=True, eq=False)
class JudgePairs:
    """The pairs to compare: the rows of both judges. `n_sharing` counts all pairs that share enough
    units, among the judges drawn; `n_judges` are the judges drawn, of `n_able` who rated enough."""

    first: Places
    second: Places
    n_sharing: int
    n_judges: int
    n_able: int

    def __len__(self) -> int:
        return len(self.first)

    @property
    def rule(self) -> str:
        """What was drawn, in words; empty where all pairs are compared."""
        drawn = []
        if self.n_judges < self.n_able:
            drawn.append(f"{self.n_judges:,} of {self.n_able:,} judges")
        if len(self) < self.n_sharing:
            drawn.append(f"{len(self):,} of {self.n_sharing:,} pairs of judges")
        return f"{' and '.join(drawn)}, drawn at random, are compared" if drawn else ""


def sharing_pairs(ratings: Floats, *, fewest: int) -> JudgePairs:
    """The pairs of judges who share at least `fewest` units (at least one)."""
    present = ~np.isnan(ratings)
    limits = MAX_PAIRS, MAX_PAIRED_JUDGES
    return _sharing_pairs(np.packbits(present).tobytes(), present.shape, max(fewest, 1), limits)


@lru_cache(maxsize=2)
def _sharing_pairs(
    packed: bytes, shape: tuple[int, int], fewest: int, limits: tuple[int, int]
) -> JudgePairs:
    """Several figures of one table ask for the same pairs, which depend only on who rated what."""
    bits = np.unpackbits(np.frombuffer(packed, np.uint8), count=shape[0] * shape[1])
    present = bits.reshape(shape).astype(np.bool_)
    able = np.flatnonzero(present.sum(axis=1) >= fewest)
    rng = np.random.default_rng(0)
    judges = able
    most_pairs, most_judges = limits
    if len(able) > most_judges:
        judges = np.sort(rng.choice(able, most_judges, replace=False))
    found = list(_pairs_by_block(present[judges], fewest))
    first = np.concatenate([able[:0], *(block[0] for block in found)])
    second = np.concatenate([able[:0], *(block[1] for block in found)])
    n_sharing = len(first)
    if n_sharing > most_pairs:
        chosen = np.sort(rng.choice(n_sharing, most_pairs, replace=False))
        first, second = first[chosen], second[chosen]
    return JudgePairs(judges[first], judges[second], n_sharing, len(judges), len(able))


def _pairs_by_block(present: NDArray[np.bool_], fewest: int) -> Iterator[tuple[Places, Places]]:
    """The pairs in order of their first judge, a block of first judges at a time."""
    n_judges, n_units = present.shape
    per_unit = present.sum(axis=0, dtype=np.int64)
    is_sparse = SPARSE_COST * int((per_unit**2).sum()) < n_judges**2 * n_units
    if is_sparse:
        from scipy.sparse import csr_array  # imported late: SciPy takes long to load

        given = csr_array(present, dtype=np.float32)
    else:
        given = present.astype(np.float32)
    block = max(1, CELLS_AT_A_TIME // max(n_judges, 1))
    for start in range(0, n_judges, block):
        shared = given[start : start + block] @ given.T
        counts = shared.toarray() if is_sparse else shared
        first, second = np.nonzero(counts >= fewest)
        first = first + start
        after = second > first
        yield first[after], second[after]


@dataclass(frozen=True, eq=False)
class SharedValues:
    """Some of the pairs: their places, and both judges' values, pairs × units of the judge who rated
    fewer. `both` marks the units that are shared; other values are 0."""

    places: Places
    x: Floats
    y: Floats
    both: NDArray[np.bool_]


def shared_values(ratings: Floats, pairs: JudgePairs) -> Iterator[SharedValues]:
    """The values of all pairs on the units they share."""
    rows, units = np.nonzero(~np.isnan(ratings))
    counts = np.bincount(rows, minlength=len(ratings))
    begin = np.concatenate([[0], np.cumsum(counts)[:-1]])
    is_swapped = counts[pairs.second] < counts[pairs.first]
    fewer = np.where(is_swapped, pairs.second, pairs.first)
    more = np.where(is_swapped, pairs.first, pairs.second)
    order = np.argsort(counts[fewer], kind="stable")
    widths = counts[fewer[order]]
    start = 0
    while start < len(order):
        most = min(start + max(1, CELLS_AT_A_TIME // int(widths[start])), len(order))
        end = start + max(1, min(most - start, CELLS_AT_A_TIME // int(widths[most - 1])))
        places = order[start:end]
        along = np.arange(widths[end - 1])
        one, other = fewer[places, None], more[places, None]
        is_own = along < counts[one]
        own = units[np.where(is_own, begin[one] + along, 0)]
        x, y = ratings[one, own], ratings[other, own]
        both = is_own & ~np.isnan(y)
        yield SharedValues(places, np.where(both, x, 0.0), np.where(both, y, 0.0), both)
        start = end


def pair_pearson(ratings: Floats, pairs: JudgePairs) -> Floats:
    """Pearson's r of each pair; NaN where a judge is constant on the units they share."""
    found = np.full(len(pairs), NAN)
    for shared in shared_values(ratings, pairs):
        n = shared.both.sum(axis=1)
        x, varies_x = _centered(shared.x, shared.both, n)
        y, varies_y = _centered(shared.y, shared.both, n)
        norms = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
        is_defined = varies_x & varies_y & (n > 1)
        r = (x * y).sum(axis=1) / np.where(is_defined, norms, 1.0)
        found[shared.places] = np.where(is_defined, np.clip(r, -1.0, 1.0), NAN)
    return found


def _centered(
    values: Floats, both: NDArray[np.bool_], n: NDArray[np.intp]
) -> tuple[Floats, NDArray[np.bool_]]:
    """The values less their mean, the largest 1, so that squares neither overflow nor vanish; and
    whether they vary more than rounding does."""
    high = np.where(both, values, -np.inf).max(axis=1)
    low = np.where(both, values, np.inf).min(axis=1)
    varies = high - low > CONSTANT_SPREAD_SHARE * np.maximum(np.abs(high), np.abs(low))
    apart = np.where(both, values - (values.sum(axis=1) / n)[:, None], 0.0)
    largest = np.abs(apart).max(axis=1)
    return apart / np.where(varies, largest, 1.0)[:, None], varies


@dataclass(frozen=True, eq=False)
class SquaredDisagreements:
    """For every pair of judges who share enough units: the sum of (a − b)² over these (`observed`),
    what it would be if both gave their ratings to random units (`expected`), and the number of units
    (`n`)."""

    observed: Floats
    expected: Floats
    n: Floats

    @classmethod
    def of(cls, ratings: Floats, *, fewest: int = 1) -> SquaredDisagreements:
        """The disagreements of the pairs that `sharing_pairs` gives."""
        pairs = sharing_pairs(ratings, fewest=fewest)
        observed, expected, n = (np.zeros(len(pairs)) for _ in range(3))
        if not len(pairs):
            return cls(observed, expected, n)
        values = ratings - np.nanmean(ratings)
        for shared in shared_values(values, pairs):
            x, y, places = shared.x, shared.y, shared.places
            n[places] = shared.both.sum(axis=1)
            squares = (x * x).sum(axis=1) + (y * y).sum(axis=1)
            observed[places] = ((x - y) ** 2).sum(axis=1)
            expected[places] = squares - 2 * x.sum(axis=1) * y.sum(axis=1) / n[places]
        # Sums this small are rounding: the ratings are equal.
        tiny = CONSTANT_SPREAD_SHARE * n * float(np.nanmax(values**2))
        return cls(
            np.where(observed > tiny, observed, 0.0), np.where(expected > tiny, expected, 0.0), n
        )
