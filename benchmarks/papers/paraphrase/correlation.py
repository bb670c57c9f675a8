"""What rewriting references does to agreement with people: by segment, and by document as in the paper."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from benchmarks.agreement.human_data import HumanData
from wellput.agreement.correlations import document_values, draw_documents
from wellput.agreement.panel import mean_of
from wellput.api.score import score
from wellput.core.estimates import ScoreTable
from wellput.core.evalset import EvalSet
from wellput.core.metric import Floats, Metric
from wellput.core.work import available_cores
from wellput.language.paraphrase.filters import Filter, Query
from wellput.language.paraphrase.references import Paraphraser
from wellput.metrics.paraphrased import Paraphrased
from wellput.metrics.registry import create

RESAMPLES = 2000


@dataclass(frozen=True)
class RandomFilter:
    """Lets as large a share pass as another filter does, whatever the context."""

    share: float
    seed: int = 1
    name: str = "random"

    @property
    def threshold(self) -> float:
        return 1 - self.share

    def probabilities(self, queries: Sequence[Query]) -> Floats:
        return np.random.default_rng([self.seed, len(queries)]).random(len(queries))


def with_references(data: HumanData, n: int) -> HumanData:
    """The same with the first n references of every item."""
    items = [item._replace(references=item.references[:n]) for item in data.evalset]
    return replace(data, evalset=EvalSet(items))


def with_filter(paraphraser: Paraphraser, chosen: Filter, name: str) -> Paraphraser:
    rewriter = replace(paraphraser.rewriter, filter=chosen, threshold=None)
    return replace(paraphraser, method=name, rewriter=rewriter, fingerprint=name)


def counts(paraphraser: Paraphraser, data: HumanData) -> tuple[int, int]:
    """Substitutions kept and proposed."""
    _, made = paraphraser.rewrite_items(data.evalset.items)
    return sum(one.kept for one in made), len(made)


def tables(
    data: HumanData, metrics: Sequence[str], paraphrasers: Mapping[str, Paraphraser]
) -> dict[str, dict[str, ScoreTable]]:
    """By metric: on the references as they are ("none"), and as each method rewrites them."""
    asked: list[Metric] = []
    for own in map(create, metrics):
        asked += [own, *(Paraphrased(own, p) for p in paraphrasers.values())]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*tokenized already", category=UserWarning)
        scored = score(data.evalset, asked, keep_rows=True, threads=available_cores())
    found = list(scored.tables.values())
    n = len(paraphrasers) + 1
    return {
        metric: dict(zip(["none", *paraphrasers], found[i * n : (i + 1) * n], strict=True))
        for i, metric in enumerate(metrics)
    }


def human_table(data: HumanData, question: str, like: ScoreTable) -> ScoreTable:
    """The mean judgment of every output."""
    row = {system: i for i, system in enumerate(like.systems)}
    column = {item: i for i, item in enumerate(like.items)}
    statistics = np.zeros((len(row), len(column), 2))
    for judgment in data.judgments:
        if judgment.question == question:
            statistics[row[judgment.system], column[judgment.item]] += (judgment.value, 1)
    return replace(
        like,
        scorer=question,
        statistics=statistics,
        present=statistics[..., 1] > 0,
        aggregate=mean_of,
        segment=mean_of,
    )


def segment_changes(
    found: Mapping[str, ScoreTable], human: ScoreTable, *, seed: int = 1
) -> dict[str, tuple[float, float, float, float]]:
    """By method: r, and its difference from the references as they are with a 95% interval, items drawn."""
    cells = human.present & found["none"].present
    items = np.broadcast_to(np.arange(cells.shape[1]), cells.shape)[cells]
    people = human.scores[cells]
    scores = {name: np.nan_to_num(table.scores[cells]) for name, table in found.items()}
    rng = np.random.default_rng(seed)
    by_item = np.argsort(items, kind="stable")
    begins = np.searchsorted(items[by_item], np.arange(cells.shape[1] + 1))
    drawn: dict[str, list[float]] = {name: [] for name in scores}
    for _ in range(RESAMPLES):
        weights = np.bincount(
            rng.integers(0, cells.shape[1], cells.shape[1]), minlength=cells.shape[1]
        )
        own = np.empty(len(items))
        own[by_item] = np.repeat(weights, np.diff(begins))
        for name, values in scores.items():
            drawn[name].append(_weighted_r(values, people, own))
    whole = np.ones(len(items))
    r = {name: _weighted_r(values, people, whole) for name, values in scores.items()}
    base = np.array(drawn["none"])
    result = {}
    for name, resampled in drawn.items():
        low, high = np.quantile(np.array(resampled) - base, [0.025, 0.975])
        result[name] = (r[name], r[name] - r["none"], float(low), float(high))
    return result


def _weighted_r(x: Floats, y: Floats, weights: Floats) -> float:
    total = weights.sum()
    dx, dy = x - weights @ x / total, y - weights @ y / total
    return float((weights * dx) @ dy / np.sqrt((weights * dx) @ dx * ((weights * dy) @ dy)))


@dataclass(frozen=True)
class Documents:
    """The paper's experiment for one method: mean r over documents, runs won against the original
    references, and the paired t-test."""

    score: float
    r: float
    delta: float
    won: int
    p_value: float


def document_experiment(
    found: Mapping[str, ScoreTable], human: ScoreTable, *, size: int = 300, runs: int = 10
) -> dict[str, Documents]:
    cells = human.present & found["none"].present
    drawn = draw_documents(cells, size=size, documents=runs, seed=1)
    values = {
        name: document_values(table, human, cells, drawn, "pearson")
        for name, table in found.items()
    }
    result = {}
    for name, table in found.items():
        test = stats.ttest_rel(values[name], values["none"])
        systems = [float(table.aggregate(row.sum(axis=0))) for row in table.statistics]
        result[name] = Documents(
            score=float(np.mean(systems)),
            r=float(values[name].mean()),
            delta=float((values[name] - values["none"]).mean()),
            won=int((values[name] > values["none"]).sum()),
            p_value=float(test.pvalue),
        )
    return result
