"""The open link: places, people of crowd platforms, screening, the end, payments."""

from __future__ import annotations

import asyncio
import csv
import io
import re
import threading
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

import wellput
from tests.studies.served_study import answer_fields, client_of, new_store, submit
from tests.studies.studies import Clock, answer_all, answer_to, new_setup
from wellput.api.study import Study
from wellput.cli import cli
from wellput.core.errors import InputError
from wellput.studies import schema
from wellput.studies.enrolment import (
    Enrolment,
    Person,
    Place,
    check_completion,
    enrol,
    filled_completion,
    new_enrolment,
    person_of,
)
from wellput.studies.payments import Payment, payments_csv
from wellput.studies.questionnaire import JudgeProgress
from wellput.studies.screening import ScreeningQuestion, read_screening
from wellput.studies.store import JudgeRef, Store
from wellput.studies.study_transactions import StudyTransaction

ENGLISH = ScreeningQuestion("Is English your first language?", ("yes", "no"), ("yes",))


def prolific(name: str) -> Person:
    return person_of({"PROLIFIC_PID": name, "STUDY_ID": "s", "SESSION_ID": "x"}, "")


def open_study(url: str, *, quota: int, clock: Clock | None = None, **settings: object) -> Store:
    store = Store.create(url, new_setup(judges=2, per_item=2), clock=clock or Clock())
    store.open_enrolment(new_enrolment(quota=quota, **settings))  # type: ignore[arg-type]
    return store


def judge_of(store: Store, place: Place) -> JudgeRef:
    assert place.token is not None
    judge = store.judge_of(place.token)
    assert judge is not None
    return judge


def enrol_at(link: Enrolment, person: Person, transaction: StudyTransaction) -> Place:
    return enrol(link, transaction, person, 1_000_000.0)


def test_a_thousand_people_at_once_take_exactly_the_places(url: str) -> None:
    """Two processes' worth of connections, each with five hundred people in groups, and some of them
    twice at the same moment."""
    store = open_study(url, quota=137)
    found: list[Place] = []

    def crowd(first: int) -> None:
        own = Store.open(url)
        link = own.enrolment
        assert link is not None

        async def come() -> None:
            people = [prolific(f"p{number}") for number in range(first, first + 500)]
            asked = [
                own.grouped_writes.do(partial(enrol_at, link, one))
                for one in (*people, *people[:50])
            ]
            found.extend(await asyncio.gather(*asked))

        asyncio.run(come())

    threads = [threading.Thread(target=crowd, args=(first,)) for first in (0, 500)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(place.state for place in found)["full"] >= 1100 - 137 - 100
    assert len({place.token for place in found if place.state == "taken"}) == 137
    with store.database.read() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(schema.judges)) == 137
        assert connection.scalar(sa.select(sa.func.count()).select_from(schema.enrolments)) == 137


def test_a_person_always_comes_back_to_the_same_place(url: str) -> None:
    store = open_study(url, quota=1)
    first = store.enrol(prolific("ann"))
    assert first.state == "taken"
    assert store.enrol(prolific("ann")) == first
    assert store.enrol(prolific("bob")) == Place("full")
    # The same name on another platform is another person.
    assert store.enrol(person_of({"workerId": "ann"}, "")) == Place("full")


def test_a_place_is_free_again_when_its_judge_stays_away(url: str) -> None:
    clock = Clock()
    store = open_study(url, quota=1, clock=clock, place_minutes=10)
    ann = judge_of(store, store.enrol(prolific("ann")))
    held = store.next_trial(ann)
    assert held is not None
    clock.now += 9 * 60
    assert store.enrol(prolific("bob")) == Place("full")
    clock.now += 2 * 60
    bob = judge_of(store, store.enrol(prolific("bob")))
    assert bob.name != ann.name
    # Ann comes back too late. When Bob gives the place back, she has it again.
    assert store.enrol(prolific("ann")) == Place("full")
    store.give_place_back(bob)
    assert judge_of(store, store.enrol(prolific("ann"))).name == ann.name


def test_a_place_that_was_finished_stays_taken(url: str) -> None:
    clock = Clock()
    store = open_study(url, quota=1, clock=clock, place_minutes=10)
    place = store.enrol(prolific("ann"))
    answer_all(store, judge_of(store, place))
    client = client_of(store)
    assert "Thank you" in client.get(f"/judge/{place.token}").text
    clock.now += 24 * 3600
    assert store.enrol(prolific("bob")) == Place("full")
    [payment] = store.payments()
    assert (payment.judge, payment.platform, payment.person) == ("J1", "prolific", "ann")
    assert (payment.finished, payment.returned, payment.answers) == (True, False, 12)


