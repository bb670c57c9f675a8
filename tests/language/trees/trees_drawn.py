"""Random trees for the tests of this folder."""

from __future__ import annotations

from hypothesis import strategies as st

from wellput.core.tree import Constituent, Tree, Word

LABELS = [
    "S",
    "NP",
    "NP-SBJ-1",
    "VP",
    "PP",
    "ADJP-PRD",
    "SBAR",
    "QP",
    "X",
    "NX",
    "",
    "ODD|NP",
    "SQ",
]
TAGS = ["NN", "VBZ", "CC", ",", "IN", "-NONE-", "TO", "POS", "MD", "."]

leaves = st.builds(
    Constituent,
    st.sampled_from(TAGS),
    st.just(()),
    st.sampled_from(["is", "be", "'s", "a", "Cat", "*T*-1", ","]),
)
constituents = st.recursive(
    leaves,
    lambda parts: st.builds(
        Constituent, st.sampled_from(LABELS), st.lists(parts, min_size=1, max_size=4).map(tuple)
    ),
    max_leaves=25,
)


@st.composite
def trees(draw: st.DrawFn, forms: st.SearchStrategy[str], smallest: int = 1) -> Tree:
    """A tree of any shape: words are hung one after the other, in any order, on earlier ones."""
    size = draw(st.integers(smallest, 14))
    order = draw(st.permutations(range(1, size + 1)))
    heads = [0] * (size + 1)
    for place in range(1, size):
        heads[order[place]] = order[draw(st.integers(0, place - 1))]
    return Tree(
        tuple(
            Word(draw(forms), heads[place], xpos=draw(forms), relation=draw(forms))
            for place in range(1, size + 1)
        )
    )


def is_tree(heads: list[int]) -> bool:
    """One root, and every word reaches it."""
    if heads.count(0) != 1:
        return False
    for word in range(1, len(heads) + 1):
        steps = 0
        while word and steps <= len(heads):
            word, steps = heads[word - 1], steps + 1
        if word:
            return False
    return True
