"""Training the learned realizer: every part from one treebank, tuned on another.

The orderer for words is trained on labels as the chooser will give them, by choosers that did not see
the sentence (jackknifing); otherwise it would trust them too much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from wellput.core.tree import Tree
from wellput.language.english_training import Inputs
from wellput.language.english_trees import tagged_trees
from wellput.language.ngram_files import load_model
from wellput.language.ngrams import NgramModel
from wellput.language.realize.capitals import learn_capitals
from wellput.language.realize.choosing import (
    ChooserTraining,
    Forest,
    Label,
    jackknifed_labels,
    train_chooser,
)
from wellput.language.realize.inflecting import learn_inflections
from wellput.language.realize.inputs import InputKind, unordered
from wellput.language.realize.inserting import train_inserter
from wellput.language.realize.learned import KINDS, Kind, LearnedRealizer
from wellput.language.realize.ordering import Orderer, OrdererTraining, train_orderer
from wellput.language.realize.realizer import NGRAMS
from wellput.trees.supertags import category_of

NGRAM_WEIGHTS = (0.0, 0.5, 0.8, 1.1, 1.5)
SHARE_WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0)

CHOOSER, ORDERER = ChooserTraining(), OrdererTraining()
INSERTER = ChooserTraining(min_updates=12, min_count=15, smallest=0.12)
LABELER = ChooserTraining(min_updates=12, smallest=0.12)  # of trees that words are to be put into


@dataclass(frozen=True)
class RealizerTraining:
    """How to train the parts; the defaults were found on EWT dev."""

    chooser: ChooserTraining = CHOOSER
    orderer: OrdererTraining = ORDERER
    inserter: ChooserTraining = INSERTER
    labeler: ChooserTraining = LABELER
    folds: int = 4


def train_learned_realizer(
    trees: Sequence[Tree],
    dev: Sequence[Tree],
    ngrams: NgramModel | None,
    *,
    how: RealizerTraining | None = None,
    card: Mapping[str, Any] | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> LearnedRealizer:
    """A realizer from treebank trees; what the n-gram model counts for is tuned on `dev`, which may be
    empty. The n-gram model knows ordinary words in lower case (`realize.capitals`). `on_step` is told
    what comes next. The same input gives the same model."""
    how = how or RealizerTraining()
    capitals = learn_capitals(trees)
    lowered = [capitals.lowered_tree(tree) for tree in trees]
    forest = forest_of_trees(lowered)
    gold = [Label(category_of(w), w.relation) for tree in lowered for w in tree.words]
    on_step("chooser of labels")
    chooser = train_chooser(forest, gold, how.chooser)
    on_step("jackknifed labels")
    chosen = jackknifed_labels(forest, gold, how.chooser, folds=how.folds)
    orderers: dict[Kind, Orderer] = {}
    for kind in KINDS:
        labels = chosen if kind == "words" else gold
        on_step(f"orderer for {kind}")
        weights = train_orderer(forest, forest.by_tree(labels), how.orderer)
        orderers[kind] = Orderer(weights, ngrams)
    on_step("inserter")
    inserter = train_inserter(lowered, how.inserter, how.labeler)
    realizer = LearnedRealizer(
        chooser,
        orderers,
        inserter,
        learn_inflections(lowered),
        card={"trees": len(trees), "words": len(gold), **(card or {})},
    )
    if not dev or ngrams is None:
        return realizer
    on_step("tuning")
    return tuned(realizer, [capitals.lowered_tree(tree) for tree in dev])


def make(inputs: Inputs, path: Path) -> dict[str, Any]:
    """The step of `wellput train english`. Figures: what was tuned on dev."""
    realizer = train_learned_realizer(
        tagged_trees(inputs, "treebank"),
        tagged_trees(inputs, "dev"),
        load_model(inputs.folder / NGRAMS),
        how=RealizerTraining(
            replace(CHOOSER, seed=inputs.seed),
            replace(ORDERER, seed=inputs.seed),
            replace(INSERTER, seed=inputs.seed),
            replace(LABELER, seed=inputs.seed),
        ),
    )
    realizer.save(path)
    weights = {kind: orderer.ngram_weight for kind, orderer in realizer.orderers.items()}
    return {**realizer.card, "weights of the n-gram model": weights}


def tuned(realizer: LearnedRealizer, dev: Sequence[Tree]) -> LearnedRealizer:
    """The realizer with the weights under which most neighbors of `dev` are right."""
    for kind in KINDS:
        tried = [with_ngram_weight(realizer, kind, weight) for weight in NGRAM_WEIGHTS]
        realizer = max(tried, key=partial(right_neighbors, trees=dev, kind=kind))
    tried = [replace(realizer, share_weight=weight) for weight in SHARE_WEIGHTS]
    return max(tried, key=partial(right_neighbors, trees=dev, kind="lemmas"))


def with_ngram_weight(realizer: LearnedRealizer, kind: Kind, weight: float) -> LearnedRealizer:
    orderer = replace(realizer.orderers[kind], ngram_weight=weight)
    orderers: Mapping[Kind, Orderer] = {**realizer.orderers, kind: orderer}
    return replace(realizer, orderers=orderers)


def right_neighbors(realizer: LearnedRealizer, trees: Sequence[Tree], kind: InputKind) -> int:
    """How many pairs of neighbors in the realizations are neighbors in the treebank."""
    realized = realizer.realize([unordered(tree, kind=kind) for tree in trees])
    right = 0
    for tree, one in zip(trees, realized, strict=True):
        words = ["", *(word.form for word in tree.words), ""]
        pairs = set(pairwise(words))
        found = ["", *one.best[0].words, ""]
        right += sum(pair in pairs for pair in pairwise(found))
    return right


def forest_of_trees(trees: Sequence[Tree]) -> Forest:
    """Treebank trees as kernels take them, in their order."""
    return Forest(
        [[word.form for word in tree.words] for tree in trees],
        np.array([word.head for tree in trees for word in tree.words], np.int32),
    )
