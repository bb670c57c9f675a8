"""`ContextClassifiers`: a classifier for each of many words, which says in which contexts it can stand.

This is the contextual classifier of Kauchak & Barzilay (2006), below *the paper*. A context is a
sentence with a gap at one place. The positive examples of a word are the contexts of its occurrences in
a corpus; the negative ones are random places in sentences without the word. A classifier is a linear
function of the context's features, whether it is learned as boosted decision stumps or by logistic
regression. It takes five bytes for each feature: 32 bits for the feature's key (a hash), and a byte for
its weight, in 127ths of the word's largest weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.metric import Floats
from wellput.io.files import PathLike
from wellput.io.model_files import (
    load_model_file,
    noticing_damage,
    packed_strings,
    save_model_file,
)
from wellput.language.paraphrase.corpus_index import CorpusIndex

Learner = Literal["boosting", "logistic"]
# For classifiers without word classes.
NO_CLASSES = np.zeros(0, np.uint64)


@dataclass(frozen=True)
class ContextTraining:
    """How classifiers are learned.

    A word with fewer than `min_occurrences` gets no classifier (in the paper 10,000, in Gigaword); of
    more than `max_occurrences` a random sample is used. `negatives` is the number of negative examples
    for each positive one (in the paper 1). `rounds` and `smoothing` are for boosting: the largest
    number of stumps, and the number of examples whose initial weight is added to the positive and to
    the negative ones before a stump votes (1 in BoosTexter, the program of the paper). `penalty` is for
    logistic regression. Features are the n-grams of up to `bag_order` words anywhere in the sentence
    (none with 0) and, with `has_collocations`, the n-grams of the two words before and the two words
    after the gap. Features that occur fewer than `min_feature_count` times are left out.
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


PAPER_OCCURRENCES, PAPER_WORDS = 10_000, 1_800_000_000
"""The occurrences that a word needs in the paper, and the words of its corpus, English Gigaword (first
edition, LDC2003T05; the size is that of the Linguistic Data Consortium)."""

PAPER_SETTINGS = ContextTraining(
    min_occurrences=PAPER_OCCURRENCES,
    max_occurrences=5_000,  # n-grams of whole sentences take much memory
    negatives=1.0,
    smoothing=1.0,
    bag_order=4,
)


def kauchak_training(n_words: int) -> ContextTraining:
    """The settings of Kauchak & Barzilay (2006) for a corpus of `n_words`. A word must be as frequent
    in the corpus as in the paper, 5.6 times in a million words.

    >>> kauchak_training(4_044_937).min_occurrences
    22
    """
    min_occurrences = min(PAPER_OCCURRENCES, round(PAPER_OCCURRENCES * n_words / PAPER_WORDS))
    return replace(PAPER_SETTINGS, min_occurrences=max(1, min_occurrences))


@dataclass(frozen=True, eq=False)
class ContextClassifier:
    """The classifier of one word: the sorted keys of its features, their weights, and the bias."""

    keys: NDArray[np.uint32]
    weights: NDArray[np.float32]
    bias: float


def train_classifier(
    index: CorpusIndex,
    word: str,
    settings: ContextTraining,
    *,
    seed: int,
    class_keys: NDArray[np.uint64] = NO_CLASSES,
) -> ContextClassifier | None:
    """The classifier of a word; None if the word is too rare. The random sample of examples depends
    only on the seed and the word.

    `class_keys` has the key of the class of each word of the index. With it, collocations of word
    classes are features too.
    """
    occurrences = index.places_of(word)
    if len(occurrences) < settings.min_occurrences:
        return None
    rng = np.random.default_rng([seed, *word.encode()])
    if len(occurrences) > settings.max_occurrences:
        occurrences = np.sort(rng.choice(occurrences, settings.max_occurrences, replace=False))
    negatives = places_without(index, word, round(settings.negatives * len(occurrences)), rng)
    places = np.concatenate([occurrences, negatives]).astype(np.uint64)
    labels = np.zeros(len(places), np.uint8)
    labels[: len(occurrences)] = 1
    keys, rows, columns = _native.context_examples(
        index.tokens,
        index.starts,
        index.word_keys,
        class_keys,
        places,
        settings.bag_order,
        settings.has_collocations,
        settings.min_feature_count,
    )
    if settings.learner == "boosting":
        bias, weights = boosted(rows, columns, labels, len(keys), settings)
    else:
        # At most 100 passes over the features, until weights change by less than 0.001.
        fitted = _native.fit_logistic(rows, columns, labels, len(keys), settings.penalty, 100, 1e-3)
        bias, weights = fitted[0], np.array(fitted[1:])
    return _context_classifier(keys, weights, bias)


