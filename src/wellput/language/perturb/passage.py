"""`Passage`: a text, parsed sentence by sentence, whose words know their places in the text.

A change to a passage is a list of `Edit`s, so the rest of the text stays as it is, white space
included. `Surroundings` is what a change may use besides the passage. A word's *place* is its number
within its sentence, from 0; the head of the root is -1. `begin` and `end` count characters of the
text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from wellput.language.models.word_list import WordList
from wellput.language.shipped import WORDS_FILE, shipped
from wellput.text.english import sentences, treebank_words

NEGATIONS = (
    "not",
    "n't",
    "n’t",
    "never",
    "no",
    "nor",
    "none",
    "nobody",
    "nothing",
    "nowhere",
    "neither",
    "hardly",
    "without",
)
CLAUSE_RELATIONS = ("ccomp", "advcl", "acl", "acl:relcl", "parataxis", "csubj")


ALWAYS_CAPITAL = (
    "I", "American", "British", "German", "French", "Russian", "Chinese", "European", "Israeli",
)  # fmt: skip
"""Words that are not tagged as names, and have a capital also inside a sentence."""


class Edit(NamedTuple):
    """Replaces the characters from `begin` to before `end` by `new`."""

    begin: int
    end: int
    new: str


Edits = Sequence[Edit]


@dataclass(frozen=True)
class Surroundings:
    """What a change may use besides the text: the source of the item, the texts of other items, the
    names in the corpus (by `word_lists.name_key`), and whether each name is of a `person` or a
    `place`."""

    source: str = ""
    others: Sequence[str] = ()
    corpus_names: Mapping[str, Sequence[str]] | None = None
    name_kinds: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word of a sentence, with its place in the text (`begin` to before `end`), its Penn `tag`, and
    the place of its `head` in the sentence."""

    form: str
    begin: int
    end: int
    tag: str
    lemma: str
    head: int
    relation: str

    @property
    def lowercase(self) -> str:
        """The word in lower case."""
        return self.form.lower()

    @property
    def is_word(self) -> bool:
        """Whether it has letters only (and hyphens), so that it is not a number or mark."""
        return self.form.replace("-", "").isalpha()

    @property
    def is_name(self) -> bool:
        return self.tag in ("NNP", "NNPS")


@dataclass(frozen=True, eq=False)
class PassageSentence:
    """The words of a sentence in order."""

    words: tuple[PlacedWord, ...]

    @cached_property
    def root(self) -> int:
        """The place of the root, which is mostly the main verb."""
        return next(place for place, word in enumerate(self.words) if word.head < 0)

    @cached_property
    def is_question(self) -> bool:
        return any(word.form in ("?", "?!") for word in self.words[-3:])

    @cached_property
    def has_negation(self) -> bool:
        return any(word.lowercase in NEGATIONS for word in self.words)

    def children(self, place: int, *relations: str) -> list[int]:
        """The places of the words that depend on this one; with `relations`, only of those that have
        one of these relations."""
        children = self._children.get(place, [])
        return [
            child for child in children if not relations or self.words[child].relation in relations
        ]

    @cached_property
    def _children(self) -> dict[int, list[int]]:
        children: dict[int, list[int]] = {}
        for place, word in enumerate(self.words):
            children.setdefault(word.head, []).append(place)
        return children

    def subtree(self, place: int) -> list[int]:
        """The places of the word and all below it, in order."""
        places = {place}
        waiting = [place]
        while waiting:
            below = self.children(waiting.pop())
            places.update(below)
            waiting += below
        return sorted(places)

    def phrase(self, place: int) -> tuple[int, int] | None:
        """The places of the first and the last word of the subtree, without punctuation at its end;
        None if the subtree has gaps."""
        places = self.subtree(place)
        while places and not self.words[places[-1]].form[-1].isalnum():
            if self.words[places[-1]].tag == "POS":
                break
            places.pop()
        if not places or places[-1] - places[0] != len(places) - 1:
            return None
        return places[0], places[-1]

    def word_after(self, place: int) -> PlacedWord | None:
        """The word after the one at this place, or None."""
        return self.words[place + 1] if place + 1 < len(self.words) else None


