"""Novikova et al. (2017), "Why We Need New Evaluation Metrics for NLG": their correlations from their
own metric columns, by `wellput.stats.correlate` and by SciPy."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass

import numpy as np
from scipy import stats

from benchmarks.data import data_path
from wellput.core.metric import Floats
from wellput.stats.correlation import Correlation, correlate

FILE = "nlg_human/novikova2017_dev.csv.gz"
QUESTIONS = ("informativeness", "naturalness", "quality")
WORD_BASED = (
    "TER", "Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "NIST", "LEPOR", "CIDEr", "METEOR",
    "sim.mr.sys",
)  # fmt: skip
GRAMMAR_BASED = (
    "sys.read.flesch", "sys.cpw", "sys.ref.len", "sys.wps", "sys.sps", "sys.spw", "sys.n.poly",
    "sys.pspw", "n.misspel", "parser.sc.mean",
)  # fmt: skip
SYSTEMS = {
    ("BAGEL", "Dusek"): "BAGEL, TGen",
    ("BAGEL", "LOLS"): "BAGEL, LOLS",
    ("SFRES", "WEN"): "SFRES, RNNLG",
    ("SFRES", "LOLS"): "SFRES, LOLS",
}


@dataclass(frozen=True)
class Cell:
    """One correlation: ours, SciPy's p-value, and how far SciPy's correlation is from ours."""

    system: str
    question: str
    metric: str
    rho: float
    p_value: float
    error: float


def cells() -> list[Cell]:
    """Every metric against every question, for each system of each dataset."""
    with gzip.open(data_path(FILE), "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found: list[Cell] = []
    for (dataset, system), label in SYSTEMS.items():
        chosen = [row for row in rows if (row["dataset"], row["system"]) == (dataset, system)]
        for question in QUESTIONS:
            human = np.array([float(row[question]) for row in chosen])
            for metric in (*WORD_BASED, *GRAMMAR_BASED):
                scores = np.array([float(row[metric]) for row in chosen])
                found.append(_cell(label, question, metric, scores, human))
    return found


def _cell(label: str, question: str, metric: str, scores: Floats, human: Floats) -> Cell:
    ours = correlate(scores[None], human[None], Correlation(coefficient="spearman"))
    theirs = stats.spearmanr(scores, human)
    error = abs(ours.value - float(theirs.statistic))
    return Cell(label, question, metric, ours.value, float(theirs.pvalue), error)


def section() -> str:
    """The part of the page about this paper."""
    found = cells()
    lines = ["| system | question | best word-based | best grammar-based |", "|---|---|---|---|"]
    for label in SYSTEMS.values():
        for question in QUESTIONS:
            here = [cell for cell in found if (cell.system, cell.question) == (label, question)]
            shown = (_shown(_best(here, group)) for group in (WORD_BASED, GRAMMAR_BASED))
            lines.append(f"| {label} | {question} | {' | '.join(shown)} |")
    worst = max(cell.error for cell in found)
    return "\n".join(
        [
            "## Novikova et al. (2017) from their own columns",
            "",
            f"Spearman's ρ of the {len(WORD_BASED) + len(GRAMMAR_BASED)} metrics that the authors "
            "published with their medians of human ratings, for each system and question: "
            f"{len(found)} correlations. SciPy's ρ differs from wellput's by {worst:.0e} at most. The table "
            "has the word-based and the grammar-based metric with the highest |ρ| (* p < .05, by "
            "SciPy). Word-based metrics compare the output with references or with the input; "
            "grammar-based ones look at the output alone (length, readability, spelling, a parser's "
            "score). They have the names of the authors' file. We did not compare this "
            "table with those that the paper prints.",
            "",
            *lines,
        ]
    )


def _best(found: list[Cell], metrics: tuple[str, ...]) -> Cell:
    return max((cell for cell in found if cell.metric in metrics), key=lambda cell: abs(cell.rho))


def _shown(cell: Cell) -> str:
    return f"{cell.rho:+.3f}{'*' if cell.p_value < 0.05 else ''} {cell.metric}"
