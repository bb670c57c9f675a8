"""The word lists of this folder: antonyms, synonyms, spellings, names, verbs with a passive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from wellput.language.models.inflection import INFLECTION_OF_TAG, inflect
from wellput.language.models.wordnet_files import Category
from wellput.language.perturb.passage import Edit, PassageSentence, PlacedWord

CATEGORY_OF_TAG: Mapping[str, Category] = {
    **dict.fromkeys(("NN", "NNS"), "noun"),
    **dict.fromkeys(("VB", "VBP", "VBZ", "VBD", "VBN", "VBG"), "verb"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "adj"),
    **dict.fromkeys(("RB", "RBR", "RBS"), "adv"),
}
VOWEL_SOUND_EXCEPTIONS = ("hour", "honest", "honor", "honour", "heir")
CONSONANT_SOUND_BEGINNINGS = ("uni", "use", "usu", "eu", "one", "once", "ubiq", "uti")


def lines_of(name: str) -> list[list[str]]:
    """The lines of a table of this folder, without comments."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


@cache
def word_pairs(name: str) -> Mapping[tuple[str, str], Sequence[str]]:
    """(lemma, category) → the words that may stand in its place. A line of the file has a category and
    two words; `>` after the category: only from the first to the second."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for category, one, other in lines_of(name):
        kind = category.rstrip(">")
        pairs.setdefault((one, kind), []).append(other)
        if kind == category:
            pairs.setdefault((other, kind), []).append(one)
    return pairs


@cache
def spellings() -> Mapping[str, str]:
    """A word in British spelling → in American spelling, and the other way round."""
    pairs = [(one, other) for one, other in lines_of("spellings.tsv")]
    return dict(pairs) | {other: one for one, other in pairs}


@cache
def other_names() -> Mapping[str, Sequence[str]]:
    """A name → the other names of its kind (cities, first names of women, months …)."""
    return {
        name: [other for other in group if other != name]
        for _, *group in lines_of("names.tsv")
        for name in group
    }


@cache
def word_set(name: str) -> frozenset[str]:
    """The words of a line of `word_sets.tsv`."""
    return frozenset(dict(lines_of("word_sets.tsv"))[name].split())


@cache
def _phrases(kind: str) -> Mapping[str, tuple[frozenset[str], frozenset[str]]]:
    """A word → the words after it and before it with which it has another sense."""
    return {
        word: (frozenset(after.split()), frozenset(before.split()))
        for own, word, after, before in lines_of("phrases.tsv")
        if own == kind
    }


def is_in_phrase(kind: str, sentence: PassageSentence, place: int, entry: str) -> bool:
    """Whether the neighbors of a word show that it has another sense than in the list `kind`."""
    after_words, before_words = _phrases(kind).get(entry, (frozenset(), frozenset()))
    after = sentence.follows(place)
    before = sentence.words[place - 1] if place else None
    return (after is not None and after.small in after_words) or (
        before is not None and before.small in before_words
    )


def article_edit(sentence: PassageSentence, place: int, form: str) -> list[Edit]:
    """The change of `a` to `an`, or back, before a word that becomes `form`."""
    before = sentence.words[place - 1] if place else None
    if before is None or before.small not in ("a", "an") or article_for(form) == before.small:
        return []
    return [Edit(before.begin, before.end, like(before.form, article_for(form)))]


def like(form: str, other: str) -> str:
    """The other word, with a capital if the form has one."""
    return other[:1].upper() + other[1:] if form[:1].isupper() else other


def in_form_of(word: PlacedWord, lemma: str, category: Category) -> str:
    """The lemma with the inflection and the capitals of the word."""
    return in_case_of(word.form, inflect(lemma, category, INFLECTION_OF_TAG.get(word.tag, "base")))


def has_right_lemma(verb: PlacedWord) -> bool:
    """Whether the lemma of a finite verb gives its form again: a wrong one is no word (*repeate*)."""
    inflection = INFLECTION_OF_TAG.get(verb.tag, "base")
    return inflect(verb.lemma, "verb", inflection).lower() == verb.small


def in_case_of(form: str, other: str) -> str:
    """The other word, in capitals or with a capital as the form is."""
    return other.upper() if form.isupper() and len(form) > 1 else like(form, other)


def article_for(word: str) -> str:
    """
    >>> article_for("hour"), article_for("useful"), article_for("old")
    ('an', 'a', 'an')
    """
    small = word.lower()
    if small.startswith(VOWEL_SOUND_EXCEPTIONS):
        return "an"
    return (
        "an" if small[:1] in "aeiou" and not small.startswith(CONSONANT_SOUND_BEGINNINGS) else "a"
    )
