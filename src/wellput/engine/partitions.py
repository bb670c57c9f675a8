"""The noun `Job`: what is computed of every partition, and how one partition is evaluated.

A partition is a run of whole blocks. An engine maps partitions to their block statistics; whoever
called it adds those up in order. `evaluate` is all that runs on a worker: it is given what it needs and
returns values, its failures too, because an exception may not survive the way home.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeAlias

from wellput import __version__
from wellput.core.errors import InputError, Unreachable, WellputError
from wellput.core.metric import Metric
from wellput.core.source import Partition
from wellput.engine.blocks import BlockStatistics, block_statistics
from wellput.io.segment_folder import has_part, writing_part

ATTEMPTS = 3


@dataclass(frozen=True)
class Job:
    """The same for all partitions. `threads` are those of one partition; `segments` is the folder where
    segment scores go, a file a partition; ids are hashed where somebody must look for repeated ones."""

    metrics: Sequence[Metric]
    threads: int
    keep_rows: bool = False
    hash_ids: bool = False
    segments: str | None = None
    parser: str | None = None

    @property
    def key(self) -> str:
        """A hash of everything that decides the statistics of given data."""
        signatures = [f"{metric.name} {metric.signature()}" for metric in self.metrics]
        claims = (__version__, self.keep_rows, self.hash_ids, self.parser, signatures)
        return hashlib.sha256(repr(claims).encode()).hexdigest()


@dataclass(frozen=True)
class Evaluated:
    """A partition's statistics. `fingerprint` is that of data and job, where it was asked for."""

    blocks: Sequence[BlockStatistics]
    fingerprint: str | None = None


@dataclass(frozen=True)
class Unchanged:
    """The partition is what it was when it was evaluated before."""

    fingerprint: str


@dataclass(frozen=True)
class Failed:
    """The partition cannot be evaluated: why, in words for the user. `cause` is what was raised, where
    it is no fault of the data."""

    reason: str
    cause: BaseException | None = None


def failed_each_time(error: BaseException) -> Failed:
    """For an error that came back however often the partition was evaluated."""
    told = str(error) if isinstance(error, WellputError) else repr(error)
    return Failed(f"{ATTEMPTS} attempts failed, the last with {told}", error)


Outcome: TypeAlias = Evaluated | Unchanged | Failed
Before: TypeAlias = Callable[[Partition], str | None]
"""The fingerprint of a partition and its job when it was finished before, None if it never was."""


def evaluate(
    partition: Partition, number: int, job: Job, before: str | None, with_fingerprint: bool
) -> Outcome:
    """Reads one partition and computes its statistics. `before` is the fingerprint of its data and job
    when it was finished before, if ever."""
    try:
        fingerprint = None
        if with_fingerprint:
            data = f"{job.key} {partition.fingerprint()}"
            fingerprint = hashlib.sha256(data.encode()).hexdigest()
            is_written = job.segments is None or has_part(job.segments, number, fingerprint)
            if fingerprint == before and is_written:
                return Unchanged(fingerprint)
        with ExitStack() as stack:
            writer = None
            if job.segments is not None:
                writer = stack.enter_context(writing_part(job.segments, number, fingerprint))
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
        raise  # to be tried again
    except InputError as error:
        return Failed(str(error))
