"""The protocol `Lexicon`, common to all WordNet file formats: senses of a lemma, irregular forms.

A *lemma* is looked up in lower case; members of a synset keep their capitals, with spaces between
the words. A *synset* is a set of words that share one meaning; its id is unique within its lexicon.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

Category = Literal["noun", "verb", "adj", "adv"]
CATEGORIES: tuple[Category, ...] = ("noun", "verb", "adj", "adv")
# As sense keys and file formats abbreviate them; s is a satellite adjective.
CATEGORY_OF_LETTER: dict[str, Category] = {
    "n": "noun",
    "v": "verb",
    "a": "adj",
    "s": "adj",
    "r": "adv",
}


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of a lemma.

    `rank` counts from 1, the most frequent sense in the lexicon's order. `tag_count` is how often the
    sense occurs in the tagged texts that WordNet was built with; None where the files do not say.
    """

    lemma: str
    category: Category
    synset: str
    rank: int
    tag_count: int | None
    members: tuple[str, ...]


class Lexicon(Protocol):
    """A WordNet in any file format."""

    @property
    def name(self) -> str:
        """Where it was read from."""

    def __contains__(self, entry: tuple[str, Category]) -> bool:
        """Whether a lower-cased lemma has a sense in this category."""

    def senses(self, lemma: str, category: Category) -> list[Sense]:
        """The senses of a lower-cased lemma, in order of rank; none for an unknown one."""

    def lemmas(self, category: Category) -> Iterable[str]:
        """Every lower-cased lemma of a category."""

    def exceptions(self, category: Category) -> Mapping[str, tuple[str, ...]]:
        """Irregular form → its lemmas, lower-cased."""
