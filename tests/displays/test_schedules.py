"""Motions, and the nodes and words of derivations."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wellput.displays.schedules import (
    MOTIONS,
    display_code,
    display_motions,
    extents_of,
    nodes_of,
    words_of,
)

# S over NP (the, tiles) and a VP whose head is a word with a child of its own.
TREE: dict[str, Any] = {
    "id": "s",
    "children": [
        {"id": "np", "children": [{"id": "a", "word": "the"}, {"id": "b", "word": "tiles"}]},
        {"id": "vp", "word": "shine", "children": [{"id": "c", "word": "brightly"}]},
    ],
}


def test_nodes_come_depth_first_and_words_in_order() -> None:
    assert [node["id"] for node in nodes_of(TREE)] == ["s", "np", "a", "b", "vp", "c"]
    assert words_of(TREE) == ["the", "tiles", "shine", "brightly"]


def test_extents_run_to_behind_the_last_word() -> None:
    assert extents_of(TREE) == {
        "s": (0, 4), "np": (0, 2), "a": (0, 1), "b": (1, 2), "vp": (2, 4), "c": (3, 4),
    }  # fmt: skip


@given(st.sets(st.sampled_from(list(MOTIONS))))
def test_a_display_is_its_code(motions: set[str]) -> None:
    assert set(display_motions(display_code(sorted(motions)))) == motions
