"""How many items and judges it takes to find a difference between two systems, or two metrics, by
simulation. *Power* is the share of simulated studies that find it.

Two systems: judge j's rating of the first system's output for item i minus that of the second's is

    difference + item effect (sd_item) + judge effect (sd_judge) + noise of two ratings (sd_noise),

all normal; every judge rates every item. The test is that of a ranking by people (`mixed.contrasts`).
Two metrics: their scores and the mean judgment of each item are normal with given correlations.

No ratings are drawn one by one. In such studies means, mean squares and correlations have known
distributions, and the simulation draws from these, at the same cost for any number of items.
`Draws` holds the random numbers: studies of all sizes use the same ones, so that power does not change
from size to size by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np

from wellput.core.errors import InputError
from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.core.result import Result
from wellput.stats.judges.correlations import spearman_brown
from wellput.stats.metric_comparison import williams_variance
from wellput.stats.mixed.contrasts import difference_variances
from wellput.stats.proportions import wilson_bounds

MAX_EXACT_FREEDOM = 100
"""With more degrees of freedom, quantiles of χ² come from Wilson & Hilferty's formula, which is right
to five digits."""


class Draws:
    """Random numbers, one for each simulated study. A `stream` is a series of them for one purpose: the
    same stream gives the same quantiles for every size of a study."""

    def __init__(self, simulations: int, seed: int) -> None:
        if simulations < 100:
            raise InputError(f"At least 100 simulations are needed, not {simulations}.")
        self.simulations, self.seed = simulations, seed
        self._normals: dict[int, Floats] = {}

    def normal(self, stream: int) -> Floats:
        """Standard normal numbers, (simulations,)."""
        if stream not in self._normals:
            rng = np.random.default_rng([self.seed, stream])
            self._normals[stream] = rng.standard_normal(self.simulations)
        return self._normals[stream]

    def chi_square(self, stream: int, freedom: int) -> Floats:
        """Numbers with a χ² distribution, (simulations,)."""
        from scipy.special import gammaincinv, ndtr

        # Streams from 100 on, so that the numbers are independent of those of `normal`.
        quantile = self.normal(100 + stream)
        if freedom > MAX_EXACT_FREEDOM:
            correction = 2 / (9 * freedom)
            return np.asarray(freedom * (1 - correction + quantile * np.sqrt(correction)) ** 3)
        return np.asarray(2 * gammaincinv(freedom / 2, ndtr(quantile)), dtype=np.float64)

    def mean_square(self, stream: int, freedom: int) -> Floats:
        """Mean squares divided by their expectation, (simulations,)."""
        return self.chi_square(stream, freedom) / freedom

    def correlations(self, root: Floats, n: int) -> tuple[Floats, Floats, Floats]:
        """Correlations in samples of n points of three variables: 1 with 0, 2 with 0, 2 with 1. By
        Bartlett's decomposition of the Wishart distribution. `root` is the Cholesky root of the true
        correlation matrix."""
        lower = np.zeros((self.simulations, 3, 3))
        for place in range(3):
            lower[:, place, place] = np.sqrt(self.chi_square(place, n - 1 - place))
        for stream, (row, column) in enumerate([(1, 0), (2, 0), (2, 1)]):
            lower[:, row, column] = self.normal(stream)
        factor = root @ lower
        covariance = factor @ factor.swapaxes(1, 2)
        spread = np.sqrt(np.einsum("sii->si", covariance))
        r = covariance / spread[:, :, None] / spread[:, None, :]
        return r[:, 1, 0], r[:, 2, 0], r[:, 2, 1]


PowerOfSize: TypeAlias = Callable[[int, int | None], tuple[float, str]]
"""A function from the numbers of items and judges to the share of studies that find the difference, and
the reason where it is NaN."""

SIMULATIONS = 10_000
Z_OF_95_PERCENT = 1.959964
"""Standard errors on either side of the middle of a 95% interval."""
MAX_ITEMS = 1_000_000
"""The search for the smallest number of items stops here."""
MAX_JUDGES = 10_000


@dataclass(frozen=True, slots=True)
class PowerRow:
    """The share of simulated studies of this size that find the difference. `n_judges` is None where
    the number of judges does not matter."""

    n_items: int
    n_judges: int | None
    power: Estimate
    people_only: Estimate | None = None
    """For a study that combines people's ratings with the scores of a proxy, such as a metric
    (`proxy_power.py`): the power of people's ratings alone."""


