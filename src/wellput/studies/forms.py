"""Forms as browsers post them, with a check that this server made the form for this browser; and the
form of a trial: the names of its fields, the answers in them, and the time that the answer took.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias
from urllib.parse import parse_qsl

from fastapi import Depends, HTTPException, Request

from wellput.core.line_breaks import with_line_feeds
from wellput.studies.judge_api import MAX_ANSWER_MS
from wellput.studies.questionnaire import ShownTrial
from wellput.studies.security import CSRF_FIELD, csrf_is_valid
from wellput.studies.wording import ENGLISH, Wording

Form: TypeAlias = Mapping[str, str]
MAX_FORM_FIELDS = 5000


async def read_form(request: Request) -> Form:
    """The fields of a posted form, with LF for the line breaks, which browsers send as CR LF. If a name
    comes twice, the last one counts."""
    try:
        text = (await request.body()).decode("ascii")
        fields = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS)
    except ValueError:
        raise HTTPException(400, ENGLISH("errors.bad_form")) from None
    return {with_line_feeds(name): with_line_feeds(value) for name, value in fields}


PostedForm: TypeAlias = Annotated[Form, Depends(read_form)]


def check_csrf(request: Request, holder: str, form: Form) -> None:
    """Raises an HTTP error 403 unless this server made the form for this browser and its `holder`: a
    judge's token, or "owner"."""
    if not csrf_is_valid(request, holder, form.get(CSRF_FIELD, "")):
        raise HTTPException(403, ENGLISH("errors.other_browser"))


FieldKey = tuple[str | None, str]
"""A field of a trial's form: the id of a variant (one of the shown texts; None for the whole trial) and
the name of the question."""


def field_names(trial: ShownTrial) -> dict[FieldKey, str]:
    """The name of each field in a trial's form."""
    if not trial.is_by_variant:
        return {(None, question.name): f"q-{question.name}" for question in trial.questions}
    return {
        (variant.id, question.name): f"q-{variant.id}-{question.name}"
        for variant in trial.variants
        for question in trial.questions
    }


def values_so_far(trial: ShownTrial) -> dict[FieldKey, str]:
    """The judge's answers so far as texts of the form, "" for none."""
    return {key: _field_text(_answer(trial, key)) for key in field_names(trial)}


def _answer(trial: ShownTrial, key: FieldKey) -> Any:
    variant, question = key
    answers = trial.answers if variant is None else trial.answers.get(variant, {})
    return answers.get(question, "")


def _field_text(value: Any) -> str:
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value)


def answers_in(trial: ShownTrial, form: Form) -> dict[str, Any]:
    """The answers in a form. Questions without an answer are left out."""
    questions = {question.name: question for question in trial.questions}
    answers: dict[str, Any] = {}
    for (variant, name), field in field_names(trial).items():
        if form.get(field, "") == "":
            continue
        value = questions[name].widget.from_text(form[field])
        if variant is None:
            answers[name] = value
        else:
            answers.setdefault(variant, {})[name] = value
    return answers


def elapsed(form: Form) -> int:
    """Milliseconds that the judge took, by the browser's clock; without JavaScript, by the server's."""
    measured = form.get("ms", "")
    if measured.isascii() and measured.isdigit():
        return min(int(measured[:12]), MAX_ANSWER_MS)
    shown = form.get("shown", "")
    if not (shown.isascii() and shown.isdigit()):
        return 0
    return min(max(now_ms() - int(shown[:15]), 0), MAX_ANSWER_MS)


def now_ms() -> int:
    return round(time.time() * 1000)


def in_words(trial: ShownTrial, reason: str, words: Wording) -> str:
    """The reason why an answer was refused, in the language of the page. It names a text by its place
    on the page ("text 1") instead of its id."""
    for place, variant in enumerate(trial.variants, start=1):
        reason = reason.replace(f"variant {variant.id}", f"text {place}")
    return words.translated(reason)


def keys_of(trial: ShownTrial, words: Wording) -> str:
    """A line that tells the judge which keys of the keyboard answer this trial."""
    question = trial.questions[0]
    return question.widget.keys(question, words)
