"""Which variance components can be told: designs small enough to see it, and the rank of dense
matrices."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stats.mixed_studies import dense_matrices, simulated
from tests.stats.test_mixed_equations import chosen_pairs
from wellput.stats.mixed.equations import Codes, MixedDesign, crossed_codes, renumbered
from wellput.stats.mixed.identifiable import identify_components


def design_of(judge: Codes, system: Codes, item: Codes, per_document: int = 2) -> MixedDesign:
    mains = {"judge": judge, "item": item, "document": item // per_document}
    mains = {name: renumbered(codes) for name, codes in mains.items()}
    return MixedDesign(
        renumbered(system),
        {**mains, **{f"{name}:system": crossed_codes(mains[name], system) for name in mains}},
    )


def full(judges: int, systems: int, items: int) -> tuple[Codes, Codes, Codes]:
    cells = np.array(list(product(range(judges), range(systems), range(items))))
    return cells[:, 0], cells[:, 1], cells[:, 2]


def test_everything_can_be_told_where_everything_is_repeated() -> None:
    found = identify_components(design_of(*full(3, 2, 6)))
    assert set(found.estimable) == {
        "judge", "item", "document", "judge:system", "item:system", "document:system"
    }  # fmt: skip
    assert found.reasons == {}


@pytest.mark.filterwarnings("error")
def test_where_every_choice_decides_a_system_nothing_can_be_told() -> None:
    """Three choices that join four systems: strengths explain all of them."""
    systems = np.array([[0, 1], [0, 2], [3, 0]])
    judges = np.array([[0, 0], [0, 0], [1, 1]])
    mains = {"judge": judges, "item": np.zeros_like(judges)}
    crossed = {f"{name}:system": crossed_codes(codes, systems) for name, codes in mains.items()}
    found = identify_components(MixedDesign(systems, {**mains, **crossed}))
    assert found.estimable == ()


def test_outputs_judged_once() -> None:
    judge, system, item = full(3, 3, 6)
    once = (judge + system + item) % 3 == 0
    found = identify_components(design_of(judge[once], system[once], item[once]))
    assert found.reasons["item:system"] == "no output was judged more than once"
    assert "judge:system" in found.estimable


def test_judges_who_judge_each_system_once() -> None:
    judge, system = np.repeat(np.arange(6), 2), np.tile([0, 1], 6)
    found = identify_components(design_of(judge, system, judge % 3))
    assert found.reasons["judge:system"] == "no judge judged a system more than once"


def test_documents_of_one_item() -> None:
    found = identify_components(design_of(*full(3, 2, 6), per_document=1))
    assert found.reasons == {
        "document": "this design cannot distinguish it from item",
        "document:system": "this design cannot distinguish it from item:system",
    }


def test_judges_of_one_system_each() -> None:
    judge, system, item = full(4, 2, 6)
    own = judge % 2 == system
    found = identify_components(design_of(judge[own], system[own], item[own]))
    assert found.reasons["judge:system"] == "this design cannot distinguish it from judge"


def test_one_judge_one_item() -> None:
    found = identify_components(design_of(*full(1, 3, 8)))
    assert found.reasons["judge"] == "there is only one judge"
    found = identify_components(design_of(*full(5, 3, 1)))
    assert found.reasons["item"] == "there is only one item"


def test_a_judge_for_each_item() -> None:
    judge, system, item = full(1, 3, 8)
    found = identify_components(design_of(item, system, item))
    assert found.reasons["item"] == "this design cannot distinguish it from judge"
    assert judge.max() == 0


def test_main_effects_cancel_in_choices() -> None:
    design = chosen_pairs(3)
    judges = np.repeat(np.arange(60)[:, None] % 5, 2, axis=1)
    found = identify_components(
        MixedDesign(design.systems, {**design.factors, "judge": judges}, design.covariates)
    )
    assert found.reasons == {
        "judge": "the effect of a judge is the same for both systems of a choice"
    }


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_those_told_are_as_many_as_the_rank(share: float, seed: int) -> None:
    design = simulated(seed, judges=4, systems=2, items=5, share=share, per_document=2)[1]
    told = identify_components(design).estimable
    x, z = dense_matrices(design)
    rest = np.eye(len(x)) - x @ np.linalg.pinv(x)

    def rank(names: tuple[str, ...]) -> int:
        parts = [np.eye(len(x)), *(z[name] @ z[name].T for name in names)]
        stacked = np.stack([(rest @ part @ rest).ravel() for part in parts])
        return int(np.linalg.matrix_rank(stacked, tol=1e-6))

    if rank(()) == 1:
        assert rank(told) == 1 + len(told)
        assert rank(tuple(design.factors)) == 1 + len(told)
