"""The open link of a study: a page that says what the study is about, asks the screening questions, and
gives a place to whoever posts its form. Looking at the page changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from wellput.studies.enrolment import (
    Enrolment,
    Person,
    Place,
    enrol,
    enrolment_of,
    own_place,
    person_of,
)
from wellput.studies.forms import Form, PostedForm, check_csrf
from wellput.studies.judge_pages import home_of
from wellput.studies.rendering import page
from wellput.studies.security import browser_key
from wellput.studies.store import Store
from wellput.studies.study_transactions import StudyTransaction
from wellput.studies.wording import ENGLISH

OPEN_FORM_USER = "open"
"""Who may send the form (`security.csrf_token`): anybody who came by the open link."""
PARAMETER_PREFIX = "parameter-"
ANSWER_PREFIX = "screening-"
"""The names of fields of the form begin so: those that keep the parameters of the address, by which a
platform names a person, and those of the screening questions."""


def open_router(store: Store) -> APIRouter:
    router = APIRouter(prefix="/open", include_in_schema=False)
    words = store.setup.words

    def link_with(key: str) -> Enrolment:
        """The open link with this key, as the database has it now. Raises an HTTP error 404 for any
        other key."""
        enrolment = store.enrolment
        if enrolment is None or key != enrolment.key:
            raise HTTPException(404, ENGLISH("errors.unknown_link"))
        return enrolment

    def message(request: Request, name: str, status: int = 200) -> Response:
        """A page with the heading `open.{name}` and the text `open.{name}_text` of a language file."""
        return page(
            request,
            "message.html",
            status=status,
            **common(store),
            heading=words(f"open.{name}"),
            text=words(f"open.{name}_text"),
        )

    def welcome(
        request: Request, enrolment: Enrolment, person: Person, reasons: list[str] | None = None
    ) -> Response:
        return page(
            request,
            "open.html",
            form_user=OPEN_FORM_USER,
            status=422 if reasons else 200,
            **common(store),
            action=enrolment.path,
            instructions=store.questionnaire.instructions,
            screening=enrolment.screening,
            parameters={f"{PARAMETER_PREFIX}{n}": v for n, v in person.fields.items()},
            prefix=ANSWER_PREFIX,
            is_preview=person.is_preview,
            reasons=reasons or (),
        )

    @router.get("/{key}")
    def look(request: Request, key: str) -> Response:
        enrolment = link_with(key)
        person = person_of(request.query_params, browser_key(request))
        with store.database.read() as connection:
            place = own_place(enrolment, connection, person)
        if place is not None and place.token is not None:
            return RedirectResponse(home_of(place.token), 303)
        if place is not None:  # a place without a token is a refusal
            return message(request, "refused")
        if store.state != "open":  # a paused or closed study says that it has no free place
            return message(request, "full")
        return welcome(request, enrolment, person)

    @router.post("/{key}")
    async def take_place(request: Request, key: str, form: PostedForm) -> Response:
        enrolment = await run_in_threadpool(link_with, key)
        check_csrf(request, OPEN_FORM_USER, form)
        parameters = {
            name.removeprefix(PARAMETER_PREFIX): value
            for name, value in form.items()
            if name.startswith(PARAMETER_PREFIX)
        }
        person = person_of(parameters, browser_key(request))
        given = screening_answers(enrolment, form)
        if person.is_preview or len(given) < len(enrolment.screening):
            reasons = [] if person.is_preview else [words("open.answer_all")]
            return welcome(request, enrolment, person, reasons)
        is_accepted = all(
            answer in question.accepted
            for answer, question in zip(given, enrolment.screening, strict=True)
        )

        def take(transaction: StudyTransaction) -> Place | None:
            # Read again: another server may have changed the number of places.
            current = enrolment_of(transaction)
            if current is None or transaction.state != "open":
                return None
            return enrol(current, transaction, person, store.clock(), is_accepted=is_accepted)

        place = await store.grouped_writes.do(take)
        if place is not None and place.token is not None:
            return RedirectResponse(home_of(place.token), 303)
        return message(request, "refused" if place and place.state == "refused" else "full")

    return router


def screening_answers(enrolment: Enrolment, form: Form) -> list[str]:
    """The answers to the screening questions, in their order; unanswered questions are left out."""
    given = [form.get(f"{ANSWER_PREFIX}{n}", "") for n in range(len(enrolment.screening))]
    return [
        answer
        for answer, question in zip(given, enrolment.screening, strict=True)
        if answer in question.choices
    ]


def common(store: Store) -> Mapping[str, Any]:
    """Values that all pages here need. Their templates name the scripts of the trials, too, because the
    browser goes on to the trials by exchanging a part of the page, without loading further scripts."""
    return {
        "title": store.questionnaire.title,
        "words": store.setup.words,
        "design": store.setup.design,
        "medium": store.setup.medium,
    }
