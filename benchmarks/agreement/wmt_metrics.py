"""All metrics of WMT 2023, English-German, against MQM ratings: `wellput agree` beside the code of
mt-metrics-eval, on the same files.

    MT_METRICS_EVAL=CHECKOUT python -m benchmarks wmt-metrics
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np

import wellput
from benchmarks.catalog import WMT23
from benchmarks.data import data_path
from benchmarks.pages import write_page

REFERENCE = "refA"
SHOWN = ("pearson, none", "acc-t, item", "pearson, systems", "spa, systems")


@dataclass(frozen=True)
class Question:
    """What is asked of both: some coefficients of segments, averaged in one way, or of systems.
    `their_average` is mt-metrics-eval's word for the average."""

    title: str
    coefficients: tuple[str, ...]
    average: Literal["none", "item", "system"] = "none"
    level: Literal["segment", "system"] = "segment"
    their_average: str = "none"


QUESTIONS = (
    Question("none", ("pearson", "kendall")),
    Question("item", ("pearson", "kendall", "acc-t"), "item", their_average="item"),
    Question("system", ("pearson", "kendall"), "system", their_average="sys"),
    Question("systems", ("pearson", "kendall", "acc-t", "spa"), level="system"),
)
Values = dict[tuple[str, str], float]
"""By metric, and by coefficient and title of the question: `("COMET-refA", "acc-t, item")`."""


def ours(folder: Path, question: Question) -> tuple[Values, int, float]:
    """The values, the number of pairs of metrics that were compared, and the seconds of all threads."""
    start = time.process_time()
    result = wellput.agree(
        folder,
        folder / "human-scores" / "en-de.mqm.seg.score",
        "logged:scorer=all",
        coefficient=question.coefficients,
        average=question.average,
        level=question.level,
        metric_items="all" if question.level == "system" else "judged",
        exclude=f"system={REFERENCE}: the reference",
    )
    values = {
        (row.metric.partition("=")[2], f"{row.coefficient}, {question.title}"): row.value
        for row in result.agreement
    }
    return values, len(result.differences), time.process_time() - start


def theirs(folder: Path) -> tuple[Values, float]:
    """The same by mt-metrics-eval, and its seconds."""
    sys.path.append(os.environ.get("MT_METRICS_EVAL", ""))
    try:
        stats = import_module("mt_metrics_eval.stats")
    except ImportError:
        sys.exit("Set MT_METRICS_EVAL to a checkout of google-research/mt-metrics-eval.")
    start = time.process_time()
    human = read_scores(folder / "human-scores" / "en-de.mqm.seg.score")
    of_systems = read_scores(folder / "human-scores" / "en-de.mqm.sys.score")
    systems = [name for name in human if name != REFERENCE]
    found: Values = {}
    for path in sorted((folder / "metric-scores" / "en-de").glob("*.seg.score")):
        name = path.name.removesuffix(".seg.score")
        segments = read_scores(path)
        given = read_scores(path.with_name(f"{name}.sys.score"))
        of_segments = stats.Correlation(len(systems), _row(human, systems), _row(segments, systems))
        whole = stats.Correlation(len(systems), _row(of_systems, systems), _row(given, systems))
        for question in QUESTIONS:
            held = of_segments if question.level == "segment" else whole
            for coefficient in question.coefficients:
                used = of_segments if coefficient == "spa" else held
                value = _their_value(used, coefficient, question.their_average)
                found[name, f"{coefficient}, {question.title}"] = value
    return found, time.process_time() - start


def _their_value(held: Any, coefficient: str, average: str) -> float:
    if coefficient == "pearson":
        return float(held.Pearson(average)[0])
    if coefficient == "kendall":
        return float(held.Kendall(average)[0])
    if coefficient == "acc-t":
        return float(held.KendallWithTiesOpt(average, sample_rate=1.0)[0])
    return float(held.PairwiseConfidenceError()[0])


def read_scores(path: Path) -> dict[str, list[float | None]]:
    """Each system's scores in the order of the lines."""
    found: dict[str, list[float | None]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        system, score = line.split()
        found.setdefault(system, []).append(None if score == "None" else float(score))
    return found


def _row(scores: dict[str, list[float | None]], systems: list[str]) -> list[float | None]:
    return [value for system in systems for value in scores[system]]


def page(folder: Path) -> Iterator[str]:
    """The lines of the page."""
    expected, their_seconds = theirs(folder)
    values: Values = {}
    lines = []
    total = 0.0
    for question in QUESTIONS:
        found, n_pairs, seconds = ours(folder, question)
        values |= found
        total += seconds
        worst = max(abs(value - expected[key]) for key, value in found.items())
        what = "*systems*" if question.level == "system" else f"segments, *{question.average}*"
        lines.append(
            f"| {what} | {', '.join(question.coefficients)} | {len(found)} | {worst:.0e} | {n_pairs:,} "
            f"| {seconds:.1f} s |"
        )
    metrics = sorted({name for name, _ in values}, key=lambda name: -values[name, SHOWN[-1]])
    yield "# Metrics of WMT 2023 compared with people"
    yield ""
    yield (
        f"`wellput agree` finds the same agreement as mt-metrics-eval, which WMT uses, for all "
        f"{len(metrics)} metrics that scored English–German in 2023, at the level of segments and of systems: the "
        f"largest difference is {max(abs(values[key] - expected[key]) for key in values):.0e}. The ratings are MQM (errors that "
        "professionals marked), of 12 systems and 460 of 557 segments; the reference does not count as a system."
    )
    yield ""
    yield "| what is correlated | coefficients | values compared | largest difference | pairs of metrics tested | processor time |"
    yield "|---|---|---|---|---|---|"
    yield from lines
    yield ""
    yield (
        "The [coefficients](../commands/agree.md#options): `acc-t` is the accuracy on pairs of outputs, where scores that differ little count as equal (the largest difference that counts as equal is calibrated for each metric on all pairs, as in the shared task); `spa` is soft pairwise accuracy. *None* is the coefficient over all segments together, *item* the mean of the coefficients within each item (over systems), *system* the mean of those within each system (over items), and *systems* the coefficient over the scores of systems. The metric's score of a system is the one in the metric's file, which is about the whole test set, also about the segments without ratings (`--metric-items all`)."
    )
    yield ""
    yield (
        f"wellput took {total:.0f} s of processor time in all; mt-metrics-eval took {their_seconds:.0f} s for its values, but it computes no intervals, [chance levels](../commands/agree.md#what-the-results-mean) or tests of pairs of metrics."
    )
    yield ""
    yield "## Each metric"
    yield ""
    yield (
        "Sorted by soft pairwise accuracy over systems. The names are those of mt-metrics-eval: metrics with `-src` use no reference, metrics "
        "with `-refA` use reference A."
    )
    yield ""
    yield f"| metric | {' | '.join(SHOWN)} |"
    yield f"|---|{'---|' * len(SHOWN)}"
    for name in metrics:
        yield f"| {name} | {' | '.join(f'{values[name, key]:.3f}' for key in SHOWN)} |"
    assert all(np.isfinite(value) for value in values.values())


def main() -> None:
    write_page("wmt-metrics", "\n".join(page(data_path(WMT23))))
