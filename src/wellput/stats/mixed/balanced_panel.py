"""How sure the difference of two systems is if every judge rated both systems on every item: what the
mixed model of a ranking (`linear`) gives for such a panel, in closed form.

With the first system's rating minus the second's as the value of a judge and an item, restricted
likelihood estimates a judge's and an item's part of the spread by mean squares. A part that would be
negative is 0: its mean square is then pooled with the residual's.
"""

from __future__ import annotations

import numpy as np

from wellput.core.metric import Floats

MIN_ITEMS_FOR_FREEDOM = 10
"""With fewer items, a difference has at most (items − 1) degrees of freedom: where the variance of
items is estimated as 0, the model would count every judgment."""
MIN_JUDGES_FOR_FREEDOM = 4
"""With fewer judges, their tastes are often estimated as 0 by chance. So a difference has at most
(judges − 1) degrees of freedom, which is cautious."""


def difference_variances(
    by_judge: Floats, by_item: Floats, residual: Floats, n_judges: int, n_items: int
) -> tuple[Floats, Floats]:
    """The variance of the mean difference and its Satterthwaite degrees of freedom, for many panels.

    `by_judge`, `by_item` and `residual` are mean squares of the differences. The residual's has twice
    the (judges − 1)(items − 1) degrees of freedom of the differences, because the sums of the two
    ratings say as much about it.
    """
    free_judge, free_item = n_judges - 1, n_items - 1
    free_residual = 2 * free_judge * free_item
    # The smaller of the two is pooled first.
    is_judge_smaller = by_judge < by_item
    small, large = np.minimum(by_judge, by_item), np.maximum(by_judge, by_item)
    free_small = np.where(is_judge_smaller, free_judge, free_item)
    free_large = np.where(is_judge_smaller, free_item, free_judge)
    once = _pooled(residual, free_residual, small, free_small)
    twice = _pooled(once, free_residual + free_small, large, free_large)
    has_small, has_large = small > residual, large > once
    total = np.where(has_small, small + large - residual, np.where(has_large, large, twice))
    spread = small**2 / free_small + large**2 / free_large + residual**2 / free_residual
    freedom = np.where(
        has_small,
        total**2 / spread,
        np.where(has_large, free_large, free_residual + free_judge + free_item),
    )
    if n_judges < MIN_JUDGES_FOR_FREEDOM:
        freedom = np.minimum(freedom, free_judge)
    if n_items < MIN_ITEMS_FOR_FREEDOM:
        freedom = np.minimum(freedom, free_item)
    return total / (n_judges * n_items), freedom


def _pooled(square: Floats, freedom: Floats | int, other: Floats, other_freedom: Floats) -> Floats:
    total = square * freedom + other * other_freedom
    return np.asarray(total / (freedom + other_freedom), dtype=np.float64)
