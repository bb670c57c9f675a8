"""Computes statistics partition by partition, in this process or on a cluster; it can continue a run
that was stopped.

A partition is a part of the evaluation set: consecutive whole blocks of items. Partitions may finish
in any order and on any machine. The statistics of their blocks are added in file order, so the
results are exactly those of one pass over all items.

A `PartitionJob` says what to compute for every partition. `evaluate_partition` is the only function
that runs on a worker; it returns a failure as a value, because some exceptions cannot be pickled.
`FinishedPartitions` is a folder from which a stopped run is continued: it has a file for each
partition, with its block statistics and the fingerprint of its data and metrics. A file is used only
if its fingerprint is that of the present data and metrics.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput import __version__
from wellput.core.errors import InputError, OutputError, Unreachable, WellputError
from wellput.core.metric import Metric
from wellput.core.source import EvalSource, Partition
from wellput.core.work import OnPhase, OnProgress, ignore_phase
from wellput.engine.blocks import (
    BlockColumn,
    BlockStatistics,
    SystemBlock,
    Unreferenced,
    block_statistics,
)
from wellput.engine.collect import Collection, prepare_all
from wellput.engine.result import SkippedPartition
from wellput.engine.scoring_plan import OnError, ScoringPlan
from wellput.io.locations import is_url
from wellput.io.model_files import ModelFile, load_model_file, packed_strings, save_model_file
from wellput.io.opened_files import note_own_folder
from wellput.io.output import refuse_url
from wellput.io.segment_scores import (
    drop_other_parts,
    gathering_parts,
    has_part,
    refuse_parts_of_other_runs,
    writing_part,
)
from wellput.metrics.functions import FunctionMetric

MAX_ATTEMPTS_PER_PARTITION = 3


@dataclass(frozen=True)
class PartitionJob:
    """What to compute, which is the same for all partitions. `threads` is the number of threads for
    one partition. `keep_rows` keeps the statistics of single segments. `segments` is the folder for
    segment scores, with a file for each partition; if it is at a URL, `run` marks this run's files.
    `hash_ids` is true if ids must be compared across partitions. `parser` is the signature of the
    parser of references."""

    metrics: Sequence[Metric]
    threads: int
    keep_rows: bool = False
    hash_ids: bool = False
    segments: str | None = None
    run: str | None = None
    parser: str | None = None

    @property
    def key(self) -> str:
        """A hash of everything, except the data, on which the statistics depend. If a metric is a
        user's function, every key is new, because what the function calls may change unseen."""
        if any(isinstance(metric, FunctionMetric) for metric in self.metrics):
            return secrets.token_hex()
        signatures = [f"{metric.name} {metric.signature()}" for metric in self.metrics]
        parts = (__version__, self.keep_rows, self.hash_ids, self.parser, signatures)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


@dataclass(frozen=True)
class Evaluated:
    """A partition's statistics. `fingerprint` is a hash of its data and job, if it was asked for."""

    blocks: Sequence[BlockStatistics]
    fingerprint: str | None = None


@dataclass(frozen=True)
class Unchanged:
    """The partition has not changed since it was evaluated before."""

    fingerprint: str


@dataclass(frozen=True)
class Failed:
    """The partition cannot be evaluated. `reason` is for the user; `cause` is the exception, unless the
    data is wrong."""

    reason: str
    cause: BaseException | None = None


def failed_each_time(error: BaseException) -> Failed:
    """The failure of a partition for which all attempts failed, the last one with `error`."""
    message = str(error) if isinstance(error, WellputError) else repr(error)
    return Failed(f"{MAX_ATTEMPTS_PER_PARTITION} attempts failed, the last with {message}", error)


PartitionOutcome: TypeAlias = Evaluated | Unchanged | Failed
EarlierFingerprint: TypeAlias = Callable[[Partition], str | None]
"""Gives the fingerprint of a partition that was finished before; None if it was not."""


