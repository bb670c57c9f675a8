"""The words of a WordNet synset, named as NLTK names them: `car.n.01`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from wellput.core.errors import InputError
from wellput.language.lexicon import Category
from wellput.language.wordnet import WordNet, open_wordnet

NAME = re.compile(r"(.+)\.([nvasr])\.(\d+)")
CATEGORIES: dict[str, Category] = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}


class Synsets:
    """Looks synsets up; opens the WordNet that the user has when the first is asked for."""

    def __init__(self, path: str | None = None) -> None:
        self._path = path

    @cached_property
    def wordnet(self) -> WordNet:
        return open_wordnet(self._path)

    def __call__(self, name: str) -> Sequence[str]:
        """The members that are one word, the named one first."""
        found = NAME.fullmatch(name)
        if found is None:
            raise InputError(f"{name!r} names no synset; a name is like car.n.01 or run.v.04")
        lemma, category = found[1].replace("_", " ").lower(), CATEGORIES[found[2]]
        senses = self.wordnet.senses(lemma, category)
        rank = int(found[3])
        if not 1 <= rank <= len(senses):
            raise InputError(f"{self.wordnet.name} has {len(senses)} senses of {lemma}, not {rank}")
        members = [member for member in senses[rank - 1].members if " " not in member]
        return sorted(members, key=lambda member: member.lower() != lemma) or [lemma]
