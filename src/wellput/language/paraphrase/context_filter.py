"""The `context` filter: WordNet's evidence, the classifier and the language model in one probability.

A logistic model over the features of `FEATURES`, their squares and their products, learned from
judged substitutions. An unknown feature (a word without a classifier, a source other than WordNet)
gets the mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.language.paraphrase.bigrams import BigramModel
from wellput.language.paraphrase.classifiers import ContextClassifiers
from wellput.language.paraphrase.filters import (
    Query,
    bigram_gains,
    replacement_margins,
    sigmoid,
    word_margins,
)
from wellput.language.paraphrase.place_vectors import PlaceVectors
from wellput.language.paraphrase.sentences import FUNCTION_WORDS
from wellput.language.paraphrase.similar_words import WordVectors

FEATURES = (
    "prior", "log_share", "log_senses", "log_rank", "log_members", "log_tag_count",
    "log_replacement_share", "log_replacement_senses", "is_noun", "is_verb", "is_adjective",
    "log_count", "log_word_count", "margin", "word_margin", "language_model", "similarity",
    "topic_similarity", "is_unlearned", "advantage", "place_fit", "place_advantage",
    "place_similarity",
)  # fmt: skip
N_SIMILARITIES = 3
"""Features that a neural encoder adds (`embeddings.SIMILARITIES`)."""
TOPIC_WORDS = 12
"""The topic is this many words on either side."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The parts of a paraphrase model that features are computed from."""

    classifiers: ContextClassifiers
    bigrams: BigramModel
    vectors: WordVectors
    places: PlaceVectors

    def features(self, queries: Sequence[Query]) -> Floats:
        """A row per query with the columns of FEATURES; NaN where a feature is unknown."""
        rows = np.full((len(queries), len(FEATURES)), np.nan)
        for row, query in zip(rows, queries, strict=True):
            self._add_evidence(row, query)
        column = {name: place for place, name in enumerate(FEATURES)}
        rows[:, column["margin"]] = replacement_margins(self.classifiers, queries)
        rows[:, column["word_margin"]] = word_margins(self.classifiers, queries)
        rows[:, column["is_unlearned"]] = np.isnan(rows[:, column["margin"]])
        # How much likelier the replacement is here than the word, including its frequency.
        rows[:, column["advantage"]] = (
            rows[:, column["margin"]]
            - np.nan_to_num(rows[:, column["word_margin"]])
            + rows[:, column["log_count"]]
            - rows[:, column["log_word_count"]]
        )
        rows[:, column["language_model"]] = bigram_gains(self.bigrams, queries)
        rows[:, column["place_fit"] :] = self.places.features(queries)
        return rows

    def _add_evidence(self, row: Floats, query: Query) -> None:
        replacement = query.replacement
        word = " ".join(query.words[query.first : query.last])
        row[0] = replacement.prior
        if (evidence := replacement.evidence) is not None:
            row[1:8] = np.log(
                [
                    evidence.share,
                    evidence.senses,
                    evidence.rank,
                    evidence.members,
                    evidence.tag_count,
                    evidence.replacement_share,
                    max(evidence.replacement_senses, 1),
                ]
            )
            row[8:11] = [evidence.category == category for category in ("noun", "verb", "adj")]
        row[11] = np.log1p(self.bigrams.count(replacement.text))
        row[12] = np.log1p(self.bigrams.count(word))
        own = self.vectors.unit(replacement.text)
        if own is not None:
            other = self.vectors.unit(word)
            row[16] = np.nan if other is None else own @ other
            beside = (v for w in self._topic(query) if (v := self.vectors.unit(w)) is not None)
            if topic := list(beside):
                row[17] = own @ np.mean(topic, axis=0)

    def _topic(self, query: Query) -> list[str]:
        return [word for word in query.window((), TOPIC_WORDS) if word not in FUNCTION_WORDS]


@dataclass(frozen=True, eq=False)
class Combination:
    """Weights for the standardized features and their products; the first is the bias."""

    means: Floats
    scales: Floats
    weights: Floats
    threshold: float

    def probabilities(self, features: Floats) -> Floats:
        return sigmoid(_expanded(features, self.means, self.scales) @ self.weights)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "means": self.means,
            "scales": self.scales,
            "weights": self.weights,
            "threshold": np.array([self.threshold]),
        }

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_features: int) -> Combination:
        threshold = float(arrays["threshold"][0])
        if len(arrays["means"]) != n_features:
            raise ValueError("made for other features")
        return cls(arrays["means"], arrays["scales"], arrays["weights"], threshold)


class ContextFilter:
    """The default filter."""

    name = "context"

    def __init__(self, knowledge: Knowledge, combination: Combination) -> None:
        self._knowledge = knowledge
        self._combination = combination
        self.threshold = combination.threshold

    def probabilities(self, queries: Sequence[Query]) -> Floats:
        return self._combination.probabilities(self._knowledge.features(queries))


def fit_combination(
    features: Floats, is_right: NDArray[np.bool_], *, penalty: float = 100.0, recall: float = 0.7
) -> Combination:
    """Fitted by penalized maximum likelihood; a share of `recall` of the right ones passes the
    threshold."""
    means = np.nanmean(features, axis=0)
    scales = np.nanstd(features, axis=0)
    scales = np.where(scales == 0, 1.0, scales)
    expanded = _expanded(features, means, scales)
    # Products have other scales; the penalty must weigh all columns equally.
    spread = expanded.std(axis=0)
    spread[0] = 1.0
    spread[spread == 0] = 1.0
    weights = _fit(expanded / spread, is_right.astype(np.float64), penalty) / spread
    judged = sigmoid(expanded @ weights)
    threshold = float(np.quantile(judged[is_right], 1 - recall))
    return Combination(means, scales, weights, threshold)


def _expanded(features: Floats, means: Floats, scales: Floats) -> Floats:
    standard = np.nan_to_num((features - means) / scales)
    left, right = np.triu_indices(standard.shape[1])
    ones = np.ones((len(standard), 1))
    return np.concatenate([ones, standard, standard[:, left] * standard[:, right]], axis=1)


def _fit(rows: Floats, labels: Floats, penalty: float) -> Floats:
    """Newton's method; the bias, in the first column, is not penalized."""
    weights = np.zeros(rows.shape[1])
    ridge = np.full(rows.shape[1], penalty)
    ridge[0] = 1e-9
    for _ in range(50):
        p = sigmoid(rows @ weights)
        gradient = rows.T @ (p - labels) + ridge * weights
        curvature = (rows * (p * (1 - p))[:, None]).T @ rows + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    return weights
