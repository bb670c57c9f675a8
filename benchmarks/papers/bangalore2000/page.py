"""Bangalore, Rambow & Whittaker (2000), table by table: writes docs/papers/bangalore2000.md.

    python -m benchmarks.papers.bangalore2000 [dev|test]

`dev` measures on development sentences and prints the page."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from scipy.stats import t as student

from benchmarks.agreement import human_data
from benchmarks.agreement.scored import tables_of
from benchmarks.pages import ROOT, write_page
from benchmarks.papers.bangalore2000 import hypotheses, wsj
from benchmarks.papers.bangalore2000.hypotheses import Answer
from benchmarks.papers.bangalore2000.simulated_study import (
    PREDICTORS,
    PRINTED,
    TABLE_3,
    SimulatedStudy,
    simulated,
)
from benchmarks.papers.scatter import Panel, svg
from wellput import EvalSet, score
from wellput.agreement.models import judged_rows
from wellput.agreement.panel import normalized, panels
from wellput.core.tree import Tree, Word
from wellput.io import replacing
from wellput.stats.regression import ols

FIGURES = "docs/images/bangalore2000-figures.svg"
GENERATED = "There was estimate for phase the second no cost"
STRING, ALL = ("ssa", "gsa", "sta", "gta"), wsj.METRICS
PAPER_TABLE_1 = {"ssa": 0.44, "gsa": 0.56, "sta": 0.33, "gta": 0.67}
PAPER_COUNTS = {
    "length": (9, 9, 9, 9),
    "unchanged": (6, 6, 6, 6),
    "substitutions": (1, 1, 0, 0),
    "insertions": (2, 1, 3, 0),
    "deletions": (2, 1, 3, 0),
    "moves": (0, 1, 0, 3),
    "problems": (5, 4, 6, 3),
}
NEAREST = "fergus, XTAG, top-down"
"""The row whose setting is nearest to the paper's."""
PAPER_TABLE_2 = {"LR": (0.41, 0.56, 0.41, 0.63), "fergus": (0.58, 0.72, 0.65, 0.76)}
PAPER_TABLE_4 = {"LR": (-0.08, -0.12), "fergus": (0.44, 0.42)}
PAPER_R = {
    "understandability": {"ssa": 0.08, "gsa": 0.23, "sta": 0.51, "gta": 0.48},
    "quality": {"ssa": 0.16, "gsa": 0.33, "sta": 0.45, "gta": 0.42},
}
PAPER_TABLE_3 = {
    "understandability": (0.02, 0.02, 0.36, 0.35, 0.48, 0.38, 0.40, 0.51),
    "quality": (0.00, 0.05, 0.34, 0.35, 0.47, 0.34, 0.42, 0.53),
}
PAPER_TABLE_3_P = {
    "understandability": (0.571, 0.584, 0.003, 0.003, 0.001, 0.008, 0.006, 0.003),
    "quality": (0.953, 0.327, 0.003, 0.003, 0.002, 0.015, 0.006, 0.002),
}
# A benchmark cannot know how often its test set was looked at: whoever runs it again says so here.
LOOKS = """Models, conversion and the XTAG mapping were made on the development files. The test files were looked at once, for this
page."""


def main() -> None:
    part: wsj.Part = "dev" if "dev" in sys.argv[1:] else "test"
    measured = wsj.measured(part)
    study = simulated(measured.treebank.parts[part], seed=wsj.SEED)
    answers = hypotheses.answers()
    page = "\n\n".join(
        [
            INTRODUCTION,
            _overview(measured, answers),
            _figure_2(measured),
            _table_1(),
            _table_2(measured, part),
            _table_4(measured),
            _study(study),
            _hypothesis(answers),
            _fitted(answers),
            _pictures(),
        ]
    )
    if part == "dev":
        print(page)
        return
    with replacing(ROOT / FIGURES) as file:
        file.write(_figures(study).encode())
    write_page("bangalore2000", page)


