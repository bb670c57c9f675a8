"""Taggers: training and tagging against an averaged perceptron in plain Python."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.models import perceptron_oracle as oracle
from wellput import _native
from wellput.core.errors import InputError
from wellput.io.model_files import save_model_file
from wellput.language.models.tagger import WEIGHTS_ARRAY, Tagger

SENTENCES = [
    (["The", "dog", "barks", "."], ["DT", "NN", "VBZ", "."]),
    (["The", "old", "dogs", "bark", "."], ["DT", "JJ", "NNS", "VBP", "."]),
    (["A", "cat", "sleeps", "."], ["DT", "NN", "VBZ", "."]),
    (["Cats", "sleep", "."], ["NNS", "VBP", "."]),
    (["The", "bark", "is", "old", "."], ["DT", "NN", "VBZ", "JJ", "."]),
] * 3

words = st.text(alphabet=st.sampled_from("abAB09-.é→😀\x00\u202e\ud800"), max_size=7)
sentences = st.lists(st.lists(words, max_size=5), max_size=6)


@given(
    sentences, st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(0, 3), st.data()
)
def test_the_kernel_learns_and_tags_as_the_oracle_does(
    texts: list[list[str]],
    classes: int,
    epochs: int,
    min_updates: int,
    seed: int,
    data: st.DataObject,
) -> None:
    tags = [[data.draw(st.integers(0, classes - 1)) for _ in text] for text in texts]
    flat = np.array([tag for own in tags for tag in own], np.int32)
    has_given = data.draw(st.booleans())
    given = [[data.draw(st.sampled_from("NV")) for _ in text if has_given] for text in texts]
    unit = 0.125  # a power of two: both sides round the same quotients
    found = _native.train_tagger(
        texts,
        flat,
        classes,
        epochs,
        min_updates,
        unit,
        seed,
        lambda _: None,
        given=given if has_given else (),
    )
    expected = oracle.train(
        texts, given, tags, classes=classes, epochs=epochs, min_updates=min_updates, seed=seed
    ).finished(unit)
    assert oracle.weights_in(found) == expected

    def decide(_: int, features: list[int]) -> int:
        scores = [sum(expected.get((key, c), 0) for key in features) for c in range(classes)]
        return scores.index(max(scores))

    model = _native.TaggerModel(found, classes)
    tagged = model.tag(texts, 1, given if has_given else ())[:, 0].tolist()
    walks = (oracle.walk(text, own, decide) for text, own in zip(texts, given, strict=True))
    assert tagged == [tag for walk in walks for tag in walk]


@given(
    st.lists(
        st.dictionaries(
            st.tuples(st.integers(0, 5), st.integers(0, 3)),
            st.integers(-9, 9).filter(bool),
            max_size=8,
        ),
        min_size=1,
        max_size=4,
    ),
    st.integers(0, 4),
)
def test_the_mean_of_models_is_that_of_their_weights(
    models: list[dict[tuple[int, int], int]], smallest: int
) -> None:
    found = _native.mean_weights([oracle.bytes_of(model) for model in models], 4, smallest)
    pairs = {pair for model in models for pair in model}
    means = {p: sum(model.get(p, 0) for model in models) / len(models) for p in pairs}
    expected = {p: oracle.rounded(m) for p, m in means.items() if abs(m) >= smallest}
    assert oracle.weights_in(found) == {p: weight for p, weight in expected.items() if weight}


def test_given_tags_must_run_along_the_words() -> None:
    tagger = Tagger.train(SENTENCES, min_updates=1)
    with pytest.raises(ValueError, match="given tag is needed"):
        tagger.tag([["The", "dog"]], given=[["x"]])


def test_given_tags_decide_where_words_do_not() -> None:
    words = [["a", "b"]] * 4
    given = [["x", "x"], ["x", "y"], ["y", "x"], ["y", "y"]]
    tags = [[tag.upper() for tag in own] for own in given]
    tagger = Tagger.train(list(zip(words, tags, strict=True)), given=given, min_updates=1)
    assert tagger.tag(words, given=given) == tags


def test_several_runs_make_one_model() -> None:
    single = [Tagger.train(SENTENCES, seed=seed).weights.tobytes() for seed in (7, 8)]
    both = Tagger.train(SENTENCES, seed=7, runs=2)
    assert both.weights.tobytes() == _native.mean_weights(single, len(both.tags), 0.0)


def test_small_weights_are_left_out() -> None:
    whole, kept = (
        oracle.weights_in(Tagger.train(SENTENCES, min_weight=min_weight).weights.tobytes())
        for min_weight in (0.0, 0.5)
    )
    # 0.5 is 10 units of 0.05.
    assert kept == {pair: weight for pair, weight in whole.items() if abs(weight) >= 10}
    assert 0 < len(kept) < len(whole)


def test_a_tagger_learns_its_sentences_and_guesses_new_words() -> None:
    tagger = Tagger.train(SENTENCES, min_updates=1)
    assert tagger.tag([words for words, _ in SENTENCES]) == [tags for _, tags in SENTENCES]
    assert tagger.tag([["The", "cat", "barks", "."]]) == [["DT", "NN", "VBZ", "."]]


def test_candidates_are_a_distribution_with_the_tag_first() -> None:
    tagger = Tagger.train(SENTENCES, min_updates=1, held_out=SENTENCES[:5])
    texts = [["The", "bark", "barks", "loudly", "."], []]
    found = tagger.candidates(texts, len(tagger.tags), threads=2)
    assert [[word[0].tag for word in sentence] for sentence in found] == tagger.tag(texts)
    for word in found[0]:
        assert math.fsum(math.exp(c.log_prob) for c in word) == pytest.approx(1)
        assert [c.log_prob for c in word] == sorted((c.log_prob for c in word), reverse=True)
    narrow = tagger.candidates(texts, 3, margin=2.0)
    assert narrow[0] == [
        [c for c in word[:3] if c.log_prob >= word[0].log_prob - 2.0] for word in found[0]
    ]


def test_sharper_where_held_out_sentences_are_tagged_right() -> None:
    right = Tagger.train(SENTENCES, min_updates=1, held_out=SENTENCES)
    wrong = [(words, tags[::-1]) for words, tags in SENTENCES]
    assert right.sharpness > Tagger.train(SENTENCES, min_updates=1, held_out=wrong).sharpness


def test_saved_and_loaded_it_is_the_same_and_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "a.wpm", tmp_path / "b.wpm"
    tagger = Tagger.train(SENTENCES)
    tagger.save(first, {"data": "five sentences"})
    Tagger.train(SENTENCES).save(second, {"data": "five sentences"})
    assert first.read_bytes() == second.read_bytes()
    loaded = Tagger.load(first)
    assert loaded.card == {"data": "five sentences"}
    assert loaded.fingerprint == tagger.fingerprint
    texts = [words for words, _ in SENTENCES]
    assert loaded.tag(texts) == tagger.tag(texts)


def test_a_damaged_tagger_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.wpm"
    arrays = {**Tagger.train(SENTENCES).arrays(), WEIGHTS_ARRAY: np.array([0x80], np.uint8)}
    save_model_file(path, "tagger", {}, arrays)
    with pytest.raises(InputError, match="damaged"):
        Tagger.load(path)


def test_without_words_there_is_nothing_to_learn() -> None:
    with pytest.raises(InputError, match="no tagged words"):
        Tagger.train([([], [])])


def test_any_text_is_tagged() -> None:
    tagger = Tagger.train(SENTENCES)
    strange = [[], [""], ["\x00"], ["a" * 1_000_000], ["שלום", "😀", "\ud800"], ["x"] * 500]
    tagged = tagger.tag(strange, threads=3)
    assert [len(tags) for tags in tagged] == [len(words) for words in strange]
    assert tagged == tagger.tag(strange)
