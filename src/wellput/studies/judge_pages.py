"""The pages of a judge: consent, questions about the judge, trials one after another, thanks.

The address of an invitation always shows what comes next, on any device. After a form, the browser is
redirected there, so that reloading a page never sends an answer twice.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from wellput.studies.forms import (
    Form,
    PostedForm,
    answers_in,
    check_csrf,
    elapsed,
    field_names,
    in_words,
    keys_of,
    now_ms,
    values_so_far,
)
from wellput.studies.questionnaire import JudgeProgress, Questionnaire, ShownTrial
from wellput.studies.questions import AnswerError
from wellput.studies.rendering import page
from wellput.studies.security import Gate
from wellput.studies.store import AlreadyAnswered, JudgeRef, Store, StudyClosed
from wellput.studies.study_setup import StudySetup
from wellput.studies.wording import ENGLISH


def pages_router(store: Store, gate: Gate) -> APIRouter:
    router = APIRouter(prefix="/judge/{token}", include_in_schema=False)
    setup, questionnaire, words = store.setup, store.questionnaire, store.setup.words

    def sender(request: Request, token: str, form: Form) -> JudgeRef:
        """The judge who sent a form."""
        judge = gate.judge(request, token)
        check_csrf(request, token, form)
        return judge

    def own_trial(judge: JudgeRef, trial_id: str) -> ShownTrial:
        shown = store.trial(judge, trial_id)
        if shown is None:
            raise HTTPException(404, ENGLISH("errors.no_page"))
        return shown

    @router.get("")
    def home(request: Request, token: str) -> Response:
        judge = gate.judge(request, token)
        common = common_values(setup, token)
        if not may_answer(questionnaire, judge):
            return page(request, "consent.html", **common, consent=questionnaire.consent)
        if questionnaire.demographics and not judge.has_demographics:
            return demographics_page(request, setup, token)
        try:
            trial = store.next_trial(judge)
        except StudyClosed as error:
            heading, text = words(f"states.{error.state}"), words(f"states.{error.state}_text")
            return page(request, "message.html", **common, heading=heading, text=text)
        progress = store.progress(judge)
        if trial is not None:
            return trial_page(request, setup, token, trial, progress)
        return page(
            request,
            "thanks.html",
            **common,
            progress=progress,
            thanks=questionnaire.thanks,
            can_undo=can_undo(setup, progress),
        )

    @router.post("/consent")
    def consent(request: Request, token: str, form: PostedForm) -> Response:
        judge = sender(request, token, form)
        if form.get("agree") == "yes":
            store.consent(judge)
        return back_to(token)

    @router.post("/demographics")
    def demographics(request: Request, token: str, form: PostedForm) -> Response:
        judge = sender(request, token, form)
        given = {
            field.name: form.get(field.name, "").strip() for field in questionnaire.demographics
        }
        try:
            store.demographics(judge, {name: text for name, text in given.items() if text})
        except AnswerError as error:
            return demographics_page(request, setup, token, given, error.reasons)
        return back_to(token)

    @router.get("/trials/{trial_id}")
    def trial(request: Request, token: str, trial_id: str) -> Response:
        judge = gate.judge(request, token)
        if not may_answer(questionnaire, judge):
            return back_to(token)
        shown = own_trial(judge, trial_id)
        return trial_page(request, setup, token, shown, store.progress(judge))

    @router.get("/trials/{trial_id}/speech")
    def speech(request: Request, token: str, trial_id: str) -> Response:
        judge = gate.judge(request, token)
        wav = store.speech(judge, trial_id) if may_answer(questionnaire, judge) else None
        if wav is None:
            raise HTTPException(404, ENGLISH("errors.no_sound"))
        return Response(wav, media_type="audio/wav")

    @router.post("/trials/{trial_id}")
    def answer(request: Request, token: str, trial_id: str, form: PostedForm) -> Response:
        judge = sender(request, token, form)
        if not may_answer(questionnaire, judge):
            return back_to(token)
        shown = own_trial(judge, trial_id)
        try:
            store.record(judge, trial_id, answers_in(shown, form), ms=elapsed(form))
        except (StudyClosed, AlreadyAnswered):
            return back_to(token)
        except AnswerError as error:
            reasons = [in_words(shown, reason, words) for reason in error.reasons]
            progress = store.progress(judge)
            return trial_page(request, setup, token, shown, progress, form, reasons)
        return back_to(token)

    @router.post("/undo")
    def undo(request: Request, token: str, form: PostedForm) -> Response:
        judge = sender(request, token, form)
        with suppress(StudyClosed):
            store.undo(judge)
        return back_to(token)

    return router


def home_of(token: str) -> str:
    return f"/judge/{token}"


def back_to(token: str) -> Response:
    return RedirectResponse(home_of(token), 303)


def may_answer(questionnaire: Questionnaire, judge: JudgeRef) -> bool:
    return questionnaire.consent is None or judge.has_consented


def can_undo(setup: StudySetup, progress: JudgeProgress) -> bool:
    """Whether the last answer can be changed."""
    return progress.done > 0 and setup.design.can_undo


def common_values(setup: StudySetup, token: str) -> dict[str, Any]:
    """What every page of a judge needs."""
    return {
        "title": setup.questionnaire.title,
        "home": home_of(token),
        "holder": token,
        "medium": setup.medium,
        "design": setup.design,
        "words": setup.words,
    }


def demographics_page(
    request: Request,
    setup: StudySetup,
    token: str,
    given: Form | None = None,
    reasons: list[str] | None = None,
) -> Response:
    return page(
        request,
        "demographics.html",
        status=422 if reasons else 200,
        **common_values(setup, token),
        fields=setup.questionnaire.demographics,
        values=given or {},
        reasons=[setup.words.again(reason) for reason in reasons or ()],
    )


def trial_page(
    request: Request,
    setup: StudySetup,
    token: str,
    trial: ShownTrial,
    progress: JudgeProgress,
    given: Form | None = None,
    reasons: list[str] | None = None,
) -> Response:
    """A trial with its form, which has the earlier answer, or the one that was `given` and refused."""
    fields = field_names(trial)
    if given is None:
        values = values_so_far(trial)
    else:
        values = {key: given.get(name, "") for key, name in fields.items()}
    is_changing = bool(trial.answers)
    return page(
        request,
        setup.design.template,
        status=422 if reasons else 200,
        **common_values(setup, token),
        progress=progress,
        instructions=setup.questionnaire.instructions,
        show_instructions=progress.done == 0 and not is_changing and not reasons,
        heading=setup.words(
            "pages.trial", number=min(progress.done + 1, progress.total), total=progress.total
        ),
        trial=trial,
        speech=f"{home_of(token)}/trials/{trial.id}/speech",
        fields=fields,
        values=values,
        is_changing=is_changing,
        can_undo=not is_changing and can_undo(setup, progress),
        keys=keys_of(trial, setup.words),
        now=now_ms(),
        reasons=reasons or (),
    )
