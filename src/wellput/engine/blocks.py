"""`BlockStatistics`: the statistics of one block of items.

Scoring computes the statistics of each block and adds them in file order (`engine.collect`). The sums
of a block do not depend on threads, processes or other metrics, so the digits do not, either. Items
that lack something a metric needs are refused here, by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError, counted
from wellput.core.evalset import ORIGINAL, Batch, Item
from wellput.core.metric import Floats, Metric, Need
from wellput.core.plain_block import PlainBlock, batch_of, ids_of
from wellput.core.source import EvalSource
from wellput.core.work import OnProgress, ProgressShare, ignore_progress
from wellput.text.scripts import count_in_other_form, count_unspaced

NEED_ADVICE: Mapping[Need, tuple[str, str]] = {
    "references": (
        "a reference",
        "Give a file of references (ref='FILE'), or put them into the evalset.",
    ),
    "tree": (
        "a tree of a reference",
        "Give a file of trees, put them into the evalset, or have them made (trees='auto').",
    ),
    "derivation": ("a derivation", "Put a derivation into each item of the evalset."),
    "original": (
        f"an output of the system {ORIGINAL}",
        f"Give what people did as the outputs of a system named {ORIGINAL}.",
    ),
    "source": ("a source", "Put a source into each item of the evalset."),
    "logged": (
        "a score in a log",
        "Score a log of an evaluation tool: docs/formats.md lists them.",
    ),
}


def check_outputs(metric: Metric, batch: Batch) -> None:
    """Raises InputError for outputs of another kind than the metric scores."""
    scored = getattr(metric, "output_kind", "text")
    if scored == "text" and set(map(type, batch.outputs)) <= {str, tuple}:
        return
    from wellput.core.output_kinds import kind_names

    for kind in batch.shared("output kinds", lambda: kind_names(batch.outputs)):
        if kind != scored:
            raise InputError(
                f"{metric.name} scores {scored}, but outputs of {batch.system} are {kind}."
            )


def refuse_source_without_references(
    metrics: Sequence[Metric], first: Sequence[Item], source: EvalSource
) -> None:
    """Raises InputError early if a metric needs references and no item has one. The source is read
    again only if its first block has none."""
    wanting = [metric for metric in metrics if "references" in metric.needs]
    if not any(item.outputs for item in first):
        return
    if not wanting or _has_references(first) or any(map(_has_references, source.blocks())):
        return
    for system in dict.fromkeys(system for item in first for system in item.outputs):
        for metric in wanting:
            check_outputs(metric, batch_of(system, first))
    what, advice = NEED_ADVICE["references"]
    raise InputError(
        f"{wanting[0].name} needs {what}; no item has one. {advice} {source.advice}".rstrip()
    )


def _has_references(block: Sequence[Item]) -> bool:
    if isinstance(block, PlainBlock):
        return any(block.references)
    return any(item.references or any(item.references_by_system.values()) for item in block)


def refuse_no_references(metric: Metric, system: str, n_outputs: int) -> None:
    """Raises InputError for a metric without references for any output of a system."""
    what, advice = NEED_ADVICE["references"]
    items = "the one item" if n_outputs == 1 else f"none of the {n_outputs:,} items"
    has = "has none" if n_outputs == 1 else "has one"
    raise InputError(
        f"{metric.name} needs {what}; {items} that {system} has an output for {has}. {advice}"
    )


def check_needs(metric: Metric, batch: Batch) -> None:
    """Raises InputError with the items that lack something the metric needs. References are not
    checked: items without them are left out before."""
    has: dict[Need, Sequence[bool]] = {}
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
            what, advice = NEED_ADVICE[need]
            raise InputError.collect(
                f"{metric.name} needs {what} for every item. Of the {counted(len(rows), 'item')} with "
                f"an output of {batch.system}, {len(lacking):,} "
                f"{'has' if len(lacking) == 1 else 'have'} none:",
                lacking,
                advice,
            )


OnSegments = Callable[[str, Sequence[str], str, Floats], None]
"""Called with (system, item ids, metric, segment scores) for every block."""

MAX_NAMED_IDS = 5
"""At most this many ids are kept, to name items that were left out."""


@dataclass(frozen=True, slots=True)
class Unreferenced:
    """Items without a reference: their number, and the ids of the first ones."""

    n: int = 0
    first: tuple[str, ...] = ()

    @classmethod
    def of(cls, ids: Sequence[str]) -> Unreferenced:
        return cls(len(ids), tuple(ids[:MAX_NAMED_IDS]))

    def plus(self, later: Unreferenced) -> Unreferenced:
        return Unreferenced(self.n + later.n, (*self.first, *later.first)[:MAX_NAMED_IDS])


@dataclass(frozen=True)
class BlockColumn:
    """One system's statistics of one block under one metric. `samples` is that of `ScoreTable`, for
    these rows; None if rows are not kept or no output has several samples. `reasons` counts why
    `undefined` outputs have no score, as far as the metric says."""

    sums: Floats
    undefined: int
    rows: Floats | None = None
    samples: Floats | None = None
    reasons: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class SystemBlock:
    """One system's statistics of a block. `places` are the rows of the block that have an output.

    Outputs of items without references have no row in the columns of metrics that need references:
    `left_out` counts them, and `referenced_places` are the other places. A metric without any row
    has no column. The numbers of references are those of items with references, 0 if there are
    none. `empty` counts the outputs that are empty texts, `other_unicode_form` those in another Unicode
    form than their references. `unspaced` counts those in scripts that have no spaces
    between words.
    """

    count: int
    fewest_references: int
    most_references: int
    columns: Mapping[str, BlockColumn]
    places: NDArray[np.intp] | None = None
    left_out: int = 0
    referenced_places: NDArray[np.intp] | None = None
    empty: int = 0
    other_unicode_form: int = 0
    unspaced: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class BlockStatistics:
    """Systems are in the order of their first outputs. Ids, places and rows are kept only if rows are
    kept; `id_hashes` only if another process looks for repeated ids. `unreferenced` are items that lack
    a reference for some system's output. `documents` and `tags` are the items', kept with the rows;
    empty if no item has any."""

    items: int
    systems: Mapping[str, SystemBlock]
    ids: Sequence[str] = ()
    id_hashes: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    unreferenced: Unreferenced = field(default_factory=Unreferenced)
    documents: Sequence[str | None] = ()
    tags: Sequence[Mapping[str, str]] = ()


def block_statistics(
    block: Sequence[Item],
    metrics: Sequence[Metric],
    *,
    threads: int = 1,
    keep_rows: bool = False,
    hash_ids: bool = False,
    on_segments: OnSegments | None = None,
    on_progress: OnProgress = ignore_progress,
) -> BlockStatistics:
    """The statistics of every system in the block under every metric. `on_progress` is called with
    numbers of items; if several metrics are slow, only the first one's progress is seen."""
    systems: dict[str, SystemBlock] = {}
    unreferenced: set[str] = set()
    names = _systems_in(block)
    needs_references = any("references" in metric.needs for metric in metrics)
    progress = ProgressShare(len(block), len(block) * len(names), on_progress)
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
            len(batch) - sum(map(bool, batch.outputs)),
            count_in_other_form(referenced.outputs, referenced.references)
            if needs_references
            else 0,
            count_unspaced(batch.outputs),
        )
    progress.finish()
    return BlockStatistics(
        len(block),
        systems,
        ids_of(block) if keep_rows else (),
        _native.text_hashes(ids_of(block)) if hash_ids else np.empty(0, np.uint64),
        Unreferenced.of([i for i in ids_of(block) if i in unreferenced] if unreferenced else []),
        *(_structure(block) if keep_rows else ()),
    )


