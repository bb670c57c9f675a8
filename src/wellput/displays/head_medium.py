"""The talking head in a study: it performs the schedules that judges compare or rate, with speech made
when the study is. `wellput.studies.media` has what is asked of a medium."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

from wellput.core.displays import words_of
from wellput.core.evalset import Item, Output
from wellput.displays.performance import performance
from wellput.displays.speech import speak

if TYPE_CHECKING:
    from wellput.studies.designs.base import Design
    from wellput.studies.questionnaire import Questionnaire

TITLE = "Which do you prefer?"

# Foster 2008, section 3.3: the same words are spoken, only the displays differ.
INSTRUCTIONS = {
    "pairwise": (
        "You will see a talking head say the same sentence in two versions; its face and head move "
        "differently. Play both, as often as you like, and choose the version that you prefer.{ties}"
        "\n\n"
        "There are no right or wrong answers: your first impression is what counts. You can go back "
        "one step, and you can leave at any time and come back with the same link."
    ),
}
"""What judges read, by design, where a design's own words speak of reading."""
QUESTIONS = {"Which version is better put?": "Which version do you prefer?"}
"""Questions that are asked in other words."""


class HeadMedium:
    """Schedules, performed by the head."""

    name = "head"
    shows_text = False
    template = "wellput.displays:head/output.html"
    styles: tuple[str, ...] = ("head.css",)
    scripts: tuple[str, ...] = ("head.js",)
    static: Mapping[str, Traversable] = {
        name: files("wellput.displays") / "head" / name for name in ("head.css", "head.js")
    }

    def takes(self, output: Output) -> bool:
        return isinstance(output, Mapping)

    def prepared(self, item: Item) -> tuple[dict[str, str], bytes | None, list[str]]:
        """The performance of each schedule as JSON, and the speech."""
        schedules = {s: output for s, output in item.outputs.items() if isinstance(output, Mapping)}
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
        title, instructions = questionnaire.title, questionnaire.instructions
        if title == design.title:
            title = TITLE
        if instructions == design.filled_in(design.instructions) and design.name in INSTRUCTIONS:
            instructions = design.filled_in(INSTRUCTIONS[design.name])
        questions = tuple(
            replace(question, text=QUESTIONS.get(question.text, question.text))
            for question in questionnaire.questions
        )
        return replace(
            questionnaire,
            title=title,
            instructions=instructions,
            questions=questions,
            medium="head",
        )
