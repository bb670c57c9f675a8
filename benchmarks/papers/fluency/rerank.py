"""Reranking the realizer's n-best lists by fluency: Mutton et al.'s last sentence, tried on EWT dev."""

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
JUDGED = ("ssa", "bleu")


def rerank_lines(most: int) -> list[str]:
    """How near the chosen sentences come to what people wrote, whoever chooses."""
    trees = [tree for tree in ewt("dev") if len(tree.words) in LENGTHS][:most]
    lines = [
        f"## Reranking the realizer's {N_BEST} best ({len(trees)} sentences of EWT dev)\n",
        f"The [realizer](../realize.md) makes {N_BEST} candidates of a sentence by putting the words of "
        "its tree in "
        "order. One of them is chosen: the realizer's *first*, the best by `fluency` or by the feature "
        "`likelihood`, a *random* one, or the best by `ssa` (*oracle*, which knows what people wrote). The "
        "table has means over sentences; the metrics compare the tokens with what people wrote, and *exact* "
        "is the share of sentences that equal it.\n",
    ]
    rows = []
    for model in MODELS:
        lists = _candidates(model, trees)
        for chooser in ("first", "fluency", "likelihood", "random", "oracle"):
            chosen = _chosen(chooser, lists)
            scores = [interval(mean, column) for column in _judged(chosen, lists)]
            exact = np.array(
                [text == own.references[0] for text, own in zip(chosen, lists, strict=True)]
            )
            rows.append([model, chooser, *scores, f"{exact.mean():.1%}"])
    return [*lines, *table(["realizer", "chosen by", *JUDGED, "exact"], rows)]


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
    if chooser == "likelihood":
        from wellput.language.models.fluency_model import english_models

        models = english_models()
        return [own.texts[int(np.argmax(models.features(own.texts)[:, 0]))] for own in lists]
    metric = create("ssa" if chooser == "oracle" else chooser)
    return [choice.text for choice in rerank(lists, metric)]


def _judged(chosen: Sequence[str], lists: Sequence[Candidates]) -> list[Floats]:
    batch = Batch.from_texts(chosen, [own.references for own in lists])
    metrics = [create("ssa"), create("bleu")]
    return [metric.segment_score(metric.statistics(batch)) for metric in metrics]
