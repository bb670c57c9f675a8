"""Two systems offered together: how often the first was chosen, and whether that is more than half.

A choice is 1 for the first system, 0 for the second, ½ for neither. Two inferences are made of each
pair, and the wider bounds and the greater p-value are given. The jackknife over judges and items
(`stats.crossed`): a judge's choices are alike, and so are those about an item. And the exact binomial
test of the choices that are no ties (Clopper & Pearson 1934): a handful of choices has no spread that
could be measured; 5 of 5 is p = .0625.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wellput.core.metric import Floats
from wellput.core.table import Estimate
from wellput.stats.crossed import CrossedMeans

Places = NDArray[np.intp]
EVEN = 0.5


def head_to_head(
    shares: ArrayLike,
    *,
    pairs: ArrayLike,
    judges: ArrayLike,
    items: ArrayLike,
    n_pairs: int,
    confidence: float = 0.95,
) -> tuple[Estimate, ...]:
    """The share of the first system of each pair, with interval and the p-value of an even share.

    One entry a choice: 1, ½ or 0, and the places of its pair, judge and item. A pair of which there is
    no choice is NaN.

    >>> five = head_to_head([1, 1, 1, 1, 1], pairs=[0] * 5, judges=range(5), items=range(5), n_pairs=1)
    >>> round(five[0].p_value, 4)
    0.0625
    """
    values = np.asarray(shares, dtype=np.float64)
    groups = np.asarray(pairs, dtype=np.intp)
    means = CrossedMeans.of(
        values,
        groups=groups,
        judges=np.asarray(judges, dtype=np.intp),
        items=np.asarray(items, dtype=np.intp),
        n_groups=n_pairs,
        are_shares=True,
    )
    return tuple(
        _cautious(
            means.mean(pair, confidence=confidence, null=EVEN),
            values[groups == pair],
            confidence,
            is_alone=len(means.judges[0]) < 2,
        )
        for pair in range(n_pairs)
    )


def _cautious(crossed: Estimate, values: Floats, confidence: float, *, is_alone: bool) -> Estimate:
    """`is_alone`: there is one judge, and nothing is said of others."""
    if not len(values):
        return Estimate(
            np.nan, method="undefined: they were never offered together", n=0, null=EVEN
        )
    exact = _exact(values, confidence)
    if crossed.low is None or crossed.high is None or crossed.p_value is None:
        return exact if is_alone else crossed
    assert exact.low is not None and exact.high is not None and exact.p_value is not None
    return Estimate(
        crossed.value,
        min(crossed.low, exact.low),
        max(crossed.high, exact.high),
        max(crossed.p_value, exact.p_value),
        f"{crossed.method}, and exact binomial",
        len(values),
        null=EVEN,
    )


def _exact(values: Floats, confidence: float) -> Estimate:
    """Of the choices that are no ties, put on the scale on which a tie is half a choice: given how many
    ties there are, the share is even just where those are."""
    from scipy.special import bdtr, betaincinv  # imported late: SciPy takes long to load

    won, lost = int((values > EVEN).sum()), int((values < EVEN).sum())
    n = won + lost
    tail = (1 - confidence) / 2
    low = float(betaincinv(won, lost + 1, tail)) if won else 0.0
    high = float(betaincinv(won + 1, lost, 1 - tail)) if lost else 1.0
    decided = n / len(values)
    p_value = min(1.0, 2 * float(bdtr(min(won, lost), n, EVEN))) if n else 1.0
    return Estimate(
        float(values.mean()),
        EVEN + decided * (low - EVEN),
        EVEN + decided * (high - EVEN),
        p_value,
        "exact binomial",
        len(values),
        null=EVEN,
    )
