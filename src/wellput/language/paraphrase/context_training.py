"""Learning, for a word, in which contexts it can stand: Kauchak & Barzilay's contextual classifier.

Positives are the word's occurrences in a corpus with the word taken out, negatives random places of
sentences without it. A classifier is a linear function of the context's features: boosted
stumps add up to one, and so is logistic regression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.metric import Floats
from wellput.language.paraphrase.corpus_index import CorpusIndex

Learner = Literal["boosting", "logistic"]
NO_CLASSES = np.zeros(0, np.uint64)


@dataclass(frozen=True)
class ContextTraining:
    """How classifiers are learned.

    Words with fewer than `min_occurrences` get none (the paper's was 10,000, of Gigaword); of more
    than `max_occurrences` a random choice is used. `negatives` are per positive (the paper's: 1).
    `smoothing` is what is added to the weights that a stump votes by, in examples (BoosTexter's: 1).
    """

    learner: Learner = "boosting"
    min_occurrences: int = 20
    max_occurrences: int = 20_000
    negatives: float = 5.0
    rounds: int = 100
    smoothing: float = 5.0
    penalty: float = 1.0
    bag_order: int = 0
    has_collocations: bool = True
    min_feature_count: int = 2


@dataclass(frozen=True, eq=False)
class LinearModel:
    """bias + the weights of the features that a context has; keys are sorted."""

    keys: NDArray[np.uint32]
    weights: NDArray[np.float32]
    bias: float


def train_classifier(
    index: CorpusIndex,
    word: str,
    how: ContextTraining,
    *,
    seed: int,
    class_keys: NDArray[np.uint64] = NO_CLASSES,
) -> LinearModel | None:
    """The classifier of a word, None where it is too rare. It depends on the seed and the word only.

    `class_keys` are the keys of the words' classes by word of the index, for collocations of classes.
    """
    occurrences = index.places_of(word)
    if len(occurrences) < how.min_occurrences:
        return None
    rng = np.random.default_rng([seed, *word.encode()])
    if len(occurrences) > how.max_occurrences:
        occurrences = np.sort(rng.choice(occurrences, how.max_occurrences, replace=False))
    others = places_without(index, word, round(how.negatives * len(occurrences)), rng)
    places = np.concatenate([occurrences, others]).astype(np.uint64)
    labels = np.zeros(len(places), np.uint8)
    labels[: len(occurrences)] = 1
    keys, rows, columns = _native.context_examples(
        index.tokens,
        index.starts,
        index.word_keys,
        class_keys,
        places,
        how.bag_order,
        how.has_collocations,
        how.min_feature_count,
    )
    if how.learner == "boosting":
        bias, weights = boosted(rows, columns, labels, len(keys), how)
    else:
        fitted = _native.fit_logistic(rows, columns, labels, len(keys), how.penalty, 100, 1e-3)
        bias, weights = fitted[0], np.array(fitted[1:])
    return _linear_model(keys, weights, bias)


def places_without(
    index: CorpusIndex, word: str, n: int, rng: np.random.Generator
) -> NDArray[np.uint64]:
    """Random places of random sentences that do not have the word."""
    with_word = np.zeros(len(index.starts) - 1, np.bool_)
    with_word[np.searchsorted(index.starts, index.places_of(word), side="right") - 1] = True
    without = np.flatnonzero(~with_word)
    if not len(without):
        return np.zeros(0, np.uint64)
    chosen = rng.choice(without, n)
    lengths = (index.starts[chosen + 1] - index.starts[chosen]).astype(np.float64)
    offsets = np.floor(rng.random(n) * lengths).astype(np.uint64)
    places: NDArray[np.uint64] = index.starts[chosen] + offsets
    return places


def boosted(
    rows: NDArray[np.uint64],
    columns: NDArray[np.uint32],
    labels: NDArray[np.uint8],
    width: int,
    how: ContextTraining,
) -> tuple[float, Floats]:
    """The sum of the stumps: a stump is its vote in absence, and the difference where present."""
    features, present, absent = _native.boost(
        rows, columns, labels, width, how.rounds, how.smoothing
    )
    weights = np.zeros(width)
    np.add.at(weights, features, np.subtract(present, absent))
    return float(np.sum(absent)), weights


def _linear_model(keys: NDArray[np.uint32], weights: Floats, bias: float) -> LinearModel:
    used = np.flatnonzero(weights)
    order = used[np.argsort(keys[used], kind="stable")]
    return LinearModel(keys[order], weights[order].astype(np.float32), float(bias))
