"""Judgments as panels: normalization per judge, exclusions, unknown names."""

from __future__ import annotations

import numpy as np
import pytest

from wellput.agreement.panel import Exclusion, Normalization, Panel, normalized, panels
from wellput.core.errors import InputError
from wellput.core.estimates import with_equal_ties
from wellput.core.judgment import Judgment


def rated(judge: str, values: list[float | None], question: str = "quality") -> list[Judgment]:
    """Ratings of system A on items 1, 2, …; None where there is none."""
    return [
        Judgment(judge, str(place), "A", question, value)
        for place, value in enumerate(values, start=1)
        if value is not None
    ]


def panel_of(*rows: list[float | None]) -> Panel:
    judgments = [row for n, values in enumerate(rows) for row in rated(f"J{n + 1}", values)]
    items = [str(n + 1) for n in range(len(rows[0]))]
    return panels(judgments, ["A"], items)["quality"]


@pytest.mark.parametrize(
    ("normalization", "expected"),
    [
        ("none", [1, 3, 5, 3]),
        # mean 3, sample standard deviation √((4 + 0 + 4 + 0) / 3) = 1.633
        ("z", [-2 / 1.632993, 0, 2 / 1.632993, 0]),
        ("unit", [0, 0.5, 1, 0.5]),
        # ranks 0, 1.5, 3, 1.5 of 0 to 3
        ("rank", [0, 0.5, 1, 0.5]),
    ],
)
def test_normalization(normalization: Normalization, expected: list[float]) -> None:
    ready = normalized(panel_of([1, 3, 5, 3]), normalization)
    np.testing.assert_allclose(ready.ratings[0, 0], expected, atol=1e-6)
    assert ready.normalization == normalization


def test_missing_cells_and_means() -> None:
    panel = panel_of([1, None, 3], [3, None, None])
    np.testing.assert_array_equal(panel.means, [[2, np.nan, 3]])
    assert panel.units.shape == (2, 2)
    table = panel.table()
    assert table.present.tolist() == [[True, False, True]]
    assert table.system_scores.tolist() == [2.5]


def test_a_judge_who_rated_a_trial_twice_counts_with_the_mean() -> None:
    twice = [*rated("J1", [1]), *rated("J1", [4])]
    assert panels(twice, ["A"], ["1"])["quality"].means[0, 0] == 2.5


@pytest.mark.parametrize("normalization", ["z", "unit", "rank"])
def test_a_judge_of_zero_variance_is_left_out_and_recorded(normalization: Normalization) -> None:
    ready = normalized(panel_of([4, 4, 4], [1, 2, 3]), normalization)
    assert np.isnan(ready.ratings[0]).all()
    (exclusion,) = ready.excluded
    assert (exclusion.judge, exclusion.n) == ("J1", 3)
    assert "every rating is 4" in exclusion.reason


def test_exclusions_are_counted_and_kept_with_their_reason() -> None:
    panel = panel_of([1, 2, 3], [4, 5, None])
    without = panel.without(Exclusion("quality", "happened to be fine", item="2"))
    assert np.isnan(without.ratings[:, 0, 1]).all()
    assert without.excluded[0].n == 2
    assert not panel.excluded
    assert not panel.has(Exclusion("quality", "?", judge="J9"))


def test_all_unknown_names_are_listed() -> None:
    judgments = [
        *rated("J1", [1]),
        Judgment("J1", "9", "A", "quality", 1.0),
        Judgment("J1", "1", "C", "quality", 1.0),
    ]
    with pytest.raises(InputError) as error:
        panels(judgments, ["A"], ["1"])
    assert "item '9' (1 judgment)" in str(error.value)
    assert "system 'C' (1 judgment)" in str(error.value)


def test_no_judgments() -> None:
    with pytest.raises(InputError, match="no judgments"):
        panels([], ["A"], ["1"])


def test_a_table_that_does_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wellput.agreement.panel.MAX_CELLS", 11)
    judgments = [Judgment(f"J{n}", "1", "A", "quality", 3.0) for n in range(4)]
    assert panels(judgments, ["A"], ["1", "2"])["quality"].n_judges == 4
    with pytest.raises(InputError, match=r"4 judges; with 1 system and 3 items .* 12 cells"):
        panels(judgments, ["A"], ["1", "2", "3"])


def test_means_that_differ_by_rounding_are_ties() -> None:
    """In tenths, the mean of three ratings depends on the order of the judges in its last digit."""
    values = {"a": (0.1, 0.2, 0.7), "b": (0.7, 0.2, 0.1), "c": (0.3, 0.3, 0.5)}
    judgments = [
        Judgment(f"J{n}", item, "A", "q", value, {})
        for item, ratings in values.items()
        for n, value in enumerate(ratings)
    ]
    for rows in (judgments, judgments[::-1]):
        (means,) = panels(rows, ["A"], list(values))["q"].means
        assert means[0] == means[1] < means[2]


def test_ties_are_those_of_a_row() -> None:
    """Of systems without one item each, as the jackknife leaves them out."""
    tenths = (0.1 + 0.2 + 0.7) / 3
    rows = np.array(
        [[tenths, (0.7 + 0.2 + 0.1) / 3, np.nan], [0.5, np.inf, 0.5 + 1e-15], [1, 2, 3]]
    )
    found = with_equal_ties(rows)
    assert found[0, 0] == found[0, 1] and np.isnan(found[0, 2])
    assert found[1].tolist() == [0.5, np.inf, 0.5]
    assert found[2].tolist() == [1, 2, 3]
