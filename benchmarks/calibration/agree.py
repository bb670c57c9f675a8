"""How often are the tests between metrics, and the intervals of their agreement with people, right?

The default tests and intervals of `agree` are measured in the worlds of `agree_worlds`: how often an
interval does not contain the true value, how often noise is found to agree with people, and how often two
equally good metrics are found to differ. `agree_named` measures the tests and intervals that are chosen by
name.

    python -m benchmarks agreement-calibration
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import sqrt

import numpy as np

from benchmarks.calibration.agree_named import (
    SETTINGS,
    SHAPES,
    TESTS,
    WORLDS,
    coverage_row,
    null_row,
)
from benchmarks.calibration.agree_worlds import STUDY_WORLDS, StudyWorld
from benchmarks.pages import write_page
from wellput.core.metric import Floats
from wellput.stats.chance_level import chance_level_of, chance_level_of_segments
from wellput.stats.correlation import Correlation, correlate, correlation_value
from wellput.stats.correlation_intervals import (
    correlation_difference,
    leave_out,
    scale_of,
)


def verdict(rows: list[str], trials: int) -> str:
    """The shares above .065, of which those more than two standard errors above it are marked."""
    limit = 0.065 + 2 * sqrt(0.065 * 0.935 / trials)
    above, total = [], 0
    for row in rows:
        name, study, world, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        for what, cell in zip(("missed", "noise", "apart"), cells, strict=True):
            share = cell.split(" ")[0]
            total += share != "–"
            if share != "–" and float(share) > 0.065:
                clearly = " (clearly)" if float(share) > limit else ""
                above.append(f"{name}, {study}, {world}: {what} {share}{clearly}")
    if not above:
        return f"None of the {total} shares in the table is above .065."
    listed = "\n".join(f"- {line}" for line in above)
    return f"Of the {total} shares in the table, {len(above)} are above .065 (*clearly*: more than two standard errors above):\n\n{listed}"


def page(*, trials: int, default_trials: int, n_resamples: int, seed: int) -> str:
    defaults = default_rows(trials=default_trials, seed=seed)
    size = {"trials": trials, "n_resamples": n_resamples, "seed": seed}
    null: list[str] = []
    covered: list[str] = []
    for setting in SETTINGS:
        for shape in SHAPES:
            for world in WORLDS:
                null.append(null_row(setting, shape, world, **size))
                print(null[-1], file=sys.stderr)
            covered.append(coverage_row(setting, shape, **size))
            print(covered[-1], file=sys.stderr)
    return TEMPLATE.format(
        **size,
        tests=" | ".join(TESTS),
        error=2 * sqrt(0.05 * 0.95 / trials),
        null="\n".join(null),
        coverage="\n".join(covered),
        worlds="\n".join(f"- *{world.title}*: {world.about}." for world in STUDY_WORLDS),
        default="\n".join(defaults),
        default_trials=default_trials,
        default_error=2 * sqrt(0.05 * 0.95 / default_trials),
        verdict=verdict(defaults, default_trials),
    )


@dataclass(frozen=True)
class DefaultFigure:
    """A correlation, in studies with these numbers of systems."""

    title: str
    correlation: Correlation
    systems: tuple[int, ...]


DEFAULT_FIGURES = (
    DefaultFigure("Pearson, segments pooled", Correlation(), (4, 6, 12, 20)),
    DefaultFigure("Kendall, segments pooled", Correlation(coefficient="kendall"), (6, 12)),
    DefaultFigure("Spearman, segments pooled", Correlation(coefficient="spearman"), (6, 12)),
    DefaultFigure("Kendall, by item", Correlation(average="item", coefficient="kendall"), (4, 12)),
    DefaultFigure("Pearson, by system", Correlation(average="system"), (6, 12)),
    DefaultFigure("accuracy, by item", Correlation(average="item", coefficient="acc-t"), (6, 12)),
    DefaultFigure("Pearson, systems", Correlation("system"), (4, 6, 12, 20)),
    DefaultFigure("Kendall, systems", Correlation("system", coefficient="kendall"), (6, 12)),
    DefaultFigure("soft accuracy, systems", Correlation("system", coefficient="spa"), (6,)),
)
N_ITEMS = 40
QUALITY = 0.5


@dataclass
class Tally:
    """The number of studies that have an interval, of those whose interval errs, and of those without one."""

    errors: int = 0
    studies: int = 0
    without: int = 0

    def add(self, is_error: bool | None) -> None:
        if is_error is None:
            self.without += 1
        else:
            self.studies += 1
            self.errors += is_error

    def text(self) -> str:
        total = self.studies + self.without
        if self.studies < total / 2:
            return "–"
        mark = "" if self.without <= total / 100 else f" ({self.without / total:.0%} none)"
        return f"{self.errors / self.studies:.3f}{mark}"


def true_value(world: StudyWorld, correlation: Correlation) -> float:
    """The mean correlation of very large studies: with many systems and, if segments are pooled, many items."""
    rng = np.random.default_rng(7)
    pooled = correlation.grouping == "pooled"
    shape, draws = ((200, 200), 12) if pooled else ((200, N_ITEMS), 25)
    found = []
    for _ in range(draws):
        x, _, z = world.draw(*shape, QUALITY, rng)
        found.append(correlation_value(x, z, correlation).value)
    return float(np.mean(found))


def default_cells(
    figure: DefaultFigure, world: StudyWorld, n_systems: int, *, trials: int, seed: int
) -> list[str]:
    """The cells *missed*, *noise* and *apart* of a row."""
    correlation = figure.correlation
    is_share = correlation.coefficient in ("acc-t", "spa")
    truth = None if is_share else true_value(world, correlation)
    missed, found, apart = Tally(), Tally(), Tally()
    for trial in range(trials):
        rng = np.random.default_rng([seed, n_systems, trial])
        x, y, z = world.draw(n_systems, N_ITEMS, QUALITY, rng)
        if truth is not None:
            of_x = correlate(x, z, correlation)
            missed.add(
                None
                if of_x.low is None or of_x.high is None
                else not of_x.low <= truth <= of_x.high
            )
        test = correlation_difference(x, y, z, correlation)
        apart.add(None if test.p_value is None else test.p_value < 0.05)
        noise, _, people = world.draw(n_systems, N_ITEMS, 0.0, rng)
        p_value = _p_of_noise(noise, people, correlation, seed=trial)
        found.add(None if p_value is None else p_value < 0.05)
    return ["–" if truth is None else missed.text(), found.text(), apart.text()]


def _p_of_noise(x: Floats, z: Floats, correlation: Correlation, *, seed: int) -> float | None:
    """As `agree` gives it: accuracies are tested against their own chance level."""
    if correlation.coefficient not in ("acc-t", "spa"):
        return correlate(x, z, correlation).p_value
    left_out = leave_out(x, z, correlation)

    if correlation.coefficient == "spa":
        chance = chance_level_of(
            lambda scores: leave_out(scores, z, correlation).value,
            x,
            "spa",
            exchanges=60,
            seed=seed,
        )
    else:
        chance = chance_level_of_segments(x, z, correlation, seed=seed)
    return left_out.estimate(
        null=chance.null,
        scale=scale_of(correlation, len(x)),
    ).p_value


def default_rows(*, trials: int, seed: int) -> list[str]:
    tasks = [
        (figure, world, n_systems)
        for figure in DEFAULT_FIGURES
        for n_systems in figure.systems
        for world in STUDY_WORLDS
    ]
    with ProcessPoolExecutor() as pool:
        cells = pool.map(partial(_default_row, trials=trials, seed=seed), tasks)
        rows = []
        for row in cells:
            print(row, file=sys.stderr)
            rows.append(row)
    return rows


def _default_row(task: tuple[DefaultFigure, StudyWorld, int], *, trials: int, seed: int) -> str:
    figure, world, n_systems = task
    cells = default_cells(figure, world, n_systems, trials=trials, seed=seed)
    return f"| {figure.title} | {n_systems} × {N_ITEMS} | {world.title} | {' | '.join(cells)} |"


TEMPLATE = """\
# Calibration of `wellput agree`

