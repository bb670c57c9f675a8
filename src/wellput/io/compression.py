"""Compressed files (gzip and xz), and limits for the size of lines and of unpacked files. Compression
is recognized by a file's first bytes when reading, and by its suffix when writing.

A file of a few megabytes can unpack to more than the memory of the machine, so files with too much
content are refused with a message. Environment variables change the limits: `WELLPUT_MAX_LINE_MIB`
(64 MiB by default) and `WELLPUT_MAX_UNPACKED_MIB` (1024 MiB by default).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import IO, cast

from wellput.core.errors import InputError
from wellput.io.locations import without_query

CHUNK_BYTES = 1 << 20
COMPRESSION_SUFFIXES = (".gz", ".xz")
GZIP_MAGIC = b"\x1f\x8b"
XZ_MAGIC = b"\xfd7zXZ\x00"


def decompressed(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The chunks, decompressed if they begin like gzip or xz data.

    Raises InputError if there is no data, if it is damaged, or if the name ends in .gz or .xz and the
    data is not compressed.
    """
    first = next(chunks, b"")
    if not first:
        raise InputError(f"{name} is empty.")
    if first.startswith((GZIP_MAGIC, XZ_MAGIC)):
        yield from _inflated(_ChunkFile(first, chunks), first.startswith(GZIP_MAGIC), name)
        return
    if (plain := without_query(name)).lower().endswith(COMPRESSION_SUFFIXES):
        raise InputError(
            f"{name} is damaged or not compressed, though its name ends in {plain[-3:]}: "
            "fetch it again, or rename it."
        )
    yield first
    yield from chunks


def compressing(file: IO[bytes], name: str) -> IO[bytes]:
    """A file that compresses into `file` if the name ends in .gz or .xz, else `file` itself."""
    if name.lower().endswith(".gz"):
        import gzip

        # Without a time stamp and a name, the same content always gives the same bytes.
        return cast("IO[bytes]", gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0))
    if name.lower().endswith(".xz"):
        import lzma

        return cast("IO[bytes]", lzma.LZMAFile(file, "wb"))
    return file


def _inflated(source: _ChunkFile, is_gzip: bool, name: str) -> Iterator[bytes]:
    """The decompressed bytes of a gzip file, or of an xz file if `is_gzip` is false."""
    import gzip
    import lzma
    import zlib

    packed = cast("IO[bytes]", source)
    is_empty = True
    with gzip.GzipFile(fileobj=packed, mode="rb") if is_gzip else lzma.LZMAFile(packed) as file:
        while True:
            try:
                chunk = file.read(CHUNK_BYTES)
            except EOFError:
                raise InputError(
                    f"{name} is truncated: the compressed data ends too early. "
                    "Fetch or compress it again."
                ) from None
            except (OSError, lzma.LZMAError, zlib.error) as error:
                raise InputError(
                    f"{name} is damaged ({error}). Fetch or compress it again."
                ) from None
            if not chunk:
                break
            is_empty = False
            yield chunk
    if is_empty:
        raise InputError(f"{name} is empty (once decompressed).")


class _ChunkFile:
    """Chunks as a readable file, which the decompressors need."""

    def __init__(self, first: bytes, later: Iterator[bytes]) -> None:
        self._unread = first
        self._later = later

    def read(self, size: int = -1) -> bytes:
        if not self._unread:
            self._unread = next(self._later, b"")
        if size < 0:
            size = len(self._unread)
        head, self._unread = self._unread[:size], self._unread[size:]
        return head


MIB = 1 << 20
MAX_LINE_MIB = 64
"""The longest line, which is one item. A metric needs up to 25 times the memory of the longest line."""
MAX_UNPACKED_MIB = 1024
"""The largest content of an archive or another file that is read as a whole. In memory the content
takes several times this size."""
MAX_UNPACKED_TIMES = 100
"""Parquet files compress text and numbers to a hundredth of their size at best. A file that claims a
stronger compression is limited to `MAX_UNPACKED_MIB`."""


def max_line_bytes() -> int:
    return _mebibytes("WELLPUT_MAX_LINE_MIB", MAX_LINE_MIB)


def max_unpacked_bytes() -> int:
    return _mebibytes("WELLPUT_MAX_UNPACKED_MIB", MAX_UNPACKED_MIB)


def line_too_long(name: str, maximum: int) -> InputError:
    return InputError(
        f"{name} has a line of more than {maximum // MIB:,} MiB. Is it a text file with one item on "
        "each line? If it is, set the environment variable WELLPUT_MAX_LINE_MIB to a higher limit."
    )


def limited(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The chunks of a compressed file's content; raises InputError if they are too large in total."""
    maximum = max_unpacked_bytes()
    n_bytes = 0
    for chunk in chunks:
        n_bytes += len(chunk)
        if n_bytes > maximum:
            raise content_too_large(name, maximum)
        yield chunk


def too_much_unpacked(name: str, n_bytes: int, maximum: int) -> InputError:
    return InputError(
        f"{name} unpacks to {n_bytes / MIB:,.0f} MiB; at most {maximum // MIB:,} MiB are read. "
        "WELLPUT_MAX_UNPACKED_MIB in the environment sets another limit."
    )


def content_too_large(name: str, maximum: int) -> InputError:
    return InputError(
        f"{name} holds more than {maximum // MIB:,} MiB, and it can only be read as a whole. "
        "WELLPUT_MAX_UNPACKED_MIB in the environment sets another limit."
    )


def _mebibytes(variable: str, default: int) -> int:
    text = os.environ.get(variable, "")
    if not text:
        return default * MIB
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise InputError(f"{variable}={text!r} is not a whole number of mebibytes above 0.")
    return int(text) * MIB
