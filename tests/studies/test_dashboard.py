"""The owner's dashboard: who gets in, what it says, what it does."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.studies.served_study import (
    SYSTEMS,
    answer_fields,
    client_of,
    fields_of,
    new_store,
    submit,
)
from tests.studies.studies import Clock, new_setup
from wellput.core.judgment import Judgment
from wellput.io import read_judgments
from wellput.studies.enrolment import new_enrolment
from wellput.studies.store import Store
from wellput.studies.study_setup import StudyItem


def owner_of(store: Store) -> TestClient:
    client = client_of(store)
    assert client.get(f"/dashboard/{store.owner_token}").headers["location"] == "/dashboard"
    return client


def judge_all(store: Store, token: str, value: str) -> None:
    client = client_of(store)
    while 'id="answer"' in (page := client.get(f"/judge/{token}").text):
        submit(client, page, {**answer_fields(page, value), "ms": "4000"})


def test_only_the_owner_gets_in(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    (invitation,) = store.invite(1)
    client = client_of(store)
    assert client.get(f"/dashboard/{invitation.token}").status_code == 404
    entrance = client.get("/dashboard").text
    assert "Owner’s token" in entrance and invitation.judge not in entrance
    assert client.get("/dashboard/judgments.csv").status_code == 403
    assert client.post("/dashboard/state", data={"state": "closed"}).status_code == 403
    assert submit(client, entrance, {"token": "wrong"}).status_code == 404
    assert submit(client, entrance, {"token": str(store.owner_token)}).status_code == 303
    assert invitation.judge in client.get("/dashboard").text
    forged = client_of(store).get("/dashboard", headers={"Cookie": "wellput_owner=made.up"})
    assert "Owner’s token" in forged.text


def test_signing_out_ends_the_session_on_the_server(tmp_path: Path) -> None:
    """A copy of the cookie is worth nothing after signing out."""
    store = new_store(tmp_path)
    (invitation,) = store.invite(1)
    judge_all(store, invitation.token, "5")
    client = owner_of(store)
    copied = {"Cookie": f"wellput_owner={client.cookies['wellput_owner']}"}
    assert client_of(store).get("/dashboard/judgments.csv", headers=copied).status_code == 200
    page = client.get("/dashboard").text
    assert client.post("/dashboard/leave", data=fields_of(page)).status_code == 303
    assert client_of(store).get("/dashboard/judgments.csv", headers=copied).status_code == 403


def test_the_owner_sees_and_ends_other_sessions(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    mine, other = owner_of(store), owner_of(store)
    page = mine.get("/dashboard").text
    assert page.count("this browser") == 1 and page.count(">End</button>") == 1
    form = page[page.index('action="/dashboard/sessions"') :]
    number = form[form.index('name="session" value="') :].split('"')[3]
    csrf = fields_of(page)["csrf"]
    assert client_of(store).post("/dashboard/sessions", data={"session": number}).status_code == 403
    assert mine.post("/dashboard/sessions", data={"session": number}).status_code == 403
    assert "Owner’s token" not in other.get("/dashboard").text
    assert mine.post("/dashboard/sessions", data={"session": "x", "csrf": csrf}).status_code == 303
    assert (
        mine.post("/dashboard/sessions", data={"session": number, "csrf": csrf}).status_code == 303
    )
    assert "Owner’s token" in other.get("/dashboard").text
    assert ">End</button>" not in mine.get("/dashboard").text


def test_sessions_last_until_a_new_token_or_thirty_days_unused(tmp_path: Path) -> None:
    clock = Clock()
    Store.create(tmp_path / "study.db", new_setup(), clock=clock)
    store = Store.open(tmp_path / "study.db", clock=clock)
    sessions = store.owner_sessions
    token = sessions.begin()
    for _ in range(3):
        clock.now += 29 * 86400
        assert sessions.is_open(token)
    # Another process that serves the study knows it too.
    assert Store.open(tmp_path / "study.db", clock=clock).owner_sessions.is_open(token)
    store.renew_owner_token()
    assert not sessions.is_open(token) and sessions.all_open(token) == []
    token = sessions.begin()
    clock.now += 31 * 86400
    assert not sessions.is_open(token) and sessions.all_open(token) == []


@pytest.mark.heavy
def test_it_tells_progress_time_agreement_and_flags(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    one, other = store.invite(2, ["Ada", "<b>Ben</b>"])
    client = owner_of(store)
    empty = client.get("/dashboard").text
    assert "0<small> of 8</small>" in empty and "No answers yet." in empty
    judge_all(store, one.token, "5")
    judge_all(store, other.token, "3")
    page = client.get("/dashboard").text
    assert "8<small> of 8</small>" in page
    assert "4/4" in page  # Ada's trials, and each item's judgments
    assert "4.0 s" in page
    assert "understandability" in page and ">0.00<" not in page
    assert "&lt;b&gt;Ben&lt;/b&gt;" in page and "<b>Ben" not in page
    # Every answer of a judge alike: nothing varies with the text, so no correlation can be told.
    assert 'data-label="from–to">–</td>' in page


def answer_by_system(store: Store, token: str) -> None:
    """Answers every trial: 6 or 7 in turn for the first system, 1 or 2 for the others."""
    client = client_of(store)
    texts = {item.outputs[SYSTEMS[0]] for item in store.setup.items}
    more = 0
    while 'id="answer"' in (page := client.get(f"/judge/{token}").text):
        value = more + (6 if any(text in unescape(page) for text in texts) else 1)
        more = 1 - more
        submit(client, page, {**answer_fields(page, str(value)), "ms": "4000"})


def test_whom_the_judges_prefer_is_told_and_who_won_at_the_end(tmp_path: Path) -> None:
    items = [
        StudyItem(f"item-{n}", {system: f"Text {n} of {system}." for system in SYSTEMS})
        for n in range(6)
    ]
    store = new_store(tmp_path, items=items)
    one, other = store.invite(2)
    answer_by_system(store, one.token)
    page = owner_of(store).get("/dashboard").text
    assert "Whom the judges prefer so far: " in page
    assert "Too early to distinguish systems" in page and "People prefer" not in page
    assert "holds however often you look" in page
    answer_by_system(store, other.token)
    page = owner_of(store).get("/dashboard").text
    assert "so far: quality" not in page
    assert f"People prefer {SYSTEMS[0]}" in unescape(page)
    assert page.index(f'<th scope="row">{SYSTEMS[0]}') < page.index(f'<th scope="row">{SYSTEMS[1]}')


def test_flags_are_shown(tmp_path: Path) -> None:
    items = [StudyItem(f"item-{n}", {SYSTEMS[0]: f"Text {n}."}) for n in range(10)]
    store = new_store(tmp_path, items=items)
    (invitation,) = store.invite(1)
    judge_all(store, invitation.token, "4")
    assert "straight-lining: every answer to quality is 4" in owner_of(store).get("/dashboard").text


def test_a_study_is_paused_resumed_and_closed(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    client = owner_of(store)
    for button, state in (("Pause", "paused"), ("Resume", "open"), ("Close", "closed")):
        page = client.get("/dashboard").text
        assert f">{button}</button>" in page
        form = {**fields_of(page), "state": state}
        done = client.post("/dashboard/state", data=form)
        assert done.status_code == 303 and store.state == state
    assert client.post("/dashboard/state", data={"state": "open"}).status_code == 403
    for wrong in ({"state": "burned"}, {"seen": "burned"}):
        assert client.post("/dashboard/state", data={**form, **wrong}).status_code == 400
    assert store.state == "closed"


def test_a_button_of_an_old_page_does_not_undo_what_another_window_did(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    client = owner_of(store)
    form = fields_of(client.get("/dashboard").text)
    assert form["seen"] == "open"
    store.set_state("closed")
    refused = client.post("/dashboard/state", data={**form, "state": "paused"})
    assert refused.status_code == 303 and store.state == "closed"
    page = client.get(refused.headers["location"]).text
    assert "the study was open when the page was made, but it is closed now" in page
    # The wish is fulfilled already: there is nothing to say.
    done = client.post("/dashboard/state", data={**form, "state": "closed"})
    assert done.headers["location"] == "/dashboard" and store.state == "closed"
    assert "Nothing was changed" not in client.get("/dashboard").text


def test_the_download_is_what_agree_reads(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    (invitation,) = store.invite(1)
    client = owner_of(store)
    assert client.get("/dashboard/judgments.csv").status_code == 404
    judge_all(store, invitation.token, "6")
    response = client.get("/dashboard/judgments.csv")
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in response.headers["content-disposition"]
    file = tmp_path / "judgments.csv"
    file.write_bytes(response.content)
    judgments = read_judgments(file)
    assert {each.value for each in judgments if isinstance(each, Judgment)} == {6}
    assert {each.system for each in judgments if isinstance(each, Judgment)} == {*SYSTEMS}


def test_signing_out_ends_the_session_and_a_live_page_notices(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    client = owner_of(store)
    csrf = fields_of(client.get("/dashboard").text)["csrf"]
    assert client.post("/dashboard/leave", data={"csrf": csrf}).status_code == 303
    refreshed = client.get("/dashboard", headers={"HX-Request": "true"})
    assert refreshed.headers["hx-refresh"] == "true"
    assert "hx-refresh" not in client.get("/dashboard").headers


def test_an_open_study_waits_for_people_and_needs_no_invitations(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    page = owner_of(store).get("/dashboard").text
    assert "invited so far: invite more." in page
    store.open_enrolment(new_enrolment(quota=9))
    page = owner_of(store).get("/dashboard").text
    assert "who came so far: more must take a place." in page and "invite more" not in page
