"""The progress line, which says what a command is doing if the command takes longer than 0.7 seconds.

The line is on standard error, if that is a terminal, and is removed before anything else is printed. A
thread redraws it, so that the time in it advances even while the work reports no progress.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import TextIO

from wellput.core.work import OnPhase, OnProgress, ignore_phase

STARTED_SECONDS = time.monotonic()
SHOWN_AFTER_SECONDS = 0.7
"""The line appears this long after the start of the program."""
REDRAW_SECONDS = 0.2


@contextmanager
def progress(*, is_slow: bool = False) -> Iterator[OnPhase]:
    """Gives the function to call at the beginning of each phase: `on_phase("scoring items")`. With
    `is_slow`, for a command that always takes over a second, the line is shown from the start."""
    global _line
    if sys.stderr is None or not sys.stderr.isatty():
        yield ignore_phase
        return
    line = _line = Line(sys.stderr, after=0.0 if is_slow else SHOWN_AFTER_SECONDS)
    thread = Thread(target=line.keep_drawing, daemon=True)
    thread.start()
    try:
        yield line.begin
    finally:
        line.stop()
        thread.join()
        _line = None


def say(text: str) -> None:
    """Prints a line on standard error, after removing the progress line."""
    if _line is not None:
        _line.clear()
    if sys.stderr is not None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


@dataclass
class _Phase:
    """A phase of the work: what is done, how many steps it has and are done, and how long it took."""

    what: str
    total: int | None = None
    done: int = 0
    seconds: float = 0.0


class Line:
    """The progress line. It shows the phase that reported last."""

    def __init__(self, terminal: TextIO, *, after: float) -> None:
        self._terminal = terminal
        self._after = after
        self._lock = Lock()
        self._stopped = Event()
        self._phases: dict[str, _Phase] = {}
        self._current: _Phase | None = None
        self._current_since = time.monotonic()
        self._width = 0

    def begin(self, what: str, total: int | None = None) -> OnProgress:
        """Begins the phase named `what`, or continues it; `total`, the number of steps, is added to the
        phase's total. Returns the function to call with the number of steps done."""
        phase = self._phases.setdefault(what, _Phase(what))
        if total is not None:
            phase.total = (phase.total or 0) + total

        def advance(n: int) -> None:
            phase.done += n
            if phase is not self._current:
                self._turn_to(phase)

        advance(0)
        return advance

    def keep_drawing(self) -> None:
        while not self._stopped.wait(REDRAW_SECONDS):
            self.draw()

    def draw(self) -> None:
        with self._lock:
            is_early = time.monotonic() - STARTED_SECONDS < self._after
            if self._current is None or is_early or self._stopped.is_set():
                return
            self._write(self._text(self._current)[: self._columns() - 1])

    def clear(self) -> None:
        with self._lock:
            if self._width:
                self._write("")
                self._terminal.write("\r")
                self._terminal.flush()

    def stop(self) -> None:
        self._stopped.set()
        self.clear()

    def _turn_to(self, phase: _Phase) -> None:
        now = time.monotonic()
        if self._current is not None:
            self._current.seconds += now - self._current_since
        self._current, self._current_since = phase, now
        self.draw()

    def _text(self, phase: _Phase) -> str:
        """The text of the line, such as `parsing references 120/2,000, 40 a second`."""
        seconds = phase.seconds + time.monotonic() - self._current_since
        if phase.total is not None:
            text = f"{phase.what} {phase.done:,}/{phase.total:,}"
        else:
            text = f"{phase.what} {phase.done:,}" if phase.done else phase.what
        rate = phase.done / seconds if seconds > 0 else 0.0
        if rate >= 1:
            return f"{text}, {rate:,.0f} a second"
        return f"{text}, {seconds:,.0f} s" if seconds >= 1 else text

    def _write(self, text: str) -> None:
        self._terminal.write("\r" + text.ljust(self._width))
        self._terminal.flush()
        self._width = len(text)

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._terminal.fileno()).columns or 80
        except (OSError, ValueError):
            return 80


_line: Line | None = None
