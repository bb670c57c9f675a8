"""A study of displays: two heads side by side, in a real browser and in process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.programs import needs
from tests.studies.served_study import client_of
from tests.studies.test_browser import Watch, exported, run_through, served
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Preference
from wellput.displays.example_corpus import example_corpus
from wellput.displays.selection import select_displays
from wellput.displays.talking_head import can_speak
from wellput.studies.designs.registry import create
from wellput.studies.media import medium_for
from wellput.studies.store import Store
from wellput.studies.study_setup import StudyPlan, all_trials, make_setup, study_items


def new_head_study(folder: Path) -> Store:
    """A small version of Foster's plan: each pair of three systems twice, once in each order."""
    corpus = example_corpus(24, seed=4).items
    chosen = select_displays(corpus, ["rule", "weighted"], folds=3, seed=4).evalset
    differ = [item for item in chosen if len({str(o) for o in item.outputs.values()}) == 3]
    sets = EvalSet(differ[:6])
    design, medium = create("pairwise"), medium_for(sets)
    questionnaire = medium.reworded(design.questionnaire(), design)
    items = study_items(sets, medium)
    plan = StudyPlan(kind="within-judge", judges=2, per_item=1, times=2)
    setup = make_setup(questionnaire, plan, items, all_trials(questionnaire, items), seed=1)
    return Store.create(folder / "study.db", setup)


@pytest.mark.heavy
def test_speech_is_heard_by_its_judge_alone(tmp_path: Path) -> None:
    store = new_head_study(tmp_path)
    client = client_of(store)
    mine, other = store.invite(2)
    judge = store.judge_of(mine.token)
    assert judge is not None
    trial = store.next_trial(judge)
    assert trial is not None
    page = client.get(f"/judge/{mine.token}")
    assert page.text.count("<wellput-head ") == 2
    assert "media-src 'self'" in page.headers["content-security-policy"]
    heard = client.get(f"/judge/{mine.token}/trials/{trial.id}/speech")
    assert heard.status_code == (200 if can_speak() else 404)
    if can_speak():
        assert heard.headers["content-type"] == "audio/wav" and heard.content[:4] == b"RIFF"
    assert client.get(f"/judge/{other.token}/trials/{trial.id}/speech").status_code == 404
    store.close()


@needs("chromium")
def test_two_heads_side_by_side(browser: Browser, tmp_path: Path) -> None:
    store = new_head_study(tmp_path)
    invitation = store.invite(1)[0]
    with served(store) as address:
        watch = Watch(browser, viewport={"width": 1100, "height": 900})
        watch.page.goto(f"{address}/judge/{invitation.token}")
        heads = watch.page.locator("wellput-head")
        assert heads.count() == 2
        boxes = [heads.nth(side).bounding_box() for side in (0, 1)]
        assert boxes[0] and boxes[1] and boxes[0]["y"] == boxes[1]["y"] < 400
        # Playing is no choice; only one head speaks at a time.
        for side in (0, 1):
            heads.nth(side).get_by_role("button", name="Play", exact=True).click()
            watch.page.wait_for_function("() => document.querySelectorAll('.play')[0].textContent")
        playing = "() => [...document.querySelectorAll('wellput-head')].map(h => h.isPlaying)"
        assert watch.page.evaluate(playing) == [False, True]
        assert watch.page.locator("input:checked").count() == 0
        run_through(watch, choose_second)
        watch.close()
    answers = [a for a in exported(store, tmp_path) if isinstance(a, Preference)]
    assert len(answers) == 6
    pairs = [frozenset((answer.system_a, answer.system_b)) for answer in answers]
    assert all(pairs.count(pair) == 2 for pair in pairs)
    store.close()


def choose_second(page: Page) -> None:
    page.get_by_role("radio", name="Second").check()
    page.get_by_role("button", name="Next").click()


def test_text_and_schedules_cannot_be_mixed() -> None:
    derivation = {"id": "s", "children": [{"id": "w", "word": "fern"}]}
    mixed = EvalSet([Item("1", {"A": "a text", "B": {"w": ["sq"]}}, derivation=derivation)])
    with pytest.raises(InputError, match="the output of A is text, others are schedules"):
        study_items(mixed, medium_for(mixed))
    apart = EvalSet(
        [Item("1", {"A": "a text"}), Item("2", {"A": {"w": ["sq"]}}, derivation=derivation)]
    )
    with pytest.raises(InputError, match="item 1: the output of A is text"):
        study_items(apart, medium_for(apart))
    bare = EvalSet([Item("1", {"B": {"w": ["sq"]}})])
    with pytest.raises(InputError, match="schedules need a derivation"):
        study_items(bare, medium_for(bare))


def test_the_head_rewords_what_the_study_does_not_word_itself() -> None:
    sets = EvalSet([Item("1", {"A": {"w": ["sq"]}})])
    medium = medium_for(sets)
    pairs = create("pairwise", ties=True)
    worded = medium.reworded(pairs.questionnaire(["preference", "fluency"]), pairs)
    assert worded.title == "Which do you prefer?"
    assert "talking head" in worded.instructions and "neither better" in worded.instructions
    assert [question.text for question in worded.questions] == [
        "Which version do you prefer?",
        "Which version is more fluent?",
    ]
    own = replace(pairs.questionnaire(), title="Heads", instructions="Look.")
    kept = medium.reworded(own, pairs)
    assert (kept.title, kept.instructions, kept.medium) == ("Heads", "Look.", "head")
    rating = create("rating")
    assert medium.reworded(rating.questionnaire(), rating).instructions == rating.instructions
    assert medium_for(EvalSet([Item("1", {"A": "text"}), Item("2", {})])).name == "text"
