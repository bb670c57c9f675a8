"""The noun `TextPart`: a run of whole lines of a text file, which any process can read by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from wellput.io.compression import SUFFIXES
from wellput.io.files import InputFile

PART_BYTES = 1 << 24
MOST_PARTS = 500
"""So many files that whoever merges the parts can have open at once."""


class TextPart(NamedTuple):
    """The lines in bytes `start` to `stop` of a file; all of it where `stop` is None."""

    path: str
    start: int = 0
    stop: int | None = None

    def blocks(self) -> Iterator[Sequence[str]]:
        """The lines in lists as they come."""
        file = InputFile(self.path)
        if self.stop is None:
            return file.line_blocks(1 << 14)
        return file.lines_between(self.start, self.stop)


def text_parts(paths: Sequence[str], *, size: int = PART_BYTES) -> list[TextPart]:
    """The files in parts of about `size` bytes, in order; a compressed one is one part."""
    total = sum(Path(path).stat().st_size for path in paths)
    size = max(size, total // MOST_PARTS)
    # A process elsewhere may work in another folder.
    return [part for path in paths for part in _parts_of(str(Path(path).absolute()), size)]


def _parts_of(path: str, size: int) -> Iterator[TextPart]:
    if path.lower().endswith(SUFFIXES):
        yield TextPart(path)
        return
    end = Path(path).stat().st_size
    start = 0
    with Path(path).open("rb") as file:
        while start < end:
            file.seek(min(start + size, end) - 1)
            file.readline()  # to the end of the line that the cut would go through
            yield TextPart(path, start, file.tell())
            start = file.tell()