INTRODUCTION = """\
# Bangalore, Rambow & Whittaker (2000)

*Evaluation Metrics for Generation*, INLG 2000: each table and figure of the paper beside what wellput measures. `make bench-bangalore2000`
makes all of it.

**What the paper asks.** Can a number that a program computes stand in for people who judge generated sentences? It defines four accuracies
([`ssa`](../metrics/ssa.md), [`gsa`](../metrics/gsa.md), [`sta`](../metrics/sta.md), [`gta`](../metrics/gta.md)), measures a realizer with
them, lets people judge sentences, and makes two new metrics ([`understandability`](../metrics/understandability.md) and
[`quality`](../metrics/quality.md)) from the judgments. Its main hypothesis: metrics that compare trees agree with people better than
metrics that compare strings.

**Its system** is the realizer FERGUS ([how it works](../realize.md)). A tree chooser gives each word of an unordered dependency tree a
supertag, the XTAG grammar allows these words some orders, and a trigram model chooses one of them. The tree model and the
trigrams come from one million words of the Wall Street Journal.

**Its experiment.** FERGUS and a baseline, LR, put the words of 100 sentences of the Wall Street Journal back in order. Ten people judged 24
variants of six sentences, most of them made by hand."""


def _overview(measured: wsj.Measured, answers: Sequence[Answer]) -> str:
    better = sum(hypotheses.is_above(one.tree_gains["sta − ssa"]) for one in answers)
    worse = sum(hypotheses.is_below(one.tree_gains["sta − ssa"]) for one in answers)
    wins = sum(hypotheses.is_above(one.fitted_gain) for one in answers)
    losses = sum(hypotheses.is_below(one.fitted_gain) for one in answers)
    above, below, same = hypotheses.against_sta(answers)
    nearest, lr = (wsj.cell(measured.short, system, "ssa") for system in (NEAREST, "LR"))
    words = sum(len(tree.words) for tree in measured.treebank.parts["train"]) / 1e6
    return f"""## In short

| in the paper | here | outcome |
|---|---|---|
| Figure 1, the architecture | [the same three steps](../realize.md#how-it-works) | nothing to measure |
| Figure 2, the input; its sentence | FERGUS's sentence, from the tree that the text implies | reproduced for FERGUS; LR makes another sentence than the paper's; the shipped models do not make it |
| Table 1, four accuracies of one sentence | the same numbers | reproduced |
| Table 2, LR and FERGUS | the setting nearest to the paper's (XTAG, top-down) has `ssa` {nearest}, LR {lr} | FERGUS above LR in all four: reproduced; the values differ: other sentences, {words:.2f} million words instead of 1, our reading of XTAG |
| Section 4.1 and Table 3, people | simulated judges; real judgments of other texts | cannot be: variants and ratings were not published |
| Figures 3 and 4, regressions | [drawn](#figures-3-and-4) for simulated judges and for real judgments of other texts | cannot be, for the same reason |
| Table 4, the new metrics | fergus is far ahead of LR in both | FERGUS above LR in both: reproduced; the values differ |
| the main hypothesis | on {len(answers)} questions that people answered, `sta` agrees better than `ssa` on {better} ({_by_set(answers)}), worse on {worse}, not decided on {len(answers) - better - worse}; intervals are not corrected for their number | confirmed on WebNLG and MQM, with small differences; elsewhere mostly undecided |
| the fitted metric (`sta`, S, length) | r with ratings of unseen items is higher than that of `sta` alone on {above} of {len(answers)} questions, lower on {below}{_and_same(same)} (no intervals); against the chosen best of eight metrics, with `bleu` and `chrf`, better on {wins}, worse on {losses}, not decided on {len(answers) - wins - losses} | the paper's comparison (with `sta`): same direction on most; the harder one, which is ours: not confirmed |

Two things could not be checked against the paper because the scans that we have lack its pictures: Figure 1, and the drawing of Figure 2,
whose tree follows from the text and from Table 1."""


def _by_set(answers: Sequence[Answer]) -> str:
    """How many questions of each set `sta` answers better than `ssa`."""
    better = [
        one.data.partition(",")[0]
        for one in answers
        if hypotheses.is_above(one.tree_gains["sta − ssa"])
    ]
    return ", ".join(f"{data}: {better.count(data)}" for data in dict.fromkeys(better))


def _and_same(count: int) -> str:
    return f", the same on {count}" if count else ""


