"""The demo's example: who wrote what, and judges who know only what a system is worth."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest

from wellput.core.evalset import EvalSet
from wellput.demo.example import BASELINE, REALIZERS, harbor_example
from wellput.demo.judges import QUESTION, WORTH, simulated_judgments


@pytest.fixture(scope="module")
def example() -> EvalSet:
    return harbor_example()


def test_enough_items_with_two_references_and_their_trees(example: EvalSet) -> None:
    assert len(example) >= 50
    for item in example:
        assert item.source
        assert len(item.references) == 2
        assert [tree is not None for tree in item.trees] == [True, True]


def test_every_system_has_a_known_and_different_quality(example: EvalSet) -> None:
    assert set(example.systems) == set(WORTH) and example.systems[0] == BASELINE
    assert len(set(WORTH.values())) == len(WORTH)


@pytest.mark.parametrize("system", REALIZERS)
def test_realizers_order_the_words_of_the_first_reference(example: EvalSet, system: str) -> None:
    def letters(text: str) -> Counter[str]:
        return Counter(text.lower().replace(" ", ""))

    made = [(item.outputs[system], item.references[0]) for item in example]
    assert all(letters(str(output)) == letters(reference) for output, reference in made)
    assert any(output != reference for output, reference in made)
    assert not any(str(output).endswith(" .") for output, _ in made)


def test_the_realizer_is_better_than_lr_and_neither_is_stored(example: EvalSet) -> None:
    same = {
        system: sum(item.outputs[system] == item.references[0] for item in example)
        for system in REALIZERS
    }
    assert same["realizer"] > 10 > same["lr"]


def test_judges_rate_every_output_near_its_systems_worth(example: EvalSet) -> None:
    judgments = simulated_judgments(example)
    assert judgments == simulated_judgments(example)
    assert len(judgments) == 6 * sum(len(item.outputs) for item in example)
    ratings: defaultdict[str, list[float]] = defaultdict(list)
    for judgment in judgments:
        assert judgment.question == QUESTION and judgment.judge.startswith("simulated ")
        assert judgment.value in range(1, 8)
        ratings[judgment.system].append(judgment.value)
    # Six judges whose leniency has a standard deviation of .4 are .16 off together; the ends of the
    # scale pull a little more.
    assert {s: round(np.mean(values) - WORTH[s], 1) for s, values in ratings.items()} == {
        system: pytest.approx(0, abs=0.5) for system in WORTH
    }
