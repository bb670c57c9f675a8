"""Files of n-gram models: ARPA text, and the binary format `.wlm` in two versions.

The binary file is little-endian. It has a header: magic bytes, version, order and a SHA-256 hash. In
version 1 the lengths of all arrays follow, and then the arrays as in memory, each padded to 8 bytes;
the hash is that of the vocabulary. Such a file is mapped into memory rather than read, so it opens at
once and processes share its memory. Version 2 is the compact form, which is unpacked when it is read;
the hash is that of everything after the header. ARPA and version 1 hold the same numbers: ARPA has the
fewest digits that give the same floats when they are read.

The compact form takes a few bytes for each n-gram. Logarithms are rounded to one of 256 values for
each n-gram length. The n-grams form a trie (`ngram_trie.py`); the word numbers of a node's children
are stored as differences, which are small. Numbers are stored in planes, that is, first their low
bytes, then their next bytes, because deflate compresses planes well. A *piece* of the file is a header
and the planes of one array. The unpacked model is like any other.
"""

from __future__ import annotations

import hashlib
import itertools
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.io import replacing
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.language.models.ngram_trie import (
    backoffs,
    begins_of,
    group_sizes,
    node_contexts,
    parents,
)
from wellput.language.models.ngrams import (
    LEVEL_BEGINS,
    LEVEL_LOG_PROBS,
    NgramModel,
    vocabulary_hash,
)

if TYPE_CHECKING:
    from wellput._native import LevelArrays

MAGIC_BYTES = b"wellput\x00ngrams\x00\x00"
MAPPED_VERSION, COMPACT_VERSION = 1, 2
FILE_HEADER = struct.Struct("<16sII32s")
# The types of the arrays of the vocabulary, and of those of each level (n-gram length).
WORD_TYPES = ("<u8", "|u1", "<u4")
LEVEL_TYPES = ("<u4", "<u4", "<f4", "<f4")
LINES_A_BLOCK = 1 << 16
MODEL_SUFFIXES = (".arpa", ".wlm")


def save_model(model: NgramModel, path: PathLike, *, is_compact: bool = False) -> None:
    """Writes a model as ARPA (`.arpa`, `.arpa.gz`, `.arpa.xz`) or in the binary format (`.wlm`), by the
    suffix of the path. `is_compact` is for `.wlm`; the model must then come from `quantized`.
    """
    is_arpa = check_suffix(path) == ".arpa"
    pieces = _arpa(model) if is_arpa else _compact(model) if is_compact else _binary(model)
    with replacing(path) as file:
        for piece in pieces:
            file.write(piece)


def load_model(path: PathLike) -> NgramModel:
    """A model from a file of either format, by its suffix."""
    if check_suffix(path) == ".arpa":
        return _read_arpa(InputFile(path))
    check_readable(InputFile(path))
    return _read_binary(Path(path))


def check_suffix(path: PathLike) -> str:
    """The suffix of a path, `.arpa` or `.wlm`; raises InputError for other suffixes."""
    suffix = InputFile(path).suffix
    # A .wlm file is not compressed further: .wlm.gz is refused.
    if suffix not in MODEL_SUFFIXES or (
        suffix == ".wlm" and not str(path).lower().endswith(suffix)
    ):
        raise InputError(
            f"{path}: the file of an n-gram model ends in .arpa (.arpa.gz, .arpa.xz) or .wlm."
        )
    return suffix


def _binary(model: NgramModel) -> Iterator[bytes]:
    """The bytes of a binary file of version 1."""
    arrays: list[NDArray[Any]] = [*model.vocabulary, *itertools.chain(*model.levels)]
    types = [*WORD_TYPES, *LEVEL_TYPES * model.order]
    yield FILE_HEADER.pack(
        MAGIC_BYTES, MAPPED_VERSION, model.order, vocabulary_hash(model.vocabulary)
    )
    yield np.array([len(array) for array in arrays], "<u8").tobytes()
    for array, type_ in zip(arrays, types, strict=True):
        data = array.astype(type_, copy=False).tobytes()
        yield data + bytes(-len(data) % 8)


def _compact(model: NgramModel) -> Iterator[bytes]:
    data = packed_model(model)
    yield FILE_HEADER.pack(MAGIC_BYTES, COMPACT_VERSION, model.order, hashlib.sha256(data).digest())
    yield data


