"""A progress bar on a terminal for what takes more than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_of(what: str, *, after: float = 1.0) -> Iterator[Callable[[int], None]]:
    """A function to call with the number of things just done."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    started = time.monotonic()
    done = 0
    shown_at = started + after - 0.2
    width = 0

    def advance(n: int) -> None:
        nonlocal done, shown_at, width
        done += n
        now = time.monotonic()
        if now - shown_at >= 0.2:
            shown_at = now
            line = f"{done:,} {what}"
            line += f", {done / (now - started):,.0f} a second" if done else ""
            sys.stderr.write("\r" + line.ljust(width))
            sys.stderr.flush()
            width = len(line)

    try:
        yield advance
    finally:
        if width:
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()
