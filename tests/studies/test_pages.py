"""The judge's pages, without JavaScript: what a browser gets, and what its forms do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.studies.served_study import (
    ITEMS,
    SYSTEMS,
    answer_fields,
    client_of,
    fields_of,
    new_store,
    submit,
)
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.queries import written_time
from wellput.studies.questionnaire import DemographicField, Practice, Questionnaire
from wellput.studies.rendering import STATIC_FILES

DESIGNS = {
    "rating": default_questionnaire("rating"),
    "page": default_questionnaire("rating", layout="page"),
    "magnitude": default_questionnaire("magnitude"),
    "slider": default_questionnaire("slider"),
    "pairwise": default_questionnaire("pairwise"),
    "ties": default_questionnaire("pairwise", questions=["fluency", "adequacy"], ties=True),
    "task": default_questionnaire("task"),
}


@pytest.mark.parametrize("questionnaire", DESIGNS.values(), ids=DESIGNS)
def test_a_study_is_answered_from_invitation_to_thanks_by_plain_forms(
    tmp_path: Path, questionnaire: Questionnaire
) -> None:
    store = new_store(tmp_path, questionnaire)
    (first, _) = store.invite(2)
    client = client_of(store)
    home = f"/judge/{first.token}"
    seen = []
    while "Thank you" not in (page := client.get(home)).text or 'id="answer"' in page.text:
        assert page.status_code == 200
        seen.append(page.text)
        done = submit(client, page.text, answer_fields(page.text))
        assert (done.status_code, done.headers["location"]) == (303, home)
        assert len(seen) < 10
    judge = store.judge_of(first.token)
    assert judge is not None
    progress = store.progress(judge)
    assert progress.done == progress.total == len(seen) >= len(ITEMS)
    # Nothing that a judge must not know, in anything the browser received.
    for text in (*seen, page.text):
        assert not [name for name in (*SYSTEMS, "ITEM-ONE", "ITEM-TWO") if name in text]


def test_a_page_shows_the_texts_their_context_and_the_questions(tmp_path: Path) -> None:
    store = new_store(tmp_path, DESIGNS["page"])
    (invitation,) = store.invite(1)
    client = client_of(store)
    page = client.get(f"/judge/{invitation.token}").text
    while ITEMS[0].outputs[SYSTEMS[0]] not in page:
        submit(client, page, answer_fields(page))
        page = client.get(f"/judge/{invitation.token}").text
    assert all(text in page for text in ITEMS[0].outputs.values())
    assert str(ITEMS[0].context) in page
    assert page.count("How easy is this sentence to understand?") == 2
    assert "4 · Just barely possible" in page


def test_what_a_form_lacks_is_said_and_the_rest_is_kept(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    (invitation,) = store.invite(1)
    client = client_of(store)
    page = client.get(f"/judge/{invitation.token}").text
    refused = submit(client, page, {"q-understandability": "6"})
    assert refused.status_code == 422
    assert "no answer to quality" in refused.text
    assert re.search(r'name="q-understandability" value="6" required checked', refused.text)
    refused = submit(client, page, {"q-understandability": "6", "q-quality": "8"})
    assert "8 is not between 1 and 7" in refused.text


@pytest.mark.parametrize(
    ("kept_ms", "stored"),
    [("60000", 2), ("1", 6), ("", 6), ("soon", 6), ("9" * 300, 2)],
)
def test_an_answer_counts_as_given_when_the_judge_gave_it(
    tmp_path: Path, kept_ms: str, stored: int
) -> None:
    """The browser could not send the answer 6 for a while. The judge answered 2 elsewhere half a minute
    before it arrived."""
    store = new_store(tmp_path, DESIGNS["magnitude"])
    (invitation,) = store.invite(1)
    client, home = client_of(store), f"/judge/{invitation.token}"
    page = client.get(home).text
    submit(client, page, {"q-fluency": "2"})
    as_before, store.clock = store.clock, lambda: as_before() + 30
    sent = submit(client, page, {"q-fluency": "6", "kept_ms": kept_ms})
    assert (sent.status_code, sent.headers["location"]) == (303, home)
    assert [getattr(each, "value", None) for each in store.judgments()] == [stored]


@pytest.mark.parametrize(("kept_ms", "stored"), [("30000", 2), ("10000", 6)])
def test_an_answer_that_the_judge_confirmed_is_not_replaced_by_an_older_one(
    tmp_path: Path, kept_ms: str, stored: int
) -> None:
    """The judge answered 2, took it back 20 seconds later, and went on without a change. The answer 6,
    which another device kept, arrives 20 seconds after that."""
    store = new_store(tmp_path, DESIGNS["magnitude"])
    (invitation,) = store.invite(1)
    client, home = client_of(store), f"/judge/{invitation.token}"
    begin, step = store.clock(), 0
    store.clock = lambda: begin + 20 * step
    page = client.get(home).text
    submit(client, page, {"q-fluency": "2"})
    step = 1
    client.post(f"{home}/undo", data={"csrf": fields_of(page)["csrf"]})
    submit(client, client.get(home).text, {"q-fluency": "2"})
    step = 2
    submit(client, page, {"q-fluency": "6", "kept_ms": kept_ms})
    assert [getattr(each, "value", None) for each in store.judgments()] == [stored]


@pytest.mark.parametrize("newer_comes_first", [False, True])
def test_of_two_kept_answers_the_one_that_was_given_later_counts(
    tmp_path: Path, newer_comes_first: bool
) -> None:
    """Two devices were offline. The judge gave 4 on the phone after 100 seconds, and 6 on the laptop
    after 120."""
    store = new_store(tmp_path, DESIGNS["magnitude"])
    (invitation,) = store.invite(1)
    client, home = client_of(store), f"/judge/{invitation.token}"
    begin, step = store.clock(), 0
    store.clock = lambda: begin + step
    page = client.get(home).text
    answers = [(100, "4"), (120, "6")]
    if newer_comes_first:
        answers.reverse()
    for given, value in answers:
        step = 160 if step == 0 else 165  # when the answer arrives
        submit(client, page, {"q-fluency": value, "kept_ms": str(1000 * (step - given))})
    (judgment,) = store.judgments()
    assert getattr(judgment, "value", None) == 6
    assert judgment.extra["recorded_at"] == written_time(begin + 120)


def test_an_answer_was_not_given_before_the_trial(tmp_path: Path) -> None:
    """The clock of the judge's device was changed while it kept the answer."""
    store = new_store(tmp_path, DESIGNS["magnitude"])
    (invitation,) = store.invite(1)
    client = client_of(store)
    begin = store.clock()
    store.clock = lambda: begin
    page = client.get(f"/judge/{invitation.token}").text
    submit(client, page, {"q-fluency": "6", "kept_ms": "9" * 15})
    assert store.judgments()[0].extra["recorded_at"] == written_time(begin)


