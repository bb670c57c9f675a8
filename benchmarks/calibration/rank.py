"""Type I error and coverage of the ranking by people, also under continuous looks; of the ceiling and of
intraclass correlations.

Studies are simulated in which the truth is known (`ranking_worlds`), and ranked as `wellput rank` ranks
them.

    python -m benchmarks ranking-calibration
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
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
from benchmarks.calibration.ranking_worlds import PEEKED, WORLDS, World, first_judgments
from benchmarks.pages import write_page
from wellput.agreement.rankings.fitted_question import fit_question, system_pairs
from wellput.agreement.rankings.fitted_ranking import FittedRanking, rank_fitted
from wellput.agreement.rankings.judgment_design import QuestionData
from wellput.core.errors import InputError

GAP = 0.35
"""Between neighbors, where systems differ."""
LOOKS = 12
"""At a growing study, evenly spaced."""
SHARE_OF_STUDIES = {"linear": 1.0, "ordinal": 0.5, "binary": 0.5, "choices": 0.5}
"""Models in log odds take ten times as long."""
PEEKED_SHARE_OF_STUDIES = {"linear": 0.5, "choices": 0.25}
ALPHA = 0.05


@dataclass
class Tally:
    """Counts over the studies of a world; the shares of pairs are summed over studies."""

    studies: int = 0
    t_test: float = 0.0
    single: float = 0.0
    any: int = 0
    covered: float = 0.0
    ranked: int = 0
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
    level = rank_fitted(fit_question(equal))
    held = rank_fitted(apart_fit := fit_question(apart))
    first, second = system_pairs(world.systems)
    contrasts = apart_fit.fitted.contrast_pairs(first, second)
    truth = world.difference(GAP) * (second - first)
    half = contrasts.errors * student.isf(ALPHA / 2, apart_fit.freedom)
    found.studies += 1
    found.t_test += t_test_rejects(equal)
    found.single += float(np.mean([one.p_value < ALPHA for one in level.differences]))
    found.any += any(one.is_real for one in level.differences)
    found.covered += float((np.abs(contrasts.values - truth) <= half).mean())
    found.ranked += ranges_hold(held)


def ranges_hold(ranking: FittedRanking) -> bool:
    """Whether every system's rank lies within its range; S0 is truly the best, S1 the next."""
    return all(row.rank_low <= int(row.system[1:]) + 1 <= row.rank_high for row in ranking.systems)


def t_test_rejects(data: QuestionData) -> float:
    """The share of pairs that a t-test over judgments calls different, as scripts often do."""
    systems, values, n = data.design.systems, data.values, len(data.system_names)
    found = []
    for a in range(n):
        for b in range(a):
            if data.are_choices:  # against a half
                own = values[(systems[:, 0] == a) & (systems[:, 1] == b)] - 0.5
                t = abs(own.mean()) / (own.std(ddof=1) / math.sqrt(len(own)))
                found.append(t > 1.96)
            else:
                test = ttest_ind(values[systems == a], values[systems == b])
                found.append(test.pvalue < ALPHA)
    return float(np.mean(found))


def peeked_row(world: World, studies: int, seed: int) -> str:
    """Equal systems, at which somebody looks again and again while judgments come in."""
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
    return "\n".join(
        [
            "# Calibration of rankings and reliability",
            "",
            "How often the intervals and tests of `wellput rank`, and its estimates of reliability, are right. They are measured on",
            "simulated studies whose true values are known. The number after ± is two standard errors, "
            "computed over the simulated studies.",
            "",
            "## The ranking by people",
            "",
            "Systems are ranked as by `wellput rank`. The numbers in parentheses are standard deviations "
            "of the simulated effects. Judges have severity (standard deviation 0.5) and tastes for "
            "systems (0.3; strong:",
            "0.8), items are hard or easy (0.6) and suit some systems (0.5), answers have noise (0.8), and ratings are rounded to whole points. A fifth of",
            "the judgments is missing unless the row says otherwise; most outputs have several judges. "
            "Documents have effects of their own (0.5,",
            "with systems 0.4). For grades, yes or no, and choices (with ties) the effects are in "
            "log odds: 0.8 for severity, 0.5 for tastes, 0.8 for items and 0.6 for items with "
            "systems. A *cell* is one "
            "judge's possible answer about one output, a *crowd* many judges with few answers "
            "each.",
            "",
            "*Type I*: how often two equally good systems are called different at .05, by a t-test over all judgments, as scripts often do",
            "it (for choices, a t-test of the share of wins against one half), and by the model; *any "
            "pair*: how often at least one pair is called",
            "different, after Holm's correction. *Coverage*: how often the 95% interval of a difference "
            f"contains the true value, if systems with neighboring ranks differ by {GAP}; *all ranks*: how "
            "often the ranges of ranks of all systems are right at once. *Refused*: studies that",
            "are not ranked because the answers separate the systems perfectly. With fewer than four "
            "judges, or fewer than ten items, a difference has at most as many degrees of freedom as there "
            "are judges (or items) minus one,",
            "so the tests and intervals are cautious.",
            "",
            "| study | studies | type I, t-test | type I | any pair | coverage | all ranks | refused |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *(rows.ranked(world) for world in rows.chosen(WORLDS)),
            "",
            "## Looking again and again",
            "",
            f"In these studies all systems are equally good, and somebody looks at the results {LOOKS} "
            "times while judgments come in. The shares say how often at least one",
            "look calls at least one difference real, by the tests for one look (corrected for the pairs) and by `--sequential`.",
            "",
            "| study | studies | tests for one look | `--sequential` |",
            "| --- | ---: | ---: | ---: |",
            *(rows.peeked(world) for world in rows.chosen(PEEKED)),
            "",
            "## The ceiling",
            "",
            "The ceiling is the highest correlation with the panel of judges that a metric can be expected "
            "to reach. The table has the correlation of the true values with the panel's mean ratings, "
            "over 5 systems; the ceiling that wellput estimates from the ratings alone;",
            "and how often the interval of the ceiling contains the correlation "
            "(`wellput.stats.panel_reliability`). Judges have severity (0.5), tastes (0.3) and noise (0.9).",
            "",
            *PANEL_COLUMNS,
            *(panel_row(world, studies, seed) for world in PANELS),
            "",
            "For crowds the interval is too wide (its coverage is above .95): the jackknife leaves out whole judges, and this changes the mean of only three ratings more than another judge would.",
            "",
            "## Judges who rate different systems",
            "",
            "The table has the correlation r of the true values with the mean ratings (as z-scores per "
            "judge, and as given) if each judge rates only some of the systems. The last column "
            "says which of the two wellput uses by default.",
            "",
            *NESTED_COLUMNS,
            *(nested_row(per_judge, studies, seed) for per_judge in (1, 2, 3, 4, 5, 6)),
            "",
            "If z-scores would keep less than 75% of a difference between systems, ratings are used as given by default, and a note says why.",
            "",
            "## Intraclass correlations",
            "",
            f"Each row has {studies:,} studies of normally distributed ratings. Units and noise have "
            "variance 1; judges have variance 0.25 for ICC2 and ICC3, and no effect for ICC1.",
            "",
            *ICC_COLUMNS,
            *(row for world in CLASSES for row in class_rows(world, studies, seed)),
            "",
        ]
    )


if __name__ == "__main__":
    main()
