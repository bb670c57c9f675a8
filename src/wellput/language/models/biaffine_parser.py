"""`BiaffineParser`: a small neural network that parses tagged words to dependency trees.

Every word gets a score for each possible head, and the tree with the largest sum of scores is chosen
(Dozat & Manning 2017; Eisner 1996). The network reads vectors of words, letters and tags, and the
states of the small language model (`word_network.py`), from left to right and from right to left. It
also gives each word an XPOS and a UPOS tag. It is trained by `python -m benchmarks parser-training`.
Weights are whole numbers, so sums are exact in any order, and the tree of a sentence does not depend
on the other sentences that are parsed with it. Trees are projective and have one root.

`InputCoder` turns words into the numbers of the vectors that the network looks up. A word has a vector
for its lower-case form, if that was frequent in training, and vectors for its beginnings, endings and
shape. It is also divided into pieces, which the small language model reads from left to right. Parts of
one written word (*do* and *n't*) share their pieces, and unknown names in a row are one piece.
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
    rows_in_whole_numbers,
)

AFFIX_KINDS = 8
"""The features of a word's letters: three beginnings, four endings, its shape."""
MAX_CACHED_WORDS = 1 << 16
UNKNOWN_WORD = 0
MAX_PIECES_A_WORD = 12
"""Further pieces of a word, such as a long address, are not read."""
MAX_SHAPE_RUN, MAX_SHAPE_LETTERS = 2, 8
"""In a word's shape, how often a character is repeated, and how many characters there are."""
# Words that are written together with the word before.
JOINED_ENDINGS = frozenset(["n't", "'s", "'re", "'ve", "'ll", "'d", "'m"])
_DIGIT = re.compile(r"\d")

Numbers = NDArray[np.int32]


class SentenceInputs(NamedTuple):
    """The words of a sentence as numbers: for each word its number, the numbers of its affix features,
    and the places of its first and last piece (`spans`); and the numbers of the sentence's pieces. The
    first piece stands for the beginning of the sentence."""

    words: list[int]
    affixes: list[tuple[int, ...]]
    spans: list[tuple[int, int]]
    pieces: list[int]


class InputCoder:
    """Turns sentences into `SentenceInputs`. `vocabulary` are the word forms that have a vector each;
    `n_affixes` is the number of vectors for affix features, which are chosen by a hash."""

    def __init__(self, vocabulary: Sequence[str], n_affixes: int, pieces: Pieces) -> None:
        self._numbers = {form: number for number, form in enumerate(vocabulary, start=1)}
        self._n_affixes = n_affixes
        self._pieces = pieces
        self._begin, self._name = pieces.numbers[BEGIN], pieces.numbers[NAME]
        self._cached_numbers = lru_cache(MAX_CACHED_WORDS)(self._word_numbers)
        self._cached_pieces = lru_cache(MAX_CACHED_WORDS)(self._text_pieces)

    def coded(self, forms: Sequence[str]) -> SentenceInputs:
        numbers = [self._cached_numbers(form) for form in forms]
        spans, pieces = self._spans(forms)
        return SentenceInputs(
            [word for word, _ in numbers], [affixes for _, affixes in numbers], spans, pieces
        )

    def _word_numbers(self, form: str) -> tuple[int, tuple[int, ...]]:
        """The number of the word and the numbers of its affix features."""
        lower = plain_form(form)
        return self._numbers.get(lower, UNKNOWN_WORD), tuple(
            zlib.crc32(feature.encode(errors="surrogatepass")) % self._n_affixes
            for feature in affix_features(form)
        )

    def _spans(self, forms: Sequence[str]) -> tuple[list[tuple[int, int]], list[int]]:
        """The places of each word's first and last piece, and the pieces of the sentence."""
        pieces = [self._begin]
        spans: list[tuple[int, int]] = []
        for place, (text, n_forms) in enumerate(_written_words(forms)):
            word_pieces = self._cached_pieces(text)
            is_name = word_pieces == (self._name,)
            continues_name = is_name and place > 0 and pieces[-1] == self._name
            if not continues_name:
                pieces += word_pieces
            # A word without pieces, such as *²*, gets the last piece before it.
            count = max(1, len(word_pieces))
            spans += [(len(pieces) - count, len(pieces) - 1)] * n_forms
        return spans, pieces

    def _text_pieces(self, text: str) -> tuple[int, ...]:
        pieces = [
            piece for word in WORD_PATTERN.findall(text) for piece in self._pieces.of_word(word)
        ]
        return tuple(pieces[:MAX_PIECES_A_WORD])


def plain_form(form: str) -> str:
    """The form in lower case, with 0 for every digit."""
    return _DIGIT.sub("0", form.lower())


