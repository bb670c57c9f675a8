"""Sentences of the corpus with mistakes like those of people and generators: words left out, doubled,
moved, in another form or misspelled, function words (*the*, *of*) added or exchanged, no capital or
full stop.

This method is not in Mutton et al. 2007. Their generators use words of the corpus only, so a metric
trained with their sentences alone never sees a misspelled word or a wrong ending.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from wellput.core.errors import InputError
from wellput.language.degrade.corpus import TaggedCorpus

SMALL_WORDS = (
    "a", "an", "the", "in", "on", "at", "of", "to", "for", "with", "from", "by", "about", "as", "is",
    "are", "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "that", "which",
    "who", "it", "this", "these", "and", "but",
)  # fmt: skip
# What is taken off a word to find its other forms: *walked*, *walking* → *walk*.
INFLECTED_ENDING = re.compile(r"(?:ies|ied|ying|ing|es|ed|d|s|y|e)$")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
END_MARKS = (".", "?", "!")
WORDS_PER_MISTAKE = 8.0
"""A sentence has one mistake, and on average one more for this many words."""

TRIES_PER_MISTAKE = 20
"""Some tries change nothing: not every sentence allows each kind of mistake."""

Mistake = Callable[[list[str], np.random.Generator], None]
"""Changes the words of a sentence in place."""


@dataclass(frozen=True)
class MistakenWords:
    """What the mistakes in a language are made of. `small_words` (function words) are added or
    exchanged, `letters` serve for misspellings, and `forms` has each word's other forms (*walked* for
    *walk*). If `forms` is None, words of the corpus that differ only in an English ending are forms of
    each other."""

    small_words: Sequence[str] = SMALL_WORDS
    letters: str = LETTERS
    forms: Mapping[str, Sequence[str]] | None = None


ENGLISH_MISTAKES = MistakenWords()


class ErrorGenerator:
    """Makes mistakes in sentences of exactly `length` words, or of three or more if it is None."""

    def __init__(
        self,
        corpus: TaggedCorpus,
        *,
        length: int | None = 24,
        mistakes: int | None = None,
        words_per_mistake: float = WORDS_PER_MISTAKE,
        language: MistakenWords = ENGLISH_MISTAKES,
    ) -> None:
        """`mistakes` is the number of mistakes in each sentence. With None a sentence has one, and on
        average one more for every `words_per_mistake` words."""
        lengths = corpus.ends - corpus.starts
        fits = lengths == length if length else lengths > 2
        self.starts, self.ends = corpus.starts[fits], corpus.ends[fits]
        self.corpus = corpus
        self.mistakes = mistakes
        self.words_per_mistake = words_per_mistake
        if not len(self.starts):
            raise InputError(
                f"The corpus has no sentence of {length or 'three or more'} words. Give a larger one"
                f"{', or another length=' if length else ''}."
            )
        self.language = language
        self.forms: dict[str, list[str]] = defaultdict(list)  # by stem
        for word in corpus.words:
            if word.isalpha() and word.islower() and len(word) > 3:
                self.forms[_stem(word)].append(word)
        misspell = partial(_misspell, letters=language.letters)
        put_in = partial(_put_in_small_word, small_words=language.small_words)
        exchange = partial(_exchange_small_word, small_words=language.small_words)
        # Each kind is drawn in proportion to its weight here.
        kinds: dict[Mistake, float] = {
            _leave_out: 1, _double: 0.5, _swap: 1, _move: 1, misspell: 2, put_in: 1,
            exchange: 1, self._take_other_form: 1, _begin_in_lower_case: 0.5, _leave_out_stop: 0.25,
        }  # fmt: skip
        self.kinds = tuple(kinds)
        self.cumulative_shares = np.cumsum(list(kinds.values())) / sum(kinds.values())

    def generate(self, n: int, rng: np.random.Generator) -> list[list[str]]:
        return [words for words, _ in self.generate_with_counts(n, rng)]

    def generate_with_counts(self, n: int, rng: np.random.Generator) -> list[tuple[list[str], int]]:
        """`n` sentences, each with the number of its mistakes."""
        return [self.spoil(int(rng.integers(len(self.starts))), rng) for _ in range(n)]

    def spoil(self, sentence: int, rng: np.random.Generator) -> tuple[list[str], int]:
        """The sentence with mistakes, and their number; `sentence` counts the sentences of suitable
        length from 0."""
        tokens = self.corpus.tokens[self.starts[sentence] : self.ends[sentence]]
        original = self.corpus.text(tokens)
        words = list(original)
        n_mistakes = self.mistakes or 1 + int(rng.poisson(len(words) / self.words_per_mistake))
        mistakes_left = n_mistakes
        for _ in range(TRIES_PER_MISTAKE * n_mistakes):
            before = list(words)
            kind = int(np.searchsorted(self.cumulative_shares, rng.random(), side="right"))
            self.kinds[kind](words, rng)
            mistakes_left -= words != before
            if mistakes_left <= 0 and words != original:
                break
        return words, n_mistakes

    def _take_other_form(self, words: list[str], rng: np.random.Generator) -> None:
        if self.language.forms is not None:
            _take_listed_form(words, rng, self.language.forms)
            return
        places = [i for i, word in enumerate(words) if len(self.forms.get(_stem(word), ())) > 1]
        if places:
            place = int(rng.choice(places))
            others = [form for form in self.forms[_stem(words[place])] if form != words[place]]
            words[place] = others[rng.integers(len(others))]


def _take_listed_form(
    words: list[str], rng: np.random.Generator, forms: Mapping[str, Sequence[str]]
) -> None:
    """Puts another form, from the list, in the place of one of the words that have one."""
    places = [place for place, word in enumerate(words) if word in forms]
    if places:
        place = int(rng.choice(places))
        others = forms[words[place]]
        words[place] = others[int(rng.integers(len(others)))]


def _stem(word: str) -> str:
    return INFLECTED_ENDING.sub("", word)


def _inner(words: Sequence[str], rng: np.random.Generator) -> int:
    """A place other than the last, which is usually a full stop."""
    return int(rng.integers(max(1, len(words) - 1)))


def _leave_out(words: list[str], rng: np.random.Generator) -> None:
    if len(words) > 2:
        del words[_inner(words, rng)]


def _begin_in_lower_case(words: list[str], rng: np.random.Generator) -> None:
    words[0] = words[0].lower()


def _leave_out_stop(words: list[str], rng: np.random.Generator) -> None:
    if len(words) > 2 and words[-1] in END_MARKS:
        del words[-1]


def _double(words: list[str], rng: np.random.Generator) -> None:
    place = _inner(words, rng)
    words.insert(place, words[place])


def _swap(words: list[str], rng: np.random.Generator) -> None:
    place = _inner(words[:-1], rng)  # so that the word after it is not the last either
    words[place : place + 2] = words[place : place + 2][::-1]


def _move(words: list[str], rng: np.random.Generator) -> None:
    word = words.pop(_inner(words, rng))
    words.insert(_inner(words, rng), word)


def _put_in_small_word(
    words: list[str], rng: np.random.Generator, small_words: Sequence[str]
) -> None:
    if small_words:
        words.insert(_inner(words, rng), small_words[int(rng.integers(len(small_words)))])


def _exchange_small_word(
    words: list[str], rng: np.random.Generator, small_words: Sequence[str]
) -> None:
    places = [i for i, word in enumerate(words) if word in small_words]
    if places:
        words[int(rng.choice(places))] = small_words[int(rng.integers(len(small_words)))]


def _misspell(words: list[str], rng: np.random.Generator, letters: str) -> None:
    """Leaves out, adds, replaces or exchanges a letter in one of the words."""
    places = [i for i, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    if not places:
        return
    place = int(rng.choice(places))
    word = words[place]
    at = int(rng.integers(1, len(word)))
    letter = letters[rng.integers(len(letters))]
    spoiled = (
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
        word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :],
    )
    words[place] = spoiled[rng.integers(len(spoiled))]
