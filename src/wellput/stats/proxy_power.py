"""How many items people must rate to find a difference between two systems with a proxy's help.

A *proxy*, such as a language model or a metric, has scores for all items; people rate some of the
items. On each item, the proxy's difference of the two systems and the difference of people's mean
ratings are normal with a given correlation. The estimate is PPI++ with a tuned λ
(`prediction_powered`, as in `wellput estimate`); its test holds for these judges and other items.

As in `power`, no item is drawn: the sums that the estimate is computed from have known distributions.
The standard error is that of leaving out one item at a time, approximated by the first two terms of an
expansion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from wellput.core.metric import Floats
from wellput.stats.power import (
    SIMULATIONS,
    Draws,
    PowerTable,
    require,
    significant_share,
    table_of_powers,
)
from wellput.stats.prediction_powered import MIN_LABELS, hall_share
from wellput.stats.student import hall_transformed

TEST = "two-sided test of `wellput estimate`"


@dataclass(frozen=True)
class ProxyPlan:
    """The proxy has scores for `n_items` items. `correlation` is the correlation over items of two
    differences between the systems: the proxy's, and that of the mean ratings of `judges` judges."""

    correlation: float
    n_items: int
    judges: float = 1


def power_with_proxy(
    difference: float,
    proxy: ProxyPlan,
    *,
    items: Sequence[int],
    judges: Sequence[int] = (1,),
    sd_item: float = 1.0,
    sd_noise: float = 1.0,
    alpha: float = 0.05,
    target: float = 0.8,
    simulations: int = SIMULATIONS,
    seed: int = 12345,
) -> PowerTable:
    """Power to find a mean `difference` between two systems, with the proxy and with people alone.
    People rate `items` of the items that the proxy has scores for.

    More judges have less noise, so the proxy correlates more with their mean. `sd_item` and `sd_noise`
    are as for `power_for_systems`.
    """
    for name, value in (("sd_item", sd_item), ("sd_noise", sd_noise)):
        require(np.isfinite(value) and value >= 0, f"{name} must be 0 or above, {value} is not.")
    require(np.isfinite(difference), f"A difference must be a number, {difference} is not.")
    require(sd_item + sd_noise > 0, "sd_item or sd_noise must be above 0.")
    r = proxy.correlation
    require(-1 < r < 1, f"proxy_correlation must lie between -1 and 1, {r} does not.")
    require(proxy.n_items >= MIN_LABELS, f"proxy_items must be {MIN_LABELS} or more.")
    require(proxy.judges >= 1, "pilot_judges must be 1 or more.")
    limit = highest_correlation(proxy.judges, sd_item, sd_noise)
    require(
        abs(r) < limit or r == 0,
        f"proxy_correlation {r:g} is impossible: people's own noise (sd_noise {sd_noise:g}, sd_item "
        f"{sd_item:g}) leaves at most {limit:.2f}.",
    )
    r_with_truth = r / limit if limit else 0.0
    draws = Draws(simulations, seed)

    def power_of(n: int, n_judges: int | None, *, n_scored: int) -> tuple[float, str]:
        if n < MIN_LABELS:
            return math.nan, f"fewer than {MIN_LABELS} labeled items"
        if n_scored < n:
            return math.nan, f"only {n_scored:,} items have scores of the proxy"
        k = n_judges or 1
        r_with_people = r_with_truth * highest_correlation(k, sd_item, sd_noise)
        spread = math.sqrt(sd_item**2 + 2 * sd_noise**2 / k)
        t = _estimate_t(draws, n, n_scored - n, r_with_people, difference / spread)
        return significant_share(t, n - 1, alpha), ""

    make_table = partial(
        table_of_powers,
        "systems",
        TEST,
        items=items,
        judges=judges,
        alpha=alpha,
        target=target,
        draws=draws,
        start_items=MIN_LABELS,
    )
    table = make_table(lambda n, k: power_of(n, k, n_scored=proxy.n_items), max_items=proxy.n_items)
    people_only_table = make_table(lambda n, k: power_of(n, k, n_scored=n))
    return replace(
        table,
        rows=tuple(
            replace(row, people_only=without_proxy.power)
            for row, without_proxy in zip(table.rows, people_only_table.rows, strict=True)
        ),
        smallest=tuple(
            replace(study, people_only=without_proxy.n_items)
            for study, without_proxy in zip(table.smallest, people_only_table.smallest, strict=True)
        ),
        assumed={
            "difference": difference,
            "sd_item": sd_item,
            "sd_noise": sd_noise,
            "proxy_correlation": r,
            "pilot_judges": proxy.judges,
            "proxy_items": proxy.n_items,
        },
        has_proxy=True,
    )