@dataclass(frozen=True, slots=True)
class SmallestStudy:
    """The fewest items that reach the target with this many judges; None where no number does, and
    `note` says why."""

    n_judges: int | None
    n_items: int | None
    note: str = ""
    people_only: int | None = None
    """For a study with a proxy: the fewest items with people's ratings alone."""


@dataclass(frozen=True, repr=False)
class PowerTable(Result):
    """Power for all given sizes, and the smallest sizes that reach the target. `what` is compared:
    systems or metrics; `test` names the test and `alpha` its significance level."""

    presented_by: ClassVar[str] = "wellput.reporting.power:power_report"

    what: str
    test: str
    alpha: float
    target: float
    rows: tuple[PowerRow, ...]
    smallest: tuple[SmallestStudy, ...]
    assumed: Mapping[str, float] = field(default_factory=dict)
    """For two systems, the difference and the standard deviations, by the names of the options."""
    notes: tuple[str, ...] = ()
    has_proxy: bool = False
    """Whether the study combines people's ratings with the scores of a proxy."""

    def records(self) -> list[dict[str, Any]]:
        """One record for each size of a study."""
        return [
            {
                "items": row.n_items,
                "judges": row.n_judges,
                "power": row.power.value,
                "low": row.power.low,
                "high": row.power.high,
                "method": row.power.method,
                **({} if row.people_only is None else {"people_only": row.people_only.value}),
            }
            for row in self.rows
        ]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput power`."""
        return {
            "simulated": True,
            "what": self.what,
            "test": self.test,
            "alpha": self.alpha,
            "target": self.target,
            "seed": self.rows[0].power.seed,
            "assumed": dict(self.assumed),
            "notes": list(self.notes),
            "power": self.records(),
            "smallest": [
                {
                    "judges": study.n_judges,
                    "items": study.n_items,
                    "note": study.note,
                    **({"people_only": study.people_only} if self.has_proxy else {}),
                }
                for study in self.smallest
            ],
        }


def power_for_systems(
    difference: float,
    *,
    items: Sequence[int],
    judges: Sequence[int] = (1,),
    sd_item: float = 1.0,
    sd_noise: float = 1.0,
    sd_judge: float = 0.0,
    alpha: float = 0.05,
    target: float = 0.8,
    simulations: int = SIMULATIONS,
    seed: int = 12345,
) -> PowerTable:
    """Power to find a mean `difference` between two systems that are judged on the same items.

    `sd_item` and `sd_judge` are the spreads of the *difference* of the systems, from item to item and
    from judge to judge. `sd_noise` is the spread of *one rating* when the same judge rates the same
    output again; the difference of two ratings has √2 times this spread. With one judge the test is the
    paired t-test over items, for this judge only. With more it is that of the mixed model which ranks
    systems, for other judges and other items. One judge cannot show how judges differ: `sd_judge` needs
    at least two.
    """
    for name, value in (("sd_item", sd_item), ("sd_noise", sd_noise), ("sd_judge", sd_judge)):
        require(np.isfinite(value) and value >= 0, f"{name} must be 0 or above, {value} is not.")
    require(np.isfinite(difference), f"A difference must be a number, {difference} is not.")
    require(sd_item + sd_noise > 0, "sd_item or sd_noise must be above 0.")
    draws = Draws(simulations, seed)

    def power_of(n: int, n_judges: int | None) -> tuple[float, str]:
        n_judges = n_judges or 1
        if n < 2:
            return float("nan"), "one item cannot show how items differ"
        if sd_judge > 0 and n_judges < 2:
            return float("nan"), "one judge cannot show how judges differ"
        noise = 2 * sd_noise**2  # the variance of the noise of two ratings
        variance = sd_item**2 / n + sd_judge**2 / n_judges + noise / (n * n_judges)
        mean = difference + draws.normal(0) * np.sqrt(variance)
        by_item = (noise + n_judges * sd_item**2) * draws.mean_square(0, n - 1)
        if n_judges == 1:
            return significant_share(mean / np.sqrt(by_item / n), n - 1, alpha), ""
        by_judge = (noise + n * sd_judge**2) * draws.mean_square(1, n_judges - 1)
        # Twice as many degrees of freedom as the differences have (see `difference_variances`).
        residual = noise * draws.mean_square(2, 2 * (n - 1) * (n_judges - 1))
        test_variance, freedom = difference_variances(by_judge, by_item, residual, n_judges, n)
        return significant_share(mean / np.sqrt(test_variance), freedom, alpha), ""

    table = table_of_powers(
        "systems",
        _test_of_systems(judges),
        power_of,
        items=items,
        judges=judges,
        alpha=alpha,
        target=target,
        draws=draws,
    )
    assumed = {
        "difference": difference, "sd_item": sd_item, "sd_noise": sd_noise, "sd_judge": sd_judge,
    }  # fmt: skip
    notes: tuple[str, ...] = ()
    if any(study.n_items is None for study in table.smallest):
        notes = _judges_needed(power_of, target)
    return replace(table, assumed=assumed, notes=notes)


def _judges_needed(power_of: PowerOfSize, target: float) -> tuple[str, ...]:
    """A note that says how many judges it takes where no number of items is enough."""
    n = _fewest(lambda k: power_of(MAX_ITEMS, k)[0] >= target, 2, MAX_JUDGES)
    if n is None:
        return (f"Not even {MAX_JUDGES:,} judges reach {target:g}: the difference is too small.",)
    return (f"A power of {target:g} takes at least {n:,} judges, with any number of items.",)


def _test_of_systems(judges: Sequence[int]) -> str:
    """The name of the test for these numbers of judges."""
    one_judge, several_judges = "paired t-test over items", "test over judges and items"
    if all(n > 1 for n in judges):
        return f"two-sided {several_judges}"
    if all(n == 1 for n in judges):
        return f"two-sided {one_judge}"
    # In the report, the words after the name follow this comma.
    return f"two-sided {one_judge} with 1 judge, {several_judges} with more,"


def power_for_metrics(
    r1: float,
    r2: float,
    r12: float,
    *,
    items: Sequence[int],
    judges: Sequence[int] | None = None,
    judge_correlation: float | None = None,
    pilot_judges: int = 1,
    alpha: float = 0.05,
    target: float = 0.8,
    simulations: int = SIMULATIONS,
    seed: int = 12345,
) -> PowerTable:
    """Power of Williams' test for two metrics that correlate r1 and r2 with people and r12 with each
    other.

    With `judge_correlation`, the correlation of two single judges, the number of judges matters: r1
    and r2 are the correlations in a pilot study with `pilot_judges` judges, and more judges raise both,
    because the mean of their ratings is more reliable (Spearman–Brown). Points must be independent:
    systems, or items with one judged output each. Outputs of several systems for the same items are not
    independent.
    """
    for name, r in (("r1", r1), ("r2", r2), ("r12", r12)):
        require(-1 < r < 1, f"{name} must lie between -1 and 1, {r} does not.")
    if judge_correlation is None:
        require(judges is None, "judges= needs judge_correlation=: how far two judges agree.")
    else:
        require(0 < judge_correlation <= 1, "judge_correlation must be above 0 and at most 1.")
        require(pilot_judges >= 1, "pilot_judges must be 1 or more.")
    draws = Draws(simulations, seed)

    def power_of(n: int, n_judges: int | None) -> tuple[float, str]:
        if n < 4:
            return float("nan"), "Williams' test needs four points"
        gain = 1.0
        if judge_correlation is not None and n_judges is not None:
            reliability, pilot_reliability = (
                spearman_brown(judge_correlation, k) for k in (n_judges, pilot_judges)
            )
            gain = float(np.sqrt(reliability / pilot_reliability))
        root = _cholesky(r1 * gain, r2 * gain, r12)
        return significant_share(_williams_t(draws.correlations(root, n), n), n - 3, alpha), ""

    return table_of_powers(
        "metrics",
        "two-sided Williams' test",
        power_of,
        items=items,
        judges=list(judges or [pilot_judges]) if judge_correlation is not None else [None],
        alpha=alpha,
        target=target,
        draws=draws,
    )


def significant_share(t: Floats, freedom: Floats | int, alpha: float) -> float:
    """The share of the t values that are significant at the level `alpha`, two-sided."""
    from scipy.special import stdtr

    return float(np.mean(2 * stdtr(freedom, -np.abs(t)) < alpha))


def _williams_t(r: tuple[Floats, Floats, Floats], n: int) -> Floats:
    """`wellput.stats.williams` for many samples at once."""
    r1, r2, r12 = r
    variance = williams_variance(r1, r2, r12, n)
    return np.asarray((r1 - r2) * np.sqrt((n - 1) * (1 + r12) / variance), dtype=np.float64)


def _cholesky(r1: float, r2: float, r12: float) -> Floats:
    """The Cholesky root of the correlation matrix of people and two metrics."""
    try:
        return np.linalg.cholesky(np.array([[1, r1, r2], [r1, 1, r12], [r2, r12, 1]]))
    except np.linalg.LinAlgError:
        raise InputError(
            f"No three variables correlate {r1:.3f}, {r2:.3f} and {r12:.3f}: metrics that correlate "
            "like this with people must correlate differently with each other."
        ) from None


def table_of_powers(
    what: str,
    test: str,
    power_of: PowerOfSize,
    *,
    items: Sequence[int],
    judges: Sequence[int | None],
    alpha: float,
    target: float,
    draws: Draws,
    start_items: int = 4,
    max_items: int = MAX_ITEMS,
) -> PowerTable:
    """The power of a study of every size, and for each number of judges the fewest items that reach the
    target, up to `max_items`; the search begins with `start_items`."""
    require(0 < alpha < 1, f"alpha must lie between 0 and 1, {alpha} does not.")
    require(alpha < target < 1, f"The target must lie between alpha and 1, {target} does not.")
    require(all(n >= 1 for n in items), "The number of items must be 1 or more.")
    require(all(k is None or k >= 1 for k in judges), "The number of judges must be 1 or more.")

    def power(n: int, n_judges: int | None) -> Estimate:
        value, reason = power_of(n, n_judges)
        low, high = wilson_bounds(value, draws.simulations, z=Z_OF_95_PERCENT)
        return Estimate(
            value=value,
            low=low,
            high=high,
            method=f"simulated: {(reason or test).rstrip(',')}, {draws.simulations} simulations",
            n=draws.simulations,
            seed=draws.seed,
        )

    return PowerTable(
        what=what,
        test=test,
        alpha=alpha,
        target=target,
        rows=tuple(PowerRow(n, k, power(n, k)) for k in judges for n in items),
        smallest=tuple(_smallest(k, target, power_of, start_items, max_items) for k in judges),
    )


def _smallest(
    n_judges: int | None,
    target: float,
    power_of: PowerOfSize,
    start_items: int,
    max_items: int,
) -> SmallestStudy:
    """The fewest items with which `n_judges` judges reach the target."""
    reason = power_of(max_items, n_judges)[1]
    if reason:
        return SmallestStudy(n_judges, None, reason)
    n_items = _fewest(lambda n: power_of(n, n_judges)[0] >= target, start_items, max_items)
    note = "" if n_items else f"not even {max_items:,} items reach {target:g}"
    return SmallestStudy(n_judges, n_items, note)


def _fewest(reaches_target: Callable[[int], bool], start: int, limit: int) -> int | None:
    """The smallest number from 2 to `limit` that reaches the target; None where none does. `start` is
    doubled until it reaches the target, and then the gap is halved: power rises with the size of a
    study."""
    low, high = 1, start
    while not reaches_target(high):
        if high >= limit:
            return None
        low, high = high, min(2 * high, limit)
    while high - low > 1:
        middle = (low + high) // 2
        if reaches_target(middle):
            high = middle
        else:
            low = middle
    return high


def require(claim: bool | np.bool_, message: str) -> None:
    """Raises InputError with the message unless the claim is true."""
    if not claim:
        raise InputError(message)