@pytest.mark.parametrize("state", ["open", "paused"])
def test_the_last_answer_finishes_even_if_its_judge_asks_for_no_more(url: str, state: str) -> None:
    clock = Clock()
    store = open_study(url, quota=2, clock=clock, place_minutes=10, completion="CODE-{judge}")
    place, other = (store.enrol(prolific(name)) for name in ("ann", "bob"))
    ann = judge_of(store, place)
    answer_all(store, ann, at_most=11)
    answer_all(store, judge_of(store, other), at_most=11)
    last = store.next_trial(ann)
    assert last is not None and not store.payments()[0].finished
    store.set_state(state)  # type: ignore[arg-type]
    store.record(ann, last.id, answer_to(last), ms=900)
    assert [payment.finished for payment in store.payments()] == [True, False]
    # Also when the study is closed, the page shows the code to those who have finished.
    store.set_state("closed")
    page = client_of(store).get(f"/judge/{place.token}").text
    assert "CODE-J1" in page and "Change my last answer" not in page
    closed = client_of(store).get(f"/judge/{other.token}").text
    assert "CODE" not in closed and "closed" in closed
    clock.now += 24 * 3600
    store.set_state("open")
    store.enrol(prolific("cid"))
    assert [payment.returned for payment in store.payments()] == [False, True, False]


def test_an_answer_that_was_last_for_now_does_not_finish(url: str) -> None:
    """Another judge holds the only other trial, and is away: it is offered next."""
    clock = Clock()
    store = Store.create(url, new_setup(n_items=2, systems="A", judges=1, per_item=1), clock=clock)
    store.open_enrolment(new_enrolment(quota=2))
    bob = judge_of(store, store.enrol(prolific("bob")))
    assert store.next_trial(bob) is not None
    ann = judge_of(store, store.enrol(prolific("ann")))
    first = store.next_trial(ann)
    assert first is not None
    clock.now += 24 * 3600
    store.record(ann, first.id, answer_to(first), ms=900)
    assert store.progress(ann) == JudgeProgress(1, 1)
    assert [payment.finished for payment in store.payments()] == [False, False]
    assert len(answer_all(store, ann)) == 1
    assert [payment.finished for payment in store.payments()] == [False, True]


def test_others_get_the_trial_of_a_place_that_was_given_back(url: str) -> None:
    # One trial for one judge: only by taking it over can the second judge have it.
    store = Store.create(url, new_setup(n_items=1, systems="A", judges=1, per_item=1))
    store.open_enrolment(new_enrolment(quota=1))
    ann = judge_of(store, store.enrol(prolific("ann")))
    assert store.next_trial(ann) is not None
    store.give_place_back(ann)
    bob = judge_of(store, store.enrol(prolific("bob")))
    assert store.next_trial(bob) is not None


def test_a_judge_invited_by_name_has_no_place_to_give_back(url: str) -> None:
    store = Store.create(url, new_setup(n_items=1, systems="A", judges=1, per_item=1))
    store.open_enrolment(new_enrolment(quota=1))
    (invitation,) = store.invite(1)
    invited = judge_of(store, Place("taken", invitation.token))
    assert store.next_trial(invited) is not None
    home = f"/judge/{invitation.token}"
    client = client_of(store)
    client.post(f"{home}/consent", data={"consent": "yes"})
    assert f'action="{home}/return"' not in client.get(home, follow_redirects=True).text
    store.give_place_back(invited)
    enrolled = store.enrol(prolific("ann"))
    assert store.next_trial(judge_of(store, enrolled)) is None  # the only trial is taken


def test_the_screening_refuses_for_good(url: str) -> None:
    store = open_study(url, quota=1, screening=[ENGLISH])
    assert store.enrol(prolific("ann"), is_accepted=False) == Place("refused")
    assert store.enrol(prolific("ann"), is_accepted=True) == Place("refused")
    assert store.enrol(prolific("bob")).state == "taken"  # nobody lost a place


def test_the_screening_also_refuses_who_gave_a_place_back(url: str) -> None:
    store = open_study(url, quota=1, screening=[ENGLISH])
    store.give_place_back(judge_of(store, store.enrol(prolific("ann"))))
    assert store.enrol(prolific("ann"), is_accepted=False) == Place("refused")
    assert store.enrol(prolific("ann"), is_accepted=True) == Place("refused")
    assert store.enrol(prolific("bob")).state == "taken"
    assert [payment.returned for payment in store.payments()] == [True, False]


