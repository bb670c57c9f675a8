"""How the program ends after an error or a signal.

A signal that asks the program to stop (Ctrl-C, SIGTERM, a closed terminal) is raised as an exception,
so that half-written files are removed. Then the program kills itself with the same signal, so that its
parent process sees the cause: a shell also ends the loop in which it called the program, and a
supervisor sees a clean stop. A closed pipe is treated in the same way.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

import click

from wellput.core.errors import printable

STOP_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)

OUT_OF_MEMORY = (
    "Out of memory. Score fewer items at a time, do without what keeps a row for each item "
    "(intervals, paired tests, --explain), or use fewer --threads."
)


class Stopped(BaseException):
    """The program must end by this signal. It is a BaseException so that no `except Exception` catches
    it."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Within the block, signals that would kill the program raise Stopped. A signal that is ignored
    (`nohup`) or already has a handler is not changed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handled_signals = [
        number for number in STOP_SIGNALS if signal.getsignal(number) is signal.SIG_DFL
    ]
    for number in handled_signals:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number in handled_signals:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def closed_pipes_stop() -> Iterator[None]:
    """Within the block, a closed pipe (`wellput … | head`) raises Stopped."""
    try:
        yield
    except BrokenPipeError:
        raise Stopped(signal.SIGPIPE) from None


def _stop(number: int, _: FrameType | None) -> NoReturn:
    raise Stopped(number)


def refuse(message: object) -> NoReturn:
    """Prints the message on standard error and exits with code 2."""
    click.echo(f"wellput: {printable(str(message))}", err=True)
    _flush_or_drop_output()
    sys.exit(2)


def die_of(number: int) -> NoReturn:
    """Ends the program by this signal, as if the signal had not been caught."""
    _flush_or_drop_output()
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    sys.exit(128 + number)  # reached only if the signal is blocked


def _flush_or_drop_output() -> None:
    """Flushes standard output. If that fails, sends the unwritten output to the null device. Otherwise
    Python would try again at exit, and fail again."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        return
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
