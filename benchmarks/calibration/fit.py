"""How often are the tests and intervals of `wellput fit` right? Coefficients, and r on unseen outputs.

Worlds are simulated in which the truth is known: judgments of systems × items and two predictors of them.
The second never has an effect. Worlds differ in what the errors of judgments and predictors share.

    python -m benchmarks fit-calibration
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.pages import write_page
from wellput.core.metric import Floats
from wellput.stats.clustered_regression import clustered_coefficients
from wellput.stats.validation import HeldOut, RegressionColumns, Unseen, held_out

SYSTEMS = (4, 6, 12, 20)
ITEMS = 60
SLOPE = 0.6
N_FOR_TRUTH = 2000
"""How many systems and items are drawn to know the true values if ratings are rounded."""
Spread = tuple[float, float, float]
"""Standard deviations of what systems, items, and single outputs add."""
MIXED: Spread = (0.5, 0.7, 0.8)


@dataclass(frozen=True)
class Effects:
    """What each system and each item adds to the two predictors and to the judgments: arrays (units, 3)."""

    systems: Floats
    items: Floats


@dataclass(frozen=True)
class World:
    """`x` and `y` are the spreads of the predictors and of the judgments' own part. `is_skewed`: exponential
    distributions; `is_rounded`: judgments from 1 to 7 in whole numbers, predictors in steps of 1/2;
    `is_balanced`: every system has every item, otherwise systems have from 30% to all of them."""

    title: str
    x: Spread = MIXED
    y: Spread = MIXED
    is_skewed: bool = False
    is_rounded: bool = False
    is_balanced: bool = True

    def effects(self, systems: int, items: int, rng: np.random.Generator) -> Effects:
        scales = np.array([self.x, self.x, self.y])
        return Effects(
            self._drawn((systems, 3), rng) * scales[:, 0],
            self._drawn((items, 3), rng) * scales[:, 1],
        )

    def cells(
        self, effects: Effects, slope: float, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Judgments (systems, items) and predictors (systems, items, 2)."""
        shape = (len(effects.systems), len(effects.items), 3)
        single = np.array([self.x[2], self.x[2], self.y[2]])
        drawn = effects.systems[:, None] + effects.items[None] + single * self._drawn(shape, rng)
        x, y = drawn[..., :2], drawn[..., 2] + slope * drawn[..., 0]
        if self.is_rounded:
            return np.clip(np.round(y + 4), 1, 7), np.round(2 * x) / 2
        return y, x

    def kept(self, systems: int, items: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        if self.is_balanced:
            return np.ones((systems, items), dtype=np.bool_)
        return rng.random((systems, items)) < np.linspace(0.3, 1.0, systems)[:, None]

    def _drawn(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        return rng.exponential(size=shape) - 1 if self.is_skewed else rng.normal(size=shape)


WORLDS = (
    World("both"),
    World("nothing", (0, 0, 1), (0, 0, 1)),
    World("mostly the system", (1, 0.3, 0.5), (1, 0.3, 0.5)),
    World("mostly the item", (0.3, 1, 0.5), (0.3, 1, 0.5)),
    World("both; unbalanced", is_balanced=False),
    World("both; ratings from 1 to 7, many ties", is_rounded=True),
    World("both; skewed", is_skewed=True),
    World("both; each system has its own judges", y=(0.9, 0.3, 0.8)),
)


@dataclass(frozen=True)
class Moments:
    """Covariances of (x1, x2, y) in a population."""

    covariance: Floats

    @classmethod
    def of(cls, y: Floats, x: Floats) -> Moments:
        return cls(np.cov([x[..., 0].ravel(), x[..., 1].ravel(), y.ravel()]))

    @property
    def slopes(self) -> Floats:
        return np.asarray(np.linalg.solve(self.covariance[:2, :2], self.covariance[:2, 2]), float)

    def r(self, slopes: Floats) -> float:
        """The correlation of the judgments with scores by these slopes."""
        inner = slopes @ self.covariance[:2, :2] @ slopes * self.covariance[2, 2]
        return float(slopes @ self.covariance[:2, 2] / math.sqrt(inner))


def population(
    world: World,
    slope: float,
    *,
    systems: Floats | None = None,
    items: Floats | None = None,
    seed: int = 0,
) -> Moments:
    """The covariances over all possible systems and items, or over the units with the given effects. They
    are sums of the covariances of the parts, or, if ratings are rounded, those of many drawn outputs."""
    if world.is_rounded:
        rng = np.random.default_rng([seed, 77])
        new = world.effects(N_FOR_TRUTH, N_FOR_TRUTH, rng)
        effects = Effects(
            new.systems if systems is None else systems, new.items if items is None else items
        )
        return Moments.of(*world.cells(effects, slope, rng))
    scales = np.square([world.x, world.x, world.y])
    own = np.diag(scales[:, 2])
    for units, scale in ((systems, scales[:, 0]), (items, scales[:, 1])):
        own = own + (np.diag(scale) if units is None else np.cov(units.T, ddof=0))
    mixing = np.array([[1.0, 0, 0], [0, 1, 0], [slope, 0, 1]])
    return Moments(mixing @ own @ mixing.T)


@dataclass(frozen=True)
class Sample:
    """One study: its rows, and the effects that it drew."""

    y: Floats
    x: Floats
    systems: list[str]
    items: list[str]
    effects: Effects

    @classmethod
    def of(cls, world: World, n_systems: int, slope: float, rng: np.random.Generator) -> Sample:
        effects = world.effects(n_systems, ITEMS, rng)
        y, x = world.cells(effects, slope, rng)
        kept = world.kept(n_systems, ITEMS, rng)
        at_system, at_item = np.nonzero(kept)
        return cls(
            y[kept],
            x[kept],
            [f"s{place:02}" for place in at_system],
            [f"i{place:02}" for place in at_item],
            effects,
        )

    @property
    def slopes(self) -> Floats:
        centered = self.x - self.x.mean(axis=0)
        return np.asarray(np.linalg.lstsq(centered, self.y - self.y.mean(), rcond=None)[0], float)

    def held_out(
        self, unseen: Unseen, learn: Callable[[Floats, Floats], RegressionColumns]
    ) -> HeldOut:
        return held_out(
            self.y, self.x, systems=self.systems, items=self.items, learn=learn, unseen=unseen,
            folds=10, seed=1,
        )  # fmt: skip


def coefficient_figures(job: tuple[World, int], *, studies: int, seed: int) -> tuple[float, float]:
    """How often the coefficient that is 0 is found to differ from 0, and how often the interval of the
    other coefficient contains its true value."""
    world, n_systems = job
    rng = np.random.default_rng([seed, n_systems, WORLDS.index(world)])
    truth = population(world, SLOPE).slopes
    found = covered = 0
    for _ in range(studies):
        sample = Sample.of(world, n_systems, SLOPE, rng)
        first, second = clustered_coefficients(
            sample.y, sample.x, systems=sample.systems, items=sample.items
        ).coefficients
        assert first.low is not None and first.high is not None and second.p_value is not None
        found += second.p_value < 0.05
        covered += first.low <= truth[0] <= first.high
    return found / studies, covered / studies


@dataclass(frozen=True)
class UnseenFigures:
    """Figures of many studies about r on unseen outputs. For other systems and items: the mean `r`, the mean
    `truth`, and the share of studies with p < .05 (`significant`). `both`, `items` and `systems` are the
    shares of intervals that contain the true r, for other systems and items, for other items, and for other
    systems. `gains` is the share of studies in which a gain over the best single predictor is claimed."""

    r: float
    truth: float
    both: float
    items: float
    systems: float
    significant: float
    gains: float


def both_predictors(y: Floats, x: Floats) -> RegressionColumns:
    return RegressionColumns([0, 1], np.zeros(2))


def better_predictor(y: Floats, x: Floats) -> RegressionColumns:
    r = np.corrcoef([x[:, 0], x[:, 1], y])[2, :2]
    return RegressionColumns([int(np.argmax(np.abs(r)))], np.zeros(1))


def unseen_figures(job: tuple[World, int, float], *, studies: int, seed: int) -> UnseenFigures:
    world, n_systems, slope = job
    rng = np.random.default_rng([seed, n_systems, WORLDS.index(world), int(slope > 0)])
    everywhere = population(world, slope)
    figures = []
    for study in range(studies):
        sample = Sample.of(world, n_systems, slope, rng)
        fitted = sample.slopes
        truths = {
            "both": everywhere.r(fitted),
            "item": population(world, slope, systems=sample.effects.systems, seed=study).r(fitted),
            "system": population(world, slope, items=sample.effects.items, seed=study).r(fitted),
        }
        groups: tuple[Unseen, ...] = ("both", "item", "system")
        found = {unseen: sample.held_out(unseen, both_predictors) for unseen in groups}
        covered = []
        for unseen in groups:
            estimate = found[unseen].estimate
            assert estimate.low is not None and estimate.high is not None
            covered.append(estimate.low <= truths[unseen] <= estimate.high)
        p_value = found["both"].estimate.p_value
        assert p_value is not None
        is_claimed = False
        if slope:
            gain = found["both"].minus(sample.held_out("both", better_predictor))
            is_claimed = gain.low is not None and gain.low > 0
        figures.append((found["both"].r, truths["both"], *covered, p_value < 0.05, is_claimed))
    return UnseenFigures(*(float(mean) for mean in np.mean(figures, axis=0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=3000)
    parser.add_argument("--cross-validated", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    text = page(given.studies, given.cross_validated, given.seed)
    write_page("fit-calibration", text)


def page(studies: int, validated: int, seed: int) -> str:
    jobs = [(world, n) for world in WORLDS for n in SYSTEMS]
    cases = [(WORLDS[0], n) for n in SYSTEMS] + [(world, 6) for world in WORLDS[1:]]
    with ProcessPoolExecutor() as pool:
        coefficients = pool.map(partial(coefficient_figures, studies=studies, seed=seed), jobs)
        measure = partial(unseen_figures, studies=validated, seed=seed)
        nothing = pool.map(measure, [(*case, 0.0) for case in cases])
        something = pool.map(measure, [(*case, SLOPE) for case in cases])
        told = dict(zip(jobs, coefficients, strict=True))
        print("coefficients measured", file=sys.stderr)
        null, planted = list(nothing), list(something)
    covered = [share for one in (*null, *planted) for share in (one.both, one.items, one.systems)]
    return TEMPLATE.format(
        least=min(*covered, *(share for _, share in told.values())),
        most=max(*(one.significant for one in null), *(share for share, _ in told.values())),
        studies=studies,
        validated=validated,
        seed=seed,
        error=2 * math.sqrt(0.05 * 0.95 / studies),
        validated_error=2 * math.sqrt(0.05 * 0.95 / validated),
        items=ITEMS,
        slope=SLOPE,
        header=" | ".join(f"{n} systems" for n in SYSTEMS),
        rule=" | ".join("---:" for _ in SYSTEMS),
        coefficients="\n".join(
            f"| {world.title} | "
            + " | ".join(f"{told[world, n][0]:.3f}, {told[world, n][1]:.3f}" for n in SYSTEMS)
            + " |"
            for world in WORLDS
        ),
        null=_table(cases, null, _null_row),
        planted=_table(cases, planted, _planted_row),
    )


def _table(
    cases: Sequence[tuple[World, int]],
    found: Sequence[UnseenFigures],
    row: Callable[[UnseenFigures], str],
) -> str:
    return "\n".join(
        f"| {world.title} | {n} | {row(one)} |"
        for (world, n), one in zip(cases, found, strict=True)
    )


def _null_row(one: UnseenFigures) -> str:
    figures = (one.significant, one.both, one.items, one.systems)
    return f"{one.r:+.3f} | " + " | ".join(f"{figure:.3f}" for figure in figures)


def _planted_row(one: UnseenFigures) -> str:
    figures = (one.both, one.items, one.systems, one.gains)
    return f"{one.r:.3f} | {one.truth:.3f} | " + " | ".join(f"{figure:.3f}" for figure in figures)


TEMPLATE = """\
# Calibration of `wellput fit`

How often are the tests and intervals of [`wellput fit`](../commands/fit.md) right? In simulated studies an effect that does not exist is found at .05 in at most {most:.3f} of the studies, and the 95% intervals contain
the true value in at least {least:.3f}. With few systems, tests and intervals are conservative.

In a study some systems × {items} items have judgments and two *predictors*: scores, such as those of a metric, from which people's ratings are predicted. The second predictor never has an
effect. The column *shared* says what the errors of judgments and predictors have in common: nothing (the errors of all outputs are independent), the system and the item
about equally (*both*), mostly the system, or mostly the item. In *unbalanced* studies systems have from 30% to all of the items; *skewed* errors have exponential instead of normal
distributions; if *each system has its own judges*, judgments differ more between systems.

## Coefficients

The first predictor has the coefficient {slope}, the second 0. Each cell has two shares of {studies} studies (two standard errors are {error:.3f} for either):

- the share in which the second coefficient is found to differ from 0 at .05 (should be .05 or less);
- the share in which the 95% interval of the first coefficient, for other systems and other items, contains the true value (should be .95).

| shared | {header} |
| --- | {rule} |
{coefficients}

The test and the interval are conservative with 4 systems, and if outputs share nothing, because the coefficient's variance has a lower limit: the larger one of the variance from leaving out systems and the variance from leaving out items.

## r on unseen outputs: nothing to predict

*r* is the mean correlation of the judgments with the scores of the fitted metric, on systems and items to which it was not fitted. Both coefficients are 0 here, so the true r for other systems is 0.
*p < .05* is the share of {validated} studies in which r is found to differ from 0 (should be .05 or less). The last three columns are the shares of 95% intervals that contain the true value
(should be .95): intervals for other systems and other items, for other items of these systems, and for other systems on these items. Two standard errors are {validated_error:.3f}.

| shared | systems | r | p < .05 | interval, systems and items | interval, items | interval, systems |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
{null}

## r on unseen outputs: one predictor has an effect

The first predictor has the coefficient {slope}. *truth* is the mean of the true r of the fitted metrics, *gain claimed* the share of studies in which the fitted metric is said to
predict better than the best single predictor, although its second predictor never has an effect. The other columns are as above.

| shared | systems | r | truth | interval, systems and items | interval, items | interval, systems | gain claimed |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{planted}

Here and in the table before, intervals for other systems are too wide with 4 and 6 systems; most of all in the table before, because
the jackknife overstates how much r varies if there is little to predict. If each system has its own judges, the interval for other systems on these items contains the true value too seldom. A gain is claimed too
seldom rather than too often.
"""
