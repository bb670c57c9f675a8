"""Forms as browsers post them, with a check that this server made the form for this browser; and the
form of a trial: the names of its fields, the answers in them, and the time that the answer took.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, TypeAlias

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
        fields = list(fields_in((await request.body()).decode("ascii")))
    except ValueError:
        raise HTTPException(400, ENGLISH("errors.bad_form")) from None
    return {with_line_feeds(name): with_line_feeds(value) for name, value in fields}


def fields_in(body: str) -> Iterator[tuple[str, str]]:
    """The names and values in the body of a form, in ASCII characters, as `urllib.parse.parse_qsl`
    gives them. Raises ValueError for too many fields and for a % without two hexadecimal digits.

    >>> list(fields_in("q-tone=4&comment=so+%C2%ABso%C2%BB"))
    [('q-tone', '4'), ('comment', 'so «so»')]
    """
    if body.count("&") >= MAX_FORM_FIELDS:
        raise ValueError("too many fields")
    for field in filter(None, body.split("&")):
        name, _, value = field.partition("=")
        yield _unquoted(name), _unquoted(value)


def _unquoted(text: str) -> str:
    """A name or value without the escapes of a form. Python's own function needs 20 ms or more for
    the escapes that fit into one body; in this time nobody else is answered."""
    if "%" not in text and "\\" not in text:
        return text.replace("+", " ")
    # %41 becomes \x41, which the decoder of Python's string literals reads quickly.
    escaped = text.replace("+", " ").replace("\\", "%5C").replace("%", "\\x")
    in_bytes = escaped.encode("ascii").decode("unicode_escape").encode("latin-1")
    return in_bytes.decode("utf-8", "replace")


PostedForm: TypeAlias = Annotated[Form, Depends(read_form)]


def check_csrf(request: Request, form_user: str, form: Form) -> None:
    """Raises an HTTP error 403 unless this server made the form for this browser and for `form_user`,
    as in `security.csrf_token`."""
    if not csrf_is_valid(request, form_user, form.get(CSRF_FIELD, "")):
        raise HTTPException(403, ENGLISH("errors.other_browser"))


ON_TIME_SECONDS = 5.0
"""A form that was on its way for longer was held by a proxy. The way is measured from the time when the
server made the page (`shown`), so it includes what the clocks of several servers differ by."""

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
    """The judge's answer so far for a field of the form, "" for none."""
    variant, question = key
    answers = trial.answers if variant is None else trial.answers.get(variant, {})
    return answers.get(question, "")


def _field_text(value: Any) -> str:
    """An answer as the text of its field: marks as JSON, whole numbers without a decimal point."""
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
    measured = _whole_number(form, "ms")
    if measured is not None:
        return min(measured, MAX_ANSWER_MS)
    shown = _whole_number(form, "shown")
    return 0 if shown is None else min(max(now_ms() - shown, 0), MAX_ANSWER_MS)


def seconds_kept(form: Form) -> float:
    """How long ago the judge gave an answer: the time for which the browser kept it because it could
    not be sent, and the time for which a proxy held it, if that is longer than `ON_TIME_SECONDS`. 0 for
    one that was sent at once and came on time."""
    kept = (_whole_number(form, "kept_ms") or 0) / 1000
    shown, sent = _whole_number(form, "shown"), _whole_number(form, "sent_ms")
    if shown is None or sent is None:
        return kept
    on_the_way = (now_ms() - shown - sent) / 1000
    return kept + on_the_way if on_the_way > ON_TIME_SECONDS else kept


def _whole_number(form: Form, field: str) -> int | None:
    """The number in a field that scripts fill; None if there is none."""
    text = form.get(field, "")
    return int(text[:15]) if text.isascii() and text.isdigit() else None


def now_ms() -> int:
    return round(time.time() * 1000)


def in_words(trial: ShownTrial, reason: str, words: Wording) -> str:
    """The reason why an answer was refused, in the language of the page. It names a text by its place
    on the page ("text 1") instead of its id."""
    for place, variant in enumerate(trial.variants, start=1):
        reason = reason.replace(f"variant {variant.id}", f"text {place}")
    return words.translated(reason)


def keyboard_hint(trial: ShownTrial, words: Wording) -> str:
    """A line that tells the judge which keys of the keyboard answer this trial."""
    question = trial.questions[0]
    return question.widget.keys(question, words)
