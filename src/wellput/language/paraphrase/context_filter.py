"""The filters `context` and `neural`, which judge whether a replacement is right in its sentence.

A `Query` is a replacement to judge, with its sentence. `context` makes one probability from what
WordNet says of the word and its replacement, and from the context classifiers, a language model and
word vectors. It is a logistic model over the features in `CONTEXT_FEATURES`, their squares and their
products, and learns its weights from judged substitutions. A feature that is unknown (for a word
without a classifier, or a source other than WordNet) takes its mean value.

`neural` (`wellput[neural]`) has three more features, which say how much a replacement changes a neural
encoder's embeddings: the cosine of the word's and the replacement's embeddings, each in its sentence;
the cosine of the mean embeddings of the two sentences; and for each of the other words the cosine of
its two embeddings, averaged over these words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.language.paraphrase.bigrams import BigramModel
from wellput.language.paraphrase.classifiers import ContextClassifiers
from wellput.language.paraphrase.filters import (
    Query,
    bigram_gains,
    replacement_log_odds,
    sigmoid,
    word_log_odds,
)
from wellput.language.paraphrase.place_vectors import PlaceVectors
from wellput.language.paraphrase.sentences import FUNCTION_WORDS
from wellput.language.paraphrase.similar_words import WordVectors

# The features of the filter `context`, in their order. `prior` is how sure the replacement's source is;
# the next ten come from the `Evidence` of WordNet. `log_count` and `log_word_count` are about the
# frequencies of the replacement and of the word. `margin` and `word_margin` are the log odds that their
# classifiers give, and `is_unlearned` says that the replacement has no classifier. `language_model` is
# the gain by bigrams. `similarity` and `topic_similarity` are cosines of word vectors (latent
# semantic analysis, LSA): of the replacement with the word, and with the words around it. `advantage`
# says how much likelier the replacement is in this place than the word. The last three come from
# `PlaceVectors`: how well the vectors of the two words fit the place.
CONTEXT_FEATURES = (
    "prior", "log_share", "log_senses", "log_rank", "log_members", "log_tag_count",
    "log_replacement_share", "log_replacement_senses", "is_noun", "is_verb", "is_adjective",
    "log_count", "log_word_count", "margin", "word_margin", "language_model", "similarity",
    "topic_similarity", "is_unlearned", "advantage", "place_fit", "place_advantage",
    "place_similarity",
)  # fmt: skip
COLUMN = {name: column for column, name in enumerate(CONTEXT_FEATURES)}
N_SIMILARITIES = 3
"""The number of features that a neural encoder adds (`SIMILARITIES`)."""
TOPIC_WORDS = 12
"""The topic of a place is taken from this many words on either side."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The parts of a paraphrase model from which features are computed."""

    classifiers: ContextClassifiers
    bigrams: BigramModel
    vectors: WordVectors
    places: PlaceVectors

    def features(self, queries: Sequence[Query]) -> Floats:
        """A row for each query, with the columns of CONTEXT_FEATURES; NaN where a feature is
        unknown."""
        rows = np.full((len(queries), len(CONTEXT_FEATURES)), np.nan)
        for row, query in zip(rows, queries, strict=True):
            self._add_evidence(row, query)
        rows[:, COLUMN["margin"]] = replacement_log_odds(self.classifiers, queries)
        rows[:, COLUMN["word_margin"]] = word_log_odds(self.classifiers, queries)
        rows[:, COLUMN["is_unlearned"]] = np.isnan(rows[:, COLUMN["margin"]])
        # The margins leave out how frequent the two words are, so the counts come in here.
        rows[:, COLUMN["advantage"]] = (
            rows[:, COLUMN["margin"]]
            - np.nan_to_num(rows[:, COLUMN["word_margin"]])
            + rows[:, COLUMN["log_count"]]
            - rows[:, COLUMN["log_word_count"]]
        )
        rows[:, COLUMN["language_model"]] = bigram_gains(self.bigrams, queries)
        rows[:, COLUMN["place_fit"] :] = self.places.features(queries)
        return rows

    def _add_evidence(self, row: Floats, query: Query) -> None:
        """Writes the features from WordNet, word counts and LSA vectors into the query's row."""
        replacement = query.replacement
        word = " ".join(query.words[query.first : query.last])
        row[COLUMN["prior"]] = replacement.prior
        if (evidence := replacement.evidence) is not None:
            row[COLUMN["log_share"] : COLUMN["is_noun"]] = np.log(
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
            row[COLUMN["is_noun"] : COLUMN["log_count"]] = [
                evidence.category == category for category in ("noun", "verb", "adj")
            ]
        row[COLUMN["log_count"]] = np.log1p(self.bigrams.count(replacement.text))
        row[COLUMN["log_word_count"]] = np.log1p(self.bigrams.count(word))
        new_vector = self.vectors.unit(replacement.text)
        if new_vector is not None:
            old_vector = self.vectors.unit(word)
            if old_vector is not None:
                row[COLUMN["similarity"]] = new_vector @ old_vector
            near = (v for w in self._topic(query) if (v := self.vectors.unit(w)) is not None)
            if topic := list(near):
                row[COLUMN["topic_similarity"]] = new_vector @ np.mean(topic, axis=0)

    def _topic(self, query: Query) -> list[str]:
        """The words on either side of the replaced word, without function words."""
        return [word for word in query.window((), TOPIC_WORDS) if word not in FUNCTION_WORDS]


@dataclass(frozen=True, eq=False)
class Combination:
    """A fitted logistic model. Features are standardized with `means` and `scales`; `weights` has the
    bias, then the weights of the features, then those of their squares and products. Replacements with
    a probability below `threshold` are refused."""

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
        combination = cls(arrays["means"], arrays["scales"], arrays["weights"], threshold)
        if len(combination.means) != n_features or len(combination.scales) != n_features:
            raise ValueError("made for other features")
        with np.errstate(all="ignore"):
            # raises ValueError if the number of weights is wrong
            probability = combination.probabilities(np.ones((1, n_features)))[0]
        if not np.isfinite([probability, threshold]).all():
            raise ValueError("weights that give no probability")
        return combination


class ContextFilter:
    """The default filter: the probability from a `Combination` of all features."""

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
    """A combination fitted by penalized maximum likelihood. `features` has a row for each judged
    substitution, and `is_right` its judgment. The threshold lets a share of `recall` of the right
    substitutions pass."""
    means = np.nanmean(features, axis=0)
    scales = np.nanstd(features, axis=0)
    scales = np.where(scales == 0, 1.0, scales)
    expanded = _expanded(features, means, scales)
    # Products have other scales than features. Divided by their spread, all columns are penalized
    # alike.
    spread = expanded.std(axis=0)
    spread[0] = 1.0
    spread[spread == 0] = 1.0
    weights = _fit(expanded / spread, is_right.astype(np.float64), penalty) / spread
    probabilities = sigmoid(expanded @ weights)
    threshold = float(np.quantile(probabilities[is_right], 1 - recall))
    return Combination(means, scales, weights, threshold)


def _expanded(features: Floats, means: Floats, scales: Floats) -> Floats:
    """A column of ones, the standardized features (0 where unknown), and their squares and products."""
    standard = np.nan_to_num((features - means) / scales)
    left, right = np.triu_indices(standard.shape[1])
    ones = np.ones((len(standard), 1))
    return np.concatenate([ones, standard, standard[:, left] * standard[:, right]], axis=1)


def _fit(rows: Floats, labels: Floats, penalty: float) -> Floats:
    """The weights of the columns of `rows` by Newton's method. The bias, in the first column, has
    almost no penalty."""
    weights = np.zeros(rows.shape[1])
    ridge = np.full(rows.shape[1], penalty)
    ridge[0] = 1e-9
    for _ in range(50):  # far more steps than Newton's method needs
        p = sigmoid(rows @ weights)
        gradient = rows.T @ (p - labels) + ridge * weights
        curvature = (rows * (p * (1 - p))[:, None]).T @ rows + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    return weights


# The names of the further features of the filter `neural`.
SIMILARITIES = ("token_similarity", "sentence_similarity", "context_similarity")
ENCODED_WORDS = 24
"""The encoder gets this many words on either side."""
SENTENCES_A_BATCH = 64


class Encoder(Protocol):
    """A model that gives every word of a sentence a vector."""

    def encode(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        """For each sentence, its vectors: words by dimensions."""


class TransformerEncoder:
    """An encoder of the Hugging Face library, by name or folder. A word's vector is the mean of the
    vectors of the word's pieces."""

    def __init__(self, name: str) -> None:
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
        except ImportError:
            raise InputError(
                "filter='neural' needs torch and transformers: pip install 'wellput[neural]'"
            ) from None
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name)
            self._model: Any = AutoModel.from_pretrained(name).eval()
        except (OSError, ValueError) as error:
            raise InputError(f"Cannot load the encoder {name}: {error}") from None
        self._torch: Any = torch

    def encode(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        vectors_by_sentence: dict[int, Floats] = {}
        for begin in range(0, len(order), SENTENCES_A_BATCH):
            chosen = order[begin : begin + SENTENCES_A_BATCH]
            pieces = self._tokenizer(
                [list(sentences[i]) for i in chosen],
                is_split_into_words=True,
                padding=True,
                truncation=True,
                return_tensors="pt",
            )
            with self._torch.inference_mode():
                vectors = self._model(**pieces).last_hidden_state.numpy()
            for row, i in enumerate(chosen):
                means = _means(vectors[row], pieces.word_ids(row), len(sentences[i]))
                vectors_by_sentence[i] = means
        return [vectors_by_sentence[i] for i in range(len(sentences))]


def _means(vectors: Floats, words: Sequence[int | None], n: int) -> Floats:
    """The mean vector of the pieces of each of `n` words; zeros for a word that was cut off. `words`
    has the word of each piece."""
    sums, counts = np.zeros((n, vectors.shape[1])), np.zeros(n)
    for vector, word in zip(vectors, words, strict=True):
        if word is not None:
            sums[word] += vector
            counts[word] += 1
    return sums / np.maximum(counts, 1)[:, None]


def sentence_pairs(
    queries: Sequence[Query],
) -> tuple[list[tuple[str, ...]], list[tuple[int, int, int, int, int]]]:
    """The sentences to encode, each once; and for each query the numbers of its old and its new
    sentence, the place of the word in both, and how many words it and its replacement have."""
    texts: dict[tuple[str, ...], int] = {}
    rows = []
    for query in queries:
        begin = max(0, query.first - ENCODED_WORDS)
        first, n_old = query.first - begin, query.last - query.first
        new = query.replacement.text.split(" ")
        old = tuple(query.window(query.words[query.first : query.last], ENCODED_WORDS))
        rewritten = tuple(query.window(new, ENCODED_WORDS))
        old_number, new_number = (texts.setdefault(text, len(texts)) for text in (old, rewritten))
        rows.append((old_number, new_number, first, n_old, len(new)))
    return list(texts), rows


def similarities(encoder: Encoder, queries: Sequence[Query]) -> Floats:
    """A row for each query, with the columns of SIMILARITIES."""
    texts, rows = sentence_pairs(queries)
    vectors = encoder.encode(texts)
    result = np.zeros((len(queries), len(SIMILARITIES)))
    for row, (old_number, new_number, first, n_old, n_new) in zip(result, rows, strict=True):
        old, new = vectors[old_number], vectors[new_number]
        row[0] = _cosine(
            old[first : first + n_old].mean(axis=0), new[first : first + n_new].mean(axis=0)
        )
        row[1] = _cosine(old.mean(axis=0), new.mean(axis=0))
        others = zip(
            [*old[:first], *old[first + n_old :]],
            [*new[:first], *new[first + n_new :]],
            strict=True,
        )
        cosines = [_cosine(x, y) for x, y in others]
        row[2] = np.mean(cosines) if cosines else 1.0
    return result


def _cosine(a: Floats, b: Floats) -> float:
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0


class NeuralFilter:
    """The `context` filter with the features of a neural encoder added."""

    name = "neural"

    def __init__(self, knowledge: Knowledge, combination: Combination, encoder: Encoder) -> None:
        self._knowledge = knowledge
        self._combination = combination
        self._encoder = encoder
        self.threshold = combination.threshold

    def probabilities(self, queries: Sequence[Query]) -> Floats:
        return self._combination.probabilities(
            neural_features(self._knowledge, self._encoder, queries)
        )


def neural_features(knowledge: Knowledge, encoder: Encoder, queries: Sequence[Query]) -> Floats:
    """The features of the `context` filter, then SIMILARITIES."""
    return np.concatenate([knowledge.features(queries), similarities(encoder, queries)], axis=1)
