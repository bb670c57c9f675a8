from __future__ import annotations

import json
from pathlib import Path

import pytest

import wellput
from tests.studies.studies import answer_all, judges_of, new_setup
from wellput import Study
from wellput.core.errors import InputError, OutputError
from wellput.core.judgment import Judgment, Preference
from wellput.io import read_judgments
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.enrolment import new_enrolment
from wellput.studies.exports import design_path, export
from wellput.studies.store import Store
from wellput.studies.study_setup import StudyItem, StudyPlan, all_trials, make_setup


@pytest.fixture
def ratings(url: str) -> Store:
    store = Store.create(url, new_setup(repeats=1))
    for judge in judges_of(store, 3):
        answer_all(store, judge)
    return store


@pytest.fixture
def choices(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "p.db", new_setup(default_questionnaire("pairwise", ties=True)))
    for judge in judges_of(store, 3):
        answer_all(store, judge)
    return store


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".csv.gz"])
def test_judgments_come_back_as_they_are(ratings: Store, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    done = export(ratings, str(path))
    assert done.answers == 72
    found = read_judgments(path)
    assert found == ratings.judgments()
    assert isinstance(found[0], Judgment)
    assert set(found[0].extra) == {"ms", "position", "recorded_at"}
    beside = json.loads((tmp_path / "out.design.json").read_text(encoding="utf-8"))
    assert beside["design"]["questions"][0]["labels"]["7"] == "Extremely easy"
    assert (beside["seed"], beside["plan"]["per_item"], beside["trials"]) == (
        7,
        3,
        12,
    )
    assert [judge["judge"] for judge in beside["judges"]] == ["J1", "J2", "J3"]


def test_choices_come_back_as_they_are(choices: Store, tmp_path: Path) -> None:
    export(choices, str(tmp_path / "out.csv"))
    found = read_judgments(tmp_path / "out.csv")
    assert found == choices.judgments()
    assert isinstance(found[0], Preference)


def test_repeats_and_questions_by_request(ratings: Store, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    assert export(ratings, str(path), repeats=True).answers == 78
    assert sum(one.extra["repeat"] == "1" for one in read_judgments(path)) == 6
    assert export(ratings, str(path), question="quality").answers == 36
    with pytest.raises(InputError, match="the questions are understandability, quality"):
        export(ratings, str(path), question="fluency")


def test_where_the_design_goes() -> None:
    assert design_path("a/b.csv.gz") == Path("a/b.design.json")
    assert design_path("b.jsonl") == Path("b.design.json")


@pytest.mark.parametrize(
    ("study", "made"),
    [("a.csv", "a.csv"), ("a.design.json", "a.csv"), ("a.payments.csv", "a.tsv")],
)
def test_no_export_replaces_its_study(tmp_path: Path, study: str, made: str) -> None:
    store = Store.create(tmp_path / study, new_setup())
    store.open_enrolment(new_enrolment(quota=2))
    answer_all(store, judges_of(store, 1)[0])
    with pytest.raises(OutputError, match="it is the input"):
        export(store, str(tmp_path / made))
    assert len(Store.open(tmp_path / study).judgments()) == len(store.judgments())


def test_no_report_replaces_its_study(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with Study(Store.create(path, new_setup()), path) as study:
        for method in (study.status, study.datasheet, study.invite):
            with pytest.raises(OutputError, match="it is the input"):
                method(path=path)


def test_who_the_judges_are_is_for_the_owner_alone(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s.db", new_setup())
    store.open_enrolment(new_enrolment(quota=2))
    answer_all(store, judges_of(store, 1)[0])
    done = export(store, str(tmp_path / "out.csv"))
    assert done.design and done.payments
    for file in (done.design, done.payments):
        assert Path(file).stat().st_mode & 0o077 == 0


def test_nothing_to_export(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s.db", new_setup())
    with pytest.raises(InputError, match="no answers to export yet"):
        export(store, str(tmp_path / "out.csv"))
    assert not (tmp_path / "out.csv").exists()


def test_evalica_round_trip(choices: Store, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    export(choices, str(path), target="evalica")
    assert path.read_text().startswith("left,right,winner,judge,item,question\n")
    found = read_judgments(path)
    key = lambda one: (one.judge, one.item, one.system_a, one.system_b, one.choice)  # noqa: E731
    assert list(map(key, found)) == list(map(key, choices.judgments()))
    with pytest.raises(InputError, match="ratings"):
        store = Store.create(tmp_path / "r.db", new_setup())
        answer_all(store, judges_of(store, 1)[0])
        export(store, str(path), target="evalica")


def test_mt_metrics_eval_round_trip(ratings: Store, choices: Store, tmp_path: Path) -> None:
    path = tmp_path / "en-de.quality.seg.score"
    with pytest.raises(InputError, match="question="):
        export(ratings, str(path), target="mt-metrics-eval")
    export(ratings, str(path), target="mt-metrics-eval", question="quality")
    lines = path.read_text().splitlines()
    assert len(lines) == 12
    assert all(len(line.split("\t")) == 2 for line in lines)
    found = {(one.item, one.system): one.value for one in read_judgments(path)}  # type: ignore[union-attr]
    given: dict[tuple[str, str], list[float]] = {}
    for one in ratings.judgments():
        assert isinstance(one, Judgment)
        if one.question == "quality":
            given.setdefault((str(int(one.item[1:]) + 1), one.system), []).append(one.number)
    assert found == {key: pytest.approx(sum(v) / len(v)) for key, v in given.items()}
    system = tmp_path / "quality.sys.score"
    export(ratings, str(system), target="mt-metrics-eval", question="quality")
    assert len(system.read_text().splitlines()) == 3
    with pytest.raises(InputError, match="ends in"):
        export(ratings, str(tmp_path / "x.csv"), target="mt-metrics-eval", question="quality")
    with pytest.raises(InputError, match="pairwise"):
        export(choices, str(path), target="mt-metrics-eval")


@pytest.mark.parametrize("is_finished", [True, False])
def test_the_state_of_a_study_ranks_as_rank_does_on_its_export(
    tmp_path: Path, is_finished: bool
) -> None:
    """12 items of 4 documents, 3 systems, 3 judges. Without the documents the ranking would be
    another one: it would have no variance of documents."""
    questionnaire = default_questionnaire("rating")
    items = tuple(
        StudyItem(f"i{k}", {system: f"{system} {k}" for system in "ABC"}, document=f"d{k // 3}")
        for k in range(12)
    )
    setup = make_setup(
        questionnaire,
        StudyPlan(judges=3, per_item=3),
        items,
        all_trials(questionnaire, items),
        seed=7,
    )
    store = Store.create(tmp_path / "s.db", setup)
    for judge in judges_of(store, 3):
        answer_all(store, judge, at_most=10_000 if is_finished else 24)
    export(store, str(tmp_path / "out.csv"))
    assert {one.extra["document"] for one in read_judgments(tmp_path / "out.csv")} == {
        "d0", "d1", "d2", "d3",
    }  # fmt: skip
    shown = Store.open(tmp_path / "s.db").overview()
    ranked = wellput.rank(str(tmp_path / "out.csv"), sequential=not is_finished)
    for one, other in zip(shown.ranking, ranked.rankings, strict=True):
        assert json.dumps(one.to_dict()) == json.dumps(other.to_dict())
        assert one.to_dict()["variance"]["document"] is not None
        assert "12 items of 4 documents" in str(shown) and "12 items of 4 documents" in str(ranked)
        if is_finished:
            assert one.scope == "these systems, other documents and other judges"
