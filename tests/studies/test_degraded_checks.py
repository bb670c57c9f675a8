"""Attention checks made from the data, and breaks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.studies.served_study import answer_fields, client_of, new_store, submit
from tests.studies.studies import judges_of
from wellput.api.study import Study
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.studies.degraded_checks import spoiled
from wellput.studies.expected_answers import passes
from wellput.studies.store import Store

OUTPUTS = {
    "A": [f"The {word} ferry leaves the old harbor at nine today." for word in ("slow", "fast")],
    "B": [f"At nine the {word} ferry will leave from the harbor." for word in ("slow", "fast")],
}


def test_half_of_the_words_are_foreign_and_all_are_kept_in_number() -> None:
    bad = spoiled("a b c d e f g", "X Y", np.random.default_rng(1)).split()
    assert len(bad) == 7
    assert sum(word in ("X", "Y") for word in bad) == 4  # half of 7, rounded up
    kept = Counter(word for word in bad if word not in ("X", "Y"))
    assert not kept - Counter("abcdefg")


def test_a_spoiled_output_must_be_rated_in_the_lower_half(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    Study.create(
        EvalSet.of(OUTPUTS), path=path, design="rating", checks=1, degraded_checks=True
    ).close()
    store = Store.open(path)
    check = store.setup.checks[0]
    assert len(store.setup.checks) == 4
    assert check.texts[0] not in {text for texts in OUTPUTS.values() for text in texts}
    assert check.expected == {"understandability": [1, 4], "quality": [1, 4]}
    assert passes(store.setup, check, [{"understandability": 2, "quality": 4}])
    assert not passes(store.setup, check, [{"understandability": 2, "quality": 5}])


def test_a_spoiled_output_must_lose_in_a_pair(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    Study.create(
        EvalSet.of(OUTPUTS), path=path, design="pairwise", checks=1, degraded_checks=True
    ).close()
    store = Store.open(path)
    whole = {text for texts in OUTPUTS.values() for text in texts}
    for check in store.setup.checks:
        [right] = set(check.expected.values())
        assert check.texts["ab".index(right)] in whole
        assert check.texts["ba".index(right)] not in whole


def test_designs_without_a_scale_have_no_spoiled_checks(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs a scale"):
        Study.create(
            EvalSet.of(OUTPUTS),
            path=tmp_path / "s.db",
            design="magnitude",
            checks=1,
            degraded_checks=True,
        )
    with pytest.raises(InputError, match="needs the number of checks"):
        Study.create(
            EvalSet.of(OUTPUTS), path=tmp_path / "s.db", design="rating", degraded_checks=True
        )
    assert not (tmp_path / "s.db").exists()


def test_a_break_is_suggested_after_every_second_answer(tmp_path: Path) -> None:
    store = new_store(tmp_path, break_every=2)
    (invitation, _) = store.invite(2)
    client, home = client_of(store), f"/judge/{invitation.token}"
    suggested = []
    while 'id="answer"' in (page := client.get(home).text):
        suggested.append("short break" in page)
        submit(client, page, answer_fields(page))
    assert suggested == [False, False, True, False]
    assert Store.open(tmp_path / "study.db").questionnaire.break_every == 2


@pytest.mark.parametrize("design", ["spans", "mqm"])
def test_where_errors_are_marked_a_mark_must_touch_the_foreign_words(
    tmp_path: Path, design: str
) -> None:
    evalset = EvalSet(
        [
            Item(f"i{n}", {"A": f"{word} " * 8 + "end."}, source=f"S{n}.", document="d")
            for n, word in enumerate(("red", "blue", "green"))
        ]
    )
    with Study.create(
        evalset,
        path=tmp_path / "study.db",
        design=design,
        judges=1,
        checks=2,
        degraded_checks=True,
    ) as study:
        setup = study._store.setup
        for check in setup.checks:
            assert check.made_of is not None
            item = setup.items[check.made_of[0]]
            place = check.expected["errors"]
            own = item.outputs["A"]
            changed = check.texts[0][place["start"] : place["end"]]
            assert len(changed.split()) == 3 and own.split()[0] not in changed
            assert check.texts[0][: place["start"]] == own[: place["start"]]
            # In the document of the output, which its judge would miss otherwise.
            assert check.source == item.source
            touch = {"start": place["end"] - 1, "end": place["end"] + 1, "text": "x"}
            beside = {"start": 0, "end": place["start"], "text": "x"}
            lack = {"start": "missing", "end": "missing", "text": ""}
            other = {"errors": [touch], "quality": 100}
            assert passes(setup, check, [other])
            assert not passes(setup, check, [{**other, "errors": [lack]}])
            assert not passes(setup, check, [{**other, "errors": []}])
            if place["start"]:
                assert not passes(setup, check, [{**other, "errors": [beside]}])
        (judge,) = judges_of(study._store, 1)
        shown = []
        while (trial := study._store.next_trial(judge)) is not None:
            answers: dict[str, object] = {"errors": []}
            if design == "spans":
                answers["quality"] = 50
            study._store.record(judge, trial.id, answers, ms=1)
            shown.append(trial)
        assert len(shown) == 5
        assert all(len(t.sources_before) + len(t.sources_after) == 2 for t in shown)
        (overview,) = study.status().judges
        assert (overview.checks, overview.checks_failed) == (2, 2)