@dataclass(frozen=True, eq=False)
class Passage:
    """A text and its sentences."""

    text: str
    sentences: tuple[PassageSentence, ...]

    @property
    def words(self) -> list[PlacedWord]:
        """The words of all sentences."""
        return [word for sentence in self.sentences for word in sentence.words]

    def covered(self, sentence: PassageSentence, first: int, last: int) -> str:
        """The text from the word `first` to the word `last`, both included."""
        return self.text[sentence.words[first].begin : sentence.words[last].end]

    def edited(self, edits: Iterable[Edit]) -> str:
        """The text with the edits made; they must not overlap.

        >>> Passage("a b c", ()).edited([Edit(4, 5, "d"), Edit(0, 1, "")])
        ' b d'
        """
        pieces, place = [], 0
        for edit in sorted(edits):
            pieces += [self.text[place : edit.begin], edit.new]
            place = edit.end
        return "".join([*pieces, self.text[place:]])


def parse_passages(texts: Sequence[str], *, threads: int = 1) -> list[Passage]:
    """The passages of texts, parsed by the shipped English parser."""
    from wellput.language.models.parsers import ENGLISH_PARSER, load_parser

    sentences_of_texts = [list(_placed_sentences(text)) for text in texts]
    forms = [[form for form, _ in words] for placed in sentences_of_texts for words in placed]
    trees = iter(load_parser(ENGLISH_PARSER).parse(forms, threads=threads) if forms else [])
    passages = []
    for text, placed_sentences in zip(texts, sentences_of_texts, strict=True):
        parsed = []
        for placed_words in placed_sentences:
            tree = next(trees)
            pairs = zip(tree.words, placed_words, strict=True)
            parsed.append(
                PassageSentence(
                    tuple(
                        PlacedWord(
                            form, at, at + len(form), w.xpos, w.lemma, w.head - 1, w.relation
                        )
                        for w, (form, at) in pairs
                    )
                )
            )
        passages.append(Passage(text, tuple(parsed)))
    return passages


def _placed_sentences(text: str) -> Iterator[list[tuple[str, int]]]:
    """The words of each sentence, each with the character at which it begins."""
    at = 0
    for sentence in sentences(text):
        words = []
        for form in treebank_words(sentence).forms:
            at = text.index(form, at)
            words.append((form, at))
            at += len(form)
        if words:
            yield words


def capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def without_capital(word: PlacedWord, text: str) -> str:
    """The text, which begins with this word, as it is written inside a sentence: with a small first
    letter unless the word always has a capital. A word that the word list does not have in lower case
    counts as a name, whatever its tag."""
    keeps_capital = (
        word.is_name
        or word.form == "I"
        or word.form in ALWAYS_CAPITAL
        or (len(word.form) > 1 and word.form.isupper())
        or (word.is_word and not english_word_list().is_known(word.lowercase))
    )
    return text if keeps_capital else text[:1].lower() + text[1:]


# Tags of words that have a capital only at the beginning of a sentence.
CLEAR_BEGINNING_TAGS = ("DT", "PRP", "PRP$", "EX", "CD", "NNS", "VBG")


def has_clear_case(word: PlacedWord) -> bool:
    """Whether it is clear that a word has a capital only because it begins its sentence (*The*), or
    that it has one everywhere (*Babiš*). It is not clear of *Horizon*, which may be a name or not."""
    if word.tag in CLEAR_BEGINNING_TAGS:
        return True
    return word.is_word and not english_word_list().is_known(word.lowercase)


@cache
def english_word_list() -> WordList:
    """The shipped list of English words, in lower case."""
    return WordList.load(shipped(WORDS_FILE))


def is_joined(text: str, word: PlacedWord) -> bool:
    """Whether a hyphen, a slash or an apostrophe joins the word to another."""
    around = text[max(0, word.begin - 1) : word.begin] + text[word.end : word.end + 1]
    return any(mark in around for mark in "-–/'’")


def removal(text: str, begin: int, end: int) -> Edit:
    """The edit that removes the text from `begin` to `end` and one space beside it."""
    if begin > 0 and text[begin - 1] == " ":
        return Edit(begin - 1, end, "")
    return Edit(begin, end + (text[end : end + 1] == " "), "")
