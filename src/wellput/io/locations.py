"""Locations of files: paths of this machine, and URLs such as `s3://bucket/folder?scheme=http`, which
PyArrow's filesystems read.

A file, a folder or a pattern (`shards/*.jsonl.gz`) becomes a list of files in the order of their
names. Empty files, which tools that write shards may leave, and names that begin with `.` or `_` are
left out.

The path of a URL is percent-encoded; spaces and letters such as `ä` may also be written directly. The
part after `?` holds options of the filesystem, which apply to every file of a folder or pattern. An
error names the URL and says what to do. PyArrow repeats a failed request for some seconds; if it
still fails, the error is `Unreachable`.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from glob import escape, glob, has_magic
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, cast
from urllib.parse import quote, unquote

from wellput.core.errors import InputError, MissingExtra, OutputError, Unreachable

URL_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
URL_PARTS = re.compile(r"([^:]+://[^/?]*)([^?]*)(.*)", re.DOTALL)
PATTERN_SIGN = re.compile(r"[*\[]")
UNQUOTED_CHARACTERS = "/:@!$&'()*+,;=~"

CONNECTION_LOST = re.compile(
    r"NETWORK_CONNECTION|HTTP status 5|UNAVAILABLE|SLOW_DOWN|THROTTL|INTERNAL_FAILURE|DEADLINE_EXC"
)
ACCESS_DENIED = re.compile(
    r"ACCESS_DENIED|HTTP status 40[013]|INVALID_ACCESS_KEY|SIGNATURE_DOES_NOT|INVALID_CLIENT_TOKEN"
    r"|UNAUTHENTICATED|PERMISSION_DENIED|OAuth2"
)
"""Both match PyArrow's messages for errors of Amazon's and Google's libraries."""

STORES_WITHOUT_FOLDERS = ("s3", "gcs", "abfs")
"""Stores where a folder is only the beginning of names."""

MAX_WAIT_SECONDS = 30
"""How long Google's library repeats a request; its own limit is 15 minutes."""


class Url(NamedTuple):
    """`root` is the scheme with the bucket or host; `query` begins with `?` or is empty."""

    root: str
    path: str
    query: str

    @classmethod
    def of(cls, url: str) -> Url:
        found = URL_PARTS.fullmatch(url)
        assert found is not None, url
        return cls(*found.groups())

    def __str__(self) -> str:
        return self.root + self.path + self.query

    def below(self, name: str) -> Url:
        """The URL of a file in this folder; `name` is percent-encoded."""
        return self._replace(path=f"{self.path.rstrip('/')}/{name}")


class FileState(NamedTuple):
    """A file is unchanged while its state is the same."""

    size: int
    changed: int


def is_url(path: str) -> bool:
    return URL_SCHEME.match(path) is not None


def without_query(path: str) -> str:
    """The path, or the URL without the options after `?`."""
    return str(Url.of(path)._replace(query="")) if is_url(path) else path


def is_url_pattern(url: str) -> bool:
    return PATTERN_SIGN.search(Url.of(url).path) is not None


def open_url(url: str) -> IO[bytes]:
    """A file to read, with random access."""
    system, path = _filesystem(url)
    try:
        return cast("IO[bytes]", system.open_input_file(path))
    except OSError as error:
        raise unreadable(url, error) from None


def is_url_folder(url: str) -> bool:
    return bool(_info(url).type.name == "Directory")


def url_state(url: str) -> FileState:
    info = _info(url)
    return FileState(info.size or 0, info.mtime_ns or 0)


def urls_in(url: str) -> list[str]:
    """The files below a folder, or those that match a pattern as in a shell: `*` stays within a
    folder, `**/` means any number of folders. Sorted by name, without empty files."""
    whole = Url.of(url)
    magic = PATTERN_SIGN.search(whole.path)
    base = whole._replace(path=whole.path[: magic.start()].rpartition("/")[0]) if magic else whole
    pattern = whole.path[len(base.path) + 1 :] if magic else "**"
    try:
        found = _files_below(str(base), is_deep="/" in pattern or "**" in pattern)
    except OSError as error:
        raise unreadable(url, error) from None
    wanted = [unquote(part) for part in pattern.split("/")]
    return [
        str(base.below(quote(name, UNQUOTED_CHARACTERS)))
        for name, size in sorted(found.items())
        if size and _matches(name.split("/"), wanted)
    ]


def write_url(url: str, data: memoryview) -> None:
    """Writes a whole file."""
    system, path = _filesystem(url)
    try:
        if system.type_name not in STORES_WITHOUT_FOLDERS:
            system.create_dir(str(PurePosixPath(path).parent), recursive=True)
        with system.open_output_stream(path, compression=None) as file:
            file.write(data)
    except OSError as error:
        raise _unwritable(url, error) from None


def names_at(url: str) -> list[str]:
    """The names of the files in a folder to write to; none if it does not exist."""
    try:
        return list(_files_below(url, is_deep=False))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unwritable(url, error) from None


def delete_url(url: str) -> None:
    system, path = _filesystem(url)
    try:
        system.delete_file(path)
    except OSError as error:
        # After the deletion PyArrow makes an object for the folder, which some servers refuse.
        if _info(url).type.name == "NotFound":
            return
        raise _unwritable(url, error) from None


