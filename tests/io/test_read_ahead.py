"""Reading ahead: in order, not too far, and over when nobody wants more."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from wellput.io.item_lines import read_ahead


def test_values_come_in_order() -> None:
    assert list(read_ahead(range(100))) == list(range(100))


def test_it_reads_no_further_than_asked() -> None:
    taken: list[int] = []

    def values() -> Iterator[int]:
        for i in range(50):
            taken.append(i)
            yield i

    ahead = read_ahead(values(), ahead=2)
    assert next(ahead) == 0
    time.sleep(0.3)
    # One is used, two wait in the queue, and the thread holds one.
    assert len(taken) <= 4
    ahead.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name == "read ahead"]


def test_an_error_comes_in_its_place() -> None:
    def values() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    seen = []
    with pytest.raises(ValueError, match="broken"):
        for value in read_ahead(values()):
            seen.append(value)  # noqa: PERF402
    assert seen == [1]