def test_whoever_is_refused_after_giving_the_place_back_does_not_regain_it(url: str) -> None:
    store = open_study(url, quota=1, screening=[ENGLISH])
    place = store.enrol(prolific("ann"))
    store.give_place_back(judge_of(store, place))
    client, home = client_of(store), f"/judge/{place.token}"
    assert store.enrol(prolific("ann"), is_accepted=False) == Place("refused")
    assert 'id="answer"' not in client.get(home).text
    assert client.get(f"/api{home}/next").status_code == 409
    assert [payment.returned for payment in store.payments()] == [True]


@pytest.mark.parametrize("is_taken", [True, False])
def test_whoever_finishes_without_a_place_finds_the_code(url: str, is_taken: bool) -> None:
    """The page with the last trial was still open when the place went to somebody else."""
    store = open_study(url, quota=1, completion="CODE-{judge}")
    place = store.enrol(prolific("ann"))
    ann = judge_of(store, place)
    answer_all(store, ann, at_most=11)
    last = store.next_trial(ann)
    assert last is not None
    store.give_place_back(ann)
    if is_taken:
        assert store.enrol(prolific("bob")).state == "taken"
    client, home = client_of(store), f"/judge/{place.token}"
    if is_taken:
        assert "CODE" not in client.get(home).text
    store.record(ann, last.id, answer_to(last), ms=900)
    assert store.payments()[0].finished
    assert store.enrolment is not None
    link = client.get(f"{store.enrolment.path}?PROLIFIC_PID=ann")
    assert (link.status_code, link.headers["location"]) == (303, home)
    assert store.enrol(prolific("ann")) == place
    assert "CODE-J1" in client.get(home).text
    assert client.get(f"/api{home}/next").json()["trial"] is None
    # The place that nobody has taken counts as Ann's again.
    assert store.payments()[0].returned == is_taken
    assert store.enrol(prolific("cid")) == Place("full")


