"""The talking head: `performance` has the words and motions of a sentence with their times, as plain
values for JSON. With `HeadMedium` the head performs schedules for the judges of a study.

Speech is made when the study is made. `wellput.studies.media` says what a medium must have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

from wellput.core.evalset import Item
from wellput.displays.schedules import (
    Derivation,
    Schedule,
    extents_of,
    schedules_of,
    span_ends,
    words_of,
)
from wellput.displays.speech import Speech, speak

if TYPE_CHECKING:
    from wellput.studies.designs.base import Design
    from wellput.studies.questionnaire import Questionnaire


MIN_MOTION_SECONDS = 0.4
"""A motion lasts at least this long: a shorter one looks like a twitch."""


def performance(derivation: Derivation, schedule: Schedule, speech: Speech) -> dict[str, Any]:
    """`words` as [word, start, end], `motions` as [motion, start, end], `mouth` as [time, open, round];
    `heard` says whether there is sound.

    A motion begins with the first word of its node and ends with the last word.
    """
    extents = extents_of(derivation)
    motions: list[tuple[float, float, str]] = []
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
    """Shows schedules: the head performs them."""

    name = "head"
    shows_text = False
    template = "wellput.displays:head/output.html"
    styles: tuple[str, ...] = ("head.css",)
    scripts: tuple[str, ...] = ("head.js",)
    static: Mapping[str, Traversable] = {
        name: files("wellput.displays") / "head" / name for name in ("head.css", "head.js")
    }

    def prepared(self, item: Item) -> tuple[dict[str, str], bytes | None, list[str]]:
        """The performance of each schedule as JSON, and the speech."""
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
        # Foster 2008, section 3.3: the same words are spoken, only the displays differ.
        words = design.words
        title, instructions = questionnaire.title, questionnaire.instructions
        if title == design.worded_title:
            title = words("head.title")
        key = f"head.{design.name}"
        if instructions == design.worded_instructions and words.has(key):
            instructions = design.filled_in(words(key))
        usual = words("pairs.preference")
        questions = tuple(
            replace(question, text=words("head.preference")) if question.text == usual else question
            for question in questionnaire.questions
        )
        return replace(
            questionnaire,
            title=title,
            instructions=instructions,
            questions=questions,
            medium="head",
        )
