"""`InputFile`: the bytes and lines of a file, a URL or standard input, compressed or not.

Everything that can go wrong with a file becomes an `InputError` here: the file is missing, a folder,
unreadable, empty, truncated, not UTF-8, or changes during reading. Only a line feed ends a line; a
carriage return is part of its line. A byte order mark at the start is removed.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import stat
import sys
import tempfile
import tomllib
import weakref
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from wellput.core.errors import InputError, OutputError, Problems, did_you_mean
from wellput.io.compression import (
    CHUNK_BYTES,
    COMPRESSION_SUFFIXES,
    content_too_large,
    decompressed,
    limited,
    line_too_long,
    max_line_bytes,
    max_unpacked_bytes,
)
from wellput.io.locations import is_url, open_url, unreadable, url_state, without_query

PathLike: TypeAlias = str | Path

SPOOL_UP_TO_BYTES = 1 << 26
"""A temporary copy (spool) of up to this size is kept in memory, a larger one on disk."""
STANDARD_INPUT = "-"
URL_CHUNK_BYTES = 1 << 23
"""The size of one request. With smaller requests, most of the time would be spent waiting."""
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""The bytes with which UTF-16 text begins."""


class InputFile:
    """A file that can be read several times, each time from its beginning.

    Standard input (`-`) and pipes can be read only once; the first reading copies them to a temporary
    file.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = str(path)
        self.is_stdin = self.path == STANDARD_INPUT
        self.name = "standard input" if self.is_stdin else self.path
        self._spool: IO[bytes] | None = None
        self._state: tuple[int, ...] | None = None
        self._must_spool = self.is_stdin or not _is_regular(self.path)

    @property
    def suffix(self) -> str:
        """The suffix in lower case, without a suffix of compression: `.csv` for `a.CSV.gz`."""
        path = Path(without_query(self.path).lower())
        return (path.with_suffix("") if path.suffix in COMPRESSION_SUFFIXES else path).suffix

    @property
    def is_packed(self) -> bool:
        """Whether the name ends in the suffix of a compression."""
        return without_query(self.path).lower().endswith(COMPRESSION_SUFFIXES)

    @property
    def is_read_once(self) -> bool:
        """Whether the file is standard input or a pipe, which no other process can read again."""
        return self._must_spool

    def chunks(self) -> Iterator[bytes]:
        """The decompressed bytes; raises InputError for an empty file."""
        return decompressed(self.raw_chunks(), self.name)

    def line_blocks(self, size: int) -> Iterator[list[str]]:
        """The lines in lists of `size`, the last one shorter. Lines come without their `\\n`."""
        pending: list[str] = []
        start = 0
        for lines in self._lines_of_chunks():
            pending = pending[start:] + lines
            start = 0
            while len(pending) - start >= size:
                yield pending[start : start + size]
                start += size
        if start < len(pending):
            yield pending[start:]

    def lines(self) -> Iterator[str]:
        """The lines, one by one."""
        for lines in self._lines_of_chunks():
            yield from lines

    def whole(self) -> bytes:
        """All decompressed bytes, for formats that can only be read as a whole, such as JSON. Raises
        InputError for too many bytes: a small file may unpack to more than fits into memory."""
        maximum = max_unpacked_bytes()
        content = bytearray()
        for chunk in self.chunks():
            content += chunk
            if len(content) > maximum:
                raise content_too_large(self.name, maximum)
        return bytes(content)

    def count_lines(self) -> int:
        count, last = 0, b"\n"
        for chunk in self.chunks():
            count += chunk.count(b"\n")
            last = chunk[-1:] or last
        return count + (last != b"\n")

    def seekable(self) -> IO[bytes]:
        """The decompressed bytes as a file with random access, for formats that need it."""
        if not self._must_spool and not self.is_packed:
            file = _opened(self.path)
            self._check_unchanged(file)
            return file
        chunks = self.chunks()
        return _spooled(limited(chunks, self.name) if self.is_packed else chunks, self.name)

    def bytes_between(self, start: int, stop: int) -> Iterator[bytes]:
        """The bytes from `start` up to `stop` of a file that is not compressed."""
        with _opened(self.path) as file:
            self._check_unchanged(file)
            file.seek(start)
            while start < stop and (
                chunk := _read(file, self.name, min(CHUNK_BYTES, stop - start))
            ):
                start += len(chunk)
                yield chunk
            self._check_unchanged(file)
        if start < stop:
            raise InputError(f"{self.name} became shorter while it was read.")

    def _lines_of_chunks(self) -> Iterator[list[str]]:
        """The lines of the file, in lists as they are read."""
        n_lines = 0
        for lines_bytes in whole_lines(self.chunks(), self.name):
            if n_lines == 0 and lines_bytes.startswith(codecs.BOM_UTF8):
                lines_bytes = lines_bytes[len(codecs.BOM_UTF8) :]
            try:
                lines = lines_bytes.decode().split("\n")
            except UnicodeDecodeError:
                raise self.not_utf8() from None
            if lines_bytes.endswith(b"\n"):
                lines.pop()
            n_lines += len(lines)
            yield lines

    def not_utf8(self) -> InputError:
        """The error that names every line that is not UTF-8; reads the file again to find them."""
        problems = Problems(self.name)
        number = 0
        head = b""
        for piece in whole_lines(self.chunks(), self.name):
            head = head or piece[:2]
            for line in piece.removesuffix(b"\n").split(b"\n"):
                number += 1
                try:
                    line.decode()
                except UnicodeDecodeError as error:
                    shown = line[error.start : error.start + 1].hex()
                    problems.add(
                        f"line {number}", f"not UTF-8 (byte {error.start + 1} is 0x{shown})"
                    )
        encoding = "UTF-16" if head in UTF16_MARKS else "LATIN1"
        advice = f"Convert it first, for example: iconv -f {encoding} -t UTF-8 FILE > NEW"
        return InputError.collect(
            f"{self.name} is not UTF-8 text:", problems.kept, advice, total=problems.total
        )

    def raw_chunks(self) -> Iterator[bytes]:
        """The bytes of the file, not decompressed."""
        if not self._must_spool:
            with _opened(self.path) as file:
                self._check_unchanged(file)
                size = URL_CHUNK_BYTES if is_url(self.path) else CHUNK_BYTES
                while chunk := _read(file, self.name, size):
                    yield chunk
                self._check_unchanged(file)
            return
        if self._spool is None:
            is_text = not self.is_packed and self.suffix != ".parquet"
            with closing(self._stream()) as stream:
                chunks = _with_short_lines(stream, self.name) if is_text else stream
                self._spool = _spooled(chunks, self.name)
            weakref.finalize(self, self._spool.close)
        place = 0
        while chunk := _read_at(self._spool, place):
            place += len(chunk)
            yield chunk

    def _check_unchanged(self, file: IO[bytes]) -> None:
        """Raises InputError if the file was changed or replaced since it was first opened, so that old
        and new data are not mixed."""
        state: tuple[int, ...]
        if is_url(self.path):
            state = url_state(self.path)
        else:
            status = os.fstat(file.fileno())
            state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if self._state is None:
            self._state = state
        elif state != self._state:
            raise InputError(
                f"{self.name} changed while it was read. Wait until no program writes to it, then "
                "start again."
            )

    def _stream(self) -> Generator[bytes, None, None]:
        """The bytes of standard input or a pipe, which can be read only once."""
        if self.is_stdin and sys.stdin is None:
            raise InputError("Standard input (-) cannot be read: it is closed.")
        source = sys.stdin.buffer if self.is_stdin else _opened(self.path)
        try:
            while chunk := _read(source, self.name):
                yield chunk
        finally:
            if not self.is_stdin:
                source.close()


def refuse_input_twice(paths: Iterable[object]) -> None:
    """Raises InputError if standard input is given more than once."""
    if [str(path) for path in paths].count(STANDARD_INPUT) > 1:
        raise InputError("Standard input (-) was given twice; it can be read only once.")


def check_readable(*files: InputFile) -> None:
    """Raises InputError that names all files which are missing or folders; called before files are
    read."""
    wrong = [complaint for file in files if (complaint := _complaint(file)) is not None]
    if len(wrong) == 1:
        raise InputError(wrong[0])
    if wrong:
        raise InputError.collect("These files cannot be read:", wrong)


def _complaint(file: InputFile) -> str | None:
    """Why a file cannot be read; None if it exists and is not a folder."""
    if file.is_stdin:
        return None
    try:
        if is_url(file.path):
            open_url(file.path).close()
            return None
        is_folder = stat.S_ISDIR(Path(file.path).stat().st_mode)
    except OSError as error:
        return _cannot_read(file.path, error)
    return f"{file.name} is a folder; a file is needed here." if is_folder else None


def _cannot_read(path: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"No such file: {path}.{similar_files(path)}"
    if isinstance(error, IsADirectoryError):
        return f"{path} is a folder; a file is needed here."
    if isinstance(error, PermissionError):
        return f"{path} cannot be read: you have no permission to."
    return f"{path} cannot be read: {error.strerror or error}."


def similar_files(path: str) -> str:
    """`" Did you mean ref.txt?"`, if the folder of the path has a file with a similar name."""
    folder, name = Path(path).parent, Path(path).name
    try:
        return did_you_mean(name, [other.name for other in folder.iterdir() if other.name != name])
    except OSError:
        return ""


def _is_regular(path: str) -> bool:
    """Whether the path is not a pipe or a device. True also for a folder or a missing file: opening it
    raises the error."""
    try:
        return stat.S_ISREG(mode := Path(path).stat().st_mode) or stat.S_ISDIR(mode)
    except OSError:
        return True


def _opened(path: str) -> IO[bytes]:
    try:
        if is_url(path):
            return open_url(path)
        return Path(path).open("rb", buffering=0)
    except OSError as error:
        raise InputError(_cannot_read(path, error)) from None


def _read(file: IO[bytes], name: str, size: int = CHUNK_BYTES) -> bytes:
    try:
        return file.read(size)
    except OSError as error:
        if is_url(name):
            raise unreadable(name, error) from None
        raise InputError(_cannot_read(name, error)) from None


def _spooled(chunks: Iterator[bytes], name: str) -> IO[bytes]:
    """A temporary file with the chunks, which is kept in memory while it is small."""
    spool = cast("IO[bytes]", tempfile.SpooledTemporaryFile(SPOOL_UP_TO_BYTES))  # noqa: SIM115
    try:
        for chunk in chunks:
            try:
                spool.write(chunk)
            except OSError as error:
                raise OutputError(
                    f"No space to keep {name} in {tempfile.gettempdir()}: {error.strerror}. "
                    "Make space there, or set TMPDIR to another folder."
                ) from None
    except BaseException:
        spool.close()
        raise
    spool.seek(0)
    return spool


def _with_short_lines(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The chunks; raises InputError at a line that is too long, so that endless input such as /dev/zero
    does not fill the disk."""
    maximum = max_line_bytes()
    n_bytes = 0
    for chunk in chunks:
        end = chunk.rfind(b"\n")
        n_bytes = n_bytes + len(chunk) if end < 0 else len(chunk) - end - 1
        if n_bytes > maximum:
            raise line_too_long(name, maximum)
        yield chunk