def places_without(
    index: CorpusIndex, word: str, n: int, rng: np.random.Generator
) -> NDArray[np.uint64]:
    """`n` random places in random sentences that do not have the word."""
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
    settings: ContextTraining,
) -> tuple[float, Floats]:
    """The bias, and the weights of `width` features. Each stump votes by whether one feature is
    present: its vote for an absent feature is added to the bias, and the difference between its votes
    for a present and an absent feature to the feature's weight. Example i has the features
    `columns[rows[i] : rows[i + 1]]`."""
    features, present, absent = _native.boost(
        rows, columns, labels, width, settings.rounds, settings.smoothing
    )
    weights = np.zeros(width)
    np.add.at(weights, features, np.subtract(present, absent))
    return float(np.sum(absent)), weights


def _context_classifier(
    keys: NDArray[np.uint32], weights: Floats, bias: float
) -> ContextClassifier:
    used = np.flatnonzero(weights)
    order = used[np.argsort(keys[used], kind="stable")]
    return ContextClassifier(keys[order], weights[order].astype(np.float32), float(bias))


ContextPlace = tuple[tuple[str, ...], int, int, str]
"""A sentence with a gap, and a word to judge in it: the words of the sentence, the place of the gap's
first word, the place after its last word, and the word to judge."""


@dataclass(frozen=True, eq=False)
class ContextClassifiers:
    """The classifiers of many words in common arrays. The classifier of word i has the `keys` and
    `weights` from `begins[i]` to before `begins[i + 1]`, and the bias `biases[i]`.

    Weights are bytes; word i's are multiplied by `steps[i]`. The output of a classifier (its margin)
    times `sharpness` gives log odds.
    """

    words: list[str]
    begins: NDArray[np.uint32]
    keys: NDArray[np.uint32]
    weights: NDArray[np.int8]
    steps: NDArray[np.float32]
    biases: NDArray[np.float32]
    bag_order: int
    has_collocations: bool
    sharpness: float
    classes: Mapping[str, str] = field(default_factory=dict)
    """Word → the name of its class, for classifiers learned with word classes. A file does not keep
    them."""

    @cached_property
    def number_of(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def _kernel(self) -> _native.ContextModels:
        """The classifiers in C++."""
        steps = np.repeat(self.steps, np.diff(self.begins))
        return _native.ContextModels(
            self.begins,
            self.keys,
            self.weights * steps,
            self.biases,
            self.bag_order,
            self.has_collocations,
        )

    def log_odds(self, places: Sequence[ContextPlace]) -> Floats:
        """For each place, the log odds that the word stands in the gap, against random places of
        sentences without the word; NaN for a word without a classifier."""
        result = np.full(len(places), np.nan)
        known = [i for i, place in enumerate(places) if place[3] in self.number_of]
        if not known:
            return result
        sentences: dict[tuple[str, ...], int] = {}
        queries = np.array(
            [
                (sentences.setdefault(words, len(sentences)), first, last, self.number_of[word])
                for words, first, last, word in (places[i] for i in known)
            ],
            np.int64,
        )
        order = np.argsort(queries[:, 0], kind="stable")
        margins = self._kernel.margins(
            list(sentences), queries[order].ravel(), self._classes_in(sentences)
        )
        result[np.array(known)[order]] = margins * self.sharpness
        return result

    def _classes_in(self, sentences: Iterable[tuple[str, ...]]) -> list[list[str]]:
        if not self.classes:
            return []
        return [[self.classes.get(word, word) for word in words] for words in sentences]

    def classifier_of(self, word: str) -> ContextClassifier:
        """The classifier of a word that has one."""
        number = self.number_of[word]
        features = slice(int(self.begins[number]), int(self.begins[number + 1]))
        weights = self.weights[features] * self.steps[number]
        return ContextClassifier(self.keys[features], weights, float(self.biases[number]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays for a model file, which stores `words` separately."""
        return {
            "begins": self.begins,
            "keys": self.keys,
            "weights": self.weights,
            "steps": self.steps,
            "biases": self.biases,
            "shape": np.array([self.bag_order, self.has_collocations, self.sharpness], np.float32),
        }

    @classmethod
    def of_arrays(cls, words: list[str], arrays: Mapping[str, NDArray[Any]]) -> ContextClassifiers:
        """Raises ValueError for arrays that do not fit together."""
        bag_order, has_collocations, sharpness = arrays["shape"].tolist()
        begins = arrays["begins"].astype(np.int64)
        numbers = [arrays[name] for name in ("shape", "steps", "biases")]
        if len(words) != len(begins) - 1 or (np.diff(begins) < 0).any():
            raise ValueError("the number of words is wrong, or classifiers overlap")
        if begins[-1] != len(arrays["keys"]) or not all(np.isfinite(a).all() for a in numbers):
            raise ValueError("the number of keys is wrong, or numbers are not finite")
        classifiers = cls(
            words,
            begins=arrays["begins"],
            keys=arrays["keys"],
            weights=arrays["weights"],
            steps=arrays["steps"],
            biases=arrays["biases"],
            bag_order=int(bag_order),
            has_collocations=bool(has_collocations),
            sharpness=sharpness,
        )
        _ = classifiers._kernel  # raises ValueError for other things that do not fit
        return classifiers


def train_classifiers(
    index: CorpusIndex,
    words: Iterable[str],
    settings: ContextTraining,
    *,
    seed: int,
    classes: Mapping[str, str] | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> ContextClassifiers:
    """The classifiers of those `words` that are frequent enough. With `classes` (word → name of its
    class) they also use the classes of neighboring words; a word without a class is a class itself."""
    classifiers: dict[str, ContextClassifier] = {}
    keys = NO_CLASSES
    if classes:
        keys = _native.word_keys([classes.get(word, word) for word in index.words])
    for word in words:
        classifier = train_classifier(index, word, settings, seed=seed, class_keys=keys)
        if classifier is not None:
            classifiers[word] = classifier
        on_progress(1)
    return replace(joined_classifiers(classifiers, settings), classes=classes or {})


def joined_classifiers(
    classifiers: Mapping[str, ContextClassifier], settings: ContextTraining
) -> ContextClassifiers:
    """The classifiers of single words put into common arrays, with weights rounded to bytes."""
    steps = np.array(
        [float(np.abs(c.weights).max(initial=0)) / 127 for c in classifiers.values()], np.float32
    )
    rounded = [
        np.round(c.weights / (step or 1)).astype(np.int8)
        for c, step in zip(classifiers.values(), steps, strict=True)
    ]
    keys = [classifier.keys for classifier in classifiers.values()]
    return ContextClassifiers(
        words=list(classifiers),
        begins=np.cumsum([0, *map(len, keys)]).astype(np.uint32),
        keys=np.concatenate([*keys, np.zeros(0, np.uint32)]).astype(np.uint32),
        weights=np.concatenate([*rounded, np.zeros(0, np.int8)]).astype(np.int8),
        steps=steps,
        biases=np.array([classifier.bias for classifier in classifiers.values()], np.float32),
        bag_order=settings.bag_order,
        has_collocations=settings.has_collocations,
        # A boosted margin is half the log odds (Friedman, Hastie & Tibshirani 2000).
        sharpness=2.0 if settings.learner == "boosting" else 1.0,
    )


CLASSIFIERS_KIND = "classifiers"


def save_classifiers(
    path: PathLike, classifiers: ContextClassifiers, made_from: Mapping[str, object]
) -> None:
    """Writes the classifiers to a file that `load_classifiers` reads."""
    words = packed_strings("words", classifiers.words)
    save_model_file(path, CLASSIFIERS_KIND, made_from, {**classifiers.arrays(), **words})


def read_classifiers(path: PathLike) -> tuple[ContextClassifiers, Mapping[str, Any]]:
    """The classifiers of a file, and what they were made from."""
    file = load_model_file(path, CLASSIFIERS_KIND)
    with noticing_damage(path, "file of classifiers"):
        return ContextClassifiers.of_arrays(file.strings("words"), file.arrays), file.card


def load_classifiers(path: PathLike) -> tuple[ContextClassifiers, float]:
    """The classifiers of a file, and the number of negative examples for each positive one in
    training."""
    classifiers, card = read_classifiers(path)
    with noticing_damage(path, "file of classifiers"):
        return classifiers, float(card["negatives"])