def _read_binary(path: Path) -> NgramModel:
    """The model in a binary file of either version. Raises InputError for other and damaged files."""
    damaged = InputError(
        f"{path} is not an n-gram model of wellput, or is damaged: train it again."
    )
    if path.stat().st_size < FILE_HEADER.size:
        raise damaged
    data = np.memmap(path, np.uint8, "r")
    magic, version, order, stored_hash = FILE_HEADER.unpack(data[: FILE_HEADER.size].tobytes())
    if magic != MAGIC_BYTES or order < 1:
        raise damaged
    if version not in (MAPPED_VERSION, COMPACT_VERSION):
        raise InputError(
            f"{path} has version {version} of the format; this wellput reads up to {COMPACT_VERSION}."
        )
    try:
        model = (_mapped if version == MAPPED_VERSION else _unpacked)(data, order, stored_hash)
    except (LookupError, ValueError, OverflowError, struct.error, zlib.error):
        raise damaged from None
    if not _fits_together(model):
        raise damaged
    return model


def _unpacked(data: NDArray[np.uint8], order: int, stored_hash: bytes) -> NgramModel:
    content = data[FILE_HEADER.size :].tobytes()
    if hashlib.sha256(content).digest() != stored_hash:
        raise ValueError("another hash")
    return unpacked(content, order)


def _mapped(data: NDArray[np.uint8], order: int, stored_hash: bytes) -> NgramModel:
    """The model of a mapped file (version 1). Raises ValueError if the stored lengths do not fit the
    size of the file, or the hash does not fit the words."""
    place = FILE_HEADER.size + 8 * (len(WORD_TYPES) + len(LEVEL_TYPES) * order)
    if data.size < place:
        raise ValueError("no lengths")
    types = [*WORD_TYPES, *LEVEL_TYPES * order]
    lengths = data[FILE_HEADER.size : place].view("<u8").tolist()
    bytes_ = [n * np.dtype(type_).itemsize for n, type_ in zip(lengths, types, strict=True)]
    if place + sum(n + -n % 8 for n in bytes_) != data.size:
        raise ValueError("other lengths")
    arrays: list[NDArray[Any]] = []
    for n, type_ in zip(bytes_, types, strict=True):
        arrays.append(np.asarray(data[place : place + n]).view(type_))
        place += n + -n % 8
    (offsets, text, slots), level_arrays = arrays[:3], arrays[3:]
    if vocabulary_hash((offsets, text, slots)) != stored_hash:
        raise ValueError("other words")
    levels: list[LevelArrays] = [
        (level_arrays[i], level_arrays[i + 1], level_arrays[i + 2], level_arrays[i + 3])
        for i in range(0, len(level_arrays), 4)
    ]
    return NgramModel((offsets, text, slots), tuple(levels))


def _fits_together(model: NgramModel) -> bool:
    """Whether the lengths of the arrays fit together; hardly any of their contents is read."""
    offsets, text, slots = model.vocabulary
    sizes = model.sizes
    claims = [
        len(offsets) == sizes[0] + 1,
        len(offsets) > 0 and offsets[-1] == len(text),
        # `slots` is a hash table, whose size is a power of two.
        len(slots) > sizes[0] and len(slots).bit_count() == 1,
    ]
    for depth, (words, begins, _, weights) in enumerate(model.levels):
        claims.append(len(words) == (sizes[depth] if depth else 0))
        if depth + 1 < model.order:
            claims.append(len(begins) == sizes[depth] + 1 and begins[-1] == sizes[depth + 1])
            claims.append(len(weights) == sizes[depth])
    return all(claims)


def _arpa(model: NgramModel) -> Iterator[bytes]:
    """The bytes of an ARPA file."""
    try:
        model.vocabulary[1].tobytes().decode()
    except UnicodeDecodeError:
        raise InputError(
            "A word of the model is not Unicode text, so it cannot be written to an ARPA file."
        ) from None
    yield b"\\data\\\n"
    for n, size in enumerate(model.sizes, 1):
        yield b"ngram %d=%d\n" % (n, size)
    for depth, size in enumerate(model.sizes):
        yield b"\n\\%d-grams:\n" % (depth + 1)
        for begin in range(0, size, LINES_A_BLOCK):
            yield model.kernel.arpa_lines(depth, begin, min(size, begin + LINES_A_BLOCK))
    yield b"\n\\end\\\n"


