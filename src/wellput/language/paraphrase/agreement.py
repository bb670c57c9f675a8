"""What has to agree after a substitution: *a* or *an* before it, and its inflection.

Synonyms come in the inflection of the word they replace. Of other sources, a replacement must share
an inflection with the word: *ran* does not stand for *runs*.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from functools import cache

from wellput.language.inflection import Inflection
from wellput.language.lexicon import CATEGORIES, Category
from wellput.language.paraphrase.candidates import CandidateSource, Replacement
from wellput.language.wordnet import WordNet

# Vowel letters that sound like consonants, and the other way round.
CONSONANT_SOUND = re.compile(
    r"(?:uni(?!n|m[^i])|us(?:e|u|a)|eu|ew|ut(?:e|i|o)|ub|once\b|one\b|ur(?:a|e|i))"
)
VOWEL_SOUND = re.compile(r"(?:hour|honest|honou?r|heir)")


def article_before(text: str) -> str:
    """*a* or *an*.

    >>> article_before("hour"), article_before("useful way"), article_before("answer")
    ('an', 'a', 'an')
    """
    word = text.lower()
    if VOWEL_SOUND.match(word):
        return "an"
    return "an" if word[:1] in "aeiou" and word and not CONSONANT_SOUND.match(word) else "a"


class Agreeing:
    """A source of candidates without those that differ from the word in inflection."""

    def __init__(self, source: CandidateSource, wordnet: WordNet) -> None:
        self._source = source
        self.name = source.name
        self.fingerprint = source.fingerprint
        self.may_be_phrase = source.may_be_phrase
        self._forms = cache(self._look_up)
        self._wordnet = wordnet

    def replacements(
        self, text: str, tag: str | None, offered: Set[str]
    ) -> Mapping[str, Replacement]:
        found = self._source.replacements(text, tag, offered)
        own = self._forms(text) if found else frozenset()
        if not own:
            return found
        return {
            other: replacement
            for other, replacement in found.items()
            if not (forms := self._forms(other)) or own & forms
        }

    def _look_up(self, text: str) -> frozenset[tuple[Category, Inflection]]:
        return frozenset(
            (category, analysis.inflection)
            for category in CATEGORIES
            for analysis in self._wordnet.analyses(text, category)
        )
