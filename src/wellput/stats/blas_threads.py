"""One thread for the linear algebra of small matrices.

OpenBLAS, which comes with NumPy and SciPy, otherwise wakes all cores: slower for small matrices, by far
on a busy machine, and the last digits depend on the number of cores. The command line sets this for its
whole process; in Python the rest of the process is the user's.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy
import scipy

PREFIXES = ("scipy_openblas", "openblas")
SUFFIXES = ("", "64_")


class ThreadCount(NamedTuple):
    """How many threads OpenBLAS has, and how to change that."""

    get: Callable[[], int]
    set: Callable[[int], None]


_lock = Lock()
_before: list[list[int]] = []
"""The numbers of threads outside, once for each block that is entered."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """NumPy's OpenBLAS and SciPy's have one thread inside, and outside as many as before. Other
    libraries, such as MKL, are left as they are."""
    counts = openblas_threads()
    with _lock:  # blocks of several threads may overlap: the first one knows what was before
        _before.append(_before[0] if _before else [count.get() for count in counts])
        for count in counts:
            count.set(1)
    try:
        yield
    finally:
        with _lock:
            before = _before.pop()
            if not _before:
                for count, n in zip(counts, before, strict=True):
                    count.set(n)


@cache
def openblas_threads() -> list[ThreadCount]:
    """The functions of NumPy's OpenBLAS and SciPy's, which are two; empty where they have another
    library."""
    found: list[ThreadCount] = []
    for package in (Path(numpy.__file__).parent, Path(scipy.__file__).parent):
        for folder in (package.parent / f"{package.name}.libs", package / ".dylibs"):
            found += filter(None, map(_thread_count, sorted(folder.glob("*openblas*"))))
    return found


def _thread_count(path: Path) -> ThreadCount | None:
    library = ctypes.CDLL(str(path))
    for prefix in PREFIXES:
        for end in SUFFIXES:
            getter, setter = (f"{prefix}_{verb}_num_threads{end}" for verb in ("get", "set"))
            if hasattr(library, setter):
                return ThreadCount(getattr(library, getter), getattr(library, setter))
    return None
