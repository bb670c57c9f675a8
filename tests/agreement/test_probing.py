"""What a metric notices, on scores whose result is counted by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wellput.agreement.probe_results import Probe, is_alarmed, summary_of
from wellput.agreement.probing import ProbedMetric, degree_orders, direction_sign, probe_metric
from wellput.core.clusters import Clusters
from wellput.core.errors import InputError
from wellput.language.perturb.catalog import KindAndSeverity

NEGATION = KindAndSeverity("negation", "critical")
SYNONYM = KindAndSeverity("synonym", "harmless")
NAN = math.nan


def scored(unchanged: list[float], **changed: list[float]) -> ProbedMetric:
    """Variants by name, with `_` for the severity: negation_critical=[…]."""
    rows = {
        KindAndSeverity(*name.rsplit("_", 1)): np.array(values, float)
        for name, values in changed.items()
    }
    made = {variant: len(unchanged) for variant in rows}
    return ProbedMetric("m", np.array(unchanged, float), rows, made)


def test_wins_ties_and_losses_are_counted() -> None:
    # Better, better, equal, worse, undefined: 2 wins, 1 tie, 1 loss of 4; losses 2, 1, 0 and −1.
    (row,) = probe_metric(scored([5, 4, 3, 2, 1], negation_critical=[3, 3, 3, 3, NAN]))
    assert (row.n, row.accuracy, row.ties, row.losses, row.undefined) == (4, 0.5, 0.25, 0.25, 1)
    assert row.effect == 0.5
    assert row.share_lost == pytest.approx(0.5 / 3.5)  # of the mean of 5, 4, 3 and 2
    # Exact interval of 2 of 4 (scipy.stats.binomtest(2, 4).proportion_ci()).
    assert row.low == pytest.approx(0.06758599)
    assert row.high == pytest.approx(0.93241401)


def test_rounding_is_a_tie_and_scores_around_zero_have_no_share() -> None:
    (row,) = probe_metric(scored([0.3, -1.0], negation_critical=[0.1 + 0.2, -2.0]))
    assert (row.accuracy, row.ties) == (0.5, 0.5)
    assert math.isnan(row.share_lost)


@pytest.mark.parametrize("size", [1e-12, 1e-60, 1e60])
def test_the_size_of_scores_does_not_matter(size: float) -> None:
    """Scores of 1e-12, such as the probabilities of sentences, are no ties."""
    rng = np.random.default_rng(1)
    base, minor, critical = rng.random((3, 30)) + np.array([[0.4], [0.2], [0.0]])
    one, other = (
        scored(list(f * base), negation_minor=list(f * minor), negation_critical=list(f * critical))
        for f in (1.0, size)
    )
    for a, b in zip(probe_metric(one), probe_metric(other), strict=True):
        assert (a.accuracy, a.low, a.high, a.ties) == (b.accuracy, b.low, b.high, b.ties)
        assert a.effect_low is not None and b.effect_low is not None
        assert b.effect_low / size == pytest.approx(a.effect_low)
    assert degree_orders(one)[0].ordered == degree_orders(other)[0].ordered > 0


def test_a_residue_of_zero_is_a_tie() -> None:
    (row,) = probe_metric(scored([0.0, 1.0], negation_critical=[1e-17, 0.5]))
    assert (row.accuracy, row.ties) == (0.5, 0.5)


def test_a_harmless_change_is_compared_with_errors_in_the_same_text() -> None:
    # Text 1: the harmless version (4) beats the negation (3) and loses to the missing verb (5).
    # Text 2: it ties with the negation; it has no missing verb. The minor error does not count.
    probes = probe_metric(
        scored(
            [8, 8],
            negation_critical=[3, 2],
            omission_major=[5, NAN],
            agreement_minor=[7, 7],
            synonym_harmless=[4, 2],
        )
    )
    row = probes[-1]
    assert (row.n, row.accuracy, row.ties, row.losses) == (2, 1 / 3, 1 / 3, 1 / 3)
    assert row.effect == 5.0  # losses of 4 and 6
    assert row.share_lost == 5 / 8


def test_harmless_changes_alone_have_an_effect_but_no_accuracy() -> None:
    (row,) = probe_metric(scored([8, 8], synonym_harmless=[4, 8]))
    assert math.isnan(row.accuracy)
    assert row.effect == 2.0
    assert row.low is None


def test_documents_widen_the_interval() -> None:
    better = [2.0] * 40
    worse = [1.0, 1.0, 3.0, 3.0] * 10
    one = scored(better, negation_critical=worse)
    (alone,) = probe_metric(one)
    (together,) = probe_metric(one, Clusters("document", np.arange(40) // 2))
    assert alone.accuracy == together.accuracy == 0.5
    assert None not in (alone.low, together.low)
    assert together.low < alone.low  # type: ignore[operator]


def test_more_harm_must_cost_more_at_every_step() -> None:
    # Text 1 falls at every step; text 2 ties once; text 3 has no major version.
    one = scored(
        [9, 9, 9], order_minor=[8, 9, 8], order_major=[7, 8, NAN], order_critical=[6, 7, 5]
    )
    (found,) = degree_orders(one)
    assert (found.perturbation, found.n, found.ordered, found.is_monotone) == (
        "order",
        2,
        0.5,
        True,
    )
    up = scored([9, 9], order_minor=[8, 9], order_major=[9, 9])
    assert [found.is_monotone for found in degree_orders(up)] == [False]
    assert degree_orders(scored([9], negation_critical=[8])) == []


def verdict(wins: int, losses: int, n: int = 100) -> str:
    better = [1.0] * n
    worse = [0.0] * wins + [2.0] * losses + [1.0] * (n - wins - losses)
    return probe_metric(scored(better, negation_critical=worse))[0].verdict


def test_verdicts() -> None:
    assert verdict(90, 0) == "noticed"
    assert verdict(70, 30) == "partly"
    assert verdict(55, 45) == "blind"  # Wilson's interval of 55 of 100 contains one half
    assert verdict(0, 0) == "blind"
    assert verdict(550, 450, n=1000) == "blind"  # no chance, but hardly a preference
    assert verdict(450, 550, n=1000) == "blind"
    assert verdict(20, 80) == "misled"
    assert verdict(9, 0, n=9) == "few"


def harmless(losses: float, low: float, share_lost: float, n: int = 50) -> Probe:
    return Probe(
        "m", "quotes", "harmless", n, 1 - losses, 0.0, None, None, 1.0, None, None, share_lost,
        losses, low,
    )  # fmt: skip


def test_false_alarms() -> None:
    assert is_alarmed(harmless(0.7, 0.6, 0.1))
    assert not is_alarmed(harmless(0.7, 0.4, 0.1))  # not shown to be more than half
    assert is_alarmed(harmless(0.1, 0.05, 0.5))  # but half of the score is gone
    assert not is_alarmed(harmless(0.7, 0.6, 0.5, n=9))


def test_the_summary_names_what_a_person_can_act_on() -> None:
    n = 50
    one = scored(
        [2.0] * n,
        negation_critical=[2.0] * n,
        number_critical=[3.0] * n,
        name_critical=[1.0] * n,
        order_minor=[2.0] * n,
        order_major=[1.0] * n,
        quotes_harmless=[0.5] * n,
    )
    assert summary_of(probe_metric(one), degree_orders(one)) == (
        "Prefers texts with number. Blind to negation and order (minor). False alarm at quotes (worse "
        "than an error in 100%). More harm does not cost more: order."
    )
    good = scored([2.0] * n, negation_critical=[1.0] * n)
    assert summary_of(probe_metric(good)) == "Notices every kind of harm that was tried."
    few = scored([2.0] * 3, negation_critical=[1.0] * 3)
    assert summary_of(probe_metric(few)) == "Too few texts to say what it misses."


def test_a_metric_without_a_direction_is_refused() -> None:
    assert direction_sign("bleu", True) == 1.0
    assert direction_sign("ter", False) == -1.0
    with pytest.raises(InputError, match="length is neither good nor bad"):
        direction_sign("length", None)
