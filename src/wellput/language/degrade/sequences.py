"""Sentences made of word sequences from the corpus (Mutton et al. 2007, section 3.2).

The first sequence is drawn by the probability of its first word. For each later sequence, its first
word is drawn by the bigram probability after the last word so far; then one of the sequences that
start with that word is drawn, all with the same probability.

The paper does not say whether a sequence may cross the end of a sentence. With the boundary `sentence`,
the first sequence begins a sentence of the corpus, the last one ends a sentence, and those between lie
inside a sentence; a single sequence is a whole sentence. With the boundary `literal`, sequences come
from anywhere in the running text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError, counted
from wellput.language.degrade.corpus import Int32Array, TaggedCorpus

Boundary: TypeAlias = Literal["sentence", "literal"]
MAX_DRAWS = 1000
"""A sentence is begun at most so many times: again whenever no sequence can follow before the sentence
has its full length."""


@dataclass(frozen=True, eq=False)
class FollowingWindows:
    """Sequences (*windows* of the corpus) that can come next, by their first word and by the word
    before it.

    `windows` are the places where windows start, sorted by their first word; the windows with first
    word w begin at `windows[window_begins[w]]`. `pairs` are the places of all tokens that follow
    another one and are the first word of some window, sorted by the word before; the tokens after word
    w begin at `pairs[pair_begins[w]]`.
    """

    windows: Int32Array
    window_begins: Int32Array
    pairs: Int32Array
    pair_begins: Int32Array

    def draw(self, tokens: Int32Array, last_word: int, rng: np.random.Generator) -> int | None:
        """The place in `tokens` of a window that can follow `last_word`; None if there is none."""
        begin, end = self.pair_begins[last_word : last_word + 2]
        if begin == end:
            return None
        first = tokens[self.pairs[rng.integers(begin, end)]]
        begin, end = self.window_begins[first : first + 2]
        return int(self.windows[rng.integers(begin, end)])


class SequenceGenerator:
    """Makes sentences of `length` words from sequences of `size` words."""

    def __init__(
        self, corpus: TaggedCorpus, *, size: int, length: int = 24, boundary: Boundary = "sentence"
    ) -> None:
        if size < 1 or length % size:
            divisors = [n for n in range(1, length + 1) if length % n == 0]
            raise InputError(
                f"Sequences of {size} words do not add up to {length} words: size= must be one of "
                f"{', '.join(map(str, divisors))}."
            )
        self.corpus = corpus
        self.size = size
        self.length = length
        is_literal = boundary == "literal"
        is_first, is_middle, is_last = (_windows_in_text if is_literal else _windows_in_sentences)(
            corpus, size, length
        )
        self.first_windows = np.flatnonzero(is_first)
        has_word_before = np.ones(len(corpus.tokens), bool)
        if not is_literal:
            has_word_before[corpus.starts] = False
        has_word_before[0] = False
        self.middle_windows = _following_windows(corpus, is_middle, has_word_before)
        self.last_windows = _following_windows(corpus, is_last, has_word_before)
        self.draws_whole_sentences = size == length and not is_literal
        if not len(self.first_windows):
            raise InputError(
                f"The corpus has no sentence of {length} words. Give another length=."
                if self.draws_whole_sentences
                else "The corpus is too small: no sentence is long enough for a first sequence. Give "
                "a larger corpus, or a smaller size=."
            )

    def generate(self, n: int, rng: np.random.Generator) -> list[list[str]]:
        """`n` sentences. Whole sentences of the corpus (size = length) are drawn once each."""
        if not self.draws_whole_sentences:
            return [self.corpus.text(self._sentence(rng)) for _ in range(n)]
        if n > len(self.first_windows):
            raise InputError(
                f"The corpus has {counted(len(self.first_windows), 'sentence')} of {self.length} "
                f"words; n={n:,} needs more. Give a larger corpus, another length=, or a smaller n=."
            )
        chosen = rng.choice(self.first_windows, n, replace=False)
        return [self.corpus.text(self._window(int(start))) for start in chosen]

    def _sentence(self, rng: np.random.Generator) -> list[int]:
        """The tokens of one sentence; begins again if no sequence can follow."""
        n_sequences = self.length // self.size
        for _ in range(MAX_DRAWS):
            tokens = self._window(int(rng.choice(self.first_windows)))
            for place in range(1, n_sequences):
                windows = self.last_windows if place == n_sequences - 1 else self.middle_windows
                start = windows.draw(self.corpus.tokens, tokens[-1], rng)
                if start is None:
                    break
                tokens += self._window(start)
            else:
                return tokens
        raise InputError(
            f"The corpus is too small to join sequences of {self.size} words to {self.length} words: "
            f"{MAX_DRAWS:,} tries gave no complete sentence. Give a larger corpus, or another size= or "
            "length=."
        )

    def _window(self, start: int) -> list[int]:
        window: list[int] = self.corpus.tokens[start : start + self.size].tolist()
        return window


Mask: TypeAlias = NDArray[np.bool_]


def _windows_in_sentences(corpus: TaggedCorpus, size: int, length: int) -> tuple[Mask, Mask, Mask]:
    """Three masks of starts of windows: those that begin a sentence, lie inside one, and end one."""
    places = np.arange(len(corpus.tokens))
    starts = corpus.starts[corpus.sentence_numbers]
    ends = corpus.ends[corpus.sentence_numbers]
    begins = places == starts
    stops = places + size == ends
    if size == length:  # a sentence has one window: only the first mask is used
        return begins & stops, stops, stops
    inside = places + size < ends
    return begins & inside, ~begins & inside, ~begins & stops


def _windows_in_text(corpus: TaggedCorpus, size: int, length: int) -> tuple[Mask, Mask, Mask]:
    """As `_windows_in_sentences`, but a window may begin and end anywhere in the running text. So the
    three masks are the same."""
    everywhere = np.arange(len(corpus.tokens)) + size <= len(corpus.tokens)
    return everywhere, everywhere, everywhere


def _following_windows(
    corpus: TaggedCorpus, starts: Mask, has_word_before: Mask
) -> FollowingWindows:
    """The windows that start at the places in `starts`, sorted for drawing. `has_word_before` marks the
    tokens that may be the second word of a bigram."""
    tokens = corpus.tokens
    n_words = len(corpus.words)
    windows = _sorted_by(np.flatnonzero(starts), tokens)
    is_first = np.zeros(n_words, bool)
    is_first[tokens[windows]] = True
    before = np.roll(tokens, 1)
    pairs = _sorted_by(np.flatnonzero(has_word_before & is_first[tokens]), before)
    return FollowingWindows(
        windows, _begins(tokens[windows], n_words), pairs, _begins(before[pairs], n_words)
    )


def _sorted_by(places: NDArray[Any], keys: Int32Array) -> Int32Array:
    ordered: Int32Array = places[np.argsort(keys[places], kind="stable")].astype(np.int32)
    return ordered


def _begins(keys: Int32Array, n: int) -> Int32Array:
    """The place where each key from 0 to n - 1 begins in the sorted `keys`, and at the end the length
    of `keys`."""
    return np.searchsorted(keys, np.arange(n + 1)).astype(np.int32)
