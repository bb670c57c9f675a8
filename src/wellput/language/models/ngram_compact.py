"""The compact form of an n-gram model: a few bytes for each n-gram, unpacked when it is loaded.

Logarithms are rounded to one of 256 values for each length. The words of a node's children are stored
as differences, which are small. Numbers are stored in planes, first all low bytes, then all the next
ones, because deflate packs these well. Unpacked, it is a model like any other.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.language.models.ngram_trie import backoffs, begins_of, contexts, lengths, parents
from wellput.language.models.ngrams import NgramModel

if TYPE_CHECKING:
    from wellput._native import LevelArrays

MAX_VALUES = 256
MAX_DEFLATED_SHARE = 0.93  # planes that deflate does not bring below this share are stored plain
MIN_LOG = -90.0  # lower values stand for impossible words and are not rounded
PIECE_HEADER = struct.Struct("<BQQ")  # planes, length of each, bytes when packed

Bytes = NDArray[np.uint8]
Log = NDArray[np.float32]
Numbers = NDArray[np.uint32]


def quantized(model: NgramModel) -> NgramModel:
    """The model with rounded logarithms, and back-off weights fitted to the rounded probabilities.

    Probabilities of a context then sum to one except for the rounding of its back-off weight.
    """
    logs = [_rounded(level[2]) for level in model.levels]
    probs = [np.power(10.0, log.astype(np.float64)) for log in logs]
    above, histories = parents(model), contexts(model)
    levels = []
    for depth, (words, begins, _, weights) in enumerate(model.levels):
        if depth + 1 < model.order:
            after, shorter = probs[depth + 1], probs[depth][above[depth + 1]]
            ratio = backoffs(after, shorter, histories[depth + 1], len(weights))
            weights = _rounded(np.log10(ratio).astype(np.float32))
        levels.append((words, begins, logs[depth], weights))
    return NgramModel(model.vocabulary, tuple(levels))


def _rounded(logs: Log) -> Log:
    """Replaces each value by the mean of its bin; bins are equally wide. Zeros stay zeros."""
    usual = (logs > MIN_LOG) & (logs != 0)
    if not usual.any():
        return logs
    low, high = float(logs[usual].min()), float(logs[usual].max())
    # Two more values are for zero and for impossible words.
    n_bins = MAX_VALUES - 2
    width = (high - low) / n_bins or 1.0
    bins = np.minimum((logs[usual] - low) / width, n_bins - 1).astype(np.int64)
    counts = np.bincount(bins, minlength=n_bins)
    means = np.bincount(bins, logs[usual], n_bins) / np.maximum(counts, 1)
    result = logs.copy()
    result[usual] = means[bins]
    return result


def packed(model: NgramModel) -> bytes:
    """The arrays of a model with at most 256 different logarithms of each kind and length."""
    offsets, text, _ = model.vocabulary
    pieces = [_packed_numbers(lengths(offsets)), _packed_planes([text])]
    for depth, (words, begins, log_probs, weights) in enumerate(model.levels):
        if depth:
            starts = model.levels[depth - 1][1][:-1].astype(np.int64)
            pieces.append(_packed_numbers(_differences(words.astype(np.int64), starts)))
        pieces.append(_packed_values(log_probs))
        if depth + 1 < model.order:
            pieces.append(_packed_numbers(lengths(begins)))
            pieces.append(_packed_values(weights))
    return b"".join(pieces)


def unpacked(data: bytes, order: int) -> NgramModel:
    """The model whose bytes `packed` returned."""
    pieces = _Pieces(data)
    offsets = begins_of(pieces.numbers()).astype(np.uint64)
    words_text = pieces.planes()[0]
    vocabulary = offsets, words_text, _native.word_slots(offsets, words_text)
    levels: list[LevelArrays] = []
    begins = nothing = np.empty(0, np.uint32)
    for depth in range(order):
        words = _native.sums_within(pieces.numbers(), begins) if depth else nothing
        log_probs = pieces.values()
        begins, weights = nothing, np.empty(0, np.float32)
        if depth + 1 < order:
            begins = begins_of(pieces.numbers()).astype(np.uint32)
            weights = pieces.values()
        levels.append((words, begins, log_probs, weights))
    return NgramModel(vocabulary, tuple(levels))


def _differences(words: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Differences from word to word among the children of one node; the first word stays."""
    steps = np.diff(words, prepend=0)
    first = starts[starts < len(words)]
    steps[first] = words[first]
    return steps


def _packed_numbers(numbers: NDArray[np.int64]) -> bytes:
    """Numbers from 0 on, in as many planes as the largest needs."""
    n_planes = max(1, (int(numbers.max(initial=0)).bit_length() + 7) // 8)
    return _packed_planes([(numbers >> 8 * i & 255).astype(np.uint8) for i in range(n_planes)])


def _packed_values(values: Log) -> bytes:
    different, codes = np.unique(values, return_inverse=True)
    assert len(different) <= MAX_VALUES
    book = np.frombuffer(different.astype("<f4").tobytes(), np.uint8)
    return _packed_planes([book]) + _packed_planes([codes.astype(np.uint8)])


def _packed_planes(planes: Sequence[Bytes]) -> bytes:
    plain = b"".join(plane.tobytes() for plane in planes)
    data = zlib.compress(plain, 9)
    if len(data) > MAX_DEFLATED_SHARE * len(plain):
        data = plain
    return PIECE_HEADER.pack(len(planes), len(planes[0]), len(data)) + data


class _Pieces:
    """Reads the packed pieces in order."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._place = 0

    def planes(self) -> NDArray[np.uint8]:
        n, length, size = PIECE_HEADER.unpack_from(self._data, self._place)
        self._place += PIECE_HEADER.size + size
        found: bytes | memoryview = self._data[self._place - size : self._place]
        if size != n * length:
            found = zlib.decompress(found, bufsize=n * length)
        return np.frombuffer(found, np.uint8).reshape(n, length)

    def numbers(self) -> Numbers:
        planes = self.planes()
        result: Numbers = planes[0].astype(np.uint32)
        for i, plane in enumerate(planes[1:], 1):
            result |= plane.astype(np.uint32) << np.uint32(8 * i)
        return result

    def values(self) -> Log:
        book = self.planes()[0].view("<f4").astype(np.float32)
        values: Log = np.take(book, self.planes()[0])
        return values
