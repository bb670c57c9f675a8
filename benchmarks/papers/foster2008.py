"""The page of Foster (2008): every table and figure of the paper beside what wellput gives.

python -m benchmarks foster2008
"""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

import wellput
from benchmarks.agreement import human_data
from benchmarks.catalog import OPENCCG
from benchmarks.data import data_path
from benchmarks.pages import write_page
from benchmarks.papers.displays import PAPER
from benchmarks.papers.foster_sample import SCHEDULES, WORDS, sample
from benchmarks.papers.foster_simulation import (
    FIGURE_3A,
    FIGURE_3B,
    simulated_choices,
    spoken,
)
from wellput.agreement.homogeneity import homogeneity_rows
from wellput.core.evalset import EvalSet, Item
from wellput.displays.evaluation import INTRINSIC_METRICS, REPRODUCTION_METRICS, evaluate_displays
from wellput.displays.openccg import read_testbed
from wellput.displays.selection import select_displays
from wellput.stats.preferences import goodness_of_fit, homogeneity

CONTEXT = ("label", "property", "semantics", "evaluation", "information", "prosody")
METRICS = (*REPRODUCTION_METRICS, *INTRINSIC_METRICS)
FIRST_SEED, SPEAKERS = 1000, 20
PREDICTORS = ",".join(METRICS)
TABLE_2 = {
    "original": ("–", "–", "–", "–", "6", "3", "0.5"),
    "rule": ("0", "0", "0", "0.65", "2", "2", "1"),
    "majority": ("0.50", "0.14", "0.11", "0.70", "2", "1", "0.5"),
    "weighted": ("0.67", "0.29", "0.20", "0.74", "3", "2", "0.67"),
}
"""As the paper prints it."""

SETS: tuple[tuple[Callable[[], human_data.HumanData], str], ...] = (
    (human_data.bagel, "quality"),
    (human_data.sfres, "quality"),
    (lambda: human_data.webnlg(with_nothing_said=False), "fluency"),
    (human_data.summeval, "relevance"),
    (human_data.simplicity_da, "simplicity"),
    (human_data.da2016, "adequacy"),
)
REPRODUCING, COUNTING = ("bleu", "chrf"), ("length", "ttr")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def comic_sentences() -> list[Item]:
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(data_path(OPENCCG)) as archive:
            archive.extractall(folder, filter="data")
        return read_testbed(Path(folder, "comic", "testbed.xml"))


def table_1() -> str:
    rows = []
    for system, schedule in SCHEDULES.items():
        leaves = [",".join(schedule.get(f"w{n}", [])) for n in range(1, len(WORDS) + 1)]
        spans = [
            f"{','.join(motions)} on {key}"
            for key, motions in schedule.items()
            if key.startswith("n")
        ]
        rows.append([system, *leaves, "; ".join(spans)])
    return table(["system", *WORDS, "inner nodes"], rows)


def table_2() -> str:
    scored = evaluate_displays(sample(), threads=1).result
    names = ("precision", "recall", "f", "accuracy", "tokens", "types", "ttr")
    rows = []
    for system, printed in TABLE_2.items():
        own = [scored[system, f"display-{name}"].score for name in names]
        cells = [
            f"{printed[k]} / {'–' if printed[k] == '–' else f'{own[k]:.2f}'}"
            for k in range(len(names))
        ]
        rows.append([system, *cells])
    return table(["system", *names], rows)


def rules_on_comic(items: Sequence[Item]) -> str:
    rows = []
    for rules in ("foster2008", "foster2008-comic"):
        chosen = select_displays(items, ["rule"], rules=rules).evalset
        scored = wellput.score(chosen, list(INTRINSIC_METRICS))
        own = [scored["rule", name].score for name in INTRINSIC_METRICS]
        n_shown = sum(bool(item.outputs["rule"]) for item in chosen)
        rows.append(
            [f"`{rules}`", f"{n_shown} of {len(items)}", *(f"{value:.2f}" for value in own)]
        )
    rows.append(["the paper, Figure 4(b)", "", "2.07", "1.24", "0.68"])
    return table(["rules", "sentences with displays", "tokens", "types", "TTR"], rows)