def test_a_kept_answer_is_stored_after_the_clock_was_set_back(tmp_path: Path) -> None:
    store = new_store(tmp_path, DESIGNS["magnitude"])
    (invitation,) = store.invite(1)
    client, home = client_of(store), f"/judge/{invitation.token}"
    page = client.get(home).text
    submit(client, page, {"q-fluency": "2"})
    begin = store.clock()
    store.clock = lambda: begin - 3600
    submit(client, page, {"q-fluency": "6", "kept_ms": "30000"})
    assert [getattr(each, "value", None) for each in store.judgments()] == [6]


def test_a_kept_answer_is_stored_if_the_trial_has_none(tmp_path: Path) -> None:
    store = new_store(tmp_path, DESIGNS["magnitude"])
    (invitation,) = store.invite(1)
    client = client_of(store)
    page = client.get(f"/judge/{invitation.token}").text
    submit(client, page, {"q-fluency": "6", "kept_ms": "60000"})
    assert [getattr(each, "value", None) for each in store.judgments()] == [6]


def test_a_page_names_its_texts_by_place_when_one_is_left_open(tmp_path: Path) -> None:
    store = new_store(tmp_path, DESIGNS["page"])
    (invitation,) = store.invite(1)
    client = client_of(store)
    page = client.get(f"/judge/{invitation.token}").text
    answers = answer_fields(page)
    del answers[list(answers)[-1]]  # the second question about the second text
    assert "text 2: no answer to quality" in submit(client, page, answers).text


