"""Type I error and coverage of the ranking by people, also under continuous looks; of the ceiling and of
intraclass correlations.

Studies are simulated in which the truth is known (`ranking_worlds`), and ranked as `wellput rank` ranks
them.

    python -m benchmarks ranking-calibration
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student
from scipy.stats import ttest_ind

from benchmarks.calibration.judges import (
    CLASSES,
    ICC_COLUMNS,
    NESTED_COLUMNS,
    PANEL_COLUMNS,
    PANELS,
    class_rows,
    nested_row,
    panel_row,
    rate,
)
from benchmarks.calibration.ranking_worlds import (
    PEEKED,
    POINTS_PER_UNIT,
    WORLDS,
    World,
    first_judgments,
)
from benchmarks.pages import write_page
from wellput.agreement.rankings.fitted_question import fit_question, system_pairs
from wellput.agreement.rankings.fitted_ranking import FittedRanking, rank_fitted
from wellput.agreement.rankings.judgment_design import QuestionData
from wellput.core.errors import InputError

GAP = 0.35
"""The difference of systems with neighboring ranks, in units of the simulated scale (`POINTS_PER_UNIT`)."""
LOOKS = 12
"""Times that somebody looks at a growing study, at even distances."""
SHARE_OF_STUDIES = {"linear": 1.0, "ordinal": 0.5, "binary": 0.5, "choices": 0.5}
"""By kind of `World`, the share of the studies asked for; models in log odds take ten times as long."""
PEEKED_SHARE_OF_STUDIES = {"linear": 0.5, "choices": 0.25}
ALPHA = 0.05


@dataclass
class Tally:
    """Sums over the studies of a world; the fields after `studies` are in the order of the page's columns.
    `t_test`, `type_1` and `covered` add each study's share of pairs, the others count studies."""

    studies: int = 0
    t_test: float = 0.0
    type_1: float = 0.0
    any_pair: int = 0
    covered: float = 0.0
    all_ranks: int = 0
    refused: int = 0

    def row(self, title: str) -> str:
        n = self.studies
        figures = [getattr(self, one.name) for one in fields(self)][1:-1]
        cells = " | ".join(rate(hits, n) for hits in figures)
        return f"| {title} | {n:,} | {cells} | {self.refused} |"


def tally(world: World, studies: int, seed: int) -> Tally:
    rng = np.random.default_rng(seed)
    found = Tally()
    while found.studies + found.refused < studies:
        equal, apart = world.study(rng, 0.0), world.study(rng, GAP)
        try:
            _add(found, world, equal, apart)
        except InputError:
            found.refused += 1
    return found


def _add(found: Tally, world: World, equal: QuestionData, apart: QuestionData) -> None:
    """Adds a study of equal systems, and one of systems that are `GAP` apart."""
    of_equal = rank_fitted(fit_question(equal))
    apart_fit = fit_question(apart)
    of_apart = rank_fitted(apart_fit)
    first, second = system_pairs(world.systems)
    contrasts = apart_fit.fitted.contrast_pairs(first, second)
    truth = world.difference(GAP) * (second - first)
    half = contrasts.errors * student.isf(ALPHA / 2, apart_fit.freedom)
    found.studies += 1
    found.t_test += t_test_rejects(equal)
    found.type_1 += float(np.mean([one.p_value < ALPHA for one in of_equal.differences]))
    found.any_pair += any(one.is_real for one in of_equal.differences)
    found.covered += float((np.abs(contrasts.values - truth) <= half).mean())
    found.all_ranks += ranges_hold(of_apart)


def ranges_hold(ranking: FittedRanking) -> bool:
    """Whether every system's true rank lies within its range: S0 is the best, S1 the next, and so on."""
    return all(row.rank_low <= int(row.system[1:]) + 1 <= row.rank_high for row in ranking.systems)


