"""Orders of a treelet against all permutations."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.language.realize import unraveler
from wellput.language.realize.unraveler import MemberPlaces, treelet_shape


def orders(places: tuple[MemberPlaces, ...]) -> list[tuple[int, ...]]:
    """The members' orders that the shape allows, each as often as it has paths."""
    shape = treelet_shape(places)
    found: list[tuple[int, ...]] = []
    waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    while waiting:
        state, placed = waiting.pop()
        if state == shape.n_states - 1:
            found.append(placed)
        for source, target, member in shape.steps.tolist():
            if source == state:
                waiting.append((target, (*placed, member)))
    return found


def is_allowed(
    order: tuple[int, ...], places: tuple[MemberPlaces, ...], *, is_shared: bool
) -> bool:
    """Whether places can be assigned from left to right, slots (odd) to one member unless shared."""
    reached = {0}
    for member in order:
        reached = {
            place + (place % 2 and not is_shared)
            for start in reached
            for place in places[member]
            if place >= start
        }
    return bool(reached)


MEMBERS = st.lists(
    st.sets(st.integers(0, 6), min_size=1, max_size=4).map(lambda s: tuple(sorted(s))),
    min_size=1,
    max_size=5,
).map(lambda members: tuple(sorted(members)))


@given(MEMBERS)
def test_all_orders_that_the_places_allow_and_no_others(places: tuple[MemberPlaces, ...]) -> None:
    everything = list(permutations(range(len(places))))
    expected = [o for o in everything if is_allowed(o, places, is_shared=False)] or [
        o for o in everything if is_allowed(o, places, is_shared=True)
    ]
    assert sorted(orders(places)) == sorted(expected)


def test_daughters_too_many_for_the_slots_share_them() -> None:
    # Two subjects and a head with one slot for a subject.
    assert sorted(orders(((1,), (1,), (3,)))) == [(0, 1, 2), (1, 0, 2)]


def test_a_step_weighs_its_member_before_those_still_to_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shape = treelet_shape(((0, 2), (1,)))
    before = np.array([[0.5, 3.0], [7.0, 0.5]])
    for at_once in (1, 1000):  # one step after the other, and all together
        monkeypatch.setattr(unraveler, "MAX_WEIGHTS_AT_ONCE", at_once)
        steps = zip(shape.steps.tolist(), shape.weights(before, [1, 0]).tolist(), strict=True)
        # Member 0 is the second one in `before`.
        assert {tuple(step): weight for step, weight in steps} == {
            (0, 1, 0): 7.0,
            (0, 2, 1): 3.0,
            (1, 3, 1): 0.0,
            (2, 3, 0): 0.0,
        }


def test_states_grow_with_sets_and_not_with_orders() -> None:
    shape = treelet_shape((*[(0, 2)] * 8, (1,)))
    assert not shape.is_restricted
    assert shape.n_states == 2**9


def test_a_head_with_many_daughters_is_restricted() -> None:
    shape = treelet_shape((*[(0, 2)] * 200, (1,)))
    assert shape.is_restricted
    assert shape.n_states < 202 * 2**unraveler.WINDOW
    # With the window of 5 the sixth member cannot come first.
    assert {member for source, _, member in shape.steps.tolist() if source == 0} == {0, 1, 2, 3, 4}


def test_a_head_with_thousands_of_daughters() -> None:
    # All pairs of daughters that may come first would be half a million states; a table of the members
    # that each step leaves unplaced would have 80 million entries.
    n = 1000
    shape = treelet_shape((*[(0, 2)] * n, (1,)))
    assert shape.is_restricted
    assert shape.n_states < (n + 2) * 2**unraveler.WINDOW
    assert shape.placed.nbytes <= shape.n_states * (n / 8 + 1)
