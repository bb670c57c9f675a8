"""Human data with our metrics' scores beside the judgments."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.agreement.human_data import HumanData
from wellput.agreement.panel import mean_of
from wellput.api.score import score
from wellput.core.estimates import ScoreTable
from wellput.core.work import available_cores
from wellput.metrics import registry


def tables_of(data: HumanData, metrics: Sequence[str]) -> dict[str, ScoreTable]:
    """The tables of our metrics and of those whose scores came with the data. Metrics that need trees
    get those of our parser, as with `--trees auto`."""
    with warnings.catch_warnings():
        # SFRES, SummEval and others are tokenized already. Only scores of one set are compared.
        warnings.filterwarnings("ignore", message=".*tokenized already", category=UserWarning)
        scored = score(
            data.evalset,
            registry.create_all(metrics),
            trees="auto",
            keep_rows=True,
            threads=available_cores(),
        )
    first = next(iter(scored.tables.values()))
    return {
        **scored.tables,
        **{name: _given_table(name, scores, first) for name, scores in data.given.items()},
    }


def _given_table(
    name: str, scores: Mapping[tuple[str, str], float], like: ScoreTable
) -> ScoreTable:
    """The table of segment scores that came with the data, for the systems and items of `like`; a system's
    score is their mean."""
    values = np.array(
        [[scores.get((system, item), np.nan) for item in like.items] for system in like.systems]
    )
    present = ~np.isnan(values)
    return ScoreTable(
        scorer=name,
        signature="given",
        systems=like.systems,
        items=like.items,
        statistics=np.stack([np.where(present, values, 0.0), present.astype(np.float64)], axis=-1),
        present=present,
        aggregate=mean_of,
        segment=mean_of,
    )
