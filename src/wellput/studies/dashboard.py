"""The owner's dashboard: the state of the study, pause and close, and the answers as a file."""

from __future__ import annotations

import math
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from wellput.agreement.rankings.plain_ranking import (
    ESTIMATE_HEADINGS,
    SEQUENTIAL_NOTE,
    RankedSystem,
    Ranking,
    shown_difference,
    shown_estimate,
    shown_interval,
    shown_rank,
    shown_share,
    winner_sentence,
)
from wellput.io import write_judgments
from wellput.studies.blinding import blinded, code_names
from wellput.studies.designs.base import OWN_SCALES_NOTE
from wellput.studies.forms import PostedForm, check_csrf
from wellput.studies.latest_overviews import LatestOverviews, version_of
from wellput.studies.overview import JudgeOverview
from wellput.studies.payments import payments_csv
from wellput.studies.rendering import page
from wellput.studies.security import BLINDED_COOKIE, OWNER_COOKIE, Gate, owner_session, set_cookie
from wellput.studies.store import STUDY_STATES, Store, StudyState
from wellput.studies.wording import ENGLISH

OWNER_FORM_USER = "owner"
"""Who may send the forms (`security.csrf_token`): the owner, not a judge."""
MILD_SPEED_CHANGE = 1.3
"""A judge whose time per trial changes by less than this factor is called steady."""
SEEN_FIELD = "seen"
"""The name of the field with the state that the owner's page showed. It is in the form that changes the
state, and in the address to which the browser goes if the change was refused."""
STATE_WORDS = {"open": "Open", "paused": "Paused", "closed": "Closed"}
STATE_CHANGES = {
    "open": (("paused", "Pause"), ("closed", "Close")),
    "paused": (("open", "Resume"), ("closed", "Close")),
    "closed": (("open", "Open again"),),
}
"""For each state of the study, the states that the owner can set, with the words on the buttons."""


