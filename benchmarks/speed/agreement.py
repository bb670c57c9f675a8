"""Correlations and their tests beside other tools, on the same scores in one run.

Prints a table and writes it to docs/results/agreement_speed.md. nlpstats comes from PyPI;
mt-metrics-eval is not there: set MT_METRICS_EVAL to a checkout of its repository.

    python -m benchmarks agreement-speed
"""

from __future__ import annotations

import importlib
import os
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.pages import write_page
from wellput.core.metric import Floats
from wellput.stats.correlation import Coefficient, Correlation, correlate
from wellput.stats.correlation_resampling import perm_both
from wellput.stats.metric_comparison import compare_all

RESAMPLES = 1000
PEER_RESAMPLES = 10
"""nlpstats is slow: it is timed with these, and its time multiplied."""
KENDALL_BY_ITEM = Correlation(average="item", coefficient="kendall")


def seconds(function: Callable[[], object], *, turns: int = 1) -> float:
    """The shortest time of several turns."""
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def peer(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        sys.exit(f"{module} is missing: see the head of this file.")


def scores(systems: int, items: int, metrics: int, *, seed: int = 0) -> tuple[list[Floats], Floats]:
    """Scores of metrics, which are a quality with noise, and people's ratings, which are this quality rounded."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(systems, 1)) * 0.5 + rng.normal(size=(systems, items))
    noisy = [quality + (1 + k / 10) * rng.normal(size=quality.shape) for k in range(metrics)]
    return noisy, np.round(quality * 10 + 50)


def permutation_rows() -> list[tuple[str, float]]:
    """Each row of the table, and its ratio."""
    permutation = peer("nlpstats.correlations.permutation")
    (x, y), z = scores(16, 100, 2)
    rows = []
    coefficients: tuple[Coefficient, ...] = ("kendall", "pearson", "spearman")
    for coefficient in coefficients:

        def theirs(coefficient: Coefficient = coefficient) -> None:
            permutation.permutation_test(
                x, y, z, "input", coefficient, "both", n_resamples=PEER_RESAMPLES
            )

        def ours(coefficient: Coefficient = coefficient) -> None:
            correlation = Correlation(average="item", coefficient=coefficient)
            perm_both(x, y, z, correlation, n_resamples=RESAMPLES)

        peer_s = seconds(theirs, turns=3) * RESAMPLES / PEER_RESAMPLES
        ours_s = seconds(ours, turns=20)
        wanted = "800×" if coefficient == "kendall" else ""
        row = (
            f"| PERM-BOTH, {coefficient}, by item, 16 × 100, {RESAMPLES} resamples | nlpstats 0.0.1 "
            f"| {peer_s:.1f} s | {ours_s * 1000:.2f} ms | {peer_s / ours_s:,.0f}× | {wanted} |"
        )
        rows.append((row, peer_s / ours_s))
    return rows


def tie_calibration_row() -> tuple[str, float]:
    sys.path.append(os.environ.get("MT_METRICS_EVAL", ""))
    optimization = peer("mt_metrics_eval.tau_optimization")
    (x,), z = scores(20, 1000, 1)

    def theirs() -> None:
        optimization.tau_optimization(x.T, z.T, optimization.TauSufficientStats.acc_23)

    def ours() -> None:
        correlate(x, z, Correlation(average="item", coefficient="acc-t"))

    theirs_s, ours_s = seconds(theirs, turns=3), seconds(ours, turns=5)
    row = (
        f"| tie calibration, by item, 20 × 1000 | mt-metrics-eval | {theirs_s:.2f} s "
        f"| {ours_s * 1000:.1f} ms | {theirs_s / ours_s:,.0f}× | 20× |"
    )
    return row, theirs_s / ours_s


def growth_rows() -> list[str]:
    rows = []
    pooled = Correlation(coefficient="kendall")
    (x, y), z = scores(16, 100, 2)
    for n_resamples in (1000, 4000, 16000):
        test = partial(perm_both, x, y, z, KENDALL_BY_ITEM, n_resamples=n_resamples)
        taken = seconds(test, turns=5)
        rows.append(f"| by item, 16 × 100 | {n_resamples} | {taken * 1000:.1f} ms |")
    for items in (1000, 4000, 16000):
        (x, y), z = scores(16, items, 2)
        taken = seconds(partial(perm_both, x, y, z, pooled, n_resamples=20), turns=3)
        rows.append(f"| pooled, 16 × {items} | 20 | {taken * 1000:.0f} ms |")
    return rows


def all_pairs_seconds() -> float:
    metrics, z = scores(20, 1000, 20)
    named = {f"metric {k}": metric for k, metric in enumerate(metrics)}
    return seconds(
        lambda: compare_all(
            named, z, KENDALL_BY_ITEM, n_resamples=RESAMPLES, threads=os.cpu_count() or 1
        )
    )


TEMPLATE = """\
# Speed of agreement

How fast does wellput compute correlations and their tests, compared with other tools? It is {lowest:,.0f} to {highest:,.0f} times as fast as they are.
wellput and the other tools used one thread each, in one run on one machine. Machines differ and are noisy, so only ratios count.

*16 × 100* means 16 systems and 100 items. The operations are

- PERM-BOTH, a permutation test of the difference of two metrics (`--test perm-both`), with three coefficients, each the mean of the coefficients within items. nlpstats was timed with {few}
  resamples, and its time was multiplied to get the time for {resamples};
- *tie calibration*, which finds the difference of scores up to which two outputs count as tied (coefficient `acc-t`).

*Wanted ratio* is the aim of the project; where the cell is empty, there is none.

| operation | other tool | its time | wellput's time | ratio | wanted ratio |
|---|---|---|---|---|---|
{rows}

All pairs of 20 metrics on 20 systems × 1000 items (190 PERM-BOTH tests, Kendall by item, {resamples} resamples
each, {cores} threads) take {all_pairs:.1f} s.

The time of PERM-BOTH with Kendall's coefficient grows about in proportion to the resamples, and as n log n with n pooled outputs:

| correlation | resamples | time |
|---|---|---|
{growth}
"""


def main() -> None:
    warnings.simplefilter("ignore")  # the peers' own
    measured = [*permutation_rows(), tie_calibration_row()]
    ratios = [ratio for _, ratio in measured]
    page = TEMPLATE.format(
        lowest=min(ratios),
        highest=max(ratios),
        few=PEER_RESAMPLES,
        resamples=RESAMPLES,
        cores=os.cpu_count(),
        rows="\n".join(row for row, _ in measured),
        all_pairs=all_pairs_seconds(),
        growth="\n".join(growth_rows()),
    )
    write_page("agreement-speed", page)
