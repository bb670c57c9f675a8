"""Writing files: completely or not at all.

The new content goes to a temporary file in the target's folder. When everything is written, the
temporary file is renamed to the target; on an error or an interruption it is deleted. `-` is standard
output; if this is a terminal, control characters are written as escapes. Devices and pipes are
written directly. Files whose names end in `.gz` or `.xz` are compressed. Parent folders are not made,
except by `made_folder`, which makes the folder of a model.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TextIO, cast

from wellput.core.errors import OutputError, printable
from wellput.io.compression import compressing
from wellput.io.files import PathLike, refuse_input_twice
from wellput.io.locations import is_url
from wellput.io.named_files import local_path, named_files, paths_of, reads_from
from wellput.io.opened_files import note_own_file, refuse_opened

STANDARD_OUTPUT = "-"


@contextlib.contextmanager
def replacing(
    path: PathLike, *, is_private: bool = False, is_styled: bool = False
) -> Iterator[IO[bytes]]:
    """A binary file whose content replaces `path` when the block ends without an error. `is_private`:
    only the owner of the file can read it. `is_styled`: the content is text with control characters
    for colors, which are not escaped on a terminal.

    Raises OutputError if `path` cannot be written; its old content is then unchanged.
    """
    if str(path) == STANDARD_OUTPUT:
        if sys.stdout is None:
            raise OutputError("Cannot write standard output: it is closed.")
        with _os_errors_as_output_errors("standard output"):
            sys.stdout.flush()  # text that was printed earlier must come first
        sink: Any = sys.stdout.buffer
        if sys.stdout.isatty() and not is_styled:
            sink = _Terminal(sink)
        with _buffered_writer(sink, "standard output", "") as file:
            yield file
        with _os_errors_as_output_errors("standard output"):
            sys.stdout.buffer.flush()
        return
    # Replaces the file that a link points to, not the link.
    target = Path(os.path.realpath(path))
    mode = _mode_of(target, str(path))
    if _is_written_directly(mode):
        with (
            _opened(target, os.O_WRONLY, str(path)) as sink,
            _buffered_writer(sink, str(path), "") as file,
        ):
            yield file
        return
    refuse_opened(target, str(path))  # an input that is being read must not be replaced
    temporary = temporary_path(target)
    try:
        creating = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        permissions = 0o600 if is_private else 0o666
        with _opened(temporary, creating, str(path), permissions) as sink:
            with _buffered_writer(sink, str(path), str(path)) as file:
                yield file
            with _os_errors_as_output_errors(str(path)):
                if mode is not None and not is_private:
                    os.fchmod(sink.fileno(), stat.S_IMODE(mode))
                os.fsync(sink.fileno())
        refuse_opened(target, str(path))  # again: an input may have been opened in the block
        with _os_errors_as_output_errors(str(path)):
            temporary.replace(target)
        note_own_file(target)  # so that the running command may replace it again
    except BaseException:
        with contextlib.suppress(OSError):  # the first error is the one to raise
            temporary.unlink(missing_ok=True)
        raise


def temporary_path(target: Path) -> Path:
    """A new hidden name in the target's folder, for a file that gets the target's name when it is
    complete."""
    # A file system allows 255 bytes in a name. UTF-8 has up to 4 in a character.
    start = target.name.encode(errors="ignore")[:100].decode(errors="ignore")
    return target.with_name(f".{start}.{secrets.token_hex(6)}.part")


def path_beside(path: PathLike, ending: str) -> Path:
    """A further file in the folder of an output: `judgments.csv` and the ending `judge.json` give
    `judgments.judge.json`."""
    name = Path(path).name
    for suffix in (".gz", ".xz"):
        name = name.removesuffix(suffix)
    return Path(path).with_name(f"{Path(name).stem}.{ending}")


@contextlib.contextmanager
def made_folder(path: PathLike) -> Iterator[Path]:
    """The folder, which is made with its parents if it does not exist. If the block fails, new folders
    that are still empty are removed."""
    folder = Path(path)
    new_folders = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"The folder {path} cannot be made: {error.strerror}.") from None
    try:
        yield folder
    except BaseException:
        with contextlib.suppress(OSError):  # a folder that is not empty stays, with its parents
            for new_folder in new_folders:
                new_folder.rmdir()
        raise


@contextlib.contextmanager
def replacing_text(path: PathLike) -> Iterator[TextIO]:
    """Like `replacing`, for text in UTF-8; line ends are not translated."""
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        yield text
        text.detach()


def write_text(
    text: str, path: PathLike, *, is_private: bool = False, is_styled: bool = False
) -> None:
    """Writes a text. A lone surrogate, which UTF-8 cannot hold, is written as its escape. The options
    are those of `replacing`."""
    with replacing(path, is_private=is_private, is_styled=is_styled) as file:
        file.write(text.encode(errors="backslashreplace"))


def check_writable(path: PathLike) -> None:
    """Raises OutputError if `path` cannot be written; called before long work begins."""
    if str(path) == STANDARD_OUTPUT:
        return
    refuse_url(path)
    target = Path(os.path.realpath(path))
    if _is_written_directly(_mode_of(target, str(path))):
        return
    if not os.access(target.parent, os.W_OK):
        reason = _refusal(target.parent, "you have no permission to write in its folder")
        raise OutputError(f"Cannot write {path}: {reason}.")


def refuse_url(path: PathLike) -> None:
    """Raises OutputError for a URL, where only a path of this machine can be written."""
    if is_url(str(path)):
        raise OutputError(
            f"Cannot write {path}: wellput writes only folders of segment scores to URLs. Give a path "
            "on this machine, and copy the file afterwards."
        )


def check_distinct(outputs: Iterable[PathLike], inputs: Iterable[PathLike]) -> None:
    """Raises OutputError if an output would replace an input, or two outputs are the same file. An
    input may be a path, a folder, a pattern, or a text with paths in it (`io.named_files`)."""
    files = [path for path in outputs if _is_file(path)]
    texts = [str(path) for path in inputs]
    taken = {_identity(path): f"it is the input {path}" for path in texts if _is_file(path)}
    if any(Path(path).exists() for path in files):
        for text in texts:
            for file, how in named_files(text).items():
                taken.setdefault(file, f"it is {how}")
    for path in files:
        if reason := taken.get(_identity(path)):
            raise OutputError(f"Cannot write {path}: {reason}. Give another name.")
        taken[_identity(path)] = f"another output is written to {path}"


def check_files(
    outputs: Sequence[PathLike | None],
    inputs: Sequence[object],
    *,
    output_folders: Sequence[PathLike | None] = (),
) -> None:
    """Raises an error for a file of `outputs` that cannot be written, or that is also in `inputs`, and
    for a folder of `output_folders` with a file that is in `inputs`; called before long work begins.
    Objects in `inputs` that were not read from files are ignored."""
    paths = [str(path) for path in outputs if path is not None]
    for path in paths:
        check_writable(path)
    input_paths = [path for given in inputs for path in paths_of(given)]
    refuse_input_twice(input_paths)
    check_distinct(paths, input_paths)
    for folder in (str(folder) for folder in output_folders if folder is not None):
        for text in input_paths:
            if reads_from(text, folder):
                raise OutputError(
                    f"Cannot write {folder}: the folder has files of the input {text}. Give a new name."
                )


def _is_file(path: PathLike) -> bool:
    """Whether writing to the path makes or replaces a file: False for `-`, devices and pipes, and for a
    text that is too long for a file's name, such as a list of metrics."""
    try:
        return str(path) != STANDARD_OUTPUT and (not Path(path).exists() or Path(path).is_file())
    except OSError:
        return False


