"""How far a metric agrees with people: a correlation coefficient, and the same coefficient without
each system, item and cell in turn, from which its interval is computed. A cell is one system's output
for one item.

`MetricAgainstPeople` holds these coefficients. At segment level, segment scores are correlated with
mean ratings, pooled or averaged by item or by system. At system level, systems' scores are correlated;
a system's score is computed from the summed statistics of its segments. Only cells that have a rating
and a score of every metric are used, so that all metrics are compared on the same outputs. Scores of
metrics where lower is better are negated.

At document level, items with the same `document` form a document. If items have none, documents of n
segments are drawn at random (Kauchak & Barzilay 2006, section 5). Each document gives every system a
score, from the sum of its segments' statistics, and a mean rating. The coefficient is computed over
systems in each document, and its mean over documents is reported. Drawn documents share systems and
items, so they are not independent: the interval comes from leaving systems and items out of the mean,
one by one. The items' own documents share only systems, so there systems and documents are left out.

Where items have documents (or another kind of cluster), whole documents are left out instead of items,
at every level.

In the functions, `x` has the scores of a metric and `z` the mean ratings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.result import Agreement, AgreementLevel
from wellput.core.clusters import DOCUMENT
from wellput.core.errors import InputError, counted
from wellput.core.estimates import Estimate, Generalize, ScoreTable, with_equal_ties
from wellput.core.metric import Floats
from wellput.stats.chance_level import ChanceLevel, chance_level_of, chance_level_of_segments
from wellput.stats.correlation import (
    ACCURACY_COEFFICIENTS,
    Coefficient,
    Correlation,
    correlation_value,
)
from wellput.stats.correlation_intervals import (
    leave_out,
    leave_out_of_scores,
    scale_of,
    sums_by_cluster,
)
from wellput.stats.soft_accuracy import spa, spa_by_normal_curve, spa_leave_one_out
from wellput.stats.two_way_jackknife import LeftOutClusters, TableFigure


def cells_of_all(tables: Sequence[ScoreTable], human: ScoreTable) -> NDArray[np.bool_]:
    """The cells for which people and every metric have a defined score."""
    present = human.present.copy()
    for table in tables:
        present &= ~np.isnan(table.scores)
    return present


def undefined_cells(tables: Sequence[ScoreTable], human: ScoreTable) -> dict[str, int]:
    """The number of judged outputs without a score, for each metric that has such outputs."""
    counts = {table.scorer: int((human.present & np.isnan(table.scores)).sum()) for table in tables}
    return {scorer: n for scorer, n in counts.items() if n}


def segment_scores(table: ScoreTable, cells: NDArray[np.bool_]) -> Floats:
    """Segment scores, negated where lower is better; NaN outside the cells."""
    return with_higher_better(table, np.where(cells, table.scores, np.nan))


def system_scores(table: ScoreTable, cells: NDArray[np.bool_]) -> Floats:
    """Each system's score from its summed statistics over the cells, NaN where it has none."""
    sums = np.where(cells[..., None], table.statistics, 0.0).sum(axis=1)
    scores = np.where(cells.any(axis=1), table.aggregate(sums), np.nan)
    return with_higher_better(table, with_equal_ties(scores))


def system_scores_without(
    table: ScoreTable, cells: NDArray[np.bool_], codes: NDArray[np.intp]
) -> Floats:
    """The systems' scores without the items of each cluster, NaN where a system has no other items.
    `codes` has the number of each item's cluster; the result has shape (clusters, systems)."""
    statistics = np.where(cells[..., None], table.statistics, 0.0)
    cluster_sums = np.stack(
        [sums_by_cluster(column, codes) for column in np.moveaxis(statistics, 2, 0)], axis=-1
    )
    remaining = np.moveaxis(statistics.sum(axis=1, keepdims=True) - cluster_sums, 1, 0)
    has_others = (cells.sum(axis=1, keepdims=True) - sums_by_cluster(cells, codes)).T > 0
    scores = np.where(has_others, table.aggregate(remaining), np.nan)
    return with_higher_better(table, with_equal_ties(scores))


