"""Names as numbers: a *place* is the position of a name in a list of different names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Places: TypeAlias = NDArray[np.intp]


def places_of(names: Sequence[str], known: Sequence[str] | None = None) -> Places:
    """The place of each name in `known`, or else among the different names in order of appearance.

    >>> places_of(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    at = {name: place for place, name in enumerate(known or dict.fromkeys(names))}
    return np.array([at[name] for name in names], dtype=np.intp)


def sorted_places_of(names: Sequence[str]) -> Places:
    """The place of each name among the different names in alphabetical order.

    >>> sorted_places_of(["b", "a", "b"]).tolist()
    [1, 0, 1]
    """
    return np.asarray(np.unique(np.asarray(names), return_inverse=True)[1], dtype=np.intp)
