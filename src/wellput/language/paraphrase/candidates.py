"""Sources of replacements: the protocol `CandidateSource`, the synonyms of WordNet, and a user's table.

A source lists possible replacements of a word or phrase, without regard to context; the filters
(`filters.py`) judge the context. A phrase is words with spaces between them; all texts are in lower
case.

A table is CSV or TSV with the header `word,replacement` and an optional column `weight` (from 0 to 1).
Pairs hold only in the direction in which they are written.

A replacement must agree with its neighbors in two ways: in *a* or *an* before it (`rewriting.py`
changes the article), and in its inflection. Synonyms from WordNet come in the inflection of the word
that they replace. From other sources (`AgreeingCandidates`), only replacements that share an inflection
with the word are taken: *ran* does not replace *runs*.
"""

from __future__ import annotations

import hashlib
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
# The first letter of a Penn tag → the category of WordNet.
CATEGORY_OF_TAG_LETTER: dict[str, Category] = {"N": "noun", "V": "verb", "J": "adj", "R": "adv"}
# Added to the tag count of every sense, so that a sense without tagged uses is possible.
UNSEEN_SENSE_COUNT = 0.5


class Evidence(NamedTuple):
    """What WordNet says about a word and its replacement, without context. A synset is a set of words
    that share a sense; a tag count is how often a word has a sense in WordNet's tagged texts.

    `share` is the share of the word's tag counts that belongs to the senses it has in common with the
    replacement. `tag_count` is the sum of the replacement's tag counts for these senses, and
    `replacement_share` the share of this sum in all tag counts of the replacement. `senses` and
    `replacement_senses` are the numbers of senses of the two words. `members` is the size of the
    smallest synset that has both words, and `rank` the number of the word's first shared sense, from 1.
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
    """A possible replacement of a word. `prior` is how sure the source is, without context, from 0 to
    1."""

    text: str
    source: str
    prior: float
    evidence: Evidence | None = None


class CandidateSource(Protocol):
    """A resource that lists replacements of words."""

    @property
    def name(self) -> str:
        """The name that users choose."""

    @property
    def fingerprint(self) -> str:
        """The hash of everything that its replacements depend on."""

    def may_be_phrase(self, words: tuple[str, ...]) -> bool:
        """Whether the source may list these words as a phrase; a quick test before `replacements`."""

    def replacements(
        self, text: str, tag: str | None, offered: Set[str]
    ) -> Mapping[str, Replacement]:
        """The replacements of the word or phrase `text` that are among the texts `offered`, by text.
        `tag` is the Penn tag of the word in its sentence, or None if it is unknown."""


class WordNetCandidates:
    """WordNet's synonyms, in the inflection of the word that they replace."""

    name = "wordnet"

    def __init__(self, wordnet: WordNet) -> None:
        self._wordnet = wordnet
        # By a text and its tag: for each form that can replace it, the lemma and the category.
        self._forms: dict[tuple[str, str | None], dict[str, tuple[str, Category]]] = {}
        self._replacements: dict[tuple[str, str | None, str], Replacement] = {}
        self._lemmas: dict[str, frozenset[str]] = {}

    @property
    def fingerprint(self) -> str:
        return self._wordnet.fingerprint

    def may_be_phrase(self, words: tuple[str, ...]) -> bool:
        phrases = self._wordnet.phrases
        if " ".join(words) in phrases:
            return True
        # The last word may be inflected, as in a noun phrase, or the first, as in a phrasal verb.
        *before_last, last = words
        first, *after_first = words
        return any(
            " ".join([*before_last, lemma]) in phrases for lemma in self._lemmas_of(last)
        ) or any(" ".join([lemma, *after_first]) in phrases for lemma in self._lemmas_of(first))

    def _lemmas_of(self, word: str) -> frozenset[str]:
        lemmas = self._lemmas.get(word)
        if lemmas is None:
            lemmas = frozenset(
                lemma for category in CATEGORIES for lemma in self._wordnet.lemmas(word, category)
            )
            self._lemmas[word] = lemmas
        return lemmas

    def replacements(
        self, text: str, tag: str | None, offered: Set[str]
    ) -> Mapping[str, Replacement]:
        forms = self._forms.get((text, tag))
        if forms is None:
            forms = {} if text in FUNCTION_WORDS else self._look_up(text, tag)
            self._forms[text, tag] = forms
        return {form: self._replacement(text, tag, form) for form in forms.keys() & offered}

    def _look_up(self, text: str, tag: str | None) -> dict[str, tuple[str, Category]]:
        """The inflected form of each synonym of a text → its lemma, and the first category in which it
        is a synonym."""
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
        """The replacement of a word or phrase (`text` with a Penn tag) by another form, with its
        evidence; computed once."""
        replacement = self._replacements.get((text, tag, form))
        if replacement is None:
            senses = [
                sense
                for category in categories_of(tag)
                for sense in self._wordnet.senses(text, category)
            ]
            evidence = self._evidence(senses, *self._forms[text, tag][form])
            replacement = Replacement(form, self.name, evidence.share, evidence)
            self._replacements[text, tag, form] = replacement
        return replacement

    def _evidence(self, senses: list[Sense], lemma: str, category: Category) -> Evidence:
        """The evidence for a replacement, from the `senses` of the word and the lemma of the
        replacement."""
        shared = [s for s in senses if lemma in (member.lower() for member in s.members)]
        synsets = {sense.synset for sense in shared}
        replacement_senses = self._wordnet.senses(lemma, category)
        shared_back = [sense for sense in replacement_senses if sense.synset in synsets]
        return Evidence(
            share=_weight_of_senses(shared) / _weight_of_senses(senses),
            senses=len(senses),
            rank=min(sense.rank for sense in shared),
            members=min(len(sense.members) for sense in shared),
            tag_count=_weight_of_senses(shared_back),
            replacement_share=_weight_of_senses(shared_back) / _weight_of_senses(replacement_senses)
            if replacement_senses
            else 1.0,
            replacement_senses=len(replacement_senses),
            category=category,
        )


