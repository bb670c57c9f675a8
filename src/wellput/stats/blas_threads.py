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

import scipy

PREFIXES = ("scipy_openblas", "openblas")
SUFFIXES = ("", "64_")


class ThreadCount(NamedTuple):
    """How many threads OpenBLAS has, and how to change that."""

    get: Callable[[], int]
    set: Callable[[int], None]


_lock = Lock()
_before: list[int] = []
"""The number of threads outside, once for each block that is entered."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """SciPy's OpenBLAS has one thread inside, and outside as many as before. Other libraries, such as
    MKL, are left as they are."""
    count = openblas_threads()
    if count is None:
        yield
        return
    with _lock:  # blocks of several threads may overlap: the first one knows what was before
        _before.append(_before[0] if _before else count.get())
        count.set(1)
    try:
        yield
    finally:
        with _lock:
            before = _before.pop()
            if not _before:
                count.set(before)


@cache
def openblas_threads() -> ThreadCount | None:
    """The functions of SciPy's OpenBLAS; None where SciPy has another library."""
    package = Path(scipy.__file__).parent
    for folder in (package.parent / "scipy.libs", package / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            library = ctypes.CDLL(str(path))
            for name in (
                f"{prefix}_{{}}_num_threads{end}" for prefix in PREFIXES for end in SUFFIXES
            ):
                if hasattr(library, name.format("set")):
                    return ThreadCount(
                        getattr(library, name.format("get")), getattr(library, name.format("set"))
                    )
    return None
