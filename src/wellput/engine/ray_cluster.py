"""Evaluating partitions on the workers of a Ray cluster, on one machine or many.

Every worker needs wellput and the files, at the same paths or URLs. If a worker dies, Ray replaces it
and its partition is evaluated again.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from itertools import islice
from typing import Any, TextIO, TypeVar, cast

from wellput.core.errors import InputError, MissingExtra
from wellput.core.source import Partition
from wellput.engine.partitions import (
    MAX_ATTEMPTS_PER_PARTITION,
    EarlierFingerprint,
    Failed,
    PartitionJob,
    PartitionOutcome,
    evaluate_partition,
    failed_each_time,
)

K = TypeVar("K")

COLOR_CODE = re.compile(r"\x1b\[[0-9;]*m")

TASKS_PER_PROCESSOR = 3
"""The number of tasks that are started at once for each processor: enough that no processor is idle,
and few enough that finished results which wait for earlier ones fit into memory."""


@contextmanager
def ray_cluster(address: str | None, processors: int) -> Iterator[Any]:
    """The module `ray`, connected to the cluster that this program already uses; or else to the
    cluster at `address` (or at `RAY_ADDRESS`); or else to a new cluster on this machine. A new
    connection or cluster ends with the block."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # canceled tasks raise errors
    try:
        import ray
    except ImportError:
        raise MissingExtra("The engine ray", "ray") from None
    if ray.is_initialized():
        yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS")
    options: dict[str, Any] = {"num_cpus": processors, "include_dashboard": False}
    if address is not None:
        options = {"address": address}
        _check_reachable(address)
    try:
        ray.init(logging_level=logging.ERROR, log_to_driver=False, **options)
    except Exception as error:  # Ray raises many kinds, also plain Exception
        where = "started on this machine" if address is None else f"reached at {address}"
        raise InputError(f"No Ray cluster could be {where}: {error}") from None
    try:
        with redirect_stdout(cast("TextIO", _Notices())):
            yield ray
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raises InputError within seconds if no server answers; Ray would wait for minutes."""
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdigit():
        return  # `auto`, or an address that Ray itself refuses
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise InputError(
            f"No Ray cluster could be reached at {address}: {error}. Is it started (ray start --head "
            "on that machine), and is this its port (6379 unless another was given)?"
        ) from None


class _Notices:
    """A replacement for standard output, where Ray prints notices such as the death of a worker. It
    writes the first two sentences of a notice to standard error, without colors and tracebacks."""

    def write(self, text: str) -> int:
        first_line = COLOR_CODE.sub("", text).strip().partition("\n")[0].removeprefix("(raylet) ")
        notice = ". ".join(first_line.split(". ")[:2])
        if notice and sys.stderr is not None:
            line_start = "\r" if sys.stderr.isatty() else ""  # overwrites the progress line
            sys.stderr.write(f"{line_start}wellput: Ray: {notice.rstrip('.')}.\n")
        return len(text)

    def flush(self) -> None:
        """Does nothing, because standard error is not buffered."""


def outcomes_on_cluster(
    ray: Any,
    partitions: Iterable[Partition],
    job: PartitionJob,
    earlier_fingerprint: EarlierFingerprint,
    *,
    with_fingerprint: bool,
) -> Generator[tuple[Partition, PartitionOutcome], None, None]:
    """Each partition with its outcome, in order; the workers of the cluster evaluate them."""
    shared = ray.put(job)
    calls = (
        (partition, (partition, number, shared, earlier_fingerprint(partition), with_fingerprint))
        for number, partition in enumerate(partitions)
    )
    for partition, task in tasks_in_order(ray, evaluate_partition, calls):
        yield partition, _outcome(ray, task)


def tasks_in_order(
    ray: Any, function: Callable[..., Any], calls: Iterable[tuple[K, Sequence[Any]]]
) -> Generator[tuple[K, Any], None, None]:
    """Calls the function on workers, several calls at a time; `calls` has pairs of a key and the
    arguments. Yields each key in order with its task, whose result the caller must wait for. If the
    generator is closed early, the remaining tasks are canceled."""
    remote = ray.remote(
        num_cpus=1, max_retries=MAX_ATTEMPTS_PER_PARTITION - 1, retry_exceptions=True
    )(function)
    max_waiting = TASKS_PER_PROCESSOR * max(1, int(ray.cluster_resources().get("CPU", 1)))
    waiting: deque[tuple[K, Any]] = deque()
    remaining_calls = iter(calls)
    try:
        while True:
            for key, arguments in islice(remaining_calls, max_waiting - len(waiting)):
                waiting.append((key, remote.remote(*arguments)))
            if not waiting:
                return
            yield waiting.popleft()
    finally:
        for _, task in waiting:
            ray.cancel(task, force=True)


def _outcome(ray: Any, task: Any) -> PartitionOutcome:
    """The outcome of a task; a failure if every attempt failed."""
    try:
        outcome: PartitionOutcome = ray.get(task)
    except ray.exceptions.RayTaskError as error:
        return failed_each_time(error.cause)
    except ray.exceptions.RayError as error:
        reason = str(error).partition("\n")[0]
        return Failed(f"{MAX_ATTEMPTS_PER_PARTITION} workers died while evaluating it: {reason}")
    return outcome
