"""Statistics from partitions: by this process or a cluster, from the start or where a run stopped.

Partitions may finish in any order and on any machine; their blocks are added in file order, so the
digits are those of one pass over the whole.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace

from wellput.core.errors import InputError, OutputError
from wellput.core.metric import Metric
from wellput.core.progress import OnPhase, OnProgress, together, unheard_phase
from wellput.core.source import EvalSource, Partition
from wellput.engine.collect import Collection, prepare_all
from wellput.engine.finished import FinishedPartitions
from wellput.engine.partitions import (
    ATTEMPTS,
    Before,
    Evaluated,
    Failed,
    Job,
    Outcome,
    evaluate,
    failed_each_time,
)
from wellput.engine.plan import OnError, Plan
from wellput.engine.result import Skipped
from wellput.io.segment_folder import drop_other_parts, gathering_parts


def collect_partitions(
    source: EvalSource,
    metrics: Sequence[Metric],
    plan: Plan,
    on_progress: OnProgress,
    on_phase: OnPhase = unheard_phase,
) -> Collection:
    """Evaluates the partitions as planned and adds up what they give."""
    on_phase("preparing metrics")
    result = Collection(prepare_all(metrics, source.unparsed))
    threads = plan.threads if plan.engine == "local" else 1
    partitions = source.partitions(threads=threads)
    job = Job(
        result.metrics,
        threads=threads,
        keep_rows=plan.keep_rows,
        hash_ids=not source.are_ids_checked_by_partition,
        parser=plan.parser,
    )
    finished = None if plan.resume is None else FinishedPartitions(plan.resume)
    written: list[int] = []
    with ExitStack() as stack:
        if plan.segments is not None:
            folder = gathering_parts(plan.segments, is_resumed=plan.resume is not None)
            job = replace(job, segments=stack.enter_context(folder))
        if plan.engine == "ray":
            on_phase("starting the cluster")
        # Left early, it must end before the cluster does.
        outcomes = stack.enter_context(closing(_outcomes(stack, plan, partitions, job, finished)))
        on_progress = together(on_progress, on_phase("scoring items"))
        on_progress(0)  # a cluster takes seconds to start, the first partition more
        for number, (partition, outcome) in enumerate(outcomes):
            if isinstance(outcome, Failed):
                result.skipped.append(_skipped(partition, outcome, plan.on_error))
            else:
                written.append(number)
                _add(result, partition, outcome, job, finished, on_progress)
        if not source.are_ids_checked_by_partition:
            source.refuse_repeated(result.seen.suspects())
        if job.segments is not None:
            drop_other_parts(job.segments, written)
    return result


def _outcomes(
    stack: ExitStack,
    plan: Plan,
    partitions: Iterable[Partition],
    job: Job,
    finished: FinishedPartitions | None,
) -> Generator[tuple[Partition, Outcome], None, None]:
    key = job.key

    def before(partition: Partition) -> str | None:
        return None if finished is None else finished.fingerprint(partition.name, key)

    has_fingerprint = finished is not None
    if plan.engine == "local":
        return outcomes_here(partitions, job, before, with_fingerprint=has_fingerprint)
    from wellput.engine.ray_cluster import outcomes_on_cluster, ray_cluster

    ray = stack.enter_context(ray_cluster(plan.address, plan.threads))
    return outcomes_on_cluster(ray, partitions, job, before, with_fingerprint=has_fingerprint)


def outcomes_here(
    partitions: Iterable[Partition], job: Job, before: Before, *, with_fingerprint: bool
) -> Generator[tuple[Partition, Outcome], None, None]:
    """Each partition with its outcome, one after another, each on all threads."""
    for number, partition in enumerate(partitions):
        for _ in range(ATTEMPTS):
            try:
                outcome = evaluate(partition, number, job, before(partition), with_fingerprint)
                break
            except Exception as error:
                outcome = failed_each_time(error)
        yield partition, outcome


def _add(
    result: Collection,
    partition: Partition,
    outcome: Outcome,
    job: Job,
    finished: FinishedPartitions | None,
    on_progress: OnProgress,
) -> None:
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


def _skipped(partition: Partition, failed: Failed, on_error: OnError) -> Skipped:
    """Raises where the run is to stop; a full disk, which is no fault of the partition, always does."""
    if on_error == "skip" and not isinstance(failed.cause, OutputError):
        return Skipped(partition.name, failed.reason)
    if failed.cause is not None:
        raise failed.cause
    raise InputError(failed.reason)
