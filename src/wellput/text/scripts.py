"""Finds out in which script and in which Unicode form a text is written, as far as tokenizers and
models of English must know this.

The letter é is one character in the Unicode form NFC, and two in NFD (e and an accent). Texts in
different forms look the same, but their n-grams with such letters do not match.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from unicodedata import is_normalized

# Characters outside the Latin blocks: letters, and their signs, digits and punctuation. Full-width
# Latin letters are Latin.
OTHER_LETTERS = re.compile(
    r"[\u0370-\u1cff\u1f00-\u1fff\u2c00-\u2c5f\u2c80-\u2ddf\u2e80-\u3007\u3021-\ua6ff\ua800-\uab2f"
    r"\uab70-\ufaff\ufb13-\ufdff\ufe70-\ufefe\uff66-\uffdc\U00010000-\U0001cfff\U0001e000-\U0001efff"
    r"\U00020000-\U0003ffff]"
)
LETTERS = re.compile(r"[^\W\d_]")
KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9f]")
HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
HAN_OR_KANA = re.compile(f"{HAN.pattern}|{KANA.pattern}")
MAX_CHARACTERS_LOOKED_AT = 2000
"""Only this many characters at the beginning of a text are looked at."""


def share_of_other_scripts(text: str) -> float:
    """The share of letters that are not Latin; 0 for a text without letters.

    >>> share_of_other_scripts("Привет, Bob"), share_of_other_scripts("Ça va?")
    (0.6666666666666666, 0.0)
    """
    if text.isascii():
        return 0.0
    beginning = text[:MAX_CHARACTERS_LOOKED_AT]
    letters = len(LETTERS.findall(beginning))
    # At most 1: `OTHER_LETTERS` also matches signs and digits, which `LETTERS` does not.
    return min(1.0, len(OTHER_LETTERS.findall(beginning)) / letters) if letters else 0.0


def unspaced_script(text: str) -> str:
    """`"Japanese"` or `"Chinese"` if most letters belong to these scripts, which have no spaces between
    words; otherwise empty.

    >>> unspaced_script("今天下雨。"), unspaced_script("今日は雨です。"), unspaced_script("It rains.")
    ('Chinese', 'Japanese', '')
    """
    if text.isascii() or HAN_OR_KANA.search(text) is None:
        return ""
    beginning = text[:MAX_CHARACTERS_LOOKED_AT]
    kana, han = len(KANA.findall(beginning)), len(HAN.findall(beginning))
    if 2 * (kana + han) <= len(LETTERS.findall(beginning)):
        return ""
    # Japanese text always has kana (syllable letters). Chinese text has few: it may quote a Japanese
    # name.
    return "Japanese" if 10 * kana > kana + han else "Chinese"


def count_unspaced(texts: Iterable[object]) -> Counter[str]:
    """The number of texts in each script that has no spaces between words.

    >>> count_unspaced(["今天下雨。", "It rains."])
    Counter({'Chinese': 1})
    """
    scripts = (unspaced_script(text) for text in texts if isinstance(text, str))
    return Counter(script for script in scripts if script)


def count_in_other_form(outputs: Iterable[object], references: Iterable[Sequence[str]]) -> int:
    """The number of outputs that are in NFC while one of their references is not, or that are not in
    NFC while one is. A text of ASCII characters is the same in all forms; outputs that are not texts
    do not count."""
    return sum(
        isinstance(output, str)
        and not output.isascii()
        and _is_in_other_form(output, output_references)
        for output, output_references in zip(outputs, references, strict=True)
    )


def _is_in_other_form(text: str, references: Sequence[str]) -> bool:
    """Whether a reference has another Unicode form than the text."""
    is_composed = is_normalized("NFC", text)
    return any(
        is_normalized("NFC", reference) != is_composed
        for reference in references
        if not reference.isascii()
    )
