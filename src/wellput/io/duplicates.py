"""Finding item ids that occur twice among millions, without keeping the ids."""

from __future__ import annotations

from array import array
from collections.abc import Iterable


class SeenIds:
    """The hashes of the ids of one pass over a file: eight bytes an id.

    Equal hashes only make ids suspects; a second pass looks at the ids themselves.
    """

    def __init__(self) -> None:
        self._hashes = array("q")

    def add(self, ids: Iterable[str]) -> None:
        self._hashes.extend(map(hash, ids))

    def suspects(self) -> frozenset[int]:
        """The hashes that occur more than once."""
        import numpy as np  # here, so that reading a file of another kind need not load it

        hashes = np.sort(np.frombuffer(self._hashes, np.int64)) if self._hashes else np.empty(0)
        return frozenset(hashes[1:][hashes[1:] == hashes[:-1]].tolist())


def repeated(
    numbered_ids: Iterable[tuple[int, str]], suspects: frozenset[int]
) -> dict[str, list[int]]:
    """The ids that do occur more than once, with the numbers of their lines."""
    places: dict[str, list[int]] = {}
    for number, identifier in numbered_ids:
        if hash(identifier) in suspects:
            places.setdefault(identifier, []).append(number)
    return {identifier: numbers for identifier, numbers in places.items() if len(numbers) > 1}