def affix_features(form: str) -> tuple[str, ...]:
    """The beginnings, endings and shape of a word, each with a mark that says which of them it is.

    >>> affix_features("Bark2")
    ('1>b', '2>ba', '3>bar', '<10', '<2k0', '<3rk0', '<4ark0', '=Xxx0')
    """
    plain = plain_form(form)
    beginnings = (f"{n}>{plain[:n]}" for n in range(1, 4))
    endings = (f"<{n}{plain[-n:]}" for n in range(1, 5))
    return (*beginnings, *endings, "=" + _shape(form))


def _shape(form: str) -> str:
    """The word with X or x for each letter and 0 for each digit; other characters stay. Of more than
    two equal characters in a row two are kept, and the shape ends after eight characters."""
    shape = ""
    for letter in form:
        kind = letter
        if letter.isalpha():
            kind = "X" if letter.isupper() else "x"
        elif letter.isdigit():
            kind = "0"
        if shape[-MAX_SHAPE_RUN:] != kind * MAX_SHAPE_RUN:
            shape += kind
        if len(shape) == MAX_SHAPE_LETTERS:
            break
    return shape


def _written_words(forms: Sequence[str]) -> list[tuple[str, int]]:
    """The words as they are written, each with the number of forms of which it consists."""
    written: list[tuple[str, int]] = []
    for form in forms:
        plain = form.translate(PLAIN_CHARACTERS).replace("''", '"')
        if written and plain.lower() in JOINED_ENDINGS and written[-1][0][-1:].isalpha():
            text, n_forms = written[-1]
            written[-1] = text + plain, n_forms + 1
        else:
            written.append((plain, 1))
    return written


MAX_WEIGHT = 31
"""Weights are whole numbers up to this, times the scale of their row."""
MAX_WORDS_READ_TOGETHER = 250
"""A longer sentence is parsed in parts, and the roots of the later parts depend on the root of the
first."""
FURTHER_ROOT_RELATION = "parataxis"
ROOT_RELATION = "root"
# The names of the network's tables: vectors to look up, then matrices. (BiaffineWeights in native/
# says what each is for.)
VECTORS = ("words", "affixes", "tags")
# Two recurrent layers; one side of a layer reads the sentence forward, its other side backward.
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
    """A matrix as whole numbers (`steps`), the number by which each row is multiplied (`scales`), and
    the bias of each row; vectors to look up have no bias."""

    steps: NDArray[np.int8]
    scales: Singles
    bias: Singles

    @classmethod
    def rounded(cls, values: Floats, bias: Floats | None = None) -> WholeMatrix:
        """The matrix of these values, rounded to whole numbers."""
        row_bias = np.empty(0) if bias is None else bias
        return cls(*rows_in_whole_numbers(values, MAX_WEIGHT), row_bias.astype(np.float32))

    def is_sound(self) -> bool:
        """Whether the arrays have the right types; the kernel checks their sizes."""
        return self.steps.dtype == np.int8 and self.scales.dtype == self.bias.dtype == np.float32


class ParsedWord(NamedTuple):
    """A word's head (from 1; 0 for the root), relation, XPOS tag and UPOS tag, as the parser chose
    them."""

    head: int
    relation: str
    xpos: str
    upos: str


