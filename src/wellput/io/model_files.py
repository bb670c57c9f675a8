"""`ModelFile`: the content of a model's file. It has a card, which says how the model was made, and
arrays, which are mapped into memory, not read. `StoredModel` is the base class of models that have
such a file.

The file (`.wpm`) is little-endian: 16 bytes that mark the format, a version, the length of a JSON
header, the header (kind, card, SHA-256 of kind and arrays, each array's name, type, shape and number of
bytes in the file), then the arrays. Each array starts at a multiple of 64 bytes. An array is stored as
in memory, or compressed with deflate or xz if this saves enough. A compressed array is unpacked when it
is first used. The same model always gives the same bytes. Loading executes nothing from the file. A
list of strings is two arrays, see `packed_strings`. The hash is checked if all arrays together have at
most `HASH_UP_TO_BYTES`.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import math
import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError, WellputError
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.output import replacing

MAGIC_BYTES = b"wellput\x00model\x00\x00\x00"
MODEL_FORMAT_VERSION = 1
FILE_PREFIX = struct.Struct("<16sII")
"""The beginning of a file: `MAGIC_BYTES`, the version, and the length of the header in bytes."""
ALIGNMENT_BYTES = 64
MAX_COMPRESSED_SHARE = 0.95
"""An array is stored compressed only if it then has less than this share of its bytes."""
MAX_XZ_SHARE = 0.9
"""xz, which takes longer to unpack, is used only if it leaves less than this share of the bytes that
deflate leaves."""
XZ_MAGIC_BYTES = b"\xfd7zXZ\x00"
MAX_XZ_MEMORY_BYTES = 1 << 28
"""The most memory that unpacking an array may take, also if the file is damaged."""
HASH_UP_TO_BYTES = 1 << 26
"""The hash of arrays up to this size is checked when they are loaded, which takes a tenth of a second.
Larger arrays are loaded without this check."""
MAX_AXIS_LENGTH = 1 << 40
"""A longer axis of an array means that the file is damaged."""
ARRAY_TYPES = frozenset(["|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8"])


@dataclass(frozen=True, eq=False)
class ModelFile:
    """The content of a model file: `kind` says which class can use it, `card` how the model was made,
    and `fingerprint` is the SHA-256 of the kind and the arrays."""

    kind: str
    card: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    fingerprint: str

    def strings(self, name: str) -> list[str]:
        """The list of strings that was saved under `name`."""
        return unpacked_strings(self.arrays, name)


def packed_strings(name: str, strings: Sequence[str]) -> dict[str, NDArray[Any]]:
    """A list of strings as two arrays: the byte at which each string ends, and the UTF-8 bytes of all
    strings. `unpacked_strings` reads them back."""
    encoded = [string.encode(errors="surrogatepass") for string in strings]
    ends = np.cumsum([len(data) for data in encoded], dtype=np.uint32)
    return {f"{name}.ends": ends, f"{name}.text": np.frombuffer(b"".join(encoded), np.uint8)}


def unpacked_strings(arrays: Mapping[str, NDArray[Any]], name: str) -> list[str]:
    """The list of strings that `packed_strings` turned into arrays."""
    data, ends = arrays[f"{name}.text"].tobytes(), arrays[f"{name}.ends"].tolist()
    return [data[a:b].decode(errors="surrogatepass") for a, b in pairwise([0, *ends])]


def save_model_file(
    path: PathLike, kind: str, card: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Writes the file, completely or not at all. `card` must be JSON."""
    stored = {name: _little_endian(array) for name, array in arrays.items()}
    file_bytes = {name: _file_bytes(array) for name, array in stored.items()}
    header = {
        "kind": kind,
        "card": card,
        "sha256": fingerprint(kind, stored),
        "arrays": [
            [name, array.dtype.str, list(array.shape), len(file_bytes[name])]
            for name, array in stored.items()
        ],
    }
    text = json.dumps(header, ensure_ascii=False, sort_keys=True).encode()
    text += b" " * (-(FILE_PREFIX.size + len(text)) % ALIGNMENT_BYTES)
    with replacing(path) as file:
        file.write(FILE_PREFIX.pack(MAGIC_BYTES, MODEL_FORMAT_VERSION, len(text)))
        file.write(text)
        for data in file_bytes.values():
            file.write(data)
            file.write(bytes(-len(data) % ALIGNMENT_BYTES))


