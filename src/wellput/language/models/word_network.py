"""`WordNetwork`: how likely each word of a sentence is after all words before it.

A small recurrent network (GRU) reads pieces of words and gives each piece a score, close to the natural
logarithm of its probability. It learned to do so from sentences that a larger network wrote. It was
trained so that the scores of all pieces nearly sum to 1 as probabilities: so only the pieces that are
there are computed, not the whole vocabulary.

Weights and states are whole numbers small enough for their sums to be exact in 32-bit floating point:
the score of a sentence does not depend on the sentences scored with it.

Words are cut into pieces (`Pieces`). Case and tokenization make no difference: words are put in lower
case, *do n't* is *don't*, numbers are their number of digits. Names that are not known are all the same
piece, and several in a row are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.io.files import PathLike
from wellput.io.model_files import load_model_file, noticing_damage, packed_strings, save_model_file

UNKNOWN, BEGIN, END, NUMBER, NAME = "<unk>", "<s>", "</s>", "<num>", "<name>"
INSIDE_MARK = "##"
"""The mark of a piece that does not begin a word."""
SPECIAL_PIECES = (UNKNOWN, BEGIN, END, NUMBER, NAME)
LONGEST_NUMBER = 4
MAX_CACHED_WORDS = 1 << 17
PLAIN_CHARACTERS = str.maketrans(
    {"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "."}
)
ENDING_PATTERN = re.compile(r"\s+(n't|'(?:s|re|ve|ll|d|m))\b", re.IGNORECASE)
WORD_PATTERN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+(?:[.,:]\d+)*|[^\w\s]|_")


def plain_words(text: str) -> list[str]:
    """The words, numbers and marks of a sentence, however it is tokenized."""
    plain = text.translate(PLAIN_CHARACTERS).replace("''", '"')
    return WORD_PATTERN.findall(ENDING_PATTERN.sub(r"\1", plain))


class Pieces:
    """Cuts words into the pieces of a vocabulary, and numbers them."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.numbers = {piece: number for number, piece in enumerate(pieces)}
        self._longest = max(map(len, pieces))
        self.of_word = lru_cache(MAX_CACHED_WORDS)(self._of_word)

    def coded(self, words: Iterable[str]) -> tuple[list[str], list[tuple[int, ...]]]:
        """The words and the pieces of each; names in a row are one."""
        kept: list[str] = []
        coded: list[tuple[int, ...]] = []
        name = (self.numbers[NAME],)
        for word in words:
            pieces = self.of_word(word)
            if pieces == name and coded and coded[-1] == name:
                kept[-1] += f" {word}"
                continue
            kept.append(word)
            coded.append(pieces)
        return kept, coded

    def _of_word(self, word: str) -> tuple[int, ...]:
        """One piece for a word that is known whole; else the longest pieces from the left. No word has
        no pieces."""
        if not word:
            return ()
        numbers = self.numbers
        if word[0].isdigit():
            is_short = word.isdigit() and len(word) <= LONGEST_NUMBER
            return (numbers.get("0" * len(word) if is_short else NUMBER, numbers[NUMBER]),)
        small = word.lower()
        is_initial = len(word) == 1 and word.isupper() and word not in "AI"
        if is_initial or (small not in numbers and word[0].isupper()):
            return (numbers[NAME],)
        found: list[int] = []
        begin = 0
        while begin < len(small):
            mark = INSIDE_MARK if begin else ""
            for end in range(min(len(small), begin + self._longest), begin, -1):
                if (piece := numbers.get(mark + small[begin:end])) is not None:
                    break
            else:
                piece, end = numbers[UNKNOWN], begin + 1
            found.append(piece)
            begin = end
        return tuple(found)


MAX_WEIGHT = 15
MAX_ROW_SCALE = 1000.0
"""The largest scale that a row in a file may have; trained rows have scales below 1."""
STATE_STEPS = 1023
"""A state from −1 to 1 is rounded to this many steps on either side."""
STEPS_PER_UNIT = 1000
"""Biases and logarithms are stored in thousandths."""
BLOCK_SENTENCES, BLOCK_PIECES = 256, 1 << 18
"""Sentences that are read together, and their pieces if all were as long as the longest."""
LENGTH_EXPONENT = 0.8
Numbers: TypeAlias = NDArray[np.int64]
Singles: TypeAlias = NDArray[np.float32]


def whole_rows(values: Floats, most: int) -> tuple[NDArray[np.int8], Singles]:
    """A matrix in whole numbers up to `most`, times the scale of each row that has the smallest squared
    error."""
    largest = np.maximum(np.abs(values).max(axis=1), 1e-9)
    best, scales = np.full(len(values), np.inf), largest / most
    for share in np.linspace(0.5, 1.0, 26):
        tried = largest * share / most
        steps = np.clip(np.round(values / tried[:, None]), -most, most)
        error = ((steps * tried[:, None] - values) ** 2).sum(axis=1)
        scales = np.where(error < best, tried, scales)
        best = np.minimum(best, error)
    steps = np.clip(np.round(values / scales[:, None]), -most, most)
    return steps.astype(np.int8), scales.astype(np.float32)