def t_test_rejects(data: QuestionData) -> float:
    """The share of pairs that a t-test over judgments calls different, as scripts often do."""
    systems, values, n = data.design.systems, data.values, len(data.system_names)
    found = []
    for a in range(n):
        for b in range(a):
            if data.are_choices:  # pairs always have the higher number first
                own = values[(systems[:, 0] == a) & (systems[:, 1] == b)] - 0.5
                t = abs(own.mean()) / (own.std(ddof=1) / math.sqrt(len(own)))
                found.append(t > 1.96)
            else:
                test = ttest_ind(values[systems == a], values[systems == b])
                found.append(test.pvalue < ALPHA)
    return float(np.mean(found))


def peeked_row(world: World, studies: int, seed: int) -> str:
    """The row of a world of equal systems, at which somebody looks again and again while judgments come in."""
    rng = np.random.default_rng(seed)
    claimed = {"fixed": 0, "sequential": 0}
    for _ in range(studies):
        data = world.study(rng, 0.0)
        order = rng.permutation(len(data.values))
        if "one after the other" in world.title:
            order = order[np.argsort(data.judges[order], kind="stable")]
        seen = _claims(data, order)
        for way, is_claimed in seen.items():
            claimed[way] += is_claimed
    cells = " | ".join(rate(claimed[way], studies) for way in ("fixed", "sequential"))
    return f"| {world.title} | {studies:,} | {cells} |"


