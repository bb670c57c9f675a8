"""Trees to learn from: files in CoNLL-U, or trees in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from wellput.core.tree import Tree
from wellput.io.conllu import read_trees
from wellput.io.files import PathLike

Treebanks: TypeAlias = PathLike | Sequence[PathLike | Tree]
"""One file, or several, or trees, or both."""


def tree_list(trees: Treebanks) -> list[str | Tree]:
    """What was given, files by their name."""
    given = [trees] if isinstance(trees, str | Path) else trees
    return [one if isinstance(one, Tree) else str(one) for one in given]


def trees_in(given: Sequence[str | Tree]) -> Iterator[Tree]:
    """All trees. A file that is not there is refused at once."""
    readers = [[one] if isinstance(one, Tree) else read_trees(one) for one in given]
    return (tree for reader in readers for tree in reader)
