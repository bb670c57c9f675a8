"""A SIMULATED model with planted biases judges through its endpoint; `vet` finds what was planted."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import wellput
from tests.studies.simulated_endpoint import Planted, SimulatedEndpoint, hashed_quality
from wellput.core.estimates import Estimate
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment, Preference
from wellput.studies.machines.judge_results import JudgeResult

SYSTEMS = ("sim-own", "bart", "tree")
JUDGE = "model:sim"


def quality(text: str) -> float:
    """In the middle of the scale, so that no bias pushes a rating to its end."""
    return 0.35 + 0.3 * hashed_quality(text)


def outputs(n_items: int) -> EvalSet:
    """Texts of words of equal length, 8 to 32 of them; each names its system."""
    rng = np.random.default_rng(1)
    return EvalSet(
        [
            Item(
                f"{item:02}",
                {
                    system: f"{system} "
                    + " ".join(f"w{item:02}" for _ in range(rng.integers(8, 33)))
                    for system in SYSTEMS
                },
            )
            for item in range(n_items)
        ]
    )


def contains(estimate: Estimate | None, truth: float) -> bool:
    assert estimate is not None
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low <= truth <= estimate.high


def test_planted_length_and_severity_are_found_in_ratings() -> None:
    evalset = outputs(40)
    rng = np.random.default_rng(2)
    planted = Planted(length=0.5, severity={"tree": -0.6})
    with SimulatedEndpoint(quality=quality, planted=planted) as endpoint:
        machine = wellput.judge(evalset, model="sim", question="quality", endpoint=endpoint.url)
    assert isinstance(machine, JudgeResult)
    people = [
        Judgment(
            f"p{person}", item.id, system, "quality", 1 + 6 * quality(str(text)) + rng.normal()
        )
        for item in evalset.items
        for system, text in item.outputs.items()
        for person in range(3)
    ]
    answers = [*people, *(one for one in machine if isinstance(one, Judgment))]
    found = wellput.vet(answers, JUDGE, evalset=evalset)
    assert contains(found.biases.length, 0.5)
    (row,) = [one for one in found.biases.by_system if one.system == "tree"]
    assert contains(row.deviation, -0.4)  # two thirds of −0.6: the average has the other third
    assert "favors longer outputs" in found.verdict


def test_planted_position_is_found_in_choices() -> None:
    evalset = outputs(60)
    with SimulatedEndpoint(planted=Planted(position=1.0)) as endpoint:
        machine = wellput.judge(
            evalset,
            model="sim",
            question="quality",
            endpoint=endpoint.url,
            design="pairwise",
            swap=True,
        )
    assert isinstance(machine, JudgeResult)
    choices = [one for one in machine if isinstance(one, Preference)]
    people = [
        Preference(person, one.item, one.system_a, one.system_b, one.question, "tie")
        for one in choices
        for person in ("Kim", "Lee")
    ]
    found = wellput.vet([*people, *choices], JUDGE)
    # The model chooses the first where 4 (q1 − q2) + 1 > 0, whatever the order.
    won = [
        4 * (hashed_quality(str(first)) - hashed_quality(str(second))) + 1 > 0
        for item in evalset.items
        for first, second in permutations(item.outputs.values(), 2)
    ]
    position = found.biases.position
    assert position is not None
    assert position.value == pytest.approx(np.mean(won) - 0.5)
    assert position.p_value is not None
    assert position.p_value < 1e-6
    # Asked in both orders, it contradicts itself where both outputs win as the first.
    assert found.consistency is not None
    assert found.consistency.value == pytest.approx(2 - 2 * np.mean(won))
