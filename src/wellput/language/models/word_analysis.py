"""Lemma and universal category of a word whose Penn tag and relation are known; and the shapes that
stand for unknown words.

Both come from tables learned from a treebank. A lemma is the word with some letters at its end
replaced, by the longest known ending. A universal category follows from the tag, the relation
(auxiliaries are AUX, markers SCONJ) and the word.

Such a table is `UsualValues`: it gives the usual value of the most specific known key. An example has
keys from the general to the specific (`NNS`, `NNS -s`, `NNS -es`, `NNS boxes`) and a value. A key is
kept only if its usual value differs from that of its more general keys. So tables are small, and they
work for unseen words.

Shapes stand for words that a model has never seen. `shape_class` gives each word one class, by which
`word_number` numbers unknown words (the head-driven parser). `widening_shapes` gives descriptions from
the closest to the widest, and a model takes the closest one that it knows (the tree model).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Self

from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word
from wellput.io.model_files import ModelFile, packed_strings

MIN_VALUE_COUNT = 2


@dataclass(frozen=True)
class UsualValues:
    """Values by key. A specific key must determine its more general keys."""

    values: Mapping[str, str]

    @classmethod
    def learn(cls, examples: Iterable[tuple[Sequence[str], str]]) -> Self:
        """From (keys, value). The most general keys are always kept, others if seen twice."""
        counts: dict[tuple[int, tuple[str, ...]], Counter[str]] = {}
        for keys, value in examples:
            for level in range(len(keys)):
                counts.setdefault((level, tuple(keys[: level + 1])), Counter())[value] += 1
        table = cls(values := {})
        for (level, keys), found in sorted(counts.items()):
            # Of equally usual values the first in alphabetical order, so that ties are always equal.
            value, count = min(found.items(), key=lambda pair: (-pair[1], pair[0]))
            is_usual = level == 0 or count >= MIN_VALUE_COUNT
            if is_usual and table.get(keys[:-1]) != value:
                values[keys[-1]] = value
        return table

    def get(self, keys: Sequence[str], default: str = "") -> str:
        """The value of the last key that has one."""
        for key in reversed(keys):
            if (value := self.values.get(key)) is not None:
                return value
        return default

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """The arrays of the model file."""
        return {
            **packed_strings(f"{name}.keys", list(self.values)),
            **packed_strings(f"{name}.values", list(self.values.values())),
        }

    @classmethod
    def from_file(cls, file: ModelFile, name: str) -> Self:
        keys, values = file.strings(f"{name}.keys"), file.strings(f"{name}.values")
        return cls(dict(zip(keys, values, strict=True)))


LONGEST_ENDING = 5
AS_IT_STANDS = "="


@dataclass(frozen=True)
class WordAnalysis:
    """The tables of lemmas and of categories."""

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
        if not removed.isdecimal():
            raise InputError("The parser's rules for lemmas are damaged: train it again.")
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
    """The change from form to lemma: the number of letters to remove, and the letters to add."""
    lower = word.form.lower()
    if word.lemma == word.form != lower:  # a name; other words lose their capitals
        return AS_IT_STANDS
    pairs = zip(lower, word.lemma, strict=False)
    kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return f"{len(lower) - kept} {word.lemma[kept:]}"


CLASS_SUFFIXES = (
    "tion", "ment", "ness", "ship", "able", "ible", "less", "ical", "ing", "ful", "ous", "ive",
    "ism", "ist", "ity", "ies", "est", "ed", "ly", "er", "or", "al", "ic", "en", "s", "y",
)  # fmt: skip
_ADDRESS = re.compile(r"(https?:|www\.)|.@.|.\.(com|org|net|edu|gov)\b", re.IGNORECASE)


ANY_WORD = "<xx>"
"""The class of words of no special shape."""


def shape_class(form: str) -> str:
    """The class of an unknown word, by its characters and its ending.

    >>> [shape_class(form) for form in ("Vershinin", "blogging", "2026", "x@y.org", "☃")]
    ['<Xx>', '<xx-ing>', '<0>', '<address>', '<sign>']
    """
    if _ADDRESS.search(form):
        return "<address>"
    if any(c.isdecimal() for c in form):
        return "<0>" if not any(c.isalpha() for c in form) else "<x0>"
    if not any(c.isalpha() for c in form):
        return "<sign>"
    if form.isupper():
        return "<XX>"
    if "-" in form:
        return "<x-x>"
    lower = form.lower()
    ending = next((s for s in CLASS_SUFFIXES if lower.endswith(s) and len(lower) > len(s) + 2), "")
    if form[:1].isupper():
        return "<Xx>" if ending not in ("s", "ing", "ed") else f"<Xx-{ending}>"
    return f"<xx-{ending}>" if ending else ANY_WORD


def word_number(form: str, numbers: Mapping[str, int]) -> int:
    """A word's number: its own, that of its lower-case form, or that of its shape's class; that of
    `<xx>` where the class has none."""
    found = numbers.get(form)
    if found is None:
        found = numbers.get(form.lower())
    return found if found is not None else numbers.get(shape_class(form), numbers[ANY_WORD])


SUFFIX_LETTERS = 3


def widening_shapes(form: str) -> tuple[str, ...]:
    """Descriptions of a word from the closest to the widest, which fits every word.

    >>> widening_shapes("Unfriending")
    ('Aa+ing', 'Aa+g', 'Aa', '')
    >>> widening_shapes("3rd"), widening_shapes("--")
    (('0a', '0', ''), ('.--', '.', ''))
    """
    if any(character.isdigit() for character in form):
        letters = any(character.isalpha() for character in form)
        return ("0a", "0", "") if letters else ("0.", "0", "")
    if not any(character.isalpha() for character in form):
        return f".{form[:2]}", ".", ""
    if any(mark in form for mark in ("@", "://", "www.", ".com")):
        return "address", ""
    case = "A" if form.isupper() and len(form) > 1 else "Aa" if form[:1].isupper() else "a"
    if "-" in form[1:-1]:
        case += "-"
    lowered = form.lower()
    if len(lowered) <= SUFFIX_LETTERS:
        return f"{case}+{lowered[-1:]}", case, ""
    return f"{case}+{lowered[-SUFFIX_LETTERS:]}", f"{case}+{lowered[-1:]}", case, ""
