"""How often are the p-values and intervals of `wellput score` right?

Systems are simulated whose true scores are known. If two systems are equally good, a test must find a
difference in 5% of the studies, and a 95% interval must contain the true score, or the true difference of two
unequal systems, in 95%.

    python -m benchmarks calibration
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy.stats import binom

from benchmarks.calibration.score_worlds import WORLDS, World
from benchmarks.pages import write_page
from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.stats.jackknife import paired_jackknife, score_interval
from wellput.stats.proportions import DifferenceOfShares, is_share, share_interval
from wellput.stats.resampling import approximate_randomization, bootstrap, paired_bootstrap

SIZES = (30, 100, 500)
EXACT_SIZES = (10, 15, 20, 30, 50, 100, 500)
LOWEST_COVERAGE = 0.93
MOST_FOUND_DIFFERENT = 0.065
CONSERVATIVE_BELOW = 0.03
Test: TypeAlias = Callable[..., Estimate]
NAMED: dict[str, Test] = {
    "ar": approximate_randomization,
    "bs": partial(paired_bootstrap, null="sacrebleu"),
    "both tails": paired_bootstrap,
}


@dataclass(frozen=True)
class Default:
    """How right the default figures of `wellput score` are, in one world with n items: the share of pairs of
    equally good systems that are found different at .05, and the shares of 95% intervals that contain the
    true difference and the true score."""

    world: World
    n: int
    found_different: float
    difference_covered: float
    score_covered: float

    @property
    def fails(self) -> bool:
        covered = min(self.difference_covered, self.score_covered)
        return self.found_different > MOST_FOUND_DIFFERENT or covered < LOWEST_COVERAGE

    @property
    def is_conservative(self) -> bool:
        return self.found_different < CONSERVATIVE_BELOW and not self.fails


def difference(world: World, a: Floats, b: Floats) -> Estimate:
    """As `wellput score` makes it."""
    if is_share(a, world.score, world.bounds) and is_share(b, world.score, world.bounds):
        return DifferenceOfShares.of(a[:, 0], b[:, 0]).estimate
    return paired_jackknife(a, b, world.score).estimate


def measure_default(world: World, n: int, *, trials: int, seed: int) -> Default:
    better, worse = world.truth(seed)
    compare = partial(difference, world)
    hits = np.zeros((trials, 3))
    for trial in range(trials):
        rng = np.random.default_rng([seed, n, trial])
        a, b = world.draw(n, 0.0, rng)
        p_value = compare(a, b).p_value
        hits[trial, 0] = p_value is not None and p_value < 0.05
        hits[trial, 1] = _covers(score_interval(a, world.score, bounds=world.bounds), better)
        a, b = world.draw(n, world.gap, rng)
        hits[trial, 2] = _covers(compare(a, b), better - worse)
    found_different, score_covered, difference_covered = (
        float(share) for share in hits.mean(axis=0)
    )
    return Default(world, n, found_different, difference_covered, score_covered)


def _covers(estimate: Estimate, truth: float) -> bool:
    if estimate.low is None or estimate.high is None:
        return True  # the systems differ on one item at most: nothing is claimed
    return estimate.low <= truth <= estimate.high


def measure_named(world: World, n: int, *, trials: int, n_resamples: int, seed: int) -> list[float]:
    """The share of pairs of equally good systems that each test of `NAMED` finds different at .05, and the
    share of percentile intervals that contain the true score."""
    better, _ = world.truth(seed)
    hits = np.zeros((trials, len(NAMED) + 1))
    for trial in range(trials):
        rng = np.random.default_rng([seed, n, trial])
        a, b = world.draw(n, 0.0, rng)
        drawn = {"n_resamples": n_resamples, "seed": int(rng.integers(2**63))}
        for column, test in enumerate(NAMED.values()):
            p_value = test(a, b, world.score, **drawn).p_value
            hits[trial, column] = p_value is not None and p_value <= 0.05
        hits[trial, -1] = _covers(bootstrap(a, world.score, **drawn), better)
    return [float(share) for share in hits.mean(axis=0)]


def exact_type_1_error(n: int) -> float:
    """The largest type I error at .05 of the default test of two systems that are right (1) or wrong (0)
    equally often, over all shares of items on which they differ: every outcome is tested, nothing is drawn."""
    rejected = np.zeros(n + 1)  # by the number of items on which they differ: how often p < .05
    for differing in range(n + 1):
        outcomes = np.arange(differing + 1)
        p_values = [DifferenceOfShares(int(k), differing - int(k), n).p_value for k in outcomes]
        by_chance = binom.pmf(outcomes, differing, 0.5)
        rejected[differing] = by_chance[np.array(p_values) < 0.05].sum()
    shares = np.linspace(0.01, 1, 100)
    return max(float(binom.pmf(np.arange(n + 1), n, share) @ rejected) for share in shares)


def exact_coverage_of_shares(n: int) -> tuple[float, float]:
    """The mean and the lowest coverage of the 95% interval of a share of n items, over true shares from
    .01 to .99: every outcome counts, nothing is drawn."""
    outcomes = np.arange(n + 1)
    intervals = [share_interval(int(hits), n) for hits in outcomes]
    shares = np.arange(1, 100) / 100
    covered = [
        float(binom.pmf(outcomes, n, share) @ [_covers(one, share) for one in intervals])
        for share in shares
    ]
    return float(np.mean(covered)), min(covered)


def exact_row(n: int) -> str:
    """What can be computed about metrics of 0 and 1 with n items."""
    mean, lowest = exact_coverage_of_shares(n)
    all_pass = share_interval(n, n)
    return (
        f"| {n} | {exact_type_1_error(n):.3f} | {mean:.3f} | {lowest:.3f} "
        f"| {all_pass.low:.3f} to 1 ({all_pass.method}) |"
    )


def page(*, trials: int, named_trials: int, n_resamples: int, seed: int) -> str:
    defaults: list[Default] = []
    named_rows: list[str] = []
    for world in WORLDS:
        for n in SIZES:
            defaults.append(measure_default(world, n, trials=trials, seed=seed))
            named = measure_named(world, n, trials=named_trials, n_resamples=n_resamples, seed=seed)
            cells = " | ".join(f"{share:.3f}" for share in named)
            named_rows.append(f"| {world.title} | {n} | {cells} |")
            print(_default_row(defaults[-1]), named_rows[-1], sep="\n", file=sys.stderr)
    return TEMPLATE.format(
        trials=trials,
        named_trials=named_trials,
        n_resamples=n_resamples,
        seed=seed,
        error=2 * (0.05 * 0.95 / trials) ** 0.5,
        named_error=2 * (0.05 * 0.95 / named_trials) ** 0.5,
        worlds="\n".join(f"- **{world.title}**: {world.about}." for world in WORLDS),
        defaults="\n".join(map(_default_row, defaults)),
        failing=_listed([one for one in defaults if one.fails]),
        conservative=_listed([one for one in defaults if one.is_conservative]),
        n_failing=sum(one.fails for one in defaults),
        n_all=len(defaults),
        exact="\n".join(map(exact_row, EXACT_SIZES)),
        named="\n".join(named_rows),
    )


def _default_row(one: Default) -> str:
    mark = " **fails**" if one.fails else " conservative" if one.is_conservative else ""
    return (
        f"| {one.world.title} | {one.n} | {one.found_different:.3f} | {one.difference_covered:.3f} "
        f"| {one.score_covered:.3f} |{mark} |"
    )


def _listed(found: Sequence[Default]) -> str:
    by_world: dict[str, list[str]] = {}
    for one in found:
        by_world.setdefault(one.world.title, []).append(str(one.n))
    listed = [f"{title} ({', '.join(sizes)} items)" for title, sizes in by_world.items()]
    return "; ".join(listed) or "none"


TEMPLATE = """\
# Calibration of `wellput score`

