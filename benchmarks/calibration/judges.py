"""Simulated ceilings and intraclass correlations whose truth is known: parts of
docs/results/ranking_calibration.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.prepared_panels import MIN_KEPT_SHARE, kept_share
from wellput.core.metric import Floats
from wellput.stats.judges.reliability import (
    IntraclassName,
    intraclass_correlations,
    panel_reliability,
)


def rate(hits: float, n: int) -> str:
    """A share with two standard errors of the simulation."""
    share = hits / n
    return f"{share:.3f} ± {2 * math.sqrt(max(share * (1 - share), 1 / n) / n):.3f}"


SYSTEM_MEANS = np.array([-0.6, -0.2, 0.0, 0.3, 0.5])


@dataclass(frozen=True)
class PanelWorld:
    """Judges × 5 systems × items; each output of item i has `numbers[i]` ratings, each by judges drawn for it."""

    title: str
    judges: int
    numbers: NDArray[np.int64]
    severity: float = 0.5
    taste: float = 0.3

    def study(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """The true values, systems × items, and the ratings."""
        shape = (self.judges, len(SYSTEM_MEANS), len(self.numbers))
        true = SYSTEM_MEANS[:, None] + rng.normal(0, 0.4, shape[2]) + rng.normal(0, 0.6, shape[1:])
        ratings = (
            true
            + rng.normal(0, self.severity, (self.judges, 1, 1))
            + rng.normal(0, self.taste, (*shape[:2], 1))
            + rng.normal(0, 0.9, shape)
        )
        ratings[np.argsort(rng.random(shape), axis=0) >= self.numbers] = np.nan
        return true, ratings


PANELS = (
    PanelWorld("3 judges rate everything", 3, np.full(40, 3)),
    PanelWorld("6 judges rate everything", 6, np.full(40, 6)),
    PanelWorld("6 judges of strong tastes", 6, np.full(40, 6), taste=0.6),
    PanelWorld(
        "6 judges; half of the items are rated by one judge only",
        6,
        np.where(np.arange(40) < 20, 1, 6),
    ),
    PanelWorld("6 judges, 1 to 6 an output", 6, 1 + np.arange(60) % 6),
    PanelWorld("a crowd of 40, three an output", 40, np.full(40, 3)),
    PanelWorld("a crowd of 40, one to five an output", 40, 1 + np.arange(40) % 5),
)
PANEL_COLUMNS = (
    "| panel | outputs | true correlation | ceiling estimated, mean | coverage |",
    "| --- | ---: | ---: | ---: | ---: |",
)


def panel_row(world: PanelWorld, studies: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    studies = max(studies // 5, 2)  # the ceiling takes longer than the other figures
    n_items = len(world.numbers)
    items = np.tile(np.arange(n_items), len(SYSTEM_MEANS))
    reached, ceilings, bounds = [], [], []
    for _ in range(studies):
        true, ratings = world.study(rng)
        reached.append(np.corrcoef(true.ravel(), np.nanmean(ratings, axis=0).ravel())[0, 1])
        found = panel_reliability(ratings.reshape(world.judges, -1), items).ceiling
        ceilings.append(found.value)
        bounds.append((found.low or 0.0, found.high or 0.0))
    truth = float(np.mean(reached))
    held = sum(low <= truth <= high for low, high in bounds)
    cells = (mean_of(reached), mean_of(ceilings), rate(held, studies))
    return f"| {world.title} | {len(items)} | " + " | ".join(cells) + " |"


def mean_of(values: Sequence[float]) -> str:
    """A mean with two standard errors of the simulation."""
    return f"{np.mean(values):.3f} ± {2 * np.std(values) / math.sqrt(len(values)):.3f}"


NESTED_COLUMNS = (
    "| systems that each of 12 judges rates, of 6 | share of a difference that z-scores keep | r, z-scores | r, as given | wellput's default |",
    "| --- | ---: | ---: | ---: | --- |",
)


def nested_row(per_judge: int, studies: int, seed: int) -> str:
    """The row of panels in which each judge rates this many systems, drawn at random, on all of 40 items."""
    rng = np.random.default_rng(seed)
    kept, by_z, raw = [], [], []
    for _ in range(max(studies // 20, 2)):
        true = rng.normal(0, 0.5, (6, 1)) + rng.normal(0, 0.4, 40) + rng.normal(0, 0.6, (6, 40))
        felt = true + rng.normal(0, 0.5, (12, 1, 1)) + rng.normal(0, 0.9, (12, 6, 40))
        for judge in range(12):
            # One system in turn, so that every system has judges; the others at random.
            others = [system for system in range(6) if system != judge % 6]
            chosen = [judge % 6, *rng.permutation(others)[: per_judge - 1]]
            felt[judge, [system for system in range(6) if system not in chosen]] = np.nan
        kept.append(kept_share((~np.isnan(felt)).sum(axis=2).astype(np.float64)))
        own = np.nanmean(felt, axis=(1, 2), keepdims=True)
        spread = np.nanstd(felt, axis=(1, 2), keepdims=True)
        by_z.append(_with_truth(true, np.nanmean((felt - own) / spread, axis=0)))
        raw.append(_with_truth(true, np.nanmean(felt, axis=0)))
    default = "z" if np.mean(kept) >= MIN_KEPT_SHARE else "as given"
    cells = (mean_of(kept), mean_of(by_z), mean_of(raw), default)
    return f"| {per_judge} | " + " | ".join(cells) + " |"


def _with_truth(true: Floats, means: Floats) -> float:
    there = ~np.isnan(means)
    return float(np.corrcoef(true[there], means[there])[0, 1])


ICC_COLUMNS = ("| ratings | coefficient | true value | coverage |", "| --- | --- | ---: | ---: |")


@dataclass(frozen=True)
class ClassWorld:
    """Units of variance 1 and noise of variance 1, normal; `severity` is the variance of judges."""

    title: str
    judges: int
    numbers: NDArray[np.int64]
    names: tuple[IntraclassName, ...]
    severity: float = 0.0

    def truth(self, name: IntraclassName) -> float:
        noise = 1.0 + (0.0 if name.startswith("ICC3") else self.severity)
        k = len(self.numbers) / float((1 / self.numbers).sum())
        return 1 / (1 + noise / (k if name.endswith("k") else 1))


CLASSES = (
    ClassWorld("40 units × 4 judges", 4, np.full(40, 4), ("ICC1", "ICC1k")),
    ClassWorld("40 units × 4 judges", 4, np.full(40, 4), ("ICC2", "ICC3", "ICC2k", "ICC3k"), 0.25),
    ClassWorld("10 units × 3 judges", 3, np.full(10, 3), ("ICC2", "ICC3", "ICC2k", "ICC3k"), 0.25),
    ClassWorld("100 units × 20 judges", 20, np.full(100, 20), ("ICC2", "ICC3"), 0.25),
    ClassWorld("60 units, 1 to 6 ratings each", 6, 1 + np.arange(60) % 6, ("ICC1", "ICC1k")),
)


def class_rows(world: ClassWorld, studies: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    held = dict.fromkeys(world.names, 0)
    shape = (world.judges, len(world.numbers))
    for _ in range(studies):
        severity = rng.normal(0, math.sqrt(world.severity), (world.judges, 1))
        felt = rng.normal(0, 1, shape[1]) + severity + rng.normal(0, 1, shape)
        felt[np.arange(world.judges)[:, None] >= world.numbers] = np.nan
        found = intraclass_correlations(felt).rows
        for name in world.names:
            held[name] += found[name].low <= world.truth(name) <= found[name].high
    return [
        f"| {world.title} | {name} | {world.truth(name):.3f} | {rate(held[name], studies)} |"
        for name in world.names
    ]
