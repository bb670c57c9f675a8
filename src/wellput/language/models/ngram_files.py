"""Files of n-gram models: ARPA text, and a binary file that is mapped rather than read.

The binary file (`.wlm`) is little-endian. It has a header (magic, version, order, a SHA-256). In
version 1 the lengths of all arrays follow, and then the arrays as in memory, each padded to 8 bytes;
the hash is the vocabulary's. Such a file opens at once, and processes share its memory. Version 2 is
the compact form (ngram_compact.py), unpacked when read; the hash is that of everything after it. All
formats hold the same numbers: ARPA has the fewest digits that give the same floats again.
"""

from __future__ import annotations

import hashlib
import itertools
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.io import replacing
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.language.models.ngram_compact import packed, unpacked
from wellput.language.models.ngrams import NgramModel, vocabulary_hash

if TYPE_CHECKING:
    from wellput._native import LevelArrays

MAGIC = b"wellput\x00ngrams\x00\x00"
MAPPED_VERSION, COMPACT_VERSION = 1, 2
HEADER = struct.Struct("<16sII32s")
WORD_TYPES = ("<u8", "|u1", "<u4")
LEVEL_TYPES = ("<u4", "<u4", "<f4", "<f4")
LINES_A_BLOCK = 1 << 16
MODEL_SUFFIXES = (".arpa", ".wlm")


def save_model(model: NgramModel, path: PathLike, *, is_compact: bool = False) -> None:
    """Writes ARPA (`.arpa`, `.arpa.gz`, `.arpa.xz`) or the binary format (`.wlm`).

    With `is_compact` the model must be `quantized`.
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
    """`.arpa` or `.wlm`; raises InputError for anything else."""
    suffix = InputFile(path).suffix
    if suffix not in MODEL_SUFFIXES or (
        suffix == ".wlm" and not str(path).lower().endswith(suffix)
    ):
        raise InputError(
            f"{path}: the file of an n-gram model ends in .arpa (.arpa.gz, .arpa.xz) or .wlm."
        )
    return suffix


def _binary(model: NgramModel) -> Iterator[bytes]:
    arrays: list[NDArray[Any]] = [*model.vocabulary, *itertools.chain(*model.levels)]
    types = [*WORD_TYPES, *LEVEL_TYPES * model.order]
    yield HEADER.pack(MAGIC, MAPPED_VERSION, model.order, vocabulary_hash(model.vocabulary))
    yield np.array([len(array) for array in arrays], "<u8").tobytes()
    for array, type_ in zip(arrays, types, strict=True):
        data = array.astype(type_, copy=False).tobytes()
        yield data + bytes(-len(data) % 8)


def _compact(model: NgramModel) -> Iterator[bytes]:
    data = packed(model)
    yield HEADER.pack(MAGIC, COMPACT_VERSION, model.order, hashlib.sha256(data).digest())
    yield data


def _read_binary(path: Path) -> NgramModel:
    damaged = InputError(
        f"{path} is not an n-gram model of wellput, or is damaged: train it again."
    )
    if path.stat().st_size < HEADER.size:
        raise damaged
    data = np.memmap(path, np.uint8, "r")
    magic, version, order, stored_hash = HEADER.unpack(data[: HEADER.size].tobytes())
    if magic != MAGIC or order < 1:
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
    rest = data[HEADER.size :].tobytes()
    if hashlib.sha256(rest).digest() != stored_hash:
        raise ValueError("another hash")
    return unpacked(rest, order)


def _mapped(data: NDArray[np.uint8], order: int, stored_hash: bytes) -> NgramModel:
    """Raises ValueError if the lengths do not fit the file, or the hash does not fit the words."""
    place = HEADER.size + 8 * (len(WORD_TYPES) + len(LEVEL_TYPES) * order)
    if data.size < place:
        raise ValueError("no lengths")
    types = [*WORD_TYPES, *LEVEL_TYPES * order]
    lengths = data[HEADER.size : place].view("<u8").tolist()
    bytes_ = [n * np.dtype(type_).itemsize for n, type_ in zip(lengths, types, strict=True)]
    if place + sum(n + -n % 8 for n in bytes_) != data.size:
        raise ValueError("other lengths")
    arrays: list[NDArray[Any]] = []
    for n, type_ in zip(bytes_, types, strict=True):
        arrays.append(np.asarray(data[place : place + n]).view(type_))
        place += n + -n % 8
    (offsets, text, slots), rest = arrays[:3], arrays[3:]
    if vocabulary_hash((offsets, text, slots)) != stored_hash:
        raise ValueError("other words")
    levels: list[LevelArrays] = [
        (rest[i], rest[i + 1], rest[i + 2], rest[i + 3]) for i in range(0, len(rest), 4)
    ]
    return NgramModel((offsets, text, slots), tuple(levels))


def _fits_together(model: NgramModel) -> bool:
    """Whether the lengths of the arrays fit together; their contents are not read."""
    offsets, text, slots = model.vocabulary
    sizes = model.sizes
    claims = [
        len(offsets) == sizes[0] + 1,
        len(offsets) > 0 and offsets[-1] == len(text),
        len(slots) > sizes[0] and len(slots).bit_count() == 1,
    ]
    for depth, (words, begins, _, backoffs) in enumerate(model.levels):
        claims.append(len(words) == (sizes[depth] if depth else 0))
        if depth + 1 < model.order:
            claims.append(len(begins) == sizes[depth] + 1 and begins[-1] == sizes[depth + 1])
            claims.append(len(backoffs) == sizes[depth])
    return all(claims)


def _arpa(model: NgramModel) -> Iterator[bytes]:
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
    order = _announced_order(file)
    reader = _native.ArpaReader(order)
    depth = -1  # in the header
    number = 0  # of lines before the block
    for block in file.line_blocks(LINES_A_BLOCK):
        begin = 0
        for end, line in enumerate([*block, "\\"]):
            # A line of n-grams begins with a number; this one is a heading or the end of the block.
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
    """The number of n-gram lengths in the header; its counts of n-grams are not used."""
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
