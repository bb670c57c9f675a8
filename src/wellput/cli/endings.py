"""How the program ends when it does not end well: by a message and an exit code, or by a signal.

A signal that asks the program to stop (Ctrl-C, SIGTERM, a closed terminal) unwinds it like an error,
so that files half-written go away, and then kills it, so that whoever started it sees why it ended: a
shell stops its loop, a supervisor takes it for a clean stop. A closed pipe is such an end too.
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

STOP_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)

OUT_OF_MEMORY = (
    "Out of memory. Take fewer items at a time, leave out what keeps a row for each of them "
    "(intervals, paired tests, --explain), or allow fewer --threads."
)


class Stopped(BaseException):
    """The program is to end by this signal. No Exception: nothing on the way out may take it for one
    of its own."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Within the block, signals that would kill the program raise Stopped; one that is ignored
    (`nohup`) or handled already stays so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    mine = [number for number in STOP_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in mine:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def closed_pipes_stop() -> Iterator[None]:
    """The reader of our output went away (`wellput … | head`): nobody is left to tell."""
    try:
        yield
    except BrokenPipeError:
        raise Stopped(signal.SIGPIPE) from None


def _stop(number: int, _: FrameType | None) -> NoReturn:
    raise Stopped(number)


def refuse(message: object) -> NoReturn:
    """What the user brought, or the machine, does not allow it."""
    click.echo(f"wellput: {message}", err=True)
    _drop_output()
    sys.exit(2)


def die_of(number: int) -> NoReturn:
    """Ends as if the signal had not been caught."""
    _drop_output()
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    sys.exit(128 + number)  # where the signal is blocked


def _drop_output() -> None:
    """What is still in the buffer of standard output goes nowhere: writing it once more on the way out
    would fail once more."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        return
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
