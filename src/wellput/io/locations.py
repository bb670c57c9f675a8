"""Locations of files: paths of this machine, and URLs such as `s3://bucket/folder?scheme=http`, which
PyArrow's filesystems read.

A file, a folder or a pattern (`shards/*.jsonl.gz`) becomes a list of files in the order of their
names. Two kinds of files are left out: empty ones, which tools that write a data set in several files
may leave, and hidden ones. A file is hidden if its name, or that of a subfolder on the way to it,
begins with `.` or `_`, unless the pattern has this name (`_old/*.csv`).

The path of a URL is percent-encoded; spaces and letters such as `ä` may also be written directly. The
part after `?` has options of PyArrow's filesystem, which apply to every file of a folder or pattern.
An error names the URL and says what to do. PyArrow repeats a failed request for some seconds; if the
request still fails, the error is `Unreachable`.
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
HIDDEN_MARKS = (".", "_")
"""The names of files and folders that other programs keep for themselves begin so, such as
`.ipynb_checkpoints` and `_temporary`."""
UNQUOTED_CHARACTERS = "/:@!$&'()*+,;=~"
"""Characters that may be in the path of a URL as they are."""

CONNECTION_LOST = re.compile(
    r"NETWORK_CONNECTION|HTTP status 5|UNAVAILABLE|SLOW_DOWN|THROTTL|INTERNAL_FAILURE|DEADLINE_EXC"
)
ACCESS_DENIED = re.compile(
    r"ACCESS_DENIED|HTTP status 40[013]|INVALID_ACCESS_KEY|SIGNATURE_DOES_NOT|INVALID_CLIENT_TOKEN"
    r"|UNAUTHENTICATED|PERMISSION_DENIED|OAuth2"
)
"""Both patterns match messages in which PyArrow reports errors of Amazon's and Google's libraries."""

STORES_WITHOUT_FOLDERS = ("s3", "gcs", "abfs")
"""Stores without real folders: a folder is only a common beginning of the files' names."""

MAX_WAIT_SECONDS = 30
"""How long Google's library repeats a request; its own limit is 15 minutes."""


class Url(NamedTuple):
    """The parts of a URL: `root` is the scheme with the bucket or host; `query` begins with `?` or is
    empty."""

    root: str
    path: str
    query: str

    @classmethod
    def of(cls, url: str) -> Url:
        match = URL_PARTS.fullmatch(url)
        assert match is not None, url
        return cls(*match.groups())

    def __str__(self) -> str:
        return self.root + self.path + self.query

    def below(self, name: str) -> Url:
        """The URL of a file in this folder; `name` is percent-encoded."""
        return self._replace(path=f"{self.path.rstrip('/')}/{name}")


class FileState(NamedTuple):
    """The size of a file in bytes and the time of its last change in nanoseconds. If both are the
    same as before, the file counts as unchanged."""

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
    """The file at the URL, open for reading with random access."""
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
    folder, `**/` means any number of folders. Sorted by name, without empty and hidden files."""
    parsed = Url.of(url)
    # `base` is the folder before the first part with a sign of patterns, `pattern` the rest.
    sign = PATTERN_SIGN.search(parsed.path)
    base = parsed._replace(path=parsed.path[: sign.start()].rpartition("/")[0]) if sign else parsed
    pattern = parsed.path[len(base.path) + 1 :] if sign else "**"
    try:
        sizes = _files_below(str(base), is_deep="/" in pattern or "**" in pattern)
    except OSError as error:
        raise unreadable(url, error) from None
    pattern_parts = [unquote(part) for part in pattern.split("/")]
    return [
        str(base.below(quote(name, UNQUOTED_CHARACTERS)))
        for name, size in sorted(sizes.items())
        if size
        and _is_visible(parts := name.split("/"), pattern_parts)
        and _matches(parts, pattern_parts)
    ]


def write_url(url: str, data: memoryview) -> None:
    """Writes a file with this content."""
    system, path = _filesystem(url)
    try:
        if system.type_name not in STORES_WITHOUT_FOLDERS:
            system.create_dir(str(PurePosixPath(path).parent), recursive=True)
        with system.open_output_stream(path, compression=None) as file:
            file.write(data)
    except OSError as error:
        raise _unwritable(url, error) from None


def names_at(url: str) -> list[str]:
    """The names of the files in a folder into which files will be written; none if it does not
    exist."""
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
        # After the deletion PyArrow makes an object for the folder, and some servers refuse this.
        if _info(url).type.name == "NotFound":
            return
        raise _unwritable(url, error) from None


def unreadable(url: str, error: OSError) -> InputError:
    """The error to raise after reading failed with `error`."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"No such file or folder: {url}.")
    kind = Unreachable if is_connection_lost(error) else InputError
    return kind(f"{url} cannot be read: {_explained(error)}")


def is_connection_lost(error: Exception) -> bool:
    """Whether the connection or the server failed."""
    text = str(error)
    return CONNECTION_LOST.search(text) is not None and ACCESS_DENIED.search(text) is None


def _unwritable(url: str, error: OSError) -> OutputError:
    return OutputError(f"Cannot write {url}: {_explained(error)}")


