from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.programs import needs
from tests.studies.postgresql import Server
from tests.studies.studies import Clock, answer_all, answer_to, judges_of, new_setup
from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.studies import schema
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.judge_turns import MAX_REVISIONS
from wellput.studies.media import TextMedium
from wellput.studies.questionnaire import DemographicField, Task
from wellput.studies.questions import Question
from wellput.studies.store import (
    AlreadyAnswered,
    AnswerError,
    Store,
    StoreUnavailable,
    StudyClosed,
    UnknownTrial,
)
from wellput.studies.study_setup import StudyItem, all_trials, make_setup, study_items

GOOD = {"understandability": 4, "quality": 6}


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with closing(Store.create(url, new_setup())) as store:
        yield store


def rows_of(store: Store) -> int:
    with store.database.read() as connection:
        return connection.scalar(sa.select(sa.func.count()).select_from(schema.answers)) or 0


def test_a_study_is_the_same_when_opened_again(url: str) -> None:
    setup = new_setup(n_items=3, systems="AB", repeats=1)
    created = Store.create(url, setup)
    assert created.owner_token is not None
    created.close()
    opened = Store.open(url)
    assert opened.setup == setup
    assert opened.owner_token is None
    assert opened.verify_owner(created.owner_token)
    assert not opened.verify_owner("x")
    renewed = opened.renew_owner_token()
    assert opened.verify_owner(renewed)
    assert not opened.verify_owner(created.owner_token)


def test_a_study_is_never_overwritten(url: str) -> None:
    store = Store.create(url, new_setup())
    judges_of(store, 2)
    with pytest.raises(InputError, match="never overwritten"):
        Store.create(url, new_setup())
    assert len(Store.open(url).overview().judges) == 2


def test_tokens_are_stored_hashed(store: Store) -> None:
    (invitation,) = store.invite(1)
    assert len(invitation.token) == 32
    with store.database.read() as connection:
        rows = [
            *connection.execute(sa.select(schema.judges)),
            *connection.execute(sa.select(schema.study)),
        ]
    assert invitation.token not in repr(rows)
    assert store.owner_token is not None and store.owner_token not in repr(rows)
    judge = store.judge_of(invitation.token)
    assert judge is not None and judge.name == "J1"
    for wrong in ("", "x", invitation.token[:-1], invitation.token + "x", "\0", "\ud800"):
        assert store.judge_of(wrong) is None


def test_names_of_judges(store: Store) -> None:
    assert [one.judge for one in store.invite(2)] == ["J1", "J2"]
    assert [one.judge for one in store.invite(1, ["J4"])] == ["J4"]
    assert [one.judge for one in store.invite(2)] == ["J5", "J6"]
    with pytest.raises(InputError) as caught:
        store.invite(4, ["J1", "", "a\0b", "new"])
    assert str(caught.value).count("\n") == 3
    with pytest.raises(InputError, match="2 names for 1"):
        store.invite(1, ["a", "b"])
    with pytest.raises(InputError, match="at least one"):
        store.invite(0)


def test_the_same_trial_until_it_is_answered(store: Store) -> None:
    (judge,) = judges_of(store, 1)
    trial = store.next_trial(judge)
    assert trial is not None
    assert store.next_trial(judge) == trial
    assert store.trial(judge, trial.id) == trial
    assert trial.answers == {}
    assert store.record(judge, trial.id, GOOD, ms=1200) == "created"
    following = store.next_trial(judge)
    assert following is not None and following.id != trial.id