def evaluate_partition(
    partition: Partition,
    number: int,
    job: PartitionJob,
    earlier_fingerprint: str | None,
    with_fingerprint: bool,
) -> PartitionOutcome:
    """Reads one partition and computes its statistics, unless it was finished before and has not
    changed. `number` is its number in the source (from 0), `earlier_fingerprint` its fingerprint if it
    was finished before."""
    try:
        fingerprint = None
        if with_fingerprint:
            data = f"{job.key} {partition.fingerprint()}"
            fingerprint = hashlib.sha256(data.encode()).hexdigest()
            has_scores = job.segments is None or has_part(job.segments, number, fingerprint)
            if fingerprint == earlier_fingerprint and has_scores:
                return Unchanged(fingerprint)
        with ExitStack() as stack:
            writer = None
            if job.segments is not None:
                writer = stack.enter_context(
                    writing_part(job.segments, number, fingerprint or job.run)
                )
            blocks = [
                block_statistics(
                    block,
                    job.metrics,
                    threads=job.threads,
                    keep_rows=job.keep_rows,
                    hash_ids=job.hash_ids,
                    on_segments=writer.write if writer else None,
                )
                for block in partition.blocks()
            ]
        return Evaluated(blocks, fingerprint)
    except Unreachable:
        raise  # so that the caller tries again
    except InputError as error:
        return Failed(str(error))


PARTITION_FILE_KIND = "finished partition 5"
"""The kind of a partition's file. The number is increased when the content of such files changes;
files of another kind are ignored."""


class FinishedPartitions:
    """The folder of finished partitions. It is made if needed; its parent folder must exist."""

    def __init__(self, folder: str | Path) -> None:
        refuse_url(folder)
        self._folder = Path(folder)
        if not self._folder.parent.is_dir():
            raise OutputError(
                f"Cannot make the folder {folder}: the folder {self._folder.parent} does not exist. "
                "Make it first."
            )
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(f"Cannot make the folder {folder}: {error.strerror}.") from None
        note_own_folder(self._folder)

    def fingerprint(self, name: str, key: str) -> str | None:
        """The fingerprint that the partition had when a job with this key finished it; None if no
        such job did."""
        file = self._load(name, key)
        return None if file is None else str(file.card["fingerprint"])

    def load(self, name: str, key: str) -> list[BlockStatistics]:
        """The block statistics of a finished partition."""
        file = self._load(name, key)
        assert file is not None, name
        arrays = iter([file.arrays[str(i)] for i in range(file.card["arrays"])])
        ids = iter(file.strings("ids")) if "ids.ends" in file.arrays else iter(())
        return [_block_of_card(card, arrays, ids) for card in file.card["blocks"]]

    def save(
        self, name: str, key: str, fingerprint: str, blocks: Sequence[BlockStatistics]
    ) -> None:
        """Writes the file of a partition that a job with this key finished."""
        arrays: list[NDArray[Any]] = []
        cards = [_block_card(block, arrays) for block in blocks]
        card = {"partition": name, "fingerprint": fingerprint, "blocks": cards}
        named = {str(i): array for i, array in enumerate(arrays)}
        ids = [identifier for block in blocks for identifier in block.ids]
        if ids:
            named |= packed_strings("ids", ids)
        save_model_file(
            self._path(name, key), PARTITION_FILE_KIND, {**card, "arrays": len(arrays)}, named
        )

    def _load(self, name: str, key: str) -> ModelFile | None:
        """The file of a partition; None if it is missing or damaged."""
        try:
            return load_model_file(self._path(name, key), PARTITION_FILE_KIND)
        except InputError:
            return None

    def _path(self, name: str, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(f'{name} {key}'.encode()).hexdigest()[:24]}.wpm"


