"""Baselines for FERGUS: the paper's LR, and two random orders.

LR ("left-right"): every sentence of the training text gets a random tree, and LR learns only whether
a lexeme stands before or after its mother lexeme. The tree of the input is the real one; a daughter
stands on the side that the pair of lexemes prefers, or on either side where the pair is unknown. The
paper does not say how the trees are drawn, nor how daughters on one side are ordered.
`train_left_right` takes uniformly random trees or projective ones; an n-gram model orders the
daughters (`LeftRight` is a grammar for the unraveler), or chance does (`random_order`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.tree import Tree
from wellput.io.model_files import ModelFile, packed_strings
from wellput.language.realize.inputs import InputTree
from wellput.language.trees.random_trees import random_heads, random_projective_heads

RandomTrees: TypeAlias = Literal["uniform", "projective"]
LEFT, ON_ANCHOR, RIGHT = 0, 1, 2


@dataclass(frozen=True, eq=False)
class LeftRight:
    """Pairs of lexemes as sorted numbers (mother * number of lexemes + daughter), each with its side:
    -1 where the daughter mostly precedes, 1 where she follows. A grammar whose supertags are words."""

    lexemes: Mapping[str, int]
    pairs: NDArray[np.unsignedinteger[Any]]
    sides: NDArray[np.int8]

    def anchor(self, mother: str) -> int:
        return ON_ANCHOR

    def places(self, mother: str, daughter: str) -> tuple[int, ...]:
        side = self.side(mother, daughter)
        return (LEFT,) if side < 0 else (RIGHT,) if side > 0 else (LEFT, RIGHT)

    def side(self, mother: str, daughter: str) -> int:
        """-1 for before the mother, 1 for after, 0 where it is not known."""
        head, word = self.lexemes.get(mother), self.lexemes.get(daughter)
        if head is None or word is None:
            return 0
        pair = head * len(self.lexemes) + word
        at = int(np.searchsorted(self.pairs, self.pairs.dtype.type(pair)))
        return int(self.sides[at]) if at < len(self.pairs) and self.pairs[at] == pair else 0

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        return {
            **packed_strings(f"{name}.lexemes", list(self.lexemes)),
            f"{name}.pairs": self.pairs,
            f"{name}.sides": self.sides,
        }

    @classmethod
    def of_file(cls, file: ModelFile, name: str) -> LeftRight:
        lexemes = {word: number for number, word in enumerate(file.strings(f"{name}.lexemes"))}
        return cls(lexemes, file.arrays[f"{name}.pairs"], file.arrays[f"{name}.sides"])


def train_left_right(
    trees: Sequence[Tree], *, rng: np.random.Generator, random_trees: RandomTrees = "uniform"
) -> LeftRight:
    """LR from the sentences of a treebank; its trees are not used."""
    draw = random_heads if random_trees == "uniform" else random_projective_heads
    lexemes: dict[str, int] = {}
    balance: Counter[tuple[int, int]] = Counter()
    for tree in trees:
        numbers = [lexemes.setdefault(word.form, len(lexemes)) for word in tree.words]
        for place, head in enumerate(draw(len(numbers), rng), start=1):
            if head:
                balance[numbers[head - 1], numbers[place - 1]] += 1 if place > head else -1
    decided = sorted((m * len(lexemes) + d, side) for (m, d), side in balance.items() if side)
    return LeftRight(
        lexemes,
        np.array([pair for pair, _ in decided], np.min_scalar_type(len(lexemes) ** 2)),
        np.array([1 if side > 0 else -1 for _, side in decided], np.int8),
    )


def random_order(
    tree: InputTree, rng: np.random.Generator, *, model: LeftRight | None
) -> list[int]:
    """The nodes in a projective order: daughters on the sides that LR gives them (without a model on
    random sides), and in random order on each side."""
    order: list[int] = []
    waiting = [(0, False)]
    while waiting:
        node, is_placed = waiting.pop()
        if is_placed:
            order.append(node)
            continue
        daughters = list(tree.daughters[node])
        rng.shuffle(daughters)
        form = tree.nodes[node].form
        sides = [model.side(form, tree.nodes[d].form) if model else 0 for d in daughters]
        coins = rng.integers(0, 2, len(daughters)) * 2 - 1
        chosen = [side or coin for side, coin in zip(sides, coins.tolist(), strict=True)]
        line = [(d, False) for d, side in zip(daughters, chosen, strict=True) if side < 0]
        line.append((node, True))
        line += [(d, False) for d, side in zip(daughters, chosen, strict=True) if side > 0]
        waiting += reversed(line)
    return order


def random_permutation(tree: InputTree, rng: np.random.Generator) -> list[int]:
    """The nodes in any order; phrases do not stay together."""
    return [int(node) for node in rng.permutation(len(tree))]
