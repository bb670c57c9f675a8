"""`agree` on tables of scores and judgments: SciPy's figures, exclusions, advice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from wellput.agreement.advice import advise
from wellput.agreement.analysis import AgreementOptions, agree
from wellput.agreement.correlations import Uncertainty
from wellput.agreement.panel import Exclusion, mean_of
from wellput.agreement.result import Agreement, AgreementResult
from wellput.core.errors import InputError
from wellput.core.estimates import ScoreTable
from wellput.core.judgment import Judgment
from wellput.core.metric import Floats

SYSTEMS = tuple("ABCDEF")
ITEMS = tuple(str(n) for n in range(40))
RNG = np.random.default_rng(3)
QUALITY = RNG.normal(size=(6, 1)) + RNG.normal(size=(6, 40))
GOOD = QUALITY + RNG.normal(size=(6, 40))
POOR = QUALITY + 3 * RNG.normal(size=(6, 40))
FEW = Uncertainty(n_resamples=100)


def table(name: str, scores: Floats, *, higher_is_better: bool = True) -> ScoreTable:
    """A metric that is the mean of its segments."""
    present = ~np.isnan(scores)
    statistics = np.stack([np.where(present, scores, 0.0), present], axis=-1)
    return ScoreTable(
        name, "", SYSTEMS, ITEMS, statistics, present, mean_of, mean_of, higher_is_better
    )


def judged(scores: Floats, judges: Sequence[str] = ("J1",), noise: float = 0.0) -> list[Judgment]:
    rng = np.random.default_rng(11)
    return [
        Judgment(judge, item, system, "quality", float(scores[s, i] + noise * rng.normal()))
        for judge in judges
        for s, system in enumerate(SYSTEMS)
        for i, item in enumerate(ITEMS)
        if not np.isnan(scores[s, i])
    ]


def run(judgments: list[Judgment], **options: Any) -> AgreementResult:
    tables = {"good": table("good", GOOD), "poor": table("poor", POOR)}
    return agree(tables, judgments, AgreementOptions(**{"uncertainty": FEW, **options}))


def test_pooled_segments_are_scipys() -> None:
    result = run(judged(QUALITY), coefficients=("pearson", "spearman", "kendall"))
    rows = {(row.metric, str(row.coefficient)): row for row in result.agreement}
    for name, scores in (("good", GOOD), ("poor", POOR)):
        x, z = scores.ravel(), QUALITY.ravel()
        for coefficient, theirs in (
            ("pearson", stats.pearsonr(x, z)),
            ("spearman", stats.spearmanr(x, z)),
            ("kendall", stats.kendalltau(x, z)),
        ):
            row = rows[name, coefficient]
            assert row.value == pytest.approx(theirs.statistic, abs=1e-12)
            assert row.n == 240
            assert row.low is not None and row.high is not None
            assert row.low < row.value < row.high


def test_averages_over_items() -> None:
    result = run(judged(QUALITY), average="item")
    expected = [stats.pearsonr(GOOD[:, i], QUALITY[:, i]).statistic for i in range(40)]
    assert result.agreement[0].value == pytest.approx(np.mean(expected))
    assert result.agreement[0].n == 40


def test_system_level_is_the_correlation_of_means() -> None:
    result = run(judged(QUALITY), level="system", coefficients=("pearson", "kendall", "spa"))
    rows = {(row.metric, row.coefficient): row for row in result.agreement}
    theirs = stats.pearsonr(GOOD.mean(axis=1), QUALITY.mean(axis=1)).statistic
    assert rows["good", "pearson"].value == pytest.approx(theirs)
    tests = {difference.test for difference in result.differences}
    assert tests == {"jackknife"}
    assert 0 <= rows["good", "spa"].value <= 1


def test_a_metric_where_lower_is_better_is_negated() -> None:
    tables = {"errors": table("errors", -GOOD, higher_is_better=False)}
    result = agree(tables, judged(QUALITY), AgreementOptions(uncertainty=FEW))
    assert result.agreement[0].value == pytest.approx(
        np.corrcoef(GOOD.ravel(), QUALITY.ravel())[0, 1]
    )


def test_only_common_cells_count() -> None:
    ratings = QUALITY.copy()
    ratings[2, :10] = np.nan
    result = run(judged(ratings))
    there = ~np.isnan(ratings)
    expected = stats.pearsonr(GOOD[there], ratings[there]).statistic
    assert result.agreement[0].value == pytest.approx(expected)
    assert result.agreement[0].n == 230


def test_which_metrics_differ_and_the_advice() -> None:
    result = run(judged(QUALITY, ("J1", "J2", "J3"), noise=0.5))
    (difference,) = result.differences
    assert difference.metrics == ("good", "poor")
    assert difference.p_value < 0.05
    (sentence,) = result.advice
    assert sentence.startswith("quality: good correlates 0.")
    assert "with people (pearson), the best of 2 metrics (95% interval 0." in sentence
    assert "a perfect metric would reach about 0." in sentence
    assert "no evidence" not in sentence
    assert "not shown" not in sentence
    (judges,) = result.judges
    assert judges.n_judges == 3
    assert judges.pairwise is not None
    assert 0.6 < judges.pairwise["mean"] < 1
    assert result.normalization == {"quality": "z"}


def test_metrics_that_cannot_be_told_apart() -> None:
    twin = GOOD + 0.01 * np.random.default_rng(0).normal(size=GOOD.shape)
    tables = {
        "good": table("good", GOOD),
        "twin": table("twin", twin),
    }
    result = agree(tables, judged(QUALITY), AgreementOptions(uncertainty=FEW))
    assert "is not shown to agree better than" in result.advice[0]


def test_documents() -> None:
    result = run(judged(QUALITY), level="document", document_size=20, documents=8)
    assert {row.n for row in result.agreement} == {8}
    assert result.differences[0].test == "jackknife"
    with pytest.raises(InputError, match="give document_size=20 or less"):
        run(judged(QUALITY), level="document")


def test_exclusions_are_in_the_result() -> None:
    rule = Exclusion("", "pressed one button", judge="J2")
    result = run(judged(QUALITY, ("J1", "J2"), noise=1.0), exclusions=[rule])
    (excluded,) = result.excluded
    assert (excluded["judge"], excluded["reason"], excluded["n"]) == (
        "J2",
        "pressed one button",
        240,
    )
    with pytest.raises(InputError, match="nothing to exclude: no judgment is about J9"):
        run(judged(QUALITY), exclusions=[Exclusion("", "?", judge="J9")])


def test_judges_who_disagree_with_the_rest_can_be_left_out() -> None:
    judgments = judged(QUALITY, ("J1", "J2", "J3"), noise=0.3)
    contrary = [
        Judgment("J4", j.item, j.system, j.question, -j.number)
        for j in judgments
        if j.judge == "J1"
    ]
    result = run([*judgments, *contrary], judges_below=0.2)
    assert [row["judge"] for row in result.excluded] == ["J4"]
    assert "below 0.2" in result.excluded[0]["reason"]


def test_a_constant_metric_is_undefined_with_its_reason() -> None:
    tables = {"flat": table("flat", np.ones_like(GOOD)), "good": table("good", GOOD)}
    result = agree(tables, judged(QUALITY), AgreementOptions(uncertainty=FEW))
    assert math.isnan(result.agreement[0].value)
    assert "constant" in result.agreement[0].note
    assert result.differences == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coefficients": ("spa",)}, "use level='system'"),
        ({"questions": ["qualty"]}, "Did you mean quality?"),
    ],
)
def test_what_cannot_be_computed(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        run(judged(QUALITY), **options)
    assert message in str(error.value)


def test_fewer_than_three_systems() -> None:
    scores = table("good", GOOD)
    two = ScoreTable(
        "good", "", SYSTEMS[:2], ITEMS, scores.statistics[:2], scores.present[:2], mean_of, mean_of
    )
    judgments = [j for j in judged(QUALITY) if j.system in "AB"]
    with pytest.raises(InputError, match="at least 3 systems"):
        agree({"good": two}, judgments, AgreementOptions(level="system"))


@pytest.mark.parametrize("options", [{"average": "item"}, {"level": "system"}])
def test_the_interval_of_an_accuracy_holds_it(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    people = rng.normal(size=(6, 40))
    noise = rng.normal(size=people.shape)
    choices = AgreementOptions(coefficients=("acc-t",), uncertainty=FEW, **options)
    result = agree({"noise": table("noise", noise)}, judged(people), choices)
    (row,) = result.agreement
    assert row.low is not None
    assert row.high is not None
    assert row.low <= row.value <= row.high


def test_without_an_interval_there_is_no_evidence() -> None:
    rows = [
        Agreement(metric, "q", "system", None, "spa", value)
        for metric, value in (("bleu", 0.7), ("random", 0.8), ("length-only", 0.6))
    ]
    assert advise(rows, [], {}) == [
        "q: bleu agrees 0.70 with people (spa). There is no interval: this is no evidence yet."
    ]


def test_judged_outputs_that_a_metric_leaves_out_are_counted() -> None:
    scores = GOOD.copy()
    scores[:, 7] = np.nan  # an item without a reference has no row in the metric's table
    tables = {"good": table("good", scores), "poor": table("poor", POOR)}
    result = agree(tables, judged(QUALITY), AgreementOptions(uncertainty=FEW))
    assert result.undefined == ({"question": "quality", "metric": "good", "n": 6},)
    assert {row.n for row in result.agreement} == {6 * 39}


def test_metrics_that_agree_equally_well_are_best_together() -> None:
    """Three systems that two metrics put in people's order: both have a Kendall of 1."""
    rows = [
        Agreement(metric, "q", "system", None, "kendall", value)
        for metric, value in (("bleu", 1.0), ("chrf", 1.0 - 1e-16), ("ter", 1 / 3))
    ]
    (sentence,) = advise(rows, [], {})
    assert "with people (kendall), the best of 3 metrics together with chrf." in sentence


def test_a_few_judged_items_show_nothing() -> None:
    few = [answer for answer in judged(QUALITY) if int(answer.item) < 3]
    result = run(few)
    assert result.advice == (
        "quality: 3 judged items cannot show how far a metric agrees: more are needed.",
    )
    assert [row.n for row in result.agreement] == [18, 18]  # nothing is left out of the table
    ten = [answer for answer in judged(QUALITY) if int(answer.item) < 10]
    assert "the best of 2 metrics" in run(ten).advice[0]


def test_a_metric_that_is_left_out_is_named_where_none_agrees() -> None:
    # mine correlates higher than bleu, so bleu's would not be "the highest" without a word about mine
    rows = [
        Agreement(metric, "q", "segment", "none", "pearson", value)
        for metric, value in (("mine", 0.2), ("bleu", -0.1))
    ]
    [sentence] = advise(rows, [], {}, neutral=["mine"])
    assert sentence == (
        "q: leaving mine out, no metric agrees with people; the highest correlation, that of bleu, is "
        "−0.10 (pearson)."
    )