def test_who_was_refused_is_not_kept(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_study(url, quota=1, screening=[ENGLISH])
    monkeypatch.setattr("wellput.studies.enrolment.MAX_REFUSALS_KEPT", 3)
    for n in range(5):
        assert store.enrol(prolific(f"ann-{n}"), is_accepted=False) == Place("refused")
    with store.database.read() as connection:
        rows = connection.execute(sa.select(schema.enrolments)).all()
    assert len(rows) == 3  # a stranger with ever new names does not fill the disk
    assert not any("ann" in row.person or row.fields for row in rows)
    assert store.enrol(prolific("ann-0"), is_accepted=True) == Place("refused")
    assert store.enrol(prolific("ann-4"), is_accepted=True).state == "taken"


@pytest.mark.parametrize(
    ("parameters", "platform", "person"),
    [
        ({"PROLIFIC_PID": "5f", "STUDY_ID": "s", "SESSION_ID": "x"}, "prolific", "5f"),
        ({"workerId": "A1", "assignmentId": "3X", "hitId": "H"}, "mturk", "A1"),
        ({"survey_code": "77"}, "sona", "77"),
        ({"id": "77"}, "sona", "77"),
        # A platform that has filled in nothing, and values that no platform would send.
        ({"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, "browser", None),
        ({"survey_code": "%SURVEY_CODE%"}, "browser", None),
        ({"PROLIFIC_PID": "x" * 201}, "browser", None),
        ({"PROLIFIC_PID": "a\0b"}, "browser", None),
        ({"PROLIFIC_PID": "a\rb"}, "browser", None),
        ({"PROLIFIC_PID": "a\nb"}, "browser", None),
        ({"workerId": "\x1b[2J"}, "browser", None),
        ({"survey_code": "\u202eb"}, "browser", None),
        ({}, "browser", None),
    ],
)
def test_platforms_name_people(
    parameters: dict[str, str], platform: str, person: str | None
) -> None:
    found = person_of(parameters, "key of the browser")
    assert found.platform == platform
    assert person is None or found.id == person


def test_a_preview_of_mturk_takes_no_place() -> None:
    found = person_of({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "H"}, "")
    assert found.is_preview


def test_placeholders_of_the_end_are_filled_and_escaped() -> None:
    link = new_enrolment(
        quota=1, completion="https://example.org/c?cc=X&pid={PROLIFIC_PID}&j={judge}"
    )
    filled = filled_completion(link, "J1", {"PROLIFIC_PID": "a&b=<c>/d"})
    assert filled == "https://example.org/c?cc=X&pid=a%26b%3D%3Cc%3E%2Fd&j=J1"
    code = new_enrolment(quota=1, completion="DONE-{judge}")
    assert filled_completion(code, "J1", {}) == "DONE-J1"


@pytest.mark.parametrize(
    "completion",
    [
        "javascript:alert(1)",
        "ftp://example.org/x",
        "https://",
        "https://{PROLIFIC_PID}.example.org/",
        "https://example.org/?x={nobody}",
    ],
)
def test_an_end_that_cannot_be_used_is_refused(completion: str) -> None:
    with pytest.raises(InputError, match="completion="):
        check_completion(completion)


def test_from_the_open_link_to_the_redirect(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    end = "https://example.org/complete?pid={PROLIFIC_PID}"
    store.open_enrolment(new_enrolment(quota=1, completion=end, screening=[ENGLISH]))
    assert store.enrolment is not None
    client = client_of(store)
    link = f"{store.enrolment.path}?PROLIFIC_PID=5f%3C&STUDY_ID=s&SESSION_ID=x"
    welcome = client.get(link)
    assert ENGLISH.text in welcome.text and "Begin" in welcome.text
    # Looking takes no place, and neither does a form without an answer.
    client.head(link)
    assert submit(client, welcome.text, {}).status_code == 422
    assert store.payments() == []
    begun = submit(client, welcome.text, {"screening-0": "yes"})
    home = begun.headers["location"]
    assert begun.status_code == 303 and home.startswith("/judge/")
    # Another browser, the same person: the same place.
    other = client_of(store)
    again = other.get(link, follow_redirects=False)
    assert (again.status_code, again.headers["location"]) == (303, home)
    full = other.get(f"{store.enrolment.path}?PROLIFIC_PID=other")
    assert "taken" in submit(other, full.text, {"screening-0": "yes"}).text
    while 'id="answer"' in (page := client.get(home).text):
        assert "give my place" in page
        submit(client, page, answer_fields(page))
    assert 'href="https://example.org/complete?pid=5f%3C"' in page
    assert re.search(r"J1,prolific,5f<,yes,no,\d+,", payments_csv(store.payments()))


def test_whoever_is_screened_out_sees_it_politely(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    store.open_enrolment(new_enrolment(quota=5, screening=[ENGLISH]))
    assert store.enrolment is not None
    client = client_of(store)
    page = client.get(store.enrolment.path)
    refused = submit(client, page.text, {"screening-0": "no"})
    assert "looks for other people" in refused.text
    assert "looks for other people" in client.get(store.enrolment.path).text
    assert store.payments() == []


def test_a_lost_place_is_said_on_the_page_and_in_json(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    store.open_enrolment(new_enrolment(quota=1, completion="CODE"))
    place = store.enrol(prolific("ann"))
    client = client_of(store)
    page = client.get(f"/judge/{place.token}").text
    form = re.search(r'action="(/judge/[^"]+/return)"', page)
    assert form is not None
    csrf = re.search(r'name="csrf" value="([^"]+)"', page)
    assert csrf is not None
    assert "free again" in client.post(form[1], data={"csrf": csrf[1]}).text
    assert store.enrol(prolific("bob")).state == "taken"
    assert "All places are taken" in client.get(f"/judge/{place.token}").text
    assert client.get(f"/api/judge/{place.token}/next").status_code == 409


def test_an_unknown_open_link_is_not_found(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    assert client_of(store).get("/open/whatever").status_code == 404
    store.open_enrolment(new_enrolment(quota=1))
    assert client_of(store).get("/open/whatever").status_code == 404


def test_opening_again_keeps_the_link(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    store.open_enrolment(new_enrolment(quota=1))
    before = store.enrolment
    store.open_enrolment(new_enrolment(quota=9, completion="CODE"))
    assert isinstance(before, Enrolment) and store.enrolment is not None
    assert (store.enrolment.key, store.enrolment.secret) == (before.key, before.secret)
    assert Store.open(str(tmp_path / "study.db")).enrolment == store.enrolment


def test_forgetting_a_judge_erases_who_it_was(url: str) -> None:
    store = open_study(url, quota=1)
    judge = judge_of(store, store.enrol(prolific("ann")))
    store.forget(judge.name)
    assert store.payments() == []
    with store.database.read() as connection:
        [row] = connection.execute(sa.select(schema.enrolments)).all()
    assert "ann" not in f"{row.person}{row.fields}"
    assert store.enrol(prolific("bob")).state == "taken"


def test_nobody_can_keep_a_judge_from_being_erased(url: str) -> None:
    """A stranger takes the name that a place has after it was erased."""
    store = open_study(url, quota=20)
    judge = judge_of(store, store.enrol(prolific("ann")))
    for number in range(10):
        store.enrol(prolific(f"forgotten-{number}"))
    store.forget(judge.name)
    assert "ann" not in [payment.person for payment in store.payments()]


def test_no_row_gets_into_the_payments() -> None:
    forged = Payment("J1", "prolific", "a\r=1+1", True, False, 1, 1.0, 0, 0)
    assert list(csv.reader(io.StringIO(payments_csv([forged]), newline="")))[1:] == [
        ["J1", "prolific", "a\r=1+1", "yes", "no", "1", "1", "0", "0"]
    ]


def test_no_formula_gets_into_the_payments(url: str) -> None:
    store = open_study(url, quota=1)
    store.enrol(prolific("=1+1"))
    assert ",'=1+1," in payments_csv(store.payments())


def test_screening_files_say_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "screening.toml"
    file.write_text('[[screening]]\ntext = "Old?"\nchoices = ["yes", "no"]\naccepted = ["yes"]\n')
    assert read_screening(file) == (ScreeningQuestion("Old?", ("yes", "no"), ("yes",)),)
    file.write_text('[[screening]]\ntext = "Old?"\nchoices = ["yes", "no"]\naccepted = ["maybe"]\n')
    with pytest.raises(InputError, match="number 1: accepted must name"):
        read_screening(file)
    file.write_text("title = 3\n")
    with pytest.raises(InputError, match="no screening questions"):
        read_screening(file)
    file.write_text('[[screening]]\ntext = "a\\u0000"\nchoices = ["y", "n"]\naccepted = ["y"]\n')
    with pytest.raises(InputError, match="number 1: text has characters"):
        read_screening(file)


def test_a_line_break_of_a_choice_is_as_browsers_send_it(tmp_path: Path) -> None:
    file = tmp_path / "screening.toml"
    file.write_text(
        '[[screening]]\ntext = "?"\nchoices = ["a\\r\\nb", "c"]\naccepted = ["a\\r\\nb"]\n'
    )
    assert read_screening(file) == (ScreeningQuestion("?", ("a\nb", "c"), ("a\nb",)),)


def test_opening_again_changes_only_the_settings_that_are_given(tmp_path: Path) -> None:
    evalset = wellput.EvalSet([wellput.Item(str(n), outputs={"A": "a"}) for n in range(4)])
    options: dict[str, Any] = {"quota": 2, "completion": "X", "place_timeout": 30.0}
    path = tmp_path / "s.db"
    with Study.create(evalset, path=path, design="rating", open=True, **options) as study:
        changes: list[dict[str, Any]] = [{"quota": 6}, {"completion": "Y"}, {"place_timeout": 9.0}]
        for change in changes:
            options |= change
            study.open_to_everybody(**change)
            link = study._store.enrolment
            assert link is not None
            found = {
                "quota": link.quota, "completion": link.completion,
                "place_timeout": link.place_minutes,
            }  # fmt: skip
            assert found == options


@pytest.mark.parametrize("settings", [{"quota": 3}, {"completion": "X"}, {"place_timeout": 5.0}])
def test_settings_of_an_open_link_need_one(tmp_path: Path, settings: dict[str, Any]) -> None:
    evalset = wellput.EvalSet(
        [wellput.Item(str(n), outputs={"A": "a", "B": f"b {n}"}) for n in range(4)]
    )
    path = tmp_path / "s.db"
    with pytest.raises(InputError, match=r"belong to open=True"):
        Study.create(evalset, path=path, design="rating", judges=2, **settings)
    with (
        Study.create(evalset, path=path, design="rating", judges=2) as study,
        pytest.raises(InputError, match=r"belong to open=True"),
    ):
        study.serve(port=-1, **settings)
    options = [part for name, x in settings.items() for part in ("--" + name.replace("_", "-"), x)]
    done = CliRunner().invoke(cli, ["study", "serve", str(path), *map(str, options)])
    assert "belong to --open" in str(done.exception) or "belong to --open" in done.output
