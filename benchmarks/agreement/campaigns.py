"""Two campaigns of WMT23 English–German, ESA and MQM (Kocmi et al. 2024): the ranking that the campaign's own
script makes, that of `wellput rank`, and how well half of the judgments predicts the other half.

    python -m benchmarks ranking-campaigns
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau, mannwhitneyu

from benchmarks.catalog import CAMPAIGNS
from benchmarks.data import data_path
from benchmarks.pages import write_page
from wellput.agreement.rankings.fitted_question import FittedQuestion, fit_question
from wellput.agreement.rankings.fitted_ranking import FittedRanking, rank_fitted
from wellput.agreement.rankings.judgment_design import question_data
from wellput.agreement.rankings.plain_ranking import shown_rank
from wellput.core.judgment import Judgment
from wellput.core.metric import Floats

MQM_WEIGHTS = {"minor": -1, "major": -5, "critical": -25, "undecided": 0}
"""What an error of each severity adds to the MQM score, as in the campaign's script."""
ALPHA = 0.05


def judgments_of(kind: str) -> list[Judgment]:
    """The judgments of the campaign `ESA` or `MQM`, without attention checks, tutorials and documents that only fill a
    task. An item is a document and the place of the segment in it: segments are numbered within a judge's task."""
    judge_of = {
        row[2]: row[0]
        for row in csv.reader(data_path(CAMPAIGNS["judges"]).open(encoding="utf-8-sig"))
    }
    with gzip.open(data_path(CAMPAIGNS[kind]), "rt", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row[3] == "TGT" and _counts(row[7])]
    newest: dict[tuple[str, str, int], list[str]] = {}
    for row in rows:
        key = (row[0], row[7], int(row[2]))
        if key not in newest or float(row[11]) >= float(newest[key][11]):
            newest[key] = row
    places: Counter[tuple[str, str]] = Counter()
    found = []
    for (login, document, _), row in sorted(newest.items()):
        places[login, document] += 1
        name = document.partition("#")[0]
        item = f"{name}:{places[login, document]}"
        system = row[1].removeprefix("wmt23.")
        value = float(row[6]) if kind == "ESA" else _mqm(row[9])
        found.append(Judgment(judge_of[login], item, system, kind, value, {"document": name}))
    return found


def _counts(document: str) -> bool:
    return "tutorial" not in document and "#duplicate" not in document


def _mqm(spans: str) -> float:
    return float(sum(MQM_WEIGHTS[span["severity"]] for span in json.loads(spans)))


@dataclass(frozen=True)
class ScriptRow:
    """A system as `clusters_and_ranking.py` ranks it."""

    system: str
    mean: float
    cluster: int


def ranked_by_script(judgments: Sequence[Judgment]) -> list[ScriptRow]:
    """Means; for each pair of systems a one-sided Mann–Whitney test over the segments that both have; a cluster
    ends with a system that is significantly better than all systems below it."""
    values: dict[str, dict[str, list[float]]] = {}
    for one in judgments:
        values.setdefault(one.system, {}).setdefault(one.item, []).append(one.number)
    means = {
        system: {item: np.mean(own) for item, own in items.items()}
        for system, items in values.items()
    }
    order = sorted(means, key=lambda system: -float(np.mean(list(means[system].values()))))
    rows, cluster = [], 1
    for place, system in enumerate(order):
        rows.append(ScriptRow(system, float(np.mean(list(means[system].values()))), cluster))
        p_values = []
        for below in order[place + 1 :]:
            shared = [item for item in means[system] if item in means[below]]
            test = mannwhitneyu(
                [means[system][item] for item in shared],
                [means[below][item] for item in shared],
                alternative="greater",
            )
            p_values.append(float(test.pvalue))
        cluster += bool(p_values) and max(p_values) < ALPHA
    return rows


LME4 = """
suppressMessages({library(lme4); library(lmerTest); library(jsonlite)})
data <- as.data.frame(fromJSON(commandArgs(TRUE)[1]))
for (name in c("judge", "item", "document", "system")) data[[name]] <- factor(data[[name]], levels = unique(data[[name]]))
control <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5))
fit <- lmer(as.formula(commandArgs(TRUE)[2]), data, control = control)
fit <- update(fit, start = pmax(getME(fit, "theta"), 1e-3))
parts <- as.data.frame(VarCorr(fit))
weights <- numeric(length(fixef(fit))); weights[1] <- 1; weights[2] <- -1
cat(toJSON(list(effects = unname(fixef(fit)), errors = sqrt(diag(as.matrix(vcov(fit)))),
  components = as.list(setNames(parts$vcov, parts$grp)), criterion = unname(REMLcrit(fit)),
  freedom = contest1D(fit, weights)$df), digits = 12, auto_unbox = TRUE))
"""


