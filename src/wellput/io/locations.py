"""Where files lie: paths, and URLs such as `s3://bucket/folder` through PyArrow's filesystems.

One file, a folder of files, or a pattern (`shards/*.jsonl.gz`) are all a list of files in the end, in
the order of their names. Empty files, which tools that write shards leave, are left out, and names
that begin with `.` or `_`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from wellput.core.errors import InputError, MissingExtra, OutputError

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_url(path: str) -> bool:
    return SCHEME.match(path) is not None


def is_pattern(path: str) -> bool:
    """Whether a path is a pattern; a file that has such a name is a file."""
    return has_magic(path) and (is_url(path) or not Path(path).exists())


def open_url(url: str) -> IO[bytes]:
    """A file to read, with random access."""
    system, path = _filesystem(url)
    try:
        return cast("IO[bytes]", system.open_input_file(path))
    except OSError as error:
        raise InputError(f"{url} cannot be read: {error}") from None


def write_url(url: str, data: memoryview) -> None:
    """Writes a file, all of it at once."""
    system, path = _filesystem(url)
    try:
        system.create_dir(str(PurePosixPath(path).parent), recursive=True)
        with system.open_output_stream(path) as file:
            file.write(data)
    except OSError as error:
        raise OutputError(f"Cannot write {url}: {error}") from None


def is_folder(path: str) -> bool:
    if not is_url(path):
        return Path(path).is_dir()
    system, inside = _filesystem(path)
    return bool(_info(system, inside, path).type.name == "Directory")


def files_in(path: str, suffixes: Sequence[str]) -> list[str]:
    """The files of a folder, below it too, or those that match a pattern; raises for none."""
    found = _remote_files(path) if is_url(path) else _local_files(path)
    if not is_pattern(path):
        found = [name for name in found if name.lower().endswith(tuple(suffixes))]
    shown = [name for name in found if not PurePosixPath(name).name.startswith((".", "_"))]
    if not shown:
        what = "No file matches" if is_pattern(path) else "No evaluation set is in the folder"
        raise InputError(f"{what} {path}; files must end in {', '.join(suffixes)}.")
    return sorted(shown)


def _local_files(path: str) -> list[str]:
    # `Path.glob` knows no pattern that begins at the root.
    found = glob(path, recursive=True) if is_pattern(path) else Path(path).rglob("*")  # noqa: PTH207
    files = map(Path, found)
    return [str(file) for file in files if file.is_file() and file.stat().st_size]


def _remote_files(url: str) -> list[str]:
    from pyarrow import fs  # `_filesystem` has seen that it is there

    base = url if not is_pattern(url) else url[: _first_magic(url)].rpartition("/")[0]
    system, folder = _filesystem(base)
    try:
        infos = system.get_file_info(fs.FileSelector(folder, recursive=True))
    except OSError as error:
        raise InputError(f"{url} cannot be read: {error}") from None
    inside = len(folder.rstrip("/"))
    names = [
        base.rstrip("/") + info.path[inside:]
        for info in infos
        if info.type.name == "File" and info.size
    ]
    return [name for name in names if fnmatchcase(name, url)] if is_pattern(url) else names


def _first_magic(url: str) -> int:
    return next(place for place, mark in enumerate(url) if mark in "*?[")


def _filesystem(url: str) -> tuple[Any, str]:
    try:
        from pyarrow import fs
    except ImportError:
        raise MissingExtra(f"Reading {url}", "parquet") from None
    try:
        system, path = fs.FileSystem.from_uri(url)
    except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
        raise InputError(f"{url} cannot be read: {error}") from None
    return system, path


def _info(system: Any, path: str, url: str) -> Any:
    try:
        return system.get_file_info(path)
    except OSError as error:
        raise InputError(f"{url} cannot be read: {error}") from None
