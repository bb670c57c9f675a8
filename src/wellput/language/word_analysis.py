"""Lemma and universal category of a word whose Penn tag and relation are known.

Both follow from tables learned from a treebank: a lemma is the word with some letters at its end
exchanged, by the longest ending known; a universal category goes with the tag, the relation
(auxiliaries are AUX, markers SCONJ) and the word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Self

from numpy.typing import NDArray

from wellput.core.tree import Tree, Word
from wellput.io.model_files import ModelFile
from wellput.language.usual_values import UsualValues

LONGEST_ENDING = 5
AS_IT_STANDS = "="


@dataclass(frozen=True)
class WordAnalysis:
    """What was learned of lemmas and of categories."""

    lemmas: UsualValues
    categories: UsualValues

    @classmethod
    def learn(cls, trees: Iterable[Tree]) -> Self:
        words = [word for tree in trees for word in tree.words]
        return cls(
            UsualValues.learn((_lemma_keys(w.form, w.xpos), _change(w)) for w in words),
            UsualValues.learn((_category_keys(w.form, w.xpos, w.relation), w.upos) for w in words),
        )

    def lemma(self, form: str, xpos: str) -> str:
        change = self.lemmas.get(_lemma_keys(form, xpos), AS_IT_STANDS)
        if change == AS_IT_STANDS:
            return form
        removed, _, added = change.partition(" ")
        lower = form.lower()
        return lower[: max(len(lower) - int(removed), 0)] + added or form

    def category(self, form: str, xpos: str, relation: str) -> str:
        return self.categories.get(_category_keys(form, xpos, relation), "X")

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return {**self.lemmas.arrays("lemmas"), **self.categories.arrays("categories")}

    @classmethod
    def from_file(cls, file: ModelFile) -> Self:
        return cls(UsualValues.from_file(file, "lemmas"), UsualValues.from_file(file, "categories"))


def _lemma_keys(form: str, xpos: str) -> tuple[str, ...]:
    lower = form.lower()
    endings = (f"{xpos} -{lower[-n:]}" for n in range(1, min(LONGEST_ENDING, len(lower)) + 1))
    return (xpos, *endings, f"{xpos} {lower}")


def _category_keys(form: str, xpos: str, relation: str) -> tuple[str, ...]:
    return (xpos, f"{xpos} {relation}", f"{xpos} {relation} {form.lower()}")


def _change(word: Word) -> str:
    """What makes the lemma of the form: how many letters go, and what comes in their place."""
    lower = word.form.lower()
    if word.lemma == word.form != lower:  # a name; otherwise capitals are the sentence's
        return AS_IT_STANDS
    pairs = zip(lower, word.lemma, strict=False)
    kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return f"{len(lower) - kept} {word.lemma[kept:]}"
