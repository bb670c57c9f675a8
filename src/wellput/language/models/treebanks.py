"""`Treebank`: the trees of a language for training, and other trees for tuning and measuring.

A treebank can be read from a folder, which is that of a Universal Dependencies repository: its files
are found by their names (`cy_ccg-ud-train.conllu`, `cy_ccg-ud-dev.conllu`). Files for testing are
never read.

Treebanks differ in their tags. `with_tags` gives every word one tag for a tagger to learn: its XPOS (or
UPOS in a treebank without XPOS), with the features that matter for how words attach. `tag_columns`
divides such a tag into the columns XPOS and FEATS.
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
"""If there are no trees for tuning, one training tree in ten is kept for it."""
TAG_FEATURES = ("Case", "VerbForm")
"""The features that are added to tags: they matter for how words attach."""
# In a tag: the mark before its features, and the mark of a universal tag.
FEATURES_MARK, UNIVERSAL_MARK = "~", "@"
MIN_TAGGED_SHARE = 0.99
"""XPOS is used if at least this share of the words has an XPOS."""


@dataclass(frozen=True)
class Treebank:
    """Trees for training (`train`) and for tuning (`dev`); `names` are those of the files that were
    read."""

    train: list[Tree]
    dev: list[Tree]
    names: tuple[str, ...]

    @property
    def words(self) -> int:
        return sum(len(tree.words) for tree in self.train)


def read_treebank(paths: Sequence[Path], dev: Sequence[Path] = ()) -> Treebank:
    """The treebank in some folders and files. `dev` are the files for tuning; if it is empty, they are
    looked for in the folders. If there are none, one tree in ten is kept for tuning."""
    if missing := [str(path) for path in (*paths, *dev) if not path.exists()]:
        raise InputError(f"No such file or folder: {', '.join(missing)}.")
    train_files: list[Path] = []
    dev_files = list(dev)
    for path in paths:
        if path.is_dir():
            train_files += _files(path, "train")
            dev_files += [] if dev else _files(path, "dev", is_needed=False)
        else:
            train_files.append(path)
    trees = [tree for path in train_files for tree in read_trees(path)]
    names = tuple(path.name for path in (*train_files, *dev_files))
    if dev_files:
        return Treebank(trees, [tree for path in dev_files for tree in read_trees(path)], names)
    if len(trees) < HELD_OUT_EVERY:
        return Treebank(trees, [], names)
    held_out = trees[HELD_OUT_EVERY - 1 :: HELD_OUT_EVERY]
    train = [tree for place, tree in enumerate(trees, 1) if place % HELD_OUT_EVERY]
    return Treebank(train, held_out, names)


def _files(folder: Path, part: str, *, is_needed: bool = True) -> list[Path]:
    """The files of a part (`train`, `dev`) in a folder; raises InputError if there is none but
    `is_needed`."""
    files = [
        path
        for path in sorted(folder.iterdir())
        if path.name.endswith(SUFFIXES) and part in path.name.split(".")[0].split("-")
    ]
    if not files and is_needed:
        raise InputError(
            f"{folder} has no file named like xx_name-ud-{part}.conllu. Name the files themselves: "
            "--treebank FILE --dev FILE."
        )
    return files


def has_own_tags(trees: Sequence[Tree]) -> bool:
    """Whether nearly all words have an XPOS."""
    words = [word for tree in trees for word in tree.words]
    return sum(word.xpos != "_" for word in words) >= MIN_TAGGED_SHARE * len(words)


def with_tags(trees: Sequence[Tree], *, has_xpos: bool) -> list[Tree]:
    """The trees with the tag that a tagger shall learn in the column XPOS. With `has_xpos` this tag is
    made from the treebank's own tag (XPOS), otherwise from the universal one (UPOS)."""
    return [
        replace(tree, words=tuple(replace(word, xpos=_tag(word, has_xpos)) for word in tree.words))
        for tree in trees
    ]


def _tag(word: Word, has_xpos: bool) -> str:
    """The tag that a tagger shall learn for a word.

    >>> _tag(Word("evde", 0, upos="NOUN", xpos="Noun", feats="Case=Loc|Number=Sing"), True)
    'Noun~Case=Loc'
    >>> _tag(Word("evde", 0, upos="NOUN", xpos="Noun"), False)
    '@NOUN'
    """
    tag = word.xpos if has_xpos and word.xpos != "_" else UNIVERSAL_MARK + word.upos
    features = [
        feature for feature in word.feats.split("|") if feature.partition("=")[0] in TAG_FEATURES
    ]
    return FEATURES_MARK.join([tag, "|".join(features)]) if features else tag


def tag_columns(tag: str) -> tuple[str, str]:
    """The columns XPOS and FEATS of a word with this tag.

    >>> tag_columns("Noun~Case=Loc"), tag_columns("@NOUN"), tag_columns("NNP"), tag_columns("@")
    (('Noun', 'Case=Loc'), ('_', '_'), ('NNP', '_'), ('@', '_'))
    """
    xpos, _, feats = tag.partition(FEATURES_MARK)
    is_universal = len(xpos) > 1 and xpos.startswith(UNIVERSAL_MARK)
    return "_" if is_universal or not xpos else xpos, feats or "_"
