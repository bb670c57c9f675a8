"""Perplexity as a metric."""

from __future__ import annotations

import math
from pathlib import Path

import kenlm
import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.language.models.ngram_files import load_model
from wellput.language.models.ngrams import unigrams
from wellput.metrics.perplexity import Perplexity
from wellput.metrics.registry import create

TINY = str(Path(__file__).parent / "tiny.arpa")
TEXTS = ["the cat sat on a mat .", "mat the", "", "a zebra sat ."]


def batch_of(texts: list[str]) -> Batch:
    return Batch.from_texts(texts, [()] * len(texts))


def test_segments_equal_kenlm() -> None:
    metric = Perplexity(model=TINY)
    statistics = metric.statistics(batch_of(TEXTS))
    other = kenlm.Model(TINY)
    np.testing.assert_allclose(
        metric.segment_score(statistics), [other.perplexity(text) for text in TEXTS], rtol=1e-4
    )
    # The corpus has one mean over all words: 8 + 3 + 1 + 5 of them.
    total = sum(other.score(text) for text in TEXTS)
    assert metric.score(statistics.sum(axis=0)) == pytest.approx(10 ** (-total / 17), rel=1e-4)
    assert metric.components(statistics)["unknown"].tolist() == [0, 0, 0, 1]


def test_case_and_tokens() -> None:
    plain = Perplexity(model=TINY).statistics(batch_of(["the cat ."]))
    folded = Perplexity(model=TINY, tokenize="13a", lowercase=True)
    np.testing.assert_array_equal(folded.statistics(batch_of(["The CAT."])), plain)
    assert folded.signature().endswith("|case:lc|tok:13a")


def test_without_a_model() -> None:
    metric = Perplexity()
    assert metric.signature() == "model:unset|case:mixed|tok:none"
    with pytest.raises(InputError, match="wellput train lm"):
        metric.statistics(batch_of(["a"]))


def test_measures_by_hand() -> None:
    # "mat the" and its end are three words: log P from kenlm, log10 → ln.
    other = kenlm.Model(TINY)
    total = other.score("mat the") * math.log(10)
    alone = sum(unigrams(load_model(TINY))[word] for word in ("mat", "the", "</s>")) * math.log(10)
    expected = {
        "measure=mean": total / 3,
        "measure=penalized": total / (8 / 6) ** 0.8,
        "measure=penalized,exponent=0": total,
        "measure=slor": (total - alone) / 3,
    }
    for options, value in expected.items():
        metric = create(f"perplexity:model={TINY},{options}")
        assert metric.higher_is_better
        statistics = metric.statistics(batch_of(["mat the", "the cat"]))
        segments = metric.segment_score(statistics)
        assert segments[0] == pytest.approx(value, rel=1e-5)
        # The corpus has the mean over outputs, unlike that of perplexity itself.
        assert metric.score(statistics.sum(axis=0)) == pytest.approx(segments.mean())
    assert (
        create(f"perplexity:model={TINY},measure=penalized").signature().count("exponent:0.8") == 1
    )


def test_unknown_words_have_a_frequency() -> None:
    metric = create(f"perplexity:model={TINY},measure=slor")
    scores = metric.segment_score(metric.statistics(batch_of(["a zebra sat .", ""])))
    assert np.isfinite(scores).all()
