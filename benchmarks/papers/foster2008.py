"""The page of Foster (2008): every table and figure of the paper beside what wellput gives.

python -m benchmarks foster2008
"""

from __future__ import annotations

import argparse
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

import wellput
from benchmarks.agreement import human_data
from benchmarks.catalog import OPENCCG
from benchmarks.data import data_path
from benchmarks.pages import table, write_page
from benchmarks.papers.displays import PAPER
from benchmarks.papers.foster_sample import SCHEDULES, WORDS, sample
from benchmarks.papers.foster_simulation import (
    FIGURE_3A,
    FIGURE_3B,
    simulated_studies,
    spoken,
)
from wellput.core.evalset import EvalSet, Item
from wellput.displays.evaluation import INTRINSIC_METRICS, REPRODUCTION_METRICS, evaluate_displays
from wellput.displays.openccg import read_testbed
from wellput.displays.schedules import nodes_of
from wellput.displays.selection import select_displays
from wellput.stats.preferences import goodness_of_fit, homogeneity, homogeneity_rows

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

SETS: tuple[Callable[[], human_data.HumanData], ...] = (
    human_data.bagel,
    human_data.sfres,
    lambda: human_data.webnlg(with_nothing_said=False),
    human_data.summeval,
    human_data.simplicity_da,
    human_data.da2016,
)
REPRODUCING, COUNTING = ("bleu", "chrf"), ("length", "ttr")


def unpack_comic(folder: Path) -> None:
    """Writes COMIC's grammar and testbed to `comic/` in the folder."""
    with tarfile.open(data_path(OPENCCG)) as archive:
        own = [member for member in archive if member.name.startswith("comic/")]
        archive.extractall(folder, own, filter="data")


def comic_sentences() -> list[Item]:
    with tempfile.TemporaryDirectory() as name:
        unpack_comic(Path(name))
        return read_testbed(Path(name, "comic", "testbed.xml"))


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


def still_accuracy(evalset: EvalSet) -> float:
    """Node accuracy of a system that never shows anything."""
    return float(
        np.mean([1 - len(_shown(item, "original")) / _n_nodes(item) for item in evalset.items])
    )


def nods(evalset: EvalSet) -> float:
    """The share of nods, without other motions, among the displays of the majority strategy."""
    shown = [set(one) for item in evalset.items for one in _shown(item, "majority").values()]
    return float(np.mean([one == {"nd=d"} for one in shown]))


def _shown(item: Item, system: str) -> Mapping[str, Sequence[str]]:
    found = item.outputs[system]
    assert isinstance(found, Mapping)
    return found


def _n_nodes(item: Item) -> int:
    return sum(1 for _ in nodes_of(item.derivation or {}))


TYPES = "types: original > weighted > majority > rule"
SAID = {TYPES: "yes (majority > rule: not significant)"}
"""What the paper says of a statement, where it is not simply yes."""


def figure_4(items: Sequence[Item]) -> tuple[str, str, EvalSet]:
    """The table of means, that of the paper's statements, and the schedules of the first speaker."""
    runs = []
    still, nodding = [], []
    first = EvalSet([])
    for seed in range(FIRST_SEED, FIRST_SEED + SPEAKERS):
        chosen = select_displays(
            spoken(items, seed), ["rule", "majority", "weighted"], context=CONTEXT, seed=seed
        ).evalset
        first = chosen if seed == FIRST_SEED else first
        scored = evaluate_displays(chosen, METRICS, threads=1)
        runs.append({(s, m): scored.result[s, m].score for s in PAPER for m in METRICS})
        still.append(still_accuracy(chosen))
        nodding.append(nods(chosen))
    means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    rows = []
    for system in ("original", "weighted", "majority", "rule"):
        cells = []
        for metric, printed in zip(METRICS, PAPER[system], strict=True):
            is_blank = system == "original" and metric in REPRODUCTION_METRICS
            cells.append("–" if is_blank else f"{printed:.2f} / {means[system, metric]:.2f}")
        rows.append([system, *cells])
    heads = ["system", *(metric.removeprefix("display-") for metric in METRICS)]
    held = [
        [name, SAID.get(name, "yes"), f"in {often} of {SPEAKERS} draws"]
        for name, often in claims(runs).items()
    ]
    accuracy = "display-accuracy"
    above = sum(run["majority", accuracy] > one for run, one in zip(runs, still, strict=True))
    below = sum(
        max(run["weighted", accuracy], run["rule", accuracy]) < one
        for run, one in zip(runs, still, strict=True)
    )
    held += [
        [
            "accuracy: majority above a system without motion",
            "yes",
            f"in {above} of {SPEAKERS} draws",
        ],
        [
            "accuracy: weighted and rule below a system without motion",
            "yes",
            f"in {below} of {SPEAKERS} draws",
        ],
        ["accuracy of a system without motion", "0.79", f"{np.mean(still):.2f}"],
        [
            "downward nods among majority's displays (ours: without other motions)",
            "nearly 90%",
            f"{np.mean(nodding):.0%}",
        ],
    ]
    return table(heads, rows), table(["statement", "the paper", "ours"], held), first


