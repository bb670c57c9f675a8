"""Document level: n segments drawn at random make a document (Kauchak & Barzilay 2006, section 5).

Each document gives every system a score, from the sum of its segments' statistics, and a mean rating;
the coefficient is taken over systems, document by document. Its mean over documents is reported with a
t interval, and two metrics are compared by a paired t-test over the same documents. Documents overlap,
so the test is only as good as it was in the paper: it tells whether the draw of segments matters.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.cells import system_scores
from wellput.agreement.intervals import vector_correlation
from wellput.core.counted import counted
from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.core.table import Estimate, ScoreTable
from wellput.stats.correlation import Coefficient


def draw_documents(
    cells: NDArray[np.bool_], *, size: int, documents: int, seed: int
) -> list[NDArray[np.intp]]:
    """The items of each document, without repetition within one; only items somebody judged."""
    judged = np.flatnonzero(cells.any(axis=0))
    if size > len(judged):
        raise InputError(
            f"A document of {counted(size, 'segment')} cannot be drawn from "
            f"{counted(len(judged), 'judged item')}: "
            f"give --document-size {max(1, len(judged) // 2)} or less."
        )
    rng = np.random.default_rng(seed)
    return [np.sort(rng.choice(judged, size=size, replace=False)) for _ in range(documents)]


def document_values(
    table: ScoreTable,
    human: ScoreTable,
    cells: NDArray[np.bool_],
    documents: list[NDArray[np.intp]],
    coefficient: Coefficient,
) -> Floats:
    """The coefficient over systems in each document."""
    values: list[float] = []
    for document in documents:
        inside = np.zeros_like(cells)
        inside[:, document] = cells[:, document]
        x, z = system_scores(table, inside), system_scores(human, inside)
        values.append(vector_correlation(x, z, coefficient).value)
    return np.array(values)


def mean_with_interval(values: Floats, *, confidence: float) -> Estimate:
    """The mean over documents with its t interval."""
    defined = values[~np.isnan(values)]
    n = len(defined)
    if n == 0:
        return Estimate(math.nan, method="undefined in every document", n=0)
    mean = float(defined.mean())
    if n < 2:
        return Estimate(mean, method="one document: no interval", n=n)
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * float(defined.std(ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half, method="mean over documents, t interval", n=n)


def paired_t(a: Floats, b: Floats) -> Estimate:
    """The mean difference over documents, with the two-sided p of a paired t-test."""
    differences = (a - b)[~np.isnan(a - b)]
    n = len(differences)
    if n < 2:
        return Estimate(math.nan, p_value=math.nan, method="fewer than two documents", n=n)
    mean, spread = float(differences.mean()), float(differences.std(ddof=1))
    if spread == 0:
        return Estimate(mean, p_value=1.0 if mean == 0 else math.nan, method="paired t", n=n)
    from scipy.special import stdtr

    p_value = 2 * float(stdtr(n - 1, -abs(mean) / (spread / math.sqrt(n))))
    return Estimate(mean, p_value=p_value, method="paired t", n=n)
