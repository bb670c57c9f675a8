"""What the owner sees and publishes: results without names, judges who change or are stuck, the
datasheet, and the same study again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.studies.served_study import SYSTEMS, client_of, new_store, submit
from tests.studies.studies import Clock, answer_all, answer_to, judges_of, new_setup
from wellput.api.study import Study
from wellput.core.errors import InputError
from wellput.studies.blinding import code_names
from wellput.studies.datasheet import make_datasheet, make_preregistration
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.enrolment import new_enrolment
from wellput.studies.judge_trends import trends
from wellput.studies.queries import AnsweredRow
from wellput.studies.questionnaire import Practice
from wellput.studies.replication import replicate
from wellput.studies.store import Store


def answered(values: Sequence[float], milliseconds: Sequence[int]) -> list[AnsweredRow]:
    return [
        AnsweredRow(1, "J1", "trial", place, ("A",), [{"quality": value}], ms, 0.0, place + 1)
        for place, (value, ms) in enumerate(zip(values, milliseconds, strict=True))
    ]


def test_answers_that_rise_are_a_drift() -> None:
    # Halves 1, 2, 1, 2, … and 5, 6, 5, 6, …: means 1.5 and 5.5, variances 2/7 of 8 values each.
    # Difference 4; standard error sqrt(2/7/8 + 2/7/8) = 0.27. The deviation of all 16 is 2.129.
    found = trends(
        answered([1, 2] * 4 + [5, 6] * 4, [1000] * 16),
        is_machine=False,
        holds_open_trial=False,
        idle_seconds=0,
        lease_seconds=1800,
    )
    assert found.drift == pytest.approx(4 / 2.1292, abs=1e-3)
    assert found.speed == 1
    assert found.flags == ("drift: answers are higher in the second half",)


def test_answers_that_vary_are_none() -> None:
    found = trends(
        answered([1, 5, 2, 6] * 4, [4000] * 8 + [1000] * 8),
        is_machine=False,
        holds_open_trial=False,
        idle_seconds=0,
        lease_seconds=1800,
    )
    assert found.drift == 0
    assert found.speed == 0.25
    assert found.flags == ("the second half took 0.2 times as long as the first",)


def test_a_machine_may_be_quicker_in_the_second_half_and_leave_a_trial_open() -> None:
    found = trends(
        answered([1, 5, 2, 6] * 4, [4000] * 8 + [1000] * 8),
        is_machine=True,
        holds_open_trial=True,
        idle_seconds=4000,
        lease_seconds=1800,
    )
    assert (found.speed, found.stuck_minutes, found.flags) == (0.25, None, ())


def test_a_judge_with_an_open_trial_who_is_away_is_stuck(url: str) -> None:
    clock = Clock()
    store = Store.create(url, new_setup(lease_minutes=10), clock=clock)
    (judge,) = judges_of(store, 1)
    store.next_trial(judge)
    clock.now += 9 * 60
    [before] = store.overview().judges
    assert before.stuck_minutes is None
    clock.now += 3 * 60
    [after] = store.overview().judges
    assert after.stuck_minutes == 12
    assert after.flags == ("stuck: has an open trial and was away for 12 minutes",)


def test_the_dashboard_hides_the_systems_names(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    for judge in judges_of(store, 2):
        answer_all(store, judge)
    client = client_of(store)
    client.get(f"/dashboard/{store.owner_token}")
    page = client.get("/dashboard").text
    assert all(name in page for name in SYSTEMS)
    hidden = page.index('action="/dashboard/blinded"')
    form = page[page.rindex("<form", 0, hidden) :]
    assert submit(client, form, {}).status_code == 303
    blind = client.get("/dashboard").text
    assert not any(name in blind for name in SYSTEMS)
    assert all(f"System {number}" in blind for number in (1, 2))
    again = blind[blind.rindex("<form", 0, blind.index('action="/dashboard/blinded"')) :]
    submit(client, again, {})
    assert SYSTEMS[0] in client.get("/dashboard").text


def test_z_scores_are_called_so(tmp_path: Path) -> None:
    store = new_store(tmp_path, default_questionnaire("magnitude"))
    for judge in judges_of(store, 2):
        answer_all(store, judge)
    client = client_of(store)
    client.get(f"/dashboard/{store.owner_token}")
    assert "The figures are z-scores" in client.get("/dashboard").text
    for blinded in (False, True):
        shown = str(Study.open(tmp_path / "study.db").status(blinded=blinded))
        assert "The figures are z-scores" in shown


def test_blinded_status_says_the_same_without_names(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    for judge in judges_of(store, 2):
        answer_all(store, judge)
    study = Study.open(tmp_path / "study.db")
    names = code_names(store.setup.systems, store.setup.seed)
    plain, blind = study.status(), study.status(blinded=True)
    assert not any(name in json.dumps(blind.to_dict()) + str(blind) for name in SYSTEMS)
    assert [names[row.system] for row in plain.ranking[0].systems] == [
        row.system for row in blind.ranking[0].systems
    ]
    assert [row.estimate for row in plain.ranking[0].systems] == [
        row.estimate for row in blind.ranking[0].systems
    ]


def test_a_datasheet_has_what_the_study_knows(url: str) -> None:
    store = Store.create(url, new_setup(n_items=4, checks=0), clock=Clock())
    for judge in judges_of(store, 2):
        answer_all(store, judge, at_most=3)
    sheet = make_datasheet(store, "study.db")
    answers = {one.question: one.answer for one in sheet.answers}
    assert answers["Which systems are judged?"] == "A, B, C"
    assert answers["How many outputs are judged?"] == "12 outputs of 4 items, in 12 trials"
    assert answers["How many judges took part?"] == "2 people, 2 of them began, 0 finished"
    assert answers["How many answers are there?"] == "6 of 36 planned"
    assert answers["How is quality answered?"] == (
        "points, 1 to 7 (1 = Horrible; 4 = Pretty bad; 7 = Extremely well-written)"
    )
    assert answers["Did an ethics board approve the study?"] is None
    text = str(sheet)
    assert "[to be filled in]" in text and "How well-written is this sentence?" in text


def test_a_preregistration_names_what_was_fixed(url: str) -> None:
    store = Store.create(url, new_setup(n_items=4), clock=Clock())
    first = {one.question: one.answer for one in make_preregistration(store, "s").answers}
    assert first["How many answers are planned?"] == "36"
    assert first["What is expected, and why?"] is None
    digest = first["Which digest do the settings, items and trials have?"]
    assert digest is not None and digest.startswith("sha256:")
    # Answers change nothing of what was fixed.
    (judge,) = judges_of(store, 1)
    answer_all(store, judge, at_most=2)
    later = {one.question: one.answer for one in make_preregistration(store, "s").answers}
    assert later["Which digest do the settings, items and trials have?"] == digest
    assert later["Have answers been given already?"] == "2 of 36 planned"


def test_a_study_is_made_again_without_its_answers(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    store.open_enrolment(new_enrolment(quota=7, completion="CODE"))
    (judge, _) = judges_of(store, 2)
    first = [trial.variants[0].text for trial in answer_all(store, judge)]
    copy = replicate(store, str(tmp_path / "again.db"))
    assert copy.setup.settings() == store.setup.settings()
    assert (copy.setup.items, copy.setup.trials) == (store.setup.items, store.setup.trials)
    assert copy.judgments() == [] and copy.overview().judges == ()
    assert copy.owner_token is not None and not store.verify_owner(copy.owner_token)
    assert copy.enrolment is not None and store.enrolment is not None
    assert copy.enrolment.quota == 7 and copy.enrolment.key != store.enrolment.key
    # The same seed and the same sequence of requests: the same trials in the same order.
    (other, _) = judges_of(copy, 2)
    again = []
    while (trial := copy.next_trial(other)) is not None:
        copy.record(other, trial.id, answer_to(trial), ms=9)
        again.append(trial.variants[0].text)
    assert again == first
    with pytest.raises(InputError, match="already exists"):
        replicate(store, str(tmp_path / "again.db"))


def test_a_datasheet_says_what_judges_read_after_practice(url: str) -> None:
    questionnaire = default_questionnaire("rating")
    practice = (
        Practice(("Good.",), expected={"quality": [5, 7]}, feedback="It has no errors."),
        Practice(("Bad good.",), expected={"quality": [1, 2]}),
        Practice(("Any.",)),
    )
    questionnaire = replace(questionnaire, practice=practice)
    store = Store.create(url, new_setup(questionnaire=questionnaire), clock=Clock())
    answers = {one.question: one.answer for one in make_datasheet(store, "s").answers}
    assert answers["How were judges trained?"] == (
        "3 practice trials, with feedback after “Good.”: It has no errors.; "
        "after “Bad good.”: whether the answer is as expected"
    )
