"""Intervals, p-values and sentences of `agree` never contradict each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agreement.test_many_metrics import judgments, table
from wellput.agreement.advice import advise
from wellput.agreement.analysis import AgreementOptions, agree
from wellput.agreement.correlations import Uncertainty
from wellput.agreement.result import Agreement, AgreementResult
from wellput.core.errors import InputError
from wellput.core.metric import Floats


def study(
    seed: int, n_systems: int, n_items: int, slope: float = 1.0
) -> tuple[dict[str, Floats], Floats]:
    """Scores of two metrics and of people, with effects of systems and of items in common."""
    rng = np.random.default_rng(seed)

    def drawn() -> Floats:
        made: Floats = (
            rng.normal(size=(n_systems, 1))
            + rng.normal(size=(1, n_items))
            + rng.normal(size=(n_systems, n_items))
        )
        return made

    human = drawn()
    return {"good": slope * human + drawn(), "noise": drawn()}, human


def run(
    scores: dict[str, Floats],
    human: Floats,
    uncertainty: Uncertainty | None = None,
    **options: Any,
) -> AgreementResult:
    tables = {name: table(name, values) for name, values in scores.items()}
    options = {"coefficients": ("pearson",), "uncertainty": uncertainty or Uncertainty(), **options}
    return agree(tables, judgments(human), AgreementOptions(**options))


KINDS = st.sampled_from(
    [
        {"coefficients": ("pearson", "spearman")},
        {"coefficients": ("kendall", "acc-t"), "average": "item"},
        {"coefficients": ("kendall-c",), "average": "system"},
        {"coefficients": ("pearson", "kendall", "acc-t", "spa"), "level": "system"},
        {"coefficients": ("pearson",), "level": "document", "document_size": 8, "documents": 4},
    ]
)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n_systems=st.integers(2, 7),
    n_items=st.integers(10, 20),
    slope=st.sampled_from([0.0, 1.0, 4.0]),
    kind=KINDS,
    generalize=st.sampled_from(["both", "systems", "items"]),
)
def test_p_is_small_exactly_where_the_interval_does_not_contain_the_null(
    seed: int, n_systems: int, n_items: int, slope: float, kind: dict[str, Any], generalize: Any
) -> None:
    if n_systems < 3 and "level" in kind:
        return
    scores, human = study(seed, n_systems, n_items, slope)
    result = run(scores, human, Uncertainty(generalize=generalize), **kind)
    printed = [(row.low, row.high, row.p_value, row.null) for row in result.agreement]
    printed += [(row.low, row.high, row.p_value, 0.0) for row in result.differences]
    for low, high, p_value, null in printed:
        if low is None or high is None:
            assert p_value is None or np.isnan(p_value)
        else:
            assert p_value is not None and null is not None
            if abs(p_value - 0.05) > 1e-9:
                assert (not low <= null <= high) == (p_value < 0.05)
    if generalize != "items" and n_systems < 4:
        assert all(row.low is None for row in result.agreement)


@pytest.mark.heavy
@pytest.mark.parametrize("coefficient", ["pearson", "kendall"])
def test_more_drawn_documents_give_no_narrower_interval(coefficient: str) -> None:
    """All drawn documents have the same systems and items."""
    scores, human = study(3, 6, 60)
    widths = []
    for documents in (10, 100):
        result = run(
            scores,
            human,
            level="document",
            coefficients=(coefficient,),
            document_size=30,
            documents=documents,
        )
        row = result.agreement[0]
        assert row.low is not None and row.high is not None
        widths.append(row.high - row.low)
    assert widths[1] > 0.7 * widths[0]


@pytest.mark.heavy
def test_one_more_system_does_not_make_the_interval_wider() -> None:
    """An inference that only draws items below five systems would get narrower with less data."""
    widths: dict[int, list[float]] = {4: [], 5: [], 12: []}
    for seed in range(12):
        scores, human = study(seed, 12, 30)
        for n_systems, found in widths.items():
            row = run({"good": scores["good"][:n_systems]}, human[:n_systems]).agreement[0]
            assert row.low is not None and row.high is not None
            found.append(row.high - row.low)
    assert np.mean(widths[4]) > np.mean(widths[5]) > np.mean(widths[12])


@pytest.mark.parametrize(
    "kind",
    [
        {"coefficients": ("acc-t",), "average": "item"},
        {"coefficients": ("spa",), "level": "system"},
    ],
)
def test_noise_is_no_evidence_though_its_accuracy_is_far_from_0(kind: dict[str, Any]) -> None:
    scores, human = study(1, 6, 40)
    result = run({"noise": scores["noise"]}, human, **kind)
    (row,) = result.agreement
    assert row.low is not None and row.low > 0.05
    assert row.null is not None and 0.3 < row.null < 0.7
    assert "what chance gives: this is no evidence yet" in result.advice[0]


def test_a_system_that_nobody_judged_changes_nothing() -> None:
    scores, human = study(2, 6, 40)
    more = {name: np.vstack([values, values[:1]]) for name, values in scores.items()}
    with_one_more = run(more, human)
    alone = run(scores, human)
    for row, other in zip(alone.agreement, with_one_more.agreement, strict=True):
        assert (row.value, row.low, row.high, row.p_value) == pytest.approx(
            (other.value, other.low, other.high, other.p_value)
        )


@pytest.mark.heavy
def test_metrics_that_err_for_whole_systems_are_not_told_apart_by_chance() -> None:
    """Two equally good metrics; a third of their errors is common to all outputs of a system. PERM-BOTH
    rejects in .42 to .50 of such studies at .05."""
    rejected = {"auto": 0, "perm-both": 0}
    rng = np.random.default_rng(5)
    for _ in range(60):
        human = rng.normal(size=(10, 30))
        scores = {
            name: human + 0.8 * rng.normal(size=human.shape) + 0.6 * rng.normal(size=(10, 1))
            for name in ("one", "other")
        }
        for test in rejected:
            result = run(scores, human, Uncertainty(n_resamples=199), test=test)
            rejected[test] += result.differences[0].p_value < 0.05
    assert rejected["auto"] <= 7  # of 60: 3 expected, 7 is exceeded once in 40 times
    assert rejected["perm-both"] > 2 * rejected["auto"]


def test_a_test_named_by_the_user_has_no_interval() -> None:
    scores, human = study(1, 6, 30)
    result = run(scores, human, Uncertainty(n_resamples=99), test="perm-both")
    (row,) = result.differences
    assert (row.test, row.low, row.high) == ("perm-both", None, None)
    with pytest.raises(InputError, match="does not work for documents: leave test= out"):
        run(scores, human, level="document", document_size=10, test="perm-both")


def test_p_is_corrected_for_the_metrics_tried_but_not_for_sentinels() -> None:
    scores, human = study(1, 6, 30)
    result = run({**scores, "random": scores["noise"]}, human)
    rows = {row.metric: row for row in result.agreement}
    assert rows["random"].p_adjusted is None
    assert rows["good"].p_value is not None
    assert rows["good"].p_adjusted == pytest.approx(min(1, 2 * rows["good"].p_value))


def test_length_is_compared_by_the_size_of_its_correlation() -> None:
    """Shorter is better here, and length correlates as much as the metric does: neither is better."""
    rng = np.random.default_rng(3)
    human = rng.normal(size=(8, 40))
    good = human + 0.5 * rng.normal(size=human.shape)
    length = -human + 0.5 * rng.normal(size=human.shape)
    result = run({"good": good, "length-only": length}, human)
    (difference,) = result.differences
    rows = {row.metric: row.value for row in result.agreement}
    assert difference.delta == pytest.approx(rows["good"] + rows["length-only"])
    assert abs(difference.delta) < 0.1
    assert "length-only is negated" in str(result)


def test_an_interval_without_a_known_chance_level_is_no_evidence() -> None:
    row = Agreement("bleu", "q", "segment", "item", "acc-t", 0.7, 0.6, 0.8)
    assert advise([row], [], {})[0].endswith(
        "It is not known here what chance gives: this is no evidence yet."
    )
