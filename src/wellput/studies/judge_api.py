"""The JSON interface for judges: for other front ends than the web pages, and for judges that are
programs.

The token in the path is the only credential. The body of a response with status 200 or 201 is a
`NextTrial` or `Recorded`; the body of every other response is a `Problem`. The OpenAPI schema uses the
names of these classes.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, HTTPException, Path, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field, SkipValidation, model_validator
from pydantic_core import PydanticCustomError
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from wellput.core.errors import WellputError, counted
from wellput.studies.judge_turns import AnswerTurn, answer_turn, find_judge, lacks_consent, visit
from wellput.studies.questionnaire import ShownTrial
from wellput.studies.questions import AnswerError, QuestionKind, quoted
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
from wellput.studies.study_transactions import StudyTransaction

MAX_ANSWER_MS = 7 * 24 * 3600 * 1000
"""Seven days: an answer cannot take longer."""


class ApiVariant(BaseModel):
    id: str = Field(description="Opaque; belongs to this judge's trial alone.")
    text: str
    before: list[str] = Field(description="The texts before it in its document.")
    after: list[str] = Field(description="The texts after it in its document.")
    prefilled: list[dict[str, Any]] | None = Field(
        description="The error spans that are marked beforehand; null if the study has none."
    )


class ApiQuestion(BaseModel):
    name: str
    text: str
    kind: QuestionKind
    low: float | None = Field(
        description="The lowest value (points, slider); a value must be above it (number)."
    )
    high: float | None = Field(description="The highest value (points, slider).")
    labels: dict[str, str] = Field(description="Words for some of the values.")
    choices: list[str] = Field(
        description="What can be chosen (choice, answer), or the categories of errors (spans). If "
        "empty: an answer may be any text, and errors have no categories."
    )
    severities: list[str] = Field(description="How bad an error can be (spans).")


class ApiTrial(BaseModel):
    id: str
    context: str | None
    source: str | None
    references: list[str]
    variants: list[ApiVariant]
    questions: list[ApiQuestion]
    practice: bool
    comments: bool = Field(description="Whether judges may add a comment.")


class NextTrial(BaseModel):
    """`trial` is null when all are answered, or while the study is paused or closed."""

    trial: ApiTrial | None
    done: int
    total: int
    state: StudyState


Value: TypeAlias = Annotated[float, Field(allow_inf_nan=False)] | str | list[dict[str, Any]]


class Answers(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")  # a JSON string is not taken as a number

    trial: str = Field(description="The trial's id.")
    # The type is for the schema only: the questions of the trial check the values (`checked_answers`).
    # pydantic would note several errors for each of the thousands of values that fit into a body.
    answers: SkipValidation[dict[str, Value | dict[str, Value]]] = Field(
        description="{question: value}; for several variants {variant id: {question: value}}."
    )
    ms: float = Field(
        ge=0,
        le=MAX_ANSWER_MS,
        allow_inf_nan=False,
        description="Milliseconds from showing the trial to its answer.",
    )
    comment: str = Field("", description="What the judge adds, in a study with comments.")

    @model_validator(mode="before")
    @classmethod
    def check_keys(cls, body: object) -> object:
        """Refuses unknown keys with one error. pydantic would note an error for each."""
        unknown = body.keys() - cls.model_fields.keys() if isinstance(body, dict) else ()
        if unknown:
            message = f"{counted(len(unknown), 'unknown key')}, such as {quoted(min(unknown))}"
            raise PydanticCustomError("unknown_keys", "{message}", {"message": message})
        return body


class ApiFeedback(BaseModel):
    """What a judge reads after a practice trial."""

    right: bool | None = Field(
        description="Whether the answer is as expected; null: none is expected."
    )
    text: str


class Recorded(BaseModel):
    status: Outcome
    trial: str
    done: int
    total: int
    feedback: ApiFeedback | None = Field(description="After some practice trials.")


class Problem(BaseModel):
    detail: str
    reasons: list[str]


_ERRORS: dict[int | str, dict[str, Any]] = {
    403: {"model": Problem, "description": "The judge has not consented on the page yet."},
    409: {"model": Problem, "description": "The place was given to somebody else."},
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
    **_ERRORS,
    200: {"model": Recorded, "description": "The same answer again; nothing was stored."},
    400: {"model": Problem, "description": "The body is not JSON."},
    409: {"model": Problem, "description": "The study is closed, or the answer cannot be changed."},
}

Token: TypeAlias = Annotated[str, Path(description="The token of a judge's link.")]


def api_router(store: Store, gate: Gate) -> APIRouter:
    class JudgeRoute(APIRoute):
        """A route that refuses an unknown token before it reads the body: a stranger must not make
        the server work."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def handle_judge(request: Request) -> Response:
                token = request.path_params["token"]
                if not gate.has_admitted(token):
                    await run_in_threadpool(gate.judge, request, token)
                return await handle(request)

            return handle_judge

    router = APIRouter(prefix="/api/judge/{token}", tags=["judge"], route_class=JudgeRoute)

    def check_consent(judge: JudgeRef) -> None:
        if lacks_consent(store.setup, judge):
            raise HTTPException(
                403, "This study asks for consent: open the invitation link in a browser first."
            )

    @router.get(
        "/next", response_model=NextTrial, responses=_ERRORS, summary="The judge's next trial"
    )
    async def next_trial(request: Request, token: Token) -> Response:
        visited = await store.grouped_writes.do(
            lambda transaction: visit(store.setup, transaction, token, store.clock()),
            token=token,
        )
        check_consent(gate.admit(request, visited.judge))
        if visited.turn is None:
            raise HTTPException(409, "The place in this study was given to somebody else.")
        shown, progress = visited.turn.trial, visited.turn.progress
        return JSONResponse(
            {
                "trial": None if shown is None else _api_trial(shown),
                "done": progress.done,
                "total": progress.total,
                "state": visited.state,
            }
        )

    @router.post(
        "/answers",
        status_code=201,
        response_model=Recorded,
        responses=_RECORDING_ERRORS,
        summary="Answer a trial",
    )
    async def answer(request: Request, token: Token, body: Answers) -> Response:
        def record(transaction: StudyTransaction) -> tuple[JudgeRef | None, AnswerTurn | Exception]:
            judge = find_judge(transaction, token)
            if judge is None or lacks_consent(store.setup, judge):
                return judge, LookupError()  # `admit` or `check_consent` refuses the request below
            try:
                turn = answer_turn(
                    store.setup,
                    transaction,
                    judge,
                    body.trial,
                    body.answers,
                    ms=round(body.ms),
                    now=store.clock(),
                    comment=body.comment,
                )
            except WellputError as error:  # nothing was written
                return judge, error
            return judge, turn

        judge, turn = await store.grouped_writes.do(record, token=token)
        check_consent(gate.admit(request, judge))
        match turn:
            case AnswerTurn():
                progress = turn.progress
            case UnknownTrial():
                raise HTTPException(404, "The trial is not the judge's.")
            case StudyClosed() | AlreadyAnswered():
                raise HTTPException(409, str(turn))
            case AnswerError():
                raise HTTPException(422, turn.reasons)
            case _:
                raise turn
        return JSONResponse(
            {
                "status": turn.outcome,
                "trial": body.trial,
                "done": progress.done,
                "total": progress.total,
                "feedback": None
                if turn.feedback is None
                else {"right": turn.feedback.is_right, "text": turn.feedback.text},
            },
            200 if turn.outcome == "repeated" else 201,
        )

    return router


def _api_trial(shown: ShownTrial) -> dict[str, Any]:
    """An `ApiTrial` as plain values, since making an object of the class for each of thousands of
    requests takes time."""
    return {
        "id": shown.id,
        "context": shown.context,
        "source": shown.source,
        "references": list(shown.references),
        "variants": [
            {
                "id": variant.id,
                "text": variant.text,
                "before": list(variant.before),
                "after": list(variant.after),
                "prefilled": None if variant.prefilled is None else list(variant.prefilled),
            }
            for variant in shown.variants
        ],
        "questions": [
            {
                "name": question.name,
                "text": question.text,
                "kind": question.kind,
                "low": question.low,
                "high": question.high,
                "labels": dict(question.labels),
                "choices": list(question.choices),
                "severities": list(question.severities),
            }
            for question in shown.questions
        ],
        "practice": shown.is_practice,
        "comments": shown.comment is not None,
    }
