"""The pages of a judge: consent, questions about the judge, trials one after another, thanks.

The address of an invitation always shows what comes next, on any device. Forms are answered with a
redirect there, so that reloading a page never sends an answer twice.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from wellput.judge.answers import AnswerError, from_text
from wellput.judge.api import MAXIMUM_MS
from wellput.judge.designs import Design, Progress, Shown
from wellput.judge.forms import Form, check_csrf, read_form
from wellput.judge.gate import Gate
from wellput.judge.rendering import page
from wellput.judge.store import JudgeRef, Store, StudyClosed

Key = tuple[str | None, str]
"""A field of a trial's form: the variant (None for one variant or a pair) and the question."""

MESSAGES = {
    "paused": (
        "The study is paused",
        "Your answers so far are saved. Please come back later with the same link.",
    ),
    "closed": ("The study is closed", "Thank you for taking part. Your answers are saved."),
}
KEYS = {
    "points": "Keys: {low}–{high} choose · ← → move · Enter next",
    "pair": "Keys: ← first · → second · Enter next",
    "tie": "Keys: ← first · → second · T no difference · Enter next",
    "slider": "Keys: ← → move, or type a number · Enter next",
    "options": "Keys: 1–{count} choose · Enter next",
    "typed": "Enter: next",
}


def pages_router(store: Store, gate: Gate) -> APIRouter:
    router = APIRouter(prefix="/judge/{token}", include_in_schema=False)
    design = store.design

    def admitted(request: Request, token: str, form: Form = Depends(read_form)) -> JudgeRef:
        judge = gate.judge(request, token)
        if request.method == "POST":
            check_csrf(request, token, form)
        return judge

    @router.get("")
    def home(request: Request, token: str, judge: JudgeRef = Depends(admitted)) -> Response:
        common: dict[str, Any] = {"title": design.title, "home": home_of(token), "holder": token}
        if design.consent is not None and not judge.has_consented:
            return page(request, "consent.html", **common, consent=design.consent, reasons=())
        if design.demographics and not judge.has_demographics:
            return page(
                request,
                "demographics.html",
                **common,
                fields=design.demographics,
                values={},
                reasons=(),
            )
        try:
            trial = store.next_trial(judge)
        except StudyClosed as error:
            heading, text = MESSAGES[error.state]
            return page(request, "message.html", **common, heading=heading, text=text)
        progress = store.progress(judge)
        if trial is None:
            return page(
                request,
                "thanks.html",
                **common,
                progress=progress,
                thanks=design.thanks,
                can_undo=progress.done > 0 and design.kind != "task",
            )
        return trial_page(request, design, token, trial, progress)

    @router.post("/consent")
    def consent(
        request: Request,
        token: str,
        judge: JudgeRef = Depends(admitted),
        form: Form = Depends(read_form),
    ) -> Response:
        if form.get("agree") == "yes":
            store.consent(judge)
        return back_to(token)

    @router.post("/demographics")
    def demographics(
        request: Request,
        token: str,
        judge: JudgeRef = Depends(admitted),
        form: Form = Depends(read_form),
    ) -> Response:
        given = {field.name: form.get(field.name, "").strip() for field in design.demographics}
        try:
            store.demographics(judge, {name: text for name, text in given.items() if text})
        except AnswerError as error:
            return page(
                request,
                "demographics.html",
                holder=token,
                status=422,
                title=design.title,
                home=home_of(token),
                fields=design.demographics,
                values=given,
                reasons=error.reasons,
            )
        return back_to(token)

    @router.get("/trials/{trial_id}")
    def trial(
        request: Request, token: str, trial_id: str, judge: JudgeRef = Depends(admitted)
    ) -> Response:
        if not may_answer(design, judge):
            return back_to(token)
        return trial_page(request, design, token, own_trial(judge, trial_id), store.progress(judge))

    @router.post("/trials/{trial_id}")
    def answer(
        request: Request,
        token: str,
        trial_id: str,
        judge: JudgeRef = Depends(admitted),
        form: Form = Depends(read_form),
    ) -> Response:
        if not may_answer(design, judge):
            return back_to(token)
        shown = own_trial(judge, trial_id)
        try:
            store.record(judge, trial_id, answers_in(shown, form), ms=elapsed(form))
        except StudyClosed:
            return back_to(token)
        except AnswerError as error:
            return trial_page(
                request,
                design,
                token,
                shown,
                store.progress(judge),
                given=form,
                reasons=[in_words(shown, reason) for reason in error.reasons],
            )
        return back_to(token)

    @router.post("/undo")
    def undo(token: str, judge: JudgeRef = Depends(admitted)) -> Response:
        with suppress(StudyClosed):
            store.undo(judge)
        return back_to(token)

    def own_trial(judge: JudgeRef, trial_id: str) -> Shown:
        shown = store.trial(judge, trial_id)
        if shown is None:
            raise HTTPException(404, "There is no such page. Please open your link again.")
        return shown

    return router