How often are the p-values and intervals of `wellput score` right? They were measured on simulated systems whose true scores are known. By default they are right or
conservative if items are independent. If items come in documents that the evalset does not name, they fail: with documents of 10 items, equally good systems are found
different three to six times too often. [Another page](cluster_calibration.md) has the results for documents that are named.

The first column of the tables says how the data were simulated:

{worlds}

## What wellput score prints by default

The defaults are the jackknife's standard error with Student's t, corrected for skewness, and for metrics of 0 and 1 the tests and intervals of shares
([Intervals and tests](../significance.md) explains them). The columns are shares of {trials} studies (two standard errors are {error:.3f}):

- *found different*: two equally good systems are found different at .05. This should be .05.
- *difference covered*: the 95% interval of a difference contains the true difference (for this, one of the systems was made worse). This should be .95.
- *score covered*: the 95% interval of a score contains the true score. This should be .95.
- *verdict*: a row *fails* if systems are found different in more than .065, or an interval covers less than .93. It is *conservative* if systems are found different
  in less than .03; this happens where the two systems differ on only a few items.

| data | items | found different | difference covered | score covered | verdict |
|---|---|---|---|---|---|
{defaults}

If the systems differ on one item or none, and the metric has other values than 0 and 1, there is no interval; such a study counts as covered. Of {n_all} rows {n_failing} fail:

- {failing}.

Conservative: {conservative}.

- Items of one **document** are not independent. A test that treats them as independent finds differences that
  are not there. This happens more often the more similar the items of a document are and the more items it has. All tests
  on this page have this weakness.
- With **skewed** differences a few items with large differences decide, and a small sample often has none of these items. Without the correction for
  skewness, Student's t found equally good systems different in about .08
  (skewed) and .11 (very skewed) of studies with 30 items.

For metrics of 0 and 1 the shares can be computed instead of simulated. The table has

- *largest type I error*: the largest share of studies in which two equally good systems are found different at .05, whatever the share of items on which they differ;
- *rate covered*: how often the 95% interval of a pass rate (the share of items that count 1) contains the true rate, on average and at worst over true rates from .01 to .99;
- *all items pass*: the interval if all items count 1, and its method.

| items | largest type I error | rate covered, mean | rate covered, lowest | all items pass |
|---|---|---|---|---|
{exact}

## Tests and intervals that are chosen by name

The columns *ar*, *bs* and *both tails* say how often two equally good systems are found different at .05 (right is .05), the last column how often a 95% interval contains the true score (right is .95).
There are {named_trials} studies in each row, with {n_resamples} resamples; two standard errors are {named_error:.3f}.

- *ar*: approximate randomization (`--paired ar`)
- *bs*: the paired bootstrap with sacreBLEU's p-value, which counts one tail (`--paired bs`)
- *both tails*: the paired bootstrap that counts both tails (Python only)
- *percentile interval*: the percentile bootstrap's interval of a score

| data | items | ar | bs | both tails | percentile interval |
|---|---|---|---|---|---|
{named}

Approximate randomization is exact where items are independent and, on each of them, the outputs of the two
systems could be exchanged without changing their distribution. It finds a difference too often
if differences are skewed (equal means, unequal distributions) or if items come in documents. sacreBLEU's
p-value of the paired bootstrap finds a difference about twice as often as it should (.05) on data for which
the other tests are right, and even more often if items come in documents, or if differences are skewed and
there are few items.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=4000)
    parser.add_argument("--named-trials", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=499)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    text = page(
        trials=given.trials,
        named_trials=given.named_trials,
        n_resamples=given.resamples,
        seed=given.seed,
    )
    write_page("calibration", text)
