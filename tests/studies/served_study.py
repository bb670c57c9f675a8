"""Studies for the tests of the web application, on the real store."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from wellput.studies.app import create_app
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.questionnaire import Questionnaire, Task
from wellput.studies.security import WrongTokenCounter
from wellput.studies.store import Store
from wellput.studies.study_setup import StudyItem, StudyPlan, all_trials, make_setup

# Names that would be noticed wherever they slipped through.
SYSTEMS = ("SYSTEM-ALPHA", "SYSTEM-BETA")
ITEMS = (
    StudyItem(
        "ITEM-ONE",
        {
            SYSTEMS[0]: "There was no cost estimate for the second phase.",
            SYSTEMS[1]: "There was estimate for phase the second no cost.",
        },
        context="The first phase ended in March, two years late.",
    ),
    StudyItem(
        "ITEM-TWO",
        {
            SYSTEMS[0]: "The council votes on Tuesday.",
            SYSTEMS[1]: "On Tuesday votes council the.",
        },
    ),
)
TASKS = (
    Task("ITEM-ONE", "Which phase has no estimate?", ("the second",), ("the first", "the second")),
    Task("ITEM-TWO", "On which day is the vote?", ("Tuesday",)),
)


def new_store(
    folder: Path,
    questionnaire: Questionnaire | None = None,
    *,
    items: Sequence[StudyItem] = ITEMS,
    plan: StudyPlan | None = None,
    **changes: Any,
) -> Store:
    """A study of two items with two systems each, for two judges. `changes` change its design."""
    questionnaire = replace(questionnaire or default_questionnaire("rating"), **changes)
    setup = make_setup(
        questionnaire,
        plan or StudyPlan(judges=2, per_item=2),
        items,
        all_trials(questionnaire, items),
        seed=1,
        tasks=TASKS if questionnaire.kind == "task" else (),
    )
    return Store.create(folder / "study.db", setup)


def client_of(store: Store, *, wrong_tokens: WrongTokenCounter | None = None) -> TestClient:
    return TestClient(create_app(store, wrong_tokens=wrong_tokens), follow_redirects=False)


def fields_of(html: str) -> dict[str, str]:
    """The hidden fields of the first form on a page."""
    form = html[html.index("<form") :]
    form = form[: form.index("</form>")]
    hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form)
    return {name: unescape(value) for name, value in hidden}


def action_of(html: str) -> str:
    """Where the first form on a page goes."""
    found = re.search(r'<form method="post" action="([^"]*)"', html)
    assert found
    return found[1]


def submit(client: TestClient, html: str, values: Mapping[str, str]) -> Any:
    """Posts the first form on a page as a browser would."""
    return client.post(action_of(html), data={**fields_of(html), **values})


def answer_fields(html: str, value: str = "4") -> dict[str, str]:
    """An answer to every question of a trial's page: the value, or the first choice."""
    answers: dict[str, str] = {}
    for tag in re.findall(r"<input [^>]*>", html):
        name = re.search(r'name="(q-[^"]*)"', tag)
        if name is None:
            continue
        choice = re.search(r'value="([^"]*)"', tag)
        is_radio = 'type="radio"' in tag
        if is_radio and choice and (choice[1] == value or name[1] not in answers):
            answers[unescape(name[1])] = unescape(choice[1])
        elif not is_radio:
            answers[unescape(name[1])] = value
    return answers