def _structure(
    block: Sequence[Item],
) -> tuple[Sequence[str | None], Sequence[Mapping[str, str]]]:
    """The documents and the tags of the items, each empty if no item has any."""
    if isinstance(block, PlainBlock):
        return block.documents or (), block.tags or ()
    documents = [item.document for item in block]
    tags = [item.tags for item in block]
    return documents if any(documents) else (), tags if any(tags) else ()


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
    """The columns of all metrics that have something to score."""
    columns: dict[str, BlockColumn] = {}
    every = Outputs.of(batch)
    compared = every if referenced is batch else Outputs.of(referenced)
    for metric in metrics:
        check_outputs(metric, every.batch)
        seen = compared if "references" in metric.needs else every
        if len(seen.batch):
            columns[metric.name] = _column(metric, seen, keep_rows, on_segments)
    return columns


@dataclass(frozen=True)
class Outputs:
    """The outputs of items with these `ids`: a batch with a row for each sample, and the number of
    samples of each output; `counts` is None if every output is one text."""

    ids: Sequence[str]
    batch: Batch
    counts: NDArray[np.intp] | None

    @classmethod
    def of(cls, batch: Batch) -> Outputs:
        apart, counts = batch.samples_apart()
        return cls(batch.ids, apart, None if counts is None else np.array(counts, np.intp))


