"""`BlockStatistics`: the statistics of one block of items.

Scoring computes the statistics of each block and adds them in file order (`engine.collect`). The sums
of a block are always the same, with any number of threads or processes, and whatever other metrics
are computed; therefore scores are the same, too. If an item lacks something that a metric needs,
`check_needs` raises an error that names the item.
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
"""What a metric needs, in words, and advice for a user whose items lack it."""


def check_outputs(metric: Metric, batch: Batch) -> None:
    """Raises InputError for outputs of another kind than the metric scores."""
    scored = getattr(metric, "output_kind", "text")
    if scored == "text" and set(map(type, batch.outputs)) <= {str, tuple}:
        return
    from wellput.core.output_kinds import kind_names

    # `shared`: the kinds are the same for all metrics, so they are computed once.
    for kind in batch.shared("output kinds", lambda: kind_names(batch.outputs)):
        if kind != scored:
            raise InputError(
                f"{metric.name} scores {scored}, but outputs of {batch.system} are {kind}."
            )


def refuse_source_without_references(
    metrics: Sequence[Metric], first_block: Sequence[Item], source: EvalSource
) -> None:
    """Raises InputError if a metric needs references and no item has one; called before scoring
    begins. The source is read again only if its first block has no references."""
    needing = [metric for metric in metrics if "references" in metric.needs]
    if not any(item.outputs for item in first_block):
        return
    if not needing or _has_references(first_block) or any(map(_has_references, source.blocks())):
        return
    # If outputs are of a kind that the metric does not score, the error says this instead.
    for system in dict.fromkeys(system for item in first_block for system in item.outputs):
        for metric in needing:
            check_outputs(metric, batch_of(system, first_block))
    what, advice = NEED_ADVICE["references"]
    raise InputError(
        f"{needing[0].name} needs {what}; no item has one. {advice} {source.advice}".rstrip()
    )


def _has_references(block: Sequence[Item]) -> bool:
    if isinstance(block, PlainBlock):
        return any(block.references)
    return any(item.references or any(item.references_by_system.values()) for item in block)


def refuse_no_references(metric: Metric, system: str, n_outputs: int) -> None:
    """Raises InputError that says that the metric needs references, and that no output of the system
    has one."""
    what, advice = NEED_ADVICE["references"]
    items = "the one item" if n_outputs == 1 else f"none of the {n_outputs:,} items"
    has = "has none" if n_outputs == 1 else "has one"
    raise InputError(
        f"{metric.name} needs {what}; {items} that {system} has an output for {has}. {advice}"
    )


def check_needs(metric: Metric, batch: Batch) -> None:
    """Raises InputError that names the items which lack something that the metric needs. References
    are not checked, because items without them were left out before."""
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
            lacking = [
                f"item {i}" for i, is_there in zip(batch.ids, rows, strict=True) if not is_there
            ]
            what, advice = NEED_ADVICE[need]
            raise InputError.collect(
                f"{metric.name} needs {what} for every item. Of the {counted(len(rows), 'item')} with "
                f"an output of {batch.system}, {len(lacking):,} "
                f"{'has' if len(lacking) == 1 else 'have'} none:",
                lacking,
                advice,
            )


OnSegments = Callable[[str, Sequence[str], str, Floats], None]
"""A function that is called with (system, item ids, metric, segment scores) for every block."""

MAX_NAMED_IDS = 5
"""The number of ids that are kept so that a message can name items that were left out."""


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
    """One system's statistics of one block under one metric: their sums, and the rows themselves if
    they are kept. `samples` has for each row the mean of its samples' scores, the sum of squared
    differences from this mean, and the number of samples; it is None if rows are not kept or no output
    has several samples. `undefined` is the number of outputs without a score; `reasons` has the number
    of these for each reason, if the metric gives reasons."""

    sums: Floats
    undefined: int
    rows: Floats | None = None
    samples: Floats | None = None
    reasons: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class SystemBlock:
    """One system's statistics of a block. `count` is the number of its outputs; `places` are the
    places in the block of the items that have an output.

    Outputs of items without references have no row in the columns of metrics that need references:
    `left_out` is their number. `referenced_places` are the places of items that have both an output
    and a reference. A metric without any row has no column. `fewest_references` and `most_references`
    are about items with references; both are 0 if there are none. `empty` is the number of outputs
    that are empty texts; `other_unicode_form` is the number of outputs in another Unicode form than
    their references; `unspaced` has, for each script without spaces between words, the number of
    outputs in this script.
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
    """The statistics of a block with this number of `items`. Systems are in the order of their first
    outputs. Ids, places, documents and tags are kept only if rows are kept; `id_hashes` only if
    another process looks for repeated ids. `unreferenced` are items that lack a reference for some
    system's output. `documents` and `tags` have an entry for each item; each is empty if no item has
    any."""

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
    """The statistics of every system in the block under every metric. `keep_rows` also keeps those of
    single segments; `hash_ids` adds hashes of the ids, by which ids can be compared between blocks.
    `on_progress` is called with the number of items that were just finished."""
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
        reference_counts = set(map(len, referenced.references))
        places = _places(system, block, len(batch)) if keep_rows else None
        systems[system] = SystemBlock(
            count=len(batch),
            fewest_references=min(reference_counts, default=0),
            most_references=max(reference_counts, default=0),
            columns=_columns(metrics, batch, referenced, keep_rows, on_segments),
            places=places,
            left_out=len(batch) - len(referenced),
            referenced_places=None if places is None else places[list(map(bool, batch.references))],
            empty=len(batch) - sum(map(bool, batch.outputs)),
            other_unicode_form=count_in_other_form(referenced.outputs, referenced.references)
            if needs_references
            else 0,
            unspaced=count_unspaced(batch.outputs),
        )
    progress.finish()
    documents, tags = _documents_and_tags(block) if keep_rows else ((), ())
    return BlockStatistics(
        items=len(block),
        systems=systems,
        ids=ids_of(block) if keep_rows else (),
        id_hashes=_native.text_hashes(ids_of(block)) if hash_ids else np.empty(0, np.uint64),
        unreferenced=Unreferenced.of(
            [i for i in ids_of(block) if i in unreferenced] if unreferenced else []
        ),
        documents=documents,
        tags=tags,
    )


