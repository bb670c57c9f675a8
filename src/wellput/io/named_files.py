"""The files that the arguments of a command name, so that an output never replaces an input.

An argument names a file by its path; by a folder or a pattern that holds it; or inside a text with
options, such as `bleu,./comet.csv:metric=COMET-22` or `A=a.txt`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from wellput.core.errors import InputError
from wellput.io.files import SHARD_SUFFIXES, STANDARD_INPUT, PathLike
from wellput.io.locations import Url, files_in, is_pattern, is_url, without_query

PATH_SIGN = re.compile(r"[/\\]|\.[A-Za-z]")
"""Found in every path that a text with options contains, but not in a name such as `bleu`."""


def paths_in(argument: object) -> list[str]:
    """The paths of files in an argument: a path, or a list or dictionary with paths. An iterator is not
    read, because it could be read only once. Names such as `bleu` are left out, because a folder of
    this name has nothing to do with them."""
    if isinstance(argument, Mapping):
        argument = list(argument.values())
    entries = argument if isinstance(argument, list | tuple) else [argument]
    return [
        path
        for entry in entries
        for path in paths_of(entry)
        if not isinstance(entry, str) or PATH_SIGN.search(entry)
    ]


def paths_of(given: object) -> Sequence[str]:
    """The paths that an argument stands for. A text or a path stands for itself; an object that was
    read from files, such as an open evalset, for its attribute `input_paths`; other objects for no
    path."""
    if isinstance(given, str | Path):
        return [str(given)]
    paths: Sequence[str] = getattr(given, "input_paths", ())
    return paths if isinstance(paths, tuple) else ()


def named_files(text: str) -> dict[str, str]:
    """The existing files of this machine that an argument names: their real paths, each with the words
    that say how it is named."""
    if text == STANDARD_INPUT:
        return {}
    path = local_path(text)
    if _is_folder(path) or _is_part_of_folder(path):
        return {os.path.realpath(file): f"in the input {text}" for file in _files_read_in(path)}
    if _is_local_pattern(path):
        return {os.path.realpath(file): f"in the input {text}" for file in _files_if_any(path)}
    return {
        os.path.realpath(local_path(piece)): f"the input {piece}"
        for piece in _paths_inside(text)
        if _is_existing_file(local_path(piece))
    }


def reads_from(text: str, folder: str) -> bool:
    """Whether the argument `text` names `folder` or a file in it. The folder may be at a URL."""
    path = local_path(folder)
    if is_url(path):
        root = without_query(path).rstrip("/")
        pieces = (without_query(piece) for piece in _paths_inside(text))
        return any(f"{piece}/".startswith(f"{root}/") for piece in pieces)
    start = f"{os.path.realpath(path)}{os.sep}"
    return _is_folder(path) and any(file.startswith(start) for file in named_files(text))


def is_folder_or_pattern(text: str) -> bool:
    """Whether a text names several files of this machine."""
    return _is_folder(text) or _is_local_pattern(text)


def local_path(text: str) -> str:
    """The path of a URL that begins with `file://`, or of a database in a file (`sqlite:///study.db`);
    other texts are returned unchanged."""
    if text.startswith("sqlite:///"):
        return text.removeprefix("sqlite:///").partition("?")[0]
    return (unquote(Url.of(text).path) or text) if text.startswith("file://") else text


def _files_read_in(folder: str) -> Iterable[PathLike]:
    """The files that a command may read if it gets this folder: all files if a reader of a special
    format knows the folder, or if it has no tables; otherwise the tables. For a part of a folder
    (`_is_part_of_folder`): all files of that folder."""
    from wellput.io.readers import is_known

    files = [] if is_known(folder) else _files_if_any(folder)
    root = Path(folder) if _is_folder(folder) else Path(folder).parent
    return files or (file for file in root.rglob("*") if _is_existing_file(str(file)))


def _is_part_of_folder(path: str) -> bool:
    """Whether a path names a part of a folder, such as a language pair of mt-metrics-eval
    (`wmt21.news/zh-en`), which is not a file."""
    from wellput.io.readers import is_known

    is_below_folder = os.sep in path and not is_url(path) and _is_folder(str(Path(path).parent))
    if not is_below_folder or _is_existing_file(path) or _is_local_pattern(path):
        return False
    try:
        return is_known(path)
    except (OSError, ValueError):
        return False


def _files_if_any(path: str) -> list[str]:
    try:
        return files_in(path, SHARD_SUFFIXES)
    except InputError:  # no file; the command that reads the folder says so
        return []


def _paths_inside(text: str) -> Iterator[str]:
    """The whole text, and the pieces of a text with options that may be paths. The text is taken as one
    entry, and as several with commas between them. A piece begins at the start of an entry or after
    `=`, and stops at the end of the entry or before `:`."""
    yield text
    for entry in dict.fromkeys((text, *text.split(","))):
        starts = [0, *(sign.end() for sign in re.finditer("=", entry))]
        ends = [*(sign.start() for sign in re.finditer(":", entry)), len(entry)]
        for start in starts:
            for end in ends:
                piece = entry[start:end].strip()
                if piece and piece != text and PATH_SIGN.search(piece):
                    yield piece


def _is_existing_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # a text that is too long for a name, or has NUL
        return False


def _is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def _is_local_pattern(path: str) -> bool:
    try:
        return not is_url(path) and is_pattern(path)
    except (OSError, ValueError):
        return False