def test_an_answer_again_changes_nothing_and_another_supersedes(store: Store) -> None:
    (judge,) = judges_of(store, 1)
    trial = store.next_trial(judge)
    assert trial is not None
    assert store.record(judge, trial.id, GOOD, ms=1200) == "created"
    assert store.record(judge, trial.id, dict(GOOD), ms=9) == "repeated"
    assert store.record(judge, trial.id, {**GOOD, "quality": 6.0}, ms=9) == "repeated"
    assert rows_of(store) == 1
    assert store.record(judge, trial.id, {**GOOD, "quality": 2}, ms=9) == "superseded"
    assert rows_of(store) == 2
    values = {one.question: one.value for one in store.judgments()}  # type: ignore[union-attr]
    assert values == {"understandability": 4.0, "quality": 2.0}
    with store.database.read() as connection:
        first, second = connection.execute(sa.select(schema.answers)).all()
    assert second.supersedes == first.id
    assert first.answers == [GOOD]
    shown = store.trial(judge, trial.id)
    assert shown is not None and shown.answers == {**GOOD, "quality": 2}


def test_an_answer_cannot_be_changed_without_end(store: Store) -> None:
    (judge,) = judges_of(store, 1)
    trial = store.next_trial(judge)
    assert trial is not None
    for number in range(MAX_REVISIONS + 1):
        store.record(judge, trial.id, {**GOOD, "quality": 1 + number % 2}, ms=9)
    with pytest.raises(AlreadyAnswered, match="changed 100 times"):
        store.record(judge, trial.id, {**GOOD, "quality": 7}, ms=9)
    assert rows_of(store) == MAX_REVISIONS + 1
    assert store.record(judge, trial.id, {**GOOD, "quality": 1}, ms=9) == "repeated"


def test_undo_is_one_step(store: Store) -> None:
    (judge,) = judges_of(store, 1)
    assert store.undo(judge) is None
    first, second = store.next_trial(judge), None
    assert first is not None
    store.record(judge, first.id, GOOD, ms=1)
    second = store.next_trial(judge)
    assert second is not None
    undone = store.undo(judge)
    assert undone is not None and undone.id == first.id and undone.answers == GOOD
    assert store.undo(judge) == undone
    assert store.next_trial(judge) == undone
    assert store.progress(judge).done == 0
    assert len(store.judgments()) == 2  # the answer stays until there is another
    assert store.record(judge, first.id, {**GOOD, "quality": 1}, ms=1) == "superseded"
    assert store.next_trial(judge) == second
    # Saying the same again is an answer, too.
    store.undo(judge)
    assert store.record(judge, first.id, {**GOOD, "quality": 1}, ms=1) == "repeated"
    assert store.next_trial(judge) == second


def test_tasks_cannot_be_undone_and_give_success_and_time(url: str) -> None:
    tasks = [Task("i0", "Which number?", ("0", "zero")), Task("i1", "?", ("1",), ("1", "2"))]
    setup = new_setup(
        default_questionnaire("task"), n_items=2, systems="A", judges=1, per_item=1, tasks=tasks
    )
    store = Store.create(url, setup)
    (judge,) = judges_of(store, 1)
    while (trial := store.next_trial(judge)) is not None:
        (question,) = trial.questions
        if question.choices:
            with pytest.raises(AnswerError, match="one of 1, 2"):
                store.record(judge, trial.id, {"success": "3"}, ms=1)
        assert question.text in ("Which number?", "?")
        answer = "2" if question.choices else " Zero."
        assert store.record(judge, trial.id, {"success": answer}, ms=2500) == "created"
        assert store.undo(judge) is None
    found = {(one.item, one.question): one.value for one in store.judgments()}  # type: ignore[union-attr]
    assert found == {
        ("i0", "success"): 1.0, ("i0", "seconds"): 2.5,
        ("i1", "success"): 0.0, ("i1", "seconds"): 2.5,
    }  # fmt: skip


def test_judges_see_their_own_trials_alone(store: Store) -> None:
    one, other = judges_of(store, 2)
    trial = store.next_trial(one)
    assert trial is not None
    assert store.trial(other, trial.id) is None
    with pytest.raises(UnknownTrial):
        store.record(other, trial.id, GOOD, ms=1)
    for wrong in ("", "x", "' OR 1=1 --", "\0", "\ud800"):
        assert store.trial(one, wrong) is None
        with pytest.raises(UnknownTrial):
            store.record(one, wrong, GOOD, ms=1)


