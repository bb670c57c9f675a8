"""`fluency` joined with a network: by hand, and through the metric with a network made up here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics import fluency, perplexity
from wellput.metrics.fluency import Fluency, joined_scores


def log_probs(
    texts: Sequence[str], *, on_progress: Callable[[int], None] = lambda _: None
) -> tuple[Floats, Floats]:
    """A word is a piece with log probability −5, and −25 if it is `mat`."""
    sums = [sum(-25.0 if word == "mat" else -5.0 for word in text.split()) for text in texts]
    on_progress(len(texts))
    return np.array(sums), np.array([float(len(text.split())) for text in texts])


@pytest.fixture(autouse=True)
def network(monkeypatch: pytest.MonkeyPatch) -> None:
    made_up = SimpleNamespace(log_probs=log_probs, fingerprint="f" * 64)
    for module in (fluency, perplexity):
        monkeypatch.setattr(module, "causal_model", lambda path, device: made_up)


def test_penlp_by_hand() -> None:
    # Four pieces: −20 / (9 / 6)^.8; no piece, no value.
    found = fluency.penlp_of_texts(["a b c d", ""], "model")
    assert found[0] == pytest.approx(-20 / 1.5**0.8)
    assert np.isnan(found[1])


def test_both_by_hand() -> None:
    # One spread above the mean in both: .6 + .4 = 1, and 1 / (1 + exp(−.672 (1 + .62))).
    found = joined_scores(np.array([0.618 + 0.141, np.nan]), np.array([-32.8 + 8.56, -30.0]))
    assert found[0] == pytest.approx(1 / (1 + np.exp(-0.672 * 1.62)))
    assert np.isnan(found[1])


def test_the_network_changes_the_score_and_the_signature() -> None:
    texts = ["The cat sat on the mat.", "The cat sat on the mat mat mat.", "", "!!!"]
    batch = Batch.from_texts(texts, [()] * 4)
    plain, both = Fluency(), Fluency(neural="model")
    alone = plain.segment_score(plain.statistics(batch))
    joined = both.segment_score(both.statistics(batch))
    penlp = fluency.penlp_of_texts(texts[:2], "model")
    assert joined[:2] == pytest.approx(joined_scores(alone[:2], penlp))
    assert joined[2] == alone[2] == 0  # empty
    assert np.isnan(joined[3])
    assert both.signature() == f"{plain.signature()}|neural:ffffffffffff"
    assert both.name == "fluency:neural=model"
