"""Mixing n-gram models: the mixture's probabilities are the weighted means of the parts'."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.models.ngram_texts import next_probs, skewed
from wellput.language.models.english_steps import mixing_weights, mixture_of
from wellput.language.models.ngram_training import train

WORDS = ["the", "cat", "sat", "on", "a"]
texts = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=6
)


@given(texts, texts, st.floats(0.05, 0.95), st.integers(1, 4))
@settings(max_examples=40)
def test_a_mixture_has_the_mean_of_its_parts(
    one: list[str], other: list[str], weight: float, order: int
) -> None:
    whole = train([[*one, *other]], order=order).model
    known = whole.words[3:]
    trained = [train([part], order=order, known=known) for part in (one, other)]
    mixture, frequencies = mixture_of(whole, trained, np.array([weight, 1 - weight]))
    parts = [training.model for training in trained]
    if order > 1:
        # Words are shared by all: their frequencies mix one to one.
        means = weight * trained[0].frequencies[0] + (1 - weight) * trained[1].frequencies[0]
        np.testing.assert_allclose(frequencies[0], means)
    if order > 2:
        # As many pairs as words and ends, in one part as in the other.
        pairs = [sum(training.frequencies[1]) for training in trained]
        assert sum(frequencies[1]) == pytest.approx(weight * pairs[0] + (1 - weight) * pairs[1])
    for text in [*one, *other]:
        scored = zip(*(model.word_scores(text) for model in (*parts, mixture)), strict=True)
        for first, second, both in scored:  # all n-grams of the parts are in the mixture
            expected = weight * 10**first.log_prob + (1 - weight) * 10**second.log_prob
            assert 10**both.log_prob == pytest.approx(expected, rel=1e-4)
        assert sum(next_probs(mixture, text).values()) == pytest.approx(1, abs=1e-4)


def test_the_part_that_resembles_the_sample_weighs_more() -> None:
    one = skewed(200)
    other = [" ".join(reversed(text.split())).replace("w1", "w9") for text in skewed(200, seed=2)]
    known = train([[*one, *other]], order=2).model.words[3:]
    parts = [train([part], order=2, known=known).model for part in (one, other)]
    weights = mixing_weights(parts, skewed(50, seed=7))
    assert weights.sum() == pytest.approx(1)
    assert weights[0] > 0.8
    # A sample of words that both parts give the same probability leaves the weights alone.
    np.testing.assert_allclose(mixing_weights([parts[0], parts[0]], one[:5]), [0.5, 0.5])
