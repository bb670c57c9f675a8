"""A panel's ratings as an array, arithmetic that the measures of agreement share, and pairs of judges.

*Ratings* are judges × units, NaN where a judge did not rate a unit. A *unit* is one system's output for
one item.

Pairs of judges who share enough units are compared many at a time. The number of pairs grows with the
square of the number of judges. So at most `MAX_PAIRS` pairs, of at most `MAX_PAIRED_JUDGES` judges who
rated enough units, are compared. Where there are more, they are drawn at random, with a fixed seed.
Means over 50,000 pairs have negligible sampling error; the lowest and highest value are those of the
pairs drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wellput.core.clusters import Places
from wellput.core.errors import InputError
from wellput.core.estimates import CONSTANT_SPREAD_SHARE, NAN, is_constant
from wellput.core.metric import Floats

MIN_UNITS_TO_COMPARE = 3
"""Two judges are compared where they share at least this many units: on two, any correlation is 1 or
−1."""

MIN_SHARED_UNITS = 10
"""Two judges' agreement is reported from this many units on: on three, chance can give any
correlation."""


def as_ratings(ratings: ArrayLike) -> Floats:
    """The ratings as floats, judges × units; raises InputError where the shape or a number is wrong."""
    array = np.asarray(ratings, dtype=np.float64)
    if array.ndim != 2:
        raise InputError(f"Ratings must be judges × units; this array has {array.ndim} axes.")
    if np.isinf(array).any():
        places = [f"judge {judge}, unit {unit}" for judge, unit in np.argwhere(np.isinf(array))]
        raise InputError.collect("Ratings must be finite; these are infinite:", places)
    return array


def packed_by_unit(ratings: Floats) -> Floats:
    """Each unit's ratings moved to the first rows; the rows that are left empty are dropped.

    Which judge gave a rating is lost. For a crowd where each judge sees a few units, few rows remain.
    """
    units, judges = np.nonzero(~np.isnan(ratings).T)
    counts = np.bincount(units, minlength=ratings.shape[1])
    places = np.arange(len(units)) - np.repeat(np.cumsum(counts) - counts, counts)
    upper_rows = np.full((int(counts.max(initial=0)), ratings.shape[1]), np.nan)
    upper_rows[places, units] = ratings[judges, units]
    return upper_rows


def without_empty(ratings: Floats) -> Floats:
    """The ratings without the judges and the units that have none. A table of a crowd is large, so it
    is copied only if there are any."""
    is_rated = ~np.isnan(ratings)
    judges, units = is_rated.any(axis=1), is_rated.any(axis=0)
    if not judges.all():
        ratings = ratings[judges]
    return ratings if units.all() else ratings[:, units]


def noise_share(counts: Floats | NDArray[np.intp]) -> float:
    """The mean over the rated units of 1 / (number of the unit's ratings): how much of the noise of one
    rating is in a unit's mean rating."""
    return float((1 / counts[counts > 0]).mean())


def pearson(x: Floats, y: Floats) -> float:
    """Pearson's r of two rows without NaN; NaN where one of them is constant."""
    if len(x) < 2 or is_constant(x) or is_constant(y):
        return NAN
    x, y = x - x.mean(), y - y.mean()
    x, y = x / np.abs(x).max(), y / np.abs(y).max()  # squares neither overflow nor vanish
    # Sums of products, because dot products make BLAS wake all cores, here hundreds of times.
    product = (x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum())
    return float(np.clip(product, -1.0, 1.0))


def shared_units(ratings: Floats, *, fewest: int = 0) -> Iterator[tuple[int, int, Floats, Floats]]:
    """Every pair of rows that share at least `fewest` units, with the values of both on these units."""
    present = ~np.isnan(ratings)
    counts = present.astype(np.float64) @ present.T
    # In a crowd, few of the many pairs share any unit.
    for first, second in np.argwhere(np.triu(counts >= fewest, 1)).tolist():
        is_shared = present[first] & present[second]
        yield first, second, ratings[first, is_shared], ratings[second, is_shared]


@dataclass(frozen=True, slots=True)
class PairSummary:
    """A measure of two judges, summarized over all pairs. `sd` is the sample standard deviation.

    `undefined_pairs` counts the pairs without a value, which are left out. `constant` has the rows of
    judges who gave one rating to all their units. `reason` says why a figure is NaN.
    """

    mean: float
    min: float
    max: float
    sd: float
    n_pairs: int
    undefined_pairs: int = 0
    constant: tuple[int, ...] = ()
    reason: str = ""


def summarize_pairs(
    values: Sequence[float],
    judges: int,
    constant: tuple[int, ...] = (),
    *,
    fewest: int = MIN_UNITS_TO_COMPARE,
) -> PairSummary:
    """The summary of `values`, one for each pair of `judges` judges that was measured; NaN is
    undefined."""
    defined = np.array([value for value in values if not np.isnan(value)])
    left_out = judges * (judges - 1) // 2 - len(defined)
    if not len(defined):
        reason = f"no pair of judges shares {fewest} units on which both vary"
        return PairSummary(NAN, NAN, NAN, NAN, 0, left_out, constant, reason)
    return PairSummary(
        mean=float(defined.mean()),
        min=float(defined.min()),
        max=float(defined.max()),
        sd=float(defined.std(ddof=1)) if len(defined) > 1 else NAN,
        n_pairs=len(defined),
        undefined_pairs=left_out,
        constant=constant,
        reason="" if len(defined) > 1 else "a single pair has no standard deviation",
    )


def constant_judges(ratings: Floats) -> tuple[int, ...]:
    """The rows of judges who gave the same rating to all their units, at least two."""
    by_judge = (row[~np.isnan(row)] for row in ratings)
    return tuple(
        judge for judge, values in enumerate(by_judge) if len(values) > 1 and is_constant(values)
    )


MAX_PAIRS = 50_000
MAX_PAIRED_JUDGES = 4_000
CELLS_AT_A_TIME = 1 << 21
"""The largest number of array cells computed at a time, so that memory stays small."""
SPARSE_COST = 50
"""Counting one shared unit with a sparse matrix takes as long as this many multiplications with a dense
one."""


@dataclass(frozen=True, eq=False)
class JudgePairs:
    """The pairs to compare: `first` and `second` are the rows of both judges. `n_sharing` counts all
    pairs that share enough units, among the judges drawn; `n_judges` is the number of judges drawn, of
    `n_able` who rated enough units."""

    first: Places
    second: Places
    n_sharing: int
    n_judges: int
    n_able: int

    def __len__(self) -> int:
        return len(self.first)

    @property
    def sampling_note(self) -> str:
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
    limits = MAX_PAIRS, MAX_PAIRED_JUDGES  # given, so that the cache knows them: tests change them
    return _sharing_pairs(np.packbits(present).tobytes(), present.shape, max(fewest, 1), limits)


@lru_cache(maxsize=2)
def _sharing_pairs(
    packed: bytes, shape: tuple[int, int], fewest: int, limits: tuple[int, int]
) -> JudgePairs:
    """As `sharing_pairs`, from the bits of who rated what (`packed`, judges × units). The result is
    cached, because several figures of one table of ratings need the same pairs."""
    bits = np.unpackbits(np.frombuffer(packed, np.uint8), count=shape[0] * shape[1])
    present = bits.reshape(shape).astype(np.bool_)
    able = np.flatnonzero(present.sum(axis=1) >= fewest)
    rng = np.random.default_rng(0)
    judges = able
    most_pairs, most_judges = limits
    if len(able) > most_judges:
        judges = np.sort(rng.choice(able, most_judges, replace=False))
    blocks = list(_pairs_by_block(present[judges], fewest))
    first = np.concatenate([able[:0], *(block[0] for block in blocks)])
    second = np.concatenate([able[:0], *(block[1] for block in blocks)])
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

        rated = csr_array(present, dtype=np.float32)
    else:
        rated = present.astype(np.float32)
    block = max(1, CELLS_AT_A_TIME // max(n_judges, 1))
    for start in range(0, n_judges, block):
        shared = rated[start : start + block] @ rated.T
        counts = shared.toarray() if is_sparse else shared
        first, second = np.nonzero(counts >= fewest)
        first = first + start
        after = second > first
        yield first[after], second[after]


@dataclass(frozen=True, eq=False)
class SharedValues:
    """Some of the pairs: their places in the list of pairs, and the values `x` and `y` of both judges,
    a row for each pair. The columns are the units of that judge of the pair who rated fewer. `both`
    marks the units that are shared; other values are 0."""

    places: Places
    x: Floats
    y: Floats
    both: NDArray[np.bool_]


def shared_values(ratings: Floats, pairs: JudgePairs) -> Iterator[SharedValues]:
    """The values of all pairs on the units they share, some pairs at a time. Pairs are sorted by their
    numbers of units, so that the rows of a table are nearly equally long."""
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
        # Rows get wider: the first width gives the latest end, the width there how many rows fit.
        latest_end = min(start + max(1, CELLS_AT_A_TIME // int(widths[start])), len(order))
        most_rows = CELLS_AT_A_TIME // int(widths[latest_end - 1])
        end = start + max(1, min(latest_end - start, most_rows))
        places = order[start:end]
        along = np.arange(widths[end - 1])  # the last pair of the table is the widest
        first_rows, second_rows = fewer[places, None], more[places, None]
        is_own = along < counts[first_rows]
        own_units = units[np.where(is_own, begin[first_rows] + along, 0)]
        x, y = ratings[first_rows, own_units], ratings[second_rows, own_units]
        both = is_own & ~np.isnan(y)
        yield SharedValues(places, np.where(both, x, 0.0), np.where(both, y, 0.0), both)
        start = end


def pair_pearson(ratings: Floats, pairs: JudgePairs) -> Floats:
    """Pearson's r of each pair; NaN where a judge is constant on the units they share."""
    correlations = np.full(len(pairs), NAN)
    for shared in shared_values(ratings, pairs):
        correlations[shared.places] = row_pearson(shared.x, shared.y, shared.both)
    return correlations


def row_pearson(x: Floats, y: Floats, both: NDArray[np.bool_]) -> Floats:
    """Pearson's r of each row of x with the same row of y, over the cells that `both` marks; the values
    of other cells must be 0. NaN where undefined."""
    n = both.sum(axis=1)
    x, varies_x = _centered(x, both, n)
    y, varies_y = _centered(y, both, n)
    norms = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    is_defined = varies_x & varies_y & (n > 1)
    r = (x * y).sum(axis=1) / np.where(is_defined, norms, 1.0)
    return np.asarray(np.where(is_defined, np.clip(r, -1.0, 1.0), NAN))


def _centered(
    values: Floats, both: NDArray[np.bool_], n: NDArray[np.intp]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Each row's values minus their mean, divided by the largest, so that squares neither overflow nor
    vanish; and whether the row varies by more than rounding. `n` counts the cells of `both`."""
    high = np.where(both, values, -np.inf).max(axis=1)
    low = np.where(both, values, np.inf).min(axis=1)
    varies = high - low > CONSTANT_SPREAD_SHARE * np.maximum(np.abs(high), np.abs(low))
    deviations = np.where(both, values - (values.sum(axis=1) / np.maximum(n, 1))[:, None], 0.0)
    largest = np.abs(deviations).max(axis=1)
    return deviations / np.where(varies, largest, 1.0)[:, None], varies


@dataclass(frozen=True, eq=False)
class SquaredDisagreements:
    """For every pair of judges who share enough units: the sum of (a − b)² over these units, where a
    and b are the judges' ratings (`observed`); what it would be if both gave their ratings to random
    units (`expected`); and the number of units (`n`)."""

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
