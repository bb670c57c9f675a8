"""Judges may say something beside an answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.studies.served_study import answer_fields, client_of, new_store, submit
from tests.studies.studies import answer_to, new_setup
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.judge_turns import MAX_COMMENT_CHARACTERS
from wellput.studies.store import AnswerError, Store


def test_a_comment_is_stored_changed_and_exported(url: str) -> None:

    setup = new_setup(replace(default_questionnaire("rating"), comments=True))
    store = Store.create(url, setup)
    (invitation, *_) = store.invite(1)
    judge = store.judge_of(invitation.token)
    assert judge is not None
    trial = store.next_trial(judge)
    assert trial is not None and trial.comment == ""
    given = answer_to(trial)
    assert store.record(judge, trial.id, given, ms=1, comment="  odd 🐈\n") == "created"
    assert store.record(judge, trial.id, given, ms=1, comment="odd 🐈") == "repeated"
    assert store.record(judge, trial.id, given, ms=1, comment="very odd") == "superseded"
    shown = store.trial(judge, trial.id)
    assert shown is not None and shown.comment == "very odd"
    assert {one.extra["comment"] for one in store.judgments()} == {"very odd"}
    overview = store.overview()
    assert [(one.judge, one.comment) for one in overview.comments] == [("J1", "very odd")]
    with pytest.raises(AnswerError, match="longer than 2000"):
        store.record(judge, trial.id, given, ms=1, comment="x" * (MAX_COMMENT_CHARACTERS + 1))
    with pytest.raises(AnswerError, match="cannot be stored"):
        store.record(judge, trial.id, given, ms=1, comment="half \ud800")


def test_a_line_break_of_a_comment_is_one_character_however_browsers_send_it(
    tmp_path: Path,
) -> None:
    store = new_store(tmp_path, default_questionnaire("rating"), comments=True)
    (invitation,) = store.invite(1)
    client = client_of(store)
    html = client.get(f"/judge/{invitation.token}").text
    comment = "x\n" * (MAX_COMMENT_CHARACTERS // 2 - 1) + "x"
    fields = {**answer_fields(html), "comment": comment.replace("\n", "\r\n")}
    assert submit(client, html, fields).status_code == 303
    assert {one.extra["comment"] for one in store.judgments()} == {comment}


def test_a_study_without_comments_takes_none(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    (invitation, _) = store.invite(2)
    judge = store.judge_of(invitation.token)
    assert judge is not None
    trial = store.next_trial(judge)
    assert trial is not None and trial.comment is None
    with pytest.raises(AnswerError, match="takes no comments"):
        store.record(judge, trial.id, answer_to(trial), ms=1, comment="odd")
    store.record(judge, trial.id, answer_to(trial), ms=1)
    assert all("comment" not in one.extra for one in store.judgments())


@pytest.mark.parametrize("design", ["rating", "slider", "pairwise", "task", "magnitude"])
def test_every_page_has_the_field_and_keeps_what_was_typed(tmp_path: Path, design: str) -> None:
    store = new_store(tmp_path, default_questionnaire(design), comments=True)
    (invitation, _) = store.invite(2)
    client = client_of(store)
    home = f"/judge/{invitation.token}"
    html = client.get(home).text
    assert 'name="comment"' in html
    refused = submit(client, html, {"comment": "<b>odd</b>"})  # no answer to the question
    assert refused.status_code == 422 and "&lt;b&gt;odd&lt;/b&gt;</textarea>" in refused.text
    html = client.get(home).text
    sent = submit(client, html, {**answer_fields(html), "comment": "<b>odd</b>"})
    assert sent.status_code == 303
    assert next(one.extra["comment"] for one in store.judgments()) == "<b>odd</b>"
    token = store.owner_token
    client.get(f"/dashboard/{token}")
    assert "&lt;b&gt;odd&lt;/b&gt;" in client.get("/dashboard").text
