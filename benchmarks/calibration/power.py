"""The power of studies of the size that `wellput power` recommends, by a separate simulation.

Studies are drawn rating by rating from the world that the options describe: systems, items, judges, noise
in every single rating. Each is analyzed as a user would: the ratings are ranked by
`wellput rank`'s model, two metrics are compared by Williams' test. Only that analysis is shared with the
simulation of `wellput power`.

    python -m benchmarks power
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

import wellput
from benchmarks.pages import write_page
from wellput.agreement.rankings.ranked_questions import rank_question
from wellput.core.judgment import Judgment
from wellput.core.metric import Floats
from wellput.stats.metric_comparison import williams

TARGET, ALPHA = 0.8, 0.05
ITEM_EASE, SEVERITY = 1.0, 0.7
"""Standard deviations of what all ratings of an item share, and all ratings by a judge; neither changes the
difference of two systems."""


class Plan(Protocol):
    """What a user asks `wellput power`, and the world that the options describe."""

    @property
    def options(self) -> dict[str, Any]: ...

    def is_found(self, n_items: int, rng: np.random.Generator) -> bool: ...


@dataclass(frozen=True)
class Systems:
    """Two systems, `difference` apart; `points` rounds ratings to a scale of this many points."""

    difference: float
    judges: int
    sd_item: float = 1.0
    sd_noise: float = 1.0
    sd_judge: float = 0.0
    points: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        spreads = {"sd_item": self.sd_item, "sd_noise": self.sd_noise, "sd_judge": self.sd_judge}
        return {"difference": self.difference, "judges": self.judges, **spreads}

    def ratings(self, n_items: int, rng: np.random.Generator) -> Floats:
        """Judges × 2 systems × items. A system's own part of an item, and of a judge's taste, has
        1/√2 of the spread that the difference of two systems has."""
        felt = (
            np.array([self.difference, 0.0])[None, :, None]
            + ITEM_EASE * rng.normal(size=(1, 1, n_items))
            + SEVERITY * rng.normal(size=(self.judges, 1, 1))
            + self.sd_item / math.sqrt(2) * rng.normal(size=(1, 2, n_items))
            + self.sd_judge / math.sqrt(2) * rng.normal(size=(self.judges, 2, 1))
            + self.sd_noise * rng.normal(size=(self.judges, 2, n_items))
        )
        if self.points is None:
            return np.asarray(felt)
        middle = (self.points + 1) / 2
        return np.asarray(np.clip(np.round(felt + middle), 1, self.points))

    def is_found(self, n_items: int, rng: np.random.Generator) -> bool:
        return p_of_ranking(self.ratings(n_items, rng)) < ALPHA


@dataclass(frozen=True)
class Metrics:
    """Two metrics that correlate `r1` and `r2` with people and `r12` with each other. The ratings of any two
    judges correlate `judge_correlation`; if it is None, there is one judge without error."""

    r1: float
    r2: float
    r12: float
    judges: int = 1
    judge_correlation: float | None = None
    pilot_judges: int = 1

    @property
    def options(self) -> dict[str, Any]:
        given: dict[str, Any] = {"metric_correlations": (self.r1, self.r2, self.r12)}
        if self.judge_correlation is not None:
            given |= {
                "judges": self.judges,
                "judge_correlation": self.judge_correlation,
                "pilot_judges": self.pilot_judges,
            }
        return given

    def is_found(self, n_items: int, rng: np.random.Generator) -> bool:
        """Draws what the judges agree on (`truth`), then each judge's ratings and each metric's scores."""
        own = 1.0 if self.judge_correlation is None else self.judge_correlation
        k = self.pilot_judges
        pilot = math.sqrt(k * own / (1 + (k - 1) * own))  # of their mean with what they agree on
        loads = np.array([self.r1 / pilot, self.r2 / pilot])
        truth = rng.normal(size=n_items)
        rest = np.array([[1.0, self.r12], [self.r12, 1.0]]) - np.outer(loads, loads)
        errors = np.linalg.cholesky(rest) @ rng.normal(size=(2, n_items))
        scores = loads[:, None] * truth + errors
        noise = math.sqrt(1 - own) * rng.normal(size=(self.judges, n_items))
        people = (math.sqrt(own) * truth + noise).mean(axis=0)
        r = np.corrcoef([people, *scores])
        p_value = williams(r[0, 1], r[0, 2], r[1, 2], n_items).p_value
        return p_value is not None and p_value < ALPHA


def p_of_ranking(ratings: Floats) -> float:
    """The p-value of the difference between the two systems, by the model of `wellput rank`. The ratings are
    judges × systems × items."""
    answers = [
        Judgment(f"j{judge}", f"i{item}", "AB"[system], "quality", float(value))
        for (judge, system, item), value in np.ndenumerate(ratings)
    ]
    (difference,) = rank_question("quality", answers).differences
    return difference.p_value


PLANS: dict[str, Plan] = {
    "systems, 1 judge": Systems(0.4, judges=1, sd_item=0.8, sd_noise=1.1),
    "systems, 1 judge, noise only": Systems(0.4, judges=1, sd_item=0.0, sd_noise=1.0),
    "systems, 1 judge, no noise": Systems(0.3, judges=1, sd_item=1.0, sd_noise=0.0),
    "systems, 3 judges with one taste": Systems(0.4, judges=3, sd_item=0.8, sd_noise=1.1),
    "systems, 5 judges with one taste": Systems(0.3, judges=5, sd_item=0.8, sd_noise=1.1),
    "systems, 5 judges with different tastes": Systems(
        0.5, judges=5, sd_item=1, sd_noise=1, sd_judge=0.2
    ),
    "systems, 8 judges with different tastes": Systems(
        0.5, judges=8, sd_item=1, sd_noise=1, sd_judge=0.4
    ),
    "systems, 20 judges with different tastes": Systems(
        0.4, judges=20, sd_item=1, sd_noise=1.5, sd_judge=0.5
    ),
    "metrics": Metrics(0.5, 0.3, 0.6),
    "metrics, 1 judge as in the pilot": Metrics(0.5, 0.35, 0.6, judge_correlation=0.5),
    "metrics, 5 judges after a pilot with 1": Metrics(
        0.4, 0.3, 0.7, judges=5, judge_correlation=0.4
    ),
    "metrics, 2 judges after a pilot with 4": Metrics(
        0.6, 0.45, 0.7, judges=2, judge_correlation=0.4, pilot_judges=4
    ),
}
ROUNDED = {
    "7 points, 3 judges with one taste": Systems(
        0.4, judges=3, sd_item=0.8, sd_noise=1.1, points=7
    ),
    "5 points, 8 judges with different tastes": Systems(0.5, judges=8, sd_judge=0.4, points=5),
}
ROUNDED_SHARE = 8
"""One study in this many is drawn for `ROUNDED`: the model for ratings on a scale takes longer."""
NULLS = {
    f"{judges} judge{'' if judges == 1 else 's'}, {'different tastes' if taste else 'one taste'}": Systems(
        0.0, judges=judges, sd_item=1.0, sd_noise=1.0, sd_judge=taste
    )
    for judges, taste in ((1, 0.0), (2, 0.0), (2, 0.4), (3, 0.0), (3, 0.4), (5, 0.4), (20, 0.4))
}
NULL_ITEMS = 60


def recommended(plan: Plan) -> int:
    """The items that `wellput power` says a power of .80 takes."""
    table = wellput.power(items=50, target=TARGET, **plan.options)
    (smallest,) = table.smallest
    if smallest.n_items is None:
        raise ValueError(f"{plan} has no size that is enough: {smallest.note}")
    return smallest.n_items


def found_share(plan: Plan, n_items: int, *, studies: int, seed: int) -> float:
    """How many studies of this size find the difference."""
    rng = np.random.default_rng([seed, n_items])
    return sum(plan.is_found(n_items, rng) for _ in range(studies)) / studies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    text = page(given.studies, given.seed)
    write_page("power", text)


def page(studies: int, seed: int) -> str:
    return TEMPLATE.format(
        studies=studies,
        shown=f"{studies:,}",
        seed=seed,
        error=2 * math.sqrt(TARGET * (1 - TARGET) / studies),
        null_error=2 * math.sqrt(ALPHA * (1 - ALPHA) / studies),
        plans=_rows(PLANS.items(), studies, seed),
        rounded=_rows(ROUNDED.items(), studies // ROUNDED_SHARE, seed),
        rounded_studies=studies // ROUNDED_SHARE,
        rounded_error=2 * math.sqrt(TARGET * (1 - TARGET) / (studies // ROUNDED_SHARE)),
        nulls="\n".join(
            f"| {title} | {found_share(plan, NULL_ITEMS, studies=studies, seed=seed):.3f} |"
            for title, plan in NULLS.items()
        ),
        null_items=NULL_ITEMS,
    )


def _rows(plans: Iterable[tuple[str, Plan]], studies: int, seed: int) -> str:
    lines = []
    for title, plan in plans:
        asked = replace(plan, points=None) if isinstance(plan, Systems) else plan
        n_items = recommended(asked)
        share = found_share(plan, n_items, studies=studies, seed=seed)
        told = ", ".join(f"{name} {value}" for name, value in plan.options.items())
        lines.append(f"| {title} | {told} | {n_items:,} | {share:.3f} |")
        print(lines[-1], file=sys.stderr)
    return "\n".join(lines)


TEMPLATE = """\
# Calibration of `wellput power`

