"""The order in which tests run: as written, reversed, or shuffled by a seed.

No test may depend on another. CI shuffles by the commit, and `pytest --order shuffled:SEED` repeats it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")


def ordered(tests: Sequence[T], order: str, *, module_of: Callable[[T], object]) -> list[T]:
    """`order` is `written`, `reversed` or `shuffled:SEED`, where any text is a seed.

    Tests of a module stay together, since what they share is made once for the module.
    """
    kind, _, seed = order.partition(":")
    if order == "written":
        return list(tests)
    if order == "reversed":
        return list(tests)[::-1]
    if kind != "shuffled" or not seed:
        raise pytest.UsageError(f"--order is written, reversed or shuffled:SEED, not {order!r}")
    rng = random.Random(seed)
    modules: dict[object, list[T]] = {}
    for test in tests:
        modules.setdefault(module_of(test), []).append(test)
    shuffled = rng.sample(list(modules.values()), len(modules))
    return [test for module in shuffled for test in rng.sample(module, len(module))]
