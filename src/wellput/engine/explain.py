"""Text drawings that show what is wrong in each system's worst items, for metrics that can make
them."""

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
"""The number of items that are shown for each system and metric."""


@runtime_checkable
class Explains(Protocol):
    """A metric that can show what is wrong in an output."""

    def explain(self, batch: Batch) -> list[str]:
        """For each row of the batch a text of several lines; empty if nothing is wrong."""
        ...


def explain(
    source: EvalSource,
    metrics: Sequence[Metric],
    result: ScoreResult,
    *,
    worst: int = WORST_ITEMS_SHOWN,
) -> Iterator[str]:
    """A heading and a drawing for each of the `worst` items with the lowest quality, by metric and
    system. The result must have been scored with `keep_rows`."""
    for metric in metrics:
        if not isinstance(metric, Explains):
            yield f"{metric.name} has nothing to explain.\n"
            continue
        table = result.table(metric.name)
        quality = table.scores if metric.higher_is_better else -table.scores
        for row, system in enumerate(table.systems):
            order = [int(place) for place in np.argsort(quality[row], kind="stable")]
            places = [place for place in order if not np.isnan(quality[row, place])][:worst]
            items = _items_at(source, places)
            batch, counts = Batch.of(system, [items[place] for place in places]).samples_apart()
            drawings = iter(metric.explain(batch))
            for place, count in zip(places, counts or [1] * len(places), strict=True):
                text = "\n".join(filter(None, islice(drawings, count)))
                if not text:
                    continue
                score = f"{table.scores[row, place]:.3f}".replace("-", "−")
                where = f"{metric.name} of {system}, item {table.items[place]}"
                yield f"{where}: {score}"
                yield f"{text}\n"


def _items_at(source: EvalSource, places: Sequence[int]) -> dict[int, Item]:
    """The items at these places, by place; reads the source again, up to the last of these items."""
    items: dict[int, Item] = {}
    wanted = set(places)
    start = 0
    for block in source.blocks():
        items |= {p: block[p - start] for p in wanted if start <= p < start + len(block)}
        start += len(block)
        if len(items) == len(wanted):
            break
    return items
