"""Outputs that are objects: wellput's display schedules, and kinds that other packages bring."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import wellput
from tests.plugins import install, project_text
from wellput import EvalSet, InputError, Item
from wellput.core.output_kinds import OutputKind, kind_of, output_kinds
from wellput.core.registries import plugins
from wellput.displays.schedules import ScheduleKind
from wellput.reporting.html.evaluation import draw_shown_items, usual_metrics
from wellput.studies.media import medium_for, medium_named

MODULE = """
class Acts:
    name = "dialogue acts"
    usual_metrics = "slots"

    def knows(self, output):
        return "act" in output

    def check(self, derivation, outputs, complain):
        for system, output in outputs.items():
            if not output["act"]:
                complain(f"the output of {system} has no act")

    def text_of(self, output):
        return f"{output['act']}!"

    def medium(self):
        return None
"""
ACT = {"act": "inform"}


@pytest.fixture
def acts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "pyproject.toml").write_text(project_text("wellput.outputs", 'acts = "acts:Acts"'))
    (tmp_path / "acts.py").write_text(MODULE)
    install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("acts", None)


def test_every_object_is_a_schedule_where_no_other_package_knows_it() -> None:
    assert [kind.name for kind in output_kinds()] == ["display schedules"]
    assert kind_of(ACT).name == "display schedules"
    schedules: OutputKind = ScheduleKind()
    assert schedules.text_of({"w1": ["nd=d", "bw=u"], "w2": ["sq"]}) == "w1: nd=d, bw=u; w2: sq"


@pytest.mark.usefixtures("acts")
def test_a_kind_of_another_package_is_asked_first() -> None:
    assert [kind.name for kind in output_kinds()] == ["dialogue acts", "display schedules"]
    assert kind_of(ACT).text_of(ACT) == "inform!"
    assert kind_of({"w1": ["nd=d"]}).name == "display schedules"


@pytest.mark.usefixtures("acts")
def test_objects_are_checked_by_their_kind(tmp_path: Path) -> None:
    path = tmp_path / "acts.jsonl"
    path.write_text('{"id": "1", "outputs": {"A": {"act": "ask"}, "B": {"act": ""}}}\n')
    with pytest.raises(InputError, match=r"line 1 \(item 1\): the output of B has no act"):
        wellput.score(path, "display-tokens")


@pytest.mark.usefixtures("acts")
@pytest.mark.parametrize(
    ("metric", "scored"), [("display-tokens", "display schedules"), ("bleu", "text")]
)
def test_metrics_refuse_another_kind(metric: str, scored: str) -> None:
    item = Item("1", {"A": ACT}, ("a reference",), derivation={"id": "w1"})
    with pytest.raises(InputError, match=f"scores {scored}, but outputs of A are dialogue acts"):
        wellput.score(EvalSet([item]), metric)


@pytest.mark.usefixtures("acts")
def test_a_report_and_a_study_ask_the_kind() -> None:
    evalset = EvalSet([Item("1", {"A": ACT})])
    shown = draw_shown_items(evalset, size=1, seed=1)
    assert usual_metrics(shown, has_judgments=True) == ["slots"]
    with pytest.raises(InputError, match="A study cannot show dialogue acts"):
        medium_for(evalset)


def test_a_study_finds_the_medium_of_a_kind_by_its_name() -> None:
    assert medium_named("head").name == "head"
    with pytest.raises(InputError, match="Nothing shows outputs as 'film'"):
        medium_named("film")


def test_a_package_cannot_take_a_name_of_wellput(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = ['display-f = "acts:Acts"', 'b = "acts:Acts"', 'a = "acts:Acts"']
    (tmp_path / "pyproject.toml").write_text(project_text("wellput.metrics", *points))
    install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    found = plugins("wellput.metrics")
    assert list(found)[-3:] == ["display-distance", "a", "b"]
    assert found["display-f"].value == "wellput.displays.reproduction:DisplayF"
