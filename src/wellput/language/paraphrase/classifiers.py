"""`ContextClassifiers`: for many words, in which contexts each can stand.

The contextual classifier of Kauchak & Barzilay. Positive examples are the word's occurrences in a
corpus without the word itself, negative ones random places of sentences without it. A classifier is a
linear function of the context's features, whether boosted stumps or logistic regression. It takes five
bytes a feature: 32 bits of the feature's key, and its weight in 127ths of the word's largest weight.
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
NO_CLASSES = np.zeros(0, np.uint64)


@dataclass(frozen=True)
class ContextTraining:
    """How classifiers are learned.

    Words with fewer than `min_occurrences` get none (in the paper 10,000, of Gigaword); from more than
    `max_occurrences` a random sample is used. `negatives` is the number per positive (in the paper 1).
    `smoothing` is added to the weights by which a stump votes, in examples (in BoosTexter 1).
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


def paper_training(n_words: int) -> ContextTraining:
    """How the paper learns, for a corpus of this many words: a word must be as frequent in it as the
    paper asks for in Gigaword, 5.6 times in a million words.

    >>> paper_training(4_044_937).min_occurrences
    22
    """
    least = min(PAPER_OCCURRENCES, round(PAPER_OCCURRENCES * n_words / PAPER_WORDS))
    return replace(PAPER_SETTINGS, min_occurrences=max(1, least))


@dataclass(frozen=True, eq=False)
class ContextClassifier:
    """The bias, and the weights of features by their keys, which are sorted."""

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
    """The classifier of a word; None if the word is too rare. Its sample depends only on the seed and
    the word.

    `class_keys` are the keys of the words' classes, by word of the index, for collocations of classes.
    """
    occurrences = index.places_of(word)
    if len(occurrences) < settings.min_occurrences:
        return None
    rng = np.random.default_rng([seed, *word.encode()])
    if len(occurrences) > settings.max_occurrences:
        occurrences = np.sort(rng.choice(occurrences, settings.max_occurrences, replace=False))
    others = places_without(index, word, round(settings.negatives * len(occurrences)), rng)
    places = np.concatenate([occurrences, others]).astype(np.uint64)
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
        fitted = _native.fit_logistic(rows, columns, labels, len(keys), settings.penalty, 100, 1e-3)
        bias, weights = fitted[0], np.array(fitted[1:])
    return _context_classifier(keys, weights, bias)


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
    settings: ContextTraining,
) -> tuple[float, Floats]:
    """The bias and weights of all stumps together: a stump adds its vote for an absent feature to the
    bias, and the difference to the feature's weight."""
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
"""A sentence, the places of the gap's first word and of the word after it, and the word to judge."""


@dataclass(frozen=True, eq=False)
class ContextClassifiers:
    """Linear models by word; that of word i has the keys from `begins[i]` to before `begins[i + 1]`.

    `steps` are the units of the weights; a margin times `sharpness` gives log odds.
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
    """Word → the name of its class, for classifiers learned with classes. They are not saved."""

    @cached_property
    def number_of(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def _kernel(self) -> _native.ContextModels:
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
        """By place, the log odds of the word against a random one; NaN for a word without a
        classifier."""
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

    def model_of(self, word: str) -> ContextClassifier:
        """The classifier of a word that has one."""
        number = self.number_of[word]
        own = slice(int(self.begins[number]), int(self.begins[number + 1]))
        weights = self.weights[own] * self.steps[number]
        return ContextClassifier(self.keys[own], weights, float(self.biases[number]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """For a model file; `words` are saved apart."""
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
            raise ValueError("another number of words")
        if begins[-1] != len(arrays["keys"]) or not all(np.isfinite(a).all() for a in numbers):
            raise ValueError("another number of keys, or what is no number")
        found = cls(
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
        _ = found._kernel  # it refuses what else does not fit
        return found


def train_classifiers(
    index: CorpusIndex,
    words: Iterable[str],
    settings: ContextTraining,
    *,
    seed: int,
    classes: Mapping[str, str] | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> ContextClassifiers:
    """The classifiers of the words that are frequent enough. With `classes` they also use the classes
    of neighboring words; a word without one is its own class."""
    found: dict[str, ContextClassifier] = {}
    keys = NO_CLASSES
    if classes:
        keys = _native.word_keys([classes.get(word, word) for word in index.words])
    for word in words:
        model = train_classifier(index, word, settings, seed=seed, class_keys=keys)
        if model is not None:
            found[word] = model
        on_progress(1)
    return replace(pack(found, settings), classes=classes or {})


def pack(models: Mapping[str, ContextClassifier], settings: ContextTraining) -> ContextClassifiers:
    """The models in common arrays, with rounded weights."""
    steps = np.array(
        [float(np.abs(m.weights).max(initial=0)) / 127 for m in models.values()], np.float32
    )
    rounded = [
        np.round(m.weights / (step or 1)).astype(np.int8)
        for m, step in zip(models.values(), steps, strict=True)
    ]
    keys = [model.keys for model in models.values()]
    return ContextClassifiers(
        words=list(models),
        begins=np.cumsum([0, *map(len, keys)]).astype(np.uint32),
        keys=np.concatenate([*keys, np.zeros(0, np.uint32)]).astype(np.uint32),
        weights=np.concatenate([*rounded, np.zeros(0, np.int8)]).astype(np.int8),
        steps=steps,
        biases=np.array([model.bias for model in models.values()], np.float32),
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
    """The classifiers of a file, and the number of negatives for each positive."""
    classifiers, card = read_classifiers(path)
    with noticing_damage(path, "file of classifiers"):
        return classifiers, float(card["negatives"])