def _weight_of_senses(senses: list[Sense]) -> float:
    """The sum of the tag counts, with `UNSEEN_SENSE_COUNT` added for each sense."""
    return sum((sense.tag_count or 0) + UNSEEN_SENSE_COUNT for sense in senses)


def categories_of(tag: str | None) -> tuple[Category, ...]:
    """The categories that a Penn tag allows; all where there is no tag."""
    if tag is None:
        return CATEGORIES
    if tag == "RP":
        return ()
    category = CATEGORY_OF_TAG_LETTER.get(tag[:1])
    return () if category is None else (category,)


class TableCandidates:
    """The replacements of a user's table, for words and phrases of up to three words."""

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
        listed = self._by_word.get(text, {})
        return {other: listed[other] for other in listed.keys() & offered}


def read_table_candidates(path: PathLike) -> TableCandidates:
    """Reads a user's table of replacements. Raises InputError if a column is missing, or one InputError
    that lists all bad rows."""
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
    """The weight in a cell, 1 if the cell is empty; None if it is not a number from 0 to 1."""
    try:
        weight = float(cell) if cell else 1.0
    except ValueError:
        return None
    return weight if 0 <= weight <= 1 else None


class AgreeingCandidates:
    """The replacements of another source that share an inflection with the word that they replace. If
    WordNet does not know one of the two words, the replacement is kept too."""

    def __init__(self, source: CandidateSource, wordnet: WordNet) -> None:
        self._source = source
        self.name = source.name
        self.fingerprint = source.fingerprint
        self.may_be_phrase = source.may_be_phrase
        self._inflections = cache(self._look_up)
        self._wordnet = wordnet

    def replacements(
        self, text: str, tag: str | None, offered: Set[str]
    ) -> Mapping[str, Replacement]:
        candidates = self._source.replacements(text, tag, offered)
        inflections = self._inflections(text) if candidates else frozenset()
        if not inflections:
            return candidates
        return {
            other: replacement
            for other, replacement in candidates.items()
            if not (others := self._inflections(other)) or inflections & others
        }

    def _look_up(self, text: str) -> frozenset[tuple[Category, Inflection]]:
        """The categories and inflections that the form may have."""
        return frozenset(
            (category, analysis.inflection)
            for category in CATEGORIES
            for analysis in self._wordnet.analyses(text, category)
        )
