"""Differences of systems: an interval and a p-value that agree, corrected for all that is compared."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import skew, t, ttest_rel
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_paired

import wellput
from wellput.core.metric import Floats
from wellput.reporting.score import score_report, score_table
from wellput.reporting.table import p_with_relation, render

WORDS = ["a", "b", "c", "d", "e", "f", "g", "h"]


def evalset(noise: dict[str, float], *, n: int = 40, seed: int = 3) -> wellput.EvalSet:
    """References of made-up words; a system replaces words with the probability given for it."""
    rng = np.random.default_rng(seed)
    references = [" ".join(rng.choice(WORDS, rng.integers(4, 12))) for _ in range(n)]
    outputs = {
        system: [
            " ".join(rng.choice(WORDS) if rng.random() < share else word for word in text.split())
            for text in references
        ]
        for system, share in noise.items()
    }
    return wellput.EvalSet.of(outputs, references)


CLOSE = evalset({"A": 0.3, "B": 0.33, "C": 0.36, "D": 0.42})


def segments(result: wellput.ScoreResult, metric: str) -> Floats:
    return result.table(metric).scores


def cautious(statistic: float, differences: Floats) -> float:
    """The smaller in size of t and of t without skewness (Hall 1992)."""
    g = float(skew(differences)) / math.sqrt(len(differences))
    corrected = statistic + g * (statistic**2 / 3 + 1 / 6) + g**2 * statistic**3 / 27
    return min(statistic, corrected, key=abs)


def test_a_mean_of_segments_gets_the_cautious_paired_t_test() -> None:
    result = wellput.score(CLOSE, "rouge-l", baseline="A", keep_rows=True)
    scores = segments(result, "rouge-l")
    for place, system in enumerate("BCD", start=1):
        score, test = result[system, "rouge-l"], ttest_rel(scores[place], scores[0])
        differences = scores[place] - scores[0]
        freedom = np.count_nonzero(differences) - 1  # ties do not add degrees of freedom
        expected = 2 * t.sf(abs(cautious(test.statistic, differences)), freedom)
        assert score.p_value == pytest.approx(expected)
        reach = t.ppf(0.975, freedom) * differences.std(ddof=1) / math.sqrt(40)
        assert score.delta is not None and score.delta_low is not None
        assert score.delta_low <= score.delta - reach + 1e-12
        assert score.effect_size == pytest.approx(test.statistic / math.sqrt(40))


def test_p_is_corrected_over_systems_and_metrics() -> None:
    result = wellput.score(CLOSE, "bleu,chrf,ssa", baseline="A")
    tested = [score for score in result.scores if score.baseline == "A"]
    assert len(tested) == result.n_tests == 9
    expected = multipletests([score.p_value for score in tested], method="holm")[1]
    assert [score.p_adjusted for score in tested] == pytest.approx(list(expected))


def test_stars_and_exit_codes_follow_the_corrected_p() -> None:
    # B is worse than A at .05 under chrf alone, but not after the correction for twelve differences.
    alone = wellput.score(evalset({"A": 0.3, "B": 0.39}, seed=0), "chrf", baseline="A")
    assert (
        alone["B", "chrf"].is_worse and alone["B", "chrf"].p_value == alone["B", "chrf"].p_adjusted
    )
    more = {"A": 0.3, "B": 0.39, **dict.fromkeys("CDE", 0.3)}
    among = wellput.score(evalset(more, seed=0), "chrf,ssa,length", baseline="A")
    score = among["B", "chrf"]
    assert score.p_value is not None and score.p_adjusted is not None
    assert score.p_value < 0.05 < score.p_adjusted
    assert score.is_worse is False and score not in among.worse
    row = next(row for row in score_table(among).rows if row[0] == "B")
    assert "*" not in row[1]


def test_all_pairs_and_the_baseline_say_the_same() -> None:
    result = wellput.score(CLOSE, "bleu,chrf", all_pairs=True, baseline="C")
    pairs = {(pair.a, pair.b, pair.metric): pair for pair in result.comparisons}
    for score in result.scores:
        if score.system == "C":
            continue
        after = (score.system, "C") if score.system < "C" else ("C", score.system)
        pair = pairs[(*after, score.metric)]
        sign = 1 if pair.a == score.system else -1
        assert score.delta == pytest.approx(sign * pair.delta)
        assert score.p_adjusted == pair.p_adjusted
        ends = sorted([sign * (pair.low or 0), sign * (pair.high or 0)])
        assert [score.delta_low, score.delta_high] == pytest.approx(ends)


@given(
    st.integers(0, 10_000), st.integers(3, 40), st.booleans(), st.sampled_from([0.9, 0.95, 0.99])
)
@settings(max_examples=30, deadline=None)
def test_p_is_small_exactly_if_the_interval_excludes_zero(
    seed: int, n: int, all_pairs: bool, confidence: float
) -> None:
    items = evalset({"A": 0.2, "B": 0.25, "C": 0.5, "D": 1.0}, n=n, seed=seed)
    result = wellput.score(
        items,
        "bleu,chrf,ter,ssa,exact,length,rouge-l",
        baseline="A",
        all_pairs=all_pairs,
        confidence=confidence,
    )
    rows = [(one.p_value, one.low, one.high) for one in result.differences]
    rows += [(s.p_value or 0.0, s.delta_low, s.delta_high) for s in result.scores if s.baseline]
    assert len(rows) > 20
    for p_value, low, high in rows:
        if low is not None and high is not None and abs(p_value - (1 - confidence)) > 1e-9:
            assert (p_value < 1 - confidence) == (low > 0 or high < 0)


def test_no_interval_contains_an_impossible_difference() -> None:
    few = evalset({"A": 0.1, "B": 0.9}, n=3, seed=2)
    score = wellput.score(few, "bleu,ssa", baseline="A")["B", "bleu"]
    assert score.delta_low is not None and score.delta_high is not None
    assert score.delta_low == -100.0 and -100.0 < score.delta_high <= 100.0


def test_many_systems_can_still_be_told_apart_by_resamples() -> None:
    # 12 systems make 66 pairs: 66 / 1001 is above .05, so that 1,000 resamples could show nothing.
    items = evalset({f"S{k:02}": 0.05 + 0.08 * k for k in range(12)}, n=30)
    result = wellput.score(items, "ssa", all_pairs=True, paired="ar", resamples=1000)
    first = next(pair for pair in result.comparisons if (pair.a, pair.b) == ("S00", "S11"))
    assert first.p_value == pytest.approx(1 / 2641)  # 2 · 66 / .05 resamples
    assert first.p_adjusted < 0.05 and first.p_is_bound
    assert "S11" in (result.beaten("ssa") or ())


def test_the_smallest_p_of_resamples_is_a_bound() -> None:
    items = evalset({"A": 0.1, "B": 0.9}, n=30)
    by_hundred = wellput.score(items, "ssa", paired="ar", resamples=100)
    score = by_hundred["B", "ssa"]
    assert score.p_is_bound and score.p_value == pytest.approx(1 / 101)
    assert "p ≤ 0.010" in render(score_report(by_hundred), "table")
    assert not wellput.score(items, "ssa", baseline="A")["B", "ssa"].p_is_bound


def test_equivalence_is_told_from_no_difference_shown() -> None:
    items = evalset({"A": 0.3, "B": 0.3}, n=60, seed=8)
    result = wellput.score(items, "rouge-l", margin=0.15, keep_rows=True)
    score, scores = result["B", "rouge-l"], segments(result, "rouge-l")
    differences = scores[1] - scores[0]
    sides = ttost_paired(scores[1], scores[0], -0.15, 0.15)[1:]
    expected = max(
        t.sf(abs(cautious(side[0], differences)), np.count_nonzero(differences) - 1)
        for side in sides
    )
    assert score.equivalence_p == pytest.approx(expected)
    assert score.p_value is not None and score.p_value > 0.05 > expected
    told = render(score_report(result), "table")
    assert "B against A: no difference larger than 0.15 on rouge-l" in told
    assert f"equivalence p {p_with_relation(expected)}" in told
    assert "No difference shown" not in told
    narrow = render(score_report(wellput.score(items, "rouge-l", margin=0.01)), "table")
    assert "B against A: no difference shown on rouge-l" in narrow
    assert "“No difference shown” does not mean that the systems are equal." in narrow


def test_a_margin_for_each_metric_and_its_correction() -> None:
    result = wellput.score(CLOSE, "bleu,ssa", margin={"ssa": 0.2})
    tested = [score for score in result.scores if score.equivalence_p is not None]
    assert {score.metric for score in tested} == {"ssa"} and len(tested) == 3
    expected = multipletests([score.equivalence_p for score in tested], method="holm")[1]
    assert [score.equivalence_p_adjusted for score in tested] == pytest.approx(list(expected))
    assert json.loads(json.dumps(result.to_dict()))["margin"] == {"ssa": 0.2}
    assert wellput.score(CLOSE, "bleu,ssa", margin=["ssa=.2"]).to_dict() == result.to_dict()


def test_a_share_is_bounded_by_wilson() -> None:
    items = evalset({"A": 1.0}, n=50)
    score = wellput.score(items, "exact", confidence=True)["A", "exact"]
    assert score.score == score.low == 0.0
    assert score.high == pytest.approx(0.0713, abs=1e-4)  # 1.96² / (50 + 1.96²)


def test_right_and_wrong_answers_are_compared_by_mcnemars_test() -> None:
    # Of 40 answers A alone has 9 right, B alone 1, both 20.
    a, b = ["x"] * 29 + ["y"] * 11, ["y"] * 9 + ["x"] * 21 + ["y"] * 10
    items = wellput.EvalSet.of({"A": a, "B": b}, ["x"] * 40)
    result = wellput.score(items, "exact,length", baseline="A")
    score = result["B", "exact"]
    expected = mcnemar([[20, 9], [1, 10]], exact=True).pvalue
    assert score.delta_method == "exact mcnemar"
    assert score.delta == pytest.approx(-0.2) and score.p_value == pytest.approx(expected)
    assert score.delta_high is not None and score.delta_high < 0
    assert "Student's t (exact: McNemar's exact test)" in render(score_report(result), "table")
    # No answer differs, but other items may.
    same = wellput.score(wellput.EvalSet.of({"A": a, "B": a}, ["x"] * 40), "exact", margin=0.2)
    score = same["B", "exact"]
    assert score.p_value == 1.0 and score.delta_high == pytest.approx(
        1.96**2 / (40 + 1.96**2), abs=1e-4
    )
    assert score.equivalence_p is not None and score.equivalence_p < 0.05


def test_what_figures_hold_for_is_said() -> None:
    told = "Intervals and p hold for these systems, other items."
    assert told in render(score_report(wellput.score(CLOSE, "ssa", confidence=True)), "table")
    assert told in render(score_report(wellput.score(CLOSE, "ssa", baseline="A")), "table")
    assert told not in render(score_report(wellput.score(CLOSE, "ssa")), "table")


def test_bs_keeps_sacrebleus_interval_and_draws() -> None:
    result = wellput.score(CLOSE, "bleu", paired="bs", confidence=True, resamples=200)
    from wellput.stats.resampling import bootstrap

    table = result.table("bleu")
    drawn = bootstrap(table.statistics[1], table.aggregate, n_resamples=200, seed=12345)
    score = result["B", "bleu"]
    assert (score.low, score.high) == (drawn.low, drawn.high)
    assert "bs:200|seed:12345" in score.signature
