"""The JSON interface for judges, for other front ends and for judges that are programs.

The token in the path is the only credential. A response with status 200 or 201 has its own JSON body;
every other response is a `Problem`. The OpenAPI schema has the names of the classes.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, HTTPException, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from wellput.studies.questionnaire import ShownTrial
from wellput.studies.questions import AnswerError, QuestionKind
from wellput.studies.security import Gate
from wellput.studies.store import (
    AlreadyAnswered,
    JudgeRef,
    Outcome,
    Store,
    StudyClosed,
    StudyState,
    UnknownTrial,
)

MAX_ANSWER_MS = 7 * 24 * 3600 * 1000


class ApiVariant(BaseModel):
    id: str = Field(description="Opaque; belongs to this judge's trial alone.")
    text: str
    before: list[str] = Field(description="The texts before it in its document.")
    after: list[str] = Field(description="The texts after it in its document.")
    prefilled: list[dict[str, Any]] | None = Field(
        description="spans: what was marked beforehand; null where nothing was"
    )


class ApiQuestion(BaseModel):
    name: str
    text: str
    kind: QuestionKind
    low: float | None = Field(description="points, slider: the least value; number: above this")
    high: float | None = Field(description="points, slider: the greatest value")
    labels: dict[str, str] = Field(description="Words for some of the values.")
    choices: list[str] = Field(
        description="choice, answer: what can be chosen; empty: any text; spans: the categories"
    )
    severities: list[str] = Field(description="spans: how bad an error can be")


class ApiTrial(BaseModel):
    id: str
    context: str | None
    source: str | None
    references: list[str]
    variants: list[ApiVariant]
    questions: list[ApiQuestion]
    practice: bool


class NextTrial(BaseModel):
    """`trial` is null when all are answered, or while the study is paused or closed."""

    trial: ApiTrial | None
    done: int
    total: int
    state: StudyState


# Strict: a JSON string is not a number. Floats before strings; NaN and infinities are refused.
# Spans are checked against the text of their variant (`marked_spans`).
Value: TypeAlias = Annotated[float, Field(allow_inf_nan=False)] | str | list[dict[str, Any]]


class Answers(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    trial: str = Field(description="The trial's id.")
    answers: dict[str, Value | dict[str, Value]] = Field(
        description="{question: value}; for several variants {variant id: {question: value}}."
    )
    ms: float = Field(
        ge=0,
        le=MAX_ANSWER_MS,
        allow_inf_nan=False,
        description="Milliseconds from showing the trial to its answer.",
    )


class Recorded(BaseModel):
    status: Outcome
    trial: str
    done: int
    total: int


class Problem(BaseModel):
    detail: str
    reasons: list[str]


_ERRORS: dict[int | str, dict[str, Any]] = {
    403: {"model": Problem, "description": "The judge has not consented on the page yet."},
    404: {
        "model": Problem,
        "description": "Nobody has this token, or the trial is not the judge's.",
    },
    413: {"model": Problem, "description": "The body is too large."},
    422: {"model": Problem, "description": "An answer is out of range, unknown or missing."},
    429: {"model": Problem, "description": "Too many unknown tokens from this address."},
    503: {"model": Problem, "description": "The database is busy or full: try again."},
}
_RECORDING_ERRORS: dict[int | str, dict[str, Any]] = {
    200: {"model": Recorded, "description": "The same answer again; nothing was stored."},
    400: {"model": Problem, "description": "The body is not JSON."},
    409: {"model": Problem, "description": "The study is closed, or the answer cannot be changed."},
    **_ERRORS,
}

Token: TypeAlias = Annotated[str, Path(description="The token of a judge's link.")]


def api_router(store: Store, gate: Gate) -> APIRouter:
    router = APIRouter(prefix="/api/judge/{token}", tags=["judge"])

    def admitted(request: Request, token: str) -> JudgeRef:
        judge = gate.judge(request, token)
        if store.questionnaire.consent is not None and not judge.has_consented:
            raise HTTPException(
                403, "This study asks for consent: open the invitation link in a browser first."
            )
        return judge

    @router.get("/next", responses=_ERRORS, summary="The judge's next trial")
    def next_trial(request: Request, token: Token) -> NextTrial:
        judge = admitted(request, token)
        state: StudyState = "open"
        try:
            shown = store.next_trial(judge)
        except StudyClosed as error:
            shown, state = None, error.state
        progress = store.progress(judge)
        return NextTrial(
            trial=None if shown is None else _api_trial(shown),
            done=progress.done,
            total=progress.total,
            state=state,
        )

    @router.post("/answers", status_code=201, responses=_RECORDING_ERRORS, summary="Answer a trial")
    def answer(request: Request, response: Response, token: Token, body: Answers) -> Recorded:
        judge = admitted(request, token)
        try:
            status = store.record(judge, body.trial, body.answers, ms=round(body.ms))
        except UnknownTrial:
            raise HTTPException(404, "The trial is not the judge's.") from None
        except (StudyClosed, AlreadyAnswered) as error:
            raise HTTPException(409, str(error)) from None
        except AnswerError as error:
            raise HTTPException(422, error.reasons) from None
        if status == "repeated":
            response.status_code = 200
        progress = store.progress(judge)
        return Recorded(status=status, trial=body.trial, done=progress.done, total=progress.total)

    return router


def _api_trial(shown: ShownTrial) -> ApiTrial:
    return ApiTrial(
        id=shown.id,
        context=shown.context,
        source=shown.source,
        references=list(shown.references),
        variants=[
            ApiVariant(
                id=variant.id,
                text=variant.text,
                before=list(variant.before),
                after=list(variant.after),
                prefilled=None if variant.prefilled is None else list(map(dict, variant.prefilled)),
            )
            for variant in shown.variants
        ],
        questions=[
            ApiQuestion(
                name=question.name,
                text=question.text,
                kind=question.kind,
                low=question.low,
                high=question.high,
                labels=dict(question.labels),
                choices=list(question.choices),
                severities=list(question.severities),
            )
            for question in shown.questions
        ],
        practice=shown.is_practice,
    )