def with_higher_better(table: ScoreTable, scores: Floats) -> Floats:
    """The scores, negated where lower is better."""
    return -scores if table.higher_is_better is False else scores


Cells = NDArray[np.bool_]
"""Systems × items: whether the system's output for the item is used."""


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """For which other systems or items intervals and p-values hold, and their confidence.
    `n_resamples` is used only by tests that resample, such as permutation tests."""

    generalize: Generalize = "both"
    n_resamples: int = 1000
    confidence: float = 0.95
    seed: int = 12345
    threads: int = 1


@dataclass(frozen=True, eq=False)
class MetricAgainstPeople:
    """One metric compared with people by one coefficient. `estimate` has its value, `figure` also the
    values without each system, item and cell (None where the coefficient is undefined), and `chance`
    the value that a metric without knowledge reaches."""

    metric: str
    question: str
    level: AgreementLevel
    correlation: Correlation
    estimate: Estimate
    figure: TableFigure | None
    chance: ChanceLevel

    def agreement(self, uncertainty: Uncertainty) -> Agreement:
        """The agreement with its interval and p-value."""
        estimate = self.estimate
        inferred = self._inferred(uncertainty)
        return Agreement(
            metric=self.metric,
            question=self.question,
            level=self.level,
            average=self.correlation.average if self.level == "segment" else None,
            coefficient=self.correlation.coefficient,
            value=estimate.value,
            low=inferred.low,
            high=inferred.high,
            p_value=inferred.p_value,
            null=self.chance.null,
            chance_low=self.chance.low,
            chance_high=self.chance.high,
            n=estimate.n or 0,
            method=inferred.method,
            note=_note(estimate),
        )

    def _inferred(self, uncertainty: Uncertainty) -> Estimate:
        if self.figure is None:
            return Estimate(math.nan, method=self.estimate.method)
        return self.figure.estimate(
            generalize=uncertainty.generalize,
            null=self.chance.null,
            scale=scale_of(self.correlation, self.figure.n_systems),
            confidence=uncertainty.confidence,
        )

    def minus(self, other: MetricAgainstPeople, uncertainty: Uncertainty) -> Estimate:
        """This metric's coefficient minus the other's, with interval and p-value."""
        if self.figure is None or other.figure is None:
            return Estimate(math.nan, p_value=math.nan, method="undefined")
        difference = (self.figure - other.figure).estimate(
            generalize=uncertainty.generalize,
            confidence=uncertainty.confidence,
        )
        if difference.low is None or difference.high is None:
            return difference
        # An accuracy lies between 0 and 1, any other coefficient between −1 and 1.
        largest_difference = 1.0 if self.correlation.coefficient in ACCURACY_COEFFICIENTS else 2.0
        return replace(
            difference,
            low=max(difference.low, -largest_difference),
            high=min(difference.high, largest_difference),
        )


def correlate_segments(
    table: ScoreTable,
    human: ScoreTable,
    cells: Cells,
    correlation: Correlation,
    seed: int,
    threads: int = 1,
) -> MetricAgainstPeople:
    """Segment scores against mean ratings."""
    x, z = segment_scores(table, cells), segment_scores(human, cells)
    return _against_people(
        table,
        human,
        correlation,
        correlation_value(x, z, correlation),
        lambda _: leave_out(x, z, correlation, table.clusters),
        lambda: chance_level_of_segments(x, z, correlation, seed=seed, threads=threads),
    )


def correlate_systems(
    table: ScoreTable,
    human: ScoreTable,
    cells: Cells,
    coefficient: Coefficient,
    seed: int,
    *,
    with_unjudged: bool = False,
) -> MetricAgainstPeople:
    """Systems' scores against their mean ratings. With `with_unjudged`, a metric's score of a system
    comes from all its outputs, judged or not. This has no effect on the coefficient `spa` (soft
    pairwise accuracy), which uses judged outputs only."""
    if coefficient == "spa":
        return _correlate_by_spa(table, human, cells, seed)
    metric_cells = _scored_cells(table, cells) if with_unjudged else cells
    x, z = system_scores(table, metric_cells), system_scores(human, cells)
    return _against_people(
        table,
        human,
        Correlation("system", coefficient=coefficient),
        vector_correlation(x, z, coefficient),
        lambda _: system_level_figure(table, human, cells, coefficient, metric_cells=metric_cells),
        lambda: chance_level_of(
            lambda scores: vector_correlation(scores[:, 0], z, coefficient).value,
            x[:, None],
            coefficient,
            seed=seed,
        ),
    )


