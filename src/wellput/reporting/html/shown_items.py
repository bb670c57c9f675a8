"""`ShownItems`: the items that a report shows, and facts about all items."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wellput.core.evalset import Item
from wellput.core.metric import Metric
from wellput.core.source import EvalSource
from wellput.core.work import OnProgress, ignore_progress
from wellput.metrics.logged import Logged

if TYPE_CHECKING:
    from wellput.core.output_kinds import OutputKind


@dataclass(frozen=True)
class ShownItems:
    """Items in file order with their `places` among all `total` items. `has_references`: every system
    has outputs with references. `has_trees`: all items with references have trees. `kind` is that of
    the outputs, None if all are text. `found` are the requested ids that exist."""

    items: tuple[Item, ...]
    places: tuple[int, ...]
    total: int
    systems: tuple[str, ...]
    has_references: bool
    has_trees: bool
    kind: OutputKind | None
    found: frozenset[str] = frozenset()

    @property
    def is_whole(self) -> bool:
        return len(self.items) == self.total


def draw_shown_items(
    source: EvalSource,
    *,
    size: int,
    seed: int,
    first: Collection[str] = (),
    on_progress: OnProgress = ignore_progress,
) -> ShownItems:
    """At most `size` items drawn at random; items whose ids are in `first` are drawn before the
    others."""
    rng = np.random.default_rng(seed)
    # A heap of the `size` smallest keys. They are negated: heapq removes the smallest entry.
    kept: list[tuple[float, int, Item]] = []
    systems: dict[str, None] = {}
    total = 0
    compared: set[str] = set()
    found: set[str] = set()
    has_trees = True
    kind: OutputKind | None = None
    for block in source.blocks():
        keys = rng.random(len(block))
        for item, key in zip(block, keys.tolist(), strict=True):
            is_first = item.id in first
            if is_first:
                found.add(item.id)
            entry = (-(key - is_first), total, item)
            if len(kept) < size:
                heapq.heappush(kept, entry)
            else:
                heapq.heappushpop(kept, entry)
            total += 1
            systems.update(dict.fromkeys(item.outputs))
            if item.references or item.references_by_system:
                compared.update(name for name in item.outputs if item.references_for(name))
                has_trees &= any(tree is not None for tree in item.trees)
            if kind is None:
                kind = _kind_in(item)
        on_progress(len(block))
    shown = sorted((place, item) for _, place, item in kept)
    return ShownItems(
        items=tuple(item for _, item in shown),
        places=tuple(place for place, _ in shown),
        total=total,
        systems=tuple(systems),
        has_references=bool(systems) and compared == set(systems),
        has_trees=has_trees,
        kind=kind,
        found=frozenset(found),
    )


def _kind_in(item: Item) -> OutputKind | None:
    """The kind of an item's first output that is not text."""
    for output in item.outputs.values():
        if isinstance(output, Mapping):
            from wellput.core.output_kinds import kind_of

            return kind_of(output)
    return None


def logged_scorers(sample: ShownItems) -> list[str]:
    """The scores that a log has for every system's outputs."""
    named: dict[str, set[str]] = {system: set() for system in sample.systems}
    for item in sample.items:
        for system, scores in item.logged.items():
            named[system] |= set(scores)
    return sorted(set.intersection(*named.values())) if named else []


def usual_metrics(sample: ShownItems, *, has_judgments: bool) -> list[str | Metric]:
    """The metrics that these items allow; for a log, the scores in it. With judgments also the
    sentinels, which show how far a useless metric gets."""
    logged: list[str | Metric] = [Logged(scorer) for scorer in logged_scorers(sample)]
    sentinels = ",length-only,random" if has_judgments else ""
    if logged:
        return [*logged, f"{'exact,chrf,' * sample.has_references}length{sentinels}"]
    return [_text_metrics(sample, sentinels)]


def _text_metrics(sample: ShownItems, sentinels: str) -> str:
    if sample.kind is not None:
        return sample.kind.usual_metrics
    if not sample.has_references:
        return f"length,ttr,distinct{sentinels}"
    trees = ",sta,gta,quality" if sample.has_trees else ""
    return f"bleu,chrf,ter,ssa,gsa{trees}{sentinels}"
