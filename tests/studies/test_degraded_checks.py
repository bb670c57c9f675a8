"""Attention checks made from the data, and breaks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.studies.served_study import answer_fields, client_of, new_store, submit
from wellput.api.study import Study
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet
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