def _block_card(block: BlockStatistics, arrays: list[NDArray[Any]]) -> dict[str, Any]:
    """A block's statistics as JSON, which keeps every digit of a sum; its arrays are appended to
    `arrays`. Systems and metrics are lists, because the file sorts the keys of objects, and the order
    must stay that of the arrays."""
    arrays.append(block.id_hashes)
    systems: list[dict[str, Any]] = []
    for name, system in block.systems.items():
        has_rows = system.places is not None
        if system.places is not None and system.referenced_places is not None:
            arrays += [system.places, system.referenced_places]
            for column in system.columns.values():
                arrays += [part for part in (column.rows, column.samples) if part is not None]
        card = {
            "system": name,
            "count": system.count,
            "references": [system.fewest_references, system.most_references],
            "columns": [
                [
                    metric,
                    column.sums.tolist(),
                    column.undefined,
                    column.samples is not None,
                    dict(column.reasons),
                ]
                for metric, column in system.columns.items()
            ],
            "has_rows": has_rows,
            "left_out": system.left_out,
            "empty": system.empty,
            "other_unicode_form": system.other_unicode_form,
            "unspaced": dict(system.unspaced),
        }
        systems.append(card)
    return {
        "items": block.items,
        "ids": len(block.ids),
        "systems": systems,
        "unreferenced": [block.unreferenced.n, list(block.unreferenced.first)],
        "documents": list(block.documents),
        "tags": [dict(item_tags) for item_tags in block.tags],
    }


def _block_of_card(
    card: dict[str, Any], arrays: Iterator[NDArray[Any]], ids: Iterator[str]
) -> BlockStatistics:
    """The block statistics of a card that `_block_card` made; takes their arrays from `arrays`, in
    the same order."""
    hashes = np.array(next(arrays))
    systems: dict[str, SystemBlock] = {}
    for system in card["systems"]:
        places, referenced = (
            (np.array(next(arrays)), np.array(next(arrays))) if system["has_rows"] else (None, None)
        )
        columns = {
            metric: BlockColumn(
                np.array(sums),
                undefined,
                np.array(next(arrays)) if system["has_rows"] else None,
                np.array(next(arrays)) if has_samples else None,
                reasons,
            )
            for metric, sums, undefined, has_samples, reasons in system["columns"]
        }
        fewest, most = system["references"]
        systems[system["system"]] = SystemBlock(
            count=system["count"],
            fewest_references=fewest,
            most_references=most,
            columns=columns,
            places=places,
            left_out=system["left_out"],
            referenced_places=referenced,
            empty=system["empty"],
            other_unicode_form=system.get("other_unicode_form", 0),
            unspaced=system.get("unspaced", {}),
        )
    n, first = card["unreferenced"]
    return BlockStatistics(
        items=card["items"],
        systems=systems,
        ids=[next(ids) for _ in range(card["ids"])],
        id_hashes=hashes,
        unreferenced=Unreferenced(n, tuple(first)),
        documents=card["documents"],
        tags=card["tags"],
    )


