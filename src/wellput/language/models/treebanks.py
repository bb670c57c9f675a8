"""`Treebank`: the trees of a language to learn from, and trees apart to tune and measure on.

A folder is that of a Universal Dependencies repository: the files are found by their names
(`cy_ccg-ud-train.conllu`, `cy_ccg-ud-dev.conllu`); files for testing are never read.

Treebanks differ in their tags. `with_tags` gives every word one tag to learn: its XPOS, or UPOS in a
treebank without XPOS, and the features that decide how words attach. `tag_columns` takes it apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word
from wellput.io.trees import read_trees

SUFFIXES = (".conllu", ".conllu.gz", ".conllu.xz")
HELD_OUT_EVERY = 10
"""Without trees to tune on, one in ten is kept for that."""
TAG_FEATURES = ("Case", "VerbForm")
"""On Turkish dev trees these gained 2 points of LAS beside XPOS."""
FEATURES_MARK, UNIVERSAL_MARK = "~", "@"
MIN_TAGGED_SHARE = 0.99
"""The share of words that must have an XPOS, so that XPOS is used."""


@dataclass(frozen=True)
class Treebank:
    """`names` are the files that were read."""

    train: list[Tree]
    dev: list[Tree]
    names: tuple[str, ...]

    @property
    def words(self) -> int:
        return sum(len(tree.words) for tree in self.train)


def read_treebank(paths: Sequence[Path], dev: Sequence[Path] = ()) -> Treebank:
    """From folders and files; `dev` names files to tune on, which are otherwise found in the folders.
    Without any, one tree in ten is kept for tuning."""
    if missing := [str(path) for path in (*paths, *dev) if not path.exists()]:
        raise InputError(f"No such file or folder: {', '.join(missing)}.")
    learned: list[Path] = []
    tuned = list(dev)
    for path in paths:
        if path.is_dir():
            learned += _files(path, "train")
            tuned += [] if dev else _files(path, "dev", is_needed=False)
        else:
            learned.append(path)
    trees = [tree for path in learned for tree in read_trees(path)]
    names = tuple(path.name for path in (*learned, *tuned))
    if tuned:
        return Treebank(trees, [tree for path in tuned for tree in read_trees(path)], names)
    if len(trees) < HELD_OUT_EVERY:
        return Treebank(trees, [], names)
    held_out = trees[HELD_OUT_EVERY - 1 :: HELD_OUT_EVERY]
    rest = [tree for place, tree in enumerate(trees, 1) if place % HELD_OUT_EVERY]
    return Treebank(rest, held_out, names)


def _files(folder: Path, part: str, *, is_needed: bool = True) -> list[Path]:
    found = [
        path
        for path in sorted(folder.iterdir())
        if path.name.endswith(SUFFIXES) and part in path.name.split(".")[0].split("-")
    ]
    if not found and is_needed:
        raise InputError(
            f"{folder} has no file named like xx_name-ud-{part}.conllu. Name the files themselves: "
            "--treebank FILE --dev FILE."
        )
    return found


def has_own_tags(trees: Sequence[Tree]) -> bool:
    """Whether nearly all words have an XPOS."""
    words = [word for tree in trees for word in tree.words]
    return sum(word.xpos != "_" for word in words) >= MIN_TAGGED_SHARE * len(words)


def with_tags(trees: Sequence[Tree], *, has_xpos: bool) -> list[Tree]:
    """The trees with the tag to learn in the column XPOS."""
    return [
        replace(tree, words=tuple(replace(word, xpos=_tag(word, has_xpos)) for word in tree.words))
        for tree in trees
    ]


def _tag(word: Word, has_xpos: bool) -> str:
    """
    >>> _tag(Word("evde", 0, upos="NOUN", xpos="Noun", feats="Case=Loc|Number=Sing"), True)
    'Noun~Case=Loc'
    >>> _tag(Word("evde", 0, upos="NOUN", xpos="Noun"), False)
    '@NOUN'
    """
    tag = word.xpos if has_xpos and word.xpos != "_" else UNIVERSAL_MARK + word.upos
    given = [one for one in word.feats.split("|") if one.partition("=")[0] in TAG_FEATURES]
    return FEATURES_MARK.join([tag, "|".join(given)]) if given else tag


def tag_columns(tag: str) -> tuple[str, str]:
    """The columns XPOS and FEATS of a word with this tag.

    >>> tag_columns("Noun~Case=Loc"), tag_columns("@NOUN"), tag_columns("NNP"), tag_columns("@")
    (('Noun', 'Case=Loc'), ('_', '_'), ('NNP', '_'), ('@', '_'))
    """
    xpos, _, feats = tag.partition(FEATURES_MARK)
    is_universal = len(xpos) > 1 and xpos.startswith(UNIVERSAL_MARK)
    return "_" if is_universal or not xpos else xpos, feats or "_"
