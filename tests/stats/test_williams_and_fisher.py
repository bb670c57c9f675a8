"""Williams' test and Fisher's interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.stats.test_correlation import GOLDEN, golden
from wellput.core.errors import InputError
from wellput.stats.correlation import Correlation, correlate
from wellput.stats.metric_comparison import fisher, williams, williams_test

# The worked example of ygraham/significance-williams (Graham & Baldwin 2014): example-data and
# example-output, Spanish-English of WMT 2012: mean human scores, AMBER and BLEU of twelve systems.
HUMAN = [61.9384, 61.3861, 60.373, 58.4963, 56.5355, 52.3248]
HUMAN += [51.1139, 47.8846, 46.1035, 42.2644, 41.9155, 18.7297]
AMBER = [0.2178, 0.2224, 0.2186, 0.2168, 0.2167, 0.2107]
AMBER += [0.1922, 0.2104, 0.1915, 0.1822, 0.1890, 0.1759]
BLEU = [0.3138, 0.3753, 0.3286, 0.3343, 0.3202, 0.2888]
BLEU += [0.2299, 0.2922, 0.2294, 0.2171, 0.2200, 0.2240]


def test_published_example() -> None:
    human, amber, bleu = (np.array(scores)[:, None] for scores in (HUMAN, AMBER, BLEU))
    assert correlate(amber, human).value == pytest.approx(0.880651168828011, abs=1e-14)
    assert correlate(bleu, human).value == pytest.approx(0.760352368043568, abs=1e-14)
    # Its p-value, orig.williams-results.es-en, is that of t with n - 2 degrees of freedom; the paper
    # and everyone else take n - 3.
    r = [correlate(a, b).value for a, b in ((amber, human), (bleu, human), (amber, bleu))]
    published = williams(r[0], r[1], r[2], 12, df=10, alternative="greater")
    assert published.p_value == pytest.approx(0.0114079074943561, abs=1e-14)


def test_sides() -> None:
    human, amber, bleu = (np.array(scores)[:, None] for scores in (HUMAN, AMBER, BLEU))
    estimate = williams_test(amber, bleu, human, alternative="greater")
    assert estimate.method == "Williams' test, t(9) = 2.6870"
    assert estimate.p_value == pytest.approx(stats.t.sf(2.6870, 9), rel=1e-3)
    assert estimate.n == 12
    two_sided = williams_test(amber, bleu, human)
    assert two_sided.p_value == pytest.approx(2 * (estimate.p_value or 0))
    reverse = williams_test(bleu, amber, human, alternative="greater")
    assert reverse.p_value == pytest.approx(1 - (estimate.p_value or 0))
    assert reverse.value == -estimate.value
    less = williams_test(amber, bleu, human, alternative="less")
    assert less.p_value == pytest.approx(1 - (estimate.p_value or 0))
    with pytest.raises(InputError, match="'les' is none of two-sided, greater, less"):
        williams_test(amber, bleu, human, alternative="les")  # type: ignore[arg-type]


@pytest.mark.parametrize("row", GOLDEN["nlpstats"]["williams"], ids=str)
def test_nlpstats(row: dict[str, Any]) -> None:
    estimate = williams_test(
        golden("x"),
        golden("y"),
        golden(row["human"]),
        Correlation(row["level"]),
        alternative=row["alternative"],
    )
    assert estimate.p_value == pytest.approx(row["p"], rel=1e-9)


def test_undefined_and_refused() -> None:
    human = np.arange(5.0)[:, None]
    assert "no variance" in williams_test(human, human, human).method
    assert "constant" in williams_test(np.ones((5, 1)), human, human).method
    few = williams(0.9, 0.5, 0.3, 3)
    assert np.isnan(few.value) and "four points" in few.method
    with pytest.raises(InputError, match="average"):
        williams_test(human, human, human, Correlation(average="item"))


@pytest.mark.heavy
def test_williams_p_is_uniform_under_the_null() -> None:
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(400):
        z = rng.normal(size=(30, 1))
        x, y = (z + rng.normal(size=z.shape) for _ in range(2))
        p_values.append(williams_test(x, y, z).p_value)
    assert stats.kstest(np.array(p_values, dtype=np.float64), "uniform").pvalue > 0.001


def test_fisher_by_hand() -> None:
    # atanh .5 = .549306, 1.959964 / sqrt(28 - 3) = .391993: tanh .157313 and tanh .941299.
    estimate = fisher(0.5, 28)
    assert (estimate.low, estimate.high) == pytest.approx((0.156028, 0.735818), abs=1e-6)


@pytest.mark.parametrize("row", GOLDEN["nlpstats"]["fisher"], ids=str)
def test_fisher_is_nlpstats(row: dict[str, Any]) -> None:
    correlation = Correlation(row["level"], coefficient=row["coefficient"])
    r = correlate(golden("x"), golden(row["human"]), correlation).value
    estimate = fisher(r, row["n"], coefficient=row["coefficient"])
    assert (estimate.low, estimate.high) == pytest.approx((row["low"], row["high"]), abs=1e-12)


def test_fisher_needs_points_and_a_confidence() -> None:
    assert np.isnan(fisher(0.5, 3).low or 0.0)
    assert np.isnan(fisher(1.0, 30).high or 0.0)
    with pytest.raises(InputError, match="confidence"):
        fisher(0.5, 30, 95)
