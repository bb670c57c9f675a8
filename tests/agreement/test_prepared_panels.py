"""Which judges may be put on a common scale: not those who rated one system each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict

import numpy as np
import pytest

from wellput.agreement.analysis import AgreementOptions, agree
from wellput.agreement.correlations import Uncertainty
from wellput.agreement.panel import Normalization, mean_of
from wellput.agreement.prepared_panels import kept_share
from wellput.agreement.result import AgreementResult, JudgeSummary
from wellput.core.estimates import ScoreTable
from wellput.core.judgment import Judgment
from wellput.core.metric import Floats

SYSTEMS = tuple("ABCDEF")
ITEMS = tuple(str(number) for number in range(30))
RNG = np.random.default_rng(9)
WORTH = np.linspace(-1.2, 1.2, 6)[:, None] + RNG.normal(0, 0.4, (6, 30))
METRIC = WORTH + RNG.normal(0, 1.0, WORTH.shape)


def metric(systems: tuple[str, ...] = SYSTEMS, scores: Floats = METRIC) -> ScoreTable:
    present = np.ones(scores.shape, dtype=bool)
    statistics = np.stack([scores, present], axis=-1)
    return ScoreTable("m", "", systems, ITEMS, statistics, present, mean_of, mean_of)


def ratings(systems_of: dict[str, str]) -> list[Judgment]:
    """Each judge has a severity and rates all items of the systems named by letters."""
    rng = np.random.default_rng(4)
    return [
        Judgment(
            judge, item, SYSTEMS[s], "quality", float(4 + WORTH[s, i] + rng.normal(severity, 0.5))
        )
        for judge, letters in systems_of.items()
        for severity in [rng.normal(0, 0.3)]
        for s in map(SYSTEMS.index, letters)
        for i, item in enumerate(ITEMS)
    ]


NESTED = ratings({f"J{number}": "ABCDEF"[number % 6] for number in range(12)})
CROSSED = ratings({f"J{number}": "ABCDEF" for number in range(4)})


def result(
    judgments: list[Judgment],
    normalization: Normalization | None = None,
    table: ScoreTable | None = None,
) -> AgreementResult:
    options = AgreementOptions(normalization=normalization, uncertainty=Uncertainty(n_resamples=50))
    return agree({"m": table or metric()}, judgments, options)


def test_judges_of_one_system_each_keep_their_scales() -> None:
    found = result(NESTED)
    assert found.normalization == {"quality": "none"}
    (note,) = found.notes
    assert "12 of 12 judges rated one system only" in note
    assert "z would leave nothing of a difference between systems" in note
    raw = result(NESTED, "none")
    assert found.agreement[0].value == raw.agreement[0].value > 0.5
    assert raw.notes == ()


@pytest.mark.parametrize("normalization", ["z", "unit", "rank"])
def test_a_common_scale_that_was_asked_for_has_a_warning(normalization: Normalization) -> None:
    found = result(NESTED, normalization)
    assert found.normalization == {"quality": normalization}
    assert f"so {normalization} leaves nothing" in found.notes[0]
    assert found.to_dict()["notes"] == list(found.notes)
    assert found.agreement[0].value < result(NESTED).agreement[0].value - 0.1


def test_judges_of_all_systems_are_put_on_one_scale_without_a_note() -> None:
    found = result(CROSSED)
    assert found.normalization == {"quality": "z"}
    assert found.notes == ()


def test_one_judge_of_one_system_among_many_costs_little() -> None:
    some = {f"J{number}": "ABCDEF" for number in range(5)} | {"J9": "A"}
    found = result(ratings(some))
    assert found.normalization == {"quality": "z"}
    # A judge who is alone with a system decides the whole difference.
    apart = result(ratings({"J1": "ABCDE", "J2": "ABCDE", "J9": "F"}))
    assert apart.normalization == {"quality": "none"}
    assert "1 of 3 judges rated one system only" in apart.notes[0]


def figures(judges: tuple[JudgeSummary, ...]) -> dict[str, object]:
    """Every figure of the agreement of judges, by the path to it."""

    def flat(value: object, path: str) -> Iterator[tuple[str, object]]:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                yield from flat(inner, f"{path}/{key}")
        else:
            yield path, value

    return dict(flat({str(n): asdict(one) for n, one in enumerate(judges)}, ""))


def test_a_system_that_nobody_judged_changes_nothing() -> None:
    more = metric((*SYSTEMS, "G"), np.vstack([METRIC, np.zeros(30)]))
    for judgments in (NESTED, CROSSED):
        with_it, without = result(judgments, table=more), result(judgments)
        assert with_it.normalization == without.normalization
        (one,), (other,) = with_it.agreement, without.agreement
        assert other.low is not None and other.p_value is not None
        assert (one.value, one.low, one.high, one.p_value) == pytest.approx(
            (other.value, other.low, other.high, other.p_value)
        )
        assert with_it.advice == without.advice
        assert figures(with_it.judges) == pytest.approx(figures(without.judges))
        assert with_it.ranking == without.ranking


def test_the_share_of_a_balanced_incomplete_design() -> None:
    # Three systems, each judge rates two: E = v (k − 1) / (k (v − 1)) = 3 · 1 / (2 · 2) = .75.
    counts = np.array([[5.0, 5, 0], [5, 0, 5], [0, 5, 5]])
    assert kept_share(counts) == pytest.approx(0.75)
    assert kept_share(np.repeat(counts, 3, axis=0)) == pytest.approx(0.75)
    assert kept_share(np.array([[4.0, 4, 0, 0], [0, 0, 4, 4]])) == 0  # two groups that never meet
    assert kept_share(np.array([[3.0], [2.0]])) == 1  # a single system
