"""The sparse equations of mixed models against dense matrices."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stats.mixed_studies import dense_matrices, simulated
from wellput import _native
from wellput.core.errors import InputError
from wellput.stats.mixed.equations import (
    Floats,
    MixedDesign,
    MixedModel,
    crossed_codes,
    part_with_smaller_core,
    renumbered,
)


def chosen_pairs(seed: int, *, n: int = 60) -> MixedDesign:
    """Choices between two of four systems, by five judges on eight items in three documents."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, n)
    systems = np.stack([first, (first + rng.integers(1, 4, n)) % 4], axis=1)
    systems[:4] = [[0, 1], [1, 2], [2, 3], [3, 0]]
    mains = {
        name: np.repeat(rng.integers(0, size, n)[:, None], 2, axis=1)
        for name, size in {"judge": 5, "item": 8, "document": 3}.items()
    }
    factors = {f"{name}:system": crossed_codes(codes, systems) for name, codes in mains.items()}
    return MixedDesign(systems, factors, rng.normal(size=(n, 2)))


def crowd(*, judges: int, ratings: int, items: int) -> MixedDesign:
    """Each judge rates some outputs of two systems."""
    rng = np.random.default_rng(1)
    judge = np.repeat(np.arange(judges), ratings)
    item, system = rng.integers(0, items, len(judge)), rng.integers(0, 2, len(judge))
    mains = {"judge": judge, "item": renumbered(item)}
    crossed = {f"{name}:system": crossed_codes(codes, system) for name, codes in mains.items()}
    return MixedDesign(system, mains | crossed)


@pytest.mark.parametrize(
    ("judges", "items", "core"), [(200, 40, "item"), (40, 400, "judge"), (2000, 40, None)]
)
def test_a_part_of_the_data_has_a_smaller_core(judges: int, items: int, core: str | None) -> None:
    # Judges of one rating each say nothing about how far a judge's ratings agree.
    design = crowd(judges=judges, ratings=1 if core is None else 20, items=items)
    rows = part_with_smaller_core(design, 0.5)
    if core is None:
        assert rows is None
        return
    assert rows is not None
    units = design.factors[core]
    assert len(np.unique(units[rows])) == (int(units.max()) + 1) // 2
    assert set(units[rows]).isdisjoint(units[~rows])
    assert MixedModel(design.rows(rows)).n_core < 0.6 * MixedModel(design).n_core


def dense_equations(
    model: MixedModel, thetas: dict[str, float], weights: Floats
) -> tuple[Floats, Floats]:
    """The scaled rows and the matrix of the equations."""
    x, z = dense_matrices(model.design)
    columns = [thetas[name] * z[name] for name in model.names]
    rows = np.hstack([*columns, x[:, 1:] if model.fixes_first_system else x])
    matrix = rows.T @ (weights[:, None] * rows)
    matrix[np.arange(model.n_random), np.arange(model.n_random)] += 1
    return rows, matrix


@pytest.mark.parametrize(("is_choice", "is_merged"), [(False, False), (True, False), (False, True)])
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_nothing_but_the_dense_equations(is_choice: bool, is_merged: bool, seed: int) -> None:
    check_against_dense(is_choice, is_merged, seed)


@mock.patch("wellput.stats.mixed.equations.MIN_CORE_TO_SPLIT", 0)
@mock.patch("wellput.stats.mixed.equations.KERNEL_COST", 0)
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_effects_with_systems_absorbed(seed: int) -> None:
    check_against_dense(False, False, seed)


