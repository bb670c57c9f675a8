"""`WordNetwork`: the small language model, which says how probable each word is after all words before
it.

A small recurrent network (a gated recurrent unit, GRU) reads pieces of words and gives each piece a
score that is close to the natural logarithm of its probability. It is trained on sentences that a
larger network wrote. It is also trained so that the exponentials of the scores of all pieces of the
vocabulary nearly sum to 1. So scores are computed only for the pieces of the sentence, not for the
whole vocabulary.

Weights and states are whole numbers, small enough that their sums are exact in 32-bit floating point.
So the score of a sentence does not depend on the other sentences that are scored with it.

Words are divided into pieces (`Pieces`). Case and tokenization make no difference: words are put in
lower case, *do n't* is the same as *don't*, and a number becomes a piece for its number of digits. All
unknown names are the same piece, and several of them in a row are one piece.
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
MAX_NUMBER_DIGITS = 4
"""Longer numbers are all the same piece."""
MAX_CACHED_WORDS = 1 << 17
PLAIN_CHARACTERS = str.maketrans(
    {"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "."}
)
ENDING_PATTERN = re.compile(r"\s+(n't|'(?:s|re|ve|ll|d|m))\b", re.IGNORECASE)
WORD_PATTERN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+(?:[.,:]\d+)*|[^\w\s]|_")


def plain_words(text: str) -> list[str]:
    """The words, numbers and marks of a sentence; the result is the same for tokenized text."""
    plain = text.translate(PLAIN_CHARACTERS).replace("''", '"')
    return WORD_PATTERN.findall(ENDING_PATTERN.sub(r"\1", plain))


class Pieces:
    """Divides words into the pieces of a vocabulary, and numbers the pieces."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.numbers = {piece: number for number, piece in enumerate(pieces)}
        self._longest = max(map(len, pieces))
        self.of_word = lru_cache(MAX_CACHED_WORDS)(self._of_word)

    def coded(self, words: Iterable[str]) -> tuple[list[str], list[tuple[int, ...]]]:
        """The words and the numbers of the pieces of each word; unknown names in a row are joined to
        one word."""
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
        """The pieces of a word: one piece if the vocabulary has the whole word, otherwise the longest
        possible pieces from the left; no pieces for an empty word."""
        if not word:
            return ()
        numbers = self.numbers
        if word[0].isdigit():
            is_short = word.isdigit() and len(word) <= MAX_NUMBER_DIGITS
            return (numbers.get("0" * len(word) if is_short else NUMBER, numbers[NUMBER]),)
        lower = word.lower()
        # A single capital is an initial, except the words A and I.
        is_initial = len(word) == 1 and word.isupper() and word not in "AI"
        if is_initial or (lower not in numbers and word[0].isupper()):
            return (numbers[NAME],)
        piece_numbers: list[int] = []
        begin = 0
        while begin < len(lower):
            mark = INSIDE_MARK if begin else ""
            for end in range(min(len(lower), begin + self._longest), begin, -1):
                if (piece := numbers.get(mark + lower[begin:end])) is not None:
                    break
            else:
                piece, end = numbers[UNKNOWN], begin + 1
            piece_numbers.append(piece)
            begin = end
        return tuple(piece_numbers)


MAX_WEIGHT = 15
"""The largest absolute value of a weight as a whole number."""
MAX_ROW_SCALE = 1000.0
"""The largest scale that a row in a file may have; trained rows have scales below 1."""
STATE_STEPS = 1023
"""A state from −1 to 1 is rounded to this many steps from 0 to 1, and as many from 0 to −1."""
STEPS_PER_UNIT = 1000
"""Biases and logarithms are stored in thousandths."""
BLOCK_SENTENCES, BLOCK_PIECES = 256, 1 << 18
"""The most sentences that are read together, and the most pieces of them, with padding."""
LENGTH_EXPONENT = 0.8
"""The exponent in PenLP, a log probability corrected for the length (see
`ScoredWords.penalized_log_prob`)."""
Numbers: TypeAlias = NDArray[np.int64]
Singles: TypeAlias = NDArray[np.float32]


