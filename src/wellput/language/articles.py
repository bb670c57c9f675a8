"""Chooses between the English indefinite articles *a* and *an*, by the sound that the next word
begins with."""

from __future__ import annotations

import re

CONSONANT_SOUND = re.compile(
    r"uni(?!n|m[^o])|us(?:a|e|u)|eu|ewe|ut(?:e|i|o)|ubi|once\b|ones?\b|oneself\b|onetime\b|ur(?:a|e|i)"
)
VOWEL_SOUND = re.compile(r"hour|honest|honou?r|heir")


def indefinite_article(text: str) -> str:
    """The article before a text: *a* or *an*.

    >>> indefinite_article("hour"), indefinite_article("useful way"), indefinite_article("answer")
    ('an', 'a', 'an')
    """
    lowercase = text.lower()
    if VOWEL_SOUND.match(lowercase):
        return "an"
    begins_with_vowel = lowercase[:1] in set("aeiou")
    return "an" if begins_with_vowel and not CONSONANT_SOUND.match(lowercase) else "a"
