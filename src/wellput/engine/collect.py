"""`Collection`: the statistics of every metric for every system, added up over all blocks of items.

The sums of blocks are added in file order, so the results are the same with any number of threads or
processes, and whatever other metrics are computed. Only sums are kept, unless the caller also asks
for rows (the statistics of single segments).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import Clusters
from wellput.core.estimates import ScoreTable
from wellput.core.evalset import NO_TAGS
from wellput.core.metric import Floats, LearnsFromOutputs, Metric
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, ignore_phase
from wellput.engine.blocks import (
    BlockStatistics,
    OnSegments,
    Unreferenced,
    block_statistics,
    refuse_no_references,
    refuse_source_without_references,
)
from wellput.engine.result import SkippedPartition
from wellput.io.duplicates import SeenIds


@dataclass
class CollectedColumn:
    """One system's statistics under one metric: the sums of all blocks, the number of `undefined`
    segment scores with its `reasons`, and for each block the rows and samples that are kept
    (`BlockColumn`)."""

    sums: Floats
    undefined: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    rows: list[Floats] = field(default_factory=list)
    samples: list[Floats | None] = field(default_factory=list)


@dataclass
class Collection:
    """The statistics of one pass over a source: `columns` has them by (system, metric), and `counts`
    has the number of each system's outputs. The other fields are those of `BlockStatistics` and, by
    system, those of `SystemBlock`, for all blocks."""

    metrics: list[Metric]
    items: int = 0
    ids: list[str] = field(default_factory=list)
    columns: dict[tuple[str, str], CollectedColumn] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[NDArray[np.intp]]] = field(default_factory=dict)
    seen_ids: SeenIds = field(default_factory=SeenIds)
    referenced_places: dict[str, list[NDArray[np.intp]]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    empty: dict[str, int] = field(default_factory=dict)
    other_unicode_form: dict[str, int] = field(default_factory=dict)
    unspaced: Counter[str] = field(default_factory=Counter)
    unreferenced: Unreferenced = field(default_factory=Unreferenced)
    skipped: list[SkippedPartition] = field(default_factory=list)
    fewest_references: int | None = None
    most_references: int = 0
    documents: list[str | None] = field(default_factory=list)
    tags: list[Mapping[str, str]] = field(default_factory=list)

    def add(self, block: BlockStatistics) -> None:
        """Adds the next block."""
        for system, part in block.systems.items():
            self.counts[system] = self.counts.get(system, 0) + part.count
            self.left_out[system] = self.left_out.get(system, 0) + part.left_out
            self.empty[system] = self.empty.get(system, 0) + part.empty
            self.other_unicode_form[system] = (
                self.other_unicode_form.get(system, 0) + part.other_unicode_form
            )
            self.unspaced.update(part.unspaced)
            if part.most_references:  # 0 if no item of the block has references
                fewest = self.fewest_references or part.fewest_references
                self.fewest_references = min(fewest, part.fewest_references)
                self.most_references = max(self.most_references, part.most_references)
            if part.places is not None:
                self.places.setdefault(system, []).append(part.places + self.items)
            if part.referenced_places is not None:
                referenced = part.referenced_places + self.items
                self.referenced_places.setdefault(system, []).append(referenced)
            for metric, added in part.columns.items():
                column = self.columns.setdefault(
                    (system, metric), CollectedColumn(np.zeros(added.sums.shape[0]))
                )
                column.sums += added.sums
                column.undefined += added.undefined
                column.reasons.update(added.reasons)
                if added.rows is not None:
                    column.rows.append(added.rows)
                    column.samples.append(added.samples)
        self.seen_ids.add_hashes(block.id_hashes)
        self.ids += block.ids
        self.documents += block.documents or [None] * len(block.ids)
        self.tags += block.tags or [NO_TAGS] * len(block.ids)
        self.unreferenced = self.unreferenced.plus(block.unreferenced)
        self.items += block.items

    @property
    def systems(self) -> list[str]:
        return list(self.counts)

    @property
    def references_label(self) -> str:
        """The number of references of each item, as sacreBLEU writes it: `1`, or `var` if the number
        is not always the same."""
        is_constant = self.fewest_references == self.most_references
        return str(self.most_references) if is_constant else "var"

    def refuse_no_references(self) -> None:
        """Raises InputError if a metric needs references and a system has no output with a
        reference."""
        for metric in self.metrics:
            for system, n in self.counts.items():
                if (system, metric.name) not in self.columns:
                    refuse_no_references(metric, system, n)

    def table(self, metric: Metric, signature: str, clusters: Clusters | None = None) -> ScoreTable:
        """The rows of a metric as a table of systems × items."""
        width = max(
            column.sums.shape[0] for key, column in self.columns.items() if key[1] == metric.name
        )
        statistics = np.zeros((len(self.systems), self.items, width))
        present = np.zeros((len(self.systems), self.items), dtype=np.bool_)
        places_by_system = self.referenced_places if "references" in metric.needs else self.places
        for row, system in enumerate(self.systems):
            places = np.concatenate(places_by_system[system])
            present[row, places] = True
            statistics[row, places] = np.concatenate(self.columns[system, metric.name].rows)
        samples = self._samples(metric, statistics, places_by_system)
        if getattr(metric, "has_gaps", False):
            # The last number of a row is 0 if the output has no score (`MeanMetric.has_gaps`).
            present &= statistics[..., -1] > 0
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
            bounds=getattr(metric, "bounds", (None, None)),
            samples=samples,
            clusters=clusters,
        )

    def _samples(
        self,
        metric: Metric,
        statistics: Floats,
        places_by_system: Mapping[str, Sequence[NDArray[np.intp]]],
    ) -> Floats | None:
        """The array `samples` of the table; None if no output has several samples."""
        columns = [self.columns[system, metric.name] for system in self.systems]
        if all(part is None for column in columns for part in column.samples):
            return None
        samples = np.zeros((*statistics.shape[:2], 3))
        for row, (system, column) in enumerate(zip(self.systems, columns, strict=True)):
            for places, part in zip(places_by_system[system], column.samples, strict=True):
                if part is not None:
                    samples[row, places] = part
                elif len(places):  # every output of the block is a single text
                    scores = metric.segment_score(statistics[row, places])
                    samples[row, places, 0] = scores
                    samples[row, places, 2] = ~np.isnan(scores)
        return samples


def collect(
    source: EvalSource,
    metrics: Sequence[Metric],
    *,
    threads: int = 1,
    keep_rows: bool = False,
    on_segments: OnSegments | None = None,
    on_phase: OnPhase = ignore_phase,
) -> Collection:
    """The statistics of the source, from one pass over its items, and one pass before it for each
    metric that must first see the whole source. `keep_rows` also keeps those of single segments."""
    on_phase("preparing metrics")
    # `unparsed` is the source without the trees that a parser made: here only the texts are needed.
    result = Collection(prepare_all(metrics, source.unparsed))
    for block in source.blocks():
        # The phase is named again for each block, because parsing its references is another phase.
        on_items = on_phase("scoring items")
        if not result.items:
            refuse_source_without_references(result.metrics, block, source.unparsed)
        result.add(
            block_statistics(
                block,
                result.metrics,
                threads=threads,
                keep_rows=keep_rows,
                on_segments=on_segments,
                on_progress=on_items,
            )
        )
    return result


def prepare_all(metrics: Sequence[Metric], source: EvalSource) -> list[Metric]:
    """The metrics after they have learned from the whole source, before any item is scored."""
    return [_prepared(metric, source) for metric in metrics]


def _prepared(metric: Metric, source: EvalSource) -> Metric:
    prepared = metric.prepare(_references(source))
    if isinstance(prepared, LearnsFromOutputs):
        prepared = prepared.prepare_outputs(source)
    return prepared


def _references(source: EvalSource) -> Iterator[Sequence[str]]:
    """The references of each item, also those of single systems."""
    for block in source.blocks():
        for item in block:
            yield item.references
            if item.references_by_system:
                of_systems = (set(texts) for texts in item.references_by_system.values())
                yield sorted(set[str]().union(*of_systems) - set(item.references))
