"""`bertscore` beside n-gram metrics on judged outputs: `make bench-embeddings ARGS="ENCODER TABLE"`."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.agreement import human_data
from benchmarks.agreement.human_data import HumanData
from benchmarks.agreement.scored import tables_of
from benchmarks.pages import table, write_page
from wellput.agreement.analysis import AgreementOptions, agree
from wellput.agreement.correlations import Uncertainty
from wellput.agreement.result import AgreementResult
from wellput.core.evalset import Batch, EvalSet
from wellput.core.work import available_cores
from wellput.metrics.bertscore import Bertscore
from wellput.stats.two_way_jackknife import MIN_UNITS

ALPHA = 0.05
CHRF = "chrf"
NGRAMS = {
    "bleu": "bleu",
    CHRF: "chrf",
    "chrf:word_order=2": "chrf++",
    "rouge-l": "rouge-l",
    "ter": "ter",
}
"""The names on the page of the metrics without embeddings."""
PAIRS_BESIDE_PACKAGE = 100

INTRODUCTION = """# Embeddings compared with n-grams

Does a metric of meaning agree better with people than a metric of n-grams? On eight [sets of outputs that people judged](agreement.md), [`bertscore`](../metrics/bertscore.md) with a small encoder has a higher correlation than
chrF for {better} of {questions} questions (on average {mean:.3f} against {mean_chrf:.3f}), and the difference is significant for {significant} of them. With a table of word vectors instead of the encoder it is above chrF for {static_better} questions ({mean_static:.3f} on average).

