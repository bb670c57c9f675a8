"""Metrics called as Hugging Face's evaluate and scikit-learn call theirs."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sacrebleu
from sklearn.base import BaseEstimator
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score

import wellput
from wellput.adapters import evaluate, score_function, scorer

PREDICTIONS = ["the cat sat on the mat", "it rained all day long"]
REFERENCES = [["the cat sat on a mat", "a cat was on the mat"], ["it rained the whole day"]]


class Repeater(BaseEstimator):  # type: ignore[misc]
    """A model with one parameter, which makes its output worse."""

    def __init__(self, spoiled: int = 0) -> None:
        self.spoiled = spoiled

    def fit(self, inputs: Any, references: Any) -> Repeater:
        return self

    def predict(self, inputs: Any) -> Any:
        return np.array([" ".join(text.split()[self.spoiled :]) for text in inputs])


TEXTS = np.array([f"the number {n} comes before the number {n + 1}" for n in range(12)])


def test_compute_gives_the_scores_of_sacrebleu() -> None:
    measured = evaluate("bleu,chrf").compute(predictions=PREDICTIONS, references=REFERENCES)
    streams: Any = [
        ["the cat sat on a mat", "it rained the whole day"],
        ["a cat was on the mat", None],
    ]
    assert measured == {
        "bleu": pytest.approx(sacrebleu.corpus_bleu(PREDICTIONS, streams).score, abs=1e-9),
        "chrf": pytest.approx(sacrebleu.corpus_chrf(PREDICTIONS, streams).score, abs=1e-9),
    }


def test_measures_can_be_computed_again_on_columns_of_a_frame() -> None:
    frame = pd.DataFrame({"out": TEXTS, "ref": TEXTS, "in": TEXTS})
    measures = evaluate(["exact", wellput.metric("length")])
    for _ in range(2):
        found = measures.compute(predictions=frame["out"], references=frame["ref"])
        assert found == {"exact": 1.0, "length": 8.0}
    assert evaluate("ttr").compute(predictions=["a a"], sources=["x"]) == {"ttr": 0.5}
    arrays = np.array([["a b", "c d"], ["e f", "g h"]])
    assert evaluate("exact").compute(predictions=arrays[:, 1], references=arrays) == {"exact": 1.0}


@pytest.mark.parametrize(
    ("predictions", "words"),
    [(["a", None], "Prediction 2 is missing"), ("abc", "one text"), (["a"], "equally long")],
)
def test_bad_columns_are_refused(predictions: Any, words: str) -> None:
    with pytest.raises(wellput.InputError, match=words):
        evaluate("exact").compute(predictions=predictions, references=["a", "b"])


def test_a_scorer_works_in_cross_validation() -> None:
    scores = cross_val_score(Repeater(), TEXTS, TEXTS, scoring=scorer("chrf"), cv=3)
    assert scores.tolist() == [100.0] * 3


@pytest.mark.parametrize("metric", ["bleu", "ter"])
def test_the_best_model_is_found_where_lower_is_better_too(metric: str) -> None:
    for scoring in (scorer(metric), make_scorer(score_function(metric))):
        search = GridSearchCV(Repeater(), {"spoiled": [2, 0, 1]}, scoring=scoring, cv=2)
        assert search.fit(TEXTS, TEXTS).best_params_ == {"spoiled": 0}


def test_a_scorer_travels_to_other_processes() -> None:
    copy = pickle.loads(pickle.dumps(scorer("gsa")))
    assert copy(Repeater(), TEXTS, TEXTS) == 1.0


def test_a_metric_without_a_direction_is_refused() -> None:
    with pytest.raises(wellput.InputError, match="length cannot choose a model"):
        scorer("length")


def test_an_undefined_score_is_no_score() -> None:
    with pytest.raises(wellput.InputError, match="ttr is undefined"):
        score_function("ttr")(["a"], [""])
