"""Finding repeated item ids among millions, without keeping the ids."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING

from wellput import _native

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_HASHES_IN_MEMORY = 1 << 22
MAX_REPEATED_HASHES = 10_000
"""About this many repeated hashes are collected; more would only make a message longer."""
HASH_RANGES = 64
"""The number of equal ranges into which hashes are divided, so that few of them are compared at a
time."""


class SeenIds:
    """The hashes (eight bytes each) of the ids that were read in one pass over a file. They are in
    memory while they are few; if there are many, they are in sorted runs (parts) of a temporary file.

    Different ids may have equal hashes, so a hash that occurs twice is not yet a repeated id: a second
    pass compares the ids themselves (`repeated`). Hashes are the same in every process.
    """

    def __init__(self, *, in_memory: int = MAX_HASHES_IN_MEMORY) -> None:
        self._max_in_memory = in_memory
        self._hashes: list[NDArray[np.uint64]] = []
        self._n_in_memory = 0
        self.total = 0
        self._runs: list[tuple[int, int]] = []
        self._file: IO[bytes] | None = None

    def add(self, ids: Sequence[str]) -> None:
        self.add_hashes(_native.text_hashes(ids))

    def add_hashes(self, hashes: NDArray[np.uint64]) -> None:
        self._hashes.append(hashes)
        self._n_in_memory += len(hashes)
        self.total += len(hashes)
        if self._n_in_memory >= self._max_in_memory:
            self._spill()

    def repeated_hashes(self) -> frozenset[int]:
        """The hashes that occur more than once, at most about `MAX_REPEATED_HASHES`."""
        import numpy as np  # imported here because readers of other files do not need it

        if self._file is None:
            return _repeated_hashes(self._hashes)
        self._spill()
        self._file.flush()
        mapped = np.memmap(self._file, np.uint64, "r")
        runs = [mapped[start:stop] for start, stop in self._runs]
        # Equal hashes are in the same range: each range is compared in all runs at once.
        bounds = np.array([2**64 // HASH_RANGES * i for i in range(1, HASH_RANGES)], np.uint64)
        cuts = [[0, *np.searchsorted(run, bounds).tolist(), len(run)] for run in runs]
        repeated_hashes: frozenset[int] = frozenset()
        for place in range(HASH_RANGES):
            pieces = [run[cut[place] : cut[place + 1]] for run, cut in zip(runs, cuts, strict=True)]
            repeated_hashes |= _repeated_hashes(pieces)
            if len(repeated_hashes) >= MAX_REPEATED_HASHES:
                break
        return repeated_hashes

    def _spill(self) -> None:
        """Moves the hashes in memory to the temporary file, as a sorted run."""
        import numpy as np

        if not self._hashes:
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
            weakref.finalize(self, self._file.close)
        run = np.sort(np.concatenate(self._hashes))
        start = self._runs[-1][1] if self._runs else 0
        self._file.write(run.data)
        self._runs.append((start, start + len(run)))
        self._hashes, self._n_in_memory = [], 0


def _repeated_hashes(pieces: Sequence[NDArray[np.uint64]]) -> frozenset[int]:
    """The hashes that occur more than once in these arrays together."""
    import numpy as np

    if not pieces:
        return frozenset()
    hashes = np.sort(np.concatenate(pieces))
    return frozenset(
        np.unique(hashes[1:][hashes[1:] == hashes[:-1]])[:MAX_REPEATED_HASHES].tolist()
    )


def repeated(
    numbered_ids: Iterable[tuple[str, str]], repeated_hashes: frozenset[int]
) -> dict[str, list[str]]:
    """The ids that really occur more than once, each with its places (such as line numbers).
    `numbered_ids` has pairs of a place and an id; `repeated_hashes` are those of the `SeenIds`."""
    places: dict[str, list[str]] = {}
    for place, identifier in numbered_ids:
        if int(_native.text_hashes([identifier])[0]) in repeated_hashes:
            places.setdefault(identifier, []).append(place)
    return {identifier: found for identifier, found in places.items() if len(found) > 1}
