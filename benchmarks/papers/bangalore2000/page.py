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
variants of six sentences, most of them not made by FERGUS."""


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
| Figure 1, the architecture | [the same three steps](../realize.md#how-it-works) | nothing to measure |
| Figure 2, the input; its sentence | FERGUS's sentence, from the tree that the text implies | reproduced for FERGUS; LR makes another sentence than the paper's (other text, other random trees); the shipped models do not make it (trees of another kind) |
| Table 1, four accuracies of one sentence, and footnote 5 | the same numbers | reproduced |
| Table 2, LR and FERGUS | the setting nearest to the paper's (XTAG, top-down) has `ssa` {nearest}, LR {lr} | FERGUS above LR in all four: reproduced; the values differ: other sentences, {words:.2f} million words instead of 1, our reading of XTAG |
| Section 4.1 and Table 3, people | a [study with simulated judges](#section-41-and-table-3-with-simulated-judges); [real judgments](#do-tree-metrics-agree-better-with-people) of other texts | cannot be: variants and ratings were not published |
| Figures 3 and 4, regressions | [drawn](#figures-3-and-4) for simulated judges and for real judgments of other texts | cannot be, for the same reason |
| equations (4) and (5), the new metrics | [`understandability`](../metrics/understandability.md) and [`quality`](../metrics/quality.md); a perfect sentence scores 1 | reproduced as formulas; the fit cannot be |
| Table 4, the new metrics | fergus is far ahead of LR in both | FERGUS above LR in both: reproduced; the values differ, for the reasons of Table 2 |
| Section 5, insertion of function words and punctuation, morphology, lexical choice | [measured](#section-5-function-words-punctuation-and-morphology), but for lexical choice | the paper gives no numbers |
| the main hypothesis | on {len(answers)} questions that people answered, `sta` agrees better than `ssa` on {better} ({hypotheses.better_by_set(answers)}), worse on {worse}, not decided on {len(answers) - better - worse}; intervals are not corrected for their number | confirmed on WebNLG and MQM, with small differences; elsewhere mostly undecided |
| the fitted metric (`sta`, S, length) | r with ratings of unseen items is higher than that of `sta` alone on {above} of {len(answers)} questions, lower on {below}{hypotheses.and_same(same)} (no intervals); against the chosen best of eight metrics, with `bleu` and `chrf`, better on {wins}, worse on {losses}, not decided on {len(answers) - wins - losses} | the paper's comparison (with `sta`): same direction on most; the harder one, which is ours: not confirmed |

The scans that we have lack all pictures of the paper. So nothing here was compared with the drawings themselves: Figure 1, Figure 2 (its tree
follows from the text and from Table 1), and the points of Figures 3 and 4."""


if __name__ == "__main__":
    main()
