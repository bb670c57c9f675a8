"""The talking head and its speech. `performance` has the words and motions of a sentence with their
times, as plain values for JSON. In a study, a *medium* shows outputs of one kind to the judges
(`wellput.studies.media` says what it must have). With `HeadMedium` the head performs schedules, the
displays of a system for a sentence. The speech is made when the study is made.

The program espeak-ng makes the sound. `Speech` also has the time of every word and the movement of the
lips. Without the program the head is silent, and the times are estimated.

espeak-ng does not tell the times of words. So it speaks the sentence a second time, with long silent
gaps between the words. The gaps show the lengths of the words, which are then fitted to the length of
the sentence without gaps. espeak-ng (GPL) runs as a separate process and reads the text from standard
input.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import wave
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.evalset import Item
from wellput.displays.schedules import (
    Derivation,
    Schedule,
    extents_of,
    schedules_of,
    span_ends,
    words_of,
)

if TYPE_CHECKING:
    from wellput.studies.designs.base import Design
    from wellput.studies.questionnaire import Questionnaire

SPEECH_PROGRAM = "espeak-ng"
SAMPLES_PER_SECOND = 22050
GAP_CENTISECONDS = 30
"""The long gap between words, in espeak-ng's units of about 10 ms."""

MIN_GAP_SECONDS = 0.2
"""Silence (zeros) of at least this many seconds is a gap."""

SPEECH_COMMAND = (SPEECH_PROGRAM, "--stdin", "-v", "en-us", "-s", "150", "-p", "42")
"""An American voice (-v) that speaks 150 words a minute (-s), with a pitch (-p) of 42 from 0 to
99."""
WAV_HEADER_BYTES = 44

MouthFrame: TypeAlias = tuple[float, float, float]
"""A time in seconds, and how open and how round the mouth is, both from 0 to 1."""

# By the first one or two characters of espeak-ng's name of a phoneme: how open the mouth is, how round,
# and the phoneme's relative length.
MOUTH_SHAPES: dict[str, tuple[float, float, float]] = {
    "p": (0.0, 0.2, 1), "b": (0.0, 0.2, 1), "m": (0.0, 0.2, 1.2), "f": (0.08, 0.1, 1),
    "v": (0.08, 0.1, 1), "w": (0.2, 1.0, 1), "oU": (0.6, 0.8, 2.2), "aU": (0.85, 0.5, 2.4),
    "aI": (0.9, 0.1, 2.4), "a": (0.9, 0.1, 2), "A": (1.0, 0.1, 2.2), "0": (0.85, 0.3, 2),
    "V": (0.75, 0.1, 1.7), "O": (0.8, 0.6, 2.2), "E": (0.7, 0.0, 1.8), "e": (0.6, 0.0, 2),
    "I": (0.42, 0.0, 1.4), "i": (0.38, 0.0, 1.8), "3": (0.5, 0.4, 2), "@": (0.4, 0.2, 1.2),
    "u": (0.35, 0.9, 1.9), "U": (0.4, 0.8, 1.5), "r": (0.3, 0.5, 1), "l": (0.35, 0.0, 1),
}  # fmt: skip
OTHER_MOUTH_SHAPE = (0.22, 0.0, 1.0)
"""The shape for phonemes that `MOUTH_SHAPES` does not have."""
VOWEL_PHONEMES = {"a": "a", "e": "E", "i": "I", "o": "O", "u": "u", "y": "I"}
"""A phoneme for each vowel letter, for times that are estimated from letters."""


@dataclass(frozen=True, eq=False)
class Speech:
    """`words` has the start and end of each word in seconds, `mouth` the movement of the lips,
    `duration` the length in seconds, and `wav` the sound, if any."""

    words: tuple[tuple[float, float], ...]
    mouth: tuple[MouthFrame, ...]
    duration: float
    wav: bytes | None = None


def can_speak() -> bool:
    """Whether espeak-ng is installed."""
    return shutil.which(SPEECH_PROGRAM) is not None


def speak(words: Sequence[str]) -> Speech:
    """The speech of one sentence; silent if espeak-ng is missing or fails."""
    if not words or not can_speak():
        return silent_speech(words)
    text = " ".join(words)
    try:
        spoken, with_gaps = _samples(text), _samples(text, "-g", str(GAP_CENTISECONDS))
        spoken_phonemes = _phonemes(text)
    except (OSError, subprocess.SubprocessError):
        return silent_speech(words)
    lengths, pauses = lengths_and_pauses(with_gaps)
    if not len(lengths) or not len(spoken):
        return silent_speech(words)
    duration = len(spoken) / SAMPLES_PER_SECOND
    scale = max(duration - pauses.sum(), 0.1) / lengths.sum()
    ends = np.cumsum(lengths * scale + pauses) - pauses
    # The start and end of each piece that is spoken as one word.
    pieces = [
        (float(end - length), float(end)) for end, length in zip(ends, lengths * scale, strict=True)
    ]
    if len(spoken_phonemes) != len(pieces):  # it is not known which piece has which phonemes
        spoken_phonemes = [[] for _ in pieces]
    mouth: list[MouthFrame] = []
    for (start, end), phonemes in zip(pieces, spoken_phonemes, strict=True):
        mouth += mouth_frames(phonemes or ["a"], start, end)
    timed = word_times(words, pieces)
    return Speech(tuple(timed), tuple(mouth), round(duration, 3), _wav(spoken))


