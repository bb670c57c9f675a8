"""Trains a paraphrase model from a corpus and from judged substitutions.

Classifiers, counts of word pairs, LSA vectors, place vectors (which words stand next to a word) and
Brown classes are learned from the corpus; the weights of the `context` filter are learned from the
judgments.

A `JudgedSubstitution` is a replacement that people judged right or wrong. The file is JSONL with one
substitution on each line:
`{"text": "…", "start": 12, "word": "hard", "replacement": "difficult", "right": true}`, and `"tag"` if
the word's Penn tag is known. `start` is the place of the word's first character, from 0.

`learn_classifiers_for` learns classifiers from a user's corpus, only for the words that an evaluation
set needs, and can keep them in a file for the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError, Problems
from wellput.core.source import EvalSource
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.jsonl import read_json_lines
from wellput.io.opened_files import note_own_file
from wellput.language.models.wordnet import WordNet
from wellput.language.models.wordnet_files import CATEGORIES
from wellput.language.paraphrase.bigrams import train_bigrams
from wellput.language.paraphrase.candidates import CandidateSource, WordNetCandidates
from wellput.language.paraphrase.classifiers import (
    ContextClassifiers,
    ContextTraining,
    joined_classifiers,
    kauchak_training,
    read_classifiers,
    save_classifiers,
    train_classifiers,
)
from wellput.language.paraphrase.context_filter import (
    Encoder,
    Knowledge,
    fit_combination,
    neural_features,
)
from wellput.language.paraphrase.corpus_index import CorpusIndex
from wellput.language.paraphrase.filters import Query
from wellput.language.paraphrase.methods import ParaphraseOptions, make_paraphraser
from wellput.language.paraphrase.model import ParaphraseModel
from wellput.language.paraphrase.place_vectors import train_place_vectors
from wellput.language.paraphrase.sentences import FUNCTION_WORDS, Sentence
from wellput.language.paraphrase.similar_words import (
    BROWN_CLASSES,
    LsaTraining,
    frequent_words,
    train_brown,
    train_lsa,
)


@dataclass(frozen=True, slots=True)
class JudgedSubstitution:
    """The word at character `start` of a text, its replacement, and the judgment."""

    text: str
    start: int
    word: str
    replacement: str
    is_right: bool
    tag: str | None = None


def read_judged(path: PathLike) -> list[JudgedSubstitution]:
    """The judged substitutions of a file; raises one InputError that lists all bad lines."""
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    substitutions = []
    for number, record in read_json_lines(file, problems):
        try:
            text, start, word = str(record["text"]), int(record["start"]), str(record["word"])
            judged = JudgedSubstitution(
                text,
                start,
                word,
                str(record["replacement"]).lower(),
                bool(record["right"]),
                record.get("tag"),
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            problems.add(
                f"line {number}", "expected the keys text, start, word, replacement, right"
            )
            continue
        if text[start : start + len(word)] != word:
            problems.add(f"line {number}", f"there is no {word!r} at character {start}")
        substitutions.append(judged)
    problems.raise_if_any()
    if not any(judged.is_right for judged in substitutions) or all(
        judged.is_right for judged in substitutions
    ):
        raise InputError(f"{path} must hold both right and wrong substitutions to learn from.")
    return substitutions


def judged_queries(
    judged: Iterable[JudgedSubstitution], source: CandidateSource
) -> tuple[list[Query], NDArray[np.bool_]]:
    """Those of the judged substitutions that the source proposes, as queries for a filter; and whether
    each was judged right."""
    rows = list(_queries(judged, source))
    return [query for query, _ in rows], np.array([is_right for _, is_right in rows], np.bool_)


def _queries(
    judged: Iterable[JudgedSubstitution], source: CandidateSource
) -> Iterator[tuple[Query, bool]]:
    """The query and the judgment of each judged substitution that the source proposes."""
    sentences: dict[str, Sentence] = {}
    for substitution in judged:
        sentence = sentences.get(substitution.text)
        if sentence is None:
            sentence = sentences[substitution.text] = Sentence.of(substitution.text)
        places = [i for i, span in enumerate(sentence.spans) if span[0] == substitution.start]
        proposed = source.replacements(
            substitution.word.lower(), substitution.tag, {substitution.replacement}
        )
        if (
            places
            and substitution.replacement in proposed
            and sentence.tokens[places[0]] == substitution.word
        ):
            place = places[0]
            yield (
                Query(sentence.words, place, place + 1, proposed[substitution.replacement]),
                substitution.is_right,
            )


OTHER_TOKENS = 500
"""The number of punctuation marks and numbers in the bigram model."""


@dataclass(frozen=True)
class ParaphraseModelTraining:
    """How a model is trained. `classes` is the number of Brown classes, 0 for none. Pairs of words that
    occur fewer than `min_pair_count` times are left out. `recall` is the share of right substitutions
    that the filters shall let pass."""

    contexts: ContextTraining = field(default_factory=ContextTraining)
    lsa: LsaTraining = field(default_factory=LsaTraining)
    classes: int = BROWN_CLASSES
    min_pair_count: int = 4
    recall: float = 0.7


def train_model(
    index: CorpusIndex,
    settings: ParaphraseModelTraining,
    *,
    wordnet: WordNet,
    seed: int,
    judged: Sequence[JudgedSubstitution] = (),
    shipped: ParaphraseModel | None = None,
    encoder: Encoder | None = None,
    card: Mapping[str, Any] | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> ParaphraseModel:
    """A model of a corpus. The `context` filter is learned from the substitutions in `judged`, and so
    is the `neural` filter if there is an encoder. Without judgments both filters are taken from the
    `shipped` model. The same input gives the same bytes."""
    vectors = train_lsa(index, settings.lsa)
    place_vectors = train_place_vectors(index, vocabulary=settings.lsa.vocabulary)
    frequent = frequent_words(index, settings.lsa.vocabulary)
    order = np.argsort(-index.counts, kind="stable")
    other_tokens = [int(n) for n in order if not index.words[n][0].isalpha()][:OTHER_TOKENS]
    words = words_to_learn(index, wordnet, settings.contexts.min_occurrences)
    classifiers: ContextClassifiers = train_classifiers(
        index, words, settings.contexts, seed=seed, on_progress=on_progress
    )
    bigrams = train_bigrams(index, [*frequent, *other_tokens], min_count=settings.min_pair_count)
    brown_classes = None
    if settings.classes:
        brown_classes = train_brown(index, frequent, classes=settings.classes)
    knowledge = Knowledge(classifiers, bigrams, vectors, place_vectors)
    # The learned weights and the threshold of the filters `context` and `neural`.
    context_weights = shipped.combination if shipped else None
    neural_weights = shipped.neural if shipped else None
    if judged:
        queries, is_right = judged_queries(judged, WordNetCandidates(wordnet))
        if not is_right.any() or is_right.all():
            raise InputError(
                "The context filter needs both right and wrong judged substitutions that are synonyms "
                "in WordNet."
            )
        context_weights = fit_combination(
            knowledge.features(queries), is_right, recall=settings.recall
        )
        neural_weights = None
        if encoder is not None:
            features = neural_features(knowledge, encoder, queries)
            neural_weights = fit_combination(features, is_right, recall=settings.recall)
    return ParaphraseModel(
        classifiers,
        bigrams,
        vectors,
        place_vectors,
        brown_classes,
        context_weights,
        neural_weights,
        card or {},
    )


def words_to_learn(index: CorpusIndex, wordnet: WordNet, min_occurrences: int) -> list[str]:
    """The words of a corpus that could replace another: frequent enough, and with a synonym."""
    frequent = np.flatnonzero(index.counts >= min_occurrences)
    words = sorted(
        word
        for word in (index.words[n] for n in frequent)
        if word[0].isalpha() and word not in FUNCTION_WORDS and _has_synonym(wordnet, word)
    )
    if not words:
        raise InputError(
            f"The corpus is too small to learn from: no word that WordNet has a synonym for occurs "
            f"{min_occurrences} times in its {len(index):,} words. Add text, or use a smaller "
            "min_occurrences=."
        )
    return words


def _has_synonym(wordnet: WordNet, word: str) -> bool:
    return any(
        len(sense.members) > 1
        for category in CATEGORIES
        for sense in wordnet.senses(word, category)
    )


def learn_classifiers_for(
    source: EvalSource,
    options: ParaphraseOptions,
    index: CorpusIndex,
    *,
    seed: int,
    cache: PathLike | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> ContextClassifiers:
    """Classifiers for the words and replacements of all proposals in an evaluation set, which is read
    once to find them. `cache` is a file that keeps them, as for `learn_classifiers`. For the filter
    `contextwn`, the settings are those of Kauchak & Barzilay (2006)."""
    proposer = make_paraphraser(replace(options, filter="none", threshold=None, is_relative=False))
    words: set[str] = set()
    for block in source.blocks():
        _, substitutions = proposer.rewrite_items(block)
        words.update(s.replacement for s in substitutions)
        if options.filter != "contextwn":  # the filter contextwn judges replacements only
            words.update(s.word for s in substitutions)
    settings = kauchak_training(len(index)) if options.filter == "contextwn" else ContextTraining()
    learned = learn_classifiers(
        index, words, settings, seed=seed, cache=cache, on_progress=on_progress
    )
    if words and not learned.words:
        raise InputError(
            f"The corpus is too small: none of the {len(words):,} proposed words occurs "
            f"{settings.min_occurrences} times in its {len(index):,} words."
        )
    return learned


def learn_classifiers(
    index: CorpusIndex,
    words: Iterable[str],
    settings: ContextTraining,
    *,
    seed: int,
    cache: PathLike | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> ContextClassifiers:
    """The classifiers of the words. Classifiers that the file `cache` has from the same index, seed and
    settings are taken from it; the others are learned and added to it."""
    made_from = {"index": index.fingerprint, "seed": seed, **asdict(settings)}
    known = (
        joined_classifiers({}, settings)
        if cache is None
        else _read_cache(cache, made_from, settings)
    )
    missing = sorted(set(words) - set(known.words))
    new = train_classifiers(index, missing, settings, seed=seed, on_progress=on_progress)
    if not new.words:
        return known
    classifiers = {word: known.classifier_of(word) for word in known.words}
    classifiers |= {word: new.classifier_of(word) for word in new.words}
    learned = joined_classifiers(classifiers, settings)
    if cache is not None:
        note_own_file(cache)  # the command may replace this file, although it has read it
        save_classifiers(cache, learned, made_from)
    return learned


def _read_cache(
    path: PathLike, made_from: dict[str, object], settings: ContextTraining
) -> ContextClassifiers:
    """The classifiers of a file, if it exists and was made from the same index, seed and settings;
    otherwise no classifiers."""
    if not Path(path).exists():
        return joined_classifiers({}, settings)
    known, card = read_classifiers(path)
    return known if dict(card) == made_from else joined_classifiers({}, settings)
