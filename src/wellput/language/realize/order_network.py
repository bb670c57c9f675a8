"""`OrderNetwork`: a small network that puts heads and daughters into order (order_network.h in
native/); and `OrderVocabulary`, what the network knows of a word, as numbers.

A transformer reads the words of a tree without their order; how much a word attends to another
depends also on their places in the tree (mother, sister, aunt, …). Then, for each head and its
daughters, a scorer gives each of them that has no place yet the probability to come next. Torch trains
the network (benchmarks/language/order_network_training.py); running it needs no torch. Weights are
whole numbers, with a scale for each row of a matrix.

A word's *label* is its part of speech and its relation. Labels come from the input, or a chooser
(`label_chooser.py`) chose them. To the network a word is the sum of several rows of weights: those of
its pieces (word_network.py), of the word itself if it is frequent, of its last letters, its shape, its
part of speech, and its relation with and without the subtype. Number 0 is the unknown word, part of
speech or relation. The number of the shape also says where the labels come from, because chosen labels
may be wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.io.files import PathLike
from wellput.io.model_files import ModelFile, StoredModel, packed_strings
from wellput.language.models.word_network import SPECIAL_PIECES, Pieces, rows_in_whole_numbers
from wellput.language.realize.completer import LabelKind
from wellput.language.realize.label_chooser import Forest, Label
from wellput.language.realize.wording import WordingChooser

N_ENDINGS = 1024
"""The last letters of a word are hashed to a number below this."""
ENDING_LETTERS = 3
MAX_PIECES = 4
"""Of a word with more pieces, the first ones and the last one are used."""
SHAPES = ("lower", "capital", "capitals", "digits", "mark", "mixed")
LOWER, CAPITAL, CAPITALS, DIGITS, MARK, MIXED = range(len(SHAPES))
LABEL_SOURCES = ("given", "chosen", "parsed")
"""Where labels come from: the input or a treebank, a chooser that saw the tree, a parser (only in
training)."""
SHAPE_COLUMN = 2
FORM_COLUMNS = 3 + MAX_PIECES
"""The numbers of a word form: word, ending, shape, pieces; −1 is no piece."""

LABEL_COLUMNS = 3
"""The numbers of a label: part of speech, relation, relation without its subtype."""

FormNumbers = tuple[int, ...]
"""The `FORM_COLUMNS` numbers of a word form."""


@dataclass(frozen=True, eq=False)
class OrderVocabulary:
    """`pieces` are those of the small language model. The numbers of `words`, `categories` and
    `relations` begin at 1."""

    pieces: tuple[str, ...]
    words: tuple[str, ...]
    categories: tuple[str, ...]
    relations: tuple[str, ...]

    def of_forms(self, forms: Sequence[str]) -> NDArray[np.int32]:
        """A row of `FORM_COLUMNS` numbers for each word."""
        return np.array([self.of_form(form) for form in forms], np.int32).reshape(-1, FORM_COLUMNS)

    def of_form(self, form: str) -> FormNumbers:
        """The `FORM_COLUMNS` numbers of a word form."""
        known = self._cache.get(form)
        if known is None:
            known = self._of_form(form)
            if len(self._cache) < MAX_CACHED_FORMS:
                self._cache[form] = known
        return known

    def category(self, category: str) -> int:
        """The number of a part of speech; 0 if it is unknown."""
        return self._categories.get(category, 0)

    def relation(self, relation: str) -> int:
        """The number of a relation; 0 if it is unknown."""
        return self._relations.get(relation, 0)

    def base_relation(self, relation: str) -> int:
        """The number of a relation without its subtype, which follows a colon."""
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
        return DIGITS
    if not any(letter.isalpha() for letter in form):
        return MARK
    if form == form.lower():
        return LOWER
    if form[1:] == form[1:].lower():
        return CAPITAL
    return CAPITALS if form == form.upper() else MIXED


LABEL_KINDS: tuple[LabelKind, ...] = ("words", "labels")
"""Inputs without labels and with, in the order in which a file has their tuned weights."""


@dataclass(frozen=True)
class TunedWeights:
    """The weights of two scores that are added to the score of the orderer's learned weights (see
    `Orderer` in learned_realizer.py): the network's natural log probability, and the n-gram model's
    score."""

    network: float = 1.0
    ngrams: float = 0.0


@dataclass(frozen=True, eq=False)
class OrderNetwork(StoredModel):
    """`parts` has the network's weights by name; `tuned` has `TunedWeights` for inputs without labels
    and with. `wording` chooses among the forms of a word, such as *a* and *an*; it is in this file
    because it is trained with the network."""

    kind: ClassVar[str] = "order network"

    vocabulary: OrderVocabulary
    parts: Mapping[str, NDArray[Any]]
    layers: int
    attention_heads: int
    tuned: Mapping[LabelKind, TunedWeights]
    wording: WordingChooser
    card: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, path: PathLike) -> OrderNetwork:
        with cls.reading(path) as file:
            network = cls._of_file(file)
            network._check()
            return network

    @classmethod
    def _of_file(cls, file: ModelFile) -> OrderNetwork:
        layers, heads = file.arrays["sizes"].tolist()
        rows = file.arrays["tuned"].tolist()
        return cls(
            OrderVocabulary.of_file(file),
            {
                name.removeprefix(PREFIX): array
                for name, array in file.arrays.items()
                if name.startswith(PREFIX)
            },
            layers,
            heads,
            {kind: TunedWeights(*row) for kind, row in zip(LABEL_KINDS, rows, strict=True)},
            WordingChooser.of_arrays(file.arrays, "wording"),
            file.card,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        rows = [(self.tuned[kind].network, self.tuned[kind].ngrams) for kind in LABEL_KINDS]
        return {
            **self.vocabulary.arrays(),
            **self.wording.arrays("wording"),
            **{f"{PREFIX}{name}": array for name, array in self.parts.items()},
            "sizes": np.array([self.layers, self.attention_heads], np.int32),
            "tuned": np.array(rows, np.float64),
        }

    def _check(self) -> None:
        """Raises ValueError unless all parts fit together."""
        # The tables of rows for pieces, words, endings, shapes, parts of speech, and relations with and
        # without their subtypes.
        tables = (
            ("pieces", len(self.vocabulary.pieces)),
            ("table0", len(self.vocabulary.words) + 1),
            ("table1", N_ENDINGS),
            ("table2", len(SHAPES) * len(LABEL_SOURCES)),
            ("table3", len(self.vocabulary.categories) + 1),
            ("table4", len(self.vocabulary.relations) + 1),
            ("table5", len(self.vocabulary.relations) + 1),
        )
        weights = [w for tuned in self.tuned.values() for w in (tuned.network, tuned.ngrams)]
        if any(len(self.parts[f"{name}.scales"]) != size for name, size in tables):
            raise ValueError("tables of another size than their words")
        if not {*SPECIAL_PIECES} <= {*self.vocabulary.pieces}:
            raise ValueError("pieces without those that every word may need")
        if not np.isfinite(weights).all():
            raise ValueError("weights that are not numbers")
        _ = self.kernel  # raises ValueError if its parts do not fit

    @cached_property
    def kernel(self) -> _native.OrderNetwork:
        return _native.OrderNetwork(
            {name: np.ascontiguousarray(array) for name, array in self.parts.items()},
            self.layers,
            self.attention_heads,
        )

    def numbers(
        self, forest: Forest, labels: Sequence[Sequence[Label]], *, are_chosen: bool
    ) -> NDArray[np.int32]:
        """A row of numbers for each word of all trees. `are_chosen` says that a chooser chose the
        labels."""
        of_form, of_label = self.vocabulary.of_form, self._of_label
        rows = [
            (*of_form(form), *of_label(label))
            for forms, tree_labels in zip(forest.forms, labels, strict=True)
            for form, label in zip(forms, tree_labels, strict=True)
        ]
        numbers = np.array(rows, np.int32).reshape(-1, FORM_COLUMNS + LABEL_COLUMNS)
        if are_chosen:
            numbers[:, SHAPE_COLUMN] += len(SHAPES) * LABEL_SOURCES.index("chosen")
        return numbers

    def _of_label(self, label: Label) -> tuple[int, int, int]:
        """The `LABEL_COLUMNS` numbers of a label."""
        known = self._labels.get(label)
        if known is None:
            vocabulary = self.vocabulary
            known = (
                vocabulary.category(label.category),
                vocabulary.relation(label.relation),
                vocabulary.base_relation(label.relation),
            )
            if len(self._labels) < MAX_CACHED_LABELS:
                self._labels[label] = known
        return known

    @cached_property
    def _labels(self) -> dict[Label, tuple[int, int, int]]:
        """The labels whose numbers are known already."""
        return {}


PREFIX = "part."
MAX_CACHED_LABELS = 1 << 14


def rounded_rows(
    name: str, values: NDArray[np.float64], *, most: int, bias: NDArray[np.float64] | None = None
) -> dict[str, NDArray[Any]]:
    """The arrays of a matrix in whole numbers up to `most`, and of its bias."""
    steps, scales = rows_in_whole_numbers(values, most)
    arrays: dict[str, NDArray[Any]] = {f"{name}.steps": steps, f"{name}.scales": scales}
    if bias is not None:
        arrays[f"{name}.bias"] = bias.astype(np.float32)
    return arrays