def silent_speech(words: Sequence[str]) -> Speech:
    """Silent speech: times are estimated. A word lasts 0.1 seconds and 0.055 for each character, the
    pause after it 0.3 seconds after a comma or the like, else 0.03."""
    timed: list[tuple[float, float]] = []
    mouth: list[MouthFrame] = []
    now = 0.1
    for word in words:
        end = now + 0.1 + 0.055 * max(len(word), 1)
        timed.append((round(now, 3), round(end, 3)))
        letters = [
            VOWEL_PHONEMES.get(letter, letter) for letter in word.lower() if letter.isalpha()
        ]
        mouth += mouth_frames(letters or ["a"], now, end)
        now = end + (0.3 if word[-1:] in ",;:" else 0.03)
    return Speech(tuple(timed), tuple(mouth), round(now + 0.3, 3))


def lengths_and_pauses(
    samples: NDArray[np.int16],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """From speech with long gaps: the length of each word in seconds, and by how many seconds the
    silence after it is longer than the gap.

    The shortest silence is the gap. A longer silence contains a pause as well, or the closure of a stop
    consonant.
    """
    edges = np.diff(np.concatenate([[0], (samples == 0).astype(np.int8), [0]]))
    # Where each silence starts and ends, in seconds.
    starts, ends = (
        np.flatnonzero(edges == 1) / SAMPLES_PER_SECOND,
        np.flatnonzero(edges == -1) / SAMPLES_PER_SECOND,
    )
    is_gap = ends - starts >= MIN_GAP_SECONDS
    starts, ends = starts[is_gap], ends[is_gap]
    word_starts = np.concatenate([[0.0], ends])[: len(starts)]
    if len(starts) and starts[0] == 0:  # silence before the first word
        word_starts, starts, ends = word_starts[1:], starts[1:], ends[1:]
    lengths = starts - word_starts
    silences = ends - starts
    return lengths, silences - silences.min() if len(silences) > 1 else silences


def word_times(
    words: Sequence[str], pieces: Sequence[tuple[float, float]]
) -> list[tuple[float, float]]:
    """The start and end of each word in seconds, from the times of the `pieces` that were spoken. Some
    words are spoken as one piece (*in the*), some as several (*42*).

    The longer one of the two sequences is cut into as many runs as the shorter one has members, by
    length.
    """
    if len(words) == len(pieces):
        return [(round(start, 3), round(end, 3)) for start, end in pieces]
    # A comma that is a separate word is silent.
    sizes = [len(word) + 1.0 if any(map(str.isalnum, word)) else 0.05 for word in words]
    durations = [end - start for start, end in pieces]
    if len(words) < len(pieces):
        runs = cut_into_runs(durations, sizes)
        return [(round(pieces[a][0], 3), round(pieces[b - 1][1], 3)) for a, b in runs]
    timed: list[tuple[float, float]] = []
    for (start, end), (a, b) in zip(pieces, cut_into_runs(sizes, durations), strict=True):
        shares = np.cumsum([0.0, *sizes[a:b]]) / sum(sizes[a:b])
        times = [round(start + float(share) * (end - start), 3) for share in shares]
        timed += list(pairwise(times))
    return timed


def cut_into_runs(long: Sequence[float], short: Sequence[float]) -> list[tuple[int, int]]:
    """Cuts the longer sequence of lengths into runs, one for each member of the shorter sequence. The
    runs' shares of the whole length are as close as possible to those of the shorter one's members.

    >>> cut_into_runs([1.0, 1.0, 2.0], [2.0, 2.0])
    [(0, 2), (2, 3)]
    """
    ends = np.concatenate([[0.0], np.cumsum(long) / sum(long)])
    shares = np.array(short) / sum(short)
    cost = np.full((len(short) + 1, len(long) + 1), np.inf)
    best_cut = np.zeros(cost.shape, dtype=np.int64)
    cost[0, 0] = 0.0
    for i in range(1, len(short) + 1):
        for j in range(i, len(long) + 1):
            costs = cost[i - 1, :j] + (ends[j] - ends[:j] - shares[i - 1]) ** 2
            best_cut[i, j] = int(costs.argmin())
            cost[i, j] = costs[best_cut[i, j]]
    runs: list[tuple[int, int]] = []
    j = len(long)
    for i in range(len(short), 0, -1):
        runs.append((int(best_cut[i, j]), j))
        j = int(best_cut[i, j])
    return runs[::-1]


def mouth_frames(phonemes: Sequence[str], start: float, end: float) -> list[MouthFrame]:
    """The mouth at the middle of each phoneme of a word, nearly closed before the first and after the
    last; `start` and `end` are those of the word in seconds."""
    shapes = [_shape(phoneme) for phoneme in phonemes]
    lengths = np.array([length for _, _, length in shapes])
    ends = np.cumsum(lengths) / lengths.sum()
    middles = start + (ends - lengths / lengths.sum() / 2) * (end - start)
    inner = [
        (round(float(at), 3), opened, rounded)
        for at, (opened, rounded, _) in zip(middles, shapes, strict=True)
    ]
    return [(round(start, 3), 0.1, 0.0), *inner, (round(end, 3), 0.1, 0.0)]


def _shape(phoneme: str) -> tuple[float, float, float]:
    """How open and how round the mouth is, and the relative length of the phoneme."""
    bare = phoneme.lstrip("',%=|")  # the marks of stress and of boundaries before a phoneme
    return MOUTH_SHAPES.get(bare[:2], MOUTH_SHAPES.get(bare[:1], OTHER_MOUTH_SHAPE))


def _phonemes(text: str) -> list[list[str]]:
    """espeak-ng's names of the phonemes of each piece that is spoken as one word."""
    output = _run(text, "-q", "-x", "--sep=_").decode("utf-8", "replace")
    return [group.split("_") for group in output.split()]


def _samples(text: str, *options: str) -> NDArray[np.int16]:
    """The sound of the text, `SAMPLES_PER_SECOND` numbers for each second."""
    return np.frombuffer(_run(text, "--stdout", *options)[WAV_HEADER_BYTES:], dtype="<i2")


def _run(text: str, *options: str) -> bytes:
    """The output of espeak-ng for this text."""
    process = subprocess.run(
        [*SPEECH_COMMAND, *options],
        input=text.encode("utf-8", "replace"),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return process.stdout


def _wav(samples: NDArray[np.int16]) -> bytes:
    """The sound as a WAV file."""
    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLES_PER_SECOND)
        file.writeframes(samples.tobytes())
    return target.getvalue()


MIN_MOTION_SECONDS = 0.4
"""A motion lasts at least this long: a shorter one looks like a twitch."""


def performance(derivation: Derivation, schedule: Schedule, speech: Speech) -> dict[str, Any]:
    """The performance of a schedule: `words` as [word, start, end], `motions` as [motion, start, end],
    `mouth` as [time, open, round], times in seconds; `heard` says whether there is sound.

    A motion begins with the first word of its node and ends with the last word.
    """
    extents = extents_of(derivation)
    motions: list[tuple[float, float, str]] = []  # start, end, motion
    for key, shown in schedule.items():
        first, last = span_ends(key)
        start, end = extents[first][0], extents[last][1]
        if end > start:
            begins, ends = speech.words[start][0], speech.words[end - 1][1]
            ends = round(max(ends, begins + MIN_MOTION_SECONDS), 3)
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


class HeadMedium:
    """The medium that shows schedules to the judges of a study: the head performs them."""

    name = "head"
    shows_text = False
    template = "wellput.displays:head/output.html"
    styles: tuple[str, ...] = ("head.css",)
    scripts: tuple[str, ...] = ("head.js",)
    static: Mapping[str, Traversable] = {
        name: files("wellput.displays") / "head" / name for name in ("head.css", "head.js")
    }

    def prepared(self, item: Item) -> tuple[dict[str, str], bytes | None, list[str]]:
        """The performance of each schedule as JSON, the sound, and what is wrong with the item."""
        schedules = schedules_of(item)
        problems = [
            f"item {item.id}: the output of {system} is text, others are schedules"
            for system in item.outputs
            if system not in schedules
        ]
        if not schedules:
            return {}, None, problems
        if item.derivation is None:
            problems.append(f"item {item.id}: schedules need a derivation with the words")
            return {}, None, problems
        speech = speak(words_of(item.derivation))
        shown = {
            system: json.dumps(performance(item.derivation, schedule, speech))
            for system, schedule in schedules.items()
        }
        return shown, speech.wav, problems

    def reworded(self, questionnaire: Questionnaire, design: Design) -> Questionnaire:
        """The questionnaire with words about the head in place of the default words about texts."""
        # Judges compare displays, not texts: as in Foster 2008, section 3.3, all versions of a sentence
        # have the same words.
        wording = design.words
        title, instructions = questionnaire.title, questionnaire.instructions
        if title == design.worded_title:
            title = wording("head.title")
        key = f"head.{design.name}"
        if instructions == design.worded_instructions and wording.has(key):
            instructions = design.filled_in(wording(key))
        text_preference = wording("pairs.preference")
        questions = tuple(
            replace(question, text=wording("head.preference"))
            if question.text == text_preference
            else question
            for question in questionnaire.questions
        )
        return replace(
            questionnaire,
            title=title,
            instructions=instructions,
            questions=questions,
            medium="head",
        )
