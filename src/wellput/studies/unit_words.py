"""What the texts to judge are called. The wording that wellput brings speaks of sentences, as the
papers that it comes from do; a machine is often asked about answers, summaries or essays."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wellput.core.errors import InputError

SENTENCE = "sentence"
DEFAULT_UNIT = "text"
SENTENCE_PATTERN = re.compile(r"\b(?P<article>[Aa] )?(?P<noun>sentences?)\b")


MAX_SENTENCE_CHARACTERS = 300
NEXT_SENTENCE = re.compile(r"[.!?؟]\W*\s\W*[^\Wa-z_]|[。！？].|\n")
"""The place where another sentence begins."""


def usual_unit(texts: Iterable[str]) -> str:
    """What texts are called if nobody says it: sentences if at least half of them are.

    >>> usual_unit(["The ferry leaves at 9.", "It rained."]), usual_unit(["It rained. We left."])
    ('sentence', 'text')
    """
    n = n_sentences = 0
    for text in texts:
        n += 1
        is_short = len(text) <= MAX_SENTENCE_CHARACTERS
        n_sentences += is_short and NEXT_SENTENCE.search(text.strip()) is None
    return SENTENCE if 2 * n_sentences >= n else DEFAULT_UNIT


def check_unit(unit: str) -> None:
    if not re.fullmatch(r"[^\W\d_]+(?: [^\W\d_]+)*", unit):
        raise InputError(f"unit={unit!r} must be a word, such as 'answer'.")


def in_unit(words: str, unit: str) -> str:
    """The words with another noun for *sentence*.

    >>> in_unit("Two versions of a sentence. Rate the sentences.", "essay")
    'Two versions of an essay. Rate the essays.'
    """

    def renamed(found: re.Match[str]) -> str:
        noun = _plural(unit) if found["noun"].endswith("s") else unit
        if not found["article"]:
            return noun
        return f"{found['article'].strip()}{'n' if unit[0] in 'aeiou' else ''} {noun}"

    return words if unit == SENTENCE else SENTENCE_PATTERN.sub(renamed, words)


def _plural(unit: str) -> str:
    if unit.endswith("y") and unit[-2:-1] not in "aeiou":
        return f"{unit[:-1]}ies"
    return f"{unit}s"
