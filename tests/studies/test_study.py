"""`wellput.Study`, as a Python program uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import wellput
from tests.studies.studies import answer_to
from wellput import EvalSet, EvalSource, InputError, Item, Metric, Study
from wellput.agreement.preferences import KEPT, REFUSED
from wellput.studies.designs.scales import Rating
from wellput.studies.store import Store

SENTENCES = EvalSet.of(
    {
        "A": ["it rains", "it snows", "the ferry is late"],
        "B": ["rain it", "it snows", "late is the ferry"],
    },
    ["it rains", "it snows", "the ferry is late"],
)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answer_everything(path: str, token: str, value: int = 0) -> None:
    store = Store.open(path)
    judge = store.judge_of(token)
    assert judge is not None
    while (trial := store.next_trial(judge)) is not None:
        store.record(judge, trial.id, answer_to(trial, value), ms=2000)
    store.close()


def test_from_an_evalset_to_agreement_with_people() -> None:
    with Study.create(SENTENCES, path="s.db", design=Rating(points=5), judges=2) as study:
        assert study.owner_token and study.title == "How well is it put?"
        assert repr(study) == "Study(s.db, rating of understandability, quality, 6 trials)"
        for number, judge in enumerate(study.invite()):
            answer_everything("s.db", judge.token, value=number)
        judgments = study.judgments()
        assert len(judgments) == 2 * 6 * 2
        wellput.write_judgments(judgments, "own.csv")
        assert study.export("out.csv").answers == 24
        assert Path("own.csv").read_text() == Path("out.csv").read_text()
        assert study.status().is_final
    again = Study.open("s.db")
    assert again.owner_token is None
    assert again.summary().to_dict() == {**study.summary().to_dict(), "owner_token": None}
    assert again.forget("J1").answers_erased == 6
    again.close()


def test_the_application_is_served_by_other_means() -> None:
    study = Study.create(SENTENCES, path="s.db", design="pairwise")
    [judge] = study.invite(judges=1, url="https://x.org/")
    assert judge.url == f"https://x.org/judge/{judge.token}"
    trial = TestClient(study.app()).get(f"/api/judge/{judge.token}/next").json()["trial"]
    assert len(trial["variants"]) == 2
    token = study.renew_owner_token()
    assert study.owner_token == token
    assert TestClient(study.app()).get(f"/dashboard/{token}").status_code == 200


def test_results_are_written_to_files() -> None:
    study = Study.create(SENTENCES, path="s.db", design="rating")
    invited = study.invite(names=["Ann"], path="links.json")
    assert json.loads(Path("links.json").read_text()) == invited.to_dict()
    study.status(path="status.csv")
    assert Path("status.csv").read_text().splitlines()[1].startswith("Ann,invited,0,6")
    study.forget("Ann", path="gone.json")
    assert json.loads(Path("gone.json").read_text()) == {"judge": "Ann", "answers_erased": 0}
    with pytest.raises(wellput.OutputError):
        study.invite(judges=1, path="no/links.json")
    assert not study.status().judges  # nobody was invited whose link nobody has


def test_settings_from_a_mapping_and_from_a_file_are_the_same() -> None:
    Path("s.toml").write_text('title = "Weather"\npoints = 5\nconsent = true\n')
    settings = {"title": "Weather", "points": 5, "consent": True}
    one = Study.create(SENTENCES, path="1.db", design="rating", settings="s.toml")
    two = Study.create(SENTENCES, path="2.db", design="rating", settings=settings)
    assert one._store.questionnaire == two._store.questionnaire
    assert one._store.questionnaire.questions[0].high == 5
    with pytest.raises(InputError, match="These settings cannot be used:\n  no setting 'titel'"):
        Study.create(SENTENCES, path="3.db", design="rating", settings={"titel": "Weather"})


def test_evalsets_of_every_kind() -> None:
    wellput.write_evalset(SENTENCES, "e.jsonl")
    opened = wellput.open_evalset("e.jsonl")
    sources: list[EvalSource | str | Path] = [SENTENCES, "e.jsonl", Path("e.jsonl"), opened]
    for number, source in enumerate(sources):
        study = Study.create(source, path=f"{number}.db", design="slider")
        assert study.summary().trials == 6


def test_trials_are_selected_by_metrics() -> None:
    length = wellput.metric("length")
    given: list[str | Metric | list[str | Metric]] = ["length", length, ["length"], [length]]
    for number, metrics in enumerate(given):
        study = Study.create(
            SENTENCES, path=f"{number}.db", design="rating", select="spread", metrics=metrics
        )
        selection = study.summary().selection
        assert selection is not None and list(selection["metrics"]) == ["length"]


def test_a_study_of_substitutions() -> None:
    items = [Item("1", {KEPT: "a [b → c] d"}), Item("2", {REFUSED: "a [b → e] d"})]
    study = Study.create(EvalSet(items), path="s.db", from_substitutions=True)
    summary = study.summary()
    assert (summary.design, summary.questions) == ("rating", ("right",))
    with pytest.raises(InputError, match="from_substitutions=True asks right or wrong"):
        Study.create(EvalSet(items), path="t.db", from_substitutions=True, design="pairwise")
    with pytest.raises(InputError, match="holds no substitutions"):
        Study.create(SENTENCES, path="t.db", from_substitutions=True)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        (
            {},
            r"Say how judges answer: design=rating\|magnitude\|slider\|pairwise\|spans\|mqm\|task",
        ),
        ({"design": Rating}, r"Rating is a class: give a design, Rating\(\)"),
        ({"design": "rating", "ties": True}, "ties= is an option of the design pairwise"),
        ({"design": "rating", "per_item": 0}, "every trial must be judged at least once"),
        ({"design": "rating", "judges": 0}, "at least one judge"),
        ({"design": "rating", "plan": "all"}, "No plan='all'; there are per-item, within-judge"),
        ({"design": "rating", "times": 2}, "times= belongs to plan='within-judge'"),
        ({"design": "rating", "metrics": "bleu"}, "add select='spread'"),
        ({"design": "rating", "select": "best"}, "No select='best'; there are random, spread"),
        ({"design": "rating", "select": "spread"}, "select='spread' needs metrics=: a metric"),
        ({"design": "rating", "layout": "grid"}, "No layout 'grid'"),
    ],
)
def test_keywords_that_make_no_study(keywords: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Study.create(SENTENCES, path="s.db", **keywords)  # type: ignore[arg-type]
    assert not Path("s.db").exists()


def test_what_cannot_be_done_with_a_study() -> None:
    study = Study.create(SENTENCES, path="s.db", design="rating")
    with pytest.raises(InputError, match="TLS needs both: certificate= and key="):
        study.serve(certificate="c.pem")
    with pytest.raises(InputError, match="No as_='xml'; there are judgments"):
        study.export("out.csv", as_="xml")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no answers to export yet"):
        study.export("out.csv")
    with pytest.raises(InputError, match="There are 2 names for 1 judge"):
        study.invite(judges=1, names="Ann,Bob")


def test_a_name_that_no_database_can_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"questions\[1\]\.name has characters \(NUL"):
        Study.create(SENTENCES, path=tmp_path / "s.db", design="rating", questions=["a\0"])