def figure_4(items: Sequence[Item]) -> tuple[str, str, EvalSet]:
    """The table of means, the sentence about claims, and the schedules of the first speaker."""
    runs = []
    first = EvalSet([])
    for seed in range(FIRST_SEED, FIRST_SEED + SPEAKERS):
        chosen = select_displays(
            spoken(items, seed), ["rule", "majority", "weighted"], context=CONTEXT, seed=seed
        ).evalset
        first = chosen if seed == FIRST_SEED else first
        scored = evaluate_displays(chosen, METRICS, threads=1)
        runs.append({(s, m): scored.result[s, m].score for s in PAPER for m in METRICS})
    means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    rows = []
    for system in ("original", "weighted", "majority", "rule"):
        cells = []
        for metric, printed in zip(METRICS, PAPER[system], strict=True):
            is_blank = system == "original" and metric in REPRODUCTION_METRICS
            cells.append("–" if is_blank else f"{printed:.2f} / {means[system, metric]:.2f}")
        rows.append([system, *cells])
    heads = ["system", *(metric.removeprefix("display-") for metric in METRICS)]
    held = ", ".join(f"{name} {often} of {SPEAKERS}" for name, often in claims(runs).items())
    return table(heads, rows), held, first


def claims(runs: Sequence[Mapping[tuple[str, str], float]]) -> dict[str, int]:
    """In how many runs each statement of the paper holds."""

    def count(metric: str, *order: str) -> int:
        name = f"display-{metric}"
        return sum(all(run[a, name] > run[b, name] for a, b in pairs(order)) for run in runs)

    found = {
        f"{metric}: majority > weighted > rule": count(metric, "majority", "weighted", "rule")
        for metric in ("precision", "recall", "f", "beta")
    }
    for metric in ("tokens", "types"):
        order = ("original", "weighted", "majority", "rule")
        found[f"{metric}: original > weighted > majority > rule"] = count(metric, *order)
    lowest = sum(
        all(
            run["majority", "display-ttr"] < run[s, "display-ttr"] for s in PAPER if s != "majority"
        )
        for run in runs
    )
    return {**found, "ttr: majority lowest": lowest}


def pairs(order: Sequence[str]) -> Iterator[tuple[str, str]]:
    return pairwise(order)


PRINTED_CHI = {
    ("a", "original", "rule"): "4.17",
    ("a", "weighted", "rule"): "2.44",
    ("a", "original", "weighted"): "4.47",
    ("b", "original", "majority"): "45 or 26 (below)",
    ("b", "weighted", "majority"): "45 or 26 (below)",
    ("b", "original", "weighted"): "6.51",
}


