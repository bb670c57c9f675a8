"""`Estimate`, a number with its uncertainty; `ScoreTable`, the statistics of one scorer (a metric or
judges); and the option `generalize`, which says for which new systems and items an interval holds.

Values that cannot be computed are NaN, never 0, and an Estimate says why.

A correlation of values that are all equal, and a mean of no values, cannot be computed: `is_constant`,
`ratios` and `present_means` handle these cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import Clusters
from wellput.core.errors import InputError
from wellput.core.evalset import BLOCK_ITEMS
from wellput.core.metric import Floats

Generalize: TypeAlias = Literal["items", "systems", "both"]
"""To what an interval generalizes: to other items, to other systems, or to both."""

GENERALIZE_WORDS: dict[Generalize, str] = {
    "items": "these systems, other items",
    "systems": "other systems, these items",
    "both": "other systems and other items",
}


def refuse_other_than_items(generalize: Generalize, *, by_people: bool = False) -> None:
    """Raises InputError unless `generalize` is "items", the only choice for a comparison of systems.
    `by_people`: the comparison is a ranking by people, which also holds for other judges."""
    if generalize == "items":
        return
    if generalize in GENERALIZE_WORDS:
        scope = GENERALIZE_WORDS["items"] + (" and other judges" if by_people else "")
        raise InputError(
            f"generalize={generalize!r} is not for comparing systems: their intervals and tests "
            f"always hold for {scope}. Leave it out, or give generalize='items'."
        )
    raise InputError(f"generalize={generalize!r} is none of {', '.join(GENERALIZE_WORDS)}.")


def holds_for(generalize: Generalize, clusters: Clusters | None = None) -> str:
    """The sentence below a table that says for what its intervals hold.

    >>> holds_for("items")
    'Intervals and p hold for these systems, other items.'
    >>> holds_for("both", Clusters("document", np.array([0, 0, 1])))
    'Intervals and p hold for other systems and other documents.'
    """
    return f"Intervals and p hold for {holds_for_words(generalize, clusters)}."


def holds_for_words(generalize: Generalize, clusters: Clusters | None = None) -> str:
    """The words for `generalize`, with the clusters' name instead of "items"."""
    words = GENERALIZE_WORDS[generalize]
    return words if clusters is None else words.replace("items", clusters.words)


Bounds: TypeAlias = tuple[float | None, float | None]
"""The lowest and the highest possible score; None for no limit."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its uncertainty. A field that does not apply is None; undefined is NaN.

    `p_value` tests the hypothesis that the true value is `null`. An interval and a p-value come from
    the same inference: p is below .05 exactly where the 95% interval does not contain `null`.
    `p_adjusted` is p corrected for the other comparisons of the same result. `method` says how the
    numbers were computed, or why one cannot be computed. `n` is the number of observations, such as
    outputs, items or documents. `seed` is the seed of the resampling.
    """

    value: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    method: str = ""
    n: int | None = None
    seed: int | None = None
    null: float | None = None
    p_adjusted: float | None = None


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """One scorer's statistics for systems × items, and the functions that turn them into scores.

    A scorer is a metric or a panel of judges. `statistics` has shape (systems, items, k), with zeros
    where `present` (systems, items) is False. `aggregate` computes the score of summed statistics (a
    metric's `score`; for judges, the mean), `segment` the score of a single row. The score of a
    system or a document is the score of summed statistics, not the mean of segment scores.
    `components` computes the parts of a score that a metric shows beside it. `perfect` has the score of
    a perfect output (key `score`) and the values of its components. No score lies outside `bounds`.

    If outputs have several samples, an item's statistics are the mean of its samples' statistics, and
    `samples` (systems, items, 3) has the mean of the samples' scores, the sum of squared differences
    from this mean, and the number of samples; otherwise `samples` is None. `clusters` says which
    items are not independent of each other; it is None if all items are independent.
    """

    scorer: str
    signature: str
    systems: tuple[str, ...]
    items: tuple[str, ...]
    statistics: Floats
    present: NDArray[np.bool_]
    aggregate: Callable[[Floats], Floats]
    segment: Callable[[Floats], Floats]
    higher_is_better: bool | None = True
    components: Callable[[Floats], dict[str, Floats]] = lambda _: {}
    perfect: Mapping[str, float] = field(default_factory=dict)
    bounds: Bounds = (None, None)
    samples: Floats | None = None
    clusters: Clusters | None = None

    def row(self, system: str) -> int:
        """The row of a system."""
        if system not in self.systems:
            raise InputError(f"No system {system!r}; there are {', '.join(self.systems)}.")
        return self.systems.index(system)

    @property
    def scores(self) -> Floats:
        """Segment scores, shape (systems, items), NaN where missing or undefined."""
        return self.scores_of(slice(None))

    def scores_of(self, rows: int | slice) -> Floats:
        """The segment scores of the systems in these rows."""
        if self.samples is None:
            scores = self.segment(self.statistics[rows])
        else:
            scores = self.samples[rows, ..., 0]
        return np.where(self.present[rows], scores, np.nan)

    def of_items(self, items: NDArray[np.bool_]) -> ScoreTable:
        """The part of the table with these items."""
        return replace(
            self,
            items=tuple(compress(self.items, items)),
            statistics=self.statistics[:, items],
            present=self.present[:, items],
            samples=None if self.samples is None else self.samples[:, items],
            clusters=None if self.clusters is None else self.clusters.of_items(items),
        )

    @property
    def system_scores(self) -> Floats:
        """Each system's score over the items for which it has an output; NaN if it has no outputs.
        Scores that differ only by rounding, because they were summed in another order, are made
        equal."""
        sums = np.stack([block_sum(rows) for rows in self.statistics])
        return with_equal_ties(np.where(self.present.any(axis=1), self.aggregate(sums), np.nan))


