"""Random trees are trees, and equally likely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from tests.language.trees.trees_drawn import is_tree
from wellput.language.realize.baselines import (
    random_heads,
    random_projective_heads,
    random_projective_tree,
    random_tree,
)
from wellput.language.trees.projectivity import is_projective

Drawing = Callable[[int, np.random.Generator], list[int]]


@given(st.integers(1, 60), st.integers(0, 2**32))
def test_random_trees_are_trees(size: int, seed: int) -> None:
    forms = [f"w{place}" for place in range(size)]
    tree = random_tree(forms, np.random.default_rng(seed))
    assert [word.form for word in tree.words] == forms
    assert is_tree([word.head for word in tree.words])
    projective = random_projective_tree(forms, np.random.default_rng(seed))
    assert is_tree([word.head for word in projective.words])
    assert is_projective(projective)


@pytest.mark.parametrize(
    ("draw", "size", "kinds"),
    # 4^3 = 64 rooted trees over four words; 7 and 30 projective ones over three and four.
    [
        (random_heads, 2, 2),
        (random_heads, 4, 64),
        (random_projective_heads, 3, 7),
        (random_projective_heads, 4, 30),
    ],
)
def test_each_tree_is_equally_likely(draw: Drawing, size: int, kinds: int) -> None:
    rng = np.random.default_rng(20)
    counts = Counter(tuple(draw(size, rng)) for _ in range(100 * kinds))
    assert len(counts) == kinds
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_the_same_seed_gives_the_same_tree() -> None:
    first, second = (random_heads(30, np.random.default_rng(5)) for _ in range(2))
    assert first == second


def test_no_words() -> None:
    rng = np.random.default_rng(0)
    assert random_tree([], rng).words == ()
    assert random_projective_tree([], rng).words == ()
