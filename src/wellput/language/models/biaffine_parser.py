"""`BiaffineParser`: from words and their tags to dependency trees, by a small neural network.

Every word gets a score for each possible head, and the tree with the largest sum wins (Dozat & Manning
2017; Eisner 1996). The network reads vectors of words, letters and tags, and the states of the network
of words (`word_network.py`), in both directions. It also gives each word an XPOS and a UPOS. It is
trained by `python -m benchmarks parser-training`. Weights are whole numbers and their sums exact: the
tree of a sentence does not depend on the sentences parsed with it. Trees are projective with one root.

`InputCoder` gives what the parser sees of a word, as numbers of vectors that it looks up. A word is its
lower-case form, if that was frequent in training, and its beginnings, endings and shape. It is also a
run of pieces, which the small language model reads from left to right. Parts of one written word (*do*
and *n't*) share their pieces, and unknown names in a row are one piece.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, islice
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.io.files import PathLike
from wellput.io.model_files import StoredModel, packed_strings
from wellput.language.models.word_analysis import WordAnalysis
from wellput.language.models.word_network import (
    BEGIN,
    NAME,
    PLAIN_CHARACTERS,
    WORD_PATTERN,
    Pieces,
    WordNetwork,
    whole_rows,
)

AFFIX_KINDS = 8
"""The features of a word's letters: three beginnings, four endings, its shape."""
MAX_CACHED_WORDS = 1 << 16
UNKNOWN_WORD = 0
MAX_PIECES_A_WORD = 12
"""Further pieces of a word, such as a long address, are not read."""
LONGEST_RUN, LONGEST_SHAPE = 2, 8
JOINED_ENDINGS = frozenset(["n't", "'s", "'re", "'ve", "'ll", "'d", "'m"])
_DIGIT = re.compile(r"\d")

Numbers = NDArray[np.int32]


class SentenceInputs(NamedTuple):
    """For each word its number, its affixes, and its first and last piece; and the pieces, of which the
    first begins the sentence."""

    words: list[int]
    affixes: list[tuple[int, ...]]
    spans: list[tuple[int, int]]
    pieces: list[int]


class InputCoder:
    """Numbers the words of sentences; `vocabulary` are the forms that have a vector of their own."""

    def __init__(self, vocabulary: Sequence[str], affixes: int, pieces: Pieces) -> None:
        self._numbers = {form: number for number, form in enumerate(vocabulary, start=1)}
        self._n_affixes = affixes
        self._pieces = pieces
        self._begin, self._name = pieces.numbers[BEGIN], pieces.numbers[NAME]
        self._of_letters = lru_cache(MAX_CACHED_WORDS)(self._letters)
        self._of_text = lru_cache(MAX_CACHED_WORDS)(self._text_pieces)

    def coded(self, forms: Sequence[str]) -> SentenceInputs:
        letters = [self._of_letters(form) for form in forms]
        spans, pieces = self._spans(forms)
        return SentenceInputs(
            [own[0] for own in letters], [own[1] for own in letters], spans, pieces
        )

    def _letters(self, form: str) -> tuple[int, tuple[int, ...]]:
        lower = plain_form(form)
        return self._numbers.get(lower, UNKNOWN_WORD), tuple(
            zlib.crc32(feature.encode(errors="surrogatepass")) % self._n_affixes
            for feature in affix_features(form)
        )

    def _spans(self, forms: Sequence[str]) -> tuple[list[tuple[int, int]], list[int]]:
        pieces = [self._begin]
        spans: list[tuple[int, int]] = []
        for place, (text, size) in enumerate(_written_words(forms)):
            own = self._of_text(text)
            is_again = own == (self._name,) and place > 0 and pieces[-1] == self._name
            if not is_again:
                pieces += own
            count = max(1, len(own))
            spans += [(len(pieces) - count, len(pieces) - 1)] * size
        return spans, pieces

    def _text_pieces(self, text: str) -> tuple[int, ...]:
        found = [
            piece for word in WORD_PATTERN.findall(text) for piece in self._pieces.of_word(word)
        ]
        return tuple(found[:MAX_PIECES_A_WORD])


def plain_form(form: str) -> str:
    """In lower case, with every digit as 0."""
    return _DIGIT.sub("0", form.lower())


def affix_features(form: str) -> tuple[str, ...]:
    """Beginnings, endings and shape, each with a mark that tells which.

    >>> affix_features("Bark2")
    ('1>b', '2>ba', '3>bar', '<10', '<2k0', '<3rk0', '<4ark0', '=Xxx0')
    """
    plain = plain_form(form)
    beginnings = (f"{n}>{plain[:n]}" for n in range(1, 4))
    endings = (f"<{n}{plain[-n:]}" for n in range(1, 5))
    return (*beginnings, *endings, "=" + _shape(form))