def block_sum(statistics: Floats) -> Floats:
    """The sum over axis 0, added block by block as in scoring, so that rounding is the same."""
    total = np.zeros(statistics.shape[1:])
    for start in range(0, len(statistics), BLOCK_ITEMS):
        total += statistics[start : start + BLOCK_ITEMS].sum(axis=0)
    return total


NAN = float("nan")

CONSTANT_SPREAD_SHARE = 1e-12
"""Values count as equal if they differ by less than this share of the largest value: means of equal
ratings may be rounded differently."""


def undefined(
    reason: str, *, n: int | None = None, seed: int | None = None, has_p_value: bool = False
) -> Estimate:
    """An estimate of NaN, with the reason as its method. With `has_p_value`, its p-value is NaN, too;
    otherwise None.

    >>> undefined("there are no ratings").method
    'undefined: there are no ratings'
    """
    p_value = NAN if has_p_value else None
    return Estimate(NAN, p_value=p_value, method=f"undefined: {reason}", n=n, seed=seed)


def is_constant(values: Floats) -> bool:
    """Whether all values are equal, up to rounding."""
    return not len(values) or float(np.ptp(values)) <= CONSTANT_SPREAD_SHARE * float(
        np.abs(values).max()
    )


def with_equal_ties(values: Floats) -> Floats:
    """The values, where those of a row (the last axis) that differ only by rounding are equal:
    (0.1 + 0.2 + 0.7) / 3 is not quite (0.7 + 0.2 + 0.1) / 3. NaN stays NaN.

    >>> np.unique(with_equal_ties(np.array([(0.1 + 0.2 + 0.7) / 3, (0.7 + 0.2 + 0.1) / 3])))
    array([0.33333333])
    >>> with_equal_ties(np.array([0.5, 0.7, 0.9, -1e13])).tolist()
    [0.5, 0.7, 0.9, -10000000000000.0]
    """
    if values.shape[-1] < 2:
        return values
    order = np.argsort(values, axis=-1)  # NaN last
    ascending = np.take_along_axis(values, order, axis=-1)
    sizes = np.where(np.isfinite(ascending), np.abs(ascending), np.nan)
    # Sums near 0 are rounded as their parts are, so their own size says too little. A single huge
    # value, such as a perplexity that exploded, says nothing of the others: so the median counts.
    usual_size = _row_medians(sizes)
    rounded_at = np.maximum(np.maximum(sizes[..., 1:], sizes[..., :-1]), usual_size)
    with np.errstate(invalid="ignore"):
        is_tie = np.diff(ascending, axis=-1) <= CONSTANT_SPREAD_SHARE * rounded_at
    if not is_tie.any():
        return values
    places = np.arange(values.shape[-1])
    first_of_tie = np.zeros(values.shape, np.intp)
    first_of_tie[..., 1:] = np.where(is_tie, 0, places[1:])
    first_of_tie = np.maximum.accumulate(first_of_tie, axis=-1)
    result = np.empty_like(values)
    np.put_along_axis(result, order, np.take_along_axis(ascending, first_of_tie, axis=-1), axis=-1)
    return result


def _row_medians(sizes: Floats) -> Floats:
    """The median of each row without NaN, as a column; NaN for a row of NaN."""
    n = (~np.isnan(sizes)).sum(axis=-1, keepdims=True)
    ascending = np.sort(sizes, axis=-1)  # NaN last
    return np.take_along_axis(ascending, np.maximum(n - 1, 0) // 2, axis=-1)


def largest_size(*arrays: Floats) -> float:
    """The largest absolute value among the finite numbers; 0 if there are none.

    >>> largest_size(np.array([1.0, -3.0]), np.array([np.nan, np.inf]))
    3.0
    """
    return max(float(np.abs(a[np.isfinite(a)]).max(initial=0.0)) for a in arrays)


def ratios(parts: Floats, wholes: Floats | NDArray[np.int64]) -> Floats:
    """parts / wholes; NaN where the whole is 0.

    >>> ratios(np.array([1.0, 0.0]), np.array([2, 0]))
    array([0.5, nan])
    """
    result: Floats = np.full(np.shape(parts), NAN)
    return np.divide(parts, wholes, out=result, where=np.asarray(wholes) > 0)


def present_means(values: Floats, *, axis: int) -> Floats:
    """The mean along an axis of the values that are not NaN; NaN if all values are NaN."""
    return ratios(np.nansum(values, axis=axis), (~np.isnan(values)).sum(axis=axis))
