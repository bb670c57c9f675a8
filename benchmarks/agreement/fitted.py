"""A fitted metric against the best single metric on real judgments: `python -m benchmarks fitted`.

Writes docs/results/fitted.md. Predictors were fixed before anything was measured and are the same for
every set; nothing is tuned on the predicted outputs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.agreement import human_data
from benchmarks.agreement.human_data import HumanData
from benchmarks.agreement.paired_r import RESAMPLES, Correlated, difference, mean_difference
from benchmarks.agreement.scored import tables_of
from benchmarks.pages import write_page
from wellput.agreement.models import JudgedRows, judged_rows
from wellput.agreement.panel import normalized, panels
from wellput.core.estimates import Estimate, is_constant
from wellput.core.metric import Floats
from wellput.metrics.fitted import split_predictor
from wellput.stats.regression import ols, ridge

FOLDS = 10
FEWEST_SYSTEMS = 5
SEED = 12345

DEFINED = (
    "bleu", "chrf", "chrf:word_order=2", "ter", "wer", "nist", "rouge-l", "ssa", "gsa",
    "length-ratio", "length",
)  # fmt: skip
"""The metrics that have a value for every output."""

RIVALS = (*DEFINED, "exact", "ttr", "distinct")
"""The single metrics that the models are compared with."""
RIVALS_WITH_EMPTY_OUTPUTS = (*DEFINED, "exact")
"""For a set with empty outputs, for which neither ttr nor distinct has a value."""

PAPER = (
    "gsa", "gsa.substitutions", "gsa.moves", "gsa.insertions", "gsa.deletions", "length",
)  # fmt: skip
RICH = (
    *DEFINED, "gsa.substitutions", "gsa.moves", "gsa.insertions", "gsa.deletions",
    "bleu.precision_1", "bleu.brevity_penalty", "chrf.precision", "chrf.recall", "rouge-l.precision",
    "rouge-l.recall",
)  # fmt: skip

SETS: tuple[tuple[Callable[[], HumanData], Sequence[str]], ...] = (
    (human_data.bagel, RIVALS),
    (human_data.sfres, RIVALS),
    (partial(human_data.webnlg, with_nothing_said=True), RIVALS_WITH_EMPTY_OUTPUTS),
    (partial(human_data.webnlg, with_nothing_said=False), RIVALS),
    (human_data.summeval, RIVALS),
    (human_data.simplicity_da, RIVALS),
    (human_data.asset, RIVALS),
    (human_data.da2016, RIVALS),
    (human_data.mqm, RIVALS),
)

Learner = Callable[[Floats, Floats], Callable[[Floats], Floats]]
"""From judgments and scores of the training part to a function that predicts judgments from scores."""


def best_single(rows: JudgedRows, rivals: Sequence[str]) -> Learner:
    """The metric with the highest |r| in the training part, negated if r is below 0.

    Scores are standardized over all outputs, because folds may choose different metrics; this uses no
    judgment.
    """
    means, spreads = rows.x.mean(axis=0), rows.x.std(axis=0)

    def learn(y: Floats, x: Floats) -> Callable[[Floats], Floats]:
        found = {place: _r(y, x[:, place]) for place in rows.places(rivals)}
        place = max(found, key=lambda place: abs(found[place]))
        sign = np.sign(found[place])
        return lambda unseen: sign * (unseen[:, place] - means[place]) / spreads[place]

    return learn


def _r(y: Floats, x: Floats) -> float:
    return 0.0 if is_constant(x) else float(np.corrcoef(y, x)[0, 1])


def paper_fit(rows: JudgedRows) -> Learner:
    """Least squares on the predictors of Bangalore et al. (2000)."""
    places = rows.places(PAPER)

    def learn(y: Floats, x: Floats) -> Callable[[Floats], Floats]:
        model = ols(y, x[:, places], PAPER)
        return lambda unseen: model.predict(unseen[:, places])

    return learn


def rich_fit(rows: JudgedRows) -> Learner:
    """Ridge on all metrics and components, the penalty chosen on the rows learned from."""
    places = rows.places(RICH)

    def learn(y: Floats, x: Floats) -> Callable[[Floats], Floats]:
        model = ridge(y, x[:, places], RICH)
        return lambda unseen: model.predict(unseen[:, places])

    return learn


@dataclass(frozen=True)
class Outcome:
    """One question of one set. The predictions are for outputs whose item or system (`group`) was left
    out; `hindsight` is the metric with the highest |r| on the outputs that are predicted."""

    data: str
    question: str
    group: str
    hindsight: str
    correlated: Correlated


def main() -> None:
    started = time.perf_counter()
    outcomes = [outcome for read, rivals in SETS for outcome in outcomes_of(read(), rivals)]
    write_page("fitted", page(outcomes))
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)


def outcomes_of(data: HumanData, rivals: Sequence[str]) -> list[Outcome]:
    """Each question, leaving out items and, where there are enough, systems."""
    columns = tuple(dict.fromkeys((*RICH, *rivals)))
    tables = tables_of(data, tuple(dict.fromkeys(split_predictor(name)[0] for name in columns)))
    first = next(iter(tables.values()))
    found: list[Outcome] = []
    for question, panel in panels(data.judgments, first.systems, first.items).items():
        several = len(panel.judges) > 1
        ready = normalized(panel, data.normalization or ("z" if several else "none"))
        rows = judged_rows(tables, ready.table(), columns)
        groups: dict[str, Sequence[str]] = {"item": rows.items}
        if len(set(rows.systems)) >= FEWEST_SYSTEMS:
            groups["system"] = rows.systems
        found += [
            _outcome(data.name, question, rows, rivals, name, labels)
            for name, labels in groups.items()
        ]
    return found


def _outcome(
    data: str,
    question: str,
    rows: JudgedRows,
    rivals: Sequence[str],
    group: str,
    labels: Sequence[str],
) -> Outcome:
    folds = min(FOLDS, len(set(labels)))

    def predicted(learner: Learner) -> Floats:
        return out_of_fold(rows.y, rows.x, learner, labels, folds=folds, seed=SEED)

    scores = {
        name: rows.x[:, place] for name, place in zip(rivals, rows.places(rivals), strict=True)
    }
    hindsight = max(rivals, key=lambda name: abs(_r(rows.y, scores[name])))
    columns = {
        "single": predicted(best_single(rows, rivals)),
        "hindsight": np.sign(_r(rows.y, scores[hindsight])) * scores[hindsight],
        "paper": predicted(paper_fit(rows)),
        "rich": predicted(rich_fit(rows)),
    }
    return Outcome(data, question, group, hindsight, Correlated(rows.y, columns, rows.items))


def out_of_fold(
    y: Floats, x: Floats, learn: Learner, groups: Sequence[str], *, folds: int, seed: int
) -> Floats:
    """Each row's prediction by a model fitted without any row of its group."""
    names = list(dict.fromkeys(groups))
    fold_of = np.arange(len(names))
    if folds < len(names):
        fold_of = np.random.default_rng(seed).permutation(len(names)) % folds
    row_fold = fold_of[[names.index(group) for group in groups]]
    predictions = np.full(len(y), np.nan)
    for fold in np.unique(row_fold):
        held = row_fold == fold
        predictions[held] = learn(y[~held], x[~held])(x[held])
    return predictions


