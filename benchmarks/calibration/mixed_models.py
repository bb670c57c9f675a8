"""Do mixed models of judgments keep their word, and how long do they take?

Studies are simulated in which the truth is known: judges are severe or mild and have tastes, items and
documents are hard or easy and suit some systems, and a fifth of the judgments is missing.

    python -m benchmarks.calibration.mixed_models calibration --studies 1000 -o PAGE.md
    OPENBLAS_NUM_THREADS=1 python -m benchmarks.calibration.mixed_models speed -o PAGE.md

`speed` fits the same data with lme4 too if there is Rscript with lme4 and jsonlite.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from scipy.stats import ttest_ind

from wellput.core.errors import InputError
from wellput.stats.mixed_equations import Floats, MixedDesign, crossed_codes, renumbered
from wellput.stats.mixed_identifiable import identify_components
from wellput.stats.mixed_influence import judge_influence
from wellput.stats.mixed_laplace import LaplaceMixed, fit_binary, fit_choices, fit_ordinal
from wellput.stats.mixed_linear import LinearMixed, fit_linear
from wellput.stats.mixed_ranks import compare_all_pairs, rank_ranges

T = TypeVar("T")
DRAWS = 4_000
GAP = 0.35
"""Between neighbors, where systems differ."""


@dataclass(frozen=True)
class World:
    """Judges × systems × items with `share` of all cells; standard deviations of the components."""

    title: str
    judges: int
    systems: int
    items: int
    deviations: Mapping[str, float]
    share: float = 0.8
    per_document: int = 1
    kind: str = "linear"
    noise: float = 0.8

    def study(self, rng: np.random.Generator, gap: float) -> tuple[Floats, MixedDesign]:
        if self.kind == "choices":
            return self._choices(rng, gap)
        judge, system, item = np.nonzero(
            rng.random((self.judges, self.systems, self.items)) < self.share
        )
        mains = {name: renumbered(codes) for name, codes in self._mains(judge, item).items()}
        factors = {
            **mains,
            **{f"{name}:system": crossed_codes(mains[name], system) for name in mains},
        }
        felt = -gap * system + self._noise(rng, len(judge))
        for name, deviation in self.deviations.items():
            felt += rng.normal(0, deviation, int(factors[name].max()) + 1)[factors[name]]
        design = MixedDesign(renumbered(system), factors)
        if self.kind == "binary":
            return (felt > -0.3).astype(np.float64), design
        if self.kind == "ordinal":
            return np.digitize(felt, [-1.8, -0.5, 0.4, 1.5]).astype(np.float64), design
        return (4 + 1.3 * felt).round(), design  # whole points: many ties

    def _mains(self, judge: np.ndarray, item: np.ndarray) -> dict[str, np.ndarray]:
        mains = {"judge": judge, "item": item}
        if self.per_document > 1:
            mains["document"] = item // self.per_document
        return mains

    def _noise(self, rng: np.random.Generator, n: int) -> Floats:
        return rng.normal(0, self.noise, n) if self.kind == "linear" else rng.logistic(0, 1, n)

    def _choices(self, rng: np.random.Generator, gap: float) -> tuple[Floats, MixedDesign]:
        pairs = np.array([(a, b) for a in range(self.systems) for b in range(a)])
        judge, pair, item = np.nonzero(
            rng.random((self.judges, len(pairs), self.items)) < self.share
        )
        systems = pairs[pair]
        latent = -gap * (systems[:, 0] - systems[:, 1]) + rng.logistic(0, 1, len(judge))
        factors = {}
        for name, main in self._mains(judge, item).items():
            codes = crossed_codes(np.stack([main, main], axis=1), systems)
            factors[f"{name}:system"] = codes
            deviation = self.deviations.get(f"{name}:system", 0.0)
            effects = rng.normal(0, deviation, int(codes.max()) + 1)[codes]
            latent += effects[:, 0] - effects[:, 1]
        values = np.where(np.abs(latent) < 0.4, 0.5, latent > 0)
        return values, MixedDesign(systems, factors)


JUDGED = {"judge": 0.5, "item": 0.6, "judge:system": 0.3}
OUTPUTS = {**JUDGED, "item:system": 0.5}
DOCUMENTS = {
    "judge": 0.5,
    "item": 0.3,
    "document": 0.5,
    "judge:system": 0.2,
    "document:system": 0.4,
}
LATENT = {"judge": 0.8, "item": 0.8, "judge:system": 0.5, "item:system": 0.6}
WORLDS = (
    World("6 judges, 60 items", 6, 3, 60, OUTPUTS),
    World("12 judges, 30 items", 12, 4, 30, OUTPUTS),
    World("4 judges, 100 items", 4, 3, 100, OUTPUTS),
    World("6 judges without tastes", 6, 3, 60, {"judge": 0.5, "item": 0.6, "item:system": 0.5}),
    World("6 judges of strong tastes", 6, 3, 60, {**OUTPUTS, "judge:system": 0.8}),
    World("a crowd of 30, a tenth of the cells", 30, 4, 60, OUTPUTS, share=0.08),
    World("12 documents of 5 items", 6, 3, 60, DOCUMENTS, share=0.4, per_document=5),
    World("grades, 8 judges, 40 items", 8, 3, 40, LATENT, kind="ordinal"),
    World("grades, a crowd of 30", 30, 3, 40, LATENT, kind="ordinal", share=0.15),
    World("yes or no, 8 judges, 60 items", 8, 3, 60, LATENT, kind="binary"),
    World("choices with ties, 10 judges", 10, 4, 30, LATENT, kind="choices", share=0.25),
)


def fit(kind: str, values: Floats, design: MixedDesign) -> LinearMixed | LaplaceMixed:
    design = design.only(identify_components(design).estimable)
    if kind == "linear":
        return fit_linear(values, design)
    if kind == "ordinal":
        return fit_ordinal(values, design)
    return fit_binary(values, design) if kind == "binary" else fit_choices(values, design)


@dataclass
class Tally:
    """Counts over the studies of a world."""

    studies: int = 0
    failed: int = 0
    naive: float = 0.0
    single: float = 0.0
    any: int = 0
    covered: float = 0.0
    together: int = 0
    ranked: int = 0

    def row(self, title: str) -> str:
        n = self.studies
        return (
            f"| {title} | {rate(self.naive, n)} | {rate(self.single, n)} | {rate(self.any, n)} | "
            f"{rate(self.covered, n)} | {rate(self.together, n)} | {rate(self.ranked, n)} | {self.failed} |"
        )


def rate(hits: float, n: int) -> str:
    """A share with two standard errors of the simulation."""
    share = hits / n
    return f"{share:.3f} ± {2 * math.sqrt(max(share * (1 - share), 1 / n) / n):.3f}"


def tally(world: World, studies: int, seed: int) -> Tally:
    rng = np.random.default_rng(seed)
    found = Tally()
    for _ in range(studies):
        try:
            _add(found, world, rng)
        except InputError:
            found.failed += 1
    return found


def _add(found: Tally, world: World, rng: np.random.Generator) -> None:
    values, design = world.study(rng, 0.0)
    equal = compare_all_pairs(fit(world.kind, values, design), world.systems, draws=DRAWS)
    values_apart, design_apart = world.study(rng, GAP)
    fitted = fit(world.kind, values_apart, design_apart)
    apart = compare_all_pairs(fitted, world.systems, draws=DRAWS)
    scale = 1.3 if world.kind == "linear" else 1.0
    truth = GAP * scale * (apart.pairs[:, 1] - apart.pairs[:, 0])
    found.studies += 1
    found.naive += _naive(values, design)
    found.single += float((equal.p_values < 0.05).mean())
    found.any += bool((equal.p_adjusted < 0.05).any())
    found.covered += float(((apart.single_low <= truth) & (truth <= apart.single_high)).mean())
    found.together += bool(((apart.low <= truth) & (truth <= apart.high)).all())
    low, high = rank_ranges(apart.better())
    ranks = np.arange(1, world.systems + 1)
    found.ranked += bool(((low <= ranks) & (ranks <= high)).all())


def _naive(values: Floats, design: MixedDesign) -> float:
    """How often a t-test over judgments calls two systems different; for choices one against a half."""
    if design.is_choice:
        signs = np.where(design.systems[:, 0] > design.systems[:, 1], values, 1 - values) - 0.5
        return float(abs(signs.mean()) / (signs.std(ddof=1) / np.sqrt(len(signs))) > 1.96)
    parts = [values[design.systems == system] for system in range(design.n_systems)]
    found = [
        ttest_ind(parts[a], parts[b]).pvalue < 0.05 for a in range(len(parts)) for b in range(a)
    ]
    return float(np.mean(found))


def calibration(arguments: argparse.Namespace) -> str:
    rows = [
        tally(world, arguments.studies, arguments.seed).row(world.title)
        for world in WORLDS
        if arguments.world in world.title
    ]
    return "\n".join(
        [
            "# Calibration of mixed models of judgments",
            "",
            f"Measured by `python -m benchmarks.calibration.mixed_models calibration --studies {arguments.studies} --seed {arguments.seed}`, with two standard",
            "errors of the simulation. *Type I*: how often one of two equally good systems is called better at .05, by a t-test over judgments, by",
            "the model, and by the simultaneous intervals for any pair at all. *Coverage*: of the 95% interval of a difference, of all simultaneous",
            "intervals together, and of all rank ranges together. *Refused*: studies that were separated perfectly.",
            "",
            "| study | type I, t-test | type I | any pair | coverage | all pairs | all ranks | refused |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *rows,
            "",
        ]
    )


def large_study(items: int, systems: int, judges: int, seed: int) -> tuple[Floats, MixedDesign]:
    """Ten judgments for each item: five systems, each judged twice."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(items), 10)
    chosen = rng.random((items, systems)).argsort(axis=1)[:, :5]
    system = renumbered(np.repeat(chosen, 2, axis=1).ravel())
    judge = renumbered(rng.integers(0, judges, len(item)))
    factors = {
        "judge": judge,
        "item": item,
        "judge:system": crossed_codes(judge, system),
        "item:system": crossed_codes(item, system),
    }
    values = rng.normal(0, 1, len(item)) + 0.05 * system
    for name, codes in factors.items():
        values += rng.normal(0, {**OUTPUTS, "judge:system": 0.2}[name], int(codes.max()) + 1)[codes]
    return values, MixedDesign(system, factors)


