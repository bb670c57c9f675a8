"""Sources of replacements: the protocol `CandidateSource`, WordNet's synonyms, a user's own table.

A source has possible replacements of a word or phrase, without regard to context; the filters
(`filters.py`) judge the context. Phrases are words with spaces between; everything is lower-cased.

A table is CSV or TSV with the header `word,replacement` and an optional column `weight` (from 0 to 1).
Pairs hold only in the direction in which they are written.

After a substitution two things must agree: *a* or *an* before it, and its inflection. Synonyms come in
the inflection of the word they replace. A replacement from another source (`AgreeingCandidates`) must
share an inflection with the word: *ran* does not replace *runs*.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

from wellput.core.errors import InputError, Problems
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.tables import DELIMITERS, read_table
from wellput.language.models.inflection import INFLECTION_OF_TAG, Inflection
from wellput.language.models.wordnet import WordNet
from wellput.language.models.wordnet_files import CATEGORIES, Category, Sense
from wellput.language.paraphrase.sentences import FUNCTION_WORDS

MAX_PHRASE_WORDS = 3
CATEGORY_OF_TAG: dict[str, Category] = {"N": "noun", "V": "verb", "J": "adj", "R": "adv"}
# Added to the count of every sense, so that an unseen one is possible.
UNSEEN_SENSE_COUNT = 0.5


class Evidence(NamedTuple):
    """WordNet's figures for a pair, without context. Shares are of tag counts.

    `share` is the share of the word's uses in which the two mean the same, `replacement_share` that of
    the replacement's uses, and `tag_count` the number of such uses of the replacement. `members` is the
    size of the smallest synset that they share, `rank` that of the first sense of the word that they
    share.
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
    """A possible replacement of a word. `prior` is the source's own belief, from 0 to 1."""

    text: str
    source: str
    prior: float
    evidence: Evidence | None = None


class CandidateSource(Protocol):
    """A resource of replacements."""

    @property
    def name(self) -> str:
        """The name that users choose."""

    @property
    def fingerprint(self) -> str:
        """The hash of everything that its replacements depend on."""

    def may_be_phrase(self, words: tuple[str, ...]) -> bool:
        """A quick test of several words: False if the source cannot have them as a phrase."""

    def replacements(
        self, text: str, tag: str | None, offered: Set[str]
    ) -> Mapping[str, Replacement]:
        """The replacements among those `offered`, by text. `tag` is the Penn tag of a word in its
        sentence, None if it is unknown."""


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
        """Form → its lemma, and the first category in which it is a synonym."""
        inflection: Inflection | None = None
        if tag is not None and " " not in text:
            inflection = INFLECTION_OF_TAG.get(tag, "base")
        forms: dict[str, tuple[str, Category]] = {}
        for category in categories_of(tag):
            for synonym in self._wordnet.synonyms(text, category, inflection=inflection):
                form = synonym.text.lower()
                if form not in FUNCTION_WORDS and form.count(" ") < MAX_PHRASE_WORDS:
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
            share=_weight_of_senses(shared) / _weight_of_senses(senses),
            senses=len(senses),
            rank=min(sense.rank for sense in shared),
            members=min(len(sense.members) for sense in shared),
            tag_count=_weight_of_senses(own_shared),
            replacement_share=_weight_of_senses(own_shared) / _weight_of_senses(own)
            if own
            else 1.0,
            replacement_senses=len(own),
            category=category,
        )


def _weight_of_senses(senses: list[Sense]) -> float:
    return sum((sense.tag_count or 0) + UNSEEN_SENSE_COUNT for sense in senses)


def categories_of(tag: str | None) -> tuple[Category, ...]:
    """The categories that a Penn tag allows; all where there is no tag."""
    if tag is None:
        return CATEGORIES
    if tag == "RP":
        return ()
    category = CATEGORY_OF_TAG.get(tag[:1])
    return () if category is None else (category,)


class TableCandidates:
    """Replacements as listed, for words and phrases of up to three words."""

    name = "table"

    def __init__(self, pairs: Mapping[tuple[str, str], float]) -> None:
        self._by_word: dict[str, dict[str, Replacement]] = {}
        for (word, text), weight in pairs.items():
            self._by_word.setdefault(word, {})[text] = Replacement(text, self.name, weight)
        listed = "\n".join(f"{word}\t{text}\t{weight}" for (word, text), weight in pairs.items())
        self.fingerprint = hashlib.sha256(listed.encode(errors="surrogatepass")).hexdigest()

    def may_be_phrase(self, words: tuple[str, ...]) -> bool:
        return " ".join(words) in self._by_word

    def replacements(
        self, text: str, tag: str | None, offered: Set[str]
    ) -> Mapping[str, Replacement]:
        found = self._by_word.get(text, {})
        return {other: found[other] for other in found.keys() & offered}


def read_table_candidates(path: PathLike) -> TableCandidates:
    """Reads the table; raises InputError for a missing column and for all bad rows."""
    file = InputFile(path)
    check_readable(file)
    if file.suffix not in DELIMITERS:
        raise InputError(f"{path}: a table of replacements is a .csv or .tsv file.")
    problems = Problems(file.name)
    header, rows = read_table(file, DELIMITERS[file.suffix], problems)
    if not {"word", "replacement"} <= set(header):
        raise InputError(f"{path} needs the columns word and replacement; it has {list(header)}.")
    pairs: dict[tuple[str, str], float] = {}
    for number, row in rows:
        cells = dict(zip(header, row, strict=False))
        word, text = (
            " ".join((cells[key] or "").lower().split()) for key in ("word", "replacement")
        )
        weight = _weight_in_cell(cells.get("weight"))
        if not word or not text:
            problems.add(f"line {number}", "the word or its replacement is empty")
        elif max(word.count(" "), text.count(" ")) >= MAX_PHRASE_WORDS:
            problems.add(f"line {number}", f"more than {MAX_PHRASE_WORDS} words")
        elif weight is None:
            problems.add(f"line {number}", "the weight is not a number from 0 to 1")
        else:
            pairs[word, text] = weight
    problems.raise_if_any()
    return TableCandidates(pairs)


def _weight_in_cell(cell: str | None) -> float | None:
    """The weight, 1 for an empty cell; None if it is not a number from 0 to 1."""
    try:
        weight = float(cell) if cell else 1.0
    except ValueError:
        return None
    return weight if 0 <= weight <= 1 else None


# Beginnings with a vowel letter that sound like a consonant, and the other way round.
CONSONANT_SOUND = re.compile(
    r"(?:uni(?!n|m[^i])|us(?:e|u|a)|eu|ew|ut(?:e|i|o)|ub|once\b|one\b|ur(?:a|e|i))"
)
VOWEL_SOUND = re.compile(r"(?:hour|honest|honou?r|heir)")


def article_before(text: str) -> str:
    """The right article, *a* or *an*.

    >>> article_before("hour"), article_before("useful way"), article_before("answer")
    ('an', 'a', 'an')
    """
    word = text.lower()
    if VOWEL_SOUND.match(word):
        return "an"
    return "an" if word[:1] in "aeiou" and word and not CONSONANT_SOUND.match(word) else "a"


class AgreeingCandidates:
    """A source without the candidates whose inflection differs from the word's."""

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