def dashboard_router(store: Store, gate: Gate) -> APIRouter:
    router = APIRouter(prefix="/dashboard", include_in_schema=False)
    make_overview = partial(store.overview, ranking_may_be_old=True)
    latest = LatestOverviews(make_overview, store.latest_rankings)

    def require_owner(request: Request) -> None:
        if not gate.is_owner(request):
            raise HTTPException(403, "This is for the owner of the study: please sign in again.")

    @router.get("")
    def dashboard(request: Request) -> Response:
        if not gate.is_owner(request):
            entrance = page(
                request, "sign_in.html", form_user=OWNER_FORM_USER, title=store.questionnaire.title
            )
            if "hx-request" in request.headers:
                # Only a part of the page is being refreshed, but signing in needs the whole page.
                entrance.headers["HX-Refresh"] = "true"
            return entrance
        with store.database.read() as connection:
            version = version_of(connection)
        made = latest.get(version)
        if made is None:
            return page(request, "overview_in_making.html", title=store.questionnaire.title)
        overview = replace(made.overview, state=version.state)
        is_blinded = request.cookies.get(BLINDED_COOKIE) == "1"
        rankings = overview.ranking
        if is_blinded:
            rankings = blinded(rankings, code_names(store.setup.systems, store.setup.seed))
        return page(
            request,
            "dashboard.html",
            form_user=OWNER_FORM_USER,
            title=overview.title,
            refused=refusal_to_change(request.query_params.get(SEEN_FIELD), overview.state),
            overview=overview,
            state=STATE_WORDS[overview.state],
            changes=STATE_CHANGES[overview.state],
            now=store.clock(),
            minutes_old=int(latest.seconds_old(made) // 60),
            ago=ago,
            seconds=seconds,
            coefficient=coefficient,
            standing=[standing(ranking) for ranking in rankings],
            is_blinded=is_blinded,
            trend=trend,
            open_link=store.enrolment,
            is_ranking_old=store.latest_rankings.is_old,
            sessions=store.owner_sessions.all_open(owner_session(request)),
        )

    @router.post("")
    def sign_in(request: Request, form: PostedForm) -> Response:
        check_csrf(request, OWNER_FORM_USER, form)
        response = to_dashboard()
        gate.admit_owner(request, form.get("token", "").strip(), response)
        return response

    @router.get("/judgments.csv", dependencies=[Depends(require_owner)])
    def download() -> Response:
        answers = store.judgments()
        if not answers:
            raise HTTPException(404, "There are no answers yet.")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "judgments.csv"
            write_judgments(answers, file)
            content = file.read_bytes()
        headers = {"Content-Disposition": 'attachment; filename="judgments.csv"'}
        return Response(content, media_type="text/csv; charset=utf-8", headers=headers)

    @router.post("/state", dependencies=[Depends(require_owner)])
    def change_state(request: Request, form: PostedForm) -> Response:
        check_csrf(request, OWNER_FORM_USER, form)
        states: dict[str, StudyState] = {state: state for state in STUDY_STATES}
        new, seen = (states.get(form.get(name, "")) for name in ("state", SEEN_FIELD))
        if new is None or seen is None:
            raise HTTPException(400, ENGLISH("errors.bad_form"))
        if not store.set_state(new, seen=seen):
            return RedirectResponse(f"/dashboard?{SEEN_FIELD}={seen}", 303)
        return to_dashboard()

    @router.post("/blinded", dependencies=[Depends(require_owner)])
    def change_blinding(request: Request, form: PostedForm) -> Response:
        check_csrf(request, OWNER_FORM_USER, form)
        response = to_dashboard()
        if form.get("blinded") == "1":
            set_cookie(request, response, BLINDED_COOKIE, "1")
        else:
            response.delete_cookie(BLINDED_COOKIE)
        return response

    @router.get("/payments.csv", dependencies=[Depends(require_owner)])
    def download_payments() -> Response:
        headers = {"Content-Disposition": 'attachment; filename="payments.csv"'}
        content = payments_csv(store.payments())
        return Response(content, media_type="text/csv; charset=utf-8", headers=headers)

    @router.post("/leave", dependencies=[Depends(require_owner)])
    def sign_out(request: Request, form: PostedForm) -> Response:
        check_csrf(request, OWNER_FORM_USER, form)
        store.owner_sessions.end(owner_session(request))
        response = to_dashboard()
        response.delete_cookie(OWNER_COOKIE)
        return response

    @router.post("/sessions", dependencies=[Depends(require_owner)])
    def end_session(request: Request, form: PostedForm) -> Response:
        check_csrf(request, OWNER_FORM_USER, form)
        number = form.get("session", "")
        if number.isascii() and number.isdecimal():
            store.owner_sessions.end_number(int(number[:9]))  # ids have fewer digits
        return to_dashboard()

    # This route stands after those with fixed addresses: any other text in an address is a token.
    @router.get("/{token}")
    def enter(request: Request, token: str) -> Response:
        response = to_dashboard()
        gate.admit_owner(request, token, response)
        return response

    return router


def to_dashboard() -> Response:
    return RedirectResponse("/dashboard", 303)


def refusal_to_change(seen: str | None, state: str) -> str:
    """Why the state was not changed, if the owner's page showed the study in the state `seen`, but it
    is in another `state`. "" where nothing was refused."""
    if seen not in STATE_WORDS or seen == state:
        return ""
    return (
        f"Nothing was changed: the study was {seen} when the page was made, but it is {state} now. "
        "Somebody changed it in another window."
    )


def ago(moment: float | None, now: float, unknown: str = "never") -> str:
    """The time since a moment, in words.

    >>> ago(0, 7300), ago(0, 59), ago(None, 0)
    ('2 h ago', 'just now', 'never')
    """
    if moment is None:
        return unknown
    elapsed = max(now - moment, 0)
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if elapsed >= length:
            return f"{elapsed // length:.0f} {unit} ago"
    return "just now"


def seconds(value: float | None) -> str:
    """Seconds with two significant digits, a dash for None."""
    if value is None:
        return "–"
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"


def trend(judge: JudgeOverview) -> str:
    """How a judge's time per trial changes, in words; a dash where it is not known."""
    if judge.speed is None:
        return "–"
    if 1 / MILD_SPEED_CHANGE < judge.speed < MILD_SPEED_CHANGE:
        return "steady"
    return f"{'slower' if judge.speed > 1 else 'quicker'} ×{max(judge.speed, 1 / judge.speed):.1f}"


def standing(ranking: Ranking) -> dict[str, Any]:
    """The ranking by one question, as the values that the page shows. `at`, `from` and `to` are places
    on a bar, in percent of its length; the bar reaches from the lowest to the highest bound of all
    systems. While judges are at work, the ranking is sequential (it stays valid however often the owner
    looks), and the page shows possible ranks in place of intervals."""
    bounds = [
        bound
        for row in ranking.systems
        for bound in (row.low, row.high, row.estimate)
        if bound is not None
    ]
    low, high = min(bounds), max(bounds)
    span = (high - low) or 1.0

    def percent_of_bar(value: float) -> float:
        return 100 * (value - low) / span

    return {
        "question": ranking.question,
        "heading": ESTIMATE_HEADINGS[ranking.model].capitalize(),
        "sentence": winner_sentence(ranking),
        "is_running": ranking.sequential,
        "notes": [
            *(note for note in ranking.notes if note == OWN_SCALES_NOTE),
            *([SEQUENTIAL_NOTE] if ranking.sequential else []),
        ],
        "scope": ranking.scope if ranking.has_tests else "",
        "bounds": "Possible ranks" if ranking.sequential else "95% interval",
        "gap_heading": "First preferred to it"
        if ranking.model == "win rate"
        else "Behind the first",
        "has_gaps": ranking.sequential and ranking.has_tests and len(ranking.systems) > 1,
        "systems": [
            {
                "system": row.system,
                "estimate": shown_estimate(row.estimate, ranking),
                "interval": _bounds(row, ranking),
                "gap": shown_gap(ranking, row.system),
                "n": row.n,
                "at": percent_of_bar(row.estimate),
                "from": None if row.low is None else percent_of_bar(row.low),
                "to": None if row.high is None else percent_of_bar(row.high),
            }
            for row in ranking.systems
        ],
    }


def shown_gap(ranking: Ranking, system: str) -> str:
    """How far a system is behind the first one, with an interval that stays valid however often the
    owner looks. Where judges choose between two outputs, it is how often the first system is preferred
    to this one when both are shown."""
    first = ranking.systems[0].system
    for difference in ranking.differences:
        gap = difference if difference.systems == (first, system) else difference.swapped
        if gap.systems != (first, system):
            continue
        is_share = ranking.model == "win rate"
        shown = shown_share if is_share else partial(shown_difference, ranking=ranking)
        if math.isnan(gap.delta):
            return "–"
        bounds = (
            "" if gap.low is None or gap.high is None else f" [{shown(gap.low)}, {shown(gap.high)}]"
        )
        return f"{shown(gap.delta)}{bounds}"
    return "–"


def _bounds(row: RankedSystem, ranking: Ranking) -> str:
    if not ranking.sequential:
        return shown_interval(row, ranking)
    return shown_rank(row) if ranking.has_tests else "–"


def coefficient(value: float) -> str:
    """A number with two decimals, a dash for NaN."""
    return "–" if math.isnan(value) else f"{value:.2f}".replace("-", "−")
