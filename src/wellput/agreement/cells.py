"""Metric and judges side by side: systems × items arrays over the cells that both have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.core.table import ScoreTable


def common_cells(tables: Sequence[ScoreTable], human: ScoreTable) -> NDArray[np.bool_]:
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
    """Segment scores, turned round where lower is better; NaN outside the cells."""
    return oriented(table, np.where(cells, table.scores, np.nan))


def system_scores(table: ScoreTable, cells: NDArray[np.bool_]) -> Floats:
    """Each system's score from its summed statistics over the cells, NaN where it has none."""
    sums = np.where(cells[..., None], table.statistics, 0.0).sum(axis=1)
    return oriented(table, np.where(cells.any(axis=1), table.aggregate(sums), np.nan))


def system_scores_without_items(table: ScoreTable, cells: NDArray[np.bool_]) -> Floats:
    """The systems' scores without each item (items, systems), NaN where a system has no other."""
    statistics = np.where(cells[..., None], table.statistics, 0.0)
    left = np.moveaxis(statistics.sum(axis=1, keepdims=True) - statistics, 1, 0)
    has_others = (cells.sum(axis=1, keepdims=True) - cells).T > 0
    return oriented(table, np.where(has_others, table.aggregate(left), np.nan))


def oriented(table: ScoreTable, scores: Floats) -> Floats:
    """Higher is better."""
    return -scores if table.higher_is_better is False else scores