def unreadable(url: str, error: OSError) -> InputError:
    """The error to raise after reading failed with `error`."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"No such file or folder: {url}.")
    kind = Unreachable if is_lost(error) else InputError
    return kind(f"{url} cannot be read: {_explained(error)}")


def is_lost(error: Exception) -> bool:
    """Whether the connection or the server failed."""
    text = str(error)
    return CONNECTION_LOST.search(text) is not None and ACCESS_DENIED.search(text) is None


def _unwritable(url: str, error: OSError) -> OutputError:
    return OutputError(f"Cannot write {url}: {_explained(error)}")


def _explained(error: Exception) -> str:
    said = str(error).partition("\n")[0].rstrip(".")
    if ACCESS_DENIED.search(said):
        return (
            f"access is denied ({said}). PyArrow looks for credentials for s3:// in AWS_ACCESS_KEY_ID "
            "and AWS_SECRET_ACCESS_KEY or in ~/.aws, for gs:// in the file that "
            "GOOGLE_APPLICATION_CREDENTIALS names."
        )
    if is_lost(error):
        return (
            f"the server does not answer ({said}). Try again later, or check its address: for s3:// "
            "AWS_ENDPOINT_URL, or ?endpoint_override=HOST:PORT&scheme=http after the URL."
        )
    return f"{said}."


def _filesystem(url: str) -> tuple[Any, str]:
    """PyArrow's filesystem, and the path in it."""
    try:
        from pyarrow import fs
    except ImportError:
        raise MissingExtra(f"Reading {url}", "parquet") from None
    whole = Url.of(url)
    query = whole.query
    if whole.root.startswith(("gs://", "gcs://")) and "retry_limit_seconds=" not in query:
        query += f"{'&' if query else '?'}retry_limit_seconds={MAX_WAIT_SECONDS}"
    asked = whole._replace(path=quote(whole.path, UNQUOTED_CHARACTERS + "%"), query=query)
    try:
        system, path = fs.FileSystem.from_uri(str(asked))
    except OSError as error:
        raise unreadable(url, error) from None
    except ValueError as error:  # such as ArrowInvalid
        raise InputError(f"{url} cannot be read: {_explained(error)}") from None
    return system, path


def _info(url: str) -> Any:
    system, path = _filesystem(url)
    try:
        return system.get_file_info(path)
    except OSError as error:
        raise unreadable(url, error) from None


def _files_below(url: str, *, is_deep: bool) -> dict[str, int]:
    """The files of a folder, by their path relative to it, and their sizes."""
    from pyarrow import fs

    system, folder = _filesystem(url)
    infos = system.get_file_info(fs.FileSelector(folder, recursive=is_deep))
    start = len(folder.rstrip("/")) + 1
    return {info.path[start:]: info.size or 0 for info in infos if info.type.name == "File"}


def _matches(names: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the parts of a path match those of a pattern; `**` matches any number of parts."""
    if not pattern or not names:
        return not pattern and not names
    if pattern[0] == "**":
        is_last = len(pattern) == 1
        return is_last or any(_matches(names[i:], pattern[1:]) for i in range(len(names)))
    return fnmatchcase(names[0], pattern[0]) and _matches(names[1:], pattern[1:])


def is_pattern(path: str) -> bool:
    """Whether a path is a pattern. A local file with such a name is a file."""
    return is_url_pattern(path) if is_url(path) else has_magic(path) and not Path(path).exists()


def is_folder(path: str) -> bool:
    return is_url_folder(path) if is_url(path) else Path(path).is_dir()


def files_in(path: str, suffixes: Sequence[str], *, what: str = "evaluation set") -> list[str]:
    """The files below a folder, or those that match a pattern; raises InputError if there are none,
    and says `what` they should hold."""
    found = urls_in(path) if is_url(path) else sorted(_local_files(path))
    if not is_pattern(path):
        found = [name for name in found if without_query(name).lower().endswith(tuple(suffixes))]
    shown = [
        name for name in found if not PurePosixPath(without_query(name)).name.startswith((".", "_"))
    ]
    if not shown:
        problem = "No file matches" if is_pattern(path) else f"There is no {what} in the folder"
        raise InputError(f"{problem} {path}; files must end in {', '.join(suffixes)}.")
    return shown


def matching_paths(pattern: str) -> list[str]:
    """The paths that match a pattern. As in a shell, `**` stands for any folders; it does not follow
    links to folders, which may lead back to where they stand."""
    parts = Path(pattern).parts
    if "**" not in parts:
        # `Path.glob` takes no pattern that begins at the root.
        return glob(pattern)  # noqa: PTH207
    place = parts.index("**")
    starts = glob(str(Path(*parts[:place]))) if place else [os.curdir]  # noqa: PTH207
    rest = parts[place + 1 :] or ("*",)
    found: dict[str, None] = {}
    for start in starts:
        for folder, inside, _ in os.walk(start):
            inside[:] = [name for name in inside if not name.startswith(".")]
            found |= dict.fromkeys(matching_paths(str(Path(escape(folder), *rest))))
    return list(found)


def _local_files(path: str) -> list[str]:
    files = map(Path, matching_paths(path) if is_pattern(path) else Path(path).rglob("*"))
    return [str(file) for file in files if file.is_file() and file.stat().st_size]


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its name or its address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
