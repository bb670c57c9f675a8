"""Time and memory of the linear model of `wellput rank` beside lme4, on the same simulated studies.

OPENBLAS_NUM_THREADS=1 python -m benchmarks mixed-models
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.calibration.ranking_worlds import OUTPUTS
from benchmarks.pages import write_page
from wellput.agreement.rankings.fitted_question import fit_question
from wellput.agreement.rankings.fitted_ranking import rank_fitted
from wellput.agreement.rankings.judgment_design import QuestionData
from wellput.stats.mixed.equations import MixedDesign, crossed_codes, renumbered

LME4_MINUTES = 3.0
SIZES = ((200, 8, 10), (2_000, 10, 20), (20_000, 20, 200))
"""Items, systems, judges; ten judgments for each item."""


def study(items: int, systems: int, judges: int, seed: int) -> QuestionData:
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
    return QuestionData(
        "quality",
        values,
        MixedDesign(system, factors),
        tuple(f"S{number}" for number in range(systems)),
        tuple(f"J{number}" for number in range(int(judge.max()) + 1)),
        judge,
        item,
        None,
    )


LME4 = """
suppressMessages({library(lme4); library(jsonlite)})
data <- as.data.frame(fromJSON(commandArgs(TRUE)[1]))
for (name in c("judge", "item", "system")) data[[name]] <- factor(data[[name]])
seconds <- system.time(fit <- lmer(value ~ 0 + system + (1|judge) + (1|item) + (1|judge:system) + (1|item:system), data))
memory <- as.numeric(sub("[^0-9]*([0-9]+).*", "\\\\1", grep("VmHWM", readLines("/proc/self/status"), value = TRUE))) / 1024
cat(toJSON(list(seconds = unname(seconds[1] + seconds[2]), memory = memory, criterion = unname(REMLcrit(fit)),
  effects = unname(fixef(fit))), digits = 12, auto_unbox = TRUE))
"""


def fit_here(items: int, systems: int, judges: int, seed: int) -> dict[str, float | list[float]]:
    """In this process: seconds of processor time of the fit and of the ranking, and the peak of memory."""
    data = study(items, systems, judges, seed)
    begin = time.process_time()
    question = fit_question(data, model="linear")
    middle = time.process_time()
    rank_fitted(question)
    end = time.process_time()
    return {
        "fit": middle - begin,
        "ranking": end - middle,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "criterion": float(question.fitted.criterion),
        "effects": question.fitted.effects.tolist(),
    }


def fitted_alone(size: tuple[int, int, int], seed: int) -> dict[str, float | list[float]]:
    """In a process of its own, so that the memory is that of this study."""
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            __spec__.name if __spec__ else __name__,
            "--one",
            *map(str, size),
            "--seed",
            str(seed),
        ],
        capture_output=True,
        text=True,
        check=True,
        env=_one_core(),
    )
    found: dict[str, float | list[float]] = json.loads(ran.stdout)
    return found


class StoppedFit(Exception):
    """lme4 did not end in the time that it was given; it took this many `seconds` of processor time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def lme4(
    size: tuple[int, int, int], seed: int, seconds: float
) -> dict[str, float | list[float]] | None:
    """None if lme4 is not installed; StoppedFit after this many seconds by the clock."""
    if shutil.which("Rscript") is None:
        return None
    data = study(*size, seed)
    design = data.design
    columns = {name: design.factors[name].tolist() for name in ("judge", "item")}
    with tempfile.TemporaryDirectory() as folder:
        file, script = Path(folder) / "data.json", Path(folder) / "fit.R"
        file.write_text(
            json.dumps(
                {**columns, "system": design.systems.tolist(), "value": data.values.tolist()}
            )
        )
        script.write_text(LME4)
        before = _seconds_of_children()
        try:
            ran = subprocess.run(
                ["Rscript", str(script), str(file)],
                capture_output=True,
                text=True,
                check=False,
                env=_one_core(),
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            raise StoppedFit(_seconds_of_children() - before) from None
    return json.loads(ran.stdout) if ran.returncode == 0 else None


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _one_core() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def row(size: tuple[int, int, int], seed: int, lme4_minutes: float) -> str:
    items, systems, judges = size
    ours = fitted_alone(size, seed)
    beside = columns_of_lme4(size, seed, ours, 60 * lme4_minutes)
    print(size, ours["fit"], beside, file=sys.stderr, flush=True)
    return (
        f"| {10 * items:,} | {systems} | {judges} | {items:,} | {_number(ours['fit']):.2f} | "
        f"{_number(ours['ranking']):.2f} | {_number(ours['memory']):,.0f} | {beside} |"
    )


def columns_of_lme4(
    size: tuple[int, int, int],
    seed: int,
    ours: dict[str, float | list[float]],
    seconds_given: float,
) -> str:
    """The columns from lme4's seconds to the last. Some are lower bounds if lme4 was stopped; all are – if it is
    not installed."""
    own = _number(ours["fit"]) + _number(ours["ranking"])
    try:
        theirs = lme4(size, seed, seconds_given)
    except StoppedFit as stopped:
        least = math.floor(stopped.seconds)
        return f"> {least:,} | – | > {math.floor(least / own):,} | – | –"
    if theirs is None:
        return "– | – | – | – | –"
    apart = np.abs(np.array(ours["effects"]) / np.array(theirs["effects"]) - 1).max()
    return (
        f"{_number(theirs['seconds']):.2f} | {_number(theirs['memory']):,.0f} | "
        f"{_number(theirs['seconds']) / own:.1f} | "
        f"{_number(ours['criterion']) - _number(theirs['criterion']):+.0e} | {apart:.0e}"
    )


def _number(value: float | list[float]) -> float:
    assert isinstance(value, float | int)
    return float(value)


def page(seed: int, lme4_minutes: float) -> str:
    rows = "\n".join(row(size, seed, lme4_minutes) for size in SIZES)
    return f"""# Speed of the mixed model, compared with lme4

How fast does `wellput rank` fit its linear model, compared with the R package lme4? With 20,000 judgments it is several times faster, and with 200,000 it needs seconds, where lme4 did not finish in {lme4_minutes:g} minutes. Both find the same estimates.

The model has random effects of judge, item, judge × system and item × system. Both programs fitted it to the same simulated judgments, one after the other on one core. Seconds are processor time; MiB is the peak memory of a process that does only this. lme4 was stopped after {lme4_minutes:g} minutes (`--lme4-minutes`); `>` stands before a number that would be higher without this limit.

- **fit**: the variances of the random effects, and the systems' estimates. **ranking** (wellput only): all differences with intervals, ranks and [clusters of systems](../commands/rank.md).
- **ratio**: lme4's seconds divided by those of wellput's fit and ranking together.
- **criterion**: wellput's value of the restricted likelihood criterion minus lme4's; below 0, wellput's fit is better. **estimates**: the largest relative difference between the two programs in a system's estimate.

| judgments | systems | judges | items | wellput: fit, s | wellput: ranking, s | wellput: MiB | lme4: fit, s | lme4: MiB | ratio | criterion | estimates |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{rows}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--lme4-minutes",
        type=float,
        default=LME4_MINUTES,
        help="stop lme4 after this many minutes for each study",
    )
    parser.add_argument("--one", type=int, nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        items, systems, judges = arguments.one
        print(json.dumps(fit_here(items, systems, judges, arguments.seed)))
        return
    write_page("mixed-models", page(arguments.seed, arguments.lme4_minutes))


if __name__ == "__main__":
    main()
