"""Replacements by distribution alone: LSA's nearest words, and words of the same Brown class."""

from __future__ import annotations

from collections.abc import Mapping, Set

import numpy as np
from numpy.typing import NDArray

from wellput.language.paraphrase.candidates import Replacement
from wellput.language.paraphrase.function_words import FUNCTION_WORDS
from wellput.language.paraphrase.lsa import WordVectors

NEIGHBORS = 20


class LsaCandidates:
    """The 20 most similar words; the prior is the cosine."""

    name = "lsa"

    def __init__(self, vectors: WordVectors, fingerprint: str) -> None:
        self._vectors = vectors
        self._found: dict[str, dict[str, Replacement]] = {}
        self.fingerprint = fingerprint

    def may_be_phrase(self, words: tuple[str, ...]) -> bool:
        return False

    def replacements(
        self, text: str, tag: str | None, offered: Set[str]
    ) -> Mapping[str, Replacement]:
        found = self._found.get(text)
        if found is None:
            near = [] if text in FUNCTION_WORDS else self._vectors.nearest(text, NEIGHBORS)
            found = {
                word: Replacement(word, self.name, max(0.0, cosine))
                for word, cosine in near
                if word not in FUNCTION_WORDS
            }
            self._found[text] = found
        return {other: found[other] for other in found.keys() & offered}


class BrownCandidates:
    """The most frequent 20 words of each class stand for each other; the prior is 1."""

    name = "brown"

    def __init__(self, words: list[str], classes: NDArray[np.uint16], fingerprint: str) -> None:
        members: dict[int, list[str]] = {}
        for word, number in zip(words, classes.tolist(), strict=False):  # most frequent first
            members.setdefault(number, []).append(word)
        self._found: dict[str, dict[str, Replacement]] = {}
        for all_members in members.values():
            own = [word for word in all_members[:NEIGHBORS] if word not in FUNCTION_WORDS]
            entries = {word: Replacement(word, self.name, 1.0) for word in own}
            for word in own:
                self._found[word] = {other: r for other, r in entries.items() if other != word}
        self.fingerprint = fingerprint

    def may_be_phrase(self, words: tuple[str, ...]) -> bool:
        return False

    def replacements(
        self, text: str, tag: str | None, offered: Set[str]
    ) -> Mapping[str, Replacement]:
        found = self._found.get(text, {})
        return {other: found[other] for other in found.keys() & offered}