def collect_partitions(
    source: EvalSource,
    metrics: Sequence[Metric],
    plan: ScoringPlan,
    keep_rows: bool,
    on_phase: OnPhase = ignore_phase,
) -> Collection:
    """Evaluates the partitions of the source as `plan` says, and adds up their statistics."""
    on_phase("preparing metrics")
    # `unparsed` is the source without the trees that a parser made: metrics are prepared from texts.
    result = Collection(prepare_all(metrics, source.unparsed))
    threads = plan.threads if plan.engine == "local" else 1
    partitions = source.partitions(threads=threads)
    job = PartitionJob(
        result.metrics,
        threads=threads,
        keep_rows=keep_rows,
        hash_ids=not source.are_ids_checked_by_partition,
        parser=source.parser,
    )
    finished = None if plan.resume is None else FinishedPartitions(plan.resume)
    # By number, for each partition that has statistics: what marks its file of segment scores.
    marks: dict[int, str | None] = {}
    with ExitStack() as stack:
        if plan.segments is not None:
            segments = stack.enter_context(
                gathering_parts(plan.segments, is_resumed=plan.resume is not None)
            )
            run = secrets.token_hex() if is_url(segments) else None
            job = replace(job, segments=segments, run=run)
        if plan.engine == "ray":
            on_phase("starting the cluster")
        # This generator must be closed before the cluster ends, also after an error.
        outcomes = stack.enter_context(closing(_outcomes(stack, plan, partitions, job, finished)))
        on_progress = on_phase("scoring items")
        on_progress(0)  # shows the phase during the seconds until the first partition is done
        for number, (partition, outcome) in enumerate(outcomes):
            if isinstance(outcome, Failed):
                result.skipped.append(_skipped(partition, outcome, plan.on_error))
            else:
                marks[number] = outcome.fingerprint or job.run
                _add_outcome(result, partition, outcome, job, finished, on_progress)
        if not source.are_ids_checked_by_partition:
            source.refuse_repeated(result.seen_ids.repeated_hashes())
        if job.segments is not None:
            drop_other_parts(job.segments, marks)
            refuse_parts_of_other_runs(job.segments, marks)
    return result


def _outcomes(
    stack: ExitStack,
    plan: ScoringPlan,
    partitions: Iterable[Partition],
    job: PartitionJob,
    finished: FinishedPartitions | None,
) -> Generator[tuple[Partition, PartitionOutcome], None, None]:
    """Each partition with its outcome, in order, from the engine of the plan."""
    key = job.key

    def earlier_fingerprint(partition: Partition) -> str | None:
        return None if finished is None else finished.fingerprint(partition.name, key)

    has_fingerprint = finished is not None
    if plan.engine == "local":
        return outcomes_here(partitions, job, earlier_fingerprint, with_fingerprint=has_fingerprint)
    from wellput.engine.ray_cluster import outcomes_on_cluster, ray_cluster

    ray = stack.enter_context(ray_cluster(plan.address, plan.threads))
    return outcomes_on_cluster(
        ray, partitions, job, earlier_fingerprint, with_fingerprint=has_fingerprint
    )


def outcomes_here(
    partitions: Iterable[Partition],
    job: PartitionJob,
    earlier_fingerprint: EarlierFingerprint,
    *,
    with_fingerprint: bool,
) -> Generator[tuple[Partition, PartitionOutcome], None, None]:
    """Each partition with its outcome, one after another, each on all threads of this process."""
    for number, partition in enumerate(partitions):
        for _ in range(MAX_ATTEMPTS_PER_PARTITION):
            try:
                outcome = evaluate_partition(
                    partition, number, job, earlier_fingerprint(partition), with_fingerprint
                )
                break
            except Exception as error:
                outcome = failed_each_time(error)
        yield partition, outcome


def _add_outcome(
    result: Collection,
    partition: Partition,
    outcome: PartitionOutcome,
    job: PartitionJob,
    finished: FinishedPartitions | None,
    on_progress: OnProgress,
) -> None:
    """Adds the statistics of an evaluated or unchanged partition to `result`."""
    if isinstance(outcome, Evaluated):
        blocks = outcome.blocks
        if finished is not None and outcome.fingerprint is not None:
            finished.save(partition.name, job.key, outcome.fingerprint, blocks)
    else:
        assert finished is not None, "only what was finished before is unchanged"
        blocks = finished.load(partition.name, job.key)
    for block in blocks:
        result.add(block)
    on_progress(sum(block.items for block in blocks))


def _skipped(partition: Partition, failed: Failed, on_error: OnError) -> SkippedPartition:
    """The skipped partition. Raises the failure's error instead if the run must stop: if `on_error` is
    "stop", or if something cannot be written, for example because the disk is full."""
    if on_error == "skip" and not isinstance(failed.cause, OutputError):
        return SkippedPartition(partition.name, failed.reason)
    if failed.cause is not None:
        raise failed.cause
    raise InputError(failed.reason)
