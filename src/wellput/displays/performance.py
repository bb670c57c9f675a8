"""A sentence as the head performs it: words and motions with their times, in plain values for JSON."""

from __future__ import annotations

from typing import Any

from wellput.core.displays import Derivation, extents_of, span_ends, words_of
from wellput.core.evalset import Schedule
from wellput.displays.speech import Speech

SHORTEST = 0.4
"""Seconds that a motion lasts at least: a shorter one is a twitch."""


def performance(derivation: Derivation, schedule: Schedule, speech: Speech) -> dict[str, Any]:
    """`words` as [word, start, end], `motions` as [motion, start, end], `mouth` as [time, open, round];
    `heard` where there is sound.

    A motion begins with the first word of its node and ends with the last.
    """
    extents = extents_of(derivation)
    motions: list[tuple[float, float, str]] = []
    for key, shown in schedule.items():
        first, last = span_ends(key)
        start, end = extents[first][0], extents[last][1]
        if end > start:
            begins, ends = speech.words[start][0], speech.words[end - 1][1]
            ends = round(max(ends, begins + SHORTEST), 3)
            motions += [(begins, ends, motion) for motion in shown]
    return {
        "words": [
            [word, *times] for word, times in zip(words_of(derivation), speech.words, strict=True)
        ],
        "motions": [[motion, start, end] for start, end, motion in sorted(motions)],
        "mouth": [list(frame) for frame in speech.mouth],
        "duration": speech.duration,
        "heard": speech.wav is not None,
    }
