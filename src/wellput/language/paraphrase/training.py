"""Training a paraphrase model: classifiers, word pairs, LSA and Brown classes from a corpus, and the
weights of the `context` filter from judged substitutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wellput.core.errors import InputError
from wellput.core.work import MapParts, map_here
from wellput.language.lexicon import CATEGORIES
from wellput.language.paraphrase.bigrams import train_bigrams
from wellput.language.paraphrase.brown import CLASSES, train_brown
from wellput.language.paraphrase.candidates import WordNetCandidates
from wellput.language.paraphrase.classifiers import ContextClassifiers, train_classifiers
from wellput.language.paraphrase.combination import Knowledge, fit_combination
from wellput.language.paraphrase.context_training import ContextTraining
from wellput.language.paraphrase.corpus_index import CorpusIndex
from wellput.language.paraphrase.embeddings import Encoder, neural_features
from wellput.language.paraphrase.function_words import FUNCTION_WORDS
from wellput.language.paraphrase.judged import Judged, judged_queries
from wellput.language.paraphrase.lsa import LsaTraining, frequent_words, train_lsa
from wellput.language.paraphrase.model import ParaphraseModel
from wellput.language.paraphrase.places import train_places
from wellput.language.wordnet import WordNet

OTHER_TOKENS = 500
"""Punctuation and numbers that the language model knows."""


@dataclass(frozen=True)
class Training:
    """How a model is trained. `classes` 0 leaves Brown classes out; pairs of words seen less often
    than `min_pair_count` are forgotten."""

    contexts: ContextTraining = field(default_factory=ContextTraining)
    lsa: LsaTraining = field(default_factory=LsaTraining)
    classes: int = CLASSES
    min_pair_count: int = 4
    recall: float = 0.7


def train_model(
    index: CorpusIndex,
    how: Training,
    *,
    wordnet: WordNet,
    seed: int,
    judged: Sequence[Judged] = (),
    shipped: ParaphraseModel | None = None,
    encoder: Encoder | None = None,
    card: Mapping[str, Any] | None = None,
    map_parts: MapParts = map_here,
    on_progress: Callable[[int], None] = lambda _: None,
) -> ParaphraseModel:
    """A model of a corpus. The `context` filter is learned from `judged`, and the neural one with
    an encoder; without judgments those of the `shipped` model are taken over. Classifiers are
    learned and pairs of words counted by `map_parts`. The same input gives the same bytes."""
    vectors = train_lsa(index, how.lsa)
    places = train_places(index, vocabulary=how.lsa.vocabulary)
    frequent = frequent_words(index, how.lsa.vocabulary)
    order = np.argsort(-index.counts, kind="stable")
    others = [int(n) for n in order if not index.words[n][0].isalpha()][:OTHER_TOKENS]
    words = words_to_learn(index, wordnet, how.contexts.min_occurrences)
    classifiers: ContextClassifiers = train_classifiers(
        index, words, how.contexts, seed=seed, map_parts=map_parts, on_progress=on_progress
    )
    bigrams = train_bigrams(
        index, [*frequent, *others], min_count=how.min_pair_count, map_parts=map_parts
    )
    clusters = None
    if how.classes:
        clusters = train_brown(index, frequent, classes=how.classes, map_parts=map_parts)
    knowledge = Knowledge(classifiers, bigrams, vectors, places)
    combination = shipped.combination if shipped else None
    neural = shipped.neural if shipped else None
    if judged:
        queries, is_right = judged_queries(judged, WordNetCandidates(wordnet))
        if not is_right.any() or is_right.all():
            raise InputError(
                "None of the judged substitutions are WordNet's, or all are judged alike: the context "
                "filter cannot be learned from them."
            )
        combination = fit_combination(knowledge.features(queries), is_right, recall=how.recall)
        neural = None
        if encoder is not None:
            features = neural_features(knowledge, encoder, queries)
            neural = fit_combination(features, is_right, recall=how.recall)
    return ParaphraseModel(
        classifiers, bigrams, vectors, places, clusters, combination, neural, card or {}
    )


def words_to_learn(index: CorpusIndex, wordnet: WordNet, min_occurrences: int) -> list[str]:
    """The words of a corpus that could replace another: frequent enough, and with a synonym."""
    often = np.flatnonzero(index.counts >= min_occurrences)
    words = sorted(
        word
        for word in (index.words[n] for n in often)
        if word[0].isalpha() and word not in FUNCTION_WORDS and _has_synonym(wordnet, word)
    )
    if not words:
        raise InputError(
            f"The corpus is too small to learn from: no word that WordNet has a synonym for occurs "
            f"{min_occurrences} times in its {len(index):,} words. Bring more text, or take less than "
            f"min_occurrences={min_occurrences}."
        )
    return words


def _has_synonym(wordnet: WordNet, word: str) -> bool:
    return any(
        len(sense.members) > 1
        for category in CATEGORIES
        for sense in wordnet.senses(word, category)
    )
