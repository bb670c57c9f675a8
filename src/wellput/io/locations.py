"""Where files lie: paths here, and URLs (`io.object_stores`).

One file, a folder of files, or a pattern (`shards/*.jsonl.gz`) are all a list of files in the end, in
the order of their names. Empty files, which tools that write shards leave, are left out, and names
that begin with `.` or `_`.
"""

from __future__ import annotations

from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path, PurePosixPath

from wellput.core.errors import InputError
from wellput.io.object_stores import is_url, is_url_folder, is_url_pattern, urls_in, without_query


def is_pattern(path: str) -> bool:
    """Whether a path is a pattern; a file here that has such a name is a file."""
    return is_url_pattern(path) if is_url(path) else has_magic(path) and not Path(path).exists()


def is_folder(path: str) -> bool:
    return is_url_folder(path) if is_url(path) else Path(path).is_dir()


def files_in(path: str, suffixes: Sequence[str]) -> list[str]:
    """The files of a folder, below it too, or those that match a pattern; raises for none."""
    found = urls_in(path) if is_url(path) else sorted(_local_files(path))
    if not is_pattern(path):
        found = [name for name in found if without_query(name).lower().endswith(tuple(suffixes))]
    shown = [
        name for name in found if not PurePosixPath(without_query(name)).name.startswith((".", "_"))
    ]
    if not shown:
        what = "No file matches" if is_pattern(path) else "No evaluation set is in the folder"
        raise InputError(f"{what} {path}; files must end in {', '.join(suffixes)}.")
    return shown


def _local_files(path: str) -> list[str]:
    # `Path.glob` knows no pattern that begins at the root.
    found = glob(path, recursive=True) if is_pattern(path) else Path(path).rglob("*")  # noqa: PTH207
    files = map(Path, found)
    return [str(file) for file in files if file.is_file() and file.stat().st_size]
