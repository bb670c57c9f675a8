"""How far a metric agrees with people: one coefficient, also without each system, item and cell.

`MetricAgainstPeople` holds these coefficients. At segment level, segment scores are correlated with
mean ratings, pooled or averaged by item or by system. At system level, systems' scores are
correlated, each computed from summed statistics. Only cells that people and all metrics have count,
so that all metrics are compared on the same outputs. Metrics where lower is better are negated.

At document level, a document is the items that have the same document, or n segments drawn at random
where items have none (Kauchak & Barzilay 2006, section 5). Each document gives every system a score,
from the sum of its segments' statistics, and a mean rating. The coefficient is computed over systems in
each document, and its mean over documents is reported. Drawn documents share systems and items, so they
are not independent: the interval comes from leaving systems and items out of the mean, one by one. The
items' own documents share only systems: systems and documents are left out.

Where items have documents (or another cluster), these take the items' place at every level.
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
from wellput.core.estimates import Estimate, Generalize, ScoreTable
from wellput.core.metric import Floats
from wellput.stats.chance_level import ChanceLevel, chance_of, chance_of_segments
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
    """How many judged outputs each metric has no score for, where there are any."""
    counts = {table.scorer: int((human.present & np.isnan(table.scores)).sum()) for table in tables}
    return {scorer: n for scorer, n in counts.items() if n}


def segment_scores(table: ScoreTable, cells: NDArray[np.bool_]) -> Floats:
    """Segment scores, negated where lower is better; NaN outside the cells."""
    return oriented(table, np.where(cells, table.scores, np.nan))


def system_scores(table: ScoreTable, cells: NDArray[np.bool_]) -> Floats:
    """Each system's score from its summed statistics over the cells, NaN where it has none."""
    sums = np.where(cells[..., None], table.statistics, 0.0).sum(axis=1)
    return oriented(table, np.where(cells.any(axis=1), table.aggregate(sums), np.nan))


def system_scores_without(
    table: ScoreTable, cells: NDArray[np.bool_], codes: NDArray[np.intp]
) -> Floats:
    """The systems' scores without the items of each code (codes, systems), NaN where a system has no
    others."""
    statistics = np.where(cells[..., None], table.statistics, 0.0)
    parts = np.stack(
        [sums_by_cluster(column, codes) for column in np.moveaxis(statistics, 2, 0)], axis=-1
    )
    left = np.moveaxis(statistics.sum(axis=1, keepdims=True) - parts, 1, 0)
    has_others = (cells.sum(axis=1, keepdims=True) - sums_by_cluster(cells, codes)).T > 0
    return oriented(table, np.where(has_others, table.aggregate(left), np.nan))


def oriented(table: ScoreTable, scores: Floats) -> Floats:
    """The scores, negated where lower is better."""
    return -scores if table.higher_is_better is False else scores


Cells = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """What intervals and p-values hold for, and their confidence. Only the named tests that draw or
    exchange use resamples."""

    generalize: Generalize = "both"
    n_resamples: int = 1000
    confidence: float = 0.95
    seed: int = 12345
    threads: int = 1


