"""The compact form of n-gram models: what rounding does, and that packing loses nothing more."""

from __future__ import annotations

from pathlib import Path

import kenlm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.models.ngram_texts import next_probs, skewed
from wellput.core.errors import InputError
from wellput.language.models.ngram_files import load_model, quantized, save_model
from wellput.language.models.ngram_training import train
from wellput.language.models.ngram_trie import by_frequency, pruned_model

corpora = st.lists(st.text(max_size=20), min_size=1, max_size=8).filter(
    lambda texts: any(text.split() for text in texts)
)


@given(corpora, st.integers(1, 4))
@settings(max_examples=40)
def test_a_compact_file_gives_the_rounded_model_back(
    tmp_path_factory: pytest.TempPathFactory, corpus: list[str], order: int
) -> None:
    path = tmp_path_factory.mktemp("models") / "model.wlm"
    model = quantized(train([corpus], order=order).model)
    save_model(model, path, is_compact=True)
    loaded = load_model(path)
    assert loaded.fingerprint == model.fingerprint
    np.testing.assert_array_equal(loaded.vocabulary[2], model.vocabulary[2])
    np.testing.assert_array_equal(loaded.statistics(corpus), model.statistics(corpus))


def test_rounding_changes_little() -> None:
    model = train([skewed(3000)], order=3).model
    rounded = quantized(model)
    for depth, level in enumerate(rounded.levels):
        assert len(np.unique(level[2])) <= 256
        assert len(np.unique(level[3])) <= 256
        usual = level[2] > -90
        # A bin is a 254th of the range, and nobody is further from its mean than its width.
        span = np.ptp(model.levels[depth][2][usual])
        assert np.abs(level[2] - model.levels[depth][2]).max() <= span / 254 * 1.001
    assert rounded.levels[0][2][1] == -99  # <s>
    unseen = skewed(200, seed=9)
    assert rounded.perplexity(unseen) == pytest.approx(model.perplexity(unseen), rel=0.01)
    for context in unseen[:5]:
        assert sum(next_probs(rounded, context).values()) == pytest.approx(1, abs=0.02)


def test_it_is_small_and_kenlm_gives_its_arpa_the_same_scores(tmp_path: Path) -> None:
    training = train([skewed(3000)], order=3, min_count=2)
    model = quantized(pruned_model(training.model, training.frequencies, 1e-6))
    save_model(model, tmp_path / "model.wlm", is_compact=True)
    save_model(model, tmp_path / "mapped.wlm")
    small, mapped = ((tmp_path / name).stat().st_size for name in ("model.wlm", "mapped.wlm"))
    assert small < 0.35 * mapped
    save_model(load_model(tmp_path / "model.wlm"), tmp_path / "model.arpa")
    other = kenlm.Model(str(tmp_path / "model.arpa"))
    unseen = [*skewed(100, seed=3), "", "w1 never w2"]
    np.testing.assert_allclose(
        model.sentence_scores(unseen), [other.score(text) for text in unseen], atol=1e-4
    )


def test_a_damaged_compact_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.wlm"
    save_model(quantized(train([skewed(20)], order=3).model), path, is_compact=True)
    good = path.read_bytes()
    for bad in (good[:-1], good[:200], good[:100] + b"\xff" + good[101:], good + b"\x00"):
        path.write_bytes(bad)
        with pytest.raises(InputError, match="damaged"):
            load_model(path)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_words_numbered_by_frequency_are_the_same_model(tmp_path: Path, order: int) -> None:
    path = tmp_path / "model.arpa"
    save_model(train([skewed(300)], order=order).model, path)
    before, found, after = path.read_text("utf-8").partition("\\1-grams:\n")
    unigrams, blank, rest = after.partition("\n\n")
    path.write_text(
        before + found + "\n".join(sorted(unigrams.split("\n"), reverse=True)) + blank + rest,
        "utf-8",
    )
    model = load_model(path)
    again = by_frequency(model)
    assert again.words != model.words and again.words[:3] == model.words[:3]
    assert sorted(again.words) == sorted(model.words)
    assert (np.diff(again.levels[0][2][3:]) <= 0).all()
    texts = [*skewed(50, seed=9), *(" ".join(model.words[3:][place::7]) for place in range(7))]
    np.testing.assert_array_equal(again.statistics(texts), model.statistics(texts))
    np.testing.assert_array_equal(again.sentence_scores(texts), model.sentence_scores(texts))
    save_model(again, tmp_path / "again.wlm")
    assert load_model(tmp_path / "again.wlm").sizes == model.sizes