def _figure_2(measured: wsj.Measured) -> str:
    made = "\n".join(f"| {name} | {text} |" for name, text in measured.figure_2.items())
    shipped = ", ".join(f"*{text}* (`{name}`)" for name, text in measured.shipped_figure_2.items())
    return f"""## Figure 2

The paper's input, with no order and no labels, as `figure2.json`:

```json
{{"word": "estimate", "children": [
  {{"word": "There"}}, {{"word": "was"}}, {{"word": "no"}}, {{"word": "cost"}},
  {{"word": "for", "children": [
    {{"word": "phase", "children": [{{"word": "the"}}, {{"word": "second"}}]}}]}}]}}
```

Models are trained with `wellput convert` and `wellput train fergus` as under [Table 2](#table-2); then one command realizes it:

```text
$ wellput realize figure2.json --models wsj-fergus/ --model fergus
{measured.figure_2["fergus"]}
```

| model, trained on the Penn sample | sentence |
|---|---|
{made}

The paper's FERGUS makes *{wsj.TARGET}*, its LR *{GENERATED}*; our LR makes another. The
sentence is not in the sample that the models learned from.

The models that wellput comes with learned from Universal Dependencies, in which *for* hangs on *phase*, and *There* and
*estimate* hang on *was*. The paper's tree does not suit them: {shipped}."""


def _table_1() -> str:
    heads = {
        "There": 5,
        "was": 5,
        "no": 5,
        "cost": 5,
        "estimate": 0,
        "for": 5,
        "the": 9,
        "second": 9,
        "phase": 6,
    }
    tree = Tree(tuple(Word(form, head) for form, head in heads.items()))
    evalset = EvalSet.of({"LR": [GENERATED]}, [wsj.TARGET], trees=[tree])
    result = score(evalset, list(STRING))
    counts = {metric: result["LR", metric].components for metric in STRING}
    lines = ["| | " + " | ".join(STRING) + " |", "|---|" + "---:|" * len(STRING)]
    for name, of_paper in PAPER_COUNTS.items():
        own = [counts[metric].get(name, 0) for metric in STRING]
        label = "tokens" if name == "length" else name
        lines.append(f"| {label} | {' | '.join(f'{count:g}' for count in own)} |")
        if own != list(of_paper):
            lines.append(f"| {label} in the paper | {' | '.join(map(str, of_paper))} |")
    ours = " | ".join(f"{result['LR', metric].score:.2f}" for metric in STRING)
    paper = " | ".join(f"{PAPER_TABLE_1[metric]:.2f}" for metric in STRING)
    has_paper_scores = all(round(result["LR", m].score, 2) == PAPER_TABLE_1[m] for m in STRING)
    has_paper_counts = not any("in the paper" in line for line in lines)
    lines += [f"| score | {ours} |", f"| score in the paper | {paper} |"]
    outcome = (
        "All scores and all counts are those of the paper"
        if has_paper_scores and has_paper_counts
        else "Scores or counts differ from the paper"
    )
    return (
        "## Table 1\n\nThe four accuracies of *" + GENERATED + "*, whose target is *" + wsj.TARGET + "*.\n\n"
        + "\n".join(lines)
        + f"\n\n{outcome}: insertion and deletion cost 3, substitution 4. The paper gives no costs; these give its table."
    )  # fmt: skip