class BiaffineParser(StoredModel):
    """The parser. `tables` are the matrices and vectors of its network by name; `roots` are the
    vectors of the artificial root as a head, for arcs and for relations. `tags` and `categories` are
    the XPOS and UPOS tags in the order of their numbers. `word_analysis` gives lemmas; `reader` is the
    small language model."""

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
        word_analysis: WordAnalysis,
        reader: WordNetwork,
        *,
        card: Mapping[str, Any] | None = None,
    ) -> None:
        self.vocabulary, self.tags = vocabulary, tags
        self.categories, self.relations = categories, relations
        self.tables, self.roots = tables, roots
        self.word_analysis = word_analysis
        self.reader = reader
        self.card = card or {}
        is_sound = all(table.is_sound() for table in tables.values())
        ordered = [*_reader_tables(reader), *(tables[name] for name in (*VECTORS, *MATRICES))]
        sizes = (len(vocabulary) + 1, len(tags) + 1, len(relations))
        stored_sizes = tuple(
            len(tables[name].scales) for name in (VECTORS[0], VECTORS[2], "head_labels")
        )
        # The rows of the matrix `parts` make a word's vectors as a head and as a dependent, each for
        # arcs and for relations, and the scores of its tags.
        n_part_rows = 2 * sum(map(len, roots)) + len(tags) + len(categories)
        if not is_sound or stored_sizes != sizes or len(tables["parts"].scales) != n_part_rows:
            raise ValueError("parts of different sizes")
        self._model = _native.BiaffineModel(
            [table.steps for table in ordered],
            [table.scales for table in ordered],
            [table.bias for table in ordered],
            *roots,
            relations.index(ROOT_RELATION),
        )
        self._coder = InputCoder(vocabulary, len(tables["affixes"].scales), Pieces(reader.pieces))
        self._tag_numbers = {tag: number for number, tag in enumerate(tags)}

    @classmethod
    def load(cls, path: PathLike, reader: WordNetwork) -> BiaffineParser:
        """The parser in a file; `reader` must be the small language model with which it was trained."""
        with cls.reading(path) as file:
            arrays = file.arrays
            if arrays["reader"].tobytes() != _reader_mark(reader):
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
        """The parse of every word of each sentence; `tags` are the tags that a tagger gave the
        words."""
        # A long sentence is parsed in parts. For each part: the sentence's place and the part's first
        # word.
        starts = [
            (place, begin)
            for place, forms in enumerate(sentences)
            for begin in range(0, len(forms), MAX_WORDS_READ_TOGETHER)
        ]
        parts = [
            sentences[place][begin : begin + MAX_WORDS_READ_TOGETHER] for place, begin in starts
        ]
        part_tags = [
            tags[place][begin : begin + MAX_WORDS_READ_TOGETHER] for place, begin in starts
        ]
        rows = iter(self._rows(parts, part_tags, threads).tolist())
        relations, xpos, upos = self.relations, self.tags, self.categories
        parsed: list[list[ParsedWord]] = [[] for _ in sentences]
        for (place, begin), forms in zip(starts, parts, strict=True):
            part = [
                ParsedWord(head, relations[label], xpos[tag], upos[category])
                for head, label, tag, category in islice(rows, len(forms))
            ]
            parsed[place] += _moved(part, begin, parsed[place]) if begin else part
        return parsed

    def _rows(
        self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]], threads: int
    ) -> NDArray[np.int32]:
        """For each word of all sentences: the numbers of its head, relation, XPOS and UPOS tag."""
        inputs = [self._coder.coded(forms) for forms in sentences]
        numbers, unknown = self._tag_numbers, len(self.tags)
        return self._model.parse(
            _begins([sentence.words for sentence in inputs]),
            _begins([sentence.pieces for sentence in inputs]),
            np.array([word for sentence in inputs for word in sentence.words], np.int32),
            _rows_of([row for sentence in inputs for row in sentence.affixes], AFFIX_KINDS),
            np.array([numbers.get(tag, unknown) for row in tags for tag in row], np.int32),
            _rows_of([span for sentence in inputs for span in sentence.spans], 2),
            np.array([piece for sentence in inputs for piece in sentence.pieces], np.int32),
            threads,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {
            **packed_strings("vocabulary", self.vocabulary),
            **packed_strings("tags", self.tags),
            **packed_strings("categories", self.categories),
            **packed_strings("relations", self.relations),
            **self.word_analysis.arrays(),
            "reader": np.frombuffer(_reader_mark(self.reader), np.uint8),
            "arc_root": self.roots[0],
            "label_root": self.roots[1],
        }
        for name in (*VECTORS, *MATRICES):
            table = self.tables[name]
            arrays |= {f"{name}.steps": table.steps, f"{name}.scales": table.scales}
            if name not in VECTORS:
                arrays[f"{name}.bias"] = table.bias
        return arrays


def _reader_mark(reader: WordNetwork) -> bytes:
    """The beginning of a small language model's fingerprint, which a parser file keeps to recognize
    it."""
    return bytes.fromhex(reader.fingerprint[:16])


def _reader_tables(reader: WordNetwork) -> list[WholeMatrix]:
    """The three matrices of the network that reads words, each with its bias; the first has none."""
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
    """Where each row begins if the rows are joined, and their length together."""
    return np.array([0, *accumulate(len(row) for row in rows)], np.int32)


def _rows_of(rows: Sequence[Sequence[int]], width: int) -> NDArray[np.int32]:
    return np.array(rows, np.int32).reshape(-1, width)


def _moved(
    part: Sequence[ParsedWord], begin: int, before: Sequence[ParsedWord]
) -> list[ParsedWord]:
    """A later part of a sentence, which begins after `begin` words: heads count from the sentence's
    beginning, and the part's root depends on the root of the words `before`."""
    root = next(number for number, word in enumerate(before, start=1) if word.head == 0)
    return [
        word._replace(head=word.head + begin)
        if word.head
        else word._replace(head=root, relation=FURTHER_ROOT_RELATION)
        for word in part
    ]
