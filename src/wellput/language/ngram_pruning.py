"""Smaller n-gram models: leaving out n-grams whose loss hardly changes the model.

Stolcke 1998, "Entropy-based pruning of backoff language models": an n-gram goes if, it alone being
left out and its context's back-off weight recomputed, perplexity grows by less than a threshold,
relatively. Histories are weighted by how often they occur in the training text: the lower-order
probabilities of a Kneser-Ney model say something else (Chelba et al. 2010). N-grams stay that a longer
one which stays needs as its context or to back off to, so the model remains a trie. Words stay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.language.ngram_shape import TINY, Nodes, backoffs, contexts, parents
from wellput.language.ngrams import NgramModel

Mask = NDArray[np.bool_]


def prune(model: NgramModel, frequencies: Sequence[Floats], threshold: float) -> NgramModel:
    """The model without n-grams that matter less than `threshold`; probabilities sum to one again.

    `frequencies` are relative frequencies of the n-grams in text, by length, the longest left out.
    """
    above, histories = parents(model), contexts(model)
    probs = [np.power(10.0, level[2].astype(np.float64)) for level in model.levels]
    weights = [np.zeros(0)] * model.order
    kept: list[Mask] = [np.ones(size, np.bool_) for size in model.sizes]
    needed = [np.zeros(size, np.bool_) for size in model.sizes]
    for depth in range(model.order - 1, 0, -1):
        shorter = probs[depth - 1][above[depth]]
        losses = _losses(probs[depth], shorter, histories[depth], frequencies[depth - 1])
        keep = kept[depth] = (np.expm1(losses) >= threshold) | needed[depth]
        needed[depth - 1][above[depth][keep]] = True
        needed[depth - 1][histories[depth][keep]] = True
        weights[depth - 1] = backoffs(
            probs[depth][keep], shorter[keep], histories[depth][keep], len(needed[depth - 1])
        )
    return _only(model, kept, weights)


def _losses(probs: Floats, shorter: Floats, histories: Nodes, frequencies: Floats) -> Floats:
    """What leaving out each n-gram alone adds to the entropy of a word, in nats."""
    n = len(frequencies)
    left = 1 - np.bincount(histories, probs, n)[histories]
    left_shorter = 1 - np.bincount(histories, shorter, n)[histories]
    left, left_shorter = np.maximum(left, TINY), np.maximum(left_shorter, TINY)
    weight = np.log((left + probs) / (left_shorter + shorter))
    own = probs * (np.log(shorter) + weight - np.log(probs))
    others = left * (weight - np.log(left / left_shorter))
    losses: Floats = -frequencies[histories] * (own + others)
    return losses


def _only(model: NgramModel, kept: Sequence[Mask], weights: Sequence[Floats]) -> NgramModel:
    levels = []
    for depth, (words, begins, log_probs, _) in enumerate(model.levels):
        keep, is_last = kept[depth], depth + 1 == model.order
        if not is_last:
            # Children that stay are counted up to where each node's children begin.
            before = np.concatenate([[0], np.cumsum(kept[depth + 1])])
            starts = before[begins[:-1].astype(np.int64)][keep]
            begins = np.append(starts, before[-1]).astype(np.uint32)
        logs = np.empty(0) if is_last else np.log10(weights[depth][keep])
        shown = words[keep] if depth else words
        levels.append((shown, begins, log_probs[keep], logs.astype(np.float32)))
    return NgramModel(model.vocabulary, tuple(levels))