def _table_2(measured: wsj.Measured, part: wsj.Part) -> str:
    trees = measured.treebank
    short, whole = trees.short(part), trees.parts[part]
    train = trees.parts["train"]
    words = sum(len(tree.words) for tree in train)
    mean = wsj.mean_length(short)
    total = sum(len(tree.words) for own in trees.parts.values() for tree in own)
    header = "| | " + " | ".join(STRING) + " |\n|---|" + "---|" * len(STRING)
    paper = [
        f"| *paper: {name}* | {' | '.join(f'{value:.2f}' for value in values)} |"
        for name, values in (("LR", PAPER_TABLE_2["LR"]), ("FERGUS", PAPER_TABLE_2["fergus"]))
    ]
    margins = " | ".join(
        f"+{a - b:.2f}" for a, b in zip(PAPER_TABLE_2["fergus"], PAPER_TABLE_2["LR"], strict=True)
    )
    gains = [
        f"| {system} − LR | {' | '.join(wsj.difference(measured.short, system, m) for m in STRING)} |"
        for system in measured.short.systems[1:]
    ]
    return f"""## Table 2

The nearest data: NLTK's sample of the Penn Treebank's Wall Street Journal (called a tenth; {round(total, -3):,} words in {sum(map(len, trees.parts.values())):,}
sentences of `wsj_0001` to `wsj_0199`; section 20, from which the paper took its test sentences, is not in it). Files whose number ends in 0
are for testing, those that end in 5 for development, all others for training: {len(train):,} sentences, {words:,} words. Test sentences
have at most {wsj.MAX_WORDS} words, the length of the paper's longest: {len(short)} of {len(whole)}, {mean:.1f} words on average (the paper:
100 sentences, 16.7 words on average, at most 24).

```text
$ wellput convert train/wsj_*.mrg -o train.conllu
$ wellput convert dev/wsj_*.mrg -o dev.conllu
$ wellput convert test/wsj_*.mrg -o test.conllu
$ wellput train fergus train.conllu --dev dev.conllu -o wsj-fergus/
$ wellput realize test.conllu --models wsj-fergus/ --model fergus --evaluate
$ wellput realize test.conllu --models wsj-fergus/ --model fergus --chooser top-down --grammar xtag:XTAG --evaluate
```

`train/`, `dev/` and `test/` hold the files as said above, `XTAG` is the unpacked grammar. `--evaluate` prints the table for all {len(whole)}
sentences, further down, and LR with it; for this one, keep the trees of at most {wsj.MAX_WORDS} words. `dev` is used only by `fergus+`.

{header}
{chr(10).join([*paper, *wsj.rows_of(measured.short, STRING)])}

Differences from LR (the last row is the paper's):

{header}
{chr(10).join(gains)}
| *paper: FERGUS − LR* | {margins} |

In brackets: 95% intervals for other sentences, by jackknife. `fergus` has the grammar that the treebank itself gives;
`{NEAREST}` is nearest to the paper's setting. `fergus+` is ours: weights on word order. {LOOKS}

On all {len(whole)} test sentences of any length:

{header}
{chr(10).join(wsj.rows_of(measured.all, STRING))}

Why the numbers differ from the paper's: other sentences; {words / 1e6:.2f} million words of training text instead of one million, for the
tree model and for the trigrams; our conversion of Penn trees to dependencies, which like the paper's is made of heuristics; our reading of
XTAG, whose trees are chosen through supertags of the treebank; and for LR, how its random trees are drawn, which the paper does not say
(uniformly here). So a comparison of the absolute numbers says little; that fergus beats LR on the same sentences is what is
reproduced."""


def _table_4(measured: wsj.Measured) -> str:
    names = ("understandability", "quality")
    rows = list(wsj.rows_of(measured.short, names))
    paper = [
        f"| *paper: {name}* | {' | '.join(f'{value:.2f}'.replace('-', '−') for value in PAPER_TABLE_4[key])} |"
        for name, key in (("LR", "LR"), ("FERGUS", "fergus"))
    ]
    gain = " | ".join(wsj.difference(measured.short, "fergus", name) for name in names)
    return f"""## Table 4

The same sentences and models under the paper's equations (4) and (5), means over sentences:

| | understandability | quality |
|---|---|---|
{chr(10).join([*paper, *rows])}
| fergus − LR | {gain} |
| *paper: FERGUS − LR* | +0.52 | +0.54 |"""


