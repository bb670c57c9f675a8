"""The metric with features made up here."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from types import SimpleNamespace

import numpy as np
import pytest

from wellput.api.score import score
from wellput.core.evalset import Batch, EvalSet, Item
from wellput.language.models.english_text import SentenceFeatures
from wellput.language.models.fluency_model import FLUENCY_FEATURES, FluencyModel
from wellput.language.models.linear_model import LinearModel
from wellput.metrics import fluency
from wellput.metrics.fluency import Fluency

NAMES = list(FLUENCY_FEATURES)
N = len(NAMES)


def features_of(text: str) -> list[float]:
    """Grammar by the number of exclamation marks, and a capital or not."""
    row = dict.fromkeys(NAMES, 0.0) | {"grammar": -float(text.count("!"))}
    return list((row | {"capital": float(text[0].isupper())}).values())


def made_up(texts: Sequence[str], *, threads: int = 1) -> SentenceFeatures:
    return SentenceFeatures.of(
        texts, N, lambda sentences, _: np.array([features_of(one) for one in sentences])
    )


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    # sum = grammar + 2 (capital - 1); score = 1 / (1 + exp(-(sum + 1)))
    weights = np.array([{"grammar": 1.0, "capital": 2.0}.get(name, 0.0) for name in NAMES])
    means = np.array([1.0 if name == "capital" else 0.0 for name in NAMES])
    sums = LinearModel(tuple(NAMES), means, np.ones(N), weights, 0.0)
    model = FluencyModel(sums, np.array([-1.0, 1.0]), "0" * 64)
    monkeypatch.setattr(fluency, "_model", lambda folder: model)
    found = SimpleNamespace(
        sentence_features=made_up, fingerprint="made up", offending=lambda _: {"grammar": ["!"]}
    )
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


def test_an_empty_output_scores_nothing_and_counts() -> None:
    assert scores(Fluency(), ["Well", "", " "]) == pytest.approx([sigmoid(1), 0.0, 0.0])
    metric = Fluency()
    summed = metric.statistics(Batch.of("A", [Item("1", {"A": "Well!"}), Item("2", {"A": ""})]))
    whole = summed.sum(axis=0)
    assert float(metric.score(whole)) == pytest.approx(sigmoid(0) / 2)
    assert float(metric.components(whole)["grammar"]) == -1  # of the one that has words


def test_an_output_without_english_prose_has_no_score_and_does_not_count() -> None:
    metric = Fluency()
    summed = metric.statistics(Batch.of("A", [Item("1", {"A": "Well!"}), Item("2", {"A": "!!!"})]))
    whole = summed.sum(axis=0)
    assert float(metric.score(whole)) == pytest.approx(sigmoid(0))
    assert float(metric.components(whole)["grammar"]) == -1


SILENT = ["Well", "…", "!!!", "今天下雨。", "Der Zug fährt heute erst um zwölf Uhr ab.", "f(x);"]


def test_reasons_are_counted() -> None:
    result = score(EvalSet.of({"A": SILENT, "B": ["Well"] * 6}), [Fluency()])
    found = result["A", "fluency"]
    assert found.score == pytest.approx(sigmoid(1))
    assert found.undefined == 5
    assert found.undefined_reasons == {"no words": 2, "not English": 2, "code or markup": 1}
    assert result["B", "fluency"].undefined_reasons == {}
    assert (
        "5 outputs of A have no score under fluency: code or markup 1, no words 2, not English 2."
        in str(result)
    )


def test_systems_are_compared_where_both_have_a_score() -> None:
    outputs = {"A": ["Well!", "…", "Well"], "B": ["Well", "Well!!!", "Well"]}
    result = score(EvalSet.of(outputs), [Fluency()], paired="jackknife", baseline="A")
    [difference] = result.differences
    assert difference.n == 2
    assert difference.delta == pytest.approx((sigmoid(1) - sigmoid(0)) / 2)


def test_reasons_of_samples_are_those_of_outputs() -> None:
    items = [Item("1", {"A": ("!!!", "今天下雨。")}), Item("2", {"A": ("Well", "!!!")})]
    found = score(EvalSet(items), [Fluency()])["A", "fluency"]
    assert (found.undefined, found.undefined_reasons) == (1, {"no words": 1})


def test_without_the_check_every_text_is_scored() -> None:
    metric = Fluency(check=False)
    assert scores(metric, ["!!!"]) == pytest.approx([sigmoid(1 - 3 - 2)])
    assert not np.isnan(scores(metric, SILENT[2:])).any()


def test_one_bad_sentence_shows() -> None:
    # Sentences score sigmoid(1), sigmoid(-1), sigmoid(1): the mean and the worst, halved.
    good, bad = sigmoid(1), sigmoid(-1)
    text = "A cat sat. A cat sat!! A cat sat."
    assert scores(Fluency(), [text]) == pytest.approx([((2 * good + bad) / 3 + bad) / 2])
    [explained] = Fluency().explain(Batch.of("A", [Item("1", {"A": text})]))
    assert explained.splitlines()[0] == "  worst sentence, 2 of 3: A cat sat!!"
    assert "grammar −2.00 (!):" in explained


def test_prose_in_markdown_is_scored_by_its_prose() -> None:
    plain = scores(Fluency(), ["A cat sat."])
    marked = "# cats\n\n- A **cat** sat.\n\n```\nsat()!!!\n```"
    assert scores(Fluency(), [marked]) == plain


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
    assert Fluency().signature() == f"model:{'0' * 12}|english:{english}|written:true|check:true"