def load_model_file(path: PathLike, kind: str) -> ModelFile:
    """Maps the file into memory; raises InputError unless it is a complete file of this kind and
    version."""
    check_readable(InputFile(path))
    damaged = InputError(f"{path} is not a model of wellput, or is damaged: train it again.")
    if Path(path).stat().st_size < FILE_PREFIX.size:
        raise damaged
    data = np.memmap(path, np.uint8, "r")
    magic, version, length = FILE_PREFIX.unpack(data[: FILE_PREFIX.size].tobytes())
    if magic != MAGIC_BYTES:
        raise damaged
    if version != MODEL_FORMAT_VERSION:
        raise InputError(
            f"{path} has version {version} of the format; this wellput reads version "
            f"{MODEL_FORMAT_VERSION}."
        )
    place = FILE_PREFIX.size + length
    try:
        header = json.loads(data[FILE_PREFIX.size : place].tobytes())
        stored: dict[str, _Stored] = {}
        for name, type_, shape, size in header["arrays"]:
            if type_ not in ARRAY_TYPES or size < 0 or not all(map(_is_length, shape)):
                raise damaged
            stored[name] = _Stored(np.asarray(data[place : place + size]), type_, tuple(shape))
            place += size + -size % ALIGNMENT_BYTES  # the next multiple of `ALIGNMENT_BYTES`
        if place != data.size or any(array.has_too_many_bytes for array in stored.values()):
            raise damaged
        arrays = _Arrays(stored, damaged)
        model_file = ModelFile(header["kind"], header["card"], arrays, header["sha256"])
        is_small = sum(array.size for array in stored.values()) <= HASH_UP_TO_BYTES
        if is_small and fingerprint(str(model_file.kind), arrays) != model_file.fingerprint:
            raise damaged
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise damaged from None
    if model_file.kind != kind:
        raise InputError(
            f"{path} is a model of the kind “{model_file.kind}”; “{kind}” is needed here."
        )
    return model_file


def has_kind(path: PathLike, kind: str) -> bool:
    """Whether the file is a model file of this kind."""
    try:
        return load_model_file(path, kind).kind == kind
    except InputError:
        return False


@contextmanager
def noticing_damage(path: PathLike, what: str = "model") -> Iterator[None]:
    """Turns errors that occur while a model is made from its arrays into an InputError which says
    that the file is damaged. `what` is the noun for the file in the message."""
    try:
        yield
    except WellputError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError):
        raise InputError(f"{path} is a damaged {what}: train it again.") from None


class StoredModel(ABC):
    """A model that is saved in a file of its own. The file contains `kind`; `noun` is used in the
    message that a file is damaged; `card` says how the model was made."""

    kind: ClassVar[str]
    noun: ClassVar[str] = "model"
    card: Mapping[str, Any]

    @abstractmethod
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The arrays of the file: all data that determine the model's results."""

    def save(self, path: PathLike, card: Mapping[str, Any] | None = None) -> None:
        """Writes a `.wpm` file, with the given card or the model's own."""
        save_model_file(path, self.kind, dict(self.card if card is None else card), self.arrays())

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the kind and the arrays: models with equal fingerprints are equal."""
        return fingerprint(self.kind, self.arrays())

    @classmethod
    @contextmanager
    def reading(cls, path: PathLike) -> Iterator[ModelFile]:
        """The content of a file of this kind. Inside the `with` block, errors that come from damaged
        arrays become an InputError."""
        file = load_model_file(path, cls.kind)
        with noticing_damage(path, cls.noun):
            yield file


def _is_length(number: object) -> bool:
    return isinstance(number, int) and 0 <= number <= MAX_AXIS_LENGTH


@dataclass(frozen=True, slots=True)
class _Stored:
    """An array as the file has it: its bytes (`data`), type and shape. It is compressed if `data` has
    fewer bytes than the array needs in memory (`size`)."""

    data: NDArray[np.uint8]
    type: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return np.dtype(self.type).itemsize * math.prod(self.shape)

    @property
    def has_too_many_bytes(self) -> bool:
        return self.data.size > self.size

    def unpacked(self) -> NDArray[Any]:
        """The array; raises ValueError, zlib.error or LZMAError if the bytes do not fit it."""
        data = self.data
        if data.size < self.size:
            packed = data.tobytes()
            decompressor = (
                lzma.LZMADecompressor(lzma.FORMAT_XZ, MAX_XZ_MEMORY_BYTES)
                if packed.startswith(XZ_MAGIC_BYTES)
                else zlib.decompressobj()
            )
            # One byte more than needed, so that too many bytes do not fit the shape.
            data = np.frombuffer(decompressor.decompress(packed, self.size + 1), np.uint8)
        return data.view(self.type).reshape(self.shape)


class _Arrays(Mapping[str, NDArray[Any]]):
    """Arrays by name; an array is unpacked when it is first used, and then kept."""

    def __init__(self, stored: Mapping[str, _Stored], damaged: InputError) -> None:
        self._stored = stored
        self._damaged = damaged
        self._unpacked: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._unpacked:
            stored = self._stored[name]
            try:
                self._unpacked[name] = stored.unpacked()
            except (ValueError, OverflowError, zlib.error, lzma.LZMAError):
                raise self._damaged from None
        return self._unpacked[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)


def fingerprint(kind: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    """SHA-256 of the kind and the arrays; the card is not part of it."""
    digest = hashlib.sha256(kind.encode())
    for name, array in sorted(arrays.items()):
        stored = _little_endian(array)
        digest.update(f"{name} {stored.dtype.str} {stored.shape}".encode())
        digest.update(stored.data if stored.size else b"")
    return digest.hexdigest()


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    stored = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    assert stored.dtype.str in ARRAY_TYPES, stored.dtype
    return stored


def _file_bytes(array: NDArray[Any]) -> bytes:
    """The bytes of the array in the file: compressed if this saves enough."""
    data = array.tobytes()
    deflated = zlib.compress(data, 9)
    if len(deflated) >= MAX_COMPRESSED_SHARE * len(data):
        return data
    # The preset bounds the memory of unpacking: 8 MiB.
    xz = lzma.compress(data, check=lzma.CHECK_NONE, preset=6)
    return xz if len(xz) < MAX_XZ_SHARE * len(deflated) else deflated
