"""Error spans from a machine judge. The machine quotes the wrong parts of a text, with a severity and a
category for each. The quotes are searched in the text to find the place of each span. An answer with a
quote that is not in the text is not allowed.

The value of a judgment is minus the sum of the weights of its errors, as for MQM: minor 1, major 5.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from wellput.core.errors import InputError
from wellput.core.judgment import MISSING
from wellput.studies.designs.base import Design
from wellput.studies.questionnaire import Layout, Questionnaire
from wellput.studies.questions import Question, is_storable

WEIGHTS: Mapping[str, float] = {"minor": 1.0, "major": 5.0}
SPANS_TOKENS = 512
"""The limit on the tokens of an answer, unless the user sets one."""
MAX_SPANS = 100
"""An answer with more spans is not allowed."""
FENCE = "```"

HOW_TO_ANSWER = (
    "Answer with a JSON list and nothing else. Each error is an object with the keys "
    '"quote" (the wrong words, exactly as they stand in the text), "severity" ("minor" or "major") and '
    '"category" (a word or two). For something that is left out, give "missing" (what is missing) '
    "instead of the quote. Without errors, answer []."
)


@dataclass(frozen=True)
class SpansDesign(Design):
    """The design in which a machine marks the errors of each output."""

    name: ClassVar[str] = "spans"
    title: ClassVar[str] = "What is wrong?"
    instructions: ClassVar[str] = (
        "You will read texts, some of them with a short paragraph that leads up to them. Mark every "
        "error in each text, once, as few words as show it. An error is major if it changes the "
        "meaning or makes the text hard to understand, else minor.\n\n"
        "There is no time limit."
    )
    default_questions: ClassVar[tuple[str, ...]] = ("errors",)
    layouts: ClassVar[tuple[Layout, ...]] = ("single",)

    def question(self, name: str) -> Question:
        text = "Which parts of this text are wrong?"
        return Question(
            name,
            text if name == "errors" else f"Which parts are wrong in {name}?",
            kind="answer",  # free text: the list of spans in JSON
        )


def spans_questionnaire(record: Mapping[str, Any], names: Sequence[str]) -> Questionnaire:
    """The questionnaire from the settings of a file (`record`), or with the questions of these
    `names`."""
    design = SpansDesign()
    entries = {entry.get("name", ""): entry for entry in record.get("questions", [])}
    questions = []
    for name in names or tuple(entries) or design.default_questions:
        usual = design.question(name)
        entry = entries.get(name, {})
        if set(entry) - {"name", "text"}:
            raise InputError("A question of the design spans has a name and a text, nothing else.")
        questions.append(Question(name, entry.get("text", usual.text), kind="answer"))
    questionnaire = Questionnaire(
        design.name,
        tuple(questions),
        record.get("title", design.title),
        record.get("instructions", design.instructions),
        design.words("thanks.text"),
    )
    design.check(questionnaire)
    return questionnaire


def read_spans(text: str, answer: str) -> list[dict[str, Any]] | None:
    """The spans of an answer with their places in the text, in characters; None if the answer is not
    allowed. If the same words are quoted twice, the second quote means their second place in the
    text."""
    try:
        records = json.loads(_without_fence(answer.strip()))
    except (ValueError, RecursionError):
        return None
    if not isinstance(records, list) or len(records) > MAX_SPANS:
        return None
    spans: list[dict[str, Any]] = []
    next_place: dict[str, int] = {}
    for record in records:
        if not isinstance(record, dict):
            return None
        quote, missing = record.get("quote"), record.get(MISSING)
        severity, category = record.get("severity"), record.get("category", "")
        if not isinstance(severity, str) or severity not in WEIGHTS:
            return None
        if not isinstance(category, str) or not is_storable(category):
            return None
        about = {"severity": severity, "category": category}
        if isinstance(quote, str) and quote and missing is None:
            start = text.find(quote, next_place.get(quote, 0))
            if start < 0:
                return None
            next_place[quote] = end = start + len(quote)
            spans.append({"start": start, "end": end, **about, "text": quote})
        elif isinstance(missing, str) and missing and is_storable(missing) and quote is None:
            spans.append({"start": MISSING, "end": MISSING, **about, "text": missing})
        else:
            return None
    return spans


def _without_fence(text: str) -> str:
    """The text without the lines ``` of a markdown block of code around it, if there are any."""
    if len(text) < 2 * len(FENCE) or not (text.startswith(FENCE) and text.endswith(FENCE)):
        return text
    return text.removeprefix(FENCE).removesuffix(FENCE).removeprefix("json")


def spans_value(spans: Sequence[Mapping[str, Any]]) -> float:
    """Minus the sum of the weights of the spans' severities."""
    return 0.0 - sum(WEIGHTS[span["severity"]] for span in spans)
