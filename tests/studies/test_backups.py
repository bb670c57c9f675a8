"""A copy of a study has every confirmed answer, and studies and links are private files."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.programs import needs, postgresql_folder
from tests.studies.postgresql import Server
from tests.studies.studies import answer_all, judges_of, new_setup
from wellput.api.study import Study
from wellput.core.errors import InputError
from wellput.studies.store import Store


def test_a_copy_of_a_live_study_has_all_answers(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "study.db", new_setup())
    (judge,) = judges_of(store, 1)
    answer_all(store, judge)
    # The answers still stand in the log beside the file: a plain copy does not have them.
    plain = shutil.copy(tmp_path / "study.db", tmp_path / "plain.db")
    with closing(Store.open(plain)) as lacking:
        assert lacking.judgments() == []
    with Study.open(tmp_path / "study.db") as study:
        made = study.backup(tmp_path / "copy.db")
    assert made.answers == len(store.judgments()) / 2 == 12 and made.judges == 1
    assert sorted(path.name for path in tmp_path.glob("copy.db*")) == ["copy.db"]
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    with Study.open(tmp_path / "copy.db") as copy:
        assert copy.judgments() == store.judgments()


@pytest.mark.heavy
def test_a_copy_while_judges_answer_lacks_nothing_confirmed_before(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "study.db", new_setup(n_items=40))
    begun = threading.Event()

    def work() -> None:
        (judge,) = judges_of(store, 1)
        answer_all(store, judge, at_most=5)
        begun.set()
        answer_all(store, judge)

    worker = threading.Thread(target=work)
    worker.start()
    begun.wait()
    before = len(store.judgments())
    with Study.open(tmp_path / "study.db") as study:
        study.backup(tmp_path / "copy.db")
    worker.join()
    with Study.open(tmp_path / "copy.db") as copy:
        answers = copy.judgments()
    assert len(answers) >= before
    assert {answer.item for answer in answers} <= {answer.item for answer in store.judgments()}


def test_a_copy_is_finished_although_judges_answer_between_its_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "study.db"
    store = Store.create(path, new_setup())
    n_steps = 0

    def answer(*_: int) -> None:
        nonlocal n_steps
        n_steps += 1
        assert n_steps < 20, "the copy begins again after each answer"
        with closing(sqlite3.connect(path)) as judge, judge:
            judge.execute("UPDATE trials SET planned = planned + 1")

    class Steps(sqlite3.Connection):
        def backup(self, target: sqlite3.Connection, **options: Any) -> None:
            super().backup(target, progress=answer, **options)

    # More pages than SQLite copies at once in any sensible step.
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE large AS SELECT zeroblob(8000000) AS content")
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, factory=Steps, **k))
    with Study.open(path) as study:
        study.backup(tmp_path / "copy.db")
    monkeypatch.undo()
    with Study.open(tmp_path / "copy.db") as copy:
        assert copy.judgments() == store.judgments()
    assert (tmp_path / "copy.db").stat().st_size > 8_000_000 and n_steps


def test_a_backup_is_not_opened_with_the_log_of_the_study_in_whose_place_it_was_put(
    tmp_path: Path,
) -> None:
    path, backup, log = (tmp_path / name for name in ("study.db", "copy.db", "study.db-wal"))
    store = Store.create(path, new_setup())
    first, second = judges_of(store, 2)
    answer_all(store, first)
    Study(store, str(path)).backup(backup)
    answer_all(store, second)
    answers = log.read_bytes()
    with closing(Store.open(backup)) as looked_at:
        assert looked_at.invite(1)
    backup.rename(path)
    content = path.read_bytes()
    link = tmp_path / "link.db"
    link.symlink_to(path)
    for name in (path, link):
        with pytest.raises(
            InputError, match=r"study.db-wal is not the log of .* move .*study.db-shm"
        ):
            Store.open(name)
    assert (path.read_bytes(), log.read_bytes()) == (content, answers)
    for suffix in ("-wal", "-shm"):
        (tmp_path / f"study.db{suffix}").rename(tmp_path / f"kept{suffix}")
    with closing(Store.open(path)) as restored:
        assert len(restored.judgments()) == 2 * 12
        restored.invite(1)
        assert log.stat().st_size  # the study's own log
        with closing(Store.open(path)) as again:
            assert again.judgments() == restored.judgments()


def test_a_backup_that_others_use_keeps_its_log(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "study.db", new_setup())
    Study(store, "study.db").backup(tmp_path / "copy.db")
    first, second = Store.open(tmp_path / "copy.db"), Store.open(tmp_path / "copy.db")
    first.invite(1, ["Ann"])
    first.close()
    assert (tmp_path / "copy.db-wal").stat().st_size
    second.invite(1, ["Bob"])
    with closing(Store.open(tmp_path / "copy.db")) as third:
        assert [judge.name for judge in third.overview().judges] == ["Ann", "Bob"]


def test_the_log_beside_an_empty_file_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "study.db").touch()
    (tmp_path / "study.db-wal").write_bytes(b"answers")
    with pytest.raises(InputError, match="may hold answers"):
        Store.open(tmp_path / "study.db")
    assert (tmp_path / "study.db-wal").read_bytes() == b"answers"


def test_a_study_that_was_not_closed_is_opened_with_its_log(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "study.db", new_setup())
    (judge,) = judges_of(store, 1)
    answer_all(store, judge)
    (tmp_path / "moved").mkdir()
    for suffix in ("", "-wal"):  # as they are when a program was killed
        shutil.copy(tmp_path / f"study.db{suffix}", tmp_path / "moved" / f"other.db{suffix}")
    with closing(Store.open(tmp_path / "moved" / "other.db")) as opened:
        assert opened.judgments() == store.judgments() != []


def test_a_backup_overwrites_nothing(tmp_path: Path) -> None:
    Store.create(tmp_path / "study.db", new_setup()).close()
    content = (tmp_path / "study.db").read_bytes()
    with Study.open(tmp_path / "study.db") as study:
        for path in (tmp_path / "study.db", tmp_path / "none" / "copy.db", "postgresql://x/y"):
            with pytest.raises(InputError):
                study.backup(path)
    assert (tmp_path / "study.db").read_bytes() == content


@needs("PostgreSQL")
def test_a_postgresql_study_is_copied_by_pg_dump(
    tmp_path: Path, postgresql: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgresql.new_database()
    store = Store.create(url, new_setup())
    (judge,) = judges_of(store, 1)
    answer_all(store, judge, at_most=3)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="pg_dump --format=custom"):
        Study(store, url).backup(tmp_path / "copy.dump")
    binaries = postgresql_folder()
    assert binaries is not None and not (tmp_path / "copy.dump").exists()
    monkeypatch.setenv("PATH", f"{binaries}:/usr/bin:/bin")
    assert Study(store, url).backup(tmp_path / "copy.dump").answers == 3
    restored = postgresql.new_database()
    restore = ["pg_restore", "--no-owner", f"--dbname={restored}", str(tmp_path / "copy.dump")]
    subprocess.run(restore, check=True, capture_output=True)
    assert Store.open(restored).judgments() == store.judgments()


def test_studies_and_links_are_for_their_owner_alone(tmp_path: Path) -> None:
    Store.create(tmp_path / "study.db", new_setup()).close()
    (tmp_path / "links.csv").write_text("others could read this")
    (tmp_path / "links.csv").chmod(0o644)
    with Study.open(tmp_path / "study.db") as study:
        study.invite(judges=1, path=tmp_path / "links.csv")
        study.summary().save(tmp_path / "summary.json")
        study.status(path=tmp_path / "status.txt")
        secret = ["study.db", "study.db-wal", "study.db-shm", "links.csv", "summary.json"]
        assert {(tmp_path / name).stat().st_mode & 0o777 for name in secret} == {0o600}
    assert (tmp_path / "status.txt").stat().st_mode & 0o777 != 0o600