How often are the tests and intervals of `wellput agree` right? They were measured in simulated studies of two equally good metrics. The default ones are right or cautious,
except if items come in documents that the evalset does not name. Of the [tests that are chosen by name](#tests-chosen-by-name-between-two-equally-good-metrics) (`--test`), `perm-systems` and `williams` are about right; `perm-both`,
`perm-inputs` and `perm-cells` find far too many differences if a metric likes or dislikes whole systems; `boot-both` mostly finds too few.

In the tables, *4 × 40* is a study with 4 systems and 40 items. The correlations with people are

- *segments pooled*: over all outputs together;
- *by item* and *by system*: the mean of the correlations within each item, or within each system;
- *systems*: of the systems' mean scores.

*Accuracy* and *soft accuracy* are the coefficients `acc-t` and `spa` of [`wellput agree`](../commands/agree.md#options), which count pairs in the right order.

## What `wellput agree` prints by default

The default is the two-way jackknife, which leaves out each system and each item in turn. The last three columns are shares of {default_trials} studies, and should be .05 or less (two standard errors are {default_error:.3f}):

- *missed*: the 95% interval does not contain the true value for other systems and other items.
- *noise*: a metric of random numbers is found to agree with people at .05.
- *apart*: two equally good metrics are found to differ at .05.

"None" in parentheses is the share of studies without an interval, because the coefficient is perfect, or undefined without one of the systems. – means that *missed* was not measured.
A simulated score is the sum of an effect of its system, an effect of its item, and an effect of the output alone. The column *world* says how large these effects are and how they are distributed:

{worlds}

| correlation | study | world | missed | noise | apart |
|---|---|---|---|---|---|
{default}

{verdict}

In the world *documents of five items* the studies do not name the documents, so items of one document are treated as independent. The more systems, the larger is the error from this.
If a study names its documents, whole documents are left out at a time; [another page](agreement_documents.md) measures this.
Tests and intervals are cautious in the world *every output by itself*. They are also cautious for coefficients that count pairs of systems (Kendall's τ, accuracies), if there are few systems.

## Tests chosen by name, between two equally good metrics

The cells are shares of {trials} studies in which a test of `--test` finds a difference at .05; they should be .050 (two standard errors: {error:.3f}). A
star means that the p-values are not uniformly distributed (Kolmogorov–Smirnov test, p < .001). The column *errors share* says what the errors of a metric
have in common: nothing (the errors of all scores are independent), the system (the metric likes or dislikes
a system as a whole), the item, or both. – means that Williams' test is not for means of correlations.

| correlation | study | errors share | {tests} | williams |
|---|---|---|---|---|---|---|---|---|
{null}

The permutation tests exchange scores of the two metrics at random: of whole systems (`perm-systems`), of whole items (`perm-inputs`), of both (`perm-both`, PERM-BOTH in papers), or of single outputs (`perm-cells`). If the errors of all scores are independent, all four are right. If a metric errs for whole systems, `perm-inputs`, `perm-both` and `perm-cells` find too many differences, and more with more items: they exchange single items within a system, so the two metrics' errors for the system are mixed, and chance looks smaller than it is. In this case, at system level with 20 × 100, `perm-both` finds a difference between equally good metrics in half of the studies. For a conclusion about other systems, use the default; `perm-both`, `perm-inputs` and `perm-cells` hold only for these systems.

`boot-both` mostly finds too few differences: drawing systems and items together counts the errors of single
outputs twice, and p comes from an interval that is too wide.

## 95% intervals of bootstraps, and Fisher's

The last four columns are the shares of studies in which an interval contains the true correlation (column *truth*) for other systems and other items. They should be .95 (two standard errors: {error:.3f}). The errors of a metric have both the system and the item in common. `boot-both` draws systems and items at random, `boot-systems` only systems, `boot-inputs` only items. *Fisher* is the interval by Fisher's transformation, which is not for means of correlations (–).

| correlation | study | truth | boot-both | boot-systems | boot-inputs | Fisher |
|---|---|---|---|---|---|---|
{coverage}

The interval of `boot-both` contains the true value too often with few systems and items, because it counts the errors of single outputs twice; with 20 × 100
it is almost right. `boot-systems` contains the true value slightly too seldom, as percentile intervals from 10 to 20 systems do.
`boot-inputs` allows for other items but not for other systems: it contains the true value for other systems
in half to five sixths of the studies.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--default-trials", type=int, default=500)
    parser.add_argument("--resamples", type=int, default=199)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    text = page(
        trials=given.trials,
        default_trials=given.default_trials,
        n_resamples=given.resamples,
        seed=given.seed,
    )
    write_page("agreement-calibration", text)