def _correlate_by_spa(
    table: ScoreTable, human: ScoreTable, cells: Cells, seed: int
) -> MetricAgainstPeople:
    """Soft pairwise accuracy of one metric, from segment scores and mean ratings."""
    x, z = segment_scores(table, cells), segment_scores(human, cells)
    # The chance level needs the value for many random scores: `spa_by_normal_curve` is fast.
    return _against_people(
        table,
        human,
        Correlation("system", coefficient="spa"),
        spa(x, z),
        lambda value: spa_leave_one_out(x, z, value),
        lambda: chance_level_of(lambda scores: spa_by_normal_curve(scores, z), x, "spa", seed=seed),
    )


def _against_people(
    table: ScoreTable,
    human: ScoreTable,
    correlation: Correlation,
    estimate: Estimate,
    figure: Callable[[float], TableFigure],
    chance: Callable[[], ChanceLevel],
) -> MetricAgainstPeople:
    """Puts the parts together. `figure` makes the `TableFigure` from the value, and `chance` the chance
    level; both are called only if the value is defined."""
    is_defined = not math.isnan(estimate.value)
    left_out_figure = (
        replace(figure(estimate.value), clusters=table.clusters) if is_defined else None
    )
    return MetricAgainstPeople(
        table.scorer,
        human.scorer,
        correlation.level,
        correlation,
        estimate,
        left_out_figure,
        chance() if is_defined else ChanceLevel(None),
    )


def _scored_cells(table: ScoreTable, cells: Cells) -> Cells:
    """The outputs of the judged systems that a metric has a score of, judged or not."""
    scored: Cells = ~np.isnan(table.scores) & cells.any(axis=1, keepdims=True)
    return scored


def system_level_figure(
    table: ScoreTable,
    human: ScoreTable,
    cells: Cells,
    coefficient: Coefficient,
    *,
    metric_cells: Cells | None = None,
) -> TableFigure:
    """The coefficient of the systems' scores without each system, item and cell, and without each
    cluster where items have some. `metric_cells` are the cells that the metric's scores use, if these
    differ from the cells of people."""
    scored = cells if metric_cells is None else metric_cells
    clusters = table.clusters

    def without(codes: NDArray[np.intp]) -> TableFigure:
        return leave_out_of_scores(
            (system_scores(table, scored), system_scores_without(table, scored, codes)),
            (system_scores(human, cells), system_scores_without(human, cells, codes)),
            sums_by_cluster(scored | cells, codes) > 0,
            coefficient,
        )

    by_items = without(np.arange(cells.shape[1]))
    if clusters is None:
        return by_items
    by_clusters = without(clusters.codes)
    left_out = LeftOutClusters(by_clusters.items, by_clusters.cells)
    return replace(by_items, clusters=clusters, left_out=left_out)


def vector_correlation(x: Floats, z: Floats, coefficient: Coefficient) -> Estimate:
    """The coefficient of two vectors, a score for each system."""
    correlation = Correlation("system", coefficient=coefficient)
    return correlation_value(x[:, None], z[:, None], correlation)


def _note(estimate: Estimate) -> str:
    """Why a value is undefined, or the tie threshold that was chosen for `acc-t`; else empty."""
    return estimate.method if np.isnan(estimate.value) or "ties within" in estimate.method else ""


def draw_documents(cells: Cells, *, size: int, documents: int, seed: int) -> list[NDArray[np.intp]]:
    """The places of the items of each document, drawn at random from the judged items. No document has
    an item twice."""
    judged = np.flatnonzero(cells.any(axis=0))
    if size > len(judged):
        raise InputError(
            f"A document of {counted(size, 'segment')} cannot be drawn from "
            f"{counted(len(judged), 'judged item')}: "
            f"give document_size={max(1, len(judged) // 2)} or less."
        )
    rng = np.random.default_rng(seed)
    return [np.sort(rng.choice(judged, size=size, replace=False)) for _ in range(documents)]


