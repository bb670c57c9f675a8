"""`CorpusIndex`: a corpus as numbers of words, with the places of every word.

The index finds the sentences with a word without reading the corpus again. The file is a model file
(`.wpm`) that is mapped into memory rather than read, so an index larger than memory can be searched.
Making an index takes about 12 bytes of memory for each word of the corpus.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.io.files import PathLike
from wellput.io.model_files import (
    StoredModel,
    packed_strings,
)
from wellput.language.paraphrase.sentences import lower_tokens

CHECK_UP_TO_TOKENS = 1 << 24
"""An index with more tokens is not checked when it is loaded, as this would read the whole file."""


@dataclass(frozen=True, eq=False)
class CorpusIndex(StoredModel):
    """`tokens` are word numbers, sentence after sentence. Sentence i begins at token `starts[i]`; the
    last entry of `starts` is the number of tokens. Word number w occurs at the tokens
    `places[begins[w] : begins[w + 1]]`."""

    kind: ClassVar[str] = "corpus-index"
    noun: ClassVar[str] = "corpus index"

    words: list[str]
    tokens: NDArray[np.uint32]
    starts: NDArray[np.uint64]
    begins: NDArray[np.uint64]
    places: NDArray[np.uint32]
    card: Mapping[str, Any]

    @cached_property
    def number_of(self) -> dict[str, int]:
        """The number of each word: its place in `words`."""
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def word_keys(self) -> NDArray[np.uint64]:
        """The key of each word, a 64-bit hash. `classifiers.py` has a classifier for each word, which
        learns from features of the context; the keys of these features are made from the keys here."""
        return _native.word_keys(self.words)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each word occurs."""
        begins = self.begins.astype(np.int64)
        return begins[1:] - begins[:-1]

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self.tokens)

    def places_of(self, word: str) -> NDArray[np.uint32]:
        """The places of the word; empty for a word that does not occur."""
        number = self.number_of.get(word)
        if number is None:
            return self.places[:0]
        return self.places[int(self.begins[number]) : int(self.begins[number + 1])]

    def sentences_of(self, word: str) -> list[list[str]]:
        """The sentences with the word, each once, as lists of words."""
        numbers = np.searchsorted(self.starts, self.places_of(word), side="right") - 1
        bounds = ((int(self.starts[i]), int(self.starts[i + 1])) for i in np.unique(numbers))
        return [[self.words[n] for n in self.tokens[begin:end]] for begin, end in bounds]

    def _check(self) -> None:
        """Raises ValueError where the arrays do not fit together."""
        n_tokens, n_words = len(self.tokens), len(self.words)
        for bounds, n_parts, end in (
            (self.starts, len(self.starts) - 1, n_tokens),
            (self.begins, n_words, len(self.places)),
        ):
            signed = bounds.astype(np.int64)  # so that differences can be negative
            if signed.shape != (n_parts + 1,) or (np.diff(signed) < 0).any():
                raise ValueError("bounds are out of order")
            if signed[0] != 0 or signed[-1] != end:
                raise ValueError("bounds do not begin at 0 or end too early")
        for numbers, end in ((self.tokens, n_words), (self.places, n_tokens)):
            if numbers.ndim != 1 or numbers.dtype != np.uint32:
                raise ValueError("places and words are 32-bit numbers")
            if len(numbers) and int(numbers.max()) >= end:
                raise ValueError("a place or word is out of range")

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        return {
            "tokens": self.tokens,
            "starts": self.starts,
            "begins": self.begins,
            "places": self.places,
            **packed_strings("words", self.words),
        }

    @classmethod
    def load(cls, path: PathLike) -> CorpusIndex:
        with cls.reading(path) as file:
            tokens, starts, begins, places = (
                file.arrays[name] for name in ("tokens", "starts", "begins", "places")
            )
            words = file.strings("words")
            index = cls(words, tokens, starts, begins, places, file.card)
            if len(tokens) <= CHECK_UP_TO_TOKENS:
                index._check()
        # The property is not computed again, which would read the whole file.
        index.__dict__["fingerprint"] = file.fingerprint
        return index


def index_corpus(
    blocks: Iterable[Sequence[str]], *, on_progress: Callable[[int], None] = lambda _: None
) -> CorpusIndex:
    """The index of a corpus. Each block is a list of any number of sentences; blank sentences are left
    out. Words are numbered in the order of their first occurrence."""
    numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
    tokens, starts = array("I"), array("Q", [0])
    for block in blocks:
        for text in block:
            tokens.extend(map(numbers.__getitem__, lower_tokens(text)))
            if len(tokens) > starts[-1]:
                starts.append(len(tokens))
        if len(tokens) >= 1 << 32:
            raise InputError("A corpus index holds less than 2³² words: index it in parts.")
        on_progress(len(block))
    if not tokens:
        raise InputError("There are no words to index in the corpus.")
    numbered = np.frombuffer(tokens, np.uint32)
    begins, places = _native.postings(numbered, len(numbers))
    bounds = np.frombuffer(starts, np.uint64)
    card = {"tokens": len(numbered)}
    return CorpusIndex(list(numbers), numbered, bounds, begins, places, card)
