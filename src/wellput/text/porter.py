"""Porter's stemmer (1980) in the variant of NLTK, which rouge-score and NLTK's METEOR use.

The stemmer works in steps. A step removes or replaces the first ending in its table that the word
has, if what remains is long enough. Its length is given by the *measure* of a text: how often a vowel
is followed by a consonant in it. NLTK's rules differ from Porter's for a short list of irregular
words, for *ies* and *ied* in words of four letters, for *y* after a consonant, and for the endings
*alli*, *bli*, *fulli* and *logi*.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

IRREGULAR_STEMS = {
    "skies": "sky", "sky": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
    "innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing",
    "cannings": "canning", "canning": "canning", "howe": "howe", "proceed": "proceed",
    "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip

MAX_CACHED_WORDS = 1 << 16

SUFFIXES_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate",
    "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous",
    "aliti": "al", "iviti": "ive", "biliti": "ble", "fulli": "ful",
}  # fmt: skip
SUFFIXES_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
SUFFIXES_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip
"""The endings of three steps, in the order in which they are tried; only the first that the word has is
used. `SUFFIXES_2` and `SUFFIXES_3` are replaced by other endings, `SUFFIXES_4` are removed."""


@lru_cache(MAX_CACHED_WORDS)
def stem(word: str) -> str:
    """The stem of a word.

    >>> [stem(word) for word in ("ponies", "relational", "Dying", "at")]
    ['poni', 'relat', 'die', 'at']
    """
    lower = word.lower()
    if lower in IRREGULAR_STEMS:
        return IRREGULAR_STEMS[lower]
    if len(word) <= 2:
        return lower
    stemmed = lower
    for step in (
        _without_plural,
        _without_past,
        _without_y,
        _without_double_suffix,
        _without_adjective_suffix,
        _without_last_suffix,
        _without_e,
    ):
        stemmed = step(stemmed)
    return stemmed[:-1] if stemmed.endswith("ll") and _measure(stemmed[:-1]) > 1 else stemmed


def _consonants(text: str) -> list[bool]:
    """For each letter, whether it is a consonant; y is a consonant at the beginning and after a
    vowel."""
    kinds: list[bool] = []
    for letter in text:
        is_consonant = letter not in "aeiou" and (letter != "y" or not kinds or not kinds[-1])
        kinds.append(is_consonant)
    return kinds


def _measure(text: str) -> int:
    """How often a vowel is followed by a consonant."""
    kinds = _consonants(text)
    return sum(
        not is_consonant and next_is_consonant
        for is_consonant, next_is_consonant in itertools.pairwise(kinds)
    )


def _has_vowel(text: str) -> bool:
    return not all(_consonants(text))


def _ends_like_hop(text: str) -> bool:
    """Whether the text ends with a consonant, a vowel and a consonant other than w, x, y (as "hop"
    does), or consists of only a vowel and a consonant."""
    kinds = _consonants(text)
    if len(text) == 2:
        return kinds == [False, True]
    return kinds[-3:] == [True, False, True] and text[-1] not in "wxy"


def _without_plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and _has_vowel(word[: -len(suffix)]):
            return _completed(word[: -len(suffix)])
    return word


def _completed(text: str) -> str:
    """A verb without its -ed or -ing, completed to its stem: with an e added ("mak" of "making"), or
    without the doubled consonant ("hopp" of "hopping")."""
    if text.endswith(("at", "bl", "iz")):
        return text + "e"
    if len(text) >= 2 and text[-1] == text[-2] and _consonants(text)[-1]:
        return text if text[-1] in "lsz" else text[:-1]
    return text + "e" if _measure(text) == 1 and _ends_like_hop(text) else text


def _without_y(word: str) -> str:
    beginning = word[:-1]
    if word.endswith("y") and len(beginning) > 1 and _consonants(beginning)[-1]:
        return beginning + "i"
    return word


def _without_double_suffix(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _without_double_suffix(word[:-2])
    for suffix, replacement in SUFFIXES_2.items():
        if word.endswith(suffix):
            return _replaced(word, suffix, replacement)
    return word[:-1] if word.endswith("logi") and _measure(word[:-3]) > 0 else word


def _without_adjective_suffix(word: str) -> str:
    for suffix, replacement in SUFFIXES_3.items():
        if word.endswith(suffix):
            return _replaced(word, suffix, replacement)
    return word


def _replaced(word: str, suffix: str, replacement: str) -> str:
    beginning = word[: -len(suffix)]
    return beginning + replacement if _measure(beginning) > 0 else word


def _without_last_suffix(word: str) -> str:
    for suffix in SUFFIXES_4:
        if word.endswith(suffix):
            beginning = word[: -len(suffix)]
            is_removed = _measure(beginning) > 1 and (suffix != "ion" or beginning[-1] in "st")
            return beginning if is_removed else word
    return word


def _without_e(word: str) -> str:
    beginning = word[:-1]
    if not word.endswith("e"):
        return word
    measure = _measure(beginning)
    return beginning if measure > 1 or (measure == 1 and not _ends_like_hop(beginning)) else word