def test_the_last_answer_can_be_changed_once_and_shows_what_it_was(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    (invitation,) = store.invite(1)
    client = client_of(store)
    home = f"/judge/{invitation.token}"
    first = client.get(home).text
    assert "Change my last answer" not in first
    submit(client, first, {"q-understandability": "6", "q-quality": "2"})
    second = client.get(home).text
    assert "1 of 4 done" in second
    undone = client.post(f"{home}/undo", data={"csrf": fields_of(second)["csrf"]})
    assert (undone.status_code, undone.headers["location"]) == (303, home)
    again = client.get(home).text
    assert re.search(r'name="q-understandability" value="6" required checked', again)
    assert "change it, or go on" in again
    submit(client, again, {"q-understandability": "5", "q-quality": "2"})
    assert "1 of 4 done" in client.get(home).text
    (judgment, _) = store.judgments()
    assert getattr(judgment, "value", None) == 5


def test_a_judge_resumes_on_another_device_where_it_was_left(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    (invitation,) = store.invite(1)
    home = f"/judge/{invitation.token}"
    desk, phone = client_of(store), client_of(store)
    page = desk.get(home).text
    submit(desk, page, answer_fields(page))
    on_desk, on_phone = desk.get(home).text, phone.get(home).text
    trial = re.compile(r"/trials/[^\"]+")
    assert trial.findall(on_desk) == trial.findall(on_phone) != trial.findall(page)
    submit(phone, on_phone, answer_fields(on_phone))
    assert "2 of 4 done" in desk.get(home).text


def test_consent_comes_before_anything_else(tmp_path: Path) -> None:
    store = new_store(tmp_path, consent="We keep your answers.\n\nYou may stop <at any time>.")
    (invitation,) = store.invite(1)
    client = client_of(store)
    home = f"/judge/{invitation.token}"
    page = client.get(home).text
    assert "<p>We keep your answers.</p>\n<p>You may stop &lt;at any time&gt;.</p>" in page
    assert not [text for item in ITEMS for text in item.outputs.values() if text in page]
    assert client.get(f"/api/judge/{invitation.token}/next").status_code == 403
    submit(client, page, {})  # not ticked
    assert "Before you begin" in client.get(home).text
    submit(client, page, {"agree": "yes"})
    assert 'id="answer"' in client.get(home).text
    assert client.get(f"/api/judge/{invitation.token}/next").status_code == 200


def test_questions_about_the_judge_are_voluntary(tmp_path: Path) -> None:
    fields = (
        DemographicField("native", "Is English your first language?", "choice", ("Yes", "No")),
        DemographicField("age", "How old are you?", "number"),
    )
    store = new_store(tmp_path, demographics=fields)
    (one, other) = store.invite(2)
    for invitation, given in ((one, {"about-native": "No", "about-age": ""}), (other, {})):
        client = client_of(store)
        page = client.get(f"/judge/{invitation.token}").text
        assert "Is English your first language?" in page
        assert submit(client, page, {"about-native": "Klingon"}).status_code == 422
        assert submit(client, page, given).status_code == 303
        assert 'id="answer"' in client.get(f"/judge/{invitation.token}").text
    assert store.all_demographics() == {one.judge: {"native": "No"}}


@pytest.mark.parametrize("choice", ["trail ", " lead", "tab\t", "two\nlines"])
def test_a_choice_about_the_judge_may_begin_or_end_with_blanks(tmp_path: Path, choice: str) -> None:
    fields = (
        DemographicField("d", "Which?", "choice", (choice, "other")),
        DemographicField("age", "How old are you?"),
    )
    store = new_store(tmp_path, demographics=fields)
    (invitation,) = store.invite(1)
    client = client_of(store)
    page = client.get(f"/judge/{invitation.token}").text
    sent = {"about-d": choice.replace("\n", "\r\n"), "about-age": " 40 "}
    assert submit(client, page, sent).status_code == 303
    assert store.all_demographics() == {invitation.judge: {"d": choice, "age": "40"}}


def test_questions_about_the_judge_may_have_any_name(tmp_path: Path) -> None:
    store = new_store(tmp_path, demographics=(DemographicField("csrf", "Which code?"),))
    (invitation,) = store.invite(1)
    client = client_of(store)
    page = client.get(f"/judge/{invitation.token}").text
    assert submit(client, page, {"about-csrf": "blue"}).status_code == 303
    assert store.all_demographics() == {invitation.judge: {"csrf": "blue"}}


def test_practice_comes_first_and_is_called_so(tmp_path: Path) -> None:
    store = new_store(tmp_path, practice=(Practice(("Try this one.",)),))
    (invitation,) = store.invite(1)
    client = client_of(store)
    page = client.get(f"/judge/{invitation.token}").text
    assert "Try this one." in page and "will not be counted" in page
    submit(client, page, answer_fields(page))
    assert "will not be counted" not in client.get(f"/judge/{invitation.token}").text
    assert store.judgments() == []


def test_a_paused_study_says_so_and_keeps_what_was_answered(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    (invitation,) = store.invite(1)
    client = client_of(store)
    home = f"/judge/{invitation.token}"
    page = client.get(home).text
    store.set_state("paused")
    assert submit(client, page, answer_fields(page)).status_code == 303
    assert "The study is paused" in client.get(home).text
    store.set_state("closed")
    assert "The study is closed" in client.get(home).text
    assert submit(client, page, answer_fields(page, "2")).status_code == 303
    assert {getattr(each, "value", None) for each in store.judgments()} == {4}


def test_the_time_taken_is_the_browsers_or_without_javascript_the_servers(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    (invitation,) = store.invite(1)
    client = client_of(store)
    for ms in ("1500", "", "nonsense"):
        page = client.get(f"/judge/{invitation.token}").text
        submit(client, page, {**answer_fields(page), "ms": ms})
    times = [judgment.extra["ms"] for judgment in store.judgments()]
    assert times.count("1500") == 2
    assert all(0 <= float(time) < 60_000 for time in times)


def test_without_an_invitation_there_is_nothing_to_see(tmp_path: Path) -> None:
    client = client_of(new_store(tmp_path))
    assert "open the link of your invitation" in client.get("/").text
    lost = client.get("/judge/nobody")
    assert lost.status_code == 404 and "This link is not known" in lost.text
    assert client.get("/static/../app.py").status_code == 404
    assert client.get("/static/README.md").status_code == 404


def _palettes() -> list[dict[str, str]]:
    css = STATIC_FILES["wellput.css"].read_text(encoding="utf-8")
    blocks = re.findall(r":root \{([^}]*)\}", css)
    palettes = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block)) for block in blocks]
    assert len(palettes) == 2
    return palettes


def _luminance(color: str) -> float:
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("palette", _palettes(), ids=("light", "dark"))
def test_contrast_is_aa(palette: dict[str, str]) -> None:
    """WCAG 2.1, 1.4.3 and 1.4.11: 4.5:1 for text, 3:1 for the edges of controls."""

    def contrast(one: str, other: str) -> float:
        low, high = sorted((_luminance(palette[one]), _luminance(palette[other])))
        return (high + 0.05) / (low + 0.05)

    texts = [(ink, on) for ink in ("ink", "soft", "accent") for on in ("ground", "card")]
    texts += [("ink", "accent-wash"), ("soft", "accent-wash"), ("accent-ink", "accent")]
    texts += [("alarm", "alarm-wash"), ("note", "note-wash")]
    assert not [pair for pair in texts if contrast(*pair) < 4.5]
    assert not [on for on in ("ground", "card") if contrast("edge", on) < 3]
