"""Perplexity as a metric."""

from __future__ import annotations

from pathlib import Path

import kenlm
import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.metrics.perplexity import Perplexity

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
