"""Document level: n segments drawn at random make a document (Kauchak & Barzilay 2006, section 5).

Each document gives every system a score, from the sum of its segments' statistics, and a mean rating;
the coefficient is taken over systems, document by document, and its mean over documents reported.
Documents that are drawn share systems and items, so that they are no sample by themselves, however many
there are: the interval is that of the mean when systems and items are left out one by one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.cells import system_scores
from wellput.agreement.correlate import Cells, Held, left_out_systems, vector_correlation
from wellput.core.counted import counted
from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.core.table import Estimate, ScoreTable
from wellput.stats.chance import Chance, chance_of
from wellput.stats.correlation import Coefficient, Correlation
from wellput.stats.table_figure import TableFigure


def draw_documents(cells: Cells, *, size: int, documents: int, seed: int) -> list[NDArray[np.intp]]:
    """The items of each document, without repetition within one; only items somebody judged."""
    judged = np.flatnonzero(cells.any(axis=0))
    if size > len(judged):
        raise InputError(
            f"A document of {counted(size, 'segment')} cannot be drawn from "
            f"{counted(len(judged), 'judged item')}: "
            f"give document_size={max(1, len(judged) // 2)} or less."
        )
    rng = np.random.default_rng(seed)
    return [np.sort(rng.choice(judged, size=size, replace=False)) for _ in range(documents)]


def hold_documents(
    table: ScoreTable,
    human: ScoreTable,
    cells: Cells,
    documents: list[NDArray[np.intp]],
    coefficient: Coefficient,
    seed: int,
) -> Held:
    """The mean over documents of the coefficient over systems; documents where it is undefined are left
    out."""
    values = document_values(table, human, cells, documents, coefficient)
    used = [_inside(cells, documents[place]) for place in np.flatnonzero(np.isfinite(values))]
    correlation = Correlation("system", coefficient=coefficient)
    if not used:
        nothing = Estimate(math.nan, method="undefined in every document", n=0)
        return Held(
            table.scorer, human.scorer, "document", correlation, nothing, None, Chance(None)
        )
    x = np.stack([system_scores(table, inside) for inside in used], axis=1)
    z = np.stack([system_scores(human, inside) for inside in used], axis=1)
    by_document = [left_out_systems(table, human, inside, coefficient) for inside in used]
    return Held(
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