def _read_arpa(file: InputFile) -> NgramModel:
    """The model in an ARPA file. Raises InputError for the first wrong line."""
    order = _announced_order(file)
    reader = _native.ArpaReader(order)
    depth = -1  # the length of the n-grams being read, less one; -1 in the header
    number = 0  # the number of lines before the block
    for block in file.line_blocks(LINES_A_BLOCK):
        begin = 0
        for end, line in enumerate([*block, "\\"]):
            # Lines of n-grams begin with a number, and headings with a backslash. The backslash added
            # to the block stands for its end.
            if not line.startswith("\\"):
                continue
            lines = [line for line in block[begin:end] if line.strip()]
            if depth >= 0 and (bad := reader.add(depth, lines)) >= 0:
                at = number + block.index(lines[bad], begin, end) + 1
                raise InputError(
                    f"{file.name}, line {at}: expected a logarithm, {depth + 1} known word(s) and "
                    f"perhaps a back-off weight, found {lines[bad][:80]!r}."
                )
            if line.startswith("\\end\\"):
                return NgramModel(*_tupled(reader.finish()))
            if end < len(block) and not line.startswith("\\data\\"):
                depth += 1
                if line.strip() != f"\\{depth + 1}-grams:" or depth >= order:
                    raise InputError(f"{file.name}, line {number + end + 1}: unexpected {line!r}.")
            begin = end + 1
        number += len(block)
    raise InputError(f"{file.name} ends without \\end\\: it is not an ARPA file, or was cut short.")


def _tupled(arrays: tuple[Any, list[LevelArrays]]) -> tuple[Any, tuple[LevelArrays, ...]]:
    return arrays[0], tuple(arrays[1])


def _announced_order(file: InputFile) -> int:
    """The order, which is the number of n-gram lengths in the header; the header's counts of n-grams
    are not used."""
    order = 0
    lines = (line.strip() for line in file.lines())
    for line in itertools.dropwhile(lambda line: line != "\\data\\", lines):
        if line.startswith("ngram "):
            length, _, size = line[6:].partition("=")
            if length.strip() != str(order + 1) or not size.strip().isdecimal():
                raise InputError(f"{file.name}: the header has {line!r}, not ngram N=COUNT.")
            order += 1
        elif line and line != "\\data\\":
            break
    if not order:
        raise InputError(
            f"{file.name} is not an ARPA file: it has no \\data\\ section with numbers of n-grams."
        )
    return order


MAX_STORED_VALUES = 256  # so that one byte says which of the values it is
MAX_DEFLATED_SHARE = 0.93
"""If deflate leaves more than this share of the bytes of some planes, they are stored uncompressed."""
MIN_LOG_PROB = -90.0  # lower values stand for impossible words and are not rounded
# The number of planes of a piece, the bytes of each plane, and the bytes of all planes as they are
# stored.
PIECE_HEADER = struct.Struct("<BQQ")

Bytes = NDArray[np.uint8]
Logs = NDArray[np.float32]
Numbers = NDArray[np.uint32]


def quantized(model: NgramModel) -> NgramModel:
    """The model with rounded logarithms. Back-off weights are computed anew from the rounded
    probabilities, so the probabilities in a context sum to one except for the rounding of its back-off
    weight.
    """
    logs = [_rounded(level[LEVEL_LOG_PROBS]) for level in model.levels]
    probs = [np.power(10.0, log.astype(np.float64)) for log in logs]
    parent_nodes, contexts = parents(model), node_contexts(model)
    levels = []
    for depth, (words, begins, _, weights) in enumerate(model.levels):
        if depth + 1 < model.order:
            # The probabilities of the n-grams of the next level, and of their parents (without the
            # first word). Their contexts (without the last word) are the n-grams of this level.
            longer, shorter = probs[depth + 1], probs[depth][parent_nodes[depth + 1]]
            new_weights = backoffs(longer, shorter, contexts[depth + 1], len(weights))
            weights = _rounded(np.log10(new_weights).astype(np.float32))
        levels.append((words, begins, logs[depth], weights))
    return NgramModel(model.vocabulary, tuple(levels))


