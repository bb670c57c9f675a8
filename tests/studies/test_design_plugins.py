"""Designs of other packages: studies of them are made, served, answered and exported as usual."""

from __future__ import annotations

import csv
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from starlette.testclient import TestClient

from tests.plugins import install, project_text
from tests.programs import needs
from tests.studies.served_study import answer_fields, submit
from tests.studies.test_browser import Watch, run_through, served
from wellput import EvalSet, InputError, Judgment, Preference, Study
from wellput.studies.designs import registry

MODULE = """
from dataclasses import dataclass

from wellput import Design, Question
from wellput.studies.designs.pairwise import Pairwise

@dataclass(frozen=True)
class Faces(Design):
    name = "faces"
    title = "How do you like it?"
    instructions = "Look at the sentence and choose a face."
    default_questions = ("liking", "reason")
    faces: int = 3

    def question(self, name):
        if name == "reason":
            return Question(name, "Why?", "answer")
        return Question(name, f"Your {name}?", "points", 1, self.faces, {"1": "sad", "3": "glad"})

class Grin(Faces):
    name = "grin"
    template = "smileys:templates/grin.html"

class Lost(Faces):
    name = "lost"
    template = "smileys:nowhere.html"

class Best(Design):
    name = "best"
    title = "Which is best?"
    instructions = "Choose the best."
    default_questions = ("best",)
    layouts = ("page",)
    asks_once = True

    def question(self, name):
        return Question(name, "Which?", "answer", choices=("1", "2", "3"))

    def judgments(self, trial):
        [answers] = trial.answers
        for place, system in enumerate(trial.systems, start=1):
            yield trial.judgment(system, "best", answers["best"] == str(place))

class Explained(Pairwise):
    name = "explained"
    default_questions = ("preference", "reason")

    def question(self, name):
        return Question(name, "Why?", "answer") if name == "reason" else super().question(name)

class Misnamed(Faces):
    name = "something-else"

class Columns(Faces):
    name = "columns"
    default_questions = ("liking", "item")

    def question(self, name):
        return Question(name, "?", "answer")

class Bare(Design):
    name = "bare"
    title = "Bare"

class Silent(Design):
    name = "silent"
    title = instructions = "Silent"
    default_questions = ("silence",)

def no_class():
    return Faces()
"""
GRIN = '{% extends "trial.html" %}{% block answers %}<p>:-)</p>{{ super() }}{% endblock %}'
CLASSES = {
    "faces": "Faces", "grin": "Grin", "lost": "Lost", "best": "Best", "explained": "Explained",
    "misnamed": "Misnamed", "columns": "Columns", "no-class": "no_class", "bare": "Bare",
    "silent": "Silent",
}  # fmt: skip
SENTENCES = EvalSet.of(
    {"A": ["it rains", "it snows"], "B": ["rain it", "snow it"], "C": ["rain", "snow"]}
)


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "installed"
    (folder / "smileys" / "templates").mkdir(parents=True)
    (folder / "smileys" / "__init__.py").write_text(MODULE)
    (folder / "smileys" / "templates" / "grin.html").write_text(GRIN)
    points = [f'{name} = "smileys:{attribute}"' for name, attribute in CLASSES.items()]
    (folder / "pyproject.toml").write_text(project_text("wellput.designs", *points))
    install(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(tmp_path)
    importlib.invalidate_caches()
    yield folder
    sys.modules.pop("smileys", None)


def answer_all(study: Study, token: str, values: dict[str, Any]) -> int:
    """Answers everything through the JSON interface. Returns the number of trials."""
    client, api = TestClient(study.app()), f"/api/judge/{token}"
    n = 0
    while (trial := client.get(f"{api}/next").json()["trial"]) is not None:
        body = {"trial": trial["id"], "answers": values, "ms": 2000}
        assert client.post(f"{api}/answers", json=body).status_code == 201
        n += 1
    return n


def test_a_design_is_known_by_name() -> None:
    assert registry.names() == [*registry.BUILT_IN, *sorted(CLASSES)]
    assert registry.create("faces:faces=5").question("liking").high == 5


def test_a_study_from_the_first_page_to_the_export() -> None:
    study = Study.create(SENTENCES, path="s.db", design="faces", judges=2, repeats=2)
    ann, bob = study.invite(judges=2)
    client = TestClient(study.app(), follow_redirects=False)
    page = client.get(f"/judge/{ann.token}").text
    assert "How do you like it?" in page and "choose a face" in page
    assert 'name="q-liking" value="3"' in page and 'type="text" id="question-1-2"' in page
    assert submit(client, page, answer_fields(page, "3")).status_code == 303
    assert "Change my last answer" in client.get(f"/judge/{ann.token}").text
    refused = client.post(
        f"/api/judge/{bob.token}/answers",
        json={
            "trial": client.get(f"/api/judge/{bob.token}/next").json()["trial"]["id"],
            "answers": {"liking": 4},
            "ms": 1,
        },
    )
    assert refused.json()["reasons"] == [
        "liking: 4 is not between 1 and 3",
        "no answer to reason",
    ]
    assert answer_all(study, ann.token, {"liking": 3, "reason": "short"}) == 7
    assert answer_all(study, bob.token, {"liking": 2, "reason": "clear"}) == 8
    study.export("out.csv")
    with Path("out.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["question"] for row in rows} == {"liking"}
    assert {(row["judge"], row["value"], row["reason"]) for row in rows} >= {
        ("J1", "3.0", "short"),
        ("J2", "2.0", "clear"),
    }
    assert len(rows) == 12
    status = study.status()
    assert [one.question for one in status.agreement] == ["liking"]
    assert [one.question for one in status.ranking] == ["liking"]
    # What was said twice differs in words for Ann, whose first reason was another; that tells nothing.
    assert [judge.consistency for judge in status.judges] == [1.0, 1.0]


@needs("chromium")
def test_questions_of_two_kinds_are_answered_by_keys(browser: Browser) -> None:
    """A digit chooses a point. The keys after it go into the text."""
    study = Study.create(SENTENCES, path="s.db", design="faces", judges=1)
    [ann] = study.invite(judges=1)
    with served(study._store, to_judges=False) as address:
        watch = Watch(browser)
        watch.page.goto(f"{address}/judge/{ann.token}")
        run_through(watch, by_keyboard)
        watch.close()
    judgments = [one for one in study.judgments() if isinstance(one, Judgment)]
    assert {(one.value, one.extra["reason"]) for one in judgments} == {(3, "fine")}


def by_keyboard(page: Page) -> None:
    for key in (*"3fine", "Enter"):
        page.keyboard.press(key)


def test_the_options_of_a_design_are_there_when_its_study_is_opened() -> None:
    Study.create(SENTENCES, path="s.db", design="faces:faces=5").close()
    opened = Study.open("s.db")
    assert opened.summary().design == "faces"
    assert opened._store.setup.design == registry.create("faces", faces=5)


def test_a_template_of_ones_own() -> None:
    study = Study.create(SENTENCES, path="s.db", design="grin")
    [ann] = study.invite(judges=1)
    page = TestClient(study.app()).get(f"/judge/{ann.token}").text
    assert "<p>:-)</p>" in page and 'name="q-liking"' in page


def test_a_question_about_all_outputs_together() -> None:
    study = Study.create(SENTENCES, path="s.db", design="best", judges=1)
    [ann] = study.invite(judges=1)
    page = TestClient(study.app()).get(f"/judge/{ann.token}").text
    assert page.count('<section class="card"') == 3 and page.count(">Which?</legend>") == 1
    assert answer_all(study, ann.token, {"best": "2"}) == 2
    judgments = [one for one in study.judgments() if isinstance(one, Judgment)]
    assert [one.value for one in judgments] == [0, 1, 0, 0, 1, 0]


def test_a_pair_with_a_reason() -> None:
    study = Study.create(SENTENCES, path="s.db", design="explained:ties=true", judges=1)
    [ann] = study.invite(judges=1)
    page = TestClient(study.app()).get(f"/judge/{ann.token}").text
    assert 'data-kind="pair"' in page and 'name="q-reason"' in page
    assert answer_all(study, ann.token, {"preference": "tie", "reason": "equal"}) == 6
    choices = study.judgments()
    assert len(choices) == 6
    for one in choices:
        assert isinstance(one, Preference)
        assert (one.choice, one.extra["reason"]) == ("tie", "equal")


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ("no-class", "The design no-class of the package wellput-test 1.0 must be a class"),
        ("bare", "has no instructions, default_questions"),
        ("silent", "has no method question"),
        ("misnamed", "needs the line `name = 'misnamed'`"),
        ("columns", "item is a column of every export: rename the question"),
        ("face", "Did you mean faces"),
        ("faces:eyes=2", "faces has no option 'eyes'"),
    ],
)
def test_designs_that_cannot_be_used(design: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Study.create(SENTENCES, path="s.db", design=design)
    assert not Path("s.db").exists()


def test_a_layout_that_a_design_does_not_have() -> None:
    with pytest.raises(InputError, match="a best design has no layout single; it has page"):
        Study.create(SENTENCES, path="s.db", design="best", layout="single")


def test_a_template_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"There is no template smileys:nowhere\.html"):
        Study.create(SENTENCES, path="s.db", design="lost").app()


def test_a_study_whose_package_is_gone(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Study.create(SENTENCES, path="s.db", design="faces").close()
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != str(package)])
    importlib.invalidate_caches()
    with pytest.raises(InputError, match=r"s\.db cannot be opened\. No design 'faces'"):
        Study.open("s.db")


def test_an_object_whose_study_could_not_be_opened_again() -> None:
    class Nameless(type(registry.create("faces"))):  # type: ignore[misc]
        name = "nameless"

    with pytest.raises(InputError, match=r"install a package .* gives this name to Nameless"):
        Study.create(SENTENCES, path="s.db", design=Nameless())