Does a study of the size that `wellput power` recommends have the power that was asked for? Yes: in simulated studies the power is .80, as asked for, within the error of the simulation. If ratings are rounded to a scale of few points, it can be a little lower or higher.

For each plan in the table, `wellput power` recommends a number of items for a power of .80. Then {shown} studies with this number of items are simulated rating by rating,
with the effects that the options describe ([the options](../commands/power.md)), and each study is analyzed as a user would do it: two systems are ranked by the ratings, or two metrics are
compared by Williams' test. Judges *with one taste* prefer the same system to the same degree (`sd_judge` is 0); judges *with different tastes* do not. In the rows *metrics*, `metric_correlations` are the correlation of each metric with people, and of the two metrics with each other; a *pilot* is the small study with `pilot_judges` judges in which these correlations were measured. *Power* is the share of studies that find the difference at .05; two standard
errors of this share are {error:.3f}.

| plan | options | items | power |
| --- | --- | ---: | ---: |
{plans}

## Ratings on a scale

`wellput power` assumes normally distributed ratings. Here the ratings are rounded to a scale of 7 or 5 points, and the systems are ranked by the model that
`wellput rank` chooses for such ratings. The power differs from .80, so take the difference and the standard deviations from ratings on your own scale. Each row has {rounded_studies} studies; two standard errors
are {rounded_error:.3f}.

| plan | options | items | power |
| --- | --- | ---: | ---: |
{rounded}

## Systems that are equally good

How often two equally good systems are called different at .05, by the same test. There are {null_items} items, and all standard deviations are 1
(that of different tastes is 0.4); two standard errors are {null_error:.3f}.

| judges | called different |
| --- | ---: |
{nulls}

With two or three judges the test has at most one or two degrees of freedom (judges minus one) and hardly ever finds a difference: take four judges or more. Then the test
calls equal systems different in about .05 of the studies. With one judge there is no such limit, because the test then says nothing about other judges.
"""
