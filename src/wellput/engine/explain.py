"""Drawings of what is wrong in each system's worst items, for metrics that can draw it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol, runtime_checkable

import numpy as np

from wellput.core.evalset import Batch, Item
from wellput.core.metric import Metric
from wellput.core.source import EvalSource
from wellput.engine.result import ScoreResult

WORST_ITEMS_SHOWN = 3
"""Items shown for each system and metric."""


@runtime_checkable
class Explains(Protocol):
    """A metric that can draw what is wrong."""

    def explain(self, batch: Batch) -> list[str]:
        """A text of several lines for each row, empty if nothing is wrong."""
        ...


def explain(
    source: EvalSource,
    metrics: Sequence[Metric],
    result: ScoreResult,
    *,
    worst: int = WORST_ITEMS_SHOWN,
) -> Iterator[str]:
    """A heading and a drawing for each of the worst items; the result must have kept its rows."""
    for metric in metrics:
        if not isinstance(metric, Explains):
            yield f"{metric.name} has nothing to explain.\n"
            continue
        table = result.table(metric.name)
        ascending = table.scores if metric.higher_is_better else -table.scores
        for row, system in enumerate(table.systems):
            order = [int(place) for place in np.argsort(ascending[row], kind="stable")]
            places = [place for place in order if not np.isnan(ascending[row, place])][:worst]
            items = _items_at(source, places)
            batch, counts = Batch.of(system, [items[place] for place in places]).samples_apart()
            drawn = iter(metric.explain(batch))
            for place, count in zip(places, counts or [1] * len(places), strict=True):
                text = "\n".join(filter(None, islice(drawn, count)))
                if not text:
                    continue
                shown = f"{table.scores[row, place]:.3f}".replace("-", "−")
                where = f"{metric.name} of {system}, item {table.items[place]}"
                yield f"{where}: {shown}"
                yield f"{text}\n"


def _items_at(source: EvalSource, places: Sequence[int]) -> dict[int, Item]:
    """The items at these places; reads the source again, up to the last of them."""
    found: dict[int, Item] = {}
    wanted = set(places)
    start = 0
    for block in source.blocks():
        found |= {p: block[p - start] for p in wanted if start <= p < start + len(block)}
        start += len(block)
        if len(found) == len(wanted):
            break
    return found