def rows_in_whole_numbers(values: Floats, most: int) -> tuple[NDArray[np.int8], Singles]:
    """A matrix rounded to whole numbers of at most `most`, and the scale by which each row must be
    multiplied, chosen so that the squared error of the row is smallest."""
    largest = np.maximum(np.abs(values).max(axis=1), 1e-9)
    least_errors, scales = np.full(len(values), np.inf), largest / most
    for share in np.linspace(0.5, 1.0, 26):
        tried_scales = largest * share / most
        steps = np.clip(np.round(values / tried_scales[:, None]), -most, most)
        errors = ((steps * tried_scales[:, None] - values) ** 2).sum(axis=1)
        scales = np.where(errors < least_errors, tried_scales, scales)
        least_errors = np.minimum(least_errors, errors)
    steps = np.clip(np.round(values / scales[:, None]), -most, most)
    return steps.astype(np.int8), scales.astype(np.float32)


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix as whole numbers of at most `MAX_WEIGHT` (`steps`), and the scale by which each row is
    multiplied."""

    steps: NDArray[np.int8]
    scales: Singles

    @classmethod
    def rounded(cls, values: Floats) -> Matrix:
        return cls(*rows_in_whole_numbers(values, MAX_WEIGHT))

    @cached_property
    def numbers(self) -> Singles:
        """The whole numbers as floats, for products."""
        return self.steps.astype(np.float32)

    def is_sound(self, shape: tuple[int, int]) -> bool:
        """Whether the matrix has this shape, whole numbers that are small enough for exact sums, and
        scales that are too small to overflow."""
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
    """The words of a sentence, as the network reads them. Each piece of the sentence, and its end, has
    its score (`scores`), its natural log probability without context (`alone`), and the number of its
    word (`places`, from 0; the end comes after the last word).
    """

    words: tuple[str, ...]
    scores: Floats
    alone: Floats
    places: Numbers

    def gains(self) -> Floats:
        """The gain of each word and of the end: its log10 probability in its place minus that without
        context. It is 0 for a word of several pieces, which is rare or misspelled."""
        gains = np.bincount(self.places, self.scores - self.alone, len(self.words) + 1)
        pieces = np.bincount(self.places, minlength=len(self.words) + 1)
        return np.where(pieces > 1, 0.0, gains / np.log(10))

    def penalized_log_prob(self) -> float:
        """The natural log probability of the sentence, corrected for its length as in PenLP: divided by
        ((5 + pieces) / 6) ** 0.8."""
        return float(self.scores.sum() / ((5 + len(self.scores)) / 6) ** LENGTH_EXPONENT)


@dataclass(frozen=True, eq=False)
class WordNetwork:
    """The network. `vectors` has a row for each piece. `inputs` and `states`, the matrices of the GRU,
    have three blocks of rows each: for the reset gate, the update gate and the new state. `outputs`
    turns a state into a guess of the next piece's vector; `bias` is added for each piece. `alone` is
    the natural log probability of each piece without context. `words` are known words of several
    pieces."""

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
        """The scores of the words of each sentence."""
        coded = [self._coder.coded(plain_words(sentence)) for sentence in sentences]
        end = self._coder.numbers[END]
        rows = [[*(piece for word in pieces for piece in word), end] for _, pieces in coded]
        results = []
        for (words, pieces), row, scores in zip(coded, rows, self._scores(rows), strict=True):
            places = np.repeat(np.arange(len(words) + 1), [*map(len, pieces), 1])
            alone = self.alone[row].astype(np.float64)
            results.append(ScoredWords(tuple(words), scores, alone, places))
        return results

    def save(self, path: PathLike, card: Mapping[str, Any]) -> None:
        arrays = {
            **packed_strings("pieces", self.pieces),
            **packed_strings("words", self.words),
            **self.vectors.arrays("vectors"),
            **self.inputs.arrays("inputs"),
            **self.states.arrays("states"),
            **self.outputs.arrays("outputs"),
            "input_bias": _thousandths(self.input_bias),
            "state_bias": _thousandths(self.state_bias),
            "bias": _thousandths(self.bias),
            "alone": _thousandths(self.alone),
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
                _values(arrays["input_bias"]),
                _values(arrays["state_bias"]),
                _values(arrays["bias"]),
                _values(arrays["alone"]),
                file.fingerprint,
            )
            network._check()
            return network

    def _check(self) -> None:
        """Raises ValueError unless all parts fit together."""
        state_size, vector_size = len(self.states.scales) // 3, len(self.outputs.scales)
        shapes = (
            (self.vectors, (len(self.pieces), vector_size)),
            (self.inputs, (3 * state_size, vector_size)),
            (self.states, (3 * state_size, state_size)),
            (self.outputs, (vector_size, state_size)),
        )
        gates, pieces = (3 * state_size,), (len(self.pieces),)
        fits = (
            all(matrix.is_sound(shape) for matrix, shape in shapes)
            and self.input_bias.shape == self.state_bias.shape == gates
            and self.bias.shape == self.alone.shape == pieces
            and {*SPECIAL_PIECES} <= {*self.pieces}
        )
        if not fits:
            raise ValueError("parts of different sizes")

    def knows(self, word: str) -> bool:
        """Whether the word, in any case, is among the words that are frequent in the training text."""
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
        """The matrix by which a state is multiplied, and the scales of its columns: first those for
        the gates of the next state, then those for the guess of the next piece."""
        rows = np.vstack([self.states.numbers, self.outputs.numbers])
        scales = np.concatenate([self.states.scales, self.outputs.scales]) / STATE_STEPS
        return np.ascontiguousarray(rows.T), scales.astype(np.float32)

    def _scores(self, coded: Sequence[Sequence[int]]) -> list[Floats]:
        """For each list of pieces, the score of each piece."""
        if not coded:
            return []
        used, flat = np.unique(
            np.concatenate([[self._coder.numbers[BEGIN]], *coded]), return_inverse=True
        )
        steps, scales = self.vectors.steps[used].astype(np.float32), self.vectors.scales[used]
        gates = steps @ self.inputs.numbers.T * (scales[:, None] * self.inputs.scales)
        gates += self.input_bias
        begin, flat = int(flat[0]), flat[1:]
        ends = np.cumsum([len(pieces) for pieces in coded])
        rows = np.split(flat, ends[:-1])
        order = sorted(range(len(rows)), key=lambda place: -len(rows[place]))
        scores: list[Floats] = [np.empty(0)] * len(rows)
        vectors = steps * scales[:, None]
        while order:
            n_rows = max(1, min(BLOCK_SENTENCES, BLOCK_PIECES // len(rows[order[0]])))
            block, order = order[:n_rows], order[n_rows:]
            block_scores = self._block(
                [rows[place] for place in block], begin, gates, vectors, used
            )
            for place, row_scores in zip(block, block_scores, strict=True):
                scores[place] = row_scores
        return scores

    def _block(
        self,
        rows: Sequence[NDArray[Any]],
        begin: int,
        gates: Singles,
        vectors: Singles,
        used: NDArray[Any],
    ) -> list[Floats]:
        """The scores of rows of pieces, which must be ordered from the longest to the shortest. Pieces
        are numbered by their place in `used`, the pieces of the vocabulary that occur; `gates` and
        `vectors` have a row for each of them, and `begin` is the piece before each row."""
        lengths = np.array([len(row) for row in rows])
        longest, size = int(lengths[0]), len(self.states.scales) // 3
        targets = np.zeros((len(rows), longest), np.int64)
        for place, row in enumerate(rows):
            targets[place, : len(row)] = row
        scores = np.zeros((len(rows), longest))
        state = np.zeros((len(rows), size), np.float32)
        weights, weight_scales = self._from_states
        state_gates = np.tile(self.state_bias, (len(rows), 1))
        read = np.full(len(rows), begin)
        for step in range(longest):
            active = int(np.count_nonzero(lengths > step))  # the rows that are long enough
            state, read, state_gates = state[:active], read[:active], state_gates[:active]
            input_gates = gates[read]
            both_gates = _sigmoid(input_gates[:, : 2 * size] + state_gates[:, : 2 * size])
            reset, update = both_gates[:, :size], both_gates[:, size:]
            new = np.tanh(input_gates[:, 2 * size :] + reset * state_gates[:, 2 * size :])
            state = new + update * (state - new)
            following = np.rint(state * STATE_STEPS) @ weights * weight_scales
            state_gates = following[:, : 3 * size] + self.state_bias
            read = targets[:active, step]
            scores[:active, step] = np.einsum("ij,ij->i", following[:, 3 * size :], vectors[read])
            scores[:active, step] += self.bias[used[read]]
        return [scores[place, :length] for place, length in enumerate(lengths)]


def _thousandths(values: Singles) -> NDArray[np.int16]:
    """Values as thousandths, for the file."""
    return np.round(values * STEPS_PER_UNIT).astype(np.int16)


def _values(thousandths: NDArray[np.int16]) -> Singles:
    """The values that `_thousandths` made whole."""
    return np.asarray(thousandths.astype(np.float32) / np.float32(STEPS_PER_UNIT))


def _sigmoid(values: Singles) -> Singles:
    return np.asarray(0.5 * np.tanh(0.5 * values) + 0.5)