def beside_lme4(question: FittedQuestion, judgments: Sequence[Judgment]) -> list[str]:
    """How far the estimates are from those of lme4 with the same formula."""
    fitted = question.fitted
    terms = [name for name in fitted.components if name != "residual"]
    formula = "value ~ 0 + system + " + " + ".join(f"(1|{name})" for name in terms)
    if shutil.which("Rscript") is None:
        return ["Not compared with lme4: there is no Rscript."]
    columns = {
        "judge": [one.judge for one in judgments],
        "item": [one.item for one in judgments],
        "document": [one.extra["document"] for one in judgments],
        "system": [one.system for one in judgments],
        "value": [one.number for one in judgments],
    }
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "data.json", Path(folder) / "fit.R"
        data.write_text(json.dumps(columns), encoding="utf-8")
        script.write_text(LME4, encoding="utf-8")
        ran = subprocess.run(
            ["Rscript", str(script), str(data), formula], capture_output=True, text=True, check=True
        )
    theirs = json.loads(ran.stdout)
    n = len(question.data.system_names)
    errors = np.sqrt(np.diag(fitted.covariance))[:n]
    weights = np.zeros((1, n))
    weights[0, :2] = 1, -1
    parts = [
        abs(fitted.components[name.replace("Residual", "residual")] / value - 1)
        for name, value in theirs["components"].items()
        if value > 1e-6
    ]
    freedom = float(fitted.contrast(weights).freedom[0])
    return [
        f"The R package lme4 fits the same model, `{formula}`. Largest relative difference from lme4: estimates "
        f"{_largest(fitted.effects[:n] / theirs['effects'] - 1)}, standard errors "
        f"{_largest(errors / theirs['errors'] - 1)}, variances {max(parts):.0e}; difference of the REML criterion "
        f"{fitted.criterion - theirs['criterion']:+.0e}; degrees of freedom of the difference of the first two systems "
        f"{freedom:.1f} (R package lmerTest: {theirs['freedom']:.1f})."
    ]


def _largest(values: Floats) -> str:
    return f"{np.abs(values).max():.0e}"


Split = Callable[[Sequence[Judgment], np.random.Generator], NDArray[np.bool_]]


