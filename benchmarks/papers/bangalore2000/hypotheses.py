"""The paper's main hypothesis on real judgments: do tree metrics agree with people better than string
metrics? And does the metric that its section 4 fits beat the best single one?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.agreement import human_data
from benchmarks.agreement.fitted import FOLDS, Learner, out_of_fold
from benchmarks.agreement.human_data import HumanData
from benchmarks.agreement.paired_r import Correlated, difference
from benchmarks.agreement.scored import tables_of
from benchmarks.papers.wording import listed
from wellput.agreement.models import JudgedRows, judged_rows
from wellput.agreement.panel import normalized, panels
from wellput.core.estimates import Estimate, is_constant
from wellput.core.metric import Floats
from wellput.language.models.head_driven import HeadDrivenParser
from wellput.language.shipped import HEAD_DRIVEN_FILE, shipped
from wellput.stats.regression import ols
from wellput.text.english import treebank_words

SETS: tuple[Callable[[], HumanData], ...] = (
    human_data.bagel,
    human_data.sfres,
    partial(human_data.webnlg, with_nothing_said=False),
    human_data.summeval,
    human_data.simplicity_da,
    human_data.asset,
    human_data.da2016,
    human_data.mqm,
)
STRING, TREE = ("ssa", "gsa"), ("sta", "gta")
SINGLE = (*STRING, *TREE, "understandability", "quality", "bleu", "chrf")
FITTED = ("sta", "ssa.substitutions", "length")
"""The best model of the paper's Table 3."""
SEED = 12345


@dataclass(frozen=True)
class Answer:
    """One question of one set. `easy` and `hard` are the differences sta − ssa on the halves of the
    items whose references our parser finds more and less probable."""

    data: str
    question: str
    n: int
    r: Mapping[str, float]
    tree_gains: Mapping[str, Estimate]
    easy: Estimate
    hard: Estimate
    fitted_r: float
    best: str
    fitted_gain: Estimate


def answers() -> list[Answer]:
    return [answer for read in SETS for answer in _answers(read())]


def _answers(data: HumanData) -> list[Answer]:
    tables = tables_of(data, (*SINGLE, "length"))
    first = next(iter(tables.values()))
    columns = tuple(dict.fromkeys((*SINGLE, *FITTED)))
    confidence = _parser_confidence(data)
    found = []
    for question, panel in panels(data.judgments, first.systems, first.items).items():
        several = len(panel.judges) > 1
        ready = normalized(panel, data.normalization or ("z" if several else "none"))
        rows = judged_rows(tables, ready.table(), columns)
        found.append(_answer(data.name, question, rows, confidence))
    return found


def _answer(name: str, question: str, rows: JudgedRows, confidence: Mapping[str, float]) -> Answer:
    values = {
        metric: rows.x[:, place] for metric, place in zip(SINGLE, rows.places(SINGLE), strict=True)
    }
    learned = out_of_fold(rows.y, rows.x, _paper_fit(rows), rows.items, folds=FOLDS, seed=SEED)
    chosen = out_of_fold(rows.y, rows.x, _best_single(rows), rows.items, folds=FOLDS, seed=SEED)
    whole = Correlated(rows.y, {**values, "fitted": learned, "chosen": chosen}, rows.items)
    r = whole.correlations()
    middle = np.median([confidence[item] for item in dict.fromkeys(rows.items)])
    is_easy = np.array([confidence[item] > middle for item in rows.items])
    return Answer(
        name,
        question,
        len(rows.y),
        r,
        {
            "sta − ssa": difference(whole, "sta", "ssa", seed=SEED),
            "gta − gsa": difference(whole, "gta", "gsa", seed=SEED),
        },
        _part(whole, is_easy),
        _part(whole, ~is_easy),
        r["fitted"],
        max(SINGLE, key=lambda metric: abs(r[metric])),
        difference(whole, "fitted", "chosen", seed=SEED),
    )


def _part(whole: Correlated, mask: NDArray[np.bool_]) -> Estimate:
    part = Correlated(
        whole.y[mask],
        {name: whole.columns[name][mask] for name in ("ssa", "sta")},
        [item for item, is_in in zip(whole.items, mask, strict=True) if is_in],
    )
    return difference(part, "sta", "ssa", seed=SEED)


