"""The pages of a judge: consent, questions about the judge, trials one after another, thanks.

The address of an invitation always shows what comes next, on any device. After a form, the browser is
redirected there, so that reloading a page never sends an answer twice.

A judge who came by the open link of a study holds one of its *places* (`enrolment`): the place can be
given back, and may go to somebody else while the judge is away.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from wellput.studies.enrolment import filled_completion
from wellput.studies.expected_answers import has_feedback
from wellput.studies.forms import (
    Form,
    PostedForm,
    answers_in,
    check_csrf,
    elapsed,
    field_names,
    in_words,
    keyboard_hint,
    now_ms,
    seconds_kept,
    values_so_far,
)
from wellput.studies.judge_turns import (
    answer_turn,
    find_judge,
    lacks_consent,
    queue_of,
    shown_with_answer,
    time_of_answer,
    visit,
)
from wellput.studies.queries import latest_answer, own_assignment
from wellput.studies.questionnaire import JudgeProgress, ShownTrial
from wellput.studies.questions import AnswerError
from wellput.studies.rendering import page
from wellput.studies.security import Gate
from wellput.studies.shown_trials import shown_trial
from wellput.studies.store import AlreadyAnswered, JudgeRef, Store, StudyClosed
from wellput.studies.study_setup import StudySetup
from wellput.studies.study_transactions import StudyTransaction
from wellput.studies.wording import ENGLISH

DEMOGRAPHIC_PREFIX = "about-"
"""The names of the fields with answers about the judge begin with this. The owner chose the rest of
these names; without the prefix, they could be names of other fields, such as `csrf`."""


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
    async def home(request: Request, token: str) -> Response:
        visited = await store.grouped_writes.do(
            lambda transaction: visit(
                setup,
                transaction,
                token,
                store.clock(),
                asks_demographics=True,
            ),
            token=token,
        )
        judge = gate.admit(request, visited.judge)
        common = common_values(setup, token)
        if not visited.has_place:
            heading, text = words("open.full"), words("open.full_text")
            return page(request, "message.html", **common, heading=heading, text=text)
        if lacks_consent(setup, judge):
            return page(request, "consent.html", **common, consent=questionnaire.consent)
        if visited.turn is None:
            # The place and the consent are there, so the questions about the judge come next.
            return demographics_page(request, setup, token)
        if visited.state != "open" and visited.platform_fields is None:
            heading, text = words(f"states.{visited.state}"), words(f"states.{visited.state}_text")
            return page(request, "message.html", **common, heading=heading, text=text)
        trial, progress = visited.turn.trial, visited.turn.progress
        if trial is not None:
            can_give_back = visited.is_enrolled
            return trial_page(request, setup, token, trial, progress, can_give_back=can_give_back)
        # A code or an address that tells the crowd platform that the judge has finished.
        completion, enrolment = None, visited.enrolment
        if enrolment is not None and visited.platform_fields is not None:
            completion = filled_completion(enrolment, judge.name, visited.platform_fields)
        return page(
            request,
            "thanks.html",
            **common,
            progress=progress,
            thanks=questionnaire.thanks,
            can_undo=visited.state == "open" and can_undo(setup, progress),
            completion=completion,
            is_redirect=enrolment is not None and enrolment.is_redirect,
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
        if lacks_consent(setup, judge):  # nothing about a judge is stored before the consent
            return back_to(token)
        given = {}
        for field in questionnaire.demographics:
            text = form.get(DEMOGRAPHIC_PREFIX + field.name, "")
            # The owner's choices stay as they are, also with a blank at the end.
            given[field.name] = text if field.choices else text.strip()
        try:
            store.demographics(judge, {name: text for name, text in given.items() if text})
        except AnswerError as error:
            return demographics_page(request, setup, token, given, error.reasons)
        return back_to(token)

    @router.get("/trials/{trial_id}")
    def trial(request: Request, token: str, trial_id: str) -> Response:
        judge = gate.judge(request, token)
        if lacks_consent(setup, judge):
            return back_to(token)
        shown = own_trial(judge, trial_id)
        return trial_page(request, setup, token, shown, store.progress(judge))

    @router.get("/trials/{trial_id}/feedback")
    def feedback(request: Request, token: str, trial_id: str) -> Response:
        judge = gate.judge(request, token)
        shown_feedback = None if lacks_consent(setup, judge) else store.feedback(judge, trial_id)
        if shown_feedback is None:
            return back_to(token)
        shown, practice_feedback = shown_feedback
        return page(
            request,
            "feedback.html",
            **common_values(setup, token),
            progress=store.progress(judge),
            trial=shown,
            feedback=practice_feedback,
            can_try_again=setup.design.can_undo,
        )

    @router.get("/trials/{trial_id}/speech")
    def speech(request: Request, token: str, trial_id: str) -> Response:
        judge = gate.judge(request, token)
        wav = None if lacks_consent(setup, judge) else store.speech(judge, trial_id)
        if wav is None:
            raise HTTPException(404, ENGLISH("errors.no_sound"))
        return Response(wav, media_type="audio/wav")

    @router.post("/trials/{trial_id}")
    async def answer(request: Request, token: str, trial_id: str, form: PostedForm) -> Response:
        check_csrf(request, token, form)
        sent = await store.grouped_writes.do(
            lambda transaction: send_form(
                setup, transaction, token, trial_id, form, now=store.clock()
            ),
            token=token,
        )
        gate.admit(request, sent.judge)
        if sent.is_unknown_trial:
            raise HTTPException(404, ENGLISH("errors.no_page"))
        if sent.has_feedback:
            return RedirectResponse(f"{home_of(token)}/trials/{trial_id}/feedback", 303)
        if sent.refused is None:
            return back_to(token)
        shown, progress, reasons = sent.refused
        translated = [in_words(shown, reason, words) for reason in reasons]
        return trial_page(request, setup, token, shown, progress, form, translated)

    @router.post("/return")
    def give_place_back(request: Request, token: str, form: PostedForm) -> Response:
        judge = sender(request, token, form)
        store.give_place_back(judge)
        return page(
            request,
            "message.html",
            **common_values(setup, token),
            heading=words("open.given_back"),
            text=words("open.given_back_text"),
        )

    @router.post("/undo")
    def undo(request: Request, token: str, form: PostedForm) -> Response:
        judge = sender(request, token, form)
        with suppress(StudyClosed):
            store.undo(judge)
        return back_to(token)

    return router


@dataclass(frozen=True, slots=True)
class SentForm:
    """What became of a judge's form. `is_unknown_trial`: the form is for a trial that is not the
    judge's. `refused` has the trial, the judge's progress, and the reasons why the answer was
    refused; None where it was stored. If it `has_feedback`, the judge reads a page about the answer
    next."""

    judge: JudgeRef | None
    is_unknown_trial: bool = False
    has_feedback: bool = False
    refused: tuple[ShownTrial, JudgeProgress, list[str]] | None = None


def send_form(
    setup: StudySetup,
    transaction: StudyTransaction,
    token: str,
    trial_id: str,
    form: Form,
    *,
    now: float,
) -> SentForm:
    """Stores the answer in a form, if the trial is one of this judge's. An answer that the browser
    kept, because it could not be sent, does not replace one that the judge gave later on another
    device."""
    judge = find_judge(transaction, token)
    if judge is None or lacks_consent(setup, judge):
        return SentForm(judge)
    row = own_assignment(transaction.connection, judge.id, trial_id)
    if row is None:
        return SentForm(judge, is_unknown_trial=True)
    kept = seconds_kept(form)
    if kept:
        latest = latest_answer(transaction.connection, row.id)
        # If an answer is in the future, the clock was set back: the one that arrives now is newer.
        if latest is not None and now - kept < time_of_answer(row, latest) <= now:
            return SentForm(judge)
    shown = shown_trial(setup, row, None)
    try:
        given = answers_in(shown, form)
        answer_turn(
            setup,
            transaction,
            judge,
            trial_id,
            given,
            ms=elapsed(form),
            now=now,
            comment=form.get("comment", ""),
            seconds_kept=kept,
        )
    except (StudyClosed, AlreadyAnswered):
        return SentForm(judge)
    except AnswerError as error:
        progress = queue_of(setup, transaction, judge, now).progress()
        shown = shown_with_answer(setup, transaction.connection, row)
        return SentForm(judge, refused=(shown, progress, error.reasons))
    return SentForm(judge, has_feedback=has_feedback(setup, row))


def home_of(token: str) -> str:
    return f"/judge/{token}"


def back_to(token: str) -> Response:
    return RedirectResponse(home_of(token), 303)


def can_undo(setup: StudySetup, progress: JudgeProgress) -> bool:
    """Whether the last answer can be changed."""
    return progress.done > 0 and setup.design.can_undo


def break_note(setup: StudySetup, progress: JudgeProgress) -> str:
    """A sentence that suggests a break, "" where no break is due."""
    every = setup.questionnaire.break_every
    is_under_way = 0 < progress.done < progress.total
    if every is None or not is_under_way or progress.done % every:
        return ""
    return setup.words("pages.take_break", n=progress.done)


def common_values(setup: StudySetup, token: str) -> dict[str, Any]:
    """The values that the templates of all judges' pages need."""
    return {
        "title": setup.questionnaire.title,
        "home": home_of(token),
        "form_user": token,
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
        names={f.name: DEMOGRAPHIC_PREFIX + f.name for f in setup.questionnaire.demographics},
        values=given or {},
        reasons=[setup.words.translated(reason) for reason in reasons or ()],
    )


def trial_page(
    request: Request,
    setup: StudySetup,
    token: str,
    trial: ShownTrial,
    progress: JudgeProgress,
    given: Form | None = None,
    reasons: list[str] | None = None,
    *,
    can_give_back: bool = False,
) -> Response:
    """The page of a trial. Its form is filled with the judge's earlier answer, or with the form `given`
    that was refused, for these `reasons`. With `can_give_back`, the page offers to give the place
    back."""
    fields = field_names(trial)
    if given is None:
        values = values_so_far(trial)
    else:
        values = {key: given.get(name, "") for key, name in fields.items()}
    is_changing = bool(trial.answers)
    now = now_ms()
    ms_since_answer = None if trial.answered_at is None else now - round(1000 * trial.answered_at)
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
        comment=(trial.comment or "") if given is None else given.get("comment", ""),
        is_changing=is_changing,
        can_undo=not is_changing and can_undo(setup, progress),
        can_give_back=can_give_back,
        break_note=break_note(setup, progress),
        keys=keyboard_hint(trial, setup.words),
        now=now,
        ms_since_answer=ms_since_answer,
        reasons=reasons or (),
    )
