"""Bangalore, Rambow & Whittaker (2000), table by table: writes docs/papers/bangalore2000.md.

    python -m benchmarks bangalore2000 [dev|test]

`dev` measures on development sentences and prints the page."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pages import ROOT, write_page
from benchmarks.papers.bangalore2000 import (
    completing,
    figures,
    hypotheses,
    study_section,
    tables,
    wsj,
)
from benchmarks.papers.bangalore2000.hypotheses import Answer
from benchmarks.papers.bangalore2000.simulated_study import simulated
from wellput.io import replacing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "part",
        nargs="?",
        choices=["dev", "test"],
        default="test",
        help="with dev, measure on development sentences and print the page only",
    )
    part: wsj.Part = parser.parse_args().part
    measured = wsj.measured(part)
    with tempfile.TemporaryDirectory() as folder:
        study = simulated(measured.treebank.files[part], seed=wsj.SEED, folder=Path(folder))
    answers = hypotheses.answers()
    page = "\n\n".join(
        [
            INTRODUCTION,
            _overview(measured, answers),
            tables.figure_2(measured),
            tables.table_1(),
            tables.table_2(measured, part),
            tables.table_4(measured),
            study_section.section(study),
            figures.SECTION,
            completing.section(measured, part),
            hypotheses.tree_section(answers),
            hypotheses.fitted_section(answers),
        ]
    )
    if part == "dev":
        print(page)
        return
    with replacing(ROOT / figures.PICTURE) as file:
        file.write(figures.picture(study).encode())
    write_page("bangalore2000", page)


INTRODUCTION = """\
# Bangalore, Rambow & Whittaker (2000)

This page compares each table and figure of the paper *Evaluation Metrics for Generation* (INLG 2000) with what wellput measures. `make bench-bangalore2000`
writes the page.

**What the paper asks.** Can a number that a program computes replace people who judge generated sentences? The paper defines four accuracies,
[`ssa`](../metrics/ssa.md) and [`gsa`](../metrics/gsa.md) over strings of words, [`sta`](../metrics/sta.md) and [`gta`](../metrics/gta.md) over trees. It measures a realizer (a program that
puts the words of a sentence in order) with them, lets people judge sentences, and makes two new metrics ([`understandability`](../metrics/understandability.md) and
[`quality`](../metrics/quality.md)) from the judgments. The paper's main hypothesis is that metrics that compare trees agree with people better than
metrics that compare strings.

**Its system** is the realizer FERGUS ([how it works](../realize.md)). A tree chooser gives each word of an unordered dependency tree a
supertag (a detailed part of speech), the grammar XTAG then allows some orders of these words, and a trigram model chooses one of the orders. The tree model and the
trigrams come from one million words of the Wall Street Journal.

**Its experiment.** FERGUS and a baseline, LR (left-right), put the words of 100 sentences of the Wall Street Journal back in order. LR learns from sentences
with random trees whether a word usually stands before or after the word that it depends on. Ten people judged 24
variants of six sentences, most of them not made by FERGUS.

In the tables of this page, `fergus` is our FERGUS and `LR` our baseline. *XTAG*: the orders are those that the grammar XTAG allows (otherwise a grammar derived from the treebank). *Top-down*: supertags
are chosen from the root of the tree down (otherwise the best supertags of the whole tree). `fergus+`, which is not in the paper, also uses how often words of the same kinds stood in each order in the training trees ([how](../realize.md#how-it-works)); how much this counts was tuned on the development files. The accuracies are at most 1, and higher is better."""


def _overview(measured: wsj.Measured, answers: Sequence[Answer]) -> str:
    better = sum(hypotheses.is_above(one.tree_gains["sta − ssa"]) for one in answers)
    worse = sum(hypotheses.is_below(one.tree_gains["sta − ssa"]) for one in answers)
    wins = sum(hypotheses.is_above(one.fitted_gain) for one in answers)
    losses = sum(hypotheses.is_below(one.fitted_gain) for one in answers)
    above, below, same = hypotheses.against_sta(answers)
    nearest, lr = (wsj.cell(measured.short, system, "ssa") for system in (tables.NEAREST, "LR"))
    words = sum(len(tree.words) for tree in measured.treebank.parts["train"]) / 1e6
    return f"""## In short

| in the paper | here | outcome |
|---|---|---|
| Figure 1, the architecture | [the same steps](../realize.md#how-it-works) | nothing to measure |
| Figure 2, the input, and the sentence made from it | FERGUS's sentence, from the tree of Figure 2 (our scan lacks the picture, but the paper's text and Table 1 say what the tree is) | reproduced for FERGUS; our LR makes another sentence than the paper's (other text, other random trees); the models that come with wellput make another sentence, too (trees of another kind) |
| Table 1, four accuracies of one sentence, and footnote 5 | the same numbers | reproduced |
| Table 2, LR and FERGUS | the setting nearest to the paper's (XTAG, top-down) has `ssa` {nearest}, LR {lr} | reproduced: FERGUS is above LR in all four. The values differ: other sentences, {words:.2f} million words instead of 1, our reading of XTAG |
| Section 4.1 and Table 3, people | a [study with simulated judges](#section-41-and-table-3-with-simulated-judges); [real judgments](#do-tree-metrics-agree-better-with-people) of other texts | cannot be reproduced: variants and ratings were not published |
| Figures 3 and 4, regressions | [drawn](#figures-3-and-4) for simulated judges and for real judgments of other texts | cannot be reproduced, for the same reason |
| equations (4) and (5), the new metrics | [`understandability`](../metrics/understandability.md) and [`quality`](../metrics/quality.md); a perfect sentence scores 1 | formulas reproduced; the fit cannot be reproduced, for the same reason |
| Table 4, the new metrics | `fergus` is far ahead of LR in both | reproduced: FERGUS is above LR in both. The values differ, for the reasons of Table 2 |
| Section 5, insertion of function words and punctuation, morphology, lexical choice | [measured](#section-5-function-words-punctuation-and-morphology), except lexical choice | the paper gives no numbers |
| the main hypothesis | on {len(answers)} questions that people answered, `sta` agrees better than `ssa` on {better} ({hypotheses.better_by_set(answers)}), worse on {worse}, not decided on {len(answers) - better - worse}; intervals are not corrected for their number | confirmed on WebNLG and MQM, with small differences; elsewhere mostly undecided |
| the fitted metric (from `sta`, the number of substitutions, and length) | r with ratings of unseen items is higher than that of `sta` alone on {above} of {len(answers)} questions, lower on {below}{hypotheses.and_same(same)} (no intervals); compared with *chosen* (the one of eight metrics, `bleu` and `chrf` among them, that correlates best on the data to which the metric was fitted), it is better on {wins}, worse on {losses}, not decided on {len(answers) - wins - losses} | the paper's comparison (with `sta`): same direction on most questions; our harder comparison, with the chosen metric: not confirmed |

Our scans of the paper lack its pictures. So nothing on this page was compared with the drawings, which are Figure 1, Figure 2 (but its tree
follows from the text and from Table 1), and the points of Figures 3 and 4."""


if __name__ == "__main__":
    main()
