"""The metric with features made up here."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from types import SimpleNamespace

import numpy as np
import pytest

from wellput.api.score import score
from wellput.core.evalset import Batch, EvalSet, Item
from wellput.core.metric import Floats
from wellput.language.models.fluency_model import FEATURES, FluencyModel
from wellput.language.models.linear_model import LinearModel
from wellput.metrics import fluency
from wellput.metrics.fluency import Fluency

NAMES = list(FEATURES)
N = len(NAMES)


def features_of(text: str) -> list[float]:
    """Grammar by the number of exclamation marks, and a capital or not; nothing in the empty text."""
    if not text:
        return [np.nan] * N
    row = dict.fromkeys(NAMES, 0.0) | {"grammar": -float(text.count("!"))}
    return list((row | {"capital": float(text[0].isupper())}).values())


def made_up(texts: Sequence[str], *, threads: int = 1) -> Floats:
    return np.array([features_of(text) for text in texts])


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    # sum = grammar + 2 (capital - 1); score = 1 / (1 + exp(-(sum + 1)))
    weights = np.array([{"grammar": 1.0, "capital": 2.0}.get(name, 0.0) for name in NAMES])
    means = np.array([1.0 if name == "capital" else 0.0 for name in NAMES])
    sums = LinearModel(tuple(NAMES), means, np.ones(N), weights, 0.0)
    model = FluencyModel(sums, np.array([-1.0, 1.0]), "0" * 64)
    monkeypatch.setattr(fluency, "_model", lambda folder: model)
    found = SimpleNamespace(features=made_up, fingerprint="made up")
    monkeypatch.setattr(fluency, "_english_models", lambda: found)


def sigmoid(x: float) -> float:
    return float(1 / (1 + np.exp(-x)))


def scores(metric: Fluency, texts: list[str]) -> list[float]:
    table = score(EvalSet.of({"A": texts}), [metric], keep_rows=True).table(metric.name)
    return [float(value) for value in table.scores[0]]


def test_scores_lie_on_the_curve() -> None:
    assert scores(Fluency(), ["Well", "Well!!", "well"]) == pytest.approx(
        [sigmoid(1), sigmoid(-1), sigmoid(-1)]
    )


def test_an_output_without_words_scores_nothing_and_counts() -> None:
    assert scores(Fluency(), ["Well", ""]) == pytest.approx([sigmoid(1), 0.0])
    metric = Fluency()
    summed = metric.statistics(Batch.of("A", [Item("1", {"A": "Well!"}), Item("2", {"A": ""})]))
    whole = summed.sum(axis=0)
    assert float(metric.score(whole)) == pytest.approx(sigmoid(0) / 2)
    assert float(metric.components(whole)["grammar"]) == -1  # of the one that has words


def test_how_it_is_written_down_can_be_left_out() -> None:
    assert scores(Fluency(written=False), ["well"]) == pytest.approx([sigmoid(1)])
    assert Fluency(written=False).name == "fluency:written=false"


def test_an_explanation_names_what_pulled_the_score_down() -> None:
    batch = Batch.of("A", [Item("1", {"A": "well!"}), Item("2", {"A": "Well"})])
    worse, fine = Fluency().explain(batch)
    # "well!" scores sigmoid(-2) = .12; with a capital sigmoid(0) = .5, without "!" sigmoid(-1) = .27
    assert [line.split()[1:4:2] for line in worse.splitlines()[1:]] == [
        ["0.38", "capital"],
        ["0.15", "grammar"],
    ]
    assert fine == ""


def test_the_signature_names_both_models() -> None:
    english = sha256(b"made up").hexdigest()[:12]
    assert Fluency().signature() == f"model:{'0' * 12}|english:{english}|written:true"