INTRODUCTION = """\
# A fitted metric against the best single metric

Does a linear model of several metrics predict people's ratings better than one metric? For items that it was not fitted to, a model of {n_rich} predictors (*rich*) is significantly better than the
single metric that a user could choose (*chosen*) on {item_better} of {item_sets} [sets of judgments](agreement.md), and significantly worse on {item_worse}. For systems that it was not fitted to, it is better on {system_better} of {system_sets} sets,
and worse on {system_worse}.

Two models are fitted to the single outputs of every set:

- **rich**: ridge regression on {n_rich} metrics and components of metrics. Its penalty is chosen by the leave-one-out
  error on the outputs that the model learns from.
- **paper**: least squares on the predictors of Bangalore, Rambow & Whittaker (2000): a metric (here `gsa`,
  because these sets have no trees), its numbers of substitutions, moves, insertions and deletions, and the length of the output.

They are compared with two single metrics out of {n_rivals} ({n_rivals_with_empty} for the set with empty outputs), negated if they correlate negatively:

- **chosen** has the highest absolute r with the judgments of the training part (below): a user could choose it. It may be another metric in each fold.
- **in hindsight** has the highest absolute r with the judgments of all test parts together: nobody can know beforehand which metric this is.

There are ten folds: a model learns from nine (the training part) and predicts the tenth (the test part). In the first half of the page no item is in
both parts. In the second half, for sets with at least {fewest} systems, no system is in both parts, although items are (with fewer than ten
systems, each system is a fold). The predictors are the same for every set, and
were fixed before the first run. After that run three metrics (`ttr`, `distinct` and `exact`) were added to the single metrics, and predictions were no longer rescaled in each fold.

The tables have Pearson's r of the ratings with the predictions of all folds, and Δr, the difference between two such r, with a paired 95% bootstrap interval over items
({resamples:,} resamples; bold if it is above 0). The intervals hold for other items of these systems, not for other systems. If the ratings of a fold are
high on average, those of the other folds are lower, so the predictions for this fold are too low as a whole. This lowers the r of the fitted models, but not
that of single metrics. So a model with the lower r may be better than it looks. (`wellput fit`
avoids this: it brings the predictions of each fold to the same mean and standard deviation.)"""

