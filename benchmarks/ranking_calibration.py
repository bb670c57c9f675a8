"""Does "people prefer A to B" keep its word? Type I error and coverage of the ranking by people.

Studies are simulated in which the truth is known: judges have severity and a taste for systems of their
own, items are harder or easier, outputs differ, and nobody rates the same thing twice alike.

    python -m benchmarks.ranking_calibration -o docs/results/ranking_calibration.md
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import ttest_ind

from wellput.core.metric import Floats
from wellput.stats.crossed import CrossedMeans

SEVERITY_SD, DIFFICULTY_SD, OUTPUT_SD, NOISE_SD = 0.5, 0.5, 0.6, 0.8
TRUE_DIFFERENCE = 0.5


@dataclass(frozen=True)
class World:
    """Judges × 2 systems × items on a scale; `share` of the cells has a rating, `taste` is the standard
    deviation of judge × system, `to_scale` what becomes of what a judge felt."""

    title: str
    judges: int
    items: int
    taste: float = 0.3
    share: float = 1.0
    to_scale: Callable[[Floats], Floats] = lambda felt: np.clip((4 + felt).round(), 1, 7)

    def ratings(self, rng: np.random.Generator, difference: float) -> Floats:
        shape = (self.judges, 2, self.items)
        felt = (
            rng.normal(0, SEVERITY_SD, (self.judges, 1, 1))
            + rng.normal(0, DIFFICULTY_SD, (1, 1, self.items))
            + rng.normal(0, self.taste, (self.judges, 2, 1))
            + rng.normal(0, OUTPUT_SD, (1, 2, self.items))
            + rng.normal(0, NOISE_SD, shape)
        )
        felt[:, 0] += difference
        ratings = self.to_scale(felt)
        ratings[rng.random(shape) > self.share] = np.nan
        return ratings


def yes_or_no(felt: Floats) -> Floats:
    return (felt > -1).astype(np.float64)


def with_outliers(felt: Floats) -> Floats:
    """Ratings from 0 to 100, skewed to the top."""
    return 100 * (1 - np.exp(felt - 1.5).clip(0, 1))


WORLDS = (
    World("2 judges", 2, 100),
    World("3 judges", 3, 60),
    World("6 judges", 6, 60),
    World("6 judges without tastes", 6, 60, taste=0.0),
    World("6 judges, a fifth missing", 6, 100, share=0.8),
    World("12 judges, 10 items", 12, 10),
    World("a crowd of 30, a tenth of the cells", 30, 100, share=0.1),
    World("yes or no, 6 judges", 6, 60, to_scale=yes_or_no),
    World("skewed, 0 to 100, 6 judges", 6, 60, to_scale=with_outliers),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rows = [row(world, arguments.studies, arguments.seed) for world in WORLDS]
    arguments.output.write_text(page(rows, arguments.studies, arguments.seed), encoding="utf-8")


def row(world: World, studies: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    truth = expected_difference(world, rng)
    naive = rejected = covered = 0
    for _ in range(studies):
        ratings = world.ratings(rng, 0.0)
        naive += p_of_t_test(ratings) < 0.05
        p_value = difference(ratings)[2]
        rejected += p_value is not None and p_value < 0.05
        low, high, _ = difference(world.ratings(rng, TRUE_DIFFERENCE))
        covered += low is not None and high is not None and low <= truth <= high
    figures = (naive / studies, rejected / studies, covered / studies)
    return f"| {world.title} | {world.items} | " + " | ".join(f"{f:.3f}" for f in figures) + " |"


def difference(ratings: Floats) -> tuple[float | None, float | None, float | None]:
    judges, systems, items = np.nonzero(~np.isnan(ratings))
    found = CrossedMeans.of(
        ratings[judges, systems, items], groups=systems, judges=judges, items=items, n_groups=2
    ).difference(0, 1)
    return found.low, found.high, found.p_value


def p_of_t_test(ratings: Floats) -> float:
    return float(ttest_ind(ratings[:, 0].ravel(), ratings[:, 1].ravel(), nan_policy="omit").pvalue)


def expected_difference(world: World, rng: np.random.Generator) -> float:
    """What the difference on the scale would be with all the judges and items there are."""
    many = World(world.title, 2000, 2000, world.taste, 1.0, world.to_scale)
    total = sum(
        float(np.diff(np.nanmean(many.ratings(rng, TRUE_DIFFERENCE), axis=(0, 2)))[0])
        for _ in range(4)
    )
    return -total / 4


def page(rows: list[str], studies: int, seed: int) -> str:
    error = 2 * (0.05 * 0.95 / studies) ** 0.5
    return "\n".join(
        [
            "# Calibration: does the ranking by people keep its word?",
            "",
            f"Measured by `python -m benchmarks.ranking_calibration -o docs/results/ranking_calibration.md --studies {studies} --seed {seed}`",
            f"on simulated studies of two systems, {studies:,} a row: judges of their own severity (standard deviation {SEVERITY_SD}) and taste for",
            f"a system (0.3 where nothing else is said), items ({DIFFICULTY_SD}), outputs ({OUTPUT_SD}) and noise ({NOISE_SD}), on a scale from 1 to 7.",
            "",
            "*Type I*: how often two systems that are equally good are called different at .05; two standard errors of the",
            f"measurement are {error:.3f}. The t-test takes all ratings for independent, as scripts often do. *Coverage*: how often the 95% interval of",
            "a difference holds the true one (half a point before rounding).",
            "",
            "| study | items | type I, t-test over ratings | type I, wellput | coverage, wellput |",
            "| --- | ---: | ---: | ---: | ---: |",
            *rows,
            "",
            "With two judges the intervals are very wide: two people say little about other people. The figures behind the ranking of",
            "`wellput agree`, `report` and `study status` are these: a two-way jackknife over judges and items, `wellput.stats.crossed`.",
            "",
        ]
    )


if __name__ == "__main__":
    main()