def _explained(error: Exception) -> str:
    """What an error of a remote server means, with advice."""
    message = str(error).partition("\n")[0].rstrip(".")
    if ACCESS_DENIED.search(message):
        return (
            f"access is denied ({message}). PyArrow looks for credentials for s3:// in "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or in ~/.aws, for gs:// in the file that "
            "GOOGLE_APPLICATION_CREDENTIALS names."
        )
    if is_connection_lost(error):
        return (
            f"the server does not answer ({message}). Try again later, or check its address: for s3:// "
            "AWS_ENDPOINT_URL, or ?endpoint_override=HOST:PORT&scheme=http after the URL."
        )
    return f"{message}."


def _filesystem(url: str) -> tuple[Any, str]:
    """PyArrow's filesystem for the URL, and the path in this filesystem."""
    try:
        from pyarrow import fs
    except ImportError:
        raise MissingExtra(f"Reading {url}", "parquet") from None
    parsed = Url.of(url)
    query = parsed.query
    if parsed.root.startswith(("gs://", "gcs://")) and "retry_limit_seconds=" not in query:
        query += f"{'&' if query else '?'}retry_limit_seconds={MAX_WAIT_SECONDS}"
    quoted = parsed._replace(path=quote(parsed.path, UNQUOTED_CHARACTERS + "%"), query=query)
    try:
        system, path = fs.FileSystem.from_uri(str(quoted))
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
    """The sizes of the files in a folder, by their paths relative to the folder. `is_deep`: also in its
    subfolders."""
    from pyarrow import fs

    system, folder = _filesystem(url)
    infos = system.get_file_info(fs.FileSelector(folder, recursive=is_deep))
    start = len(folder.rstrip("/")) + 1
    return {info.path[start:]: info.size or 0 for info in infos if info.type.name == "File"}


def _matches(names: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a path matches a pattern, both divided at `/`; `**` matches any number of parts."""
    if not pattern or not names:
        return not pattern and not names
    if pattern[0] == "**":
        is_last = len(pattern) == 1
        return is_last or any(_matches(names[i:], pattern[1:]) for i in range(len(names)))
    return fnmatchcase(names[0], pattern[0]) and _matches(names[1:], pattern[1:])


def is_pattern(path: str) -> bool:
    """Whether a path is a pattern. A path that names an existing local file is not a pattern."""
    return is_url_pattern(path) if is_url(path) else has_magic(path) and not Path(path).exists()


def is_folder(path: str) -> bool:
    return is_url_folder(path) if is_url(path) else Path(path).is_dir()


def files_in(path: str, suffixes: Sequence[str], *, what: str = "evaluation set") -> list[str]:
    """The files below a folder that end in one of the suffixes, or the files that match a pattern.
    Raises InputError if there are none; `what` is the noun for the files in its message."""
    names = urls_in(path) if is_url(path) else sorted(_local_files(path))
    if not is_pattern(path):
        names = [name for name in names if without_query(name).lower().endswith(tuple(suffixes))]
    if not names:
        problem = "No file matches" if is_pattern(path) else f"There is no {what} in the folder"
        raise InputError(f"{problem} {path}; files must end in {', '.join(suffixes)}.")
    return names


def matching_paths(pattern: str) -> list[str]:
    """The paths that match a pattern. As in a shell, `**` stands for any folders; links to folders
    are not followed, because they may lead in a circle."""
    parts = Path(pattern).parts
    if "**" not in parts:
        # `Path.glob` takes no pattern that begins at the root.
        return glob(pattern)  # noqa: PTH207
    place = parts.index("**")
    starts = glob(str(Path(*parts[:place]))) if place else [os.curdir]  # noqa: PTH207
    rest_of_pattern = parts[place + 1 :] or ("*",)
    paths: dict[str, None] = {}
    for start in starts:
        for folder, subfolders, _ in os.walk(start):
            subfolders[:] = [name for name in subfolders if not is_hidden(name)]
            paths |= dict.fromkeys(matching_paths(str(Path(escape(folder), *rest_of_pattern))))
    return list(paths)


def is_hidden(name: str) -> bool:
    """Whether a file or subfolder of this name is left out when a folder is read."""
    return name.startswith(HIDDEN_MARKS)


def visible_entries(folder: Path) -> list[Path]:
    """The files and subfolders of a folder that are not hidden, in the order of their names."""
    return sorted(entry for entry in folder.iterdir() if not is_hidden(entry.name))


def _is_visible(names: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether no part of a path is hidden, except parts that the pattern names. Both are divided at
    `/`."""
    asked_for = [part for part in pattern if is_hidden(part)]
    return all(
        not is_hidden(name) or any(fnmatchcase(name, part) for part in asked_for) for name in names
    )


def _local_files(path: str) -> list[str]:
    if is_pattern(path):
        parts = Path(path).parts
        n_fixed = next(place for place, part in enumerate(parts) if has_magic(part))
        files = [
            file
            for file in map(Path, matching_paths(path))
            if _is_visible(file.parts[n_fixed:], parts[n_fixed:])
        ]
    else:
        files = []
        for folder, subfolders, names in os.walk(path):
            subfolders[:] = [name for name in subfolders if not is_hidden(name)]
            files += [Path(folder, name) for name in names if not is_hidden(name)]
    return [str(file) for file in files if file.is_file() and file.stat().st_size]


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its name or its address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
