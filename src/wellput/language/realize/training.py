"""Training what a realizer needs, and finding out on other trees how much each part should count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from wellput.core.tree import Tree
from wellput.language.english_training import Inputs
from wellput.language.english_trees import tagged_trees
from wellput.language.ngram_files import load_model
from wellput.language.ngrams import NgramModel
from wellput.language.realize.baselines import train_left_right
from wellput.language.realize.capitals import learn_capitals
from wellput.language.realize.fergus import Fergus
from wellput.language.realize.grammars import induced
from wellput.language.realize.inputs import unordered
from wellput.language.realize.model import RealizerModel
from wellput.language.realize.precedence import train_precedence
from wellput.language.realize.realizer import NGRAMS, TREE_MODEL
from wellput.language.tree_model import TreeModel

SEED = 12345
LM_WEIGHTS = (0.125, 0.25, 0.375, 0.5, 0.75, 1.0, 1.5)


def train_realizer(
    trees: Sequence[Tree],
    *,
    sample: Sequence[Tree] = (),
    tree_model: TreeModel,
    ngrams: NgramModel,
    seed: int = SEED,
    card: Mapping[str, Any] | None = None,
    threads: int = 1,
    on_progress: Callable[[int], None] = lambda _: None,
) -> RealizerModel:
    """From treebank trees in their order. The weight of the n-gram model is the one that realizes the
    `sample` best; without a sample it is 1. Neither model may have seen the sample."""
    capitals = learn_capitals(trees)
    lowered = [capitals.lowered_tree(tree) for tree in trees]
    left_right = train_left_right(lowered, rng=np.random.default_rng(seed))
    precedence = train_precedence(lowered)
    on_progress(len(trees))
    words = sum(len(tree.words) for tree in trees)
    stated = {"trees": len(trees), "words": words, "seed": seed, **(card or {})}
    model = RealizerModel(capitals, left_right, precedence, card=stated)
    if not sample:
        return model
    system = Fergus("fergus+", tree_model, ngrams, induced(), precedence=precedence)
    found = {}
    inputs = [unordered(capitals.lowered_tree(tree)) for tree in sample]
    supertags = system.choose_supertags(inputs, threads=threads)
    for lm_weight in LM_WEIGHTS:
        weighed = replace(system, lm_weight=lm_weight)
        realized = weighed.order(inputs, supertags, threads=threads)
        found[lm_weight] = neighbors_kept([one.best[0].words for one in realized], sample)
        on_progress(len(sample))
    best = max(found, key=found.__getitem__)
    tuned = {f"{weight:g}": round(share, 5) for weight, share in found.items()}
    return replace(model, lm_weight=best, card={**stated, "neighbors_kept": tuned})


def make(inputs: Inputs, path: Path) -> dict[str, Any]:
    """The step of `wellput train english`. Figures: what each weight keeps of dev's neighbors."""
    model = train_realizer(
        tagged_trees(inputs, "treebank"),
        sample=tagged_trees(inputs, "dev"),
        tree_model=TreeModel.load(inputs.folder / TREE_MODEL),
        ngrams=load_model(inputs.folder / NGRAMS),
        seed=inputs.seed,
        threads=inputs.threads,
        on_progress=inputs.on_progress,
    )
    model.save(path)
    return {**model.card, "weight of the n-gram model": model.lm_weight}


def neighbors_kept(sentences: Sequence[Sequence[str]], trees: Sequence[Tree]) -> float:
    """The share of pairs of neighboring words in the trees' order, the ends of sentences among them,
    that are neighbors in the sentences too, whatever their capitals."""
    kept = total = 0
    for words, tree in zip(sentences, trees, strict=True):
        wanted = _neighbors([word.form for word in tree.words])
        kept += (wanted & _neighbors(words)).total()
        total += wanted.total()
    return kept / total


def _neighbors(words: Sequence[str]) -> Counter[tuple[str, str]]:
    return Counter(pairwise(["", *(word.lower() for word in words), ""]))
