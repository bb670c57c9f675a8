"""Fitted metrics: loaded, checked, scored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

import wellput
from wellput.core.errors import InputError, OutputError
from wellput.core.evalset import Batch
from wellput.core.metric import Metric
from wellput.core.tree import Tree, Word
from wellput.metrics.fitted import (
    FittedMetric,
    FittedModel,
    Predictor,
    load,
    save_fitted,
    split_predictor,
)
from wellput.metrics.registry import create, create_all
from wellput.metrics.surface import Length

TARGET = "There was no cost estimate for the second phase"
GENERATED = "There was estimate for phase the second no cost"
HEADS = [5, 5, 5, 5, 0, 5, 9, 9, 6]
TREE = Tree(tuple(Word(form, head) for form, head in zip(TARGET.split(), HEADS, strict=True)))

EQUATION_4 = FittedModel(
    predictors=(
        Predictor("sta", None, 1.3147, 1.0),
        Predictor("ssa", "substitutions", -0.1039, 0.0),
    ),
    intercept=-0.4458,
    scale=0.8689,
    card={"question": "understanding", "p_value": float("nan")},
)
PLAIN = FittedModel(
    (Predictor("ssa", None, 2.0, 1.0), Predictor("length", None, -0.1, None)), 0.5, 1.0
)


@pytest.fixture
def saved(tmp_path: Path) -> str:
    path = tmp_path / "understanding.json"
    save_fitted(EQUATION_4, path)
    return str(path)


def test_equation_4_as_a_file_equals_equation_4_built_in(saved: str) -> None:
    outputs: dict[str, Sequence[str | None]] = {"LR": [GENERATED], "perfect": [TARGET]}
    evalset = wellput.EvalSet.of(outputs, [TARGET], trees=[TREE])
    result = wellput.score(evalset, [saved, "understandability"])
    for system in ("LR", "perfect"):
        fitted, built_in = result[system, saved], result[system, "understandability"]
        assert fitted.score == pytest.approx(built_in.score, abs=1e-12)
        assert fitted.components["ssa.substitutions"] == built_in.components["substitutions"]
    assert result["perfect", saved].score == pytest.approx(1)


def test_its_name_needs_and_signature(saved: str) -> None:
    metric = create(saved)
    assert isinstance(metric, Metric)
    assert metric.name == saved
    assert metric.higher_is_better is True
    assert metric.needs == {"references", "tree"}
    assert metric.perfect == {
        "score": pytest.approx(1), "sta": 1.0, "ssa.substitutions": 0.0,
    }  # fmt: skip
    sta, ssa = create("sta").signature(), create("ssa").signature()
    assert metric.signature() == f"fitted:{EQUATION_4.hash}|sta({sta})|ssa({ssa})"


def test_a_prediction_per_sentence_averaged_over_those_that_have_one() -> None:
    metric = FittedMetric.of(PLAIN, "plain.json")
    # 2·ssa − 0.1·length + 0.5: "a b" perfect 2.3; "a" half right 1.4; the third has no reference
    # words and one too many, so ssa and with it the prediction is undefined.
    batch = Batch.from_texts(["a b", "a", "x"], [["a b"], ["a b"], [""]])
    statistics = metric.statistics(batch)
    np.testing.assert_allclose(
        statistics, np.array([[2.3, 1, 1, 2], [1.4, 1, 0.5, 1], [0, 0, 0, 0]])
    )
    np.testing.assert_allclose(metric.segment_score(statistics), np.array([2.3, 1.4, np.nan]))
    total = statistics.sum(axis=0)
    assert metric.score(total) == pytest.approx(1.85)
    assert metric.components(total) == {
        "ssa": pytest.approx(0.75), "length": pytest.approx(1.5),
    }  # fmt: skip
    stacked = np.stack([statistics, statistics])
    assert metric.score(stacked).shape == (2, 3)
    assert metric.perfect == {"ssa": 1.0}


def test_it_prepares_the_metrics_it_uses() -> None:
    model = FittedModel(
        (Predictor("nist", None, 1.0, None), Predictor("ssa", None, 1.0, 1.0)), 0.0, 1.0
    )
    references = [["the cat sat"], ["the dog sat down"]]
    metric = FittedMetric.of(model, "m.json").prepare(iter(references))
    alone = create("nist").prepare(references)
    batch = Batch.from_texts(["the cat", "a dog sat"], references)
    ssa = create("ssa")
    expected = alone.segment_score(alone.statistics(batch)) + ssa.score(ssa.statistics(batch))
    np.testing.assert_allclose(metric.segment_score(metric.statistics(batch)), expected)
    assert alone.signature() in metric.signature()


@dataclass(frozen=True)
class Counting(Length):
    """A metric that must see the references: how many there are."""

    seen: int = 0

    def prepare(self, references: Iterable[Sequence[str]]) -> Self:
        return type(self)(seen=len(list(references)))


def test_several_that_learn_each_read_the_references_from_the_beginning() -> None:
    model = FittedModel(
        (Predictor("one", None, 1.0, None), Predictor("two", None, 1.0, None)), 0.0, 1.0
    )
    metric = FittedMetric("m.json", model, {"one": Counting(), "two": Counting()})
    prepared = metric.prepare(iter([["a"], ["b"], ["c"]]))
    assert [one.seen for one in prepared.metrics.values()] == [3, 3]  # type: ignore[attr-defined]


def test_the_hash_covers_what_decides_scores_and_nothing_else() -> None:
    def changed(**new: Any) -> FittedModel:
        return FittedModel(**{**vars(EQUATION_4), **new})

    assert changed(card={"other": 1}).hash == EQUATION_4.hash
    assert changed(intercept=-0.4459).hash != EQUATION_4.hash
    assert changed(scale=1.0).hash != EQUATION_4.hash
    assert changed(predictors=EQUATION_4.predictors[:1]).hash != EQUATION_4.hash
    assert len(EQUATION_4.hash) == 12


def test_what_is_saved_is_loaded_to_the_last_digit(tmp_path: Path) -> None:
    third = FittedModel((Predictor("ssa", None, 1 / 3, 1.0),), 0.1 + 0.2, 1e-7)
    save_fitted(third, tmp_path / "third.json")
    assert load(tmp_path / "third.json").model == third
    text = EQUATION_4.to_json()
    assert json.loads(text)["card"]["p_value"] is None
    assert FittedModel.from_json(text, "x").hash == EQUATION_4.hash


def test_saving_wants_a_name_that_can_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must end in \.json"):
        save_fitted(PLAIN, tmp_path / "quality")
    with pytest.raises(OutputError, match="does not exist"):
        save_fitted(PLAIN, tmp_path / "no" / "quality.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("sta", ("sta", None)),
        ("ssa.substitutions", ("ssa", "substitutions")),
        ("rouge-l.f1", ("rouge-l", "f1")),
        ("ssa:insertion=2,deletion=2.moves", ("ssa:insertion=2,deletion=2", "moves")),
        ("bleu:smooth_value=0.5", ("bleu:smooth_value=0.5", None)),
        (".sta", (".sta", None)),
    ],
)
def test_predictors_by_name(name: str, parts: tuple[str, str | None]) -> None:
    assert split_predictor(name) == parts


# --- bad files --------------------------------------------------------------------------------


def test_options_are_refused(saved: str) -> None:
    for spec in (f"{saved}:lowercase=true", f"ssa,{saved}:x=1"):
        with pytest.raises(InputError, match="takes no options"):
            create_all(spec)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"No such file: .*qualty.json"):
        create(str(tmp_path / "qualty.json"))


def edited(change: Callable[[dict[str, Any]], object]) -> str:
    value = json.loads(EQUATION_4.to_json())
    change(value)
    return json.dumps(value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"wellput": NaN}', "NaN is not allowed"),
        ("[1]", "is not a fitted metric"),
        ('{"id": "7", "references": ["a"]}', "`wellput fit` makes such files"),
        (edited(lambda v: v.update(format=2)), "this wellput reads format 1"),
        (edited(lambda v: v.pop("intercept")), "no key 'intercept'"),
        (edited(lambda v: v.update(extra=1)), "unknown key 'extra'"),
        (edited(lambda v: v.update(intercept="1")), "intercept is '1', not a finite number"),
        (edited(lambda v: v.update(intercept=True)), "intercept is True"),
        (edited(lambda v: v.update(intercept=10**400)), "not a finite number"),
        (edited(lambda v: v.update(scale=0)), "scale is 0, not above 0"),
        (edited(lambda v: v.update(scale=-1.5)), "not above 0"),
        (edited(lambda v: v.update(card=[])), "card is not an object"),
        (edited(lambda v: v.update(predictors=[])), "at least one predictor"),
        (edited(lambda v: v.update(predictors={})), "at least one predictor"),
        (edited(lambda v: v["predictors"].append(v["predictors"][0])), "sta appears twice"),
        (edited(lambda v: v["predictors"].append("ssa")), "predictor 3: is not an object"),
        (edited(lambda v: v["predictors"][0].pop("perfect")), "exactly metric, component"),
        (
            edited(lambda v: v["predictors"][0].update(metric=7)),
            "metric is not the name of a metric",
        ),
        (
            edited(lambda v: v["predictors"][0].update(metric="./a.json")),
            "which cannot be a predictor",
        ),
        (edited(lambda v: v["predictors"][0].update(component=7)), "component is neither"),
        (edited(lambda v: v["predictors"][0].update(coefficient=None)), "coefficient is not"),
        (edited(lambda v: v["predictors"][0].update(perfect="1")), "perfect is neither"),
        (edited(lambda v: v["predictors"][0].update(metric="stta")), "Did you mean sta"),
        (edited(lambda v: v["predictors"][0].update(metric="ssa:x=1")), "no option 'x'"),
    ],
)
def test_bad_files(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as error:
        create(str(path))
    assert message in str(error.value)
    assert "bad.json" in str(error.value)


def test_all_problems_are_listed_at_once() -> None:
    text = edited(lambda v: (v.pop("intercept"), v.update(scale=0), v["predictors"].append(1)))
    with pytest.raises(InputError) as error:
        FittedModel.from_json(text, "bad.json")
    for part in ("intercept", "scale", "predictor 3"):
        assert part in str(error.value)


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(InputError, match="not UTF-8"):
        load(path)


def test_a_component_that_is_not_there() -> None:
    model = FittedModel((Predictor("ssa", "substitution", 1.0, 0.0),), 0.0)
    metric = FittedMetric.of(model, "m.json")
    with pytest.raises(InputError, match=r"no component 'substitution'\. Did you mean"):
        metric.statistics(Batch.from_texts(["a"], [["a"]]))
