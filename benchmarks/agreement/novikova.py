"""Novikova et al. (2017), "Why We Need New Evaluation Metrics for NLG": correlations of the metrics that
they published, by `wellput.stats.correlate` and by SciPy."""

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
    """A correlation: `rho` by wellput, `p_value` by SciPy, and the distance `error` of their two ρ."""

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
    lines = ["| data, system | question | ρ, word-based | ρ, grammar-based |", "|---|---|---|---|"]
    for label in SYSTEMS.values():
        for question in QUESTIONS:
            here = [cell for cell in found if (cell.system, cell.question) == (label, question)]
            shown = (_shown(_best(here, group)) for group in (WORD_BASED, GRAMMAR_BASED))
            lines.append(f"| {label} | {question} | {' | '.join(shown)} |")
    worst = max(cell.error for cell in found)
    return "\n".join(
        [
            "## Spearman's ρ from the columns of Novikova et al. (2017)",
            "",
            f"Novikova et al. published a table of outputs with their scores under {len(WORD_BASED) + len(GRAMMAR_BASED)} metrics "
            "and the medians of people's ratings. Spearman's ρ of scores and ratings was computed "
            f"for each metric, system and question: {len(found)} correlations, in which SciPy and wellput differ "
            f"by at most {worst:.0e}. The table has the ρ with the highest absolute value among the "
            f"{len(WORD_BASED)} word-based metrics (which compare the output with references or with the "
            f"input) and among the {len(GRAMMAR_BASED)} grammar-based ones (which look at the output "
            "alone: length, readability, spelling, a parser's score); * means p < .05 by SciPy. ρ is "
            "negative if people rated outputs with higher values lower. This table was not compared "
            "with those that the paper prints.",
            "",
            *lines,
        ]
    )


def _best(found: list[Cell], metrics: tuple[str, ...]) -> Cell:
    return max((cell for cell in found if cell.metric in metrics), key=lambda cell: abs(cell.rho))


def _shown(cell: Cell) -> str:
    return f"{cell.rho:+.3f}{'*' if cell.p_value < 0.05 else ''}"