def _paper_fit(rows: JudgedRows) -> Learner:
    places = rows.places(FITTED)

    def learn(y: Floats, x: Floats) -> Callable[[Floats], Floats]:
        model = ols(y, x[:, places], FITTED)
        return lambda unseen: model.predict(unseen[:, places])

    return learn


def _best_single(rows: JudgedRows) -> Learner:
    """The metric of the highest |r| with the training part, rescaled to the ratings by least squares, as
    the fitted metric is."""
    places = rows.places(SINGLE)

    def learn(y: Floats, x: Floats) -> Callable[[Floats], Floats]:
        place = max(places, key=lambda place: _size_of_r(y, x[:, place]))
        model = ols(y, x[:, [place]], ["metric"])
        return lambda unseen: model.predict(unseen[:, [place]])

    return learn


def _size_of_r(y: Floats, x: Floats) -> float:
    return 0.0 if is_constant(x) else abs(float(np.corrcoef(y, x)[0, 1]))


def _parser_confidence(data: HumanData) -> dict[str, float]:
    """For each item, the largest gain in log probability per word (SLOR) that the head-driven parser
    gives to one of its references: our stand-in for the quality of the parse, which nobody checked."""
    parser = HeadDrivenParser.load(shipped(HEAD_DRIVEN_FILE))
    texts = [(item.id, reference) for item in data.evalset for reference in item.references]
    words = [treebank_words(text).forms[:120] for _, text in texts]
    found: dict[str, float] = {}
    for (item, _), scored in zip(texts, parser.score(words), strict=True):
        gain = scored.slor if scored.words else -np.inf
        found[item] = max(found.get(item, -np.inf), gain)
    return found


def is_above(estimate: Estimate) -> bool:
    return estimate.low is not None and estimate.low > 0


def is_below(estimate: Estimate) -> bool:
    return estimate.high is not None and estimate.high < 0


def against_sta(found: Sequence[Answer]) -> tuple[int, int, int]:
    """On how many questions the fitted metric's r is above |r| of `sta` alone, below it, and the same
    in the three digits that are shown."""
    pairs = [(round(one.fitted_r, 3), round(abs(one.r["sta"]), 3)) for one in found]
    above, below = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    return above, below, len(pairs) - above - below


def shown(estimate: Estimate) -> str:
    text = f"{estimate.value:+.3f} [{estimate.low:+.3f}, {estimate.high:+.3f}]".replace("-", "−")
    return f"**{text}**" if is_above(estimate) or is_below(estimate) else text


def tree_table(found: Sequence[Answer]) -> str:
    """r of each metric, and what trees gain."""
    lines = [
        f"| set | question | n | {' | '.join(SINGLE)} | sta − ssa | gta − gsa | sta − ssa, probable references | "
        "sta − ssa, improbable references |",
        f"|---|---|---:|{'---:|' * len(SINGLE)}---|---|---|---|",
    ]
    for one in found:
        cells = [f"{one.r[metric]:.3f}".replace("-", "−") for metric in SINGLE]
        gains = [*one.tree_gains.values(), one.easy, one.hard]
        lines.append(
            f"| {one.data} | {one.question} | {one.n:,} | {' | '.join(cells)} | "
            f"{' | '.join(map(shown, gains))} |"
        )
    return "\n".join(lines)


def fitted_table(found: Sequence[Answer]) -> str:
    lines = [
        "| set | question | fitted | chosen single | in hindsight best | fitted − chosen |",
        "|---|---|---:|---:|---|---|",
    ]
    for one in found:
        best = f"{one.best} {abs(one.r[one.best]):.3f}"
        lines.append(
            f"| {one.data} | {one.question} | {one.fitted_r:.3f} | {one.r['chosen']:.3f} | {best} | "
            f"{shown(one.fitted_gain)} |".replace(" -", " −")
        )
    return "\n".join(lines)


def better_by_set(answers: Sequence[Answer]) -> str:
    """How many questions of each set `sta` answers better than `ssa`."""
    better = [
        one.data.partition(",")[0] for one in answers if is_above(one.tree_gains["sta − ssa"])
    ]
    return ", ".join(f"{data}: {better.count(data)}" for data in dict.fromkeys(better))


def and_same(count: int) -> str:
    return f", the same on {count}" if count else ""


