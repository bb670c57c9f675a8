"""The shapes of words, which stand for words that a model has never seen.

`shape_class` gives each word one class, by which `word_number` numbers unknown words (the head-driven
parser). `widening_shapes` gives descriptions from the closest to the widest, and a model takes the
closest one that it knows (the tree model).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

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