def test_what_is_shown_holds_no_system_name(url: str) -> None:
    items = (StudyItem("i", {"SECRET-A": "first", "SECRET-B": "second"}),)
    questionnaire = default_questionnaire("pairwise")
    setup = make_setup(
        questionnaire, new_setup().plan, items, all_trials(questionnaire, items), seed=1
    )
    store = Store.create(url, setup)
    judges = judges_of(store, 2)
    shown = [trial for judge in judges for trial in answer_all(store, judge)]
    assert "SECRET" not in repr(shown)
    ids = [variant.id for trial in shown for variant in trial.variants]
    assert len(set(ids)) == 4


def test_answers_of_a_page_come_by_variant(url: str) -> None:
    questionnaire = default_questionnaire("rating", layout="page", questions=["quality"])
    store = Store.create(url, new_setup(questionnaire, n_items=1, judges=1, per_item=1))
    (judge,) = judges_of(store, 1)
    trial = store.next_trial(judge)
    assert trial is not None
    with pytest.raises(AnswerError) as caught:
        store.record(judge, trial.id, {trial.variants[0].id: {"quality": 9}, "x": 1}, ms=1)
    assert len(caught.value.reasons) == 4
    good = {variant.id: {"quality": n} for n, variant in enumerate(trial.variants, start=1)}
    assert store.record(judge, trial.id, good, ms=1) == "created"
    shown = store.trial(judge, trial.id)
    assert shown is not None and shown.answers == good
    # A says, B says, C says: the value follows the text, wherever it stood.
    wanted = {variant.text[0]: n for n, variant in enumerate(trial.variants, start=1)}
    assert {one.system: one.value for one in store.judgments()} == wanted  # type: ignore[union-attr]


def test_choices_name_the_systems_as_shown(url: str) -> None:
    store = Store.create(
        url,
        new_setup(default_questionnaire("pairwise", ties=True), systems="AB", judges=1, per_item=1),
    )
    (judge,) = judges_of(store, 1)
    chosen = {}
    while (trial := store.next_trial(judge)) is not None:
        store.record(judge, trial.id, {"preference": "b"}, ms=1)
        chosen[trial.variants[0].text[-1]] = trial.variants[1].text[0]
    for one in store.judgments():
        assert one.choice == "b" and one.system_b == chosen[one.item[-1]]  # type: ignore[union-attr]


@pytest.mark.parametrize("ms", [-1, 1.5, True, None, "9"])
def test_times_must_be_milliseconds(tmp_path: Path, ms: object) -> None:
    store = Store.create(tmp_path / "s.db", new_setup())
    (judge,) = judges_of(store, 1)
    trial = store.next_trial(judge)
    assert trial is not None
    with pytest.raises(AnswerError, match="milliseconds"):
        store.record(judge, trial.id, GOOD, ms=ms)  # type: ignore[arg-type]


def test_a_very_long_time_is_kept_as_a_long_one(store: Store) -> None:
    (judge,) = judges_of(store, 1)
    trial = store.next_trial(judge)
    assert trial is not None
    assert store.record(judge, trial.id, GOOD, ms=10**30) == "created"


def test_states(store: Store) -> None:
    (judge,) = judges_of(store, 1)
    trial = store.next_trial(judge)
    assert trial is not None
    store.set_state("paused")
    with pytest.raises(StudyClosed, match="paused"):
        store.next_trial(judge)
    assert store.record(judge, trial.id, GOOD, ms=1) == "created"
    store.set_state("closed")
    with pytest.raises(StudyClosed) as caught:
        store.record(judge, trial.id, GOOD, ms=1)
    assert caught.value.state == store.state == "closed"
    store.set_state("open")
    assert store.next_trial(judge) is not None
    with pytest.raises(InputError, match="No state"):
        store.set_state("gone")  # type: ignore[arg-type]


