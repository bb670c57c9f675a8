"""Simulated power against the power that is known."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from benchmarks.calibration.power import PLANS, Systems, found_share, recommended
from wellput.core.errors import InputError
from wellput.stats.metric_comparison import williams
from wellput.stats.power import PowerTable, power_for_metrics, power_for_systems

pytestmark = pytest.mark.heavy  # many simulations

SIMULATIONS = 20_000
MARGIN = 4 * 0.5 / SIMULATIONS**0.5  # four standard errors of a share: a false alarm in 16,000


def values(table: PowerTable) -> list[float]:
    return [row.power.value for row in table.rows]


@pytest.mark.parametrize("n", [2, 5, 20, 80])
@pytest.mark.parametrize("difference", [0.0, 0.4])
def test_one_judge_has_the_power_of_the_paired_t_test(difference: float, n: int) -> None:
    # The variance of one item is sd_item² + the noise of two ratings; Cohen's d divides by its root.
    d = difference / np.sqrt(0.8**2 + 2 * 1.2**2)
    expected = TTestPower().power(d, n, 0.05)
    table = power_for_systems(
        difference, items=[n], judges=[1], sd_item=0.8, sd_noise=1.2, simulations=SIMULATIONS
    )
    assert values(table)[0] == pytest.approx(expected, abs=MARGIN)


def test_the_smallest_number_of_items_is_that_of_statsmodels() -> None:
    table = power_for_systems(
        0.5, items=[10], sd_item=1, sd_noise=0, target=0.8, simulations=SIMULATIONS
    )
    expected = TTestPower().solve_power(0.5, power=0.8, alpha=0.05)  # 33.4
    assert table.smallest[0].n_items == pytest.approx(expected, abs=1.5)


def test_power_rises_with_items_judges_and_the_difference() -> None:
    for options in ({"sd_judge": 0.0}, {"sd_judge": 0.3}):
        table = power_for_systems(0.3, items=[5, 10, 20, 40, 80], judges=[4, 6, 12], **options)  # type: ignore[arg-type]
        power = np.array(values(table)).reshape(3, 5)
        assert (np.diff(power, axis=0) > 0).all()
        assert (np.diff(power, axis=1) > 0).all()
        greater = power_for_systems(0.5, items=[20], judges=[4], **options)  # type: ignore[arg-type]
        assert values(greater)[0] > power[0, 2]
        needed = [one.n_items for one in table.smallest]
        assert None in needed or needed == sorted(needed, key=lambda n: -(n or 0))


def test_three_judges_have_little_power_because_their_tastes_are_hardly_known() -> None:
    """Two degrees of freedom at most, so that with few items even the level is not reached."""
    table = power_for_systems(0.3, items=[20, 80], judges=[3, 4], sd_judge=0.0)
    three, four = np.array(values(table)).reshape(2, 2)
    assert (three < 0.05).all()
    assert (four > 2 * three).all()


@pytest.mark.parametrize(("n", "judges"), [(40, 2), (10, 3), (40, 5), (5, 20)])
@pytest.mark.parametrize("sd_judge", [0.0, 0.01, 0.5, 2.0])
def test_judges_with_preferences_of_their_own_do_not_fool_the_test(
    n: int, judges: int, sd_judge: float
) -> None:
    # Satterthwaite's approximation errs with three judges, but never far above the level; with two,
    # the test has one degree of freedom.
    table = power_for_systems(
        0.0, items=[n], judges=[judges], sd_judge=sd_judge, simulations=SIMULATIONS
    )
    assert values(table)[0] < 0.07


@pytest.mark.parametrize(("n", "judges", "sd_judge"), [(12, 4, 0.4), (12, 4, 0.0)])
def test_the_test_is_that_of_a_ranking(n: int, judges: int, sd_judge: float) -> None:
    # Mean squares drawn from their distributions, against ratings drawn one by one and ranked.
    trials = 200
    difference = 0.7
    plan = Systems(difference, judges, sd_item=0.7, sd_noise=0.8, sd_judge=sd_judge)
    found = found_share(plan, n, studies=trials, seed=1)
    table = power_for_systems(
        difference, items=[n], judges=[judges], sd_item=0.7, sd_noise=0.8, sd_judge=sd_judge,
        simulations=SIMULATIONS,
    )  # fmt: skip
    assert 0.1 < found < 0.98
    assert values(table)[0] == pytest.approx(found, abs=4 * 0.5 / trials**0.5)


@pytest.mark.slow
@pytest.mark.parametrize("title", PLANS)
def test_the_power_that_is_promised_is_kept(title: str) -> None:
    studies = 2500
    plan = PLANS[title]
    found = found_share(plan, recommended(plan), studies=studies, seed=2)
    # .78 to .82, and three standard errors of so few studies.
    assert found == pytest.approx(0.8, abs=0.02 + 3 * (0.8 * 0.2 / studies) ** 0.5)


def test_metrics_have_the_power_that_points_drawn_one_by_one_have() -> None:
    r1, r2, r12, n = 0.6, 0.4, 0.7, 40
    rng = np.random.default_rng(2)
    root = np.linalg.cholesky(np.array([[1, r1, r2], [r1, 1, r12], [r2, r12, 1]]))
    trials = 2000
    found = 0
    for _ in range(trials):
        r = np.asarray(np.corrcoef(root @ rng.normal(size=(3, n))))
        p_value = williams(r[0, 1], r[0, 2], r[1, 2], n).p_value
        assert p_value is not None
        found += p_value < 0.05
    table = power_for_metrics(r1, r2, r12, items=[n], simulations=SIMULATIONS)
    assert values(table)[0] == pytest.approx(found / trials, abs=4 * 0.5 / trials**0.5)


def test_equally_good_metrics_differ_as_often_as_the_level_says() -> None:
    table = power_for_metrics(0.5, 0.5, 0.6, items=[20, 200], simulations=SIMULATIONS)
    assert values(table) == pytest.approx([0.05, 0.05], abs=0.01)


def test_power_for_metrics_rises_with_items_and_judges() -> None:
    table = power_for_metrics(
        0.4, 0.3, 0.6, items=[50, 100, 400], judges=[1, 3, 9], judge_correlation=0.4
    )
    power = np.array(values(table)).reshape(3, 3)
    assert (np.diff(power, axis=0) > 0).all()
    assert (np.diff(power, axis=1) > 0).all()
    needed = [one.n_items or 0 for one in table.smallest]
    assert needed == sorted(needed, reverse=True)


def test_judges_of_the_pilot_change_nothing() -> None:
    alone = power_for_metrics(0.4, 0.3, 0.6, items=[100])
    pilot = power_for_metrics(
        0.4, 0.3, 0.6, items=[100], judges=[3], judge_correlation=0.4, pilot_judges=3
    )
    assert values(alone) == values(pilot)
    assert (alone.rows[0].n_judges, pilot.rows[0].n_judges) == (None, 3)


def test_everything_says_that_it_is_simulated() -> None:
    for table in (
        power_for_systems(0.3, items=[1, 10], sd_judge=0.1, judges=[1, 2]),
        power_for_metrics(0.5, 0.4, 0.6, items=[3, 10]),
    ):
        assert all(row.power.method.startswith("simulated") for row in table.rows)


def test_the_interval_holds_the_value() -> None:
    for row in power_for_systems(0.3, items=[2, 20, 200, 2000], simulations=1000).rows:
        assert row.power.low is not None
        assert row.power.high is not None
        assert 0 <= row.power.low <= row.power.value <= row.power.high <= 1 + 1e-12


def test_the_same_seed_gives_the_same_table() -> None:
    one, same, other = (
        values(power_for_systems(0.3, items=[20], judges=[3], seed=seed)) for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other


def test_what_cannot_be_told_is_undefined() -> None:
    table = power_for_systems(0.3, items=[20], judges=[1, 2], sd_judge=0.2)
    assert np.isnan(table.rows[0].power.value)
    assert "one judge cannot show" in table.rows[0].power.method
    assert table.smallest[0].n_items is None
    assert "one judge cannot show" in table.smallest[0].note
    assert np.isnan(values(power_for_systems(0.3, items=[1]))[0])
    assert np.isnan(values(power_for_metrics(0.5, 0.3, 0.5, items=[3]))[0])


def test_no_number_of_items_makes_up_for_two_judges_who_disagree() -> None:
    table = power_for_systems(0.2, items=[20], judges=[2], sd_judge=1.0, simulations=1000)
    assert table.smallest[0].n_items is None
    assert "not even 1,000,000 items" in table.smallest[0].note


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sd_item": -1.0}, "sd_item must be 0 or above"),
        ({"sd_item": 0.0, "sd_noise": 0.0}, "sd_item or sd_noise must be above 0"),
        ({"alpha": 0.0}, "alpha must lie"),
        ({"target": 0.01}, "target must lie"),
        ({"items": [0]}, "items must be 1 or more"),
        ({"judges": [0]}, "judges must be 1 or more"),
        ({"simulations": 10}, "At least 100 simulations"),
        ({"difference": float("nan")}, "difference must be a number"),
    ],
)
def test_bad_systems(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        power_for_systems(**{"difference": 0.3, "items": [10], **options})  # type: ignore[arg-type]


def test_bad_metrics() -> None:
    with pytest.raises(InputError, match="r1 must lie between"):
        power_for_metrics(1.0, 0.5, 0.5, items=[10])
    with pytest.raises(InputError, match="No three variables correlate"):
        power_for_metrics(0.9, -0.9, 0.9, items=[10])
    with pytest.raises(InputError, match="how far two judges agree"):
        power_for_metrics(0.5, 0.4, 0.6, items=[10], judges=[2])
    with pytest.raises(InputError, match="judge_correlation must be"):
        power_for_metrics(0.5, 0.4, 0.6, items=[10], judges=[2], judge_correlation=0.0)
