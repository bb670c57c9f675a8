"""The noun `Corpus`: sentences of words, and where given their tags, as numbers.

Degraders draw from it. Words and tags are numbered in the order in which they first occur, so that
the same text and the same seed give the same sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError

Integers: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Corpus:
    """`tokens` are numbers of `words`, all sentences one after the other; sentence i is from
    `ends[i - 1]` to `ends[i]`. `tags` is parallel to `tokens`, or None."""

    words: Sequence[str]
    tokens: Integers
    ends: Integers
    tag_names: Sequence[str] = ()
    tags: Integers | None = None

    @classmethod
    def of(
        cls, sentences: Iterable[Sequence[str]], tags: Iterable[Sequence[str]] | None = None
    ) -> Corpus:
        """From lists of words, empty ones left out; `tags` has one for each word."""
        kept = [sentence for sentence in sentences if sentence]
        if not kept:
            raise InputError("The corpus holds no sentence.")
        words, tokens = _numbered(kept)
        ends = np.cumsum([len(sentence) for sentence in kept], dtype=np.int32)
        if tags is None:
            return cls(words, tokens, ends)
        kept_tags = [sentence for sentence in tags if sentence]
        if [len(sentence) for sentence in kept_tags] != [len(sentence) for sentence in kept]:
            raise InputError("The corpus must have one tag for each word.")
        return cls(words, tokens, ends, *_numbered(kept_tags))

    @cached_property
    def starts(self) -> Integers:
        return np.concatenate([np.zeros(1, np.int32), self.ends[:-1]])

    @cached_property
    def sentence_numbers(self) -> Integers:
        """The sentence that each token is in."""
        numbers = np.arange(len(self.ends), dtype=np.int32)
        return np.repeat(numbers, self.ends - self.starts)

    def text(self, tokens: Iterable[int]) -> list[str]:
        return [self.words[token] for token in tokens]


def _numbered(sentences: Sequence[Sequence[str]]) -> tuple[list[str], Integers]:
    numbers: dict[str, int] = {}
    tokens = [numbers.setdefault(name, len(numbers)) for names in sentences for name in names]
    return list(numbers), np.array(tokens, np.int32)