def home_of(token: str) -> str:
    return f"/judge/{token}"


def back_to(token: str, where: str = "") -> Response:
    return RedirectResponse(home_of(token) + where, 303)


def may_answer(design: Design, judge: JudgeRef) -> bool:
    return design.consent is None or judge.has_consented


def trial_page(
    request: Request,
    design: Design,
    token: str,
    trial: Shown,
    progress: Progress,
    *,
    given: Form | None = None,
    reasons: list[str] | None = None,
) -> Response:
    """A trial with its form: as it was answered before, or as it was `given` and refused."""
    fields = field_names(trial)
    values = {
        key: value_of(trial, key) if given is None else given.get(name, "")
        for key, name in fields.items()
    }
    is_changing = bool(trial.answers)
    return page(
        request,
        "trial.html",
        holder=token,
        status=422 if reasons else 200,
        title=design.title,
        home=home_of(token),
        progress=progress,
        instructions=design.instructions,
        show_instructions=progress.done == 0 and not is_changing and not reasons,
        heading=f"Trial {min(progress.done + 1, progress.total)} of {progress.total}",
        trial=trial,
        is_pair=is_pair(trial),
        fields=fields,
        values=values,
        is_changing=is_changing,
        can_undo=progress.done > 0 and not is_changing and design.kind != "task",
        keys=keys_of(trial),
        now=round(time.time() * 1000),
        reasons=reasons or (),
    )


def in_words(trial: Shown, reason: str) -> str:
    """A reason that names texts by their place, as the page does."""
    for place, variant in enumerate(trial.variants, start=1):
        reason = reason.replace(f"variant {variant.id}", f"text {place}")
    return reason


def is_pair(trial: Shown) -> bool:
    return trial.questions[0].kind == "choice"


def field_names(trial: Shown) -> dict[Key, str]:
    """The name of each field in a trial's form."""
    if is_pair(trial) or len(trial.variants) == 1:
        return {(None, question.name): f"q-{question.name}" for question in trial.questions}
    return {
        (variant.id, question.name): f"q-{variant.id}-{question.name}"
        for variant in trial.variants
        for question in trial.questions
    }


def value_of(trial: Shown, key: Key) -> str:
    """The judge's answer so far as a form writes it, "" for none."""
    variant, question = key
    answers = trial.answers if variant is None else trial.answers.get(variant, {})
    value = answers.get(question, "")
    # 17 digits bring every float back; whole numbers are written as such.
    return f"{value:.17g}" if isinstance(value, float) and value == int(value) else str(value)


def answers_in(trial: Shown, form: Form) -> dict[str, Any]:
    """A form's fields as answers; a question left open is not in them."""
    questions = {question.name: question for question in trial.questions}
    answers: dict[str, Any] = {}
    for (variant, name), field in field_names(trial).items():
        if form.get(field, "") == "":
            continue
        value = from_text(questions[name], form[field])
        if variant is None:
            answers[name] = value
        else:
            answers.setdefault(variant, {})[name] = value
    return answers


def elapsed(form: Form) -> int:
    """Milliseconds the judge took: the browser's clock, without JavaScript the server's."""
    measured = form.get("ms", "")
    if measured.isascii() and measured.isdigit():
        return min(int(measured[:12]), MAXIMUM_MS)
    shown = form.get("shown", "")
    if not (shown.isascii() and shown.isdigit()):
        return 0
    return min(max(round(time.time() * 1000) - int(shown[:15]), 0), MAXIMUM_MS)


def keys_of(trial: Shown) -> str:
    """A line about the keys that answer this trial."""
    question = trial.questions[0]
    if question.kind == "choice":
        return KEYS["tie" if "tie" in question.choices else "pair"]
    if question.kind == "points":
        return KEYS["points"].format(low=f"{question.low:g}", high=f"{question.high:g}")
    if question.kind == "slider":
        return KEYS["slider"]
    if question.choices:
        return KEYS["options"].format(count=min(len(question.choices), 9))
    return KEYS["typed"]