def _study(study: SimulatedStudy) -> str:
    n = len([1 for item in study.evalset for _ in item.outputs])
    lines = [
        f"| {question} | {metric} | {PAPER_R[question][metric]:.2f} | {value:.2f} | {_p(value, n)} |"
        for (question, metric), (value, *_) in study.correlations.items()
    ]
    models = []
    for place, predictors in enumerate(TABLE_3):
        cells = []
        for question in PRINTED:
            found = study.models[predictors, question]
            cells += [
                f"{PAPER_TABLE_3[question][place]:.2f}",
                _short_p(PAPER_TABLE_3_P[question][place]),
                f"{found.r_squared:.2f}",
                _short_p(found.f_p_value),
            ]
        named = " + ".join(predictors).replace("ssa.substitutions", "S").replace("gsa.moves", "M")
        models.append(f"| {named} | {' | '.join(cells)} |")
    full = []
    for question, (coefficients, _) in PRINTED.items():
        found = study.models[PREDICTORS, question]
        pairs = zip(coefficients, found.coefficients, found.standard_errors, strict=True)
        cells = [f"{a:+.3f} / {b:+.3f} ± {e:.3f}".replace("-", "−") for a, b, e in pairs]
        full.append(f"| {question} | {' | '.join(cells)} | {found.f:.2f} |")
    return f"""## Section 4.1 and Table 3, with simulated judges

**The judges in this section are simulated.** It shows that the analysis runs as the paper describes it; it says nothing about people.
{n} variants of 6 test sentences have accuracies from low to high. Ten simulated judges rate them from 1 to 7. Their ratings follow the two
regressions that the paper prints, plus deviations of the variants (so that the regression explains 60% of them), the judges' own levels, and
noise. The two questions correlate {study.between_questions:.2f} over the variants (the paper: .94).

Correlations with ratings normalized per judge; p treats variants as independent, as the paper does:

| question | metric | paper, people | here, simulated | p |
|---|---|---:|---:|---:|
{chr(10).join(lines)}

Table 3, R² and p of each model. S: substitutions, M: moves:

| model | understanding: paper | p | simulated | p | quality: paper | p | simulated | p |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(models)}

Coefficients of the last model: printed in the paper and followed by the simulated judges / found again ± standard error. And F (the paper:
6.62 and 7.23 with 3 and 19 degrees of freedom; 3 and {n - 4} here):

| question | sta | S | length | F |
|---|---:|---:|---:|---:|
{chr(10).join(full)}

The simulated ratings were stretched to the scale of 7, so sizes cannot be compared. {_signs(study)} The simulated string metrics
correlate far more than those of the paper: its authors made most variants by hand, to set string and tree metrics apart; ours are random. The
paper left one variant out by hand, because it happened to be well-formed; here none is left out.

For your own study: `wellput study create --layout page` (ratings, all variants of a sentence on one page), `wellput agree`, and
`wellput fit set.jsonl judgments.csv --question understandability --predictors sta,ssa.substitutions,length --trees auto`. The models on
this page use `--no-rescale`."""


def _signs(study: SimulatedStudy) -> str:
    """Which planted signs the last model finds again for both questions, and how near 0 the others are."""
    again, lost = [], []
    for place, name in enumerate(("`sta`", "S", "length")):
        models = {question: study.models[PREDICTORS, question] for question in PRINTED}
        errors = [m.coefficients[place] / m.standard_errors[place] for m in models.values()]
        planted = [coefficients[place] for coefficients, _ in PRINTED.values()]
        if all(a * b > 0 for a, b in zip(planted, errors, strict=True)):
            again.append(name)
        else:
            near = " and ".join(f"{abs(error):.1f}" for error in errors)
            lost.append(f"that of {name} is not: it is {near} standard errors from 0")
    n = sum(len(item.outputs) for item in study.evalset)
    if not lost:
        return "All signs are found again."
    return f"Signs found again: {', '.join(again)};\n{'; '.join(lost)}. {n} variants are too few to find it."


def _hypothesis(answers: Sequence[Answer]) -> str:
    gains = [one.tree_gains["sta − ssa"] for one in answers]
    generation = [one.tree_gains["gta − gsa"] for one in answers]
    easy = float(np.mean([one.easy.value for one in answers]))
    hard = float(np.mean([one.hard.value for one in answers]))
    counts = [
        f"{name}: better on {sum(map(hypotheses.is_above, found))}, worse on {sum(map(hypotheses.is_below, found))}, "
        f"undecided on {len(found) - sum(map(hypotheses.is_above, found)) - sum(map(hypotheses.is_below, found))}"
        for name, found in (("`sta` against `ssa`", gains), ("`gta` against `gsa`", generation))
    ]
    return f"""## Do tree metrics agree better with people?

The main hypothesis, on real judgments of other texts: Pearson's r with people's ratings of single outputs, on the eight judged sets
below, with references parsed by wellput's parser (`--trees auto`, as the paper's section 5 suggests). `sta − ssa` is the difference of r, with a
paired 95% bootstrap interval over items; bold where it excludes 0. The intervals say what to expect on other items of the same
systems.

{hypotheses.tree_table(answers)}

Of {len(answers)} questions, {"; ".join(counts)}. The largest gain of `sta` is {max(one.value for one in gains):+.3f}, the largest loss
{min(one.value for one in gains):+.3f}. **Trees help on WebNLG and MQM; on most other questions nothing is shown.** The intervals are not
corrected for their number. The large difference of the paper (.51 against .08) is not found anywhere. The paper's variants were made to set
the metrics apart, and apparently had only the reference's words; these outputs have other words too. SummEval's references have several sentences, which the parser takes as one. `bleu` and `chrf` are there
for comparison.

**Does the parser explain it?** Nobody has checked our parses of these references. As a stand-in for their quality we take the gain in log
probability per word that the [head-driven parser](../language/head-driven-parser.md) gives the most probable reference of an item, and
halve each set at its median. Averaged over all questions, sta − ssa is {easy:+.3f} on the items with more probable references and {hard:+.3f}
on the others. {_parser_explains(easy, hard)}""".replace("\n-0", "\n−0").replace(" -0", " −0")


