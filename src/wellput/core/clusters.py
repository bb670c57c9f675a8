"""`Clusters`: groups of items that are not independent of each other, such as the sentences of a
document.

`places_of` turns names into numbers: the *place* of a name is its position in a list of different
names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError, counted, did_you_mean

MIN_CLUSTERS_FOR_CLAIMS = 5
"""If there are fewer clusters, wellput claims no difference between systems."""
DOCUMENT = "document"
ITEM = "item"
"""`cluster="item"` treats all items as independent, even if they have documents."""
NO_TAGS_ADVICE = (
    'Its items have no tags. A file of items can have them: "tags": {"domain": "news"} in JSONL, or a '
    "column tags.domain in CSV."
)


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """`codes` has the number (from 0) of each item's cluster, in the order of the items. `unit` says
    what a cluster is: "document", or the name of a tag. An item without a document (or without this
    tag) is a cluster of its own; `alone` has the codes of these clusters."""

    unit: str
    codes: NDArray[np.intp]
    alone: frozenset[int] = frozenset()

    @property
    def n(self) -> int:
        """The number of clusters."""
        return int(self.codes.max()) + 1 if len(self.codes) else 0

    @property
    def are_few(self) -> bool:
        """Whether there are too few clusters to claim a difference."""
        return self.n < MIN_CLUSTERS_FOR_CLAIMS

    @property
    def words(self) -> str:
        """The words that replace "items" in sentences such as "these systems, other documents"."""
        return f"{self.unit}s" if self.unit == DOCUMENT else f"values of {self.unit}"

    @property
    def number_in_words(self) -> str:
        """The number of clusters in words, such as "2 documents"."""
        noun = DOCUMENT if self.unit == DOCUMENT else f"value of {self.unit}"
        return counted(self.n, noun, self.words)

    @property
    def sentence(self) -> str:
        """How clusters were used, for a note below a table.

        >>> Clusters("document", np.array([0, 0, 1])).sentence
        'Items with the same document are not independent, so the units are 2 documents.'
        """
        text = (
            f"Items with the same {self.unit} are not independent, so the units are "
            f"{self.number_in_words}."
        )
        if n := len(self.alone):
            verbs = ("has", "counts") if n == 1 else ("have", "count")
            text += f" {counted(n, 'item')} {verbs[0]} no {self.unit} and {verbs[1]} alone."
        return text

    def of_items(self, items: NDArray[np.bool_]) -> Clusters:
        """The clusters of some of the items, with codes that count from 0 again.

        >>> Clusters("document", np.array([0, 0, 1, 2])).of_items(np.array([True, True, False, True])).n
        2
        """
        old_codes, codes = np.unique(self.codes[items], return_inverse=True)
        alone = frozenset(new for new, old in enumerate(old_codes.tolist()) if old in self.alone)
        return Clusters(self.unit, codes.astype(np.intp), alone)


def clusters_among(
    documents: Sequence[str | None],
    tags: Sequence[Mapping[str, str]],
    cluster: str | None,
) -> Clusters | None:
    """The clusters that `cluster` names: "document", "item" or a tag; by default "document", if items
    have documents. None if all items are independent."""
    if cluster == ITEM:
        return None
    if cluster is None or cluster == DOCUMENT:
        if not any(name is not None for name in documents):
            if cluster == DOCUMENT:
                raise InputError("cluster='document': no item of the evalset has a document.")
            return None
        return _clusters(DOCUMENT, documents)
    values = tag_values(tags, cluster, keyword="cluster")
    return _clusters(cluster, values)


def tag_values(tags: Sequence[Mapping[str, str]], tag: str, *, keyword: str) -> list[str | None]:
    """Each item's value of a tag; raises InputError if no item has the tag."""
    known = dict.fromkeys(name for item_tags in tags for name in item_tags)
    if tag not in known:
        advice = f"The tags are {', '.join(known)}." if known else NO_TAGS_ADVICE
        raise InputError(
            f"{keyword}={tag!r} is not a tag of the evalset.{did_you_mean(tag, list(known))} {advice}"
        )
    return [item_tags.get(tag) for item_tags in tags]


def _clusters(unit: str, names: Sequence[str | None]) -> Clusters:
    """The clusters of items, given the name of each item's cluster; an item without a name is a cluster
    of its own."""
    # The key of an item without a name is its place: a number, which equals no name.
    code_of: dict[str | int, int] = {}
    codes = np.array(
        [
            code_of.setdefault(place if name is None else name, len(code_of))
            for place, name in enumerate(names)
        ],
        np.intp,
    )
    alone = [code for code, name in zip(codes.tolist(), names, strict=True) if name is None]
    return Clusters(unit, codes, frozenset(alone))


Places: TypeAlias = NDArray[np.intp]
"""An array of places, one for each name, item or row."""


def places_of(names: Sequence[str], known: Sequence[str] | None = None) -> Places:
    """The place of each name in `known`; without `known`, its place among the different names in
    order of appearance.

    >>> places_of(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    place_of = {name: place for place, name in enumerate(known or dict.fromkeys(names))}
    return np.array([place_of[name] for name in names], dtype=np.intp)


def sorted_places_of(names: Sequence[str]) -> Places:
    """The place of each name among the different names in alphabetical order.

    >>> sorted_places_of(["b", "a", "b"]).tolist()
    [1, 0, 1]
    """
    return np.asarray(np.unique(np.asarray(names), return_inverse=True)[1], dtype=np.intp)
