"""Schedules as judges see them: performed by the talking head, with speech made when the study is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from wellput.core.displays import words_of
from wellput.core.evalset import EvalSet, Item
from wellput.displays.performance import performance
from wellput.displays.speech import Speech, speak
from wellput.studies.questionnaire import Questionnaire
from wellput.studies.wordings import HEAD_INSTRUCTIONS, HEAD_TITLE, INSTRUCTIONS, TIES, TITLES


def performances(item: Item) -> tuple[dict[str, str], Speech | None, list[str]]:
    """The performance of each schedule as JSON by system, the speech, and what is wrong."""
    schedules = {
        system: output for system, output in item.outputs.items() if isinstance(output, Mapping)
    }
    if not schedules:
        return {}, None, []
    if item.derivation is None:
        return {}, None, [f"item {item.id}: schedules need a derivation with the words"]
    speech = speak(words_of(item.derivation))
    shown = {
        system: json.dumps(performance(item.derivation, schedule, speech))
        for system, schedule in schedules.items()
    }
    return shown, speech, []


def with_head(questionnaire: Questionnaire, evalset: EvalSet) -> Questionnaire:
    """The questionnaire for the head where the evalset has schedules; words of one's own are kept."""
    if not any(isinstance(output, Mapping) for item in evalset for output in item.outputs.values()):
        return questionnaire
    title, instructions, questions = (
        questionnaire.title,
        questionnaire.instructions,
        questionnaire.questions,
    )
    if title == TITLES[questionnaire.kind]:
        title = HEAD_TITLE
    if questionnaire.kind == "pairwise":
        ties = TIES if questionnaire.ties else ""
        if instructions == INSTRUCTIONS["pairwise"].format(ties=ties):
            instructions = HEAD_INSTRUCTIONS.format(ties=ties)
        questions = tuple(
            replace(question, text=question.text.replace("is better put?", "do you prefer?"))
            for question in questions
        )
    return replace(
        questionnaire, title=title, instructions=instructions, questions=questions, medium="head"
    )
