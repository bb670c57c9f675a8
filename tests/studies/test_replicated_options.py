"""Every option of `Study.create` survives `Study.replicate`."""

from __future__ import annotations

import base64
import inspect
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.studies.test_markdown import GIF
from wellput.api.study import Study
from wellput.core.evalset import EvalSet, Item
from wellput.studies.store import Store

EVALSET = EvalSet(
    [
        Item(
            f"i{n}",
            {
                "A": f"The {word} ferry leaves the harbor at nine.",
                "B": f"At nine the {word} ferry leaves. ![a dot](dot.gif)",
            },
            references=(f"A {word} reference.",),
            source=f"Die Fähre {n}.",
            document=f"d{n // 2}",
        )
        for n, word in enumerate(("slow", "fast", "red", "old"))
    ]
)
SCREENING = '[[screening]]\ntext = "Fit?"\nchoices = ["yes", "no"]\naccepted = ["yes"]\n'
CATEGORIES = '[categories]\nlanguage = ["grammar", "spelling"]\n'
MARK = [{"start": 4, "end": 8, "severity": "major"}]

# Each option with a value other than the default, and what else it needs.
OPTIONS: dict[str, dict[str, Any]] = {
    "design": {"design": "slider"},
    "questions": {"questions": "fluency"},
    "settings": {"settings": {"title": "Own title", "thanks": "Bye."}},
    "points": {"points": 5},
    "layout": {"layout": "page"},
    "ties": {"design": "pairwise", "ties": True},
    "modulus": {"design": "magnitude", "modulus": 50.0},
    "consent": {"consent": True},
    "practice": {"practice": True},
    "demographics": {"demographics": True},
    "comments": {"comments": True},
    "show_source": {"show_source": True},
    "show_reference": {"show_reference": True},
    "categories": {"design": "mqm", "categories": "categories.toml"},
    "weights": {"design": "mqm", "weights": "minor=2,major=7"},
    "prefill": {"design": "spans", "prefill": "machine.csv"},
    "show": {"show": "markdown"},
    "media": {"show": "markdown", "media": "media"},
    "language": {"language": "ar"},
    "unit": {"unit": "answer"},
    "judges": {"judges": 5},
    "per_item": {"judges": 3, "per_item": 2},
    "plan": {"plan": "within-judge"},
    "times": {"plan": "within-judge", "times": 1},
    "repeats": {"repeats": 2},
    "checks": {"checks": 1},
    "degraded_checks": {"checks": 1, "degraded_checks": True},
    "break_every": {"break_every": 3},
    "at_most": {"at_most": 20},
    "lease": {"lease": 7.0},
    "select": {"select": "random"},
    "metrics": {"select": "spread", "metrics": "chrf"},
    "per_stratum": {"select": "random", "per_stratum": 2},
    "from_substitutions": {"design": None, "from_substitutions": True},
    "items": {"items": 2},
    "systems": {"systems": "A"},
    "open": {"open": True, "quota": 3},
    "quota": {"open": True, "judges": 3, "quota": 9},
    "screening": {"open": True, "quota": 3, "screening": "screening.toml"},
    "completion": {"open": True, "quota": 3, "completion": "CODE"},
    "place_timeout": {"open": True, "quota": 3, "place_timeout": 5.0},
    "seed": {"seed": 99},
}
WITHOUT_TRACE = {"evalset", "path", "column", "threads", "on_phase"}
"""What says where the study is made and from what, not what it is."""
FILES = ("categories", "prefill", "media", "screening")


def substitutions() -> EvalSet:
    return EvalSet([Item("1", {"kept": "a quick [reply → answer] came", "refused": "a [b → c]"})])


def make_files(folder: Path) -> None:
    (folder / "screening.toml").write_text(SCREENING, encoding="utf-8")
    (folder / "categories.toml").write_text(CATEGORIES, encoding="utf-8")
    spans = json.dumps(MARK).replace('"', '""')
    rows = f'judge,item,system,spans\nm,i0,A,"{spans}"\n'
    (folder / "machine.csv").write_text(rows, encoding="utf-8")
    (folder / "media").mkdir()
    (folder / "media" / "dot.gif").write_bytes(base64.b64decode(GIF))


def described(store: Store) -> Any:
    """Everything that is fixed when a study begins."""
    link = store.enrolment
    enrolment = None if link is None else {**asdict(link), "key": "", "secret": ""}
    return store.setup.settings(), store.setup.items, store.setup.trials, enrolment


def test_every_option_is_tried() -> None:
    assert set(OPTIONS) | WITHOUT_TRACE == set(inspect.signature(Study.create).parameters)


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_survives(tmp_path: Path, option: str) -> None:
    make_files(tmp_path)
    given: dict[str, Any] = {"design": "rating", **OPTIONS[option]}
    for name in FILES:
        if name in given:
            given[name] = tmp_path / given[name]
    evalset = substitutions() if option == "from_substitutions" else EVALSET
    with Study.create(evalset, path=tmp_path / "study.db", **given) as study:
        without = {name: value for name, value in given.items() if name != option}
        if option not in ("design", "open", "from_substitutions", "plan", "select", "metrics"):
            with Study.create(evalset, path=tmp_path / "plain.db", **without) as plain:
                assert described(plain._store) != described(study._store), "it changes nothing"
        study.replicate(tmp_path / "again.db")
        with Study.open(tmp_path / "again.db") as again:
            assert described(again._store) == described(study._store)