def _shape(form: str) -> str:
    """Each letter as X or x, each digit as 0, other characters as they are; long runs are cut."""
    shape = ""
    for letter in form:
        kind = (
            ("X" if letter.isupper() else "x")
            if letter.isalpha()
            else "0"
            if letter.isdigit()
            else letter
        )
        if shape[-LONGEST_RUN:] != kind * LONGEST_RUN:
            shape += kind
        if len(shape) == LONGEST_SHAPE:
            break
    return shape


def _written_words(forms: Sequence[str]) -> list[tuple[str, int]]:
    """Words as they are written, and of how many forms each consists."""
    found: list[tuple[str, int]] = []
    for form in forms:
        plain = form.translate(PLAIN_CHARACTERS).replace("''", '"')
        if found and plain.lower() in JOINED_ENDINGS and found[-1][0][-1:].isalpha():
            text, size = found[-1]
            found[-1] = text + plain, size + 1
        else:
            found.append((plain, 1))
    return found


MAX_WEIGHT = 31
"""Weights are whole numbers up to this, times the scale of their row."""
MAX_WORDS_READ_TOGETHER = 250
"""A longer sentence is parsed in parts, and the roots of the later ones hang on the first."""
FURTHER_ROOT_RELATION = "parataxis"
ROOT_RELATION = "root"
VECTORS = ("words", "affixes", "tags")
SIDES = tuple(f"{side}{layer}" for layer in (1, 2) for side in ("forward", "backward"))
MATRICES = (
    "read",
    *(f"{side}.{part}" for side in SIDES for part in ("inputs", "states")),
    "parts",
    "arcs",
    "labels",
    "head_labels",
    "dependent_labels",
)
Singles: TypeAlias = NDArray[np.float32]


class WholeMatrix(NamedTuple):
    """Whole numbers, the scale of each row, and its bias; vectors to look up have no bias."""

    steps: NDArray[np.int8]
    scales: Singles
    bias: Singles

    @classmethod
    def rounded(cls, values: Floats, bias: Floats | None = None) -> WholeMatrix:
        own = np.empty(0) if bias is None else bias
        return cls(*whole_rows(values, MAX_WEIGHT), own.astype(np.float32))

    def is_sound(self) -> bool:
        """Whether the arrays have the right types; the kernel checks their sizes."""
        return self.steps.dtype == np.int8 and self.scales.dtype == self.bias.dtype == np.float32


class ParsedWord(NamedTuple):
    """What the parser says of a word; the head of the root is 0."""

    head: int
    relation: str
    xpos: str
    upos: str


