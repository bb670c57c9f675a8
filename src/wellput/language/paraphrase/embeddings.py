"""The `neural` filter: how much a replacement changes a neural encoder's embeddings of its sentence
(`wellput[neural]`).

Three features join those of the `context` filter: the cosine of the word's and the replacement's
embeddings, each in its sentence; the cosine of the two sentences; and the mean cosine of all other
words, with and without the replacement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.language.paraphrase.context_filter import Combination, Knowledge
from wellput.language.paraphrase.filters import Query

SIMILARITIES = ("token_similarity", "sentence_similarity", "context_similarity")
ENCODED_WORDS = 24
"""Words on either side that the encoder sees."""
SENTENCES_A_BATCH = 64


class Encoder(Protocol):
    """A vector for every word of a sentence."""

    def encode(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        """By sentence, words × dimensions."""


class TransformerEncoder:
    """An encoder of the Hugging Face library, by name or folder; a word's vector is the mean of its
    pieces."""

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
        found: dict[int, Floats] = {}
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
                found[i] = _means(vectors[row], pieces.word_ids(row), len(sentences[i]))
        return [found[i] for i in range(len(sentences))]


def _means(vectors: Floats, words: Sequence[int | None], n: int) -> Floats:
    """The mean vector of each word's pieces; zeros for a word that was cut off."""
    sums, counts = np.zeros((n, vectors.shape[1])), np.zeros(n)
    for vector, word in zip(vectors, words, strict=True):
        if word is not None:
            sums[word] += vector
            counts[word] += 1
    return sums / np.maximum(counts, 1)[:, None]


def sentence_pairs(
    queries: Sequence[Query],
) -> tuple[list[tuple[str, ...]], list[tuple[int, int, int, int, int]]]:
    """The sentences to encode, each once; and by query the numbers of the old and the new sentence, the
    place of the word, and the numbers of words of it and of its replacement."""
    texts: dict[tuple[str, ...], int] = {}
    rows = []
    for query in queries:
        begin = max(0, query.first - ENCODED_WORDS)
        first, n = query.first - begin, query.last - query.first
        new = query.replacement.text.split(" ")
        old = tuple(query.window(query.words[query.first : query.last], ENCODED_WORDS))
        rewritten = tuple(query.window(new, ENCODED_WORDS))
        before, after = (texts.setdefault(text, len(texts)) for text in (old, rewritten))
        rows.append((before, after, first, n, len(new)))
    return list(texts), rows


def similarities(encoder: Encoder, queries: Sequence[Query]) -> Floats:
    """A row per query with the columns of SIMILARITIES."""
    texts, rows = sentence_pairs(queries)
    vectors = encoder.encode(texts)
    result = np.zeros((len(queries), len(SIMILARITIES)))
    for row, (old_place, new_place, first, n, m) in zip(result, rows, strict=True):
        a, b = vectors[old_place], vectors[new_place]
        row[0] = _cosine(a[first : first + n].mean(axis=0), b[first : first + m].mean(axis=0))
        row[1] = _cosine(a.mean(axis=0), b.mean(axis=0))
        others = zip([*a[:first], *a[first + n :]], [*b[:first], *b[first + m :]], strict=True)
        cosines = [_cosine(x, y) for x, y in others]
        row[2] = np.mean(cosines) if cosines else 1.0
    return result


def _cosine(a: Floats, b: Floats) -> float:
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0


class NeuralFilter:
    """The `context` filter with the encoder's features beside the others."""

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