def _identity(path: PathLike) -> str:
    return os.path.realpath(local_path(str(path)))


def _is_written_directly(mode: int | None) -> bool:
    """Whether the mode is that of a device or a pipe, which must not be replaced by a new file."""
    return mode is not None and not stat.S_ISREG(mode)


def _mode_of(target: Path, name: str) -> int | None:
    """The mode of the file at `target`, None if there is no file; raises OutputError if no file can be
    written there."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise OutputError(
                f"Cannot write {name}: the folder {target.parent} does not exist. Make it first."
            ) from None
        return None
    except OSError as error:
        raise OutputError(_reason(name, error)) from None
    if stat.S_ISDIR(mode):
        raise OutputError(f"Cannot write {name}: it is a folder. Give the name of a file.")
    if not os.access(target, os.W_OK):
        reason = _refusal(target, "you have no permission to")
        raise OutputError(f"Cannot write {name}: {reason}.")
    return mode


def _refusal(place: Path, otherwise: str) -> str:
    """Why the operating system refuses writing at `place`: "the disk is read-only", or `otherwise`."""
    is_read_only = bool(os.statvfs(place).f_flag & os.ST_RDONLY)
    return "the disk is read-only" if is_read_only else otherwise


@contextlib.contextmanager
def _opened(path: Path, flags: int, name: str, permissions: int = 0o666) -> Iterator[io.FileIO]:
    """A file opened for writing; closed at the end. `name` is its name in error messages."""
    with _os_errors_as_output_errors(name):
        descriptor = os.open(path, flags | os.O_CLOEXEC, permissions)
    with io.FileIO(descriptor, "wb") as file:
        yield file


@contextlib.contextmanager
def _buffered_writer(sink: Any, name: str, compressed_name: str) -> Iterator[IO[bytes]]:
    """A buffered file that writes to `sink`, and compresses if `compressed_name` ends in `.gz` or
    `.xz`; all buffers are written when the block ends. `name` is the file's name in messages."""
    raw = _ErrorTranslating(sink, name)
    buffered = io.BufferedWriter(raw, 1 << 18)
    file = compressing(cast("IO[bytes]", buffered), compressed_name)
    try:
        yield file
        file.close()
        buffered.close()
    except BaseException:
        raw.accepts_bytes = False
        file.close()
        buffered.close()
        raise


class _ErrorTranslating(io.RawIOBase):
    """Passes bytes on to `sink`, which it does not close; a failure becomes an OutputError.

    After a failure, `accepts_bytes` is False, and bytes that are still in buffers are ignored.
    """

    def __init__(self, sink: IO[bytes], name: str) -> None:
        self._sink = sink
        self._name = name
        self.accepts_bytes = True

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if not self.accepts_bytes:
            return len(data)
        with _os_errors_as_output_errors(self._name):
            return self._sink.write(data)


class _Terminal:
    """Passes text on to a terminal, with escapes instead of control characters (except line feeds and
    tabs), which the terminal would interpret."""

    def __init__(self, sink: IO[bytes]) -> None:
        self._sink = sink
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def write(self, data: Any) -> int:
        text = self._decoder.decode(bytes(data))
        self._sink.write("\t".join(map(printable, text.split("\t"))).encode())
        return len(data)


@contextlib.contextmanager
def _os_errors_as_output_errors(name: str) -> Iterator[None]:
    try:
        yield
    except OutputError:
        raise
    except BrokenPipeError:
        raise  # the reader of a pipe ended: no message is needed
    except OSError as error:
        raise OutputError(_reason(name, error)) from None


def _reason(name: str, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"Cannot write {name}: the disk is full. Nothing was left half-written."
    if error.errno == errno.EROFS:
        return f"Cannot write {name}: the disk is read-only."
    if isinstance(error, PermissionError):
        return f"Cannot write {name}: you have no permission to."
    return f"Cannot write {name}: {error.strerror or error}."
