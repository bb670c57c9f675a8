"""The noun `CorpusIndex`: a corpus as numbers, with the places of every word.

It finds the sentences of a word without reading the corpus again. The file is a model file (`.wpm`)
that is mapped rather than read, so an index larger than memory can be searched. Making one takes about
12 bytes of memory a word.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.work import MapParts, map_here
from wellput.io.files import PathLike
from wellput.io.lines import TextPart
from wellput.io.model_files import (
    ModelFile,
    fingerprint,
    load_model_file,
    noticing_damage,
    packed_strings,
    save_model_file,
)
from wellput.language.paraphrase.sentences import lower_tokens

KIND = "corpus-index"


@dataclass(frozen=True, eq=False)
class CorpusIndex:
    """`tokens` are word numbers, sentence after sentence; sentence i begins at `starts[i]`, and behind
    the last stands the number of tokens. Word w is at `places[begins[w] : begins[w + 1]]`.

    One that was read from the file `path` is not sent to another process: that maps the file as well.
    """

    words: list[str]
    tokens: NDArray[np.uint32]
    starts: NDArray[np.uint64]
    begins: NDArray[np.uint64]
    places: NDArray[np.uint32]
    path: Path | None = None

    @cached_property
    def number_of(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def word_keys(self) -> NDArray[np.uint64]:
        """By word, its hash for the keys of context features."""
        return _native.word_keys(self.words)

    @property
    def counts(self) -> NDArray[np.int64]:
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
        """The sentences with the word, each once."""
        found = np.searchsorted(self.starts, self.places_of(word), side="right") - 1
        bounds = ((int(self.starts[i]), int(self.starts[i + 1])) for i in np.unique(found))
        return [[self.words[n] for n in self.tokens[begin:end]] for begin, end in bounds]

    def save(self, path: PathLike) -> None:
        save_model_file(path, KIND, {"tokens": len(self)}, self._arrays)

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(KIND, self._arrays)

    @property
    def _arrays(self) -> dict[str, NDArray[np.generic]]:
        return {
            "tokens": self.tokens,
            "starts": self.starts,
            "begins": self.begins,
            "places": self.places,
            **packed_strings("words", self.words),
        }

    @classmethod
    def load(cls, path: PathLike) -> CorpusIndex:
        file: ModelFile = load_model_file(path, KIND)
        with noticing_damage(path, "corpus index"):
            tokens, starts, begins, places = (
                file.arrays[name] for name in ("tokens", "starts", "begins", "places")
            )
            words = file.strings("words")
        index = cls(words, tokens, starts, begins, places, Path(path).absolute())
        index.__dict__["fingerprint"] = file.fingerprint
        return index

    def __reduce__(self) -> tuple[Callable[..., CorpusIndex], tuple[Any, ...]]:
        if self.path is not None:
            return _reopened, (self.path, self.fingerprint)
        return CorpusIndex, (self.words, self.tokens, self.starts, self.begins, self.places)


@lru_cache(maxsize=1)
def _reopened(path: Path, fingerprint: str) -> CorpusIndex:
    index = CorpusIndex.load(path)
    if index.fingerprint != fingerprint:
        raise InputError(f"{path} is another corpus index where a worker reads it: share one file.")
    return index


@dataclass(frozen=True, eq=False)
class NumberedPart:
    """A part of a corpus by numbers of its own: word numbers, and where sentences begin."""

    words: list[str]
    tokens: NDArray[np.uint32]
    starts: NDArray[np.uint64]
    lines: int


class _Numbering:
    """Words numbered in the order of their first appearance, and the text in these numbers."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(lambda: len(self._numbers))
        self._tokens, self._starts = array("I"), array("Q", [0])
        self._lines = 0

    def add_texts(self, texts: Sequence[str]) -> None:
        """Adds texts; blank ones are left out."""
        for text in texts:
            self._tokens.extend(map(self._numbers.__getitem__, lower_tokens(text)))
            if len(self._tokens) > self._starts[-1]:
                self._starts.append(len(self._tokens))
        self._lines += len(texts)
        self._check_size()

    def add_part(self, part: NumberedPart) -> None:
        numbers = np.array([self._numbers[word] for word in part.words], np.uint32)
        self._starts.frombytes((part.starts[1:] + np.uint64(len(self._tokens))).tobytes())
        self._tokens.frombytes(numbers[part.tokens].tobytes())
        self._check_size()

    def _check_size(self) -> None:
        if len(self._tokens) >= 1 << 32:
            raise InputError("A corpus index holds less than 2³² words: index it in parts.")

    def part(self) -> NumberedPart:
        return NumberedPart(
            list(self._numbers),
            np.frombuffer(self._tokens, np.uint32),
            np.frombuffer(self._starts, np.uint64),
            self._lines,
        )

    def index(self) -> CorpusIndex:
        whole = self.part()
        if not len(whole.tokens):
            raise InputError("There are no words to index in the corpus.")
        begins, places = _native.postings(whole.tokens, len(whole.words))
        return CorpusIndex(whole.words, whole.tokens, whole.starts, begins, places)


def index_corpus(
    blocks: Iterable[Sequence[str]], *, on_progress: Callable[[int], None] = lambda _: None
) -> CorpusIndex:
    """The index of sentences that come in lists as large as is convenient; blank ones are left out."""
    numbering = _Numbering()
    for block in blocks:
        numbering.add_texts(block)
        on_progress(len(block))
    return numbering.index()


def index_parts(
    parts: Iterable[TextPart],
    *,
    map_parts: MapParts = map_here,
    on_progress: Callable[[int], None] = lambda _: None,
) -> CorpusIndex:
    """The index that `index_corpus` gives for all lines of the parts."""
    numbering = _Numbering()
    for part in map_parts(_number_part, parts):
        numbering.add_part(part)
        on_progress(part.lines)
    return numbering.index()


def _number_part(part: TextPart) -> NumberedPart:
    numbering = _Numbering()
    for block in part.blocks():
        numbering.add_texts(block)
    return numbering.part()
