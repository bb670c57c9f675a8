"""Text for training fluency, cut into pools that have no sentence in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from wellput.language.english_text import prose_sentences
from wellput.metrics.fluency_training import fits

PASSAGE = 20
"""Sentences in a row that stay together: neighbors share names and phrases."""


HELD_OUT = 5
"""Every fifth sentence is."""


@dataclass(frozen=True)
class Pools:
    """Sentences in words: those that stay as they are, and those that others are made from."""

    real: list[list[str]]
    source: list[list[str]]


def split_text(
    paths: Sequence[Path], *, on_progress: Callable[[int], None] = lambda _: None
) -> Pools:
    """Half of the passages each, whole sentences of 4 to 60 words only, none twice.

    Which half depends on what a passage says, not on where it stands.
    """
    pools = Pools([], [])
    seen: set[str] = set()
    for path in paths:
        lines = [line for line in prose_sentences(path, on_progress) if fits(line.split(" "))]
        for begin in range(0, len(lines), PASSAGE):
            passage = lines[begin : begin + PASSAGE]
            pool = pools.source if crc32(passage[0].encode(errors="replace")) % 2 else pools.real
            pool += [line.split(" ") for line in dict.fromkeys(passage) if line not in seen]
            seen.update(passage)
    return pools


def whole_sentences(
    paths: Sequence[Path],
    *,
    is_held_out: bool = False,
    on_progress: Callable[[int], None] = lambda _: None,
) -> list[list[str]]:
    """A pool that was kept apart already: four fifths for training, the rest to measure on."""
    lines = (line for path in paths for line in prose_sentences(path, on_progress))
    return [
        words
        for line in dict.fromkeys(lines)
        if fits(words := line.split(" "))
        and (crc32(line.encode(errors="replace")) % HELD_OUT == 0) is is_held_out
    ]
