"""The story of the example: people prefer the careful system, and a metric that reads only the output
takes fluent text for correct text."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import wellput
from wellput.agreement.analysis import AgreementOptions, agree
from wellput.agreement.orders import order_sentence
from wellput.agreement.result import AgreementResult
from wellput.core.evalset import EvalSet
from wellput.core.metric import Floats
from wellput.engine.result import ScoreResult
from wellput.example.harbor import harbor_example, simulated_judgments

REFERENCE_BASED = ["bleu", "chrf", "gsa"]


@pytest.fixture(scope="module")
def example() -> EvalSet:
    return harbor_example()


@pytest.fixture(scope="module")
def scores(example: EvalSet) -> ScoreResult:
    return wellput.score(example, [*REFERENCE_BASED, "fluency"], keep_rows=True)


@pytest.fixture(scope="module")
def people(example: EvalSet) -> Floats:
    """Systems × items: the mean rating; NaN where there is no output."""
    ratings: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for judgment in simulated_judgments(example):
        ratings[judgment.system, judgment.item].append(judgment.number)
    return np.array(
        [
            [np.mean(ratings.get((system, item.id), [np.nan])) for item in example]
            for system in example.systems
        ]
    )


def test_people_prefer_careful_and_rate_smooth_among_the_spoiled(
    example: EvalSet, people: Floats
) -> None:
    mean = dict(zip(example.systems, np.nanmean(people, axis=1), strict=True))
    assert sorted(mean, key=lambda system: -mean[system])[:3] == ["careful", "realizer", "template"]
    assert max(mean[system] for system in ("smooth", "hasty", "jumbled", "lr")) < 3.5


def test_metrics_with_references_tell_careful_from_smooth_and_fluency_does_not(
    scores: ScoreResult,
) -> None:
    for metric in REFERENCE_BASED:
        assert scores["careful", metric].score > 1.5 * scores["smooth", metric].score
    assert scores["smooth", "fluency"].score > scores["careful", "fluency"].score


def test_metrics_with_references_agree_with_people_better_than_fluency(
    scores: ScoreResult, people: Floats
) -> None:
    def correlation(metric: str) -> float:
        scored = scores.table(metric).scores
        both = ~np.isnan(scored) & ~np.isnan(people)
        return float(np.corrcoef(scored[both], people[both])[0, 1])

    assert min(map(correlation, REFERENCE_BASED)) > 0.4 > 0.3 > correlation("fluency")


CUT_FROM_THE_END = ["careful", "smooth", "template", "hasty", "jumbled", "realizer", "lr"]


@pytest.fixture(scope="module")
def cut(example: EvalSet) -> dict[int, AgreementResult]:
    """The example with its first 2, 3, … 7 systems, held against its judges."""
    results = {}
    judgments = simulated_judgments(example)
    for n in range(2, len(CUT_FROM_THE_END) + 1):
        kept = CUT_FROM_THE_END[:n]
        items = [
            item._replace(outputs={s: text for s, text in item.outputs.items() if s in kept})
            for item in example
        ]
        scored = wellput.score(EvalSet(items), [*REFERENCE_BASED, "fluency"], keep_rows=True)
        own = [judgment for judgment in judgments if judgment.system in kept]
        results[n] = agree(scored.tables, own, AgreementOptions())
    return results


@pytest.mark.parametrize("n", range(2, 8))
def test_cut_to_fewer_systems_it_tells_the_same_story(
    cut: dict[int, AgreementResult], n: int
) -> None:
    (ranking,) = cut[n].ranking
    assert ranking.leaders == ["careful"]
    orders = {order.metric: order for order in cut[n].orders}
    assert orders["fluency"].overrated == "smooth"
    assert all(orders[m].agreeing > orders["fluency"].agreeing for m in REFERENCE_BASED)
    assert "fluency is fooled by smooth" in order_sentence(cut[n].orders, ranking)


def test_with_fewer_systems_intervals_are_wider_and_below_four_there_are_none(
    cut: dict[int, AgreementResult],
) -> None:
    widths = []
    for n, result in cut.items():
        bleu = next(row for row in result.agreement if row.metric == "bleu")
        if n < 4:
            assert bleu.low is None
            assert f"{n} systems cannot show how others differ" in result.advice[0]
        else:
            assert bleu.low is not None and bleu.high is not None
            widths.append(bleu.high - bleu.low)
    assert widths == sorted(widths, reverse=True)
