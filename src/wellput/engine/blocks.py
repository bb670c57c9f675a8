"""The noun `BlockStatistics`: what one block of items gives, wherever it was computed.

Scoring maps blocks to block statistics and adds those up in file order (`engine.collect`). A block's
sums do not depend on threads, processes or what else is computed, so neither do the digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.counted import counted
from wellput.core.errors import InputError
from wellput.core.evalset import Batch, Item
from wellput.core.metric import Floats, Metric
from wellput.core.plain_block import PlainBlock, batch_of, ids_of
from wellput.core.progress import OnProgress, Share, unheard
from wellput.engine.needs import check_needs, check_outputs

OnSegments = Callable[[str, Sequence[str], str, Floats], None]
"""Called with (system, item ids, metric, segment scores) for every block."""

MOST_NAMED = 5
"""Ids of items that are kept to say which were left out."""


@dataclass(frozen=True, slots=True)
class Unreferenced:
    """Items without a reference: how many, and the ids of the first."""

    n: int = 0
    first: tuple[str, ...] = ()

    @classmethod
    def of(cls, ids: Sequence[str]) -> Unreferenced:
        return cls(len(ids), tuple(ids[:MOST_NAMED]))

    def plus(self, later: Unreferenced) -> Unreferenced:
        return Unreferenced(self.n + later.n, (*self.first, *later.first)[:MOST_NAMED])


@dataclass(frozen=True)
class BlockColumn:
    """One system's statistics of one block under one metric."""

    sums: Floats
    undefined: int
    rows: Floats | None = None


@dataclass(frozen=True)
class SystemBlock:
    """What one system said in a block. `places` are the rows of the block it has an output for.

    Outputs of items without references have no row in the columns of metrics that need them: `left_out`
    counts them, `referenced_places` are those of `places` that have a row there. A metric for which
    none is left has no column. The numbers of references are those of the others, 0 where there are
    none.
    """

    count: int
    fewest_references: int
    most_references: int
    columns: Mapping[str, BlockColumn]
    places: NDArray[np.intp] | None = None
    left_out: int = 0
    referenced_places: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class BlockStatistics:
    """Systems stand in the order in which the block's items first have them. Ids, places and rows are
    there where rows are kept, `id_hashes` where somebody else looks for repeated ids. `unreferenced`
    are items that lack a reference for some system's output."""

    items: int
    systems: Mapping[str, SystemBlock]
    ids: Sequence[str] = ()
    id_hashes: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    unreferenced: Unreferenced = field(default_factory=Unreferenced)


def block_statistics(
    block: Sequence[Item],
    metrics: Sequence[Metric],
    *,
    threads: int = 1,
    keep_rows: bool = False,
    hash_ids: bool = False,
    on_segments: OnSegments | None = None,
    on_progress: OnProgress = unheard,
) -> BlockStatistics:
    """The statistics of every system in the block under every metric. `on_progress` is called with
    numbers of items; where several metrics are slow, all seem done with the first of them."""
    systems: dict[str, SystemBlock] = {}
    unreferenced: set[str] = set()
    names = _systems_in(block)
    progress = Share(len(block), len(block) * len(names), on_progress)
    for system in names:
        batch = replace(batch_of(system, block, threads=threads), on_rows=progress.add)
        referenced = batch.with_references()
        if referenced is not batch:
            unreferenced |= set(batch.ids).difference(referenced.ids)
        numbers = set(map(len, referenced.references))
        places = _places(system, block, len(batch)) if keep_rows else None
        systems[system] = SystemBlock(
            len(batch),
            min(numbers, default=0),
            max(numbers, default=0),
            _columns(metrics, batch, referenced, keep_rows, on_segments),
            places,
            len(batch) - len(referenced),
            None if places is None else places[list(map(bool, batch.references))],
        )
    progress.finish()
    return BlockStatistics(
        len(block),
        systems,
        ids_of(block) if keep_rows else (),
        _native.text_hashes(ids_of(block)) if hash_ids else np.empty(0, np.uint64),
        Unreferenced.of([i for i in ids_of(block) if i in unreferenced] if unreferenced else []),
    )


def _systems_in(block: Sequence[Item]) -> list[str]:
    if isinstance(block, PlainBlock):
        return list(block.outputs)
    known: dict[str, None] = {}
    for item in block:
        if not item.outputs.keys() <= known.keys():
            known |= dict.fromkeys(item.outputs)
    return list(known)


def _columns(
    metrics: Sequence[Metric],
    batch: Batch,
    referenced: Batch,
    keep_rows: bool,
    on_segments: OnSegments | None,
) -> dict[str, BlockColumn]:
    """The columns of all metrics for which there is something to score."""
    columns: dict[str, BlockColumn] = {}
    for metric in metrics:
        check_outputs(metric, batch)
        seen = referenced if "references" in metric.needs else batch
        if len(seen):
            columns[metric.name] = _column(metric, seen, keep_rows, on_segments)
    return columns


def _column(
    metric: Metric, batch: Batch, keep_rows: bool, on_segments: OnSegments | None
) -> BlockColumn:
    check_needs(metric, batch)
    rows = metric.statistics(batch)
    if len(rows) != len(batch):
        raise InputError(
            f"The metric {metric.name} gave {counted(len(rows), 'row')} of statistics for "
            f"{counted(len(batch), 'output')}; it must give one for each."
        )
    undefined = 0
    if on_segments is not None or not getattr(metric, "is_always_defined", False):
        scores = metric.segment_score(rows)
        undefined = int(np.isnan(scores).sum())
        if on_segments is not None:
            on_segments(batch.system, batch.ids, metric.name, scores)
    return BlockColumn(rows.sum(axis=0), undefined, rows if keep_rows else None)


def _places(system: str, block: Sequence[Item], count: int) -> NDArray[np.intp]:
    places = np.arange(len(block), dtype=np.intp)
    if count < len(block):
        places = places[[system in item.outputs for item in block]]
    return places
