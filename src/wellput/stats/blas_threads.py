"""One thread for the linear algebra of small matrices.

By default OpenBLAS, which comes with NumPy and SciPy, uses all cores. For small matrices this is
slower, by far on a busy machine, and the last digits depend on the number of cores. The command line
uses one thread for its whole process. In a Python program only wellput's own computations do
(`one_blas_thread`), because the other code in the process may need more threads.
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
"""What the names of OpenBLAS's functions may begin and end with: it depends on how the library was
built."""


class ThreadCount(NamedTuple):
    """How many threads OpenBLAS has, and how to change that."""

    get: Callable[[], int]
    set: Callable[[int], None]


_lock = Lock()
_counts_outside: list[list[int]] = []
"""For each `with` block that runs now: the numbers of threads outside all blocks."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context (`with` block) in which NumPy's and SciPy's OpenBLAS use one thread; after it, as many
    as before. Other libraries, such as MKL, are left as they are."""
    counts = openblas_threads()
    with _lock:  # blocks of several threads may overlap: only the first sees the numbers outside
        _counts_outside.append(
            _counts_outside[0] if _counts_outside else [count.get() for count in counts]
        )
        for count in counts:
            count.set(1)
    try:
        yield
    finally:
        with _lock:
            counts_before = _counts_outside.pop()
            if not _counts_outside:
                for count, n in zip(counts, counts_before, strict=True):
                    count.set(n)


@cache
def openblas_threads() -> list[ThreadCount]:
    """The functions that read and set the number of threads, for each copy of OpenBLAS: NumPy and SciPy
    each bring their own. Empty where they use another library."""
    thread_counts: list[ThreadCount] = []
    for package in (Path(numpy.__file__).parent, Path(scipy.__file__).parent):
        for folder in (package.parent / f"{package.name}.libs", package / ".dylibs"):
            thread_counts += filter(None, map(_thread_count, sorted(folder.glob("*openblas*"))))
    return thread_counts


def _thread_count(path: Path) -> ThreadCount | None:
    """The two functions of the library at this path; None where it has none of the known names."""
    library = ctypes.CDLL(str(path))
    for prefix in PREFIXES:
        for suffix in SUFFIXES:
            getter, setter = (f"{prefix}_{verb}_num_threads{suffix}" for verb in ("get", "set"))
            if hasattr(library, setter):
                return ThreadCount(getattr(library, getter), getattr(library, setter))
    return None