def _parser_explains(easy: float, hard: float) -> str:
    if easy > hard:
        return "So bad parses may explain a part of the small gain."
    return "So bad parses, as far as this shows them, do not explain the small gain: it is larger where the parser is less sure."


def _fitted(answers: Sequence[Answer]) -> str:
    wins = sum(hypotheses.is_above(one.fitted_gain) for one in answers)
    losses = sum(hypotheses.is_below(one.fitted_gain) for one in answers)
    above, below, same = hypotheses.against_sta(answers)
    return f"""## Does the fitted metric beat the best single one?

Section 4.2 fits a metric to judgments. Here the best model of Table 3 (`sta`, substitutions, length) is fitted by least squares in ten
folds of items and predicts the ratings of items that it has not seen. *Chosen* is the single metric (of {", ".join(f"`{m}`" for m in hypotheses.SINGLE)})
with the highest |r| in the part that is learned from. *In hindsight* is the best one on the predicted items themselves, which nobody can know.
The paper compared it with its four accuracies, on the variants that it was fitted to.

{hypotheses.fitted_table(answers)}

Against the chosen metric, the fitted one is better on {wins} of {len(answers)} questions, worse on {losses}, and on {len(answers) - wins - losses} this is not decided. Against
`sta` alone, the comparison that the paper makes (R² from .36 to .51 and from .34 to .53), its r is higher on {above},
lower on {below}{_and_same(same)} (signs aside; no intervals). [More on fitted metrics](../results/fitted.md)."""


def _pictures() -> str:
    return """## Figures 3 and 4

The paper plots the two regressions of section 4.1. Above: the same model of the **simulated** judges' ratings. Below: the same model, fitted
to real judgments of other texts, ASSET's simplifications (15 raters each). A point is one output; on the dashed line
predicted and rated are equal.

![Four scatter plots of predicted against rated values](../images/bangalore2000-figures.svg)"""


def _figures(study: SimulatedStudy) -> str:
    drawn = []
    for question, number in (("understandability", 3), ("quality", 4)):
        found = study.models[PREDICTORS, question]
        fitted = study.predicted[question]
        drawn.append(
            Panel(
                f"Figure {number}: {question} (simulated judges)",
                "predicted by sta, S and length",
                "mean of z-scores",
                fitted,
                fitted + found.residuals,
            )
        )
    data = human_data.asset()
    tables = tables_of(data, ("sta", "ssa", "length"))
    first = next(iter(tables.values()))
    for question, panel in panels(data.judgments, first.systems, first.items).items():
        if question == "simplicity":
            continue
        ready = normalized(panel, data.normalization or "z")
        rows = judged_rows(tables, ready.table(), hypotheses.FITTED)
        model = ols(rows.y, rows.x, hypotheses.FITTED)
        drawn.append(
            Panel(
                f"ASSET, {question} (people), R² = {model.r_squared:.2f}",
                "predicted by sta, S and length",
                "mean rating",
                model.predict(rows.x),
                rows.y,
            )
        )
    return svg(drawn, columns=2, about="Ratings against what the regression predicts")


def _p(r: float, n: int) -> str:
    t = abs(r) * np.sqrt((n - 2) / (1 - r * r))
    return _short_p(float(2 * student.sf(t, n - 2)))


def _short_p(p: float) -> str:
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


if __name__ == "__main__":
    main()