@dataclass(frozen=True, eq=False)
class MetricAgainstPeople:
    """One metric compared with people by one coefficient; `figure` is None where that is undefined."""

    metric: str
    question: str
    level: AgreementLevel
    correlation: Correlation
    estimate: Estimate
    figure: TableFigure | None
    chance: ChanceLevel

    def agreement(self, uncertainty: Uncertainty) -> Agreement:
        """The agreement with its interval and p-value."""
        found = self.estimate
        inferred = self._inferred(uncertainty)
        return Agreement(
            metric=self.metric,
            question=self.question,
            level=self.level,
            average=self.correlation.average if self.level == "segment" else None,
            coefficient=self.correlation.coefficient,
            value=found.value,
            low=inferred.low,
            high=inferred.high,
            p_value=inferred.p_value,
            null=self.chance.null,
            chance_low=self.chance.low,
            chance_high=self.chance.high,
            n=found.n or 0,
            method=inferred.method,
            note=_note(found),
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
        """The difference of two metrics' coefficients, with interval and p-value."""
        if self.figure is None or other.figure is None:
            return Estimate(math.nan, p_value=math.nan, method="undefined")
        found = (self.figure - other.figure).estimate(
            generalize=uncertainty.generalize,
            confidence=uncertainty.confidence,
        )
        if found.low is None or found.high is None:
            return found
        farthest = 1.0 if self.correlation.coefficient in ACCURACY_COEFFICIENTS else 2.0
        return replace(found, low=max(found.low, -farthest), high=min(found.high, farthest))


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
        lambda: chance_of_segments(x, z, correlation, seed=seed, threads=threads),
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
    """Systems' scores against their mean ratings. With `with_unjudged`, the metric scores all outputs
    that it has of the judged systems; `spa`, which tests differences of judged outputs, does not."""
    if coefficient == "spa":
        return _correlate_by_spa(table, human, cells, seed)
    own = _scored_cells(table, cells) if with_unjudged else cells
    x, z = system_scores(table, own), system_scores(human, cells)
    return _against_people(
        table,
        human,
        Correlation("system", coefficient=coefficient),
        vector_correlation(x, z, coefficient),
        lambda _: left_out_systems(table, human, cells, coefficient, own=own),
        lambda: chance_of(
            lambda scores: vector_correlation(scores[:, 0], z, coefficient).value,
            x[:, None],
            coefficient,
            seed=seed,
        ),
    )


def _correlate_by_spa(
    table: ScoreTable, human: ScoreTable, cells: Cells, seed: int
) -> MetricAgainstPeople:
    x, z = segment_scores(table, cells), segment_scores(human, cells)
    return _against_people(
        table,
        human,
        Correlation("system", coefficient="spa"),
        spa(x, z),
        lambda value: spa_leave_one_out(x, z, value),
        lambda: chance_of(lambda scores: spa_by_normal_curve(scores, z), x, "spa", seed=seed),
    )


def _against_people(
    table: ScoreTable,
    human: ScoreTable,
    correlation: Correlation,
    estimate: Estimate,
    figure: Callable[[float], TableFigure],
    chance: Callable[[], ChanceLevel],
) -> MetricAgainstPeople:
    """`figure(value)` and `chance()` are called only where the value is defined."""
    is_defined = not math.isnan(estimate.value)
    found = replace(figure(estimate.value), clusters=table.clusters) if is_defined else None
    return MetricAgainstPeople(
        table.scorer,
        human.scorer,
        correlation.level,
        correlation,
        estimate,
        found,
        chance() if is_defined else ChanceLevel(None),
    )


def _scored_cells(table: ScoreTable, cells: Cells) -> Cells:
    """The outputs of the judged systems that a metric has a score of, judged or not."""
    scored: Cells = ~np.isnan(table.scores) & cells.any(axis=1, keepdims=True)
    return scored


def left_out_systems(
    table: ScoreTable,
    human: ScoreTable,
    cells: Cells,
    coefficient: Coefficient,
    *,
    own: Cells | None = None,
) -> TableFigure:
    """The coefficient of the systems' scores without each system, item and cell, and without each
    cluster where items have some. `own` are the cells of the metric, if they differ from
    those of people."""
    scored = cells if own is None else own
    clusters = table.clusters

    def without(codes: NDArray[np.intp]) -> TableFigure:
        return leave_out_of_scores(
            (system_scores(table, scored), system_scores_without(table, scored, codes)),
            (system_scores(human, cells), system_scores_without(human, cells, codes)),
            sums_by_cluster(scored | cells, codes) > 0,
            coefficient,
        )

    found = without(np.arange(cells.shape[1]))
    if clusters is None:
        return found
    whole = without(clusters.codes)
    left_out = LeftOutClusters(whole.items, whole.cells)
    return replace(found, clusters=clusters, left_out=left_out)


def vector_correlation(x: Floats, z: Floats, coefficient: Coefficient) -> Estimate:
    """The coefficient of two vectors, a score for each system."""
    correlation = Correlation("system", coefficient=coefficient)
    return correlation_value(x[:, None], z[:, None], correlation)


def _note(estimate: Estimate) -> str:
    """Why a value is undefined, or its tie threshold."""
    return estimate.method if np.isnan(estimate.value) or "ties within" in estimate.method else ""


def draw_documents(cells: Cells, *, size: int, documents: int, seed: int) -> list[NDArray[np.intp]]:
    """The items of each document, all different, among the judged items."""
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
    """The judged items of each document that the items have; None where they have none."""
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
    """The mean over the items' own documents of the coefficient over systems: that of a table of
    systems × documents, averaged by document."""
    inside = [_inside(cells, document) for document in documents]
    x, z = (
        np.stack([system_scores(one, part) for part in inside], axis=1) for one in (table, human)
    )
    correlation = Correlation("segment", "item", coefficient)
    found = correlation_value(x, z, correlation)
    is_defined = not math.isnan(found.value)
    n = int(np.isfinite(document_values(table, human, cells, documents, coefficient)).sum())
    return MetricAgainstPeople(
        table.scorer,
        human.scorer,
        "document",
        correlation,
        replace(found, n=n),
        replace(leave_out(x, z, correlation), clusters=None) if is_defined else None,
        chance_of_segments(x, z, correlation, seed=seed) if is_defined else ChanceLevel(None),
    )


def correlate_documents(
    table: ScoreTable,
    human: ScoreTable,
    cells: Cells,
    documents: list[NDArray[np.intp]],
    coefficient: Coefficient,
    seed: int,
) -> MetricAgainstPeople:
    """The mean over documents of the coefficient over systems. Documents where the coefficient is
    undefined are left out."""
    values = document_values(table, human, cells, documents, coefficient)
    used = [_inside(cells, documents[place]) for place in np.flatnonzero(np.isfinite(values))]
    correlation = Correlation("system", coefficient=coefficient)
    if not used:
        nothing = Estimate(math.nan, method="undefined in every document", n=0)
        return MetricAgainstPeople(
            table.scorer, human.scorer, "document", correlation, nothing, None, ChanceLevel(None)
        )
    x = np.stack([system_scores(table, inside) for inside in used], axis=1)
    z = np.stack([system_scores(human, inside) for inside in used], axis=1)
    by_document = [left_out_systems(table, human, inside, coefficient) for inside in used]
    return MetricAgainstPeople(
        table.scorer,
        human.scorer,
        "document",
        correlation,
        Estimate(float(np.nanmean(values)), method=correlation.title, n=len(used)),
        TableFigure.mean(by_document),
        chance_of(
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
