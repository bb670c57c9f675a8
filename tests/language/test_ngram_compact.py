"""The compact form of n-gram models: what rounding does, and that packing loses nothing more."""

from __future__ import annotations

from pathlib import Path

import kenlm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.ngram_texts import next_probs, skewed
from wellput.core.errors import InputError
from wellput.language.ngram_compact import quantized
from wellput.language.ngram_files import load_model, save_model
from wellput.language.ngram_pruning import prune
from wellput.language.ngram_training import train

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
    model = quantized(prune(training.model, training.frequencies, 1e-6))
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