def tree_section(answers: Sequence[Answer]) -> str:
    gains = [one.tree_gains["sta − ssa"] for one in answers]
    generation = [one.tree_gains["gta − gsa"] for one in answers]
    easy = float(np.mean([one.easy.value for one in answers]))
    hard = float(np.mean([one.hard.value for one in answers]))
    counts = [
        f"{name}: better on {sum(map(is_above, found))}, worse on {sum(map(is_below, found))}, "
        f"undecided on {len(found) - sum(map(is_above, found)) - sum(map(is_below, found))}"
        for name, found in (("`sta` against `ssa`", gains), ("`gta` against `gsa`", generation))
    ]
    return f"""## Do tree metrics agree better with people?

This section tests the main hypothesis on real judgments of other texts. The table has Pearson's r with people's ratings of single outputs, on the eight judged sets
below, with references parsed by wellput's parser (`--trees auto`, as the paper's section 5 suggests). `sta − ssa` is the difference of r, with a
paired 95% bootstrap interval over items; bold if the interval excludes 0. The intervals say what to expect on other items of the same
systems. BAGEL and SFRES have sentences of dialogue systems,
WebNLG texts made from data, SummEval summaries, Simplicity-DA and ASSET simplified sentences, DA2016 and MQM zh-en translations. The last two columns are explained below the table.

{tree_table(answers)}

Of {len(answers)} questions, {"; ".join(counts)}. The difference `sta − ssa` is {max(one.value for one in gains):+.3f} at most and
{min(one.value for one in gains):+.3f} at least. **Trees help on WebNLG and MQM; on most other questions no difference is shown.** {_below_zero(answers)}The intervals are not
corrected for their number. No set has a difference as large as the paper's (.51 against .08). The paper's variants were made so that the metrics
differ, and apparently had only the reference's words; the outputs here have other words, too. SummEval's references have several sentences, which the parser treats as one. `bleu` and `chrf` are
in the table for comparison.

**Do errors of the parser explain the small differences?** Nobody has checked our parses of these references. As a substitute for the quality of parses we use a probability: the log
probability per word that the [head-driven parser](../language/head-driven-parser.md) gives to the most probable reference of an item, minus the log probability by word frequencies alone. We
split each set at the median into two halves, probable and improbable references. Averaged over all questions, sta − ssa is {easy:+.3f} on the items with more probable references and {hard:+.3f}
on the others. {_parser_explains(easy, hard)}""".replace("\n-0", "\n−0").replace(" -0", " −0")


def _below_zero(answers: Sequence[Answer]) -> str:
    """Where `sta` counts as better only because its r is the less negative one."""
    found = [
        f"{one.data}'s {one.question}"
        for one in answers
        if is_above(one.tree_gains["sta − ssa"]) and one.r["sta"] < 0
    ]
    return (
        f"On {listed(found)}, which counts as *better* here, both r are below 0. " if found else ""
    )


def _parser_explains(easy: float, hard: float) -> str:
    if easy > hard:
        return "So bad parses may explain why the differences are small."
    return "So bad parses, as far as this measure shows them, do not explain the small differences: on average the differences are larger, not smaller, for improbable references (this was not tested)."


def fitted_section(answers: Sequence[Answer]) -> str:
    wins = sum(is_above(one.fitted_gain) for one in answers)
    losses = sum(is_below(one.fitted_gain) for one in answers)
    above, below, same = against_sta(answers)
    return f"""## Does the fitted metric beat the best single one?

Section 4.2 of the paper fits a metric to judgments. Here the best model of Table 3 (`sta`, substitutions, length) is fitted by least squares in ten
folds: it is fitted to nine tenths of the items and predicts the ratings of the other tenth. The numbers are Pearson's r with people's ratings. *Chosen* is the single metric (of {", ".join(f"`{m}`" for m in SINGLE)})
with the highest |r| on the nine tenths. *In hindsight* is the best single metric on the predicted items, which cannot be known in advance.
The paper compared the fitted metric with its four accuracies, on the same variants that it was fitted to.

{fitted_table(answers)}

The fitted metric is better than the chosen one on {wins} of {len(answers)} questions and worse on {losses}; on {len(answers) - wins - losses} the difference is not significant. The paper compares the fitted metric
with `sta` alone (R² rises from .36 to .51 and from .34 to .53). In this comparison the r of the fitted metric is higher on {above} questions and
lower on {below}{and_same(same)} (in absolute value; without intervals). [More on fitted metrics](../results/fitted.md)."""