def by_judgment(judgments: Sequence[Judgment], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Half of all judgments."""
    return rng.permutation(len(judgments)) < len(judgments) // 2


def by_judge(judgments: Sequence[Judgment], rng: np.random.Generator) -> NDArray[np.bool_]:
    """All judgments of half of the judges."""
    judges = sorted({one.judge for one in judgments})
    chosen = set(rng.permutation(judges)[: len(judges) // 2].tolist())
    return np.array([one.judge in chosen for one in judgments])


def half_row(
    title: str, judgments: Sequence[Judgment], split: Split, splits: int, seed: int
) -> str:
    """How far one half's order of systems agrees with the other half's (Kendall's τ): by raw means in both,
    by the model for the first half, by the model in both."""
    rng = np.random.default_rng(seed)
    found: list[tuple[float, float, float]] = []
    while len(found) < splits:
        is_first = split(judgments, rng)
        halves = [
            [one for one, is_one in zip(judgments, is_first, strict=True) if is_one == side]
            for side in (True, False)
        ]
        raw, model = zip(*(_effects(half) for half in halves), strict=True)
        names = sorted(set(raw[0]) & set(raw[1]))
        first_raw, second_raw, first_model, second_model = (
            [effects[name] for name in names] for effects in (*raw, *model)
        )
        found.append(
            (
                kendalltau(first_raw, second_raw).statistic,
                kendalltau(first_model, second_raw).statistic,
                kendalltau(first_model, second_model).statistic,
            )
        )
    values = np.array(found)
    cells = " | ".join(f"{mean:.3f}" for mean in values.mean(axis=0))
    return f"| {title} | {cells} | {_gain(values[:, 1] - values[:, 0])} | {_gain(values[:, 2] - values[:, 0])} |"


def _gain(differences: Floats) -> str:
    """The mean over splits with its 95% interval, and how often it is above 0."""
    half = 1.96 * float(differences.std(ddof=1)) / math.sqrt(len(differences))
    mean = float(differences.mean())
    better = float((differences > 0).mean())
    return f"{mean:+.3f} [{mean - half:+.3f}, {mean + half:+.3f}] ({better:.0%})"


def _effects(judgments: Sequence[Judgment]) -> tuple[dict[str, float], dict[str, float]]:
    question = fit_question(question_data("half", judgments), model="linear")
    names = question.data.system_names
    raw, model = question.data.raw_means, question.effects
    return dict(zip(names, raw.tolist(), strict=True)), dict(
        zip(names, model.tolist(), strict=True)
    )


def campaign_section(kind: str, judgments: Sequence[Judgment]) -> list[str]:
    question = fit_question(question_data(kind, judgments), model="linear")
    ranking = rank_fitted(question)
    script = {row.system: (place, row) for place, row in enumerate(ranked_by_script(judgments), 1)}
    rows = []
    for row in ranking.systems:
        place, theirs = script[row.system]
        rows.append(
            f"| {row.system} | {theirs.mean:.2f} | {place} | {theirs.cluster} | {row.estimate:.2f} [{row.low:.2f}, {row.high:.2f}] | "
            f"{row.rank} | {shown_rank(row)} | {row.cluster} |"
        )
    return [
        f"## {kind}",
        "",
        f"{ranking.n:,} judgments of {ranking.n_judges} judges; {len(ranking.systems)} systems, {ranking.n_items} segments in "
        f"{len({one.extra['document'] for one in judgments})} documents.",
        "",
        "| system | script: mean | script: rank | script: cluster | model: mean | model: rank | model: possible ranks | model: cluster |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *rows,
        "",
        _differences(ranking, script),
        "",
        _variances(ranking),
        "",
        *beside_lme4(question, judgments),
        "",
    ]


def _differences(ranking: FittedRanking, script: dict[str, tuple[int, ScriptRow]]) -> str:
    moved = [
        f"{row.system} ({script[row.system][0]} → {row.rank})"
        for row in ranking.systems
        if script[row.system][0] != row.rank
    ]
    clusters = max(row.cluster for _, row in script.values())
    own = max(row.cluster for row in ranking.systems)
    order = (
        f"Other ranks by the model (rank by the script → rank by the model): {', '.join(moved)}."
        if moved
        else "The order is the same."
    )
    return f"{order} Clusters: {clusters} by the script, {own} by the model."


def _variances(ranking: FittedRanking) -> str:
    total = sum(ranking.variance.values())
    shares = ", ".join(f"{name} {value / total:.0%}" for name, value in ranking.variance.items())
    return (
        "Shares of the variance of the judgments of one system, by the model (*judge:system*, for example, is a judge's "
        f"preference for a system): {shares}. Reliability of the ranking: {ranking.reliability:.2f}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    write_page("ranking-campaigns", page(arguments.splits, arguments.seed))


def page(splits: int, seed: int) -> str:
    esa, mqm = judgments_of("ESA"), judgments_of("MQM")
    sections = "\n".join([*campaign_section("ESA", esa), *campaign_section("MQM", mqm)])
    return f"""# Rankings of two campaigns, by wellput and by the campaigns' own script

How does the ranking of `wellput rank` differ from that of a campaign's own script? wellput orders some systems with nearly equal estimates in another way, and it claims fewer differences: with MQM the script finds three clusters of systems, wellput one. If the judgments are divided into two halves with different judges, the orders that wellput finds in the two halves agree better than the orders by raw means.

The outputs of WMT23 English–German were judged in two campaigns, with error span annotation (ESA, 0 to 100) and with MQM (−1 for a minor error, −5 for a major one). The columns of the tables:

- *script*: the method of `clusters_and_ranking.py` in the campaigns' repository. Systems are ranked by the means of their judgments. Each pair of systems is compared by a one-sided Mann–Whitney test, without correction for the number of pairs. A cluster ends with a system that is significantly better than all systems below it. (The benchmark computes these steps itself, because the script needs files that are not public.)
- *model*: `wellput rank --model linear` with the documents of the segments; its estimates of the means have 95% intervals.

{sections}
## Why they differ

The script treats all segments as independent, and does not correct its tests for the number of pairs. The model knows that each
segment was judged by one person who is severe or mild, that segments of a document are alike, and that a judge may like a system.
The model's clusters hold for other judges and other documents, and its tests are corrected for all pairs. So the model needs more evidence to separate systems, and may find fewer clusters than the script. Ranks differ if a system was judged by severe or mild judges, and if the estimates of neighboring systems are close together and their intervals are wide.

## Does half of the judgments predict the other half?

ESA, {splits} random splits of the judgments into two halves. The table has Kendall's τ between the orders of systems in the two halves: by raw means in both; by the model in the first half and raw means in the second; by the model in both. The last two columns have the gain over raw means in both, with the 95% interval of the mean gain and, in parentheses, the share of splits with a gain.
All splits are of this campaign, so the interval does not say what other campaigns would show.

| split | raw means, raw means | model, raw means | model, model | gain of model, raw means | gain of model, model |
| --- | ---: | ---: | ---: | ---: | ---: |
{half_row("half of the judgments", esa, by_judgment, splits, seed)}
{half_row("half of the judges", esa, by_judge, splits, seed)}

In the first row both halves have the same judges. A system that had mild judges had them in both halves, and raw means repeat this error, which looks like agreement. The second row is a fair comparison: in it the two halves have different judges.
"""


if __name__ == "__main__":
    main()
