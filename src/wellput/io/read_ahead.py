"""Reading the next values while the last ones are being used, a few at a time and no more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 0.1
"""Seconds after which a waiting reader looks whether anybody still wants its values."""


def read_ahead(values: Iterable[T], *, ahead: int = 2) -> Iterator[T]:
    """The same values, read by a thread that is at most `ahead` values in advance.

    What the reading raises is raised here, in its place. Leaving the iterator early, by an
    interruption too, ends the thread.
    """
    ready: Queue[tuple[T] | BaseException | None] = Queue(ahead)
    is_left = Event()

    def put(entry: tuple[T] | BaseException | None) -> bool:
        while not is_left.is_set():
            try:
                ready.put(entry, timeout=PATIENCE)
                return True
            except Full:
                continue
        return False

    def read() -> None:
        try:
            for value in values:
                if not put((value,)):
                    return
            put(None)
        except BaseException as error:  # to be raised where the values are used
            put(error)

    reader = Thread(target=read, name="read ahead", daemon=True)
    reader.start()
    try:
        while True:
            try:
                entry = ready.get(timeout=PATIENCE)  # a wait without end could not be interrupted
            except Empty:
                continue
            if entry is None:
                return
            if isinstance(entry, BaseException):
                raise entry
            yield entry[0]
    finally:
        is_left.set()
        reader.join()