def _documents_and_tags(
    block: Sequence[Item],
) -> tuple[Sequence[str | None], Sequence[Mapping[str, str]]]:
    """The documents and the tags of the items, each empty if no item has any."""
    if isinstance(block, PlainBlock):
        return block.documents or (), block.tags or ()
    documents = [item.document for item in block]
    tags = [item.tags for item in block]
    return documents if any(documents) else (), tags if any(tags) else ()


def _systems_in(block: Sequence[Item]) -> list[str]:
    """The systems with an output in the block, in the order of their first outputs."""
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
    """The columns of all metrics that have an output to score. `referenced` is the part of the batch
    whose items have references; `keep_rows` is as for `block_statistics`."""
    columns: dict[str, BlockColumn] = {}
    all_outputs = Outputs.of(batch)
    with_references = all_outputs if referenced is batch else Outputs.of(referenced)
    for metric in metrics:
        check_outputs(metric, all_outputs.batch)
        outputs = with_references if "references" in metric.needs else all_outputs
        if len(outputs.batch):
            columns[metric.name] = _column(metric, outputs, keep_rows, on_segments)
    return columns


@dataclass(frozen=True)
class Outputs:
    """The outputs of the items with these `ids`: a batch with a row for each sample, and in `counts`
    the number of samples of each output. `counts` is None if every output is a single text."""

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
    """One system's statistics of one block under one metric; `keep_rows` is as for
    `block_statistics`."""
    batch = outputs.batch
    check_needs(metric, batch)
    try:
        rows = metric.statistics(batch)
    except _native.TooLarge as error:
        raise _too_large(metric, batch, *error.args) from None
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


def _too_large(metric: Metric, batch: Batch, row: int) -> InputError:
    """The error for a row of the batch that does not fit into memory."""
    characters = max(len(text) for text in (batch.texts[row], *batch.references[row]))
    return InputError(
        f"Item {batch.ids[row]}: there is not enough memory for {metric.name} of the output of "
        f"{batch.system}. The longest text of the item has {counted(characters, 'character')}. Divide "
        "such items into shorter ones or leave them out, leave out the metric, or use fewer threads."
    )


def _reasons(
    metric: Metric, outputs: Outputs, is_undefined: NDArray[np.bool_]
) -> Mapping[str, int]:
    """The reasons why outputs have no score, each with the number of such outputs. An output with
    several samples has the reason of its first sample."""
    row_reasons = getattr(metric, "undefined_reasons", lambda _: ())(outputs.batch)
    if not row_reasons:
        return {}
    if outputs.counts is not None:
        row_reasons = [row_reasons[first] for first in np.cumsum(outputs.counts) - outputs.counts]
    return Counter(reason for reason in compress(row_reasons, is_undefined) if reason)


def means_of_samples(
    rows: Floats, scores: Floats, counts: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """For each output, the mean statistics of its samples, and its row of `BlockColumn.samples`.
    `rows` and `scores` have a row for each sample, `counts` the number of samples of each output.
    Samples without a score are ignored; an output without any sample with a score has zeros, and the
    score NaN."""
    is_defined = ~np.isnan(scores)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    n_scored = np.add.reduceat(is_defined.astype(np.float64), starts)
    divisors = np.maximum(n_scored, 1)
    values = np.where(is_defined[:, None], np.column_stack([rows, scores]), 0.0)
    outputs = np.repeat(np.arange(len(counts)), counts)
    for column in values.T:  # sorted, because the last digit of a sum depends on the order
        column[:] = column[np.lexsort((column, outputs))]
    sums = np.add.reduceat(values, starts, axis=0) / divisors[:, None]
    means, mean_scores = sums[:, :-1], sums[:, -1].copy()
    deviations = np.where(is_defined, scores - np.repeat(mean_scores, counts), 0.0)
    squares = np.add.reduceat(deviations**2, starts)
    mean_scores[n_scored == 0] = np.nan
    return means, np.column_stack([mean_scores, squares, n_scored])


def _places(system: str, block: Sequence[Item], count: int) -> NDArray[np.intp]:
    """The places in the block of the `count` items for which the system has an output."""
    places = np.arange(len(block), dtype=np.intp)
    if count < len(block):
        places = places[[system in item.outputs for item in block]]
    return places
