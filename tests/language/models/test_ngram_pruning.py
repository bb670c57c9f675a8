"""Pruned n-gram models: against sums over all words, against KenLM, and what stays of them."""

from __future__ import annotations

import math
from pathlib import Path

import kenlm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.models.ngram_texts import next_probs, skewed
from wellput.language.models.ngram_files import load_model, save_model
from wellput.language.models.ngram_training import train
from wellput.language.models.ngram_trie import pruned_model
from wellput.language.models.ngrams import NgramModel

WORDS = ["the", "cat", "sat", "on", "a", "mat", "<unk>", "Über"]
texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join), min_size=1)


def bigrams(model: NgramModel, folder: Path) -> set[str]:
    """As an ARPA file names them."""
    save_model(model, folder / "bigrams.arpa")
    section = (folder / "bigrams.arpa").read_text().split("\\2-grams:\n")[1].split("\n\n")[0]
    return {line.split("\t")[1] for line in section.split("\n") if line}


def test_frequencies_are_those_of_the_text() -> None:
    # a b | a a b: 5 words. Without the ends: a 3, b 2; two sentences begin and end.
    training = train([["a b", "a a b"]], order=3)
    words = training.model.words
    unigrams = dict(zip(words, (training.frequencies[0] * 5).round().tolist(), strict=True))
    assert unigrams == {"<unk>": 0, "<s>": 2, "</s>": 2, "a": 3, "b": 2}
    # Bigrams in the model's order, by last word: b </s> 2, <s> a 2, a a 1, a b 2.
    assert (training.frequencies[1] * 5).round().tolist() == [2, 2, 1, 2]


def test_a_bigram_goes_when_its_loss_costs_less_than_the_threshold(tmp_path: Path) -> None:
    # The cost from the definition: P(h) times the sum over all words of p ln(p / p'), where p' is the
    # model without the one bigram, whose mass is spread as the unigrams have it.
    sentences = [*["a b c"] * 5, "a c b", "b a", "c c a d"]
    training = train([sentences], order=2)
    model = training.model
    logs = zip(model.words, model.levels[0][2], strict=True)
    unigram = {word: 10 ** float(log) for word, log in logs}
    frequency = dict(zip(model.words, training.frequencies[0], strict=True))
    listed = bigrams(model, tmp_path)
    costs = {}
    for bigram in sorted(listed):
        history, word = bigram.split()
        before = next_probs(model, "" if history == "<s>" else history)
        explicit = {b.split()[1] for b in listed if b.split()[0] == history} - {word}
        left = 1 - sum(before[w] for w in explicit)
        left_shorter = 1 - sum(unigram[w] for w in explicit)
        after = {
            w: p if w in explicit else unigram[w] * left / left_shorter for w, p in before.items()
        }
        distance = sum(p * math.log(p / after[w]) for w, p in before.items())
        costs[bigram] = math.expm1(frequency[history] * distance)
    for threshold in (0.001, 0.01, 0.03):
        expected = {bigram for bigram, cost in costs.items() if cost >= threshold}
        assert bigrams(pruned_model(model, training.frequencies, threshold), tmp_path) == expected
    assert len(expected) < len(listed)


@given(texts, st.integers(2, 4), st.sampled_from([0.0, 0.001, 0.02, 1.0]), texts)
@settings(max_examples=40)
def test_probabilities_still_sum_to_one(
    corpus: list[str], order: int, threshold: float, contexts: list[str]
) -> None:
    training = train([corpus], order=order)
    model = pruned_model(training.model, training.frequencies, threshold)
    for context in contexts:
        assert sum(next_probs(model, context).values()) == pytest.approx(1, abs=1e-5)


def test_the_threshold_decides_how_much_stays() -> None:
    training = train([skewed(500)], order=3)
    model, frequencies = training.model, training.frequencies
    assert pruned_model(model, frequencies, 0).sizes == model.sizes
    np.testing.assert_allclose(
        pruned_model(model, frequencies, 0).sentence_scores(skewed(30, seed=5)),
        model.sentence_scores(skewed(30, seed=5)),
        rtol=1e-4,
    )
    sizes = [sum(pruned_model(model, frequencies, 10.0**-n).sizes) for n in range(7, 0, -1)]
    assert sizes == sorted(sizes, reverse=True)
    assert pruned_model(model, frequencies, 1).sizes == [model.sizes[0], 0, 0]


def test_kenlm_gives_a_pruned_model_the_same_scores(tmp_path: Path) -> None:
    training = train([skewed(800)], order=3, min_count=2)
    model = pruned_model(training.model, training.frequencies, 1e-5)
    assert 0 < model.sizes[2] < training.model.sizes[2] / 2
    save_model(model, tmp_path / "model.arpa")
    other = kenlm.Model(str(tmp_path / "model.arpa"))
    unseen = [*skewed(100, seed=3), "", "w1 never w2"]
    np.testing.assert_allclose(
        model.sentence_scores(unseen), [other.score(text) for text in unseen], atol=1e-4
    )
    assert load_model(tmp_path / "model.arpa").fingerprint == model.fingerprint
