"""One n-gram model from several, mixed linearly: each weighs as much as suits a sample of text.

The models know the same words; `whole` is trained on all texts together, so that it has every n-gram
of the others. The mixture has the n-grams of `whole`, each with the weighted mean of what the models
give it, and back-off weights with which probabilities sum to one (static interpolation, as SRILM's
-mix-lm does it). Weights are found by expectation maximization.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wellput.core.metric import Floats
from wellput.language.ngram_shape import Nodes, backoffs, contexts, find, parents
from wellput.language.ngram_training import Training
from wellput.language.ngrams import NgramModel

ROUNDS = 100


def mixing_weights(models: Sequence[NgramModel], sample: Sequence[str]) -> Floats:
    """The weights, which sum to one, that make the sample (tokenized) most probable."""
    logs = [
        [word.log_prob for text in sample for word in model.word_scores(text)] for model in models
    ]
    probs = np.power(10.0, np.array(logs))
    weights = np.full(len(models), 1 / len(models))
    for _ in range(ROUNDS):
        shares = weights[:, None] * probs
        weights = (shares / shares.sum(axis=0)).mean(axis=1)
    return weights


def mixed(
    whole: NgramModel, parts: Sequence[Training], weights: Floats
) -> tuple[NgramModel, list[Floats]]:
    """The mixture, on the n-grams of `whole`, and relative frequencies as `Training` has them."""
    histories, above = contexts(whole), parents(whole)
    probs = [np.zeros(size) for size in whole.sizes]
    frequencies = [np.zeros(size) for size in whole.sizes[:-1]]
    for part, weight in zip(parts, weights, strict=True):
        places = _places(whole, part.model)
        for total, own in zip(probs, _probs(part.model, places, histories, above), strict=True):
            total += weight * own
        for sums, own, place in zip(frequencies, part.frequencies, places, strict=False):
            sums[place] += weight * own
    levels = []
    for depth, (words, begins, log_probs, logs) in enumerate(whole.levels):
        if depth + 1 < whole.order:
            shorter = probs[depth][above[depth + 1]]
            ratio = backoffs(probs[depth + 1], shorter, histories[depth + 1], len(log_probs))
            logs = np.log10(ratio).astype(np.float32)
        levels.append((words, begins, np.log10(probs[depth]).astype(np.float32), logs))
    return NgramModel(whole.vocabulary, tuple(levels)), frequencies


def _places(whole: NgramModel, model: NgramModel) -> list[Nodes]:
    """By length, where the n-grams of `model` are among those of `whole`."""
    places = [np.arange(whole.sizes[0])]
    for depth, above in enumerate(parents(model)[1:], 1):
        words = model.levels[depth][0].astype(np.int64)
        places.append(find(whole, depth, places[-1][above], words))
    return places


def _probs(
    model: NgramModel, places: Sequence[Nodes], histories: Sequence[Nodes], above: Sequence[Nodes]
) -> list[Floats]:
    """What `model` gives the n-grams of the whole, backing off where it has not got them."""
    result: list[Floats] = []
    weights = np.empty(0)
    for depth, (_, _, log_probs, logs) in enumerate(model.levels):
        probs = np.empty(len(places[0]))
        if depth:
            probs = result[-1][above[depth]] * weights[histories[depth]]
        probs[places[depth]] = np.power(10.0, log_probs.astype(np.float64))
        result.append(probs)
        weights = np.ones(len(probs))
        if depth + 1 < model.order:
            weights[places[depth]] = np.power(10.0, logs.astype(np.float64))
    return result
