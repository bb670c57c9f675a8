"""A file's fingerprint, for saying which data a result came from."""

from __future__ import annotations

import hashlib
from pathlib import Path

from wellput.io.files import PathLike


def fingerprint(path: PathLike) -> str | None:
    """SHA-256 of the file's bytes, as `sha256sum` prints it; None for a pipe or a folder."""
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
