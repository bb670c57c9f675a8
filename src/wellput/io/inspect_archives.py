"""inspect_ai's binary logs, `.eval`: a zip archive with `header.json` and a JSON file a sample.

Members are compressed by Zstandard, in older logs by deflate. Python knows Zstandard from 3.14 on;
before that the package `zstandard` does, which inspect_ai brings along. Of a sample kept in pieces
`sample.json` is read, which has all but its messages.
"""

from __future__ import annotations

import json
import lzma
import struct
import zipfile
import zlib
from typing import IO, Any

from wellput.core.errors import InputError, MissingExtra
from wellput.io.files import InputFile

HEADER, SAMPLES, SHELL = "header.json", "samples/", "/sample.json"
ZSTANDARD = 93
LOCAL_HEADER = struct.Struct("<26xHH")  # at its end: the lengths of the name and of the extra field

# What zipfile and what it stands on raise where bytes are wrong: an unknown way of packing and a
# password among them.
DAMAGE = (
    zipfile.BadZipFile, ValueError, LookupError, EOFError, OSError, OverflowError, RuntimeError,
    struct.error, zlib.error, lzma.LZMAError,
)  # fmt: skip


def read_archive(file: InputFile) -> dict[str, Any]:
    """The log as inspect_ai writes it as JSON: what the header has, and `samples`."""
    try:
        with file.seekable() as stream, zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
            if HEADER not in names:
                raise InputError(f"{file.name} has no {HEADER}: the evaluation did not end.")
            log = json.loads(_member(archive, stream, HEADER))
            samples = [
                json.loads(_member(archive, stream, name)) for name in names if _is_sample(name)
            ]
    except InputError:
        raise
    except DAMAGE as error:
        raise InputError(f"{file.name} is damaged, or no log of inspect_ai: {error}") from None
    return {**log, "samples": samples} if isinstance(log, dict) else {}


def _is_sample(name: str) -> bool:
    inside = name.removeprefix(SAMPLES)
    return inside != name and (inside.endswith(SHELL) or "/" not in inside)


def _member(archive: zipfile.ZipFile, stream: IO[bytes], name: str) -> bytes:
    info = archive.getinfo(name)
    if info.compress_type != ZSTANDARD:
        return archive.read(info)
    stream.seek(info.header_offset)
    lengths = LOCAL_HEADER.unpack(stream.read(LOCAL_HEADER.size))
    stream.seek(sum(lengths), 1)
    return _unpacked(stream.read(info.compress_size))


def _unpacked(packed: bytes) -> bytes:
    """What Zstandard packed, in one frame or several."""
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return _unpacked_by_package(packed)
    try:
        unpacked: bytes = zstd.decompress(packed)
    except zstd.ZstdError as error:
        raise ValueError(error) from None
    return unpacked


def _unpacked_by_package(packed: bytes) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("A log that ends in .eval", "logs") from None
    reader = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    try:
        return bytes(reader.read())
    except zstandard.ZstdError as error:
        raise ValueError(error) from None
