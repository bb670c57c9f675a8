"""The metric over parsers made up in tests/language/models/test_gleu_model.py's manner."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from wellput.api.score import score
from wellput.core.evalset import EvalSet
from wellput.core.work import OnPhase, ignore_progress
from wellput.language.models.english_text import SentenceFeatures
from wellput.language.models.gleu_model import GleuModel
from wellput.language.models.linear_model import LinearModel
from wellput.metrics import gleu_fluency
from wellput.metrics.gleu_fluency import GleuFluency

FEATURES = {
    "good": (1.0, 0.0, 0.0, 0.5),
    "bad": (-1.0, 0.5, 0.5, 0.5),
}


class Parsers:
    def sentence_features(
        self, texts: Sequence[str], *, threads: int = 1, on_progress: Callable[[int], None]
    ) -> SentenceFeatures:
        for begin in range(0, len(texts), 64):
            on_progress(len(texts[begin : begin + 64]))
        return SentenceFeatures.of(
            texts, 4, lambda sentences, _: np.array([FEATURES[text] for text in sentences])
        )


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    # distance = (3 log_probability - 4 nulls) / 5, the null feature's constant being 1/2
    plane = LinearModel(
        ("log_probability", "fragments", "nulls", "invalid"),
        np.zeros(4), np.ones(4), np.array([3.0, 0.0, -4.0, 0.0]), 0.0,
    )  # fmt: skip
    model = GleuModel(np.array([1.0, 1.0, 0.5, 1.0]), plane, "0" * 64)
    monkeypatch.setattr(gleu_fluency, "_gleu_model", lambda folder: model)
    monkeypatch.setattr(gleu_fluency, "english_parsers", lambda workers: Parsers())
    monkeypatch.setattr(GleuFluency, "signature", lambda self: "made up")


def scores(metric: GleuFluency, texts: list[str]) -> list[float]:
    result = score(EvalSet.of({"A": texts}), [metric], keep_rows=True)
    return [float(value) for value in result.table(metric.name).scores[0]]


def test_the_score_is_the_signed_distance() -> None:
    # good: 3/5; bad: (-3 - 4 x .5/.5) / 5 = -7/5
    assert scores(GleuFluency(), ["good", "bad"]) == pytest.approx([0.6, -1.4])


def test_a_feature_alone_is_normalized() -> None:
    metric = GleuFluency(feature="nulls")
    assert scores(metric, ["good", "bad"]) == pytest.approx([0.0, 1.0])
    assert metric.higher_is_better is False
    assert GleuFluency(feature="log_probability").higher_is_better is True


def test_an_empty_output_has_no_score_and_does_not_count() -> None:
    result = score(EvalSet.of({"A": ["good", ""]}), [GleuFluency()], keep_rows=True)
    table = result.table("gleu-fluency")
    assert np.isnan(table.scores[0, 1])
    metric = GleuFluency()
    summed = table.statistics[0].sum(axis=0)
    assert float(metric.score(summed)) == pytest.approx(0.6)
    assert {name: float(value) for name, value in metric.components(summed).items()} == {
        "log_probability": 1.0, "fragments": 0.0, "nulls": 0.0, "invalid": 0.5,
    }  # fmt: skip


def test_an_explanation_names_what_pulled_the_score_down() -> None:
    from wellput.core.evalset import Batch, Item

    batch = Batch.of("A", [Item("1", {"A": "bad"}), Item("2", {"A": "good"})])
    worse, fine = GleuFluency().explain(batch)
    assert [line.split()[3] for line in worse.splitlines()[1:]] == ["nulls", "log_probability"]
    assert "loses 0.80 by nulls +0.50:" in worse  # 4/5; the share itself, not divided by 1/2
    assert fine == ""


def test_of_a_feature_alone_nothing_else_is_to_blame() -> None:
    from wellput.core.evalset import Batch, Item

    batch = Batch.of("A", [Item("1", {"A": "bad"}), Item("2", {"A": "good"})])
    worse, fine = GleuFluency(feature="nulls").explain(batch)
    assert [line.split(":")[0] for line in worse.splitlines()] == [
        "  bad",
        "  loses 1.00 by nulls +0.50",  # .5/.5 against a mean of 0
    ]
    assert fine == ""
    (worse, _) = GleuFluency(feature="log_probability").explain(batch)
    assert "loses 1.00 by log_probability −1.00" in worse


def items_into(seen: list[int]) -> OnPhase:
    return lambda what, total=None: seen.append if what == "scoring items" else ignore_progress


def test_progress_is_said_within_a_block_and_adds_up_to_all_items() -> None:
    seen: list[int] = []
    texts = ["good", "bad"] * 70
    score(EvalSet.of({"A": texts, "B": texts}), [GleuFluency()], on_phase=items_into(seen))
    # 140 items; 64, 64 and 12 outputs of A, then of B: half an item each.
    assert seen == [32, 32, 6, 32, 32, 6]


def test_two_slow_metrics_do_not_count_items_twice() -> None:
    seen: list[int] = []
    metrics = [GleuFluency(), GleuFluency(feature="nulls")]
    score(EvalSet.of({"A": ["good"] * 130}), metrics, on_phase=items_into(seen))
    assert sum(seen) == 130