@dataclass(frozen=True, eq=False)
class Matrix:
    """Whole numbers up to `MAX_WEIGHT`, and the scale of each row."""

    steps: NDArray[np.int8]
    scales: Singles

    @classmethod
    def rounded(cls, values: Floats) -> Matrix:
        return cls(*whole_rows(values, MAX_WEIGHT))

    @cached_property
    def numbers(self) -> Singles:
        return self.steps.astype(np.float32)

    def is_sound(self, shape: tuple[int, int]) -> bool:
        """Whether it has this shape, and whole numbers that are small enough for exact sums.
        Larger scales than any trained one would overflow."""
        return (
            self.steps.shape == shape
            and self.steps.dtype == np.int8
            and self.scales.shape == shape[:1]
            and bool((np.abs(self.scales) <= MAX_ROW_SCALE).all())
            and bool((np.abs(self.steps.astype(np.int16)) <= MAX_WEIGHT).all())
        )

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        return {f"{name}.steps": self.steps, f"{name}.scales": self.scales}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]], name: str) -> Matrix:
        return cls(arrays[f"{name}.steps"], arrays[f"{name}.scales"])


@dataclass(frozen=True, eq=False)
class ScoredWords:
    """The words of a sentence, as the network sees them, and its end.

    For each piece its score, that of the piece alone, and the number of its word.
    """

    words: tuple[str, ...]
    scores: Floats
    alone: Floats
    places: Numbers

    def gains(self) -> Floats:
        """For each word and the end: how much likelier it is in its place than alone, in log10; 0 for a
        word of several pieces, which is rare or misspelled."""
        gains = np.bincount(self.places, self.scores - self.alone, len(self.words) + 1)
        pieces = np.bincount(self.places, minlength=len(self.words) + 1)
        return np.where(pieces > 1, 0.0, gains / np.log(10))

    def penalized(self) -> float:
        """PenLP: the log probability of the sentence over ((5 + pieces) / 6) ** 0.8."""
        return float(self.scores.sum() / ((5 + len(self.scores)) / 6) ** LENGTH_EXPONENT)


