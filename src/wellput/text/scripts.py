"""Which script a text is written in, as far as tokenizers and models of English must know, and in which
Unicode form.

é is one character in NFC and two in NFD (e and an accent). Texts in different forms
look the same and share no n-gram with such a letter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from unicodedata import is_normalized

# Letters outside the Latin blocks; full-width Latin letters are Latin.
OTHER_LETTERS = re.compile(
    r"[\u0370-\u1cff\u1f00-\u1fff\u2c00-\u2c5f\u2c80-\u2ddf\u2e80-\u3007\u3021-\ua6ff\ua800-\uab2f"
    r"\uab70-\ufaff\ufb13-\ufdff\ufe70-\ufefe\uff66-\uffdc\U00010000-\U0001cfff\U0001e000-\U0001efff"
    r"\U00020000-\U0003ffff]"
)
LETTERS = re.compile(r"[^\W\d_]")
KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9f]")
HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
HAN_OR_KANA = re.compile(f"{HAN.pattern}|{KANA.pattern}")
MAX_LETTERS_LOOKED_AT = 2000


def share_of_other_scripts(text: str) -> float:
    """The share of letters that are not Latin; 0 for a text without letters.

    >>> share_of_other_scripts("Привет, Bob"), share_of_other_scripts("Ça va?")
    (0.6666666666666666, 0.0)
    """
    if text.isascii():
        return 0.0
    beginning = text[:MAX_LETTERS_LOOKED_AT]
    letters = len(LETTERS.findall(beginning))
    return min(1.0, len(OTHER_LETTERS.findall(beginning)) / letters) if letters else 0.0


def unspaced_script(text: str) -> str:
    """`"Japanese"` or `"Chinese"` if most letters belong to these scripts, which have no spaces between
    words; otherwise empty.

    >>> unspaced_script("今天下雨。"), unspaced_script("今日は雨です。"), unspaced_script("It rains.")
    ('Chinese', 'Japanese', '')
    """
    if text.isascii() or HAN_OR_KANA.search(text) is None:
        return ""
    beginning = text[:MAX_LETTERS_LOOKED_AT]
    kana, han = len(KANA.findall(beginning)), len(HAN.findall(beginning))
    if 2 * (kana + han) <= len(LETTERS.findall(beginning)):
        return ""
    # Japanese text always has kana; a Chinese one may quote a Japanese name.
    return "Japanese" if 10 * kana > kana + han else "Chinese"


def count_unspaced(texts: Iterable[object]) -> Counter[str]:
    """How many texts are in each script that has no spaces between words.

    >>> count_unspaced(["今天下雨。", "It rains."])
    Counter({'Chinese': 1})
    """
    found = (unspaced_script(text) for text in texts if isinstance(text, str))
    return Counter(script for script in found if script)


def count_in_other_form(outputs: Iterable[object], references: Iterable[Sequence[str]]) -> int:
    """How many outputs are in NFC while a reference of theirs is not, or the other way round. A text of
    ASCII characters is the same in all forms; outputs that are not texts do not count."""
    return sum(
        isinstance(output, str) and not output.isascii() and _is_other(output, own)
        for output, own in zip(outputs, references, strict=True)
    )


def _is_other(text: str, references: Sequence[str]) -> bool:
    is_composed = is_normalized("NFC", text)
    return any(
        is_normalized("NFC", reference) != is_composed
        for reference in references
        if not reference.isascii()
    )
