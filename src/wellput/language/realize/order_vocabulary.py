"""`OrderVocabulary`: what the order network knows of a word, as numbers.

A word is the sum of several rows of weights: its pieces (word_pieces.py), itself if it is frequent, its
last letters, its shape, its part of speech, its relation with and without the subtype. Number 0 is
the unknown word, part of speech or relation. The number of the shape also says where the labels come
from, because chosen labels are less sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from wellput.io.model_files import ModelFile, packed_strings
from wellput.language.models.word_pieces import Pieces

N_ENDINGS = 1024
ENDING_LETTERS = 3
MAX_PIECES = 4
SHAPES = ("lower", "capital", "capitals", "digits", "mark", "mixed")
LABEL_SOURCES = ("given", "chosen", "parsed")
"""Where labels come from: a treebank, a chooser that saw the tree, a parser (only in training)."""
SHAPE_COLUMN = 2
FORM_COLUMNS = 3 + MAX_PIECES
"""Word, ending, shape, pieces; −1 is no piece."""

FormNumbers = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class OrderVocabulary:
    """`pieces` are those of a network of words; `words`, `categories` and `relations` count from 1."""

    pieces: tuple[str, ...]
    words: tuple[str, ...]
    categories: tuple[str, ...]
    relations: tuple[str, ...]

    def of_forms(self, forms: Sequence[str]) -> NDArray[np.int32]:
        """A row of `FORM_COLUMNS` numbers for each word."""
        return np.array([self.of_form(form) for form in forms], np.int32).reshape(-1, FORM_COLUMNS)

    def of_form(self, form: str) -> FormNumbers:
        known = self._cache.get(form)
        if known is None:
            known = self._of_form(form)
            if len(self._cache) < MAX_CACHED_FORMS:
                self._cache[form] = known
        return known

    def category(self, category: str) -> int:
        return self._categories.get(category, 0)

    def relation(self, relation: str) -> int:
        return self._relations.get(relation, 0)

    def base_relation(self, relation: str) -> int:
        return self._relations.get(relation.partition(":")[0], 0)

    def _of_form(self, form: str) -> FormNumbers:
        pieces = self._coder.of_word(form)
        if len(pieces) > MAX_PIECES:
            pieces = (*pieces[: MAX_PIECES - 1], pieces[-1])
        missing = (-1,) * (MAX_PIECES - len(pieces))
        letters = form.lower()[-ENDING_LETTERS:].encode("utf-8", "surrogatepass")
        ending = crc32(letters) % N_ENDINGS
        return (self._words.get(form, 0), ending, shape_of(form), *pieces, *missing)

    @cached_property
    def _coder(self) -> Pieces:
        return Pieces(self.pieces)

    @cached_property
    def _cache(self) -> dict[str, FormNumbers]:
        return {}

    @cached_property
    def _words(self) -> dict[str, int]:
        return _numbered(self.words)

    @cached_property
    def _categories(self) -> dict[str, int]:
        return _numbered(self.categories)

    @cached_property
    def _relations(self) -> dict[str, int]:
        return _numbered(self.relations)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            **packed_strings("pieces", self.pieces),
            **packed_strings("words", self.words),
            **packed_strings("categories", self.categories),
            **packed_strings("relations", self.relations),
        }

    @classmethod
    def of_file(cls, file: ModelFile) -> OrderVocabulary:
        names = ("pieces", "words", "categories", "relations")
        return cls(*(tuple(file.strings(name)) for name in names))


MAX_CACHED_FORMS = 1 << 17


def _numbered(strings: Sequence[str]) -> dict[str, int]:
    return {string: number for number, string in enumerate(strings, start=1)}


def shape_of(form: str) -> int:
    """The place of the form's shape among `SHAPES`.

    >>> [SHAPES[shape_of(form)] for form in ("dog", "Rome", "USA", "1990s", "--", "iPod")]
    ['lower', 'capital', 'capitals', 'digits', 'mark', 'mixed']
    """
    if any(letter.isdigit() for letter in form):
        return 3
    if not any(letter.isalpha() for letter in form):
        return 4
    if form == form.lower():
        return 0
    if form[1:] == form[1:].lower():
        return 1
    return 2 if form == form.upper() else 5