def _claims(data: QuestionData, order: NDArray[np.int64]) -> dict[str, bool]:
    """Whether any difference was ever called real, by tests for one look and by sequential ones."""
    found = {"fixed": False, "sequential": False}
    for look in range(1, LOOKS + 1):
        early = first_judgments(data, order, len(order) * look // LOOKS)
        try:
            fitted = fit_question(early)
        except InputError:
            continue
        for way in found:
            ranking = rank_fitted(fitted, sequential=way == "sequential")
            found[way] |= any(one.is_real for one in ranking.differences)
    return found


@dataclass(frozen=True)
class Rows:
    """The rows of the page. A row that `folder` has from a run with the same options is not made again:
    all of them take an hour."""

    studies: int
    seed: int
    folder: Path | None
    only: str = ""

    def chosen(self, worlds: Sequence[World]) -> list[World]:
        """All of them, or those with the titles asked for."""
        return [one for one in worlds if not self.only or one.title in self.only.split(";")]

    def ranked(self, world: World) -> str:
        studies = int(SHARE_OF_STUDIES[world.kind] * self.studies)
        return self._row(world.title, lambda: tally(world, studies, self.seed).row(world.title))

    def peeked(self, world: World) -> str:
        studies = int(PEEKED_SHARE_OF_STUDIES[world.kind] * self.studies)
        return self._row(f"peeked {world.title}", lambda: peeked_row(world, studies, self.seed))

    def _row(self, name: str, make: Callable[[], str]) -> str:
        if self.folder is None:
            return make()
        kept = self.folder / f"{name} {self.studies} {self.seed}.txt".replace(" ", "_")
        if not kept.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            kept.write_text(make(), encoding="utf-8")
        return kept.read_text(encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", default="", metavar="TITLES", help="of the ranking, with ; between them"
    )
    parser.add_argument("--resume", type=Path, metavar="FOLDER", help="keep finished rows there")
    arguments = parser.parse_args()
    rows = Rows(arguments.studies, arguments.seed, arguments.resume, arguments.only)
    write_page("ranking-calibration", page(rows))


def page(rows: Rows) -> str:
    studies, seed = rows.studies, rows.seed
    return f"""# Calibration of rankings and reliability

How often are the intervals and tests of `wellput rank`, and its estimates of reliability, right? In simulated studies, whose true values are known, its tests call equally good systems different in about 5% of the cases or less, as they should at .05, and its 95% intervals contain the true difference in about 95% or more. A t-test over all judgments
is wrong far more often. The number after ± is two standard errors, computed over the simulated studies.

## The ranking by people

A judgment is the sum of simulated effects, multiplied by {POINTS_PER_UNIT} and rounded to whole points. The effects, with their standard deviations before this:

- Judges are severe or mild (0.5) and prefer some systems (*tastes*: 0.3; strong: 0.8).
- Items are hard or easy (0.6) and suit some systems (0.5).
- Documents, in the rows that have them, are hard or easy (0.5) and suit some systems (0.4). In these rows the two effects of items are 0.3 and 0.2, and tastes are 0.2.
- Every answer has noise (0.8).

For grades, yes or no, and choices the effects are in log odds: 0.8 for severity, 0.5 for tastes, 0.8 for items, and 0.6 for how items suit systems. A fifth of the judgments is missing; in the row with 8 systems it is half, in *choices with ties* three quarters, and in *grades 1 to 5, a crowd* 85%. In the rows *judges for each of … systems*, each judge rates one system only, severity is 0.3, and there are no tastes. A *crowd* are many judges with few answers each; *8% of the cells* means that 8% of all possible judgments are there.

The columns:

- **type I**: how often two equally good systems are called different at .05, by the model of `wellput rank`. **t-test**: the same by a t-test over all judgments, as scripts often do it (for choices, a t-test of the share of wins against one half).
- **any pair**: how often at least one pair of equally good systems is called different, after Holm's correction.
- **coverage**: how often the 95% interval of a difference contains the true value, if systems with neighboring ranks differ by {GAP} (in the unit of the effects). **all ranks**: how often the ranges of ranks of all these systems are right at once.
- **refused**: the number of studies that are not ranked because the answers separate the systems perfectly.

With fewer than four judges, or fewer than ten items, a difference has at most as many degrees of freedom as there are judges (or items) minus one, so the tests and intervals are cautious.

| study | studies | t-test | type I | any pair | coverage | all ranks | refused |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{_lines(rows.ranked(world) for world in rows.chosen(WORLDS))}

## Looking again and again

In these studies all systems are equally good, and somebody looks at the results {LOOKS} times while judgments come in. The shares say in how many studies at least one look calls a difference real, by the usual tests (corrected for the number of pairs, but made for one look) and by those of `--sequential`.

| study | studies | usual tests | `--sequential` |
| --- | ---: | ---: | ---: |
{_lines(rows.peeked(world) for world in rows.chosen(PEEKED))}

## The ceiling

The *ceiling* is the highest correlation with the mean ratings of a panel of judges that a metric can be expected to reach: the correlation of the true values with these means. wellput estimates it from the ratings alone (`wellput.stats.panel_reliability`). The table compares this estimate with the true correlation, over the outputs of 5 systems; *coverage* is how often the 95% interval of the
ceiling contains the true correlation. Judges have severity (0.5), tastes (0.3, strong: 0.6) and noise (0.9).

{_lines(PANEL_COLUMNS)}
{_lines(panel_row(world, studies, seed) for world in PANELS)}

For crowds the interval is too wide (its coverage is above .95).

## Judges who rate different systems

Should ratings be z-scores (each judge's ratings minus the judge's mean, divided by the judge's standard deviation) or stay as given, if each judge rates only some of the systems? *r* is the correlation of the true values with the mean ratings. z-scores remove a part of the differences between systems if judges rate few of them. If they would keep less than 75%
of a difference, wellput's default is the ratings as given, and a note says why.

{_lines(NESTED_COLUMNS)}
{_lines(nested_row(per_judge, studies, seed) for per_judge in (1, 2, 3, 4, 5, 6))}

## Intraclass correlations

How often the 95% intervals of intraclass correlations contain the true value (*coverage*). ICC1, ICC2 and ICC3 (Shrout & Fleiss 1979) are the reliability of one judge; with *k*, that of the mean of all judges. Each row has {studies:,} studies of normally distributed ratings. Units (the things that are rated) and noise have variance 1; judges have variance 0.25 for ICC2 and ICC3, and no effect for ICC1.

{_lines(ICC_COLUMNS)}
{_lines(row for world in CLASSES for row in class_rows(world, studies, seed))}
"""


def _lines(rows: Iterable[str]) -> str:
    return "\n".join(rows)


if __name__ == "__main__":
    main()