def check_against_dense(is_choice: bool, is_merged: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    design = chosen_pairs(seed) if is_choice else simulated(seed)[1]
    names = tuple(name for name in design.factors if rng.random() < (0.9 if is_merged else 0.7))
    least = 1 if is_merged else 1000
    with mock.patch("wellput.stats.mixed.merged_columns.MIN_LEVELS_TO_MERGE", least):
        model = MixedModel(design.only(names), fixes_first_system=is_choice)
    thetas = {name: float(rng.choice([0.0, rng.exponential()])) for name in names}
    weights = rng.random(len(design)) + 0.1
    rows, matrix = dense_equations(model, thetas, weights)
    log_random, log_fixed = model.factor(thetas, weights)
    random = matrix[: model.n_random, : model.n_random]
    assert log_random == pytest.approx(np.linalg.slogdet(random)[1], abs=1e-8)
    assert log_random + log_fixed == pytest.approx(np.linalg.slogdet(matrix)[1], abs=1e-8)

    sides = rng.normal(size=(model.n_columns, 3))
    np.testing.assert_allclose(model.solve(sides), np.linalg.solve(matrix, sides), atol=1e-8)
    solved = model.solve(sides, random_only=True)
    expected = np.linalg.solve(random, sides[: model.n_random])
    np.testing.assert_allclose(solved[: model.n_random], expected, atol=1e-8)
    assert not solved[model.n_random :].any()

    part = model.invert(random_only=True)
    inverse = np.linalg.inv(random)
    np.testing.assert_allclose(part.diagonal[: model.n_random], np.diag(inverse), atol=1e-9)
    own = rows[:, : model.n_random]
    np.testing.assert_allclose(part.leverages, ((own @ inverse) * own).sum(axis=1), atol=1e-9)

    whole = model.invert()
    inverse = np.linalg.inv(matrix)
    np.testing.assert_allclose(whole.diagonal, np.diag(inverse), atol=1e-8)
    np.testing.assert_allclose(whole.leverages, ((rows @ inverse) * rows).sum(axis=1), atol=1e-8)
    np.testing.assert_allclose(whole.fixed_columns, inverse[:, model.n_random :], atol=1e-8)

    ones = dict.fromkeys(names, 1.0)
    plain = dense_equations(model, ones, weights)[0]
    np.testing.assert_allclose(model.times(sides), plain @ sides, atol=1e-10)
    np.testing.assert_allclose(model.transposed_times(weights), plain.T @ weights, atol=1e-10)


def test_many_items_need_no_columns_beside_their_outputs() -> None:
    design = crowd(judges=1000, ratings=20, items=150)
    named = {"judge", "judge:system", "item:system"}
    merged, without_items = MixedModel(design), MixedModel(design.only(tuple(named)))
    assert merged.n_core == without_items.n_core + 150
    sizes = []
    for model in (merged, without_items):
        model.factor(dict.fromkeys(model.names, 0.5), np.ones(len(design)))
        sizes.append(len(model._core))
    assert sizes[0] == sizes[1] == without_items.n_core


@pytest.mark.parametrize("is_nested", [True, False])
def test_outputs_in_another_order_than_their_items_keep_their_columns(is_nested: bool) -> None:
    # Codes that a caller made: those of outputs by system first, or with an output of two items.
    item = np.repeat(np.arange(120), 4)
    system = np.tile([0, 0, 1, 1], 120)
    judge = renumbered(np.arange(480) % 239)
    output = crossed_codes(system, item)
    if not is_nested:
        output = crossed_codes(item, system)
        output[2] = output[4]
        output = renumbered(output)
    factors = {"judge": judge, "judge:system": np.arange(480), "item": item, "item:system": output}
    model = MixedModel(MixedDesign(system, factors))
    assert model.names[:2] == ("judge:system", "judge")
    thetas = dict(zip(model.names, (0.3, 0.7, 0.5, 0.9), strict=True))
    _, matrix = dense_equations(model, thetas, np.ones(480))
    log_random, log_fixed = model.factor(thetas, np.ones(480))
    assert log_random + log_fixed == pytest.approx(np.linalg.slogdet(matrix)[1], abs=1e-8)
    side = np.cos(np.arange(model.n_columns))
    np.testing.assert_allclose(model.solve(side), np.linalg.solve(matrix, side), atol=1e-8)


@settings(deadline=None, max_examples=30)
@given(sizes=st.lists(st.integers(1, 4), max_size=6), seed=st.integers(0, 10**6))
def test_a_matrix_between_scales_of_blocks(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    own, shared = rng.normal(size=(2, len(sizes)))
    n = int(begins[-1])
    root = np.zeros((n, n))
    for k, size in enumerate(sizes):
        block = slice(begins[k], begins[k + 1])
        root[block, block] = own[k] * np.eye(size) + shared[k]
    matrix = rng.normal(size=(n, n))
    whole = np.tril(matrix) + np.tril(matrix, -1).T
    upper = np.triu(matrix, 1)
    _native.scale_blocks(matrix, begins, own, shared)
    np.testing.assert_allclose(np.tril(matrix), np.tril(root @ whole @ root), atol=1e-12)
    np.testing.assert_array_equal(np.triu(matrix, 1), upper)


def test_blocks_that_do_not_fit_are_refused() -> None:
    one = np.ones(1)
    with pytest.raises(ValueError, match="not square"):
        _native.scale_blocks(np.ones((2, 3)), np.array([0, 2]), one, one)
    for begins, message in (
        ([0, 1], "every column must be in a block"),
        ([1, 2], "every column must be in a block"),
        ([0, 3], "not in order"),
        ([-1, 2], "not in order"),
        ([0, 1, 2], "two scales for each block"),
    ):
        with pytest.raises(ValueError, match=message):
            _native.scale_blocks(np.eye(2), np.array(begins), one, one)
    with pytest.raises(TypeError):  # a copy would be changed, not this matrix
        _native.scale_blocks(np.eye(2, dtype=np.float32), np.array([0, 2]), one, one)


def test_judges_are_absorbed_where_there_are_more_of_them() -> None:
    few_items = simulated(1, judges=30, items=3)[1].only(("judge", "item"))
    assert MixedModel(few_items).n_absorbed == 30
    few_judges = simulated(1, judges=3, items=30)[1].only(("judge", "item"))
    assert MixedModel(few_judges).n_absorbed == 30


@pytest.mark.parametrize("has_more_judges", [True, False])
def test_effects_with_systems_are_absorbed_where_there_are_many_systems(
    has_more_judges: bool,
) -> None:
    judges, items = (9, 5) if has_more_judges else (5, 9)
    names = ("judge", "item", "judge:system", "item:system")
    many = MixedModel(simulated(1, systems=150, judges=judges, items=items)[1].only(names))
    first = "judge:system" if has_more_judges else "item:system"
    assert many.names[0] == first and set(many.names[:2]) == {"judge:system", "item:system"}
    assert many.n_core == 9 + 5 + 150
    few = MixedModel(simulated(1, systems=3, judges=60, items=300)[1].only(names))
    assert few.n_core == 60 + 3 * 60 + 3  # judges, alone and with systems


def test_codes_have_no_gaps() -> None:
    with pytest.raises(InputError, match="factor judge are not 0, 1, 2"):
        MixedDesign(np.array([0, 1]), {"judge": np.array([0, 2])})
    with pytest.raises(InputError, match="factor system"):
        MixedDesign(np.array([-1, 1]), {})
    with pytest.raises(InputError, match="needs one code for each judgment"):
        MixedDesign(np.array([0, 1]), {"judge": np.array([0])})
    with pytest.raises(InputError, match="one finite number"):
        MixedDesign(np.array([0, 1]), {}, np.array([[1.0], [np.nan]]))
    np.testing.assert_array_equal(renumbered(np.array([[7, 3], [3, 9]])), [[1, 0], [0, 2]])


def test_arrays_that_do_not_fit_are_refused() -> None:
    columns, values = np.array([[0, 1], [0, 2]], np.int32), np.ones((2, 2))
    with pytest.raises(ValueError, match="beyond the last"):
        _native.MixedEquations(columns, values, 1, 1, 2)
    with pytest.raises(ValueError, match="absorbed must be at most random"):
        _native.MixedEquations(columns, values, 2, 1, 3)
    with pytest.raises(ValueError, match="every column must have an entry"):
        _native.MixedEquations(columns, values, 1, 1, 2**31 - 2)
    equations = _native.MixedEquations(columns, values, 1, 1, 3)
    with pytest.raises(ValueError, match="factor comes first"):
        equations.forward(np.ones((3, 1)))
    with pytest.raises(ValueError, match="a scale for each column"):
        equations.factor(np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="a weight for each row"):
        equations.factor(np.ones(3), np.ones(3))
    equations.factor(np.ones(3), np.ones(2))
    with pytest.raises(ValueError, match="not that of the core"):
        equations.invert(np.eye(3))
    with pytest.raises(ValueError, match="a row for each column"):
        equations.backward(np.ones((2, 1)))
