"""The word lists of this folder: antonyms, synonyms, spellings, names, verbs with a passive.

`corpus_names` finds the names in the texts of a corpus; `is_like_name` says which of them may replace
each other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from wellput.language.articles import indefinite_article
from wellput.language.models.inflection import INFLECTION_OF_TAG, inflect
from wellput.language.models.wordnet import with_capitals_of
from wellput.language.models.wordnet_files import Category
from wellput.language.perturb.passage import (
    Edit,
    Passage,
    PassageSentence,
    PlacedWord,
    english_word_list,
)

CATEGORY_OF_TAG: Mapping[str, Category] = {
    **dict.fromkeys(("NN", "NNS"), "noun"),
    **dict.fromkeys(("VB", "VBP", "VBZ", "VBD", "VBN", "VBG"), "verb"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "adj"),
    **dict.fromkeys(("RB", "RBR", "RBS"), "adv"),
}


def table_lines(name: str) -> list[list[str]]:
    """The lines of a table of this folder, without comments."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


@cache
def word_pairs(name: str) -> Mapping[tuple[str, str], Sequence[str]]:
    """(lemma, category) → the words that may stand in its place. A line of the file has a category and
    two words, each of which may replace the other; with `>` after the category, only the second may
    replace the first."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for written_category, first, second in table_lines(name):
        category = written_category.rstrip(">")
        pairs.setdefault((first, category), []).append(second)
        if category == written_category:
            pairs.setdefault((second, category), []).append(first)
    return pairs


@cache
def spellings() -> Mapping[str, str]:
    """A word in British spelling → in American spelling, and the other way round."""
    pairs = [(british, american) for british, american in table_lines("spellings.tsv")]
    return dict(pairs) | {american: british for british, american in pairs}


@cache
def other_names() -> Mapping[str, Sequence[str]]:
    """A name → the other names of its kind (cities, first names of women, months …)."""
    return {
        name: [other for other in group if other != name]
        for _, *group in table_lines("names.tsv")
        for name in group
    }


@cache
def word_set(name: str) -> frozenset[str]:
    """The words on the line of `word_sets.tsv` that begins with this name."""
    return frozenset(dict(table_lines("word_sets.tsv"))[name].split())


@cache
def _phrase_neighbors(kind: str) -> Mapping[str, tuple[frozenset[str], frozenset[str]]]:
    """A word → the words after it and the words before it that show a sense other than the one in the
    list `kind` (`antonyms` or `synonyms`)."""
    return {
        word: (frozenset(after.split()), frozenset(before.split()))
        for line_kind, word, after, before in table_lines("phrases.tsv")
        if line_kind == kind
    }


def is_in_phrase(kind: str, sentence: PassageSentence, place: int, entry: str) -> bool:
    """Whether the neighbors of the word at a place show that it has another sense than its `entry` in
    the list `kind` (`antonyms` or `synonyms`)."""
    after_words, before_words = _phrase_neighbors(kind).get(entry, (frozenset(), frozenset()))
    after = sentence.word_after(place)
    before = sentence.words[place - 1] if place else None
    return (after is not None and after.lowercase in after_words) or (
        before is not None and before.lowercase in before_words
    )


def article_edit(sentence: PassageSentence, place: int, form: str) -> list[Edit]:
    """The change of `a` to `an`, or back, before a word that becomes `form`."""
    before = sentence.words[place - 1] if place else None
    if (
        before is None
        or before.lowercase not in ("a", "an")
        or indefinite_article(form) == before.lowercase
    ):
        return []
    return [Edit(before.begin, before.end, with_capital_of(before.form, indefinite_article(form)))]


def with_capital_of(form: str, other: str) -> str:
    """The other word, with a capital first letter if the form has one."""
    return other[:1].upper() + other[1:] if form[:1].isupper() else other


def in_form_of(word: PlacedWord, lemma: str, category: Category) -> str:
    """The lemma with the inflection and the capitals of the word."""
    return with_capitals_of(
        word.form, inflect(lemma, category, INFLECTION_OF_TAG.get(word.tag, "base"))
    )


def has_right_lemma(verb: PlacedWord) -> bool:
    """Whether inflecting the verb's lemma gives the verb's form again. With a wrong lemma a change
    could make a form that is no word (*repeate*)."""
    inflection = INFLECTION_OF_TAG.get(verb.tag, "base")
    return inflect(verb.lemma, "verb", inflection).lower() == verb.lowercase


MIN_NAME_COUNT = 2
COMPARED_LETTERS = 3
"""Two names that begin with the same three letters are taken for spellings of one name."""


def corpus_names(passages: Sequence[Passage]) -> dict[str, list[str]]:
    """`name_key` → the names with this key that occur at least twice in the corpus. Most words that
    only look like names occur once."""
    names_by_key: dict[str, dict[str, None]] = defaultdict(dict)
    counts: Counter[str] = Counter()
    for passage in passages:
        for sentence in passage.sentences:
            for first, last in name_runs(sentence):
                name = passage.covered(sentence, first, last)
                begin, end = sentence.words[first].begin, sentence.words[last].end
                if is_part_of_name(passage.text, begin, end):
                    continue
                if "  " not in name and len(name) > 2:
                    names_by_key[name_key(sentence, first, last)][name] = None
                    counts[name] += 1
    return {
        key: [name for name in names if counts[name] >= MIN_NAME_COUNT]
        for key, names in names_by_key.items()
    }


# Prepositions after which a name is that of a place.
PLACE_PREPOSITIONS = ("in", "near")


def name_kinds(passages: Sequence[Passage]) -> dict[str, str]:
    """Name → `person` or `place`, for the names of the corpus whose neighbors show which of the two
    they are. A name that seems to be both is left out."""
    kinds_by_name: dict[str, set[str]] = defaultdict(set)
    for passage in passages:
        for sentence in passage.sentences:
            for first, last in name_runs(sentence):
                name = passage.covered(sentence, first, last)
                if kind := _shown_kind(sentence, first, last):
                    kinds_by_name[name].add(kind)
                    if kind == "person":
                        kinds_by_name[sentence.words[last].form].add(kind)
    return {
        name: kind for name, kinds in kinds_by_name.items() if len(kinds) == 1 for kind in kinds
    }


def _shown_kind(sentence: PassageSentence, first: int, last: int) -> str | None:
    """What the neighbors of a name show it to be: `person`, `place`, or None where they do not show
    it."""
    before = sentence.words[first - 1] if first else None
    after, head = sentence.word_after(last), sentence.words[last]
    if after is not None and after.tag in ("NN", "NNS", "POS", "HYPH"):
        return None  # a part of a longer phrase: *in Tyumen region*, *in Smith's house*
    listed = {
        kind for kind, *names in table_lines("names.tsv") if sentence.words[first].form in names
    }
    if first < last and listed & {"woman", "man"}:
        return "person"
    governor = sentence.words[head.head] if head.head >= 0 else None
    if head.relation == "nsubj" and governor is not None:
        return "person" if governor.lemma in word_set("person-verbs") else None
    is_place = before is not None and before.lowercase in PLACE_PREPOSITIONS
    return "place" if is_place and head.relation in ("obl", "nmod") else None


def name_runs(sentence: PassageSentence) -> Iterator[tuple[int, int]]:
    """The places of the first and the last word of each run of names, such as *Bill Clinton*."""
    first = None
    for place, word in enumerate((*sentence.words, None)):
        is_name = word is not None and word.is_name and word.is_word and word.form[0].isupper()
        if is_name and first is None:
            first = place
        elif not is_name and first is not None:
            yield first, place - 1
            first = None


def is_part_of_name(text: str, begin: int, end: int) -> bool:
    """Whether the text from `begin` to `end` has a hyphen or slash in it or beside it, so that it may
    be only a part of a name, as in *Coca-Cola*."""
    return any(mark in text[max(0, begin - 1) : end + 1] for mark in "-/")


def name_key(sentence: PassageSentence, first: int, last: int) -> str:
    """What two names must share to replace each other: the word before them, their number of words,
    their tag, whether they are the head of their phrase, and whether *'s* follows."""
    before = sentence.words[first - 1] if first else None
    word_before = before.lowercase if before is not None and before.is_word else ""
    after = sentence.word_after(last)
    is_possessive = after is not None and after.tag == "POS"
    head = sentence.words[last]
    relation = "compound" if head.relation in ("compound", "flat") else "head"
    return f"{word_before} {last - first + 1} {relation} {head.tag} {is_possessive}"


def is_like_name(name: str, other: str, kinds: Mapping[str, str]) -> bool:
    """Whether another name of the corpus is of the same kind. It is if it ends in the same word (*Gull
    Island*, *Thorn Island*) and begins with another. Otherwise both must name a person, or both a
    place, and no word of either may be in the list of names or be an English word."""
    words, other_words = name.split(), other.split()
    if len(words) > 1 and words[-1] == other_words[-1]:
        return words[0] != other_words[0]
    if words[0][:COMPARED_LETTERS] == other_words[0][:COMPARED_LETTERS]:
        return False  # the same name in another spelling
    if name not in kinds or kinds[name] != kinds.get(other):
        return False
    are_mere_names = all(_is_mere_name(word) for word in (*words, *other_words))
    return are_mere_names and not set(words) & set(other_words)


@cache
def _is_mere_name(word: str) -> bool:
    """Whether the word looks like a name and is neither in the list of names nor an English word."""
    is_plain = word.isalpha() and len(word) > 2 and (word.istitle() or word.startswith("Mc"))
    return is_plain and word not in other_names() and not english_word_list().is_known(word.lower())