`bertscore` uses the last layer of MiniLM (`all-MiniLM-L6-v2`, 22 million weights) or, in the column *static table*, a table of word vectors (GloVe, 50 dimensions, its 100,000
most frequent words). *recall* and *idf* are [options of the metric](../metrics/bertscore.md#options): the recall alone, and more weight for rare words. The table has Pearson's r with people's answers to each question, over
single outputs; after the name of a set stands the number of its outputs. Metrics where lower is better are negated. Nothing was chosen on these sets: model, layer and
options were fixed before the first run.

**Bold** is the best metric of a row. ↑ and ↓ mark metrics that agree significantly better or worse than `chrf` by the test of [`wellput agree`](../commands/agree.md) (at .05, with Holm's
correction for all pairs). The test allows for other systems and other items; for sets with fewer than four systems, only for other items.
"""


@dataclass(frozen=True)
class Task:
    """A kind of text, and its judged sets."""

    name: str
    sets: tuple[Callable[[], HumanData], ...]


TASKS = (
    Task(
        "data to text",
        (human_data.bagel, human_data.sfres, partial(human_data.webnlg, with_nothing_said=False)),
    ),
    Task("simplification", (human_data.simplicity_da, human_data.asset)),
    Task("summarization", (human_data.summeval,)),
    Task("translation", (human_data.da2016, human_data.mqm)),
)


@dataclass(frozen=True)
class Row:
    """The correlations of one question by metric, with marks of differences from chrF."""

    task: str
    data: str
    question: str
    values: Mapping[str, float]
    marks: Mapping[str, str]
    n: int


def rows_of(task: str, data: HumanData, specs: Mapping[str, str]) -> list[Row]:
    """`specs` has the names in the page by the names of the metrics."""
    started = time.perf_counter()
    result = agree(
        {name: one for name, one in tables_of(data, list(specs)).items() if name in specs},
        data.judgments,
        AgreementOptions(
            normalization=data.normalization,
            alpha=ALPHA,
            uncertainty=Uncertainty(
                threads=available_cores(),
                generalize="both" if len(data.evalset.systems) >= MIN_UNITS else "items",
            ),
        ),
    )
    print(f"{data.name}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    questions = list(dict.fromkeys(row.question for row in result.agreement))
    return [_row(task, data.name, question, result, specs) for question in questions]


def _row(
    task: str, data: str, question: str, result: AgreementResult, specs: Mapping[str, str]
) -> Row:
    own = [row for row in result.agreement if row.question == question]
    marks = {}
    for pair in result.differences:
        if pair.question == question and CHRF in pair.metrics and pair.p_adjusted < ALPHA:
            [other] = set(pair.metrics) - {CHRF}
            is_higher = (pair.delta > 0) == (pair.metrics[0] == other)
            marks[specs[other]] = " ↑" if is_higher else " ↓"
    values = {specs[row.metric]: row.value for row in own}
    return Row(task, data, question, values, marks, max(row.n for row in own))


def figures(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    shown = []
    for row in rows:
        best = max(names, key=lambda name: row.values[name])
        cells = [
            (f"**{row.values[name]:.3f}**" if name == best else f"{row.values[name]:.3f}")
            + row.marks.get(name, "")
            for name in names
        ]
        shown.append([f"{row.data} ({row.n:,})", row.question, *cells])
    means = _means(rows, names)
    best = max(names, key=lambda name: means[name])
    shown.append(["*mean of sets*", "", *(_strong(means[name], name == best) for name in names)])
    return [table(["set", "question", *names], shown), ""]


def _means(rows: Sequence[Row], names: Sequence[str]) -> dict[str, float]:
    """The mean over sets of the mean over a set's questions."""
    sets = list(dict.fromkeys(row.data for row in rows))
    return {
        name: float(
            np.mean(
                [np.mean([row.values[name] for row in rows if row.data == one]) for one in sets]
            )
        )
        for name in names
    }


def _strong(value: float, is_best: bool) -> str:
    return f"**{value:.3f}**" if is_best else f"{value:.3f}"


def advice(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """The table of the best metric for each task and question."""
    shown = []
    for task in TASKS:
        own = [row for row in rows if row.task == task.name]
        questions = list(dict.fromkeys(row.question for row in own))
        for question in questions:
            means = _means([row for row in own if row.question == question], names)
            ranked = sorted(names, key=lambda name: -means[name])
            best_ngrams = max(NGRAMS.values(), key=lambda name: means[name])
            shown.append(
                [
                    task.name,
                    question,
                    f"`{ranked[0]}` ({means[ranked[0]]:.3f})",
                    f"`{best_ngrams}` ({means[best_ngrams]:.3f})",
                ]
            )
    return [table(["task", "question", "best", "best without a model"], shown), ""]


def beside_package(evalset: EvalSet, encoder: str) -> str:
    """The largest difference from the package bert-score, if it is installed."""
    try:
        package_score: Any = importlib.import_module("bert_score").score
    except ImportError:
        return "The package bert-score was not installed, so nothing was compared with it.\n"
    pairs = [
        (output, list(item.references))
        for item in evalset
        for output in item.outputs.values()
        if isinstance(output, str) and output.strip()  # the package fails on empty texts
    ][:PAIRS_BESIDE_PACKAGE]
    outputs, references = [output for output, _ in pairs], [texts for _, texts in pairs]
    largest = 0.0
    for idf in (False, True):
        metric = Bertscore(model=encoder, layer=6, idf=idf).prepare(references)
        ours = metric.statistics(Batch.from_texts(outputs, references))[:, :3]
        theirs = package_score(
            outputs, references, model_type=encoder, num_layers=6, idf=idf, nthreads=0
        )
        for place, part in enumerate(theirs):
            largest = max(largest, float(np.abs(ours[:, place] - part.cpu().numpy()).max()))
    return (
        f"Precision, recall and F of {len(pairs)} outputs of Simplicity-DA, with and without idf, differ by at most "
        f"{largest:.0e} from the package bert-score 0.3.13 with the same model and layer.\n"
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("encoder", help="a folder with all-MiniLM-L6-v2")
    arguments.add_argument("table", help="a table of word vectors")
    given = arguments.parse_args()
    encoder = f"bertscore:model={given.encoder}"
    specs = {
        encoder: "bertscore",
        f"{encoder},part=recall": "bertscore, recall",
        f"{encoder},idf=true": "bertscore, idf",
        f"bertscore:model={given.table}": "static table",
        **NGRAMS,
    }
    names = list(specs.values())
    rows = [
        row for task in TASKS for read in task.sets for row in rows_of(task.name, read(), specs)
    ]
    means = _means(rows, names)
    parts = [
        INTRODUCTION.format(
            better=sum(row.values["bertscore"] > row.values[CHRF] for row in rows),
            questions=len(rows),
            mean=means["bertscore"],
            mean_chrf=means[CHRF],
            significant=sum("↑" in row.marks.get("bertscore", "") for row in rows),
            static_better=sum(row.values["static table"] > row.values[CHRF] for row in rows),
            mean_static=means["static table"],
        ),
        *figures(rows, names),
        "## The best metric for each task and question\n",
        *advice(rows, names),
        "The numbers are r, as means over the sets of a task that ask the question; *without a model* means "
        "without embeddings. Chance may explain most of the differences; the arrows in the table above "
        "mark the significant differences from chrF.\n",
        "## Compared with the package bert-score\n",
        beside_package(human_data.simplicity_da().evalset, given.encoder),
    ]
    write_page("embeddings", "\n".join(parts))
