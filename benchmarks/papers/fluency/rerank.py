"""Reranking the realizer's n-best lists by fluency, as Mutton et al. (2007) propose, on EWT dev."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.data import ewt
from benchmarks.papers.fluency.figures import interval, mean, table
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.core.tree import Tree
from wellput.engine.rerank import rerank
from wellput.io.nbest import Candidates
from wellput.language.realize.realizer import Realizer
from wellput.metrics.registry import create
from wellput.text.english import detokenize

MODELS = ("fergus", "learned")
N_BEST = 10
LENGTHS = range(6, 31)
METRICS = ("ssa", "bleu")


def rerank_lines(most: int) -> list[str]:
    """How near the chosen sentences come to what people wrote, for each way of choosing."""
    trees = [tree for tree in ewt("dev") if len(tree.words) in LENGTHS][:most]
    lines = [
        "## Choosing among candidates of the realizer\n",
        f"The [realizer](../realize.md) orders the words of a tree; here it makes {N_BEST} candidates for "
        f"each of {len(trees)} sentences of the treebank UD English EWT, with each of its models *fergus* and "
        "*learned*. One candidate is chosen: the realizer's *first*, the best by `fluency`, a *random* one, "
        "or the best by `ssa` (*oracle*, which knows what people wrote). `fluency` chooses better sentences "
        "than the model fergus puts first, and worse ones than learned puts first. The table has means over "
        "sentences; [`ssa`](../metrics/ssa.md) and `bleu` compare the sentence with what people wrote, and "
        "*exact* is the share of sentences that equal it.\n",
    ]
    rows = []
    for model in MODELS:
        lists = _candidates(model, trees)
        for chooser in ("first", "fluency", "random", "oracle"):
            chosen = _chosen(chooser, lists)
            scores = [interval(mean, column) for column in _scores(chosen, lists)]
            exact = np.array(
                [text == own.references[0] for text, own in zip(chosen, lists, strict=True)]
            )
            rows.append([model, chooser, *scores, f"{exact.mean():.1%}"])
    return [*lines, *table(["model", "chosen", *METRICS, "exact"], rows)]


def _candidates(model: str, trees: Sequence[Tree]) -> list[Candidates]:
    realized = Realizer.load(model=model).realize_all(trees, n_best=N_BEST)
    return [
        Candidates(
            str(number),
            tuple(dict.fromkeys(detokenize(one.text.split(" ")) for one in own.best)),
            (detokenize([word.form for word in tree.words]),),
        )
        for number, (own, tree) in enumerate(zip(realized, trees, strict=True))
    ]


def _chosen(chooser: str, lists: Sequence[Candidates]) -> list[str]:
    if chooser == "first":
        return [own.texts[0] for own in lists]
    if chooser == "random":
        rng = np.random.default_rng(1)
        return [own.texts[int(rng.integers(len(own.texts)))] for own in lists]
    metric = create("ssa" if chooser == "oracle" else chooser)
    return [choice.text for choice in rerank(lists, metric)]


def _scores(chosen: Sequence[str], lists: Sequence[Candidates]) -> list[Floats]:
    batch = Batch.from_texts(chosen, [own.references for own in lists])
    metrics = map(create, METRICS)
    return [metric.segment_score(metric.statistics(batch)) for metric in metrics]
