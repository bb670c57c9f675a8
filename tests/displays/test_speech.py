"""Speech with the times of its words, and the performance made from it."""

from __future__ import annotations

import io
import wave

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.programs import needs
from wellput.displays.talking_head import (
    MIN_MOTION_SECONDS,
    SAMPLES_PER_SECOND,
    Speech,
    cut_into_runs,
    lengths_and_pauses,
    performance,
    silent_speech,
    speak,
    word_times,
)


def check_sound(speech: Speech, words: list[str]) -> None:
    assert len(speech.words) == len(words)
    edges = [time for pair in speech.words for time in pair]
    assert edges == sorted(edges) and edges[0] >= 0 and edges[-1] <= speech.duration + 0.01
    times = [frame[0] for frame in speech.mouth]
    assert times == sorted(times)
    assert all(0 <= value <= 1 for _, *shape in speech.mouth for value in shape)


@needs("espeak-ng")
def test_espeak_speaks_with_a_time_for_every_word() -> None:
    words = [
        "Although",
        "it",
        "is",
        "hardy",
        ",",
        "the",
        "rose",
        "in",
        "the",
        "pot",
        "costs",
        "42",
        "pounds",
    ]
    speech = speak(words)
    check_sound(speech, words)
    assert speech.wav is not None
    with wave.open(io.BytesIO(speech.wav)) as file:
        assert file.getnframes() / file.getframerate() == pytest.approx(speech.duration, abs=0.01)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(float)
    # Words sound, and the pause at the comma does not.
    loudness = [
        float(
            np.sqrt(
                np.mean(samples[int(a * SAMPLES_PER_SECOND) : int(b * SAMPLES_PER_SECOND)] ** 2)
            )
        )
        for a, b in speech.words
    ]
    assert all(loud > 300 for word, loud in zip(words, loudness, strict=True) if word != ",")
    assert speech.words[5][0] - speech.words[3][1] > 0.1


def test_without_the_program_times_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    words = ["A", "fern,", "!", "tall"]
    speech = speak(words)
    check_sound(speech, words)
    assert speech.wav is None and speech.words == silent_speech(words).words
    assert speak([]).words == ()


def test_lengths_are_read_off_the_gaps() -> None:
    def sound(seconds: float) -> list[int]:
        return [500] * round(seconds * SAMPLES_PER_SECOND)

    def silence(seconds: float) -> list[int]:
        return [0] * round(seconds * SAMPLES_PER_SECOND)

    apart = np.array(
        sound(0.4) + silence(0.3) + sound(0.2) + silence(0.45) + sound(0.5) + silence(0.6), np.int16
    )
    lengths, pauses = lengths_and_pauses(apart)
    assert lengths == pytest.approx([0.4, 0.2, 0.5], abs=1e-3)
    assert pauses == pytest.approx([0, 0.15, 0.3], abs=1e-3)  # beyond the gap of 0.3


def test_words_spoken_as_one_share_its_time() -> None:
    pieces = [(0.0, 0.2), (0.2, 0.8), (0.8, 1.4)]
    times = word_times(["we", "in", "the", "garden"], pieces)
    assert times[0] == (0.0, 0.2) and times[3] == (0.8, 1.4)
    assert list(times[1]) == pytest.approx([0.2, 0.2 + 0.6 * 3 / 7], abs=1e-3)
    assert word_times(["42", "pounds"], pieces) == [(0.0, 0.2), (0.2, 1.4)]


@given(st.lists(st.floats(0.1, 5), min_size=1, max_size=8), st.integers(1, 8))
def test_runs_cover_everything_in_order(long: list[float], k: int) -> None:
    short = long[: min(k, len(long))]
    runs = cut_into_runs(long, short)
    assert [a for a, _ in runs] == [0, *(b for _, b in runs[:-1])]
    assert runs[-1][1] == len(long) and all(a < b for a, b in runs)


def test_a_motion_lies_on_the_words_of_its_node() -> None:
    derivation = {
        "id": "s",
        "children": [{"id": f"w{i}", "word": f"x{i}"} for i in range(3)],
    }
    speech = Speech(((0.1, 0.2), (0.3, 0.9), (1.0, 1.6)), (), 2.0)
    shown = performance(derivation, {"w0": ["nd=d"], "w1..w2": ["sq"], "s": ["ln=l"]}, speech)
    assert shown["motions"] == [
        ["nd=d", 0.1, 0.1 + MIN_MOTION_SECONDS],
        ["ln=l", 0.1, 1.6],
        ["sq", 0.3, 1.6],
    ]
    assert shown["words"][1] == ["x1", 0.3, 0.9]