class BiaffineParser(StoredModel):
    """`tables` are the network's own matrices and vectors by name, `roots` the vectors of the root as a
    head, for arcs and for relations. `tags` and `categories` are the XPOS and UPOS in their order;
    `reader` is the small language model."""

    kind: ClassVar[str] = "biaffine parser"
    noun: ClassVar[str] = "parser"

    def __init__(
        self,
        vocabulary: Sequence[str],
        tags: Sequence[str],
        categories: Sequence[str],
        relations: Sequence[str],
        tables: Mapping[str, WholeMatrix],
        roots: tuple[Singles, Singles],
        words: WordAnalysis,
        reader: WordNetwork,
        *,
        card: Mapping[str, Any] | None = None,
    ) -> None:
        self.vocabulary, self.tags = vocabulary, tags
        self.categories, self.relations = categories, relations
        self.tables, self.roots = tables, roots
        self.words = words
        self.reader = reader
        self.card = card or {}
        is_sound = all(own.is_sound() for own in tables.values())
        ordered = [*_reader_tables(reader), *(tables[name] for name in (*VECTORS, *MATRICES))]
        sizes = (len(vocabulary) + 1, len(tags) + 1, len(relations))
        found = tuple(len(tables[name].scales) for name in (VECTORS[0], VECTORS[2], "head_labels"))
        parts = 2 * sum(map(len, roots)) + len(tags) + len(categories)
        if not is_sound or found != sizes or len(tables["parts"].scales) != parts:
            raise ValueError("parts of different sizes")
        self._model = _native.BiaffineModel(
            [own.steps for own in ordered],
            [own.scales for own in ordered],
            [own.bias for own in ordered],
            *roots,
            relations.index(ROOT_RELATION),
        )
        self._coder = InputCoder(vocabulary, len(tables["affixes"].scales), Pieces(reader.pieces))
        self._tag_numbers = {tag: number for number, tag in enumerate(tags)}

    @classmethod
    def load(cls, path: PathLike, reader: WordNetwork) -> BiaffineParser:
        """`reader` must be the small language model that the parser was trained with."""
        with cls.reading(path) as file:
            arrays = file.arrays
            if arrays["reader"].tobytes() != _mark(reader):
                raise InputError(
                    f"{path} was trained with another small language model: train it again."
                )
            none = np.empty(0, np.float32)
            tables = {
                name: WholeMatrix(
                    arrays[f"{name}.steps"],
                    arrays[f"{name}.scales"],
                    none if name in VECTORS else arrays[f"{name}.bias"],
                )
                for name in (*VECTORS, *MATRICES)
            }
            return cls(
                file.strings("vocabulary"),
                file.strings("tags"),
                file.strings("categories"),
                file.strings("relations"),
                tables,
                (arrays["arc_root"], arrays["label_root"]),
                WordAnalysis.from_file(file),
                reader,
                card=file.card,
            )

    def parse(
        self,
        sentences: Sequence[Sequence[str]],
        tags: Sequence[Sequence[str]],
        *,
        threads: int = 1,
    ) -> list[list[ParsedWord]]:
        """What the parser says of every word; `tags` are those of a tagger."""
        cut = [
            (place, begin)
            for place, forms in enumerate(sentences)
            for begin in range(0, len(forms), MAX_WORDS_READ_TOGETHER)
        ]
        parts = [sentences[place][begin : begin + MAX_WORDS_READ_TOGETHER] for place, begin in cut]
        own_tags = [tags[place][begin : begin + MAX_WORDS_READ_TOGETHER] for place, begin in cut]
        rows = iter(self._rows(parts, own_tags, threads).tolist())
        relations, xpos, upos = self.relations, self.tags, self.categories
        found: list[list[ParsedWord]] = [[] for _ in sentences]
        for (place, begin), forms in zip(cut, parts, strict=True):
            part = [
                ParsedWord(head, relations[label], xpos[tag], upos[category])
                for head, label, tag, category in islice(rows, len(forms))
            ]
            found[place] += _moved(part, begin, found[place]) if begin else part
        return found

    def _rows(
        self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]], threads: int
    ) -> NDArray[np.int32]:
        coded = [self._coder.coded(forms) for forms in sentences]
        numbers, unknown = self._tag_numbers, len(self.tags)
        return self._model.parse(
            _begins([own.words for own in coded]),
            _begins([own.pieces for own in coded]),
            np.array([word for own in coded for word in own.words], np.int32),
            _rows_of([row for own in coded for row in own.affixes], AFFIX_KINDS),
            np.array([numbers.get(tag, unknown) for own in tags for tag in own], np.int32),
            _rows_of([span for own in coded for span in own.spans], 2),
            np.array([piece for own in coded for piece in own.pieces], np.int32),
            threads,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {
            **packed_strings("vocabulary", self.vocabulary),
            **packed_strings("tags", self.tags),
            **packed_strings("categories", self.categories),
            **packed_strings("relations", self.relations),
            **self.words.arrays(),
            "reader": np.frombuffer(_mark(self.reader), np.uint8),
            "arc_root": self.roots[0],
            "label_root": self.roots[1],
        }
        for name in (*VECTORS, *MATRICES):
            own = self.tables[name]
            arrays |= {f"{name}.steps": own.steps, f"{name}.scales": own.scales}
            if name not in VECTORS:
                arrays[f"{name}.bias"] = own.bias
        return arrays


def _mark(reader: WordNetwork) -> bytes:
    """What tells a small language model from others."""
    return bytes.fromhex(reader.fingerprint[:16])


def _reader_tables(reader: WordNetwork) -> list[WholeMatrix]:
    none = np.empty(0, np.float32)
    return [
        WholeMatrix(matrix.steps, matrix.scales, bias)
        for matrix, bias in (
            (reader.vectors, none),
            (reader.inputs, reader.input_bias),
            (reader.states, reader.state_bias),
        )
    ]


def _begins(rows: Sequence[Sequence[int]]) -> NDArray[np.int32]:
    return np.array([0, *accumulate(len(row) for row in rows)], np.int32)


def _rows_of(rows: Sequence[Sequence[int]], width: int) -> NDArray[np.int32]:
    return np.array(rows, np.int32).reshape(-1, width)


def _moved(
    part: Sequence[ParsedWord], begin: int, before: Sequence[ParsedWord]
) -> list[ParsedWord]:
    """A part of a sentence as it stands after `begin` words; its root hangs on that of the first."""
    root = next(number for number, word in enumerate(before, start=1) if word.head == 0)
    return [
        word._replace(head=word.head + begin)
        if word.head
        else word._replace(head=root, relation=FURTHER_ROOT_RELATION)
        for word in part
    ]
