"""Statistics of every metric for every system, from one pass over the items.

Blocks of items come in file order, and each block's sum is added in that order, so the digits do not
depend on threads or on what else is computed. Only sums are kept, unless rows are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wellput.core.displays import ORIGINAL
from wellput.core.errors import InputError
from wellput.core.evalset import Batch, EvalSource, Item
from wellput.core.metric import Floats, LearnsFromOutputs, Metric, Need
from wellput.core.table import ScoreTable

OnSegments = Callable[[str, Sequence[str], str, Floats], None]
"""Called with (system, item ids, metric, segment scores) for every block."""

OnProgress = Callable[[int], None]
"""Called with the number of items of every block that is done."""


@dataclass
class Column:
    """One system's statistics under one metric."""

    sums: Floats
    undefined: int = 0
    rows: list[Floats] = field(default_factory=list)


@dataclass
class Collection:
    """What one pass gives: sums per (system, metric), and the rows where they were kept."""

    metrics: list[Metric]
    items: int = 0
    ids: list[str] = field(default_factory=list)
    columns: dict[tuple[str, str], Column] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[NDArray[np.intp]]] = field(default_factory=dict)
    fewest_references: int | None = None
    most_references: int = 0

    @property
    def systems(self) -> list[str]:
        return list(self.counts)

    @property
    def references_label(self) -> str:
        """How many references an item has, as sacreBLEU writes it: `1`, or `var`."""
        same = self.fewest_references == self.most_references
        return str(self.most_references) if same else "var"

    def table(self, metric: Metric, signature: str) -> ScoreTable:
        """The kept rows of a metric as systems × items."""
        width = max(
            column.sums.shape[0] for key, column in self.columns.items() if key[1] == metric.name
        )
        statistics = np.zeros((len(self.systems), self.items, width))
        present = np.zeros((len(self.systems), self.items), dtype=np.bool_)
        for row, system in enumerate(self.systems):
            places = np.concatenate(self.places[system])
            present[row, places] = True
            statistics[row, places] = np.concatenate(self.columns[system, metric.name].rows)
        return ScoreTable(
            scorer=metric.name,
            signature=signature,
            systems=tuple(self.systems),
            items=tuple(self.ids),
            statistics=statistics,
            present=present,
            aggregate=metric.score,
            segment=metric.segment_score,
            higher_is_better=metric.higher_is_better,
            components=metric.components,
            perfect=metric.perfect,
        )


def collect(
    source: EvalSource,
    metrics: Sequence[Metric],
    *,
    threads: int = 1,
    keep_rows: bool = False,
    on_segments: OnSegments | None = None,
    on_progress: OnProgress | None = None,
) -> Collection:
    """Reads the source once (once more for each metric that must see all of it first)."""
    prepared = [_prepared(metric, source) for metric in metrics]
    result = Collection(prepared)
    for block in source.blocks():
        known = result.counts
        for item in block:
            if not item.outputs.keys() <= known.keys():
                for system in item.outputs:
                    known.setdefault(system, 0)
        for system in list(known):
            _add(result, system, block, threads, keep_rows, on_segments)
        if keep_rows:
            result.ids += [item.id for item in block]
        result.items += len(block)
        if on_progress is not None:
            on_progress(len(block))
    return result


def _add(
    result: Collection,
    system: str,
    block: Sequence[Item],
    threads: int,
    keep_rows: bool,
    on_segments: OnSegments | None,
) -> None:
    batch = Batch.of(system, block, threads=threads)
    if not len(batch):
        return
    result.counts[system] += len(batch)
    numbers = set(map(len, batch.references))
    fewest = result.fewest_references
    result.fewest_references = min(numbers) if fewest is None else min(fewest, *numbers)
    result.most_references = max(result.most_references, *numbers)
    if keep_rows:
        places = np.arange(len(block), dtype=np.intp)
        if len(batch) < len(block):
            places = places[[system in item.outputs for item in block]]
        result.places.setdefault(system, []).append(places + result.items)
    for metric in result.metrics:
        check_needs(metric, batch)
        rows = metric.statistics(batch)
        scores = None
        if on_segments is not None or not getattr(metric, "is_always_defined", False):
            scores = metric.segment_score(rows)
        column = result.columns.setdefault((system, metric.name), Column(np.zeros(rows.shape[1])))
        column.sums += rows.sum(axis=0)
        column.undefined += 0 if scores is None else int(np.isnan(scores).sum())
        if keep_rows:
            column.rows.append(rows)
        if on_segments is not None and scores is not None:
            on_segments(system, batch.ids, metric.name, scores)


def _prepared(metric: Metric, source: EvalSource) -> Metric:
    prepared = metric.prepare(_references(source))
    if isinstance(prepared, LearnsFromOutputs):
        prepared = prepared.prepare_outputs(source)
    return prepared


def _references(source: EvalSource) -> Iterator[Sequence[str]]:
    for block in source.blocks():
        for item in block:
            yield item.references
            if item.references_by_system:  # those that are not among the references already
                others = (set(own) for own in item.references_by_system.values())
                yield sorted(set[str]().union(*others) - set(item.references))


LACKING: Mapping[Need, tuple[str, str]] = {
    "references": ("a reference", "Give --ref FILE, or references in the evalset."),
    "tree": (
        "a tree for one of its references",
        "Give --trees FILE.conllu or --trees auto, or trees in the evalset.",
    ),
    "derivation": ("a derivation", "Put a derivation into each item of the evalset."),
    "original": (
        "displays to compare with",
        f"Give them as the outputs of a system named {ORIGINAL}.",
    ),
    "source": ("a source", "Put a source into each item of the evalset."),
    "logged": ("a score in a log", "Score a log of inspect_ai or promptfoo (.json)."),
}


def check_needs(metric: Metric, batch: Batch) -> None:
    """Refuses a batch that lacks what the metric needs, naming the items."""
    kinds = set(map(type, batch.outputs))
    if "derivation" not in metric.needs and not kinds <= {str}:
        raise InputError(
            f"{metric.name} scores text, but the outputs of {batch.system} are display schedules."
        )
    if "derivation" in metric.needs and str in kinds:
        raise InputError(
            f"{metric.name} scores display schedules, but outputs of {batch.system} are text."
        )
    has: dict[Need, Sequence[bool]] = {}
    if "references" in metric.needs:
        has["references"] = list(map(bool, batch.references))
    if "tree" in metric.needs:
        has["tree"] = [any(tree is not None for tree in row) for row in batch.trees]
    if "derivation" in metric.needs:
        has["derivation"] = [derivation is not None for derivation in batch.derivations]
    if "original" in metric.needs:
        has["original"] = [isinstance(original, Mapping) for original in batch.originals]
    if "source" in metric.needs:
        has["source"] = [source is not None for source in batch.sources]
    if "logged" in metric.needs:
        has["logged"] = [bool(batch.logged)] * len(batch)
    for need, rows in has.items():
        if not all(rows):
            lacking = [f"item {i}" for i, there in zip(batch.ids, rows, strict=True) if not there]
            what, advice = LACKING[need]
            raise InputError.collect(
                f"{metric.name} needs {what} for every item; {len(lacking)} of {len(rows)} "
                f"that {batch.system} has an output for lack it:",
                lacking,
                advice,
            )
