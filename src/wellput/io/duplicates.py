"""Finding item ids that occur twice among millions, without keeping the ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


class SeenIds:
    """The hashes of the ids of one pass over a file: eight bytes an id.

    Equal hashes only make ids suspects; a second pass looks at the ids themselves.
    """

    def __init__(self) -> None:
        self._blocks: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []

    def add(self, ids: Sequence[str]) -> None:
        self._blocks.append(np.fromiter(map(hash, ids), np.int64, len(ids)))

    def suspects(self) -> frozenset[int]:
        """The hashes that occur more than once."""
        if not self._blocks:
            return frozenset()
        hashes = np.concatenate(self._blocks)
        hashes.sort()
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
