"""Plain functions as metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import wellput
from wellput.core.errors import InputError
from wellput.io.evalset_writer import write_evalset
from wellput.metrics.functions import FunctionMetric

EVALSET = wellput.EvalSet.of(
    {"A": ["a b", "c", ""], "B": ["a", "c d", "e f"]}, ["a b", "c d", "e"], sources=["x", "y", "z"]
)


def words(output: str) -> int:
    return len(output.split())


def covered(
    output: str, references: Sequence[str], source: str, weight: float = 1.0
) -> float | None:
    assert source in "xyz"
    return weight * float(output in references) if output else None


def test_a_function_is_scored_as_the_mean_of_its_numbers() -> None:
    result = wellput.score(EVALSET, [words, covered, "length"])
    assert result["A", "words"].score == pytest.approx(1.0)
    assert result["B", "words"].score == pytest.approx(5 / 3)
    assert result["A", "covered"].score == pytest.approx(1 / 2)  # the third has no score
    assert result["B", "covered"].score == pytest.approx(1 / 3)
    assert wellput.score(EVALSET, words)["A", "words"].score == pytest.approx(1.0)
    assert "function:words|code:" in str(result)


def test_lower_may_be_better() -> None:
    metric = FunctionMetric(words, higher=False)
    assert metric.higher_is_better is False
    assert metric.name == "words" and metric.needs == frozenset()
    assert FunctionMetric(covered).needs == {"references", "source"}


def test_functions_that_cannot_be_metrics() -> None:
    def bleu(output: str) -> float:
        return 1.0

    def asks(output: str, tone: str) -> float:
        return 1.0

    def says(output: str) -> str:
        return "good"

    for given, message in (
        (lambda output: 1.0, "A lambda has none"),
        (bleu, "bleu is the name of a metric of wellput"),
        (asks, "wellput has no value for tone"),
        (says, "says must return a number for each output, or None for no score, not str"),
        (7, "a function of an output, not 7"),
    ):
        with pytest.raises(InputError, match=message):
            wellput.score(EVALSET, [given])  # type: ignore[list-item]


def constant(value: float) -> Callable[[str], float]:
    """A function that is called `always`, as one made by a factory or in a cell of a notebook is."""

    def always(output: str) -> float:
        return value

    return always


def test_two_functions_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="Two functions are called always"):
        wellput.score(EVALSET, [constant(0.1), constant(0.9)])
    assert len(wellput.score(EVALSET, [words, words]).scores) == 2  # one metric, two systems


def test_a_resumed_run_computes_functions_again(tmp_path: Path) -> None:
    """The text of `always` does not change, its value does."""
    write_evalset(EVALSET, tmp_path / "evalset.jsonl")
    for value in (0.1, 0.9):
        found = wellput.score(
            tmp_path / "evalset.jsonl", constant(value), resume=tmp_path / "finished"
        )
        assert found["A", "always"].score == pytest.approx(value)


def test_equal_scores_of_systems_are_equal_whatever_the_order_of_the_items() -> None:
    """B's scores are A's in another order. In tenths, the last digit of a sum depends on the order."""
    scores = {"A": [0.1, 0.7, 0.6, 0.3, 0.9], "B": [0.9, 0.6, 0.3, 0.7, 0.1]}
    for places in ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2], [4, 3, 2, 1, 0]):
        outputs = {
            name: [str(values[place]) for place in places] for name, values in scores.items()
        }
        table = wellput.score(wellput.EvalSet.of(outputs, ["x"] * 5), number, keep_rows=True).table(
            "number"
        )
        assert table.system_scores[0] == table.system_scores[1]


def number(output: str) -> float:
    return float(output)


def test_a_fit_and_a_ranking_take_its_scores_from_a_file(tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    texts = [" ".join("abcdefgh"[: int(n)]) for n in chance.integers(1, 8, 12)]
    evalset = wellput.EvalSet.of({"A": texts}, ["a b c"] * 12)
    ratings = [
        wellput.Judgment(
            "Kim", item.id, "A", "quality", words(str(item.outputs["A"])) + chance.normal()
        )
        for item in evalset
    ]
    with pytest.raises(
        InputError, match=r"words is an object, and a name is needed here.*segments="
    ):
        wellput.fit(evalset, ratings, question="quality", predictors=[words])  # type: ignore[list-item]
    with pytest.raises(InputError, match="words is an object"):
        wellput.rank(ratings, evalset=evalset, covariates=[words])  # type: ignore[list-item]
    path = tmp_path / "own.csv"
    wellput.score(evalset, [words], segments=path)
    fit = wellput.fit(
        evalset, ratings, question="quality", predictors=[str(path)], no_rescale=True, no_probe=True
    )
    assert fit.regression.r_squared > 0.5
