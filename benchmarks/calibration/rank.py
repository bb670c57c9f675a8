"""Type I error and coverage of the ranking by ratings and by choices, of strengths, of the ceiling and of
intraclass correlations.

Studies are simulated in which the truth is known: judges differ in severity and in taste for systems, items
are harder or easier, outputs differ, and no judge rates the same output twice the same way.

    python -m benchmarks ranking-calibration
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import ttest_ind

from benchmarks.calibration.judges import (
    CHOICE_COLUMNS,
    CHOICES,
    CLASSES,
    ICC_COLUMNS,
    NESTED_COLUMNS,
    PANEL_COLUMNS,
    PANELS,
    STRENGTH_COLUMNS,
    STRENGTHS,
    choice_row,
    class_rows,
    nested_row,
    panel_row,
    rate,
    strength_row,
)
from benchmarks.pages import write_page
from wellput.core.metric import Floats
from wellput.stats.corrections import holm
from wellput.stats.judged_means import CrossedMeans

SEVERITY_SD, DIFFICULTY_SD, OUTPUT_SD, NOISE_SD = 0.5, 0.5, 0.6, 0.8
TRUE_DIFFERENCE = 0.5


@dataclass(frozen=True)
class World:
    """Judges × 2 systems × items on a scale; `share` of the cells has a rating, `taste` is the standard
    deviation of judge × system, `to_scale` what becomes of what a judge felt. Nested judges rate one of
    the two systems each."""

    title: str
    judges: int
    items: int
    taste: float = 0.3
    share: float = 1.0
    is_nested: bool = False
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
        if self.is_nested:
            ratings[::2, 0], ratings[1::2, 1] = np.nan, np.nan
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
    World("4 judges, 200 items", 4, 200),
    World("6 judges of strong tastes", 6, 60, taste=0.8),
    World("6 judges, a fifth missing", 6, 100, share=0.8),
    World("12 judges, each rates one system", 12, 60, is_nested=True),
    World("12 judges, 10 items", 12, 10),
    World("a crowd of 30, a tenth of the cells", 30, 100, share=0.1),
    World("yes or no, 6 judges", 6, 60, to_scale=yes_or_no),
    World("skewed, 0 to 100, 6 judges", 6, 60, to_scale=with_outliers),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    write_page("ranking-calibration", page(arguments.studies, arguments.seed))


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
    cells = (rate(hits, studies) for hits in (naive, rejected, covered))
    return f"| {world.title} | {world.items} | " + " | ".join(cells) + " |"


MANY_STUDIES = 200
DIVISIVE = "0.1 or 0.8"
MANY_SYSTEMS = (
    (3, 6, 200, 0.3), (3, 10, 200, 0.3), (3, 16, 100, 0.5), (4, 16, 100, 0.5), (8, 7, 60, 0.3),
    (3, 8, 100, DIVISIVE), (8, 8, 60, DIVISIVE),
)  # fmt: skip


def many_row(judges: int, systems: int, items: int, taste: float | str, *, seed: int) -> str:
    """Equal systems: what is found among all their pairs."""
    rng = np.random.default_rng([seed, judges, systems, items])
    is_divisive = np.arange(systems) >= systems // 2
    tastes = np.where(is_divisive, 0.8, 0.1) if isinstance(taste, str) else np.full(systems, taste)
    pairs = list(combinations(range(systems), 2))
    both_divisive = np.array([is_divisive[a] and is_divisive[b] for a, b in pairs])
    any_found, found = 0, np.zeros(len(pairs))
    for _ in range(MANY_STUDIES):
        felt = (
            SEVERITY_SD * rng.normal(size=(judges, 1, 1))
            + tastes[:, None] * rng.normal(size=(judges, systems, 1))
            + DIFFICULTY_SD * rng.normal(size=(1, 1, items))
            + OUTPUT_SD * rng.normal(size=(1, systems, items))
            + NOISE_SD * rng.normal(size=(judges, systems, items))
        )
        places = np.indices(felt.shape).reshape(3, -1)
        means = CrossedMeans.of(
            np.clip((4 + felt).round(), 1, 7).ravel(),
            groups=places[1],
            judges=places[0],
            items=places[2],
            n_groups=systems,
        )
        p_values = np.array([means.difference(a, b).p_value for a, b in pairs], dtype=float)
        any_found += bool((holm(p_values) < 0.05).any())
        found += p_values < 0.05
    cells = [rate(any_found, MANY_STUDIES), f"{found.mean() / MANY_STUDIES:.3f}", "–"]
    if isinstance(taste, str):
        cells[2] = f"{found[both_divisive].mean() / MANY_STUDIES:.3f}"
    return f"| {judges} × {systems} × {items} | {taste} | " + " | ".join(cells) + " |"


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
    many = World(world.title, 1000, 1000, world.taste, to_scale=world.to_scale)
    total = sum(
        float(np.diff(np.nanmean(many.ratings(rng, TRUE_DIFFERENCE), axis=(0, 2)))[0])
        for _ in range(4)
    )
    return -total / 4


def page(studies: int, seed: int) -> str:
    return "\n".join(
        [
            "# Calibration of rankings, choices and reliability",
            "",
            "Measured on simulated studies whose truth is known. *Type I*: how often systems that are equally good are called different at .05.",
            "*Coverage*: how often a 95% interval holds the truth. Every figure comes with two standard errors of the simulation, which take the",
            "pairs and systems of one study as independent.",
            "",
            "## Ratings: the difference of two systems",
            "",
            f"{studies:,} studies a row: judges of their own severity (standard deviation {SEVERITY_SD}) and taste for a system (0.3 where nothing else is",
            f"said), items ({DIFFICULTY_SD}), outputs ({OUTPUT_SD}) and noise ({NOISE_SD}), on a scale from 1 to 7. The t-test treats all ratings as independent, as",
            "scripts often do. The true difference is half a point before rounding.",
            "",
            "| study | items | type I, t-test over ratings | type I, wellput | coverage, wellput |",
            "| --- | ---: | ---: | ---: | ---: |",
            *(row(world, studies, seed) for world in WORLDS),
            "",
            "With two judges the intervals are very wide: two people say little about other people. Few judges without tastes are a cautious case",
            "too: noise of one judge looks like a taste. The figures behind the ranking of `wellput agree`, `report` and `study",
            "status` are these: a two-way jackknife over judges and items, `wellput.stats.judged_means`.",
            "",
            "## Ratings: all pairs of many equal systems",
            "",
            f"{MANY_STUDIES} studies a row. *Any*: how often Holm's correction leaves any difference. *A pair*: how often one pair has p < .05.",
            "Half of the systems are divisive in the last two rows: judges' tastes for them are 0.8, for the others 0.1.",
            "",
            "| judges × systems × items | taste | any, after Holm | a pair | a pair of divisive systems |",
            "| --- | --- | ---: | ---: | ---: |",
            *(many_row(*study, seed=seed) for study in MANY_SYSTEMS),
            "",
            "How much judges differ is estimated from all pairs together, so that no pair looks certain only because few judges happen to",
            "agree about it. If systems divide the judges unequally, those that divide them most are told apart a little too often.",
            "Documents are ignored: if items of one document are similar, all figures here are too certain. So they are if one judge of a",
            "crowd gives most of the ratings.",
            "",
            "## Choices between two systems",
            "",
            f"Up to {studies:,} studies a row, of judges with a taste of their own (0.6 on the log scale of odds where nothing else is said) and items",
            "that suit one system or the other (0.6). χ² treats all choices as independent, and papers do not correct it for the number of pairs.",
            "wellput tests every pair over judges and items, never less strictly than the exact binomial test, and corrects by Holm's method",
            "(`wellput.stats.judged_means`). The last column is the interval of a system's share of the choices, where systems differ by 0.5.",
            "",
            *CHOICE_COLUMNS,
            *(choice_row(world, studies, seed) for world in CHOICES),
            "",
            "## Strengths by Bradley and Terry",
            "",
            "Wald's intervals, which packages print, treat all choices as independent. wellput leaves out each judge and each item",
            "(`wellput.stats.judged_strengths`). The truth is what all judges would choose.",
            "",
            *STRENGTH_COLUMNS,
            *(strength_row(world, studies, seed) for world in STRENGTHS),
            "",
            "## The ceiling",
            "",
            "The correlation of the true values with the panel's mean ratings, over 5 systems; the ceiling that wellput estimates from the ratings alone;",
            "and how often its interval holds the former (`wellput.stats.panel_reliability`). Judges have severity (0.5), tastes (0.3) and noise (0.9).",
            "",
            *PANEL_COLUMNS,
            *(panel_row(world, studies, seed) for world in PANELS),
            "",
            "Crowds are a cautious case: leaving out a judge moves trials of three ratings more than another judge would.",
            "",
            "## Judges who rate different systems",
            "",
            "The correlation of the true values with the mean ratings (z per judge, and as given) if each judge rates only some of the systems.",
            "",
            *NESTED_COLUMNS,
            *(nested_row(per_judge, studies, seed) for per_judge in (1, 2, 3, 4, 5, 6)),
            "",
            "If z would keep less than 75% of a difference between systems, ratings are used as given by default, and a note says why.",
            "",
            "## Intraclass correlations",
            "",
            f"{studies:,} studies a row of normal ratings: units and noise of variance 1, judges of variance 0.25 for ICC2 and ICC3, none for ICC1.",
            "",
            *ICC_COLUMNS,
            *(line for world in CLASSES for line in class_rows(world, studies, seed)),
            "",
        ]
    )