LME4 = """
suppressMessages({library(lme4); library(jsonlite)})
data <- as.data.frame(fromJSON(commandArgs(TRUE)[1]))
for (name in c("judge", "item", "system")) data[[name]] <- factor(data[[name]])
seconds <- system.time(fit <- lmer(value ~ 0 + system + (1|judge) + (1|item) + (1|judge:system) + (1|item:system), data))
cat(toJSON(list(seconds = unname(seconds[1] + seconds[2]), criterion = unname(REMLcrit(fit))), digits = 12, auto_unbox = TRUE))
"""


def speed(arguments: argparse.Namespace) -> str:
    rows = []
    for items, systems, judges in ((200, 8, 10), (2_000, 10, 20), (20_000, 20, 200)):
        values, design = large_study(items, systems, judges, arguments.seed)
        fitted, seconds = _timed(lambda y=values, d=design: fit_linear(y, d))  # type: ignore[misc]
        _, after = _timed(lambda f=fitted, d=design: _afterwards(f, d))  # type: ignore[misc]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        theirs = _lme4(values, design) if items <= arguments.lme4_items else None
        beside = (
            f"{theirs['seconds']:.2f} | {theirs['seconds'] / seconds:.0f} | {fitted.criterion - theirs['criterion']:+.1e}"
            if theirs
            else "— | — | —"
        )
        rows.append(
            f"| {len(values):,} | {systems} | {judges} | {items:,} | {seconds:.2f} | {after:.2f} | {memory:.0f} | {beside} |"
        )
    return "\n".join(
        [
            "# Speed of mixed models of judgments",
            "",
            "Measured by `OPENBLAS_NUM_THREADS=1 python -m benchmarks.calibration.mixed_models speed`: seconds of processor time on one core, memory of the whole process in MiB. The model has",
            "judge, item, judge × system and item × system. *Pairs*: all differences with simultaneous intervals, and each judge's influence.",
            "",
            "| judgments | systems | judges | items | fit | pairs | MiB | lme4 | ratio | criterion, wellput − lme4 |",
            "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *rows,
            "",
        ]
    )


def _afterwards(fitted: LinearMixed, design: MixedDesign) -> None:
    compare_all_pairs(fitted, design.n_systems)
    judge_influence(fitted, design, design.factors["judge"])


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    begin = time.process_time()
    found = work()
    return found, time.process_time() - begin


def _lme4(values: Floats, design: MixedDesign) -> dict[str, float] | None:
    if shutil.which("Rscript") is None:
        return None
    columns = {name: design.factors[name].tolist() for name in ("judge", "item")}
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "data.json", Path(folder) / "fit.R"
        data.write_text(
            json.dumps({**columns, "system": design.systems.tolist(), "value": values.tolist()})
        )
        script.write_text(LME4)
        ran = subprocess.run(
            ["Rscript", str(script), str(data)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
    if ran.returncode:
        return None
    found: dict[str, float] = json.loads(ran.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", choices=("calibration", "speed"))
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--world", default="", help="only worlds with this in their title")
    parser.add_argument("--lme4-items", type=int, default=20_000, help="lme4 up to so many items")
    arguments = parser.parse_args()
    page = (calibration if arguments.page == "calibration" else speed)(arguments)
    if arguments.output:
        arguments.output.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