Pair = tuple[str, str]
PAIRS: tuple[Pair, ...] = tuple(
    (fit, rival) for fit in ("rich", "paper") for rival in ("single", "hindsight")
)


def page(outcomes: Sequence[Outcome]) -> str:
    groups = {
        group: [outcome for outcome in outcomes if outcome.group == group]
        for group in ("item", "system")
    }
    deltas = {group: deltas_of_sets(own) for group, own in groups.items()}
    numbers: dict[str, int] = {}
    for group, of_sets in deltas.items():
        own = [delta["rich", "single"] for delta in of_sets.values()]
        numbers[f"{group}_sets"] = len(own)
        numbers[f"{group}_better"] = sum(map(_is_above, own))
        numbers[f"{group}_worse"] = sum(map(_is_below, own))
    parts = [
        INTRODUCTION.format(
            n_rich=len(RICH),
            n_rivals=len(RIVALS),
            n_rivals_with_empty=len(RIVALS_WITH_EMPTY_OUTPUTS),
            fewest=FEWEST_SYSTEMS,
            resamples=RESAMPLES,
            **numbers,
        )
    ]
    for group, own_outcomes in groups.items():
        parts += [
            f"## {group.capitalize()}s that the model was not fitted to",
            summary(deltas[group]),
            f"By question: the number of outputs (n), r, and Δr of the models *rich* and *paper*:\n\n{table(own_outcomes)}",
        ]
    return "\n\n".join(parts) + "\n"


def deltas_of_sets(outcomes: Sequence[Outcome]) -> dict[str, dict[Pair, Estimate]]:
    """For each set Δr of each pair, averaged over the set's questions."""
    found = {}
    for name in dict.fromkeys(outcome.data for outcome in outcomes):
        tables = [outcome.correlated for outcome in outcomes if outcome.data == name]
        found[name] = {pair: mean_difference(tables, *pair, seed=SEED) for pair in PAIRS}
    return found


def summary(deltas: Mapping[str, Mapping[Pair, Estimate]]) -> str:
    lines = [
        "Δr, as the mean over the questions of each set:",
        "",
        "| set | rich − chosen | rich − hindsight | paper − chosen | paper − hindsight |",
        "|---|---|---|---|---|",
    ]
    for name, own in deltas.items():
        lines.append(f"| {name} | {' | '.join(_delta(own[pair]) for pair in PAIRS)} |")
    shown = " | ".join(
        f"{sum(_is_above(own[pair]) for own in deltas.values())} / "
        f"{sum(_is_below(own[pair]) for own in deltas.values())} of {len(deltas)}"
        for pair in PAIRS
    )
    return "\n".join([*lines, f"| *sets with the whole interval above 0 / below 0* | {shown} |"])


def table(outcomes: Sequence[Outcome]) -> str:
    lines = [
        "| set | question | n | chosen | in hindsight | paper | rich | rich − chosen | "
        "rich − hindsight | paper − chosen |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        found = outcome.correlated
        r = found.correlations()
        deltas = [
            difference(found, fit, rival, seed=SEED)
            for fit, rival in (("rich", "single"), ("rich", "hindsight"), ("paper", "single"))
        ]
        lines.append(
            f"| {outcome.data} | {outcome.question} | {len(found.y)} | {r['single']:.3f} | "
            f"{r['hindsight']:.3f} {outcome.hindsight} | {r['paper']:.3f} | {r['rich']:.3f} | "
            f"{' | '.join(map(_delta, deltas))} |"
        )
    return "\n".join(lines)


def _is_above(delta: Estimate) -> bool:
    return delta.low is not None and delta.low > 0


def _is_below(delta: Estimate) -> bool:
    return delta.high is not None and delta.high < 0


def _delta(delta: Estimate) -> str:
    text = f"{delta.value:+.3f} [{delta.low:+.3f}, {delta.high:+.3f}]"
    return f"**{text}**" if _is_above(delta) else text
