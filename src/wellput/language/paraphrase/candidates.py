"""Where replacements come from: the protocol `CandidateSource`, and WordNet's synonyms.

A source says what a word or phrase might be replaced by, whatever its context. Phrases are words with
spaces between; everything is lower-cased. The filters (`filters.py`) judge the context.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from wellput.language.inflection import INFLECTION_OF_TAG, Inflection
from wellput.language.lexicon import CATEGORIES, Category, Sense
from wellput.language.paraphrase.function_words import FUNCTION_WORDS
from wellput.language.wordnet import WordNet

MAX_WORDS = 3
CATEGORY_OF_TAG: dict[str, Category] = {"N": "noun", "V": "verb", "J": "adj", "R": "adv"}
# Half a sighting for every sense, so that one never met is possible.
UNSEEN = 0.5


class Evidence(NamedTuple):
    """What WordNet says about a pair, without context. Shares are of tag counts.

    `share` is that of the word's uses in which the two mean the same, `replacement_share` that of the
    replacement's; `tag_count` how often the replacement was met so; `members` the words of the
    smallest synset they share; `rank` that of the first sense of the word they share.
    """

    share: float
    senses: int
    rank: int
    members: int
    tag_count: float
    replacement_share: float
    replacement_senses: int
    category: Category


@dataclass(frozen=True, slots=True)
class Replacement:
    """What may stand for a word. `prior` is the source's own belief, from 0 to 1."""

    text: str
    source: str
    prior: float
    evidence: Evidence | None = None


class CandidateSource(Protocol):
    """A resource of replacements."""

    @property
    def name(self) -> str:
        """As `--candidates` has it."""

    @property
    def fingerprint(self) -> str:
        """Of everything that decides what it proposes."""

    def may_be_phrase(self, words: tuple[str, ...]) -> bool:
        """A quick test of several words: False where nothing can be known of them."""

    def replacements(
        self, text: str, tag: str | None, offered: Set[str]
    ) -> Mapping[str, Replacement]:
        """Those that are offered, by text. `tag` is the Penn tag of a word in its sentence, None where
        it is not known."""


class WordNetCandidates:
    """Synonyms in the inflection of the word."""

    name = "wordnet"

    def __init__(self, wordnet: WordNet) -> None:
        self._wordnet = wordnet
        self._forms: dict[tuple[str, str | None], dict[str, tuple[str, Category]]] = {}
        self._found: dict[tuple[str, str | None, str], Replacement] = {}
        self._lemmas: dict[str, frozenset[str]] = {}

    @property
    def fingerprint(self) -> str:
        return self._wordnet.fingerprint

    def may_be_phrase(self, words: tuple[str, ...]) -> bool:
        phrases = self._wordnet.phrases
        if " ".join(words) in phrases:
            return True
        *first, last = words
        head, *rest = words
        return any(" ".join([*first, lemma]) in phrases for lemma in self._lemmas_of(last)) or any(
            " ".join([lemma, *rest]) in phrases for lemma in self._lemmas_of(head)
        )

    def _lemmas_of(self, word: str) -> frozenset[str]:
        found = self._lemmas.get(word)
        if found is None:
            found = frozenset(
                lemma for category in CATEGORIES for lemma in self._wordnet.lemmas(word, category)
            )
            self._lemmas[word] = found
        return found

    def replacements(
        self, text: str, tag: str | None, offered: Set[str]
    ) -> Mapping[str, Replacement]:
        forms = self._forms.get((text, tag))
        if forms is None:
            forms = {} if text in FUNCTION_WORDS else self._look_up(text, tag)
            self._forms[text, tag] = forms
        return {form: self._replacement(text, tag, form) for form in forms.keys() & offered}

    def _look_up(self, text: str, tag: str | None) -> dict[str, tuple[str, Category]]:
        """Form → its lemma, and the category in which it is a synonym, the first that it is in."""
        inflection: Inflection | None = None
        if tag is not None and " " not in text:
            inflection = INFLECTION_OF_TAG.get(tag, "base")
        forms: dict[str, tuple[str, Category]] = {}
        for category in categories_of(tag):
            for synonym in self._wordnet.synonyms(text, category, inflection=inflection):
                form = synonym.text.lower()
                if form not in FUNCTION_WORDS and form.count(" ") < MAX_WORDS:
                    forms.setdefault(form, (synonym.lemma.lower(), category))
        return forms

    def _replacement(self, text: str, tag: str | None, form: str) -> Replacement:
        found = self._found.get((text, tag, form))
        if found is None:
            senses = [
                sense
                for category in categories_of(tag)
                for sense in self._wordnet.senses(text, category)
            ]
            evidence = self._evidence(senses, *self._forms[text, tag][form])
            found = Replacement(form, self.name, evidence.share, evidence)
            self._found[text, tag, form] = found
        return found

    def _evidence(self, senses: list[Sense], lemma: str, category: Category) -> Evidence:
        shared = [s for s in senses if lemma in (member.lower() for member in s.members)]
        synsets = {sense.synset for sense in shared}
        own = self._wordnet.senses(lemma, category)
        own_shared = [sense for sense in own if sense.synset in synsets]
        return Evidence(
            share=_weight(shared) / _weight(senses),
            senses=len(senses),
            rank=min(sense.rank for sense in shared),
            members=min(len(sense.members) for sense in shared),
            tag_count=_weight(own_shared),
            replacement_share=_weight(own_shared) / _weight(own) if own else 1.0,
            replacement_senses=len(own),
            category=category,
        )


def _weight(senses: list[Sense]) -> float:
    return sum((sense.tag_count or 0) + UNSEEN for sense in senses)


def categories_of(tag: str | None) -> tuple[Category, ...]:
    """What a Penn tag allows a word to be; everything where there is none."""
    if tag is None:
        return CATEGORIES
    if tag == "RP":
        return ()
    category = CATEGORY_OF_TAG.get(tag[:1])
    return () if category is None else (category,)
