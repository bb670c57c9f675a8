"""`ModelFile`: a trained model on disk, its card and its arrays, which are mapped, not read. Models
with a file of their own are `StoredModel`s.

The file (`.wpm`) is little-endian: a magic word, a version, the length of a JSON header, the header
(kind, card, SHA-256 of the arrays, each array's name, type, shape and bytes in the file), then the
arrays. Each array starts at a multiple of 64 bytes. It is stored as in memory, or deflated if that
saves a twentieth; a deflated array is unpacked when it is first used. The same model gives the same
bytes. Loading executes nothing from the file. A list of strings is two arrays, see `packed_strings`.
The hash is checked up to `HASH_UP_TO_BYTES`.
"""

from __future__ import annotations

import hashlib
import json
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
ALIGNMENT_BYTES = 64
MAX_PACKED_SHARE = 0.95
HASH_UP_TO_BYTES = 1 << 26
"""The hash of arrays up to this size is checked, in a tenth of a second. Larger ones are only
mapped."""
MAX_AXIS_LENGTH = 1 << 40
"""The longest axis of an array."""
ARRAY_TYPES = frozenset(["|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8"])


@dataclass(frozen=True, eq=False)
class ModelFile:
    """The content of a model file: `kind` says which class can use it, `card` where it comes from."""

    kind: str
    card: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    fingerprint: str

    def strings(self, name: str) -> list[str]:
        """The list of strings that was saved under `name`."""
        return unpacked_strings(self.arrays, name)


def packed_strings(name: str, strings: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The two arrays that `unpacked_strings` reads back: where each string ends, and their UTF-8."""
    encoded = [string.encode(errors="surrogatepass") for string in strings]
    ends = np.cumsum([len(data) for data in encoded], dtype=np.uint32)
    return {f"{name}.ends": ends, f"{name}.text": np.frombuffer(b"".join(encoded), np.uint8)}


def unpacked_strings(arrays: Mapping[str, NDArray[Any]], name: str) -> list[str]:
    """The strings of the arrays that `packed_strings` made."""
    data, ends = arrays[f"{name}.text"].tobytes(), arrays[f"{name}.ends"].tolist()
    return [data[a:b].decode(errors="surrogatepass") for a, b in pairwise([0, *ends])]


def save_model_file(
    path: PathLike, kind: str, card: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Writes the file, whole or not at all. `card` must be JSON."""
    stored = {name: _little_endian(array) for name, array in arrays.items()}
    packed = {name: _packed(array) for name, array in stored.items()}
    header = {
        "kind": kind,
        "card": card,
        "sha256": fingerprint(kind, stored),
        "arrays": [
            [name, array.dtype.str, list(array.shape), len(packed[name])]
            for name, array in stored.items()
        ],
    }
    text = json.dumps(header, ensure_ascii=False, sort_keys=True).encode()
    text += b" " * (-(FILE_PREFIX.size + len(text)) % ALIGNMENT_BYTES)
    with replacing(path) as file:
        file.write(FILE_PREFIX.pack(MAGIC_BYTES, MODEL_FORMAT_VERSION, len(text)))
        file.write(text)
        for data in packed.values():
            file.write(data)
            file.write(bytes(-len(data) % ALIGNMENT_BYTES))


def load_model_file(path: PathLike, kind: str) -> ModelFile:
    """Maps the file; raises InputError unless it is a whole file of this kind and version."""
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
            place += size + -size % ALIGNMENT_BYTES
        if place != data.size or any(array.is_short for array in stored.values()):
            raise damaged
        arrays = _Arrays(stored, damaged)
        found = ModelFile(header["kind"], header["card"], arrays, header["sha256"])
        is_small = sum(array.size for array in stored.values()) <= HASH_UP_TO_BYTES
        if is_small and fingerprint(str(found.kind), arrays) != found.fingerprint:
            raise damaged
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise damaged from None
    if found.kind != kind:
        raise InputError(f"{path} is a model of the kind “{found.kind}”; “{kind}” is needed here.")
    return found


def has_kind(path: PathLike, kind: str) -> bool:
    """Whether the file is a model file of this kind."""
    try:
        return load_model_file(path, kind).kind == kind
    except InputError:
        return False


@contextmanager
def noticing_damage(path: PathLike, what: str = "model") -> Iterator[None]:
    """Turns errors in making a model from its arrays into an InputError: the file is damaged."""
    try:
        yield
    except WellputError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError):
        raise InputError(f"{path} is a damaged {what}: train it again.") from None


class StoredModel(ABC):
    """A model with a file of its own. `kind` stands in the file, `noun` in the message that a file is
    damaged, and the `card` says where the model comes from."""

    kind: ClassVar[str]
    noun: ClassVar[str] = "model"
    card: Mapping[str, Any]

    @abstractmethod
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The arrays of the file: everything that decides what the model does."""

    def save(self, path: PathLike, card: Mapping[str, Any] | None = None) -> None:
        """Writes a `.wpm` file, with the given card or the model's own."""
        save_model_file(path, self.kind, dict(self.card if card is None else card), self.arrays())

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the arrays: models with equal fingerprints are equal."""
        return fingerprint(self.kind, self.arrays())

    @classmethod
    @contextmanager
    def reading(cls, path: PathLike) -> Iterator[ModelFile]:
        """The file of a model of this kind. Errors in making the model from it become an InputError."""
        file = load_model_file(path, cls.kind)
        with noticing_damage(path, cls.noun):
            yield file


def _is_length(number: object) -> bool:
    return isinstance(number, int) and 0 <= number <= MAX_AXIS_LENGTH


@dataclass(frozen=True, slots=True)
class _Stored:
    """An array in the file; it is deflated if it has fewer bytes there than in memory."""

    data: NDArray[np.uint8]
    type: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return np.dtype(self.type).itemsize * math.prod(self.shape)

    @property
    def is_short(self) -> bool:
        return self.data.size > self.size

    def unpacked(self) -> NDArray[Any]:
        """The array; raises ValueError or zlib.error if the bytes do not fit it."""
        data = self.data
        if data.size < self.size:
            whole = zlib.decompressobj().decompress(data.tobytes(), self.size + 1)
            data = np.frombuffer(whole, np.uint8)
        return data.view(self.type).reshape(self.shape)


class _Arrays(Mapping[str, NDArray[Any]]):
    """Arrays by name, each unpacked once."""

    def __init__(self, stored: Mapping[str, _Stored], damaged: InputError) -> None:
        self._stored = stored
        self._damaged = damaged
        self._unpacked: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._unpacked:
            stored = self._stored[name]
            try:
                self._unpacked[name] = stored.unpacked()
            except (ValueError, OverflowError, zlib.error):
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


def _packed(array: NDArray[Any]) -> bytes:
    data = array.tobytes()
    deflated = zlib.compress(data, 9)
    return deflated if len(deflated) < MAX_PACKED_SHARE * len(data) else data