def _column(
    metric: Metric, outputs: Outputs, keep_rows: bool, on_segments: OnSegments | None
) -> BlockColumn:
    batch = outputs.batch
    check_needs(metric, batch)
    rows = metric.statistics(batch)
    if len(rows) != len(batch):
        raise InputError(
            f"The metric {metric.name} gave {counted(len(rows), 'row')} of statistics for "
            f"{counted(len(batch), 'output')}; it must give one for each."
        )
    samples = None
    if outputs.counts is not None:
        rows, samples = means_of_samples(rows, metric.segment_score(rows), outputs.counts)
    undefined = 0
    reasons: Mapping[str, int] = {}
    if on_segments is not None or not getattr(metric, "is_always_defined", False):
        scores = metric.segment_score(rows) if samples is None else samples[:, 0]
        undefined = int(np.isnan(scores).sum())
        if undefined:
            reasons = _reasons(metric, outputs, np.isnan(scores))
        if on_segments is not None:
            on_segments(batch.system, outputs.ids, metric.name, scores)
    if not keep_rows:
        return BlockColumn(rows.sum(axis=0), undefined, reasons=reasons)
    return BlockColumn(rows.sum(axis=0), undefined, rows, samples, reasons)


def _reasons(
    metric: Metric, outputs: Outputs, is_undefined: NDArray[np.bool_]
) -> Mapping[str, int]:
    """Why outputs have no score, each with its number; of several samples the first one's reason."""
    said = getattr(metric, "undefined_reasons", lambda _: ())(outputs.batch)
    if not said:
        return {}
    if outputs.counts is not None:
        said = [said[first] for first in np.cumsum(outputs.counts) - outputs.counts]
    return Counter(reason for reason in compress(said, is_undefined) if reason)


def means_of_samples(
    rows: Floats, scores: Floats, counts: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Each output's mean of its samples' statistics, and the column `samples` of `ScoreTable`. Samples
    without a score count nothing; an output whose samples all have none has zeros, and the score
    NaN."""
    is_defined = ~np.isnan(scores)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    used = np.add.reduceat(is_defined.astype(np.float64), starts)
    at_least_one = np.maximum(used, 1)
    means = np.add.reduceat(np.where(is_defined[:, None], rows, 0.0), starts, axis=0)
    means /= at_least_one[:, None]
    own = np.add.reduceat(np.where(is_defined, scores, 0.0), starts) / at_least_one
    deviations = np.where(is_defined, scores - np.repeat(own, counts), 0.0)
    squares = np.add.reduceat(deviations**2, starts)
    own[used == 0] = np.nan
    return means, np.column_stack([own, squares, used])


def _places(system: str, block: Sequence[Item], count: int) -> NDArray[np.intp]:
    places = np.arange(len(block), dtype=np.intp)
    if count < len(block):
        places = places[[system in item.outputs for item in block]]
    return places