def highest_correlation(n_judges: float, sd_item: float, sd_noise: float) -> float:
    """The correlation that a perfect proxy would reach: the correlation of the true differences of two
    systems on items with the differences of their mean ratings by `n_judges` judges, which have noise.

    >>> highest_correlation(2, sd_item=1.0, sd_noise=1.0) ** 2  # 1 / (1 + 2 / 2)
    0.5000000000000001
    """
    return math.sqrt(sd_item**2 / (sd_item**2 + 2 * sd_noise**2 / n_judges))


def _estimate_t(draws: Draws, n: int, extra: int, r: float, mean: float) -> Floats:
    """The sizes of the t statistics (the smaller of Student's and Hall's, as for `CautiousStudent`) of
    the simulated studies with n labeled and `extra` unlabeled items. Labels (people's differences y,
    with this mean) and the proxy's differences f have a standard deviation of 1 and the correlation r.
    `ff`, `fy` and `yy` are the mean squares and products of the labeled items' deviations, `gap` is the
    mean of f of the unlabeled items minus that of the labeled ones."""
    unexplained = math.sqrt(1 - r**2)
    root, cross = np.sqrt(draws.chi_square(0, n - 1)), draws.normal(0)
    ff = root**2 / n
    fy = r * ff + unexplained * root * cross / n
    yy = r * (2 * fy - r * ff) + unexplained**2 * (cross**2 + draws.chi_square(1, n - 2)) / n
    f_mean = draws.normal(1) / math.sqrt(n)
    value = mean + r * f_mean + unexplained * draws.normal(2) / math.sqrt(n)
    # The variance of the estimate, and its part from the labeled items.
    variance = variance_of_labeled = yy / (n - 1)
    if extra > 1:
        total = n + extra
        unlabeled_squares = draws.chi_square(2, extra - 1)
        gap = draws.normal(3) / math.sqrt(extra) - f_mean
        slope = (
            extra / (n * ff + unlabeled_squares + n * extra / total * gap**2) * (total - 1) / total
        )
        # slope · fy is the best λ. The limit is λ = 1 for proxy scores with the spread of the labels:
        # `wellput estimate` scales a metric's scores so.
        tuning = np.clip(slope * fy, 0.0, np.sqrt(yy / ff))
        # Leaving out an item changes the mean of y − λf, and it changes λ, which matters where the
        # means of f differ between labeled and unlabeled items; `of_both` is the product of both
        # changes.
        shift = slope * fy * n / extra
        of_tuning = ff * yy + fy**2 + 2 * shift * ff * (shift * ff - 2 * fy)
        of_both = ff * yy + fy**2 - 2 * ff * (tuning * fy + shift * (fy - tuning * ff))
        is_tuned = (tuning > 0) & (tuning == slope * fy)
        added_variance = np.where(
            is_tuned, (gap * slope) ** 2 * of_tuning + 2 * slope / n * of_both, 0.0
        )
        variance_of_labeled = (yy - 2 * tuning * fy + tuning**2 * ff) / (n - 1) + added_variance / n
        variance = variance_of_labeled + tuning**2 * unlabeled_squares / (extra - 1) / extra
        value = value + tuning * gap
    t = value / np.sqrt(variance)
    # How far the skewness of n normal values varies around 0; for their mean, it is divided by √n.
    skewness_sd = math.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3))) / math.sqrt(n)
    skew = hall_share(n) * skewness_sd * draws.normal(4) * (variance_of_labeled / variance) ** 1.5
    return np.asarray(np.minimum(np.abs(t), np.abs(hall_transformed(t, skew))))
