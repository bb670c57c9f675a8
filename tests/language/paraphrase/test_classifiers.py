from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from tests.language.paraphrase.boosting_by_hand import (
    context_keys,
    normalizer,
    reweighted,
    votes,
    word_key,
)
from wellput import _native
from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.language.paraphrase.classifiers import (
    ContextClassifiers,
    ContextTraining,
    joined_classifiers,
    train_classifier,
    train_classifiers,
)
from wellput.language.paraphrase.corpus_index import (
    CorpusIndex,
    index_corpus,
)
from wellput.language.paraphrase.training import learn_classifiers

TEXT = [
    *["we drink hot tea in the morning ."] * 12,
    *["they drink cold water in the evening ."] * 12,
    *["she reads a long book in the garden ."] * 12,
    *["he reads a short letter in the house ."] * 12,
]


def rows_of(examples: list[set[int]]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    begins = np.cumsum([0, *map(len, examples)]).astype(np.uint64)
    columns = np.array([f for row in examples for f in sorted(row)], np.uint32)
    return begins, columns


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.sets(st.integers(0, 5)), st.integers(0, 1)), min_size=2, max_size=14
    ).filter(lambda rows: {label for _, label in rows} == {0, 1}),
    st.sampled_from([0.5, 1.0, 5.0]),
)
def test_each_stump_is_the_best_one_with_the_right_votes(
    examples: list[tuple[set[int], int]], smoothing: float
) -> None:
    features = [row for row, _ in examples]
    labels = [label for _, label in examples]
    stumps = list(
        zip(
            *_native.boost(*rows_of(features), np.array(labels, np.uint8), 6, 8, smoothing),
            strict=True,
        )
    )
    weights = [1 / len(labels)] * len(labels)
    for feature, present, absent in stumps:
        least = min(normalizer(features, labels, weights, other) for other in range(6))
        assert normalizer(features, labels, weights, feature) == pytest.approx(least, abs=1e-8)
        assert (present, absent) == pytest.approx(
            votes(features, labels, weights, feature, smoothing), abs=1e-6
        )
        weights = reweighted(features, labels, weights, (feature, present, absent))
    if len(stumps) < 8:  # it stopped because no stump helps
        assert min(normalizer(features, labels, weights, f) for f in range(6)) > 1 - 1e-6


def test_a_first_stump_by_hand() -> None:
    # Three of four positives have feature 0, one of four negatives: weights 1/8 each.
    # Present: W+ = 3/8, W− = 1/8; with ε = 1/8 the vote is ½ ln (4/8)/(2/8) = ½ ln 2 = .3466.
    # Absent: W+ = 1/8, W− = 3/8; the vote is −½ ln 2.
    rows = [{0}, {0}, {0}, set(), {0}, set(), set(), set()]
    labels = np.array([1, 1, 1, 1, 0, 0, 0, 0], np.uint8)
    features, present, absent = _native.boost(*rows_of(rows), labels, 1, 1, 1.0)
    assert features == [0]
    assert (present[0], absent[0]) == pytest.approx((0.34657, -0.34657), abs=1e-5)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(
        st.tuples(st.sets(st.integers(0, 3)), st.integers(0, 1)), min_size=3, max_size=12
    ).filter(lambda rows: {label for _, label in rows} == {0, 1})
)
def test_logistic_regression_finds_the_minimum(examples: list[tuple[set[int], int]]) -> None:
    dense = np.array([[f in row for f in range(4)] for row, _ in examples], float)
    signs = np.array([1 if label else -1 for _, label in examples])

    def objective(weights: Floats) -> float:
        margins = signs * (weights[0] + dense @ weights[1:])
        return float(np.logaddexp(0, -margins).sum() + 0.5 * (weights[1:] ** 2).sum())

    labels = np.array([label for _, label in examples], np.uint8)
    begins, columns = rows_of([row for row, _ in examples])
    found = np.array(_native.fit_logistic(begins, columns, labels, 4, 1.0, 500, 1e-9))
    best = minimize(objective, np.zeros(5), method="BFGS", options={"gtol": 1e-8})
    assert objective(found) == pytest.approx(best.fun, abs=1e-5)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=7),
    st.integers(0, 6),
    st.integers(0, 3),
)
def test_contexts_are_those_of_plain_python(words: list[str], place: int, bag_order: int) -> None:
    place %= len(words)
    known = list(dict.fromkeys(words))
    tokens = np.array([known.index(word) for word in words], np.uint32)
    keys, rows, columns = _native.context_examples(
        tokens,
        np.array([0, len(words)], np.uint64),
        _native.word_keys(known),
        np.zeros(0, np.uint64),
        np.array([place], np.uint64),
        bag_order,
        True,
        1,
    )
    assert _native.word_keys(known).tolist() == [word_key(word) for word in known]
    assert {int(keys[c]) for c in columns} == context_keys(words, place, place + 1, bag_order)
    assert rows.tolist() == [0, len(columns)]