def own_documents(table: ScoreTable, cells: Cells) -> list[NDArray[np.intp]] | None:
    """The places of the judged items of each document; None where items have no documents."""
    clusters = table.clusters
    if clusters is None or clusters.unit != DOCUMENT:
        return None
    judged = cells.any(axis=0)
    codes = clusters.codes
    order = np.flatnonzero(judged)[np.argsort(codes[judged], kind="stable")]
    starts = np.flatnonzero(np.diff(codes[order])) + 1
    return [np.sort(places) for places in np.split(order, starts)]


def correlate_own_documents(
    table: ScoreTable,
    human: ScoreTable,
    cells: Cells,
    documents: list[NDArray[np.intp]],
    coefficient: Coefficient,
    seed: int,
) -> MetricAgainstPeople:
    """The mean over the items' own documents of the coefficient over systems. It is computed like a
    segment-level correlation averaged by item, with documents as items."""
    inside = [_inside(cells, document) for document in documents]
    x, z = (
        np.stack([system_scores(scores, part) for part in inside], axis=1)
        for scores in (table, human)
    )
    correlation = Correlation("segment", "item", coefficient)
    estimate = correlation_value(x, z, correlation)
    is_defined = not math.isnan(estimate.value)
    n = int(np.isfinite(document_values(table, human, cells, documents, coefficient)).sum())
    return MetricAgainstPeople(
        table.scorer,
        human.scorer,
        "document",
        correlation,
        replace(estimate, n=n),
        leave_out(x, z, correlation) if is_defined else None,
        chance_level_of_segments(x, z, correlation, seed=seed) if is_defined else ChanceLevel(None),
    )


def correlate_documents(
    table: ScoreTable,
    human: ScoreTable,
    cells: Cells,
    documents: list[NDArray[np.intp]],
    coefficient: Coefficient,
    seed: int,
) -> MetricAgainstPeople:
    """The mean over drawn documents of the coefficient over systems. Documents where the coefficient
    is undefined are left out."""
    values = document_values(table, human, cells, documents, coefficient)
    defined_documents = [
        _inside(cells, documents[place]) for place in np.flatnonzero(np.isfinite(values))
    ]
    correlation = Correlation("system", coefficient=coefficient)
    if not defined_documents:
        nothing = Estimate(math.nan, method="undefined in every document", n=0)
        return MetricAgainstPeople(
            table.scorer, human.scorer, "document", correlation, nothing, None, ChanceLevel(None)
        )
    x = np.stack([system_scores(table, inside) for inside in defined_documents], axis=1)
    z = np.stack([system_scores(human, inside) for inside in defined_documents], axis=1)
    by_document = [
        system_level_figure(table, human, inside, coefficient) for inside in defined_documents
    ]
    return MetricAgainstPeople(
        table.scorer,
        human.scorer,
        "document",
        correlation,
        Estimate(float(np.nanmean(values)), method=correlation.title, n=len(defined_documents)),
        TableFigure.mean(by_document),
        chance_level_of(
            lambda scores: _mean_coefficient(scores, z, coefficient), x, coefficient, seed=seed
        ),
    )


def document_values(
    table: ScoreTable,
    human: ScoreTable,
    cells: Cells,
    documents: list[NDArray[np.intp]],
    coefficient: Coefficient,
) -> Floats:
    """The coefficient over systems in each document."""
    values = []
    for document in documents:
        inside = _inside(cells, document)
        x, z = system_scores(table, inside), system_scores(human, inside)
        values.append(vector_correlation(x, z, coefficient).value)
    return np.array(values)


def _mean_coefficient(x: Floats, z: Floats, coefficient: Coefficient) -> float:
    return float(
        np.mean(
            [vector_correlation(a, b, coefficient).value for a, b in zip(x.T, z.T, strict=True)]
        )
    )


def _inside(cells: Cells, document: NDArray[np.intp]) -> Cells:
    inside = np.zeros_like(cells)
    inside[:, document] = cells[:, document]
    return inside