def claims(runs: Sequence[Mapping[tuple[str, str], float]]) -> dict[str, int]:
    """In how many runs each statement of the paper holds."""

    def count(metric: str, *order: str) -> int:
        name = f"display-{metric}"
        return sum(all(run[a, name] > run[b, name] for a, b in pairs(order)) for run in runs)

    found = {
        f"{metric}: majority > weighted > rule": count(metric, "majority", "weighted", "rule")
        for metric in ("precision", "recall", "f", "beta")
    }
    order = ("majority", "rule", "weighted")
    found["accuracy: majority > rule > weighted"] = count("accuracy", *order)
    for metric in ("tokens", "types"):
        every = ("original", "weighted", "majority", "rule")
        found[f"{metric}: original > weighted > majority > rule"] = count(metric, *every)
    lowest = sum(
        all(
            run["majority", "display-ttr"] < run[s, "display-ttr"] for s in PAPER if s != "majority"
        )
        for run in runs
    )
    found["ttr: majority lowest"] = lowest
    found["ttr: weighted > original"] = count("ttr", "weighted", "original")
    return found


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


def figure_3(evalset: EvalSet) -> tuple[str, str, str, str]:
    """Table of χ², the sentences about homogeneity, the regressions, and the range of selection ratios; all
    of simulated judges but for the recomputed figures of the paper."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        first, second = simulated_studies(evalset, Path(name))
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
        f"The paper prints χ² = 0.02, p = .89, N = 664. The counts 251 : 197 of Figure 3(b) and 123 : 93 give this with "
        f"Yates's correction: {printed_test.value:.2f}, p = {printed_test.p_value:.2f}, N = {printed_test.n}. But 123 : 93 are "
        f"the bars of *original* : *rule* in Figure 3(a). Those of *original* : *weighted* are 123 : 92 and give "
        f"{with_92.value:.2f}, p = {with_92.p_value:.2f}, N = {with_92.n}. The conclusion is the same: the studies are not "
        f"shown to differ. The two simulated studies: χ² = {simulated['chi_squared']:.2f}, p = {simulated['p_value']:.2f}, N = "
        f"{simulated['n']}."
    )
    fitted = regressions(evalset, [*first, *second])
    return table(heads, rows), same, fitted, ratio_range([*first, *second])


def ratio_range(answers: Sequence[wellput.Preference]) -> str:
    """The lowest and the highest selection ratio of an item: how often it was chosen where it was offered."""
    won: Counter[tuple[str, str]] = Counter()
    offered: Counter[tuple[str, str]] = Counter()
    for one in answers:
        for system in (one.system_a, one.system_b):
            offered[one.item, system] += 1
        won[one.item, one.system_a if one.choice == "a" else one.system_b] += 1
    ratios = [won[key] / n for key, n in offered.items()]
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


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
    """The table, and of how many of its rows the larger |r| is that of a metric that counts."""
    rows, won = [], 0
    for read in SETS:
        data = read()
        metrics = ",".join((*REPRODUCING, *COUNTING))
        found = wellput.agree(data.evalset, list(data.judgments), metrics, threads=1)
        for question in dict.fromkeys(one.question for one in data.judgments):
            value = {row.metric: row for row in found.agreement if row.question == question}
            best = [max(abs(value[m].value) for m in kind) for kind in (REPRODUCING, COUNTING)]
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
    return table(["set, question", *REPRODUCING, *COUNTING], rows), won, len(rows)


def span(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" [{low:+.2f}, {high:+.2f}]"


PAGE = (Path(__file__).parent / "foster2008.template.md").read_text(encoding="utf-8")


def main() -> None:
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    items = comic_sentences()
    means, held, schedules = figure_4(items)
    chi, same, regression, ratios = figure_3(schedules)
    hypothesis, won, n_rows = text_hypothesis()
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
        "ROWS": str(n_rows),
        "RANGE": ratios,
        "SPEAKERS": str(SPEAKERS),
    }.items():
        text = text.replace(f"@{key}@", value)
    write_page("foster2008", text)


if __name__ == "__main__":
    main()