def test_consent_comes_before_answers(url: str) -> None:
    questionnaire = replace(default_questionnaire("rating"), consent="Agree?")
    store = Store.create(url, new_setup(questionnaire))
    (invitation,) = store.invite(1)
    judge = store.judge_of(invitation.token)
    assert judge is not None and not judge.has_consented
    trial = store.next_trial(judge)
    assert trial is not None
    with pytest.raises(AnswerError, match="consent"):
        store.record(judge, trial.id, GOOD, ms=1)
    store.consent(judge)
    assert store.record(judge, trial.id, GOOD, ms=1) == "created"
    again = store.judge_of(invitation.token)
    assert again is not None and again.has_consented


def test_demographics_are_voluntary(url: str) -> None:
    fields = (DemographicField("age", "?", "choice", ("old", "young")), DemographicField("l", "?"))
    store = Store.create(
        url, new_setup(replace(default_questionnaire("rating"), demographics=fields))
    )
    (invitation,) = store.invite(1)
    judge = store.judge_of(invitation.token)
    assert judge is not None and not judge.has_demographics
    with pytest.raises(AnswerError) as caught:
        store.demographics(judge, {"age": "middle", "x": "y", "l": "a\0"})
    assert len(caught.value.reasons) == 3
    store.demographics(judge, {})
    again = store.judge_of(invitation.token)
    assert again is not None and again.has_demographics
    store.demographics(judge, {"age": "old", "l": ""})
    assert store.all_demographics() == {"J1": {"age": "old"}}


