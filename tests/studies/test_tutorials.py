"""After a practice trial, judges read what the makers of the study would say, in every design."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.studies.served_study import client_of, new_store, submit
from wellput.core.errors import InputError
from wellput.studies.settings import make_settings
from wellput.studies.store import Store
from wellput.studies.wording import codes, wording

RIGHT = wording("en")("feedback.right")
OTHER = wording("en")("feedback.other")
FAIRY = """[{"start": 4, "end": 9, "severity": "major", "category": "%s"},
{"start": "missing", "severity": "minor", "category": "%s"}]"""


def store_of(folder: Path, design: str, **settings: Any) -> Store:
    made = make_settings(design, {"practice": True, **settings}).questionnaire
    return new_store(folder, made)


def first_page(store: Store) -> tuple[Any, str, str]:
    (invitation, _) = store.invite(2)
    client = client_of(store)
    home = f"/judge/{invitation.token}"
    return client, home, client.get(home).text


GOOD_AND_BAD: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "rating": (
        {"q-understandability": "6", "q-quality": "7"},
        {"q-understandability": "6", "q-quality": "1"},
    ),
    "slider": ({"q-quality": "80"}, {"q-quality": "20"}),
    "pairwise": ({"q-preference": "a"}, {"q-preference": "b"}),
    "task": ({"q-success": "At nine."}, {"q-success": "at ten"}),
    "spans": (
        {"q-errors": FAIRY % ("", ""), "q-quality": "50"},
        {"q-errors": "[]", "q-quality": "50"},
    ),
    "mqm": (
        {"q-errors": FAIRY % ("accuracy/mistranslation", "accuracy/omission")},
        {"q-errors": "[]"},
    ),
}


@pytest.mark.parametrize("design", GOOD_AND_BAD)
def test_the_feedback_says_whether_the_answer_is_expected(tmp_path: Path, design: str) -> None:
    for number, (answer, verdict) in enumerate(
        zip(GOOD_AND_BAD[design], (RIGHT, OTHER), strict=True)
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        client, home, html = first_page(store_of(folder, design))
        sent = submit(client, html, answer)
        assert sent.status_code == 303 and sent.headers["location"].endswith("/feedback")
        page = client.get(sent.headers["location"]).text
        assert verdict in page and ({RIGHT, OTHER} - {verdict}).pop() not in page
        assert "data-continue" in page
        again = sent.headers["location"].removesuffix("/feedback")
        assert (f'href="{again}"' in page) == (design != "task")
        # The next trial comes all the same, and the feedback can be read again.
        following = client.get(home).text
        assert "practice" in following.lower() or design == "pairwise"
        assert client.get(sent.headers["location"]).status_code == 200


def test_magnitudes_have_no_right_answer_but_an_explanation(tmp_path: Path) -> None:
    client, _, html = first_page(store_of(tmp_path, "magnitude"))
    page = client.get(submit(client, html, {"q-fluency": "10"}).headers["location"]).text
    assert "No number is wrong here" in page and RIGHT not in page and OTHER not in page


def test_feedback_of_ones_own_and_none(tmp_path: Path) -> None:
    practice = [
        {"text": "One.", "expected": {"quality": [60, 100]}, "feedback": "Because <it> is good."},
        {"text": "Two."},
    ]
    client, home, html = first_page(store_of(tmp_path, "slider", practice=practice))
    location = submit(client, html, {"q-quality": "70"}).headers["location"]
    page = client.get(location).text
    assert RIGHT in page and "Because &lt;it&gt; is good." in page
    html = client.get(home).text
    sent = submit(client, html, {"q-quality": "70"})
    assert sent.headers["location"] == home
    with pytest.raises(InputError, match="questions of this study"):
        make_settings("slider", {"practice": [{"text": "x", "expected": {"beauty": 1}}]})


def test_only_the_judge_reads_it_and_only_after_an_answer(tmp_path: Path) -> None:
    store = store_of(tmp_path, "slider")
    (invitation, other) = store.invite(2)
    client = client_of(store)
    html = client.get(f"/judge/{invitation.token}").text
    trial = html.split("/trials/")[1].split('"')[0]
    for token in (invitation.token, other.token):
        page = client.get(f"/judge/{token}/trials/{trial}/feedback")
        assert page.status_code == 303 and page.headers["location"] == f"/judge/{token}"


def test_programs_get_the_feedback_too(tmp_path: Path) -> None:
    store = store_of(tmp_path, "slider")
    (invitation, _) = store.invite(2)
    client = client_of(store)
    api = f"/api/judge/{invitation.token}"
    trial = client.get(f"{api}/next").json()["trial"]
    body = {"trial": trial["id"], "answers": {"quality": 90}, "ms": 1}
    found = client.post(f"{api}/answers", json=body).json()["feedback"]
    assert found["right"] is True and found["text"].startswith("This one is easy")
    while (trial := client.get(f"{api}/next").json()["trial"])["practice"]:
        body = {"trial": trial["id"], "answers": {"quality": 90}, "ms": 1}
        client.post(f"{api}/answers", json=body)
    body = {"trial": trial["id"], "answers": {"quality": 90}, "ms": 1}
    assert client.post(f"{api}/answers", json=body).json()["feedback"] is None


@pytest.mark.parametrize("language", codes())
@pytest.mark.parametrize("design", ["rating", "slider", "pairwise", "spans", "mqm", "task"])
def test_the_usual_practice_can_be_passed_in_every_language(language: str, design: str) -> None:
    """What is expected to be marked stands in the text; the right answer is among the expected."""
    made = make_settings(design, {"practice": True, "language": language})
    for practice in made.questionnaire.practice:
        assert practice.expected and practice.feedback
        if design in ("spans", "mqm"):
            for words in practice.expected["errors"]:
                assert words == "[missing]" or words in practice.texts[0]


def test_a_study_keeps_its_feedback(tmp_path: Path) -> None:
    store = store_of(tmp_path, "spans")
    before = store.questionnaire
    store.close()
    again = Store.open(tmp_path / "study.db")
    assert again.questionnaire == before and before.practice[0].feedback
