"""The direction of a metric by its name."""

from __future__ import annotations

import pytest

from wellput.metrics.external import is_lower_better


@pytest.mark.parametrize(
    "name",
    [
        "TER", "hTER", "WER", "cer", "MetricX", "MetricX-24-Hybrid-XL", "metricx_23", "error_rate",
        "wordErrorRate", "word_perplexity", "PPL", "val_loss", "mean squared error", "RMSE",
        "MQM errors", "latency_ms", "total cost", "Bias", "Hallucination", "edit_distance",
    ],
)  # fmt: skip
def test_lower_is_better(name: str) -> None:
    assert is_lower_better(name)


@pytest.mark.parametrize(
    "name",
    [
        "COMET-22", "chrF", "BERTScore-F1", "term-accuracy", "criteria", "lossless", "error_detection",
        "cost-benefit", "terseness", "correct", "winner", "pass rate", "latent", "faithfulness",
        "METEOR", "",
    ],
)  # fmt: skip
def test_higher_is_better(name: str) -> None:
    assert not is_lower_better(name)
