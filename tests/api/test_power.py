"""`wellput.power` with Python values; its errors name keywords."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wellput


def test_numbers_in_a_list_an_array_or_a_text_are_the_same() -> None:
    by_text = wellput.power(difference=0.5, items="20,40", judges="1,2", simulations=200)
    arrays = (np.array([20, 40]), np.array([1, 2]))
    for items, judges in (([20, 40], (1, 2)), arrays):
        table = wellput.power(difference=0.5, items=items, judges=judges, simulations=200)
        assert table.to_dict() == by_text.to_dict()


def test_default_judges_are_one_three_and_five() -> None:
    table = wellput.power(difference=0.5, items=20, simulations=200)
    assert [row.n_judges for row in table.rows] == [1, 3, 5]
    assert ",," not in table.to_dict()["power"][0]["method"]
    metrics = wellput.power(metric_correlations=(0.5, 0.3, 0.6), items=20, simulations=200)
    assert [row.n_judges for row in metrics.rows] == [None]


def test_with_one_judge_the_note_says_so() -> None:
    only = "With 1 judge the result of the study will hold for that judge only."
    assert only in str(wellput.power(difference=0.5, items=20, judges=[1, 3], simulations=200))
    for options in ({"judges": 3}, {"judges": [1, 3], "sd_judge": 0.5}):
        assert only not in str(wellput.power(difference=0.5, items=20, simulations=200, **options))


def test_judges_are_named_where_no_number_of_items_is_enough() -> None:
    # Without noise t has n - 1 degrees of freedom and the mean 0.5 / (0.5 / √n): 3 for 9 judges
    # (a power of .75), √10 for 10 (.80).
    few = wellput.power(difference=0.5, sd_judge=0.5, judges=[4], items=[50])
    assert few.smallest[0].n_items is None
    assert few.notes == ("A power of 0.8 takes at least 10 judges, with any number of items.",)
    enough = wellput.power(difference=0.5, sd_judge=0.5, judges=[10, 9], items=[50])
    assert [one.n_items is None for one in enough.smallest] == [False, True]


def test_no_number_of_judges_finds_a_tiny_difference() -> None:
    table = wellput.power(difference=0.001, sd_judge=1, judges=[4], items=[50])
    assert table.notes == ("Not even 10,000 judges reach 0.8: the difference is too small.",)


def test_the_noise_is_that_of_one_rating() -> None:
    # A difference of two ratings has twice its variance: as much as items that differ by √2 · 0.7.
    noisy = wellput.power(difference=0.5, items=30, judges=1, sd_item=0, sd_noise=0.7)
    items = wellput.power(difference=0.5, items=30, judges=1, sd_item=0.7 * 2**0.5, sd_noise=0)
    assert noisy.rows[0].power.value == items.rows[0].power.value
    assert noisy.smallest == items.smallest


def test_path_writes_the_format_of_its_suffix(tmp_path: Path) -> None:
    path = tmp_path / "power.csv"
    wellput.power(difference=0.5, items=20, judges=1, simulations=200, path=path)
    assert path.read_text().startswith("items,judges,power,low,high,method\n20,1,")


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        (
            {},
            r"two systems \(difference=0.2, or pilot=\), or two metrics \(metric_correlations='0.45,",
        ),
        ({"difference": 1, "items": [5, 0, 2.5]}, "items= takes .*: 0, 2.5 are not"),
        ({"difference": 1, "judges": []}, "judges= takes whole numbers"),
        ({"difference": 1, "pilot_judges": 2}, "pilot_judges= has no effect .*: leave it out"),
        (
            {"metric_correlations": "0.5,0.3,0.6", "sd_item": 1, "sd_noise": 1},
            "sd_item=, sd_noise= have no effect for two metrics: leave them out",
        ),
        ({"metric_correlations": [0.5, 0.3]}, "metric_correlations= takes three numbers"),
        ({"difference": 1, "simulations": 5}, "At least 100 simulations"),
    ],
)
def test_errors_name_keywords(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(wellput.InputError, match=message):
        wellput.power(**keywords)


def test_a_pilot_gives_the_spreads_and_the_difference() -> None:
    """Those of the model that `rank` fits, turned into spreads of a difference of two systems."""
    rng = np.random.default_rng(4)
    felt = (
        np.array([4.0, 3.0, 1.0])[None, :, None]
        + rng.normal(0, 0.5, (6, 3, 1))
        + rng.normal(0, 0.8, (1, 3, 20))
        + rng.normal(0, 1, (6, 3, 20))
    )
    pilot = [
        wellput.Judgment(f"J{j}", f"i{i}", "ABC"[s], "quality", float(value))
        for (j, s, i), value in np.ndenumerate(felt)
    ]
    ranking = wellput.rank(pilot, permutations=10).rankings[0]
    table = wellput.power(pilot=pilot, items=20, judges=4, simulations=200)
    variance = ranking.variance
    assert table.assumed["difference"] == pytest.approx(ranking.differences[0].delta)
    assert table.assumed["sd_noise"] == pytest.approx(variance["residual"] ** 0.5)
    assert table.assumed["sd_item"] == pytest.approx((2 * variance["item:system"]) ** 0.5)
    assert table.assumed["sd_judge"] == pytest.approx((2 * variance["judge:system"]) ** 0.5)
    assert "(A and B)" in table.notes[0] and "often too large" in table.notes[1]
    given = wellput.power(pilot=pilot, difference=0.2, sd_judge=0, items=20, simulations=200)
    assert (given.assumed["difference"], given.assumed["sd_judge"]) == (0.2, 0)
    assert given.assumed["sd_noise"] == table.assumed["sd_noise"]


def test_a_pilot_of_one_rating_an_output_says_what_it_cannot_show() -> None:
    pilot = [
        wellput.Judgment(f"J{i % 3}", f"i{i}", system, "quality", float((i * 7 + len(system)) % 5))
        for i in range(12)
        for system in ("A", "BB")
    ]
    table = wellput.power(pilot=pilot, difference=1, items=20, judges=1, simulations=200)
    assert "no output was judged more than once" in " ".join(table.notes)
    choice = wellput.Preference("J", "i", "A", "B", "better", "a")
    with pytest.raises(wellput.InputError, match="takes ratings"):
        wellput.power(pilot=[choice])
    with pytest.raises(wellput.InputError, match="'fluency' is not in the pilot"):
        wellput.power(pilot=pilot, question="fluency")
    with pytest.raises(wellput.InputError, match="question= has no effect"):
        wellput.power(difference=1, question="quality")


def piloted(n_items: int = 24) -> tuple[wellput.EvalSet, list[wellput.Judgment]]:
    """Outputs whose length follows what two judges say of them, of 60 items; judged: the first few."""
    rng = np.random.default_rng(8)
    felt = rng.normal([[4.0], [3.5]], 1.0, (2, 60))
    words = (20 + 5 * felt + rng.normal(0, 5, felt.shape)).astype(int).clip(1)
    items = [
        wellput.Item(f"i{i:02}", outputs={"AB"[s]: "x " * words[s, i] for s in (0, 1)})
        for i in range(60)
    ]
    ratings = [
        wellput.Judgment(f"J{j}", f"i{i:02}", "AB"[s], "quality", felt[s, i] + rng.normal(0, 0.6))
        for j in range(2)
        for s in range(2)
        for i in range(n_items)
    ]  # fmt: skip
    return wellput.EvalSet(items), ratings


def test_a_pilot_gives_the_correlation_of_a_proxy() -> None:
    evalset, ratings = piloted()
    table = wellput.power(
        pilot=ratings, proxy="length", evalset=evalset, difference=0.8, items=20, judges=2
    )
    means = {
        (system, item): np.mean([r.number for r in ratings if (r.system, r.item) == (system, item)])
        for system in "AB"
        for item in {r.item for r in ratings}
    }
    words = {
        (system, item.id): str(text).count("x")
        for item in evalset
        for system, text in item.outputs.items()
    }
    names = sorted({r.item for r in ratings})
    expected = np.corrcoef(
        [means["A", i] - means["B", i] for i in names],
        [words["A", i] - words["B", i] for i in names],
    )[0, 1]
    assert table.assumed["proxy_correlation"] == pytest.approx(expected, abs=1e-9)
    assert (table.assumed["pilot_judges"], table.assumed["proxy_items"]) == (2, 60)
    assert "by length correlates" in table.notes[-1] and "on 24 items" in table.notes[-1]
    turned = wellput.power(
        pilot=[replace(r, value=-r.number) for r in ratings],
        proxy="length", evalset=evalset, difference=0.8, items=20, judges=2, simulations=100,
    )  # fmt: skip
    assert "by length correlates −0." in turned.notes[-1] and "interval −0." in turned.notes[-1]
    assert "sd_judge" not in " ".join(table.notes)
    by_hand = wellput.power(
        difference=0.8,
        proxy_correlation=table.assumed["proxy_correlation"],
        proxy_items=60,
        pilot_judges=2,
        sd_item=table.assumed["sd_item"],
        sd_noise=table.assumed["sd_noise"],
        items=20,
        judges=2,
    )
    assert by_hand.smallest == table.smallest and by_hand.rows == table.rows
    needed = table.smallest[0]
    assert needed.n_items is not None and needed.people_only is not None
    assert needed.n_items < needed.people_only
    values = table.to_dict()
    assert values["smallest"][0]["people_only"] == needed.people_only
    assert values["power"][0]["people_only"] < values["power"][0]["power"]
    assert f"about {needed.n_items} items with the proxy, about {needed.people_only}" in str(table)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"proxy": "length"}, "proxy= needs pilot="),
        ({"proxy_correlation": 0.5}, "go together"),
        ({"proxy_items": 500}, "go together"),
        ({"proxy_correlation": 0.5, "proxy_items": 99, "sd_judge": 0.2}, "sd_judge= has no effect"),
        (
            {"evalset": wellput.EvalSet([wellput.Item("a", outputs={"A": "x"})])},
            "evalset= has no effect",
        ),
    ],
)
def test_what_a_plan_with_a_proxy_needs(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(wellput.InputError, match=message):
        wellput.power(difference=0.5, **keywords)


def test_a_proxy_of_a_pilot_needs_outputs_and_ten_items() -> None:
    evalset, ratings = piloted(6)
    with pytest.raises(wellput.InputError, match="needs evalset="):
        wellput.power(pilot=ratings, proxy="length")
    with pytest.raises(wellput.InputError, match="two systems on 10 items; this one has 6"):
        wellput.power(pilot=ratings, proxy="length", evalset=evalset)
    with pytest.raises(wellput.InputError, match="pilot_judges= has no effect"):
        wellput.power(pilot=ratings, proxy="length", evalset=evalset, pilot_judges=2)
