"""The tests and intervals that `wellput agree` takes by name: type I error and coverage, in simulated worlds.

People score systems × items; two metrics are equally good. Worlds differ in what a metric's errors share:
nothing, the system (it likes or dislikes a system's style), the item, or both. A permutation test is exact
only if what it exchanges could as well have come from the other metric.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import asin, pi, sqrt

import numpy as np
from scipy.stats import kstest

from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.stats.correlation import Correlation, correlate
from wellput.stats.correlation_resampling import (
    boot_both,
    boot_difference,
    boot_inputs,
    boot_systems,
    perm_both,
    perm_cells,
    perm_inputs,
    perm_systems,
)
from wellput.stats.metric_comparison import fisher, williams_test

SHAPES = ((10, 30), (20, 100))
TESTS: dict[str, Callable[..., Estimate]] = {
    "perm-both": perm_both,
    "perm-systems": perm_systems,
    "perm-inputs": perm_inputs,
    "perm-cells": perm_cells,
    "boot-both": boot_difference,
}
BOOTSTRAPS: dict[str, Callable[..., Estimate]] = {
    "boot-both": boot_both,
    "boot-systems": boot_systems,
    "boot-inputs": boot_inputs,
}
SYSTEM, ITEM, OUTPUT, HUMAN, METRIC = 0.5, 0.7, 0.8, 0.6, 1.0
"""Standard deviations: of systems' quality, items' ease, outputs, and people's and metrics' errors."""


@dataclass(frozen=True)
class World:
    """Standard deviations of the errors that a metric makes for a whole system or item."""

    title: str
    by_system: float
    by_item: float

    def draw(
        self, systems: int, items: int, rng: np.random.Generator, *, metrics: int
    ) -> tuple[list[Floats], Floats]:
        """Scores of equally good metrics, and of people."""
        quality = (
            SYSTEM * rng.normal(size=(systems, 1))
            + ITEM * rng.normal(size=(1, items))
            + OUTPUT * rng.normal(size=(systems, items))
        )
        scores = [
            quality
            + self.by_system * rng.normal(size=(systems, 1))
            + self.by_item * rng.normal(size=(1, items))
            + METRIC * rng.normal(size=(systems, items))
            for _ in range(metrics)
        ]
        return scores, quality + HUMAN * rng.normal(size=(systems, items))

    def correlation(self, items: int) -> float:
        """The true correlation of mean scores over this many items."""
        quality = SYSTEM**2 + OUTPUT**2 / items
        metric = quality + self.by_system**2 + METRIC**2 / items
        return quality / sqrt(metric * (quality + HUMAN**2 / items))


WORLDS = (
    World("nothing", 0.0, 0.0),
    World("the system", 0.4, 0.0),
    World("the item", 0.0, 0.6),
    World("both", 0.4, 0.6),
)


@dataclass(frozen=True)
class Setting:
    """Which correlation."""

    title: str
    correlation: Correlation

    def truth(self, world: World, items: int) -> float:
        """Scores are normal: within an item tau is 2/π arcsin of the correlation."""
        if self.correlation.level == "system":
            return world.correlation(items)
        return 2 / pi * asin(world.correlation(1))


SETTINGS = (
    Setting("Kendall, segments by item", Correlation(average="item", coefficient="kendall")),
    Setting("Pearson, systems", Correlation("system")),
)


def fisher_interval(x: Floats, z: Floats, *, seed: int) -> Estimate:
    return fisher(correlate(x, z, Correlation("system")).value, len(x))


def null_p_values(
    world: World, test: Callable[..., Estimate], shape: tuple[int, int], *, trials: int, seed: int
) -> Floats:
    """The p-values of a test in `trials` studies of two equally good metrics."""
    p_values = np.empty(trials)
    for trial in range(trials):
        (x, y), z = world.draw(*shape, np.random.default_rng([seed, *shape, trial]), metrics=2)
        p_value = test(x, y, z).p_value
        assert p_value is not None
        p_values[trial] = p_value
    return p_values


def coverage(
    world: World,
    interval: Callable[..., Estimate],
    shape: tuple[int, int],
    truth: float,
    *,
    trials: int,
    seed: int,
) -> float:
    """How often a 95% interval holds the true correlation."""
    hits = 0
    for trial in range(trials):
        (x,), z = world.draw(*shape, np.random.default_rng([seed, *shape, trial]), metrics=1)
        estimate = interval(x, z, seed=trial)
        assert estimate.low is not None and estimate.high is not None
        hits += estimate.low <= truth <= estimate.high
    return hits / trials


def null_row(
    setting: Setting,
    shape: tuple[int, int],
    world: World,
    *,
    trials: int,
    n_resamples: int,
    seed: int,
) -> str:
    tests: list[Callable[..., Estimate]] = [
        partial(test, correlation=setting.correlation, n_resamples=n_resamples)
        for test in TESTS.values()
    ]
    if setting.correlation.level == "system":
        tests.append(partial(williams_test, correlation=setting.correlation))
    cells = []
    for test in tests:
        p_values = null_p_values(world, test, shape, trials=trials, seed=seed)
        is_uniform = kstest(p_values, "uniform").pvalue > 0.001
        cells.append(f"{np.mean(p_values <= 0.05):.3f}{'' if is_uniform else '*'}")
    cells += ["–"] * (len(TESTS) + 1 - len(cells))
    return (
        f"| {setting.title} | {shape[0]} × {shape[1]} | {world.title} | " + " | ".join(cells) + " |"
    )


def coverage_row(
    setting: Setting, shape: tuple[int, int], *, trials: int, n_resamples: int, seed: int
) -> str:
    world = WORLDS[-1]
    truth = setting.truth(world, shape[1])
    intervals: list[Callable[..., Estimate]] = [
        partial(bootstrap, correlation=setting.correlation, n_resamples=n_resamples)
        for bootstrap in BOOTSTRAPS.values()
    ]
    if setting.correlation.level == "system":
        intervals.append(fisher_interval)
    cells = [
        f"{coverage(world, interval, shape, truth, trials=trials, seed=seed):.3f}"
        for interval in intervals
    ]
    cells += ["–"] * (len(BOOTSTRAPS) + 1 - len(cells))
    return (
        f"| {setting.title} | {shape[0]} × {shape[1]} | {truth:.3f} | " + " | ".join(cells) + " |"
    )
