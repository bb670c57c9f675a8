"""level=, average= and coefficient= still give the old figures, and say what to write instead."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.stats.test_permutation import three_scorers
from wellput.stats.correlation import Correlation, correlate, tie_threshold
from wellput.stats.correlation_resampling import (
    boot_both,
    boot_difference,
    boot_inputs,
    boot_systems,
    bootstrap_correlation,
    correlation_replicates,
    perm_both,
    perm_cells,
    perm_inputs,
    perm_systems,
    permutation_test,
)
from wellput.stats.metric_comparison import compare_all, williams_test

X, Y, Z = three_scorers(5, 7, 20, 1)
KENDALL_BY_ITEM = Correlation(average="item", coefficient="kendall")
FEW: dict[str, Any] = {"n_resamples": 50}
TESTS = (perm_both, perm_cells, perm_inputs, perm_systems, permutation_test, boot_difference)
INTERVALS = (boot_both, boot_inputs, boot_systems, bootstrap_correlation)

# Function, arguments, and which correlation it took without any of the keywords.
FUNCTIONS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], Correlation]] = [
    (correlate, (X, Z), {}, Correlation()),
    (tie_threshold, (X, Z), {}, Correlation(average="item")),
    *((test, (X, Y, Z), FEW, KENDALL_BY_ITEM) for test in TESTS),
    *((interval, (X, Z), FEW, KENDALL_BY_ITEM) for interval in INTERVALS),
    (correlation_replicates, (X, Z), {"drawn": "both", "seed": 3, **FEW}, Correlation()),
    (williams_test, (X, Y, Z), {}, Correlation("system")),
    (compare_all, ({"x": X, "y": Y}, Z), FEW, KENDALL_BY_ITEM),
]
IDS = [function.__name__ for function, *_ in FUNCTIONS]


def values(result: Any) -> Any:
    """The result in a form that == can compare: arrays as lists."""
    return result.estimates if hasattr(result, "estimates") else result


@pytest.mark.parametrize(("function", "scores", "options", "before"), FUNCTIONS, ids=IDS)
@pytest.mark.parametrize("old", [{"level": "system"}, {"average": "none"}], ids=str)
def test_old_keywords_give_what_they_gave(
    function: Callable[..., Any],
    scores: tuple[Any, ...],
    options: dict[str, Any],
    before: Correlation,
    old: dict[str, Any],
) -> None:
    meant = Correlation(
        old.get("level", before.level), old.get("average", before.average), before.coefficient
    )
    keyword = next(iter(old))
    with pytest.warns(DeprecationWarning) as warned:
        result = function(*scores, **options, **old)
    assert [str(one.message) for one in warned] == [
        f"{function.__name__}() takes one correlation instead of {keyword}=: "
        f"pass correlation={meant!r}."
    ]
    assert warned[0].filename == __file__  # where it has to be changed
    expected = function(*scores, meant, **options)
    np.testing.assert_equal(values(result), values(expected))


@pytest.mark.parametrize(("function", "scores", "options", "before"), FUNCTIONS, ids=IDS)
def test_the_same_correlation_and_seed_are_the_default_everywhere(
    function: Callable[..., Any],
    scores: tuple[Any, ...],
    options: dict[str, Any],
    before: Correlation,
) -> None:
    parameters = inspect.signature(function).parameters
    assert parameters["correlation"].default == Correlation()
    if "seed" in parameters and "seed" not in options:
        assert parameters["seed"].default == 12345
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = function(*scores, **options)
    np.testing.assert_equal(
        values(result), values(function(*scores, correlation=Correlation(), **options))
    )


def test_both_at_once_are_refused() -> None:
    with (
        pytest.warns(DeprecationWarning),
        pytest.raises(TypeError, match=r"multiple values for .*correlation"),
    ):
        correlate(X, Z, Correlation(), coefficient="kendall")  # type: ignore[call-arg]