def figure_3(evalset: EvalSet) -> tuple[str, str, str]:
    """Table of χ², the sentence about homogeneity, and the regressions; all of simulated judges but
    for the recomputed figures of the paper."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = simulated_choices(evalset, FIGURE_3A, folder=folder, judges=36, items=18, seed=1)
        second = simulated_choices(evalset, FIGURE_3B, folder=folder, judges=54, items=24, seed=2)
    for study, shares, answers in (("a", FIGURE_3A, first), ("b", FIGURE_3B, second)):
        for pair, printed in shares.items():
            own = [answer for answer in answers if {answer.system_a, answer.system_b} == set(pair)]
            won = [
                sum((a.system_a if a.choice == "a" else a.system_b) == system for a in own)
                for system in pair
            ]
            rows.append(
                [
                    f"3({study})",
                    " : ".join(pair),
                    f"{printed[0]} : {printed[1]}",
                    PRINTED_CHI[study, pair[0], pair[1]],
                    f"{goodness_of_fit(list(printed)).value:.2f}",
                    f"{won[0]} : {won[1]}",
                    f"{goodness_of_fit(won).value:.2f}",
                ]
            )
    heads = [
        "figure", "pair", "chosen, printed", "χ² printed", "χ² recomputed", "simulated", "χ²",
    ]  # fmt: skip
    [simulated] = homogeneity_rows(first, second)
    printed_test = homogeneity([[123, 93], [251, 197]])
    with_92 = homogeneity([[123, 92], [251, 197]])
    same = (
        f"With 123 : 93 and 251 : 197, χ² = {printed_test.value:.2f}, p = {printed_test.p_value:.2f}, N = "
        f"{printed_test.n}, as printed (0.02, .89, 664). With the 123 : 92 of Figure 3(a) it is "
        f"{with_92.value:.2f}, p = {with_92.p_value:.2f}, N = {with_92.n}. The two simulated studies: χ² = "
        f"{simulated['chi_squared']:.2f}, p = {simulated['p_value']:.2f}, N = {simulated['n']}."
    )
    return table(heads, rows), same, regressions(evalset, [*first, *second])


def regressions(evalset: EvalSet, answers: Sequence[wellput.Preference]) -> str:
    rows = []
    steps: tuple[tuple[str, Literal["aic"] | None], ...] = (
        ("all metrics", None),
        ("stepwise", "aic"),
    )
    for kind, stepwise in steps:
        fitted = wellput.fit(
            evalset,
            list(answers),
            question="preference",
            predictors=PREDICTORS,
            no_rescale=True,
            stepwise=stepwise,
        ).to_dict()["regression"]
        kept = [one["predictor"] for one in fitted["coefficients"]]
        names = [name for name in kept if name != "(constant)"]
        rows.append([kind, ", ".join(names), f"{fitted['adjusted_r_squared']:.3f}"])
    return table(["model", "predictors", "adjusted R²"], rows)


def printed_ratios() -> str:
    """Selection ratios from the printed counts, beside the printed F and TTR."""
    rows = []
    for system in ("original", "weighted", "rule", "majority"):
        cells = []
        for shares in (FIGURE_3A, FIGURE_3B):
            won = sum(c[pair.index(system)] for pair, c in shares.items() if system in pair)
            offered = sum(sum(c) for pair, c in shares.items() if system in pair)
            cells.append(f"{won / offered:.2f}" if offered else "–")
        own = PAPER[system]
        both = ["–" if value is None else f"{value:.2f}" for value in (own[2], own[5], own[7])]
        rows.append([system, *cells, *both])
    return table(["system", "ratio, 3(a)", "ratio, 3(b)", "F", "tokens", "TTR"], rows)


def text_hypothesis() -> tuple[str, int, int]:
    """The table, and on how many sets the better kind of metric is the one that counts."""
    rows, won = [], 0
    for read, question in SETS:
        data = read()
        judged = [one for one in data.judgments if one.question == question]
        found = wellput.agree(data.evalset, judged, ",".join((*REPRODUCING, *COUNTING)), threads=1)
        value = {row.metric: row for row in found.agreement}
        best = [max(abs(value[name].value) for name in kind) for kind in (REPRODUCING, COUNTING)]
        won += best[1] > best[0]
        rows.append(
            [
                f"{data.name}, {question}",
                *(
                    f"{value[name].value:+.2f}{span(value[name].low, value[name].high)}"
                    for name in (*REPRODUCING, *COUNTING)
                ),
            ]
        )
    return table(["set, question", *REPRODUCING, *COUNTING], rows), won, len(SETS)


def span(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" [{low:+.2f}, {high:+.2f}]"


PAGE = (Path(__file__).parent / "foster2008.template.md").read_text(encoding="utf-8")


def main() -> None:
    items = comic_sentences()
    means, held, schedules = figure_4(items)
    chi, same, regression = figure_3(schedules)
    hypothesis, won, n_sets = text_hypothesis()
    text = PAGE
    for key, value in {
        "TABLE_1": table_1(),
        "TABLE_2": table_2(),
        "RULES": rules_on_comic(items),
        "FIGURE_4": means,
        "CLAIMS": held,
        "FIGURE_3": chi,
        "HOMOGENEITY": same,
        "REGRESSIONS": regression,
        "RATIOS": printed_ratios(),
        "HYPOTHESIS": hypothesis,
        "WON": str(won),
        "SETS": str(n_sets),
        "SPEAKERS": str(SPEAKERS),
    }.items():
        text = text.replace(f"@{key}@", value)
    write_page("foster2008", text)


if __name__ == "__main__":
    main()
