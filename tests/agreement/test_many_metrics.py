"""`agree` on simulated scores whose truth is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from wellput.agreement.analysis import AgreementOptions, agree
from wellput.agreement.correlations import Uncertainty
from wellput.agreement.panel import mean_of
from wellput.agreement.result import AgreementResult
from wellput.core.estimates import ScoreTable
from wellput.core.judgment import Judgment
from wellput.core.metric import Floats
from wellput.stats.metric_comparison import CorrelationTest

SYSTEMS, ITEMS = 6, 60


def table(name: str, scores: Floats) -> ScoreTable:
    """Scores as a metric's table, undefined where NaN."""
    defined = ~np.isnan(scores)
    return ScoreTable(
        scorer=name,
        signature="",
        systems=tuple(f"s{row}" for row in range(scores.shape[0])),
        items=tuple(f"i{column}" for column in range(scores.shape[1])),
        statistics=np.stack([np.where(defined, scores, 0.0), defined.astype(float)], axis=-1),
        present=np.ones(scores.shape, dtype=np.bool_),
        aggregate=mean_of,
        segment=mean_of,
    )


def judgments(scores: Floats, judge: str = "j") -> list[Judgment]:
    return [
        Judgment(judge, f"i{item}", f"s{system}", "quality", float(value))
        for (system, item), value in np.ndenumerate(scores)
    ]


def many_metrics(
    *, good: bool, test: CorrelationTest | Literal["auto"] = "auto"
) -> AgreementResult:
    """Twelve metrics: random numbers, and eleven that are random or much better."""
    rng = np.random.default_rng(5)
    human = rng.normal(size=(SYSTEMS, ITEMS))
    names = ["random", *(f"m{number}" for number in range(11))]
    noise = {name: rng.normal(size=human.shape) for name in names}
    tables = {
        name: table(name, noise[name] + (3 * human if good and name != "random" else 0))
        for name in names
    }
    options = AgreementOptions(test=test, uncertainty=Uncertainty(n_resamples=200))
    return agree(tables, judgments(human), options)


def test_differences_are_found_among_many_metrics() -> None:
    # 12 metrics make 66 pairs. With 200 resamples no p is below 1/201, and Holm would make that
    # 66/201 = .33: nothing would ever differ. With 2 · 66 / .05 = 2640 it is 66/2641 = .025.
    result = many_metrics(good=True, test="perm-both")
    with_random = [row for row in result.differences if "random" in row.metrics]
    assert len(with_random) == 11
    assert all(row.p_value == 1 / 2641 for row in with_random)
    assert all(row.p_adjusted < 0.05 for row in with_random)
    assert "no evidence" not in result.advice[0]


def test_an_interval_that_includes_0_is_no_evidence() -> None:
    result = many_metrics(good=False)
    best = max((row for row in result.agreement if row.metric != "random"), key=lambda r: r.value)
    assert best.low is not None
    assert best.low < 0
    assert "The interval includes 0: this is no evidence yet." in result.advice[0]


def test_length_explains_as_much_when_shorter_is_better() -> None:
    rng = np.random.default_rng(4)
    human = rng.normal(size=(SYSTEMS, ITEMS))
    result = agree(
        {
            "metric": table("metric", human + 2 * rng.normal(size=human.shape)),
            "length-only": table("length-only", -human),
            "length": replace(table("length", human), higher_is_better=None),
        },
        judgments(human),
        AgreementOptions(uncertainty=Uncertainty(n_resamples=50)),
    )
    assert result.advice[0].startswith("quality: metric correlates 0.")
    assert (
        "The length of the output alone correlates at least as strongly: −1.00." in result.advice[0]
    )


def test_outputs_that_a_metric_has_no_value_for_are_counted() -> None:
    rng = np.random.default_rng(1)
    human = rng.normal(size=(SYSTEMS, ITEMS))
    holes = human.copy()
    holes[0, :4] = np.nan
    result = agree(
        {"whole": table("whole", human), "holes": table("holes", holes)},
        judgments(human),
        AgreementOptions(uncertainty=Uncertainty(n_resamples=50)),
    )
    assert result.undefined == ({"question": "quality", "metric": "holes", "n": 4},)
    assert {row.n for row in result.agreement} == {SYSTEMS * ITEMS - 4}


def test_a_metric_may_agree_better_than_two_judges_do_but_not_than_their_noise_allows() -> None:
    # Judges of truth + noise of equal variance correlate .5; the mean of ten has reliability
    # 10 · .5 / (1 + 9 · .5) = .91, so the truth itself correlates √.91 = .95 with it.
    rng = np.random.default_rng(2)
    truth = rng.normal(size=(SYSTEMS, ITEMS))
    answers = [
        answer
        for number in range(10)
        for answer in judgments(truth + rng.normal(size=truth.shape), f"j{number}")
    ]
    result = agree(
        {"truth": table("truth", truth)},
        answers,
        AgreementOptions(uncertainty=Uncertainty(n_resamples=50)),
    )
    (judges,) = result.judges
    assert judges.pairwise is not None
    assert judges.pairwise["mean"] < 0.6 < 0.9 < result.agreement[0].value
    assert "a perfect metric would reach about 0.9" in result.advice[0]


def test_a_ceiling_of_segments_is_none_for_systems() -> None:
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(SYSTEMS, ITEMS))
    answers = [
        answer
        for number in range(3)
        for answer in judgments(truth + rng.normal(size=truth.shape), f"j{number}")
    ]
    result = agree(
        {"truth": table("truth", truth)},
        answers,
        AgreementOptions(level="system", uncertainty=Uncertainty(n_resamples=50)),
    )
    assert "ceiling" not in result.advice[0]