def test_forgetting_a_judge(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Free texts that were changed: both must be erased.
    monkeypatch.setattr("wellput.studies.designs.task.TaskDesign.can_undo", True)
    fields = (DemographicField("town", "?"),)
    store = Store.create(
        url,
        new_setup(
            replace(default_questionnaire("task"), demographics=fields),
            n_items=2,
            systems="A",
            judges=2,
            per_item=2,
            tasks=[Task("i0", "?", ("x",)), Task("i1", "?", ("x",))],
        ),
    )
    (leaver,) = store.invite(1, ["Wilhelmina"])
    (stayer,) = judges_of(store, 1)
    judge = store.judge_of(leaver.token)
    assert judge is not None
    store.demographics(judge, {"town": "Krautheim"})
    while (trial := store.next_trial(judge)) is not None:
        store.record(judge, trial.id, {"success": "first-answer"}, ms=1)
        store.record(judge, trial.id, {"success": "second-answer"}, ms=1)
    answer_all(store, stayer)
    assert store.forget("Wilhelmina") == 2
    assert store.judge_of(leaver.token) is None
    assert store.next_trial(stayer) is None
    overview = store.overview()
    assert (overview.forgotten, overview.forgotten_answers, len(overview.judges)) == (1, 2, 1)
    assert overview.done == 2
    with pytest.raises(InputError, match="no judge 'Wilhelmina'"):
        store.forget("Wilhelmina")
    # Somebody else can take the place.
    assert len(answer_all(store, judges_of(store, 1)[0])) == 2
    if store.database.is_sqlite:
        store.close()
        content = b"".join(path.read_bytes() for path in Path(url).parent.glob("study*"))
        for trace in (b"Wilhelmina", b"Krautheim", b"first-answer", b"second-answer"):
            assert trace not in content


def test_judges_at_once_get_their_exact_shares(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight judges in eight threads: no error, every trial judged exactly as often as planned."""
    # A thread that a busy machine keeps waiting is no judge who left.
    monkeypatch.setattr("wellput.studies.assignment_rules.ANSWERS_UNTIL_AWAY_PER_JUDGE", 1000)
    store = Store.create(url, new_setup(n_items=6, judges=8, per_item=4))
    judges = judges_of(store, 8)
    start = threading.Barrier(8)

    def work(place: int) -> int:
        start.wait()
        return len(answer_all(store, judges[place]))

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(work, range(8)))
    assert sum(done) == 6 * 3 * 4
    counts: dict[tuple[str, str], int] = {}
    for one in store.judgments():
        if one.question == "quality":
            key = (one.item, one.system)  # type: ignore[union-attr]
            counts[key] = counts.get(key, 0) + 1
    assert set(counts.values()) == {4}
    assert rows_of(store) == 72


def test_the_same_answer_from_many_at_once_is_stored_once(store: Store) -> None:
    (judge,) = judges_of(store, 1)
    trial = store.next_trial(judge)
    assert trial is not None
    start = threading.Barrier(6)

    def send(_: int) -> str:
        start.wait()
        return store.record(judge, trial.id, GOOD, ms=1)

    with ThreadPoolExecutor(6) as pool:
        outcomes = list(pool.map(send, range(6)))
    assert sorted(outcomes) == ["created", *["repeated"] * 5]
    assert rows_of(store) == 1


def test_the_same_judge_in_two_windows_gets_one_trial(store: Store) -> None:
    (judge,) = judges_of(store, 1)
    with ThreadPoolExecutor(6) as pool:
        shown = list(pool.map(lambda _: store.next_trial(judge), range(6)))
    assert len({trial.id for trial in shown if trial is not None}) == 1


def test_the_overview(url: str) -> None:
    clock = Clock()
    store = Store.create(url, new_setup(n_items=4, judges=3, per_item=3), clock=clock)
    first, second, _ = judges_of(store, 3)
    # The first judge presses one button, quickly; the second uses the scale.
    for judge in (first, second):
        number = 0
        while (trial := store.next_trial(judge)) is not None:
            given = GOOD if judge is first else answer_to(trial, number)
            store.record(judge, trial.id, given, ms=300 if judge is first else 4000)
            number += 1
    overview = store.overview()
    one, two, three = overview.judges
    assert (one.state, two.state, three.state) == ("done", "done", "invited")
    assert (one.done, one.total, three.done, three.total) == (12, 12, 0, 12)
    assert "straight-lining: every answer to quality is 6" in one.flags
    assert any("hasty" in flag for flag in one.flags)
    assert two.flags == ()
    assert (two.seconds, one.seconds) == (4.0, 0.3)
    assert (overview.done, overview.planned, overview.unreachable) == (24, 36, 0)
    assert [(item.done, item.planned) for item in overview.items] == [(6, 9)] * 4
    assert {row.question for row in overview.agreement} == {"understandability", "quality"}
    assert overview.to_dict()["agreement"][0]["r_mean"] is None


@pytest.mark.parametrize(
    ("kind", "first", "again", "is_same"),
    [
        ("rating", 4, 5, True), ("rating", 4, 6, False), ("slider", 50, 60, True),
        ("slider", 50, 61, False), ("magnitude", 100, 200, True), ("magnitude", 100, 201, False),
    ],
)  # fmt: skip
def test_consistency_allows_a_little(
    tmp_path: Path, kind: str, first: float, again: float, is_same: bool
) -> None:
    questionnaire = default_questionnaire(kind, questions=["q"])
    setup = new_setup(questionnaire, n_items=1, systems="A", judges=1, per_item=1, repeats=1)
    store = Store.create(tmp_path / "s.db", setup)
    (judge,) = judges_of(store, 1)
    for value in (first, again):
        trial = store.next_trial(judge)
        assert trial is not None
        store.record(judge, trial.id, {"q": value}, ms=1)
    assert store.overview().judges[0].consistency == float(is_same)


def test_zero_twice_is_consistent(tmp_path: Path) -> None:
    warmth = Question("warmth", "How warm?", "number", low=-5)
    asked = replace(default_questionnaire("magnitude"), questions=(warmth,))
    store = Store.create(tmp_path / "s.db", new_setup(asked, repeats=2, judges=1, per_item=1))
    (judge,) = judges_of(store, 1)
    while (trial := store.next_trial(judge)) is not None:
        store.record(judge, trial.id, {"warmth": 0}, ms=5)
    (found,) = store.overview().judges
    assert found.consistency == 1.0


def test_agreement_so_far_is_that_of_the_judges(tmp_path: Path) -> None:
    store = Store.create(
        tmp_path / "s.db", new_setup(default_questionnaire("rating", questions=["q"]), n_items=4)
    )
    for judge in judges_of(store, 3):
        while (trial := store.next_trial(judge)) is not None:
            system, _, item = trial.variants[0].text.split()
            store.record(judge, trial.id, {"q": "ABC".index(system) * 2 + 1 + int(item) % 2}, ms=1)
    (row,) = store.overview().agreement
    assert (row.n_judges, row.alpha) == (3, 1.0)
    assert row.r_mean == pytest.approx(1.0)


def test_agreement_of_choices(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s.db", new_setup(default_questionnaire("pairwise"), n_items=3))
    for judge in judges_of(store, 3):
        while (trial := store.next_trial(judge)) is not None:
            a, b = (variant.text for variant in trial.variants)
            is_odd = int(a[-1]) % 2 == 1
            store.record(judge, trial.id, {"preference": "a" if (a < b) != is_odd else "b"}, ms=1)
    (row,) = store.overview().agreement
    assert row.alpha == 1.0


def test_an_evalset_that_cannot_be_shown() -> None:
    with pytest.raises(InputError, match="nothing to judge"):
        study_items([Item("1", {}), Item("2", {})], TextMedium())
    with pytest.raises(InputError) as caught:
        study_items([Item("1", {"A": "a\0"}), Item("2", {"A\0": "b"})], TextMedium())
    assert "item 1" in str(caught.value) and "item 2" in str(caught.value)


def test_equal_texts_are_not_compared() -> None:
    items = (StudyItem("1", {"A": "x", "B": "x", "C": "y"}),)
    pairs = [trial.systems for trial in all_trials(default_questionnaire("pairwise"), items)]
    assert pairs == [("A", "C"), ("B", "C")]


# Databases that are not as they should be.


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "nowhere.db",
            "There is no study nowhere.db. `wellput study create`, in Python `wellput.Study",
        ),
        ("mysql://x/y", "A study cannot be kept in a mysql database"),
        ("postgresql://", "cannot be used|cannot be reached"),
        ("://", "not a database URL"),
    ],
)
def test_addresses_that_lead_nowhere(url: str, message: str) -> None:
    if url == "postgresql://":
        url = "postgresql://nobody:secret@127.0.0.1:1/none"
    with pytest.raises(InputError, match=message) as caught:
        Store.open(url)
    assert "secret" not in str(caught.value)


def test_files_that_are_no_studies(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("This is no database, and it is longer than a header of SQLite would be. " * 9)
    with pytest.raises(InputError, match="not an SQLite database"):
        Store.open(text)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE t (x)")
    with pytest.raises(InputError, match="is not a study"):
        Store.open(other)
    empty = tmp_path / "empty.db"
    empty.touch()
    with pytest.raises(InputError, match="is not a study"):
        Store.open(empty)
    with pytest.raises(InputError, match="folder does not exist"):
        Store.create(tmp_path / "no" / "s.db", new_setup())
    with pytest.raises(InputError, match="never overwritten"):
        Store.create(text, new_setup())
    assert text.read_text().startswith("This is no database")


def test_a_study_that_came_to_nothing_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("in the middle")

    monkeypatch.setattr("wellput.studies.store.insert_setup", fail)
    with pytest.raises(RuntimeError):
        Store.create(tmp_path / "s.db", new_setup())
    assert list(tmp_path.iterdir()) == []


def test_a_locked_database(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    Store.create(path, new_setup()).close()
    store = Store.open(path, busy_seconds=0.2)
    (judge,) = judges_of(store, 1)
    trial = store.next_trial(judge)
    assert trial is not None
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked by another program"):
            store.record(judge, trial.id, GOOD, ms=1)
        with pytest.raises(StoreUnavailable, match="locked by another program"):
            Store.open(path, busy_seconds=0.2)
        holder.execute("ROLLBACK")
    assert store.record(judge, trial.id, GOOD, ms=1) == "created"


@pytest.mark.heavy
def test_a_full_disk(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s.db", new_setup(n_items=40, judges=1, per_item=1))
    (judge,) = judges_of(store, 1)
    kept = answer_all(store, judge, at_most=3)

    def limit(connection: sqlite3.Connection, *_: object) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")

    store.database.engine.dispose()
    sa.event.listen(store.database.engine, "connect", limit)
    with pytest.raises(StoreUnavailable, match="disk is full"):
        answer_all(store, judge)
    sa.event.remove(store.database.engine, "connect", limit)
    store.database.engine.dispose()
    done = store.progress(judge).done
    assert done >= len(kept)
    answer_all(store, judge)
    assert len(store.judgments()) == 2 * 120


def test_a_database_that_is_read_only(tmp_path: Path) -> None:
    """The test needs a user who may not write: root always may."""
    path = tmp_path / "s.db"
    store = Store.create(path, new_setup())
    answer_all(store, judges_of(store, 1)[0], at_most=2)
    store.close()
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    with unprivileged(tmp_path), pytest.raises(InputError, match=r"read-only|may read and write"):
        Store.open(path)
    path.chmod(0o644)
    tmp_path.chmod(0o755)
    assert len(Store.open(path).judgments()) == 4


@contextmanager
def unprivileged(folder: Path) -> Iterator[None]:
    """Runs as a user without rights if we are root. That user may read the files."""
    if os.geteuid() != 0:
        yield
        return
    # pytest's own folders are closed to others
    parents = [p for p in folder.parents if p.is_relative_to("/tmp") and p != Path("/tmp")]
    modes = [(parent, parent.stat().st_mode) for parent in parents]
    for parent in parents:
        parent.chmod(0o755)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        for parent, mode in modes:
            parent.chmod(mode)


@needs("PostgreSQL")
def test_a_read_only_server(postgresql: Server) -> None:
    url = postgresql.new_database()
    store = Store.create(url, new_setup())
    (judge,) = judges_of(store, 1)
    trial = store.next_trial(judge)
    assert trial is not None
    name = url.split("/")[3].split("?")[0]
    with store.database.write() as connection:
        connection.execute(sa.text(f"ALTER DATABASE {name} SET default_transaction_read_only = on"))
    store.close()
    with pytest.raises(StoreUnavailable, match="the server is read-only"):
        Store.open(url).record(judge, trial.id, GOOD, ms=1)


def test_commits_are_durable(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s.db", new_setup())
    with store.database.read() as connection:
        assert connection.execute(sa.text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(sa.text("PRAGMA synchronous")).scalar() == 2  # FULL
        assert connection.execute(sa.text("PRAGMA foreign_keys")).scalar() == 1


def test_nothing_else_imports_the_database_packages() -> None:
    """`wellput score` must run without the extra."""
    code = (
        "import sys, wellput, wellput.cli.score, wellput.cli.study;"
        "sys.exit(any(name in sys.modules for name in ('sqlalchemy', 'fastapi', 'psycopg')))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=60)
    assert done.returncode == 0


def test_names_with_sql_in_them_are_names(new_url: Callable[[], str]) -> None:
    name = "'; DROP TABLE judges; --"
    items = (StudyItem("i'1\"", {"A'); --": "x' OR '1'='1", "B": "<b>y</b>"}, "c'"),)
    questionnaire = default_questionnaire("rating")
    setup = make_setup(
        questionnaire, new_setup().plan, items, all_trials(questionnaire, items), seed=1
    )
    store = Store.create(new_url(), setup)
    (invitation,) = store.invite(1, [name])
    judge = store.judge_of(invitation.token)
    assert judge is not None
    answer_all(store, judge)
    assert {one.system for one in store.judgments()} == {"A'); --", "B"}  # type: ignore[union-attr]
    assert store.forget(name) == 2