def test_margins_add_up_the_weights_of_a_context() -> None:
    words = ("we", "drink", "tea", "now")
    wanted = sorted(context_keys(words, 2, 3, 0))
    weights = np.arange(1, len(wanted) + 1, dtype=np.float32)
    models = _native.ContextModels(
        np.array([0, 0, len(wanted)], np.uint32),
        np.array(wanted, np.uint32),
        weights,
        np.array([0.5, 2.0], np.float32),
        0,
        True,
    )
    queries = np.array([0, 2, 3, 0, 0, 2, 3, 1], np.int64)
    assert models.margins([words], queries, []).tolist() == [0.5, 2.0 + weights.sum()]


@pytest.mark.parametrize("learner", ["boosting", "logistic"])
def test_a_word_is_likelier_where_it_was_seen(learner: str) -> None:
    how = ContextTraining(learner=learner, min_occurrences=5)  # type: ignore[arg-type]
    classifiers = train_classifiers(index_corpus([TEXT]), ["tea", "book"], how, seed=1)
    drinking = ("we", "drink", "hot", "soup", "in", "the", "morning", ".")
    reading = ("she", "reads", "a", "long", "novel", "in", "the", "garden", ".")
    places = [(drinking, 3, 4, "tea"), (reading, 4, 5, "tea"), (reading, 4, 5, "book")]
    tea, misplaced, book = classifiers.log_odds(places)
    assert tea > 0 > misplaced
    assert book > 0
    assert np.isnan(classifiers.log_odds([(drinking, 3, 4, "soup")])[0])


def test_training_depends_on_seed_and_word_alone() -> None:
    index = index_corpus([TEXT])
    how = ContextTraining(min_occurrences=5)
    alone = train_classifier(index, "tea", how, seed=3)
    assert alone is not None
    together = train_classifiers(index, ["book", "tea"], how, seed=3)
    begin, end = together.begins[1:3]
    assert together.keys[begin:end].tolist() == alone.keys.tolist()
    assert train_classifier(index, "tea", ContextTraining(min_occurrences=13), seed=3) is None


def test_packing_keeps_weights_to_a_127th() -> None:
    model = train_classifier(
        index_corpus([TEXT]), "tea", ContextTraining(min_occurrences=5), seed=1
    )
    assert model is not None
    packed = joined_classifiers({"tea": model}, ContextTraining())
    restored = packed.weights * packed.steps[0]
    assert np.abs(restored - model.weights).max() <= packed.steps[0] / 2 + 1e-6
    again = ContextClassifiers.of_arrays(packed.words, packed.arrays())
    assert again.sharpness == 2.0
    assert again.keys.tolist() == packed.keys.tolist()


def test_an_index_finds_sentences_and_survives_saving(tmp_path: Path) -> None:
    index = index_corpus([["A cat sat.", "", "The dog sat."], ["Cats don't sit."]])
    assert index.places_of("sat").tolist() == [2, 6]
    assert index.sentences_of("sat") == [["a", "cat", "sat", "."], ["the", "dog", "sat", "."]]
    assert index.sentences_of("bird") == []
    index.save(tmp_path / "index.wpm")
    loaded = CorpusIndex.load(tmp_path / "index.wpm")
    assert loaded.sentences_of("don't") == [["cats", "don't", "sit", "."]]
    assert loaded.fingerprint == index.fingerprint


def test_a_corpus_without_words_has_no_index() -> None:
    with pytest.raises(InputError, match="no words to index"):
        index_corpus([["", " "]])


def test_classes_tell_where_words_are_unknown() -> None:
    # Neither "sip" nor "warm" occurs in the text: only their classes do. Stumps would take the words,
    # which come first among equals.
    index = index_corpus([TEXT])
    classes = {"hot": "warmth", "warm": "warmth", "drink": "drinking", "sip": "drinking"}
    how = ContextTraining(learner="logistic", min_occurrences=5)
    place = ("we", "sip", "warm", "soup", "with", "care"), 3, 4, "tea"
    blind = train_classifiers(index, ["tea"], how, seed=1).log_odds([place])
    seeing = train_classifiers(index, ["tea"], how, seed=1, classes=classes).log_odds([place])
    assert seeing[0] > blind[0]


def test_a_cache_is_added_to_and_belongs_to_its_index(tmp_path: Path) -> None:
    index = index_corpus([TEXT])
    how = ContextTraining(min_occurrences=5)
    cache = tmp_path / "cache.wpm"
    learned: list[int] = []
    first = learn_classifiers(index, ["tea"], how, seed=1, cache=cache, on_progress=learned.append)
    both = learn_classifiers(
        index, ["tea", "book"], how, seed=1, cache=cache, on_progress=learned.append
    )
    assert (first.words, both.words, len(learned)) == (["tea"], ["tea", "book"], 2)
    fresh = train_classifiers(index, ["tea", "book"], how, seed=1)
    assert both.weights.tolist() == fresh.weights.tolist()
    learn_classifiers(index, ["tea"], how, seed=2, cache=cache, on_progress=learned.append)
    assert len(learned) == 3