def _read_at(spool: IO[bytes], place: int) -> bytes:
    """The bytes from `place` on, at most one chunk; seeks first because several readers may share the
    spool."""
    spool.seek(place)
    return spool.read(CHUNK_BYTES)


def whole_lines(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The same bytes in pieces that end at line ends; only the last piece may end without one. Raises
    InputError for a line that is too long (`io.compression`)."""
    maximum = max_line_bytes()
    parts: list[bytes] = []
    length = 0
    for chunk in chunks:
        # `length` is that of the line's earlier parts; `find` gives −1 if no line ends in the chunk.
        if length + chunk.find(b"\n") > maximum or length > maximum:
            raise line_too_long(name, maximum)
        end = chunk.rfind(b"\n") + 1
        if end:
            parts.append(chunk[:end])
            yield b"".join(parts)
            parts, length = [], 0
        if end < len(chunk):
            parts.append(chunk[end:])
            length += len(chunk) - end
    if parts:
        yield b"".join(parts)


TABLE_FORMATS = (".csv", ".tsv", ".jsonl", ".parquet")
"""The formats of tables, by their suffixes."""
SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
SHARD_SUFFIXES = [
    suffix + packed for suffix in TABLE_FORMATS for packed in ("", *COMPRESSION_SUFFIXES)
]
"""The suffixes of tables, compressed or not."""


def format_of(path: PathLike, *, on_stream: str) -> str:
    """`.csv`, `.tsv`, `.jsonl` or `.parquet`; `on_stream` is the format of `-`."""
    suffix = on_stream if str(path) == STANDARD_INPUT else InputFile(path).suffix
    if suffix not in TABLE_FORMATS:
        raise InputError(
            f"{path}: the name does not tell the format. It must end in {', '.join(TABLE_FORMATS)}; "
            ".gz or .xz may follow."
        )
    return suffix


def read_format_of(path: PathLike, *, on_stream: str) -> str:
    """Like `format_of`, for a file that is read: for a spreadsheet, the error says how to save it."""
    if Path(path).suffix.lower() in SPREADSHEETS:
        raise InputError(
            f"{path} is a spreadsheet, which is not read. Save its sheet as CSV (in Excel: CSV UTF-8; "
            "columns separated by commas). In Python, give the data frame of pandas.read_excel."
        )
    return format_of(path, on_stream=on_stream)


def file_fingerprint(path: PathLike) -> str | None:
    """SHA-256 of the file's bytes, as `sha256sum` prints it; None for a pipe or a folder."""
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_toml(path: PathLike) -> dict[str, Any]:
    """The contents of a TOML file. Raises InputError if it cannot be read or is not TOML."""
    try:
        with Path(path).open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:  # also not UTF-8, or a number of 5,000 digits
        raise InputError(f"{path} is not TOML: {error}.") from None
