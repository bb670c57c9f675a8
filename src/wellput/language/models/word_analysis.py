"""The lemma and the universal part of speech of a word whose XPOS tag and relation are known
(`WordAnalysis`); and shapes, which stand for unknown words.

Lemmas and universal parts of speech (*categories*) come from tables learned from a treebank. A lemma
is the word with some letters at its end replaced, by a rule for the longest known ending. A category
follows from the tag, the relation (auxiliaries are AUX, markers are SCONJ) and the word.

Such a table is a `UsualValues`. A training example has keys from the general to the specific (`NNS`,
`NNS -s`, `NNS -es`, `NNS boxes`) and a value. The table gives the most frequent value of the most
specific key that it has. A key is kept only if its value differs from that of its more general keys, so
tables are small, and they work for words that do not occur in the treebank.

Shapes stand for unknown words in two ways. `shape_class` gives each word one class; the head-driven
parser treats all unknown words of a class alike (`word_number`). `widening_shapes` gives several
descriptions, from the closest to the widest; the tree model takes the closest one that it has.
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

# A key is kept if its most frequent value occurs at least this often.
MIN_VALUE_COUNT = 2


@dataclass(frozen=True)
class UsualValues:
    """A table of values by key. Every specific key must have the same more general keys in all
    examples."""

    values: Mapping[str, str]

    @classmethod
    def learn(cls, examples: Iterable[tuple[Sequence[str], str]]) -> Self:
        """The table of examples, each with keys from the general to the specific and a value. The most
        general key is always kept, other keys if their value occurs at least twice and differs from
        that of the more general keys."""
        counts: dict[tuple[int, tuple[str, ...]], Counter[str]] = {}
        for keys, value in examples:
            for level in range(len(keys)):
                counts.setdefault((level, tuple(keys[: level + 1])), Counter())[value] += 1
        # `table` looks up in `values`, which is filled below, general keys before specific ones.
        table = cls(values := {})
        for (level, keys), value_counts in sorted(counts.items()):
            # Of equally frequent values the first in alphabetical order is taken, to be reproducible.
            value, count = min(value_counts.items(), key=lambda pair: (-pair[1], pair[0]))
            is_frequent = level == 0 or count >= MIN_VALUE_COUNT
            if is_frequent and table.get(keys[:-1]) != value:
                values[keys[-1]] = value
        return table

    def get(self, keys: Sequence[str], default: str = "") -> str:
        """The value of the last of the keys that the table has; `default` if it has none."""
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


MAX_ENDING_LETTERS = 5
UNCHANGED = "="
"""The rule for words whose lemma is the word itself, with its capitals."""


@dataclass(frozen=True)
class WordAnalysis:
    """The tables of rules for lemmas and of categories."""

    lemmas: UsualValues
    categories: UsualValues

    @classmethod
    def learn(cls, trees: Iterable[Tree]) -> Self:
        words = [word for tree in trees for word in tree.words]
        return cls(
            UsualValues.learn((_lemma_keys(w.form, w.xpos), _lemma_rule(w)) for w in words),
            UsualValues.learn((_category_keys(w.form, w.xpos, w.relation), w.upos) for w in words),
        )

    def lemma(self, form: str, xpos: str) -> str:
        """The lemma of a form with this tag."""
        rule = self.lemmas.get(_lemma_keys(form, xpos), UNCHANGED)
        if rule == UNCHANGED:
            return form
        removed, _, added = rule.partition(" ")
        if not removed.isdecimal():
            raise InputError("The parser's rules for lemmas are damaged: train it again.")
        lower = form.lower()
        return lower[: max(len(lower) - int(removed), 0)] + added or form

    def category(self, form: str, xpos: str, relation: str) -> str:
        """The universal part of speech of a form with this tag and relation; X if it is unknown."""
        return self.categories.get(_category_keys(form, xpos, relation), "X")

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return {**self.lemmas.arrays("lemmas"), **self.categories.arrays("categories")}

    @classmethod
    def from_file(cls, file: ModelFile) -> Self:
        return cls(UsualValues.from_file(file, "lemmas"), UsualValues.from_file(file, "categories"))


def _lemma_keys(form: str, xpos: str) -> tuple[str, ...]:
    lower = form.lower()
    endings = (f"{xpos} -{lower[-n:]}" for n in range(1, min(MAX_ENDING_LETTERS, len(lower)) + 1))
    return (xpos, *endings, f"{xpos} {lower}")


def _category_keys(form: str, xpos: str, relation: str) -> tuple[str, ...]:
    return (xpos, f"{xpos} {relation}", f"{xpos} {relation} {form.lower()}")


def _lemma_rule(word: Word) -> str:
    """The rule from the form to the lemma: how many letters to remove at the end, and what to add."""
    lower = word.form.lower()
    if word.lemma == word.form != lower:  # a name; other words lose their capitals
        return UNCHANGED
    pairs = zip(lower, word.lemma, strict=False)
    n_common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return f"{len(lower) - n_common} {word.lemma[n_common:]}"


# The endings that classes of unknown words distinguish.
CLASS_SUFFIXES = (
    "tion", "ment", "ness", "ship", "able", "ible", "less", "ical", "ing", "ful", "ous", "ive",
    "ism", "ist", "ity", "ies", "est", "ed", "ly", "er", "or", "al", "ic", "en", "s", "y",
)  # fmt: skip
_ADDRESS = re.compile(r"(https?:|www\.)|.@.|.\.(com|org|net|edu|gov)\b", re.IGNORECASE)


ANY_WORD = "<xx>"
"""The class of words without a special shape."""


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
    """The number of a word in `numbers`. If it has none, that of its lower-case form; or else that of
    the class of its shape; or else that of the class `<xx>`."""
    number = numbers.get(form)
    if number is None:
        number = numbers.get(form.lower())
    return number if number is not None else numbers.get(shape_class(form), numbers[ANY_WORD])


SUFFIX_LETTERS = 3


def widening_shapes(form: str) -> tuple[str, ...]:
    """Descriptions of a word's shape from the closest to the widest, which is empty and fits every
    word.

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
