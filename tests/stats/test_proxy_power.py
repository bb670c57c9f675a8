"""The power of a study with a proxy, against studies that are drawn item by item and estimated."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from wellput.core.errors import InputError
from wellput.stats.prediction_powered import ProxyLabels, prediction_powered_mean
from wellput.stats.proxy_power import ProxyPlan, highest_correlation, power_with_proxy

DIFFERENCE, SD_ITEM, SD_NOISE = 0.4, 1.0, 0.5


def is_found(n: int, judges: int, plan: ProxyPlan, rng: np.random.Generator) -> bool:
    """A study of n rated items: what items differ by, what the proxy sees of it, and the noise of each
    judge."""
    seen = plan.correlation / highest_correlation(plan.judges, SD_ITEM, SD_NOISE)
    truth = rng.normal(size=plan.n_items)
    proxy = seen * truth + math.sqrt(1 - seen**2) * rng.normal(size=plan.n_items)
    ratings = math.sqrt(2) * SD_NOISE * rng.normal(size=(judges, plan.n_items))
    labels = DIFFERENCE + SD_ITEM * truth + ratings.mean(axis=0)
    proxy *= labels[:n].std() / proxy[:n].std()
    labels[n:] = np.nan
    found = prediction_powered_mean(ProxyLabels(labels, proxy, np.arange(plan.n_items)))
    p_value = found.difference().p_value
    return p_value is not None and p_value < 0.05


def share_found(plan: ProxyPlan, judges: int, studies: int) -> float:
    table = power_with_proxy(
        DIFFERENCE, plan, items=[20], judges=[judges], sd_item=SD_ITEM, sd_noise=SD_NOISE
    )
    n = table.smallest[0].n_items
    assert n is not None and table.smallest[0].people_only is not None
    assert n < table.smallest[0].people_only
    rng = np.random.default_rng(7)
    return float(np.mean([is_found(n, judges, plan, rng) for _ in range(studies)]))


@pytest.mark.heavy
def test_the_recommended_study_finds_the_difference_as_often_as_said() -> None:
    # 29 rated items. Four standard errors of 400 studies are 0.08.
    assert share_found(ProxyPlan(0.7, 1000), 3, 400) == pytest.approx(0.8, abs=0.08)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plan", "judges"),
    [
        (ProxyPlan(0.5, 300), 1),
        (ProxyPlan(0.7, 1000), 3),
        (ProxyPlan(0.8, 60, judges=5), 5),
        (ProxyPlan(0.3, 5000), 1),
    ],
)
def test_the_power_is_between_78_and_82_percent(plan: ProxyPlan, judges: int) -> None:
    assert 0.78 <= share_found(plan, judges, 5000) <= 0.82


def test_without_a_correlation_it_is_the_paired_t_test() -> None:
    table = power_with_proxy(0.4, ProxyPlan(0.0, 500), items=[40, 80], sd_item=1.0, sd_noise=0.0)
    for row in table.rows:
        expected = TTestPower().power(0.4, row.n_items, 0.05)
        assert row.people_only is not None
        # Hall's transformation is more cautious than Student's t: it costs about a hundredth.
        assert row.people_only.value == pytest.approx(expected, abs=0.03)
        assert row.power.value == pytest.approx(row.people_only.value, abs=0.02)


def test_a_better_proxy_more_scores_and_more_judges_need_fewer_ratings() -> None:
    def needed(r: float, n_scored: int, judges: int = 1) -> int:
        plan = ProxyPlan(r, n_scored)
        table = power_with_proxy(0.3, plan, items=[20], judges=[judges], simulations=2000)
        return table.smallest[0].n_items or 10**6

    assert needed(0.5, 1000) < needed(0.3, 1000) < needed(0.0, 1000)
    assert needed(0.5, 10_000) < needed(0.5, 300)
    assert needed(0.5, 1000, judges=3) < needed(0.5, 1000)
    assert needed(-0.5, 1000) >= needed(0.0, 1000) - 5  # λ is never below 0: people alone


def test_no_more_items_than_the_proxy_has_scores_for() -> None:
    table = power_with_proxy(0.1, ProxyPlan(0.3, 50), items=[50, 60], simulations=500)
    assert math.isnan(table.rows[1].power.value) and table.rows[1].people_only is not None
    assert table.rows[1].people_only.value > 0
    # With all items rated, nothing is left for the proxy to say.
    assert table.rows[0].power.value == table.rows[0].people_only.value  # type: ignore[union-attr]
    assert (table.smallest[0].n_items, table.smallest[0].note) == (
        None,
        "not even 50 items reach 0.8",
    )
    assert (table.smallest[0].people_only or 0) > 2000


def test_the_correlation_grows_with_the_judges() -> None:
    # One judge: sd_item² / (sd_item² + 2 sd_noise²) = 1 / 3 of the variance is shared; 4: 1 / 1.5.
    assert highest_correlation(1, 1.0, 1.0) == pytest.approx(math.sqrt(1 / 3))
    assert highest_correlation(4, 1.0, 1.0) == pytest.approx(math.sqrt(1 / 1.5))
    with pytest.raises(InputError, match=r"0.6 is impossible.*at most 0\.58"):
        power_with_proxy(0.3, ProxyPlan(0.6, 100), items=[20])
    power_with_proxy(0.3, ProxyPlan(0.6, 100, judges=4), items=[20], simulations=100)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (ProxyPlan(1.0, 100), "between -1 and 1"),
        (ProxyPlan(0.3, 3), "proxy_items must be 5 or more"),
        (ProxyPlan(0.3, 100, judges=0), "pilot_judges must be 1 or more"),
    ],
)
def test_impossible_plans_are_refused(plan: ProxyPlan, message: str) -> None:
    with pytest.raises(InputError, match=message):
        power_with_proxy(0.3, plan, items=[20])