@dataclass(frozen=True, eq=False)
class WordNetwork:
    """`inputs` and `states` have three blocks of rows each: reset, update and new state. `words` are
    known words that are not one piece."""

    kind: ClassVar[str] = "word network"

    pieces: tuple[str, ...]
    words: tuple[str, ...]
    vectors: Matrix
    inputs: Matrix
    states: Matrix
    outputs: Matrix
    input_bias: Singles
    state_bias: Singles
    bias: Singles
    alone: Singles
    fingerprint: str = ""

    def score(self, sentences: Sequence[str]) -> list[ScoredWords]:
        coded = [self._coder.coded(plain_words(sentence)) for sentence in sentences]
        numbers = [[piece for own in pieces for piece in own] for _, pieces in coded]
        scores = self._scores([[*own, self._coder.numbers[END]] for own in numbers])
        found = []
        for (words, pieces), own, its_scores in zip(coded, numbers, scores, strict=True):
            places = np.repeat(np.arange(len(words) + 1), [*map(len, pieces), 1])
            alone = self.alone[[*own, self._coder.numbers[END]]].astype(np.float64)
            found.append(ScoredWords(tuple(words), its_scores, alone, places))
        return found

    def save(self, path: PathLike, card: Mapping[str, Any]) -> None:
        arrays = {
            **packed_strings("pieces", self.pieces),
            **packed_strings("words", self.words),
            **self.vectors.arrays("vectors"),
            **self.inputs.arrays("inputs"),
            **self.states.arrays("states"),
            **self.outputs.arrays("outputs"),
            "input_bias": _whole(self.input_bias),
            "state_bias": _whole(self.state_bias),
            "bias": _whole(self.bias),
            "alone": _whole(self.alone),
        }
        save_model_file(path, self.kind, card, arrays)

    @classmethod
    def load(cls, path: PathLike) -> WordNetwork:
        file = load_model_file(path, cls.kind)
        with noticing_damage(path):
            arrays = file.arrays
            network = cls(
                tuple(file.strings("pieces")),
                tuple(file.strings("words")),
                Matrix.of(arrays, "vectors"),
                Matrix.of(arrays, "inputs"),
                Matrix.of(arrays, "states"),
                Matrix.of(arrays, "outputs"),
                _parts(arrays["input_bias"]),
                _parts(arrays["state_bias"]),
                _parts(arrays["bias"]),
                _parts(arrays["alone"]),
                file.fingerprint,
            )
            network._check()
            return network

    def _check(self) -> None:
        """Raises ValueError unless all parts fit together."""
        size, width = len(self.states.scales) // 3, len(self.outputs.scales)
        shapes = (
            (self.vectors, (len(self.pieces), width)),
            (self.inputs, (3 * size, width)),
            (self.states, (3 * size, size)),
            (self.outputs, (width, size)),
        )
        gates, pieces = (3 * size,), (len(self.pieces),)
        fits = (
            all(matrix.is_sound(shape) for matrix, shape in shapes)
            and self.input_bias.shape == self.state_bias.shape == gates
            and self.bias.shape == self.alone.shape == pieces
            and {*SPECIAL_PIECES} <= {*self.pieces}
        )
        if not fits:
            raise ValueError("parts of different sizes")

    def knows(self, word: str) -> bool:
        """Whether it has seen the word often, in any case."""
        return word.lower() in self._words

    @cached_property
    def _words(self) -> frozenset[str]:
        whole = (piece for piece in self.pieces if piece.isalpha() and len(piece) > 1)
        return frozenset([*whole, *self.words])

    @cached_property
    def _coder(self) -> Pieces:
        return Pieces(self.pieces)

    @cached_property
    def _from_states(self) -> tuple[Singles, Singles]:
        """What follows from a state: the gates of the next one, and the guess of the next piece."""
        rows = np.vstack([self.states.numbers, self.outputs.numbers])
        scales = np.concatenate([self.states.scales, self.outputs.scales]) / STATE_STEPS
        return np.ascontiguousarray(rows.T), scales.astype(np.float32)

    def _scores(self, coded: Sequence[Sequence[int]]) -> list[Floats]:
        """For each list of pieces the score of each piece."""
        if not coded:
            return []
        used, flat = np.unique(
            np.concatenate([[self._coder.numbers[BEGIN]], *coded]), return_inverse=True
        )
        steps, scales = self.vectors.steps[used].astype(np.float32), self.vectors.scales[used]
        gates = steps @ self.inputs.numbers.T * (scales[:, None] * self.inputs.scales)
        gates += self.input_bias
        begin, flat = int(flat[0]), flat[1:]
        ends = np.cumsum([len(own) for own in coded])
        rows = np.split(flat, ends[:-1])
        order = sorted(range(len(rows)), key=lambda place: -len(rows[place]))
        found: list[Floats] = [np.empty(0)] * len(rows)
        vectors = steps * scales[:, None]
        while order:
            most = max(1, min(BLOCK_SENTENCES, BLOCK_PIECES // len(rows[order[0]])))
            block, order = order[:most], order[most:]
            scored = self._block([rows[place] for place in block], begin, gates, vectors, used)
            for place, own in zip(block, scored, strict=True):
                found[place] = own
        return found

    def _block(
        self,
        rows: Sequence[NDArray[Any]],
        begin: int,
        gates: Singles,
        vectors: Singles,
        used: NDArray[Any],
    ) -> list[Floats]:
        """The scores of rows that are ordered from the longest to the shortest."""
        lengths = np.array([len(row) for row in rows])
        width, size = int(lengths[0]), len(self.states.scales) // 3
        targets = np.zeros((len(rows), width), np.int64)
        for place, row in enumerate(rows):
            targets[place, : len(row)] = row
        scores = np.zeros((len(rows), width))
        state = np.zeros((len(rows), size), np.float32)
        weights, weight_scales = self._from_states
        kept = np.tile(self.state_bias, (len(rows), 1))
        read = np.full(len(rows), begin)
        for step in range(width):
            active = int(np.count_nonzero(lengths > step))
            state, read, kept = state[:active], read[:active], kept[:active]
            given = gates[read]
            both = _sigmoid(given[:, : 2 * size] + kept[:, : 2 * size])
            reset, update = both[:, :size], both[:, size:]
            new = np.tanh(given[:, 2 * size :] + reset * kept[:, 2 * size :])
            state = new + update * (state - new)
            following = np.rint(state * STATE_STEPS) @ weights * weight_scales
            kept = following[:, : 3 * size] + self.state_bias
            read = targets[:active, step]
            scores[:active, step] = np.einsum("ij,ij->i", following[:, 3 * size :], vectors[read])
            scores[:active, step] += self.bias[used[read]]
        return [scores[place, :length] for place, length in enumerate(lengths)]


def _whole(values: Singles) -> NDArray[np.int16]:
    return np.round(values * STEPS_PER_UNIT).astype(np.int16)


def _parts(whole: NDArray[np.int16]) -> Singles:
    return np.asarray(whole.astype(np.float32) / np.float32(STEPS_PER_UNIT))


def _sigmoid(values: Singles) -> Singles:
    return np.asarray(0.5 * np.tanh(0.5 * values) + 0.5)