def _rounded(logs: Logs) -> Logs:
    """The logarithms, each replaced by the mean of its bin; bins are equally wide. Zeros and the
    values of impossible words stay."""
    is_rounded = (logs > MIN_LOG_PROB) & (logs != 0)
    if not is_rounded.any():
        return logs
    low, high = float(logs[is_rounded].min()), float(logs[is_rounded].max())
    # Two of the values are left for zero and for impossible words.
    n_bins = MAX_STORED_VALUES - 2
    width = (high - low) / n_bins or 1.0
    bins = np.minimum((logs[is_rounded] - low) / width, n_bins - 1).astype(np.int64)
    counts = np.bincount(bins, minlength=n_bins)
    means = np.bincount(bins, logs[is_rounded], n_bins) / np.maximum(counts, 1)
    result = logs.copy()
    result[is_rounded] = means[bins]
    return result


def packed_model(model: NgramModel) -> bytes:
    """The compact form of a model with at most 256 different probabilities, and as many back-off
    weights, for each n-gram length."""
    offsets, text, _ = model.vocabulary
    pieces = [_packed_numbers(group_sizes(offsets)), _packed_planes([text])]
    for depth, (words, begins, log_probs, weights) in enumerate(model.levels):
        if depth:
            starts = model.levels[depth - 1][LEVEL_BEGINS][:-1].astype(np.int64)
            pieces.append(_packed_numbers(_differences(words.astype(np.int64), starts)))
        pieces.append(_packed_values(log_probs))
        if depth + 1 < model.order:
            pieces.append(_packed_numbers(group_sizes(begins)))
            pieces.append(_packed_values(weights))
    return b"".join(pieces)


def unpacked(data: bytes, order: int) -> NgramModel:
    """The model whose bytes `packed_model` returned."""
    pieces = _Pieces(data)
    offsets = begins_of(pieces.numbers()).astype(np.uint64)
    words_text = pieces.planes()[0]
    vocabulary = offsets, words_text, _native.word_slots(offsets, words_text)
    levels: list[LevelArrays] = []
    begins = nothing = np.empty(0, np.uint32)
    for depth in range(order):
        # `sums_within` undoes `_differences`.
        words = _native.sums_within(pieces.numbers(), begins) if depth else nothing
        log_probs = pieces.values()
        begins, weights = nothing, np.empty(0, np.float32)
        if depth + 1 < order:
            begins = begins_of(pieces.numbers()).astype(np.uint32)
            weights = pieces.values()
        levels.append((words, begins, log_probs, weights))
    return NgramModel(vocabulary, tuple(levels))


def _differences(words: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each node, the differences between the word numbers of its children; the number of the first
    child stays. `starts` are the places in `words` where the children of each node begin."""
    steps = np.diff(words, prepend=0)
    first = starts[starts < len(words)]
    steps[first] = words[first]
    return steps


def _packed_numbers(numbers: NDArray[np.int64]) -> bytes:
    """Numbers of 0 or more, in as many planes as the largest number has bytes."""
    n_planes = max(1, (int(numbers.max(initial=0)).bit_length() + 7) // 8)
    return _packed_planes([(numbers >> 8 * i & 255).astype(np.uint8) for i in range(n_planes)])


def _packed_values(values: Logs) -> bytes:
    """A list of the distinct values, then for each value its place in the list, in one byte."""
    distinct, codes = np.unique(values, return_inverse=True)
    assert len(distinct) <= MAX_STORED_VALUES
    distinct_bytes = np.frombuffer(distinct.astype("<f4").tobytes(), np.uint8)
    return _packed_planes([distinct_bytes]) + _packed_planes([codes.astype(np.uint8)])


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
        """The next piece as planes: an array of planes by bytes."""
        n, length, size = PIECE_HEADER.unpack_from(self._data, self._place)
        self._place += PIECE_HEADER.size + size
        data: bytes | memoryview = self._data[self._place - size : self._place]
        if size != n * length:
            data = zlib.decompress(data, bufsize=n * length)
        return np.frombuffer(data, np.uint8).reshape(n, length)

    def numbers(self) -> Numbers:
        """The next piece as the numbers that `_packed_numbers` wrote."""
        planes = self.planes()
        result: Numbers = planes[0].astype(np.uint32)
        for i, plane in enumerate(planes[1:], 1):
            result |= plane.astype(np.uint32) << np.uint32(8 * i)
        return result

    def values(self) -> Logs:
        """The next two pieces as the values that `_packed_values` wrote."""
        distinct = self.planes()[0].view("<f4").astype(np.float32)
        values: Logs = np.take(distinct, self.planes()[0])
        return values
