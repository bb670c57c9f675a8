"""Folders in which only one program at a time may write."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from wellput.core.errors import OutputError


@contextlib.contextmanager
def locked_folder(folder: Path, name: str, refusal: str) -> Iterator[None]:
    """Makes the folder if needed, and keeps it locked until the block ends (or the process dies).

    Raises OutputError: with the message `refusal` if another program has locked the folder, and one
    that names `name` if the folder cannot be made.
    """
    import fcntl

    try:
        folder.mkdir(exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise OutputError(f"Cannot write {name}: {error.strerror}.") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_same = os.path.samestat(os.fstat(descriptor), folder.stat())
        except OSError:
            is_same = False
        if not is_same:  # locked by another program, or renamed by it just now
            raise OutputError(refusal)
        yield
    finally:
        os.close(descriptor)
