"""The files that the running command has opened: none of them is replaced by its output.

Commands compare the names of inputs and outputs before they begin (`output.check_files`). This module
also finds inputs that this check does not see: however a file was named or found, Python tells the
audit hook of this module that it was opened.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wellput.core.errors import OutputError

NEW_FILE_FLAGS = os.O_TRUNC | os.O_EXCL
"""A file that is opened with one of these flags is no input: it is emptied, or did not exist."""
SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")
"""The endings of the files of a database. SQLite opens them itself: Python only tells the hook the
database's name."""
STDIN_DESCRIPTOR = 0


class _Command:
    """The paths of the files that one command has opened, and the real paths of the files and folders
    that it may replace nevertheless."""

    def __init__(self) -> None:
        self.opened: set[str] = set()
        self.own_files: set[str] = set()
        self.own_folders: set[str] = set()


_running: _Command | None = None
_has_hook = False


@contextlib.contextmanager
def keeping_opened_files() -> Iterator[None]:
    """Until the block ends, `refuse_opened` knows the files that are opened in it."""
    global _running, _has_hook
    if not _has_hook:
        sys.addaudithook(_remember)  # a hook cannot be removed
        _has_hook = True
    outer, _running = _running, _Command()
    try:
        yield
    finally:
        _running = outer


def _remember(event: str, arguments: tuple[Any, ...]) -> None:
    running = _running  # another thread may end the block meanwhile
    if running is None:
        return
    if event == "open":
        path, _, flags = arguments
        if isinstance(path, str | os.PathLike) and not flags & NEW_FILE_FLAGS:
            name = os.fspath(path)
            if isinstance(name, str) and not name.endswith(".pyc"):
                running.opened.add(name)
    elif event == "sqlite3.connect" and isinstance(arguments[0], str):
        database = arguments[0]
        if database.startswith("file:"):
            from urllib.parse import unquote  # imported late: most commands open no database

            database = unquote(database.removeprefix("file:").partition("?")[0])
        running.opened.update(f"{database}{suffix}" for suffix in SQLITE_SUFFIXES)


def refuse_opened(target: Path, name: str) -> None:
    """Raises OutputError if writing `target` would replace a file that the running command has opened,
    unless the file or its folder is the command's own. `name` is its name in the message."""
    if (
        _running is None
        or str(target) in _running.own_files
        or str(target.parent) in _running.own_folders
    ):
        return
    try:
        target_status = target.stat()
    except OSError:
        return
    opened = tuple(_running.opened)  # a copy, because other threads may open files meanwhile
    paths: tuple[str | int, ...] = (*opened, STDIN_DESCRIPTOR)
    if any(_is_same_file(path, target_status) for path in paths):
        raise OutputError(f"Cannot write {name}: this command reads it. Give another name.")


def _is_same_file(path: int | str, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), status)  # noqa: PTH116, it may be a descriptor
    except (OSError, ValueError):
        return False


def note_own_file(path: str | Path) -> None:
    """Lets the running command replace a file that it made, or that wellput keeps for itself (a cache),
    although the command reads it."""
    if _running is not None:
        _running.own_files.add(os.path.realpath(path))


def note_own_folder(folder: Path) -> None:
    """Lets the running command replace the files in a folder where it keeps its state or makes models:
    it reads earlier files there to see whether they must be made again."""
    if _running is not None:
        _running.own_folders.add(os.path.realpath(folder))
