"""p-values against sacreBLEU's PairedTest: the same statistics, other random draws.

sacreBLEU counts differences strictly larger than the observed one, we count ties too; with BLEU and
a corpus of this size ties do not happen.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from wellput.core.metric import Floats
from wellput.stats.resampling import approximate_randomization, bootstrap, paired_bootstrap

ITEMS = 150
NOISE = {"base": 0.30, "equal": 0.30, "close": 0.31, "worse": 0.33, "bad": 0.40}
OTHERS = ("equal", "close", "worse", "bad")


def corpus(noise: dict[str, float]) -> tuple[dict[str, list[str]], list[str]]:
    """References of made-up words; a system replaces words with the probability given for it."""
    rng = random.Random(5)
    words = [f"w{number}" for number in range(200)]
    references = [" ".join(rng.choices(words, k=rng.randint(8, 25))) for _ in range(ITEMS)]
    outputs = {
        system: [
            " ".join(rng.choice(words) if rng.random() < share else word for word in text.split())
            for text in references
        ]
        for system, share in noise.items()
    }
    return outputs, references


def bleu(statistics: Floats) -> Floats:
    """BLEU of sacreBLEU's statistics (lengths, correct 1-4, total 1-4), when no order is empty."""
    lengths, reference_lengths = statistics[..., 0], statistics[..., 1]
    precisions = statistics[..., 2:6] / statistics[..., 6:10]
    brevity = np.exp(np.minimum(0.0, 1.0 - reference_lengths / lengths))
    scores: Floats = 100 * brevity * np.exp(np.log(precisions).mean(axis=-1))
    return scores


def statistics_of(outputs: list[str], references: list[str]) -> Floats:
    extracted = BLEU()._extract_corpus_statistics(outputs, [references])
    return np.array(extracted, dtype=np.float64)


def sacrebleu_result(kind: str, n_samples: int) -> tuple[dict[str, Any], dict[str, Floats]]:
    outputs, references = corpus(NOISE)
    test = PairedTest(list(outputs.items()), {"BLEU": BLEU()}, [references], kind, n_samples)
    _, scores = test()
    results = dict(zip(outputs, scores["BLEU"], strict=True))
    return results, {name: statistics_of(texts, references) for name, texts in outputs.items()}


def monte_carlo_error(p: float, m: int) -> float:
    """Five standard errors of the difference of two shares of m, and one count more."""
    return 5 * float(np.sqrt(2 * p * (1 - p) / m)) + 1 / m


def test_randomization_agrees() -> None:
    results, statistics = sacrebleu_result("ar", 2000)
    seen = []
    for system in OTHERS:
        ours = approximate_randomization(
            statistics["base"], statistics[system], bleu, n_resamples=2000, seed=1
        )
        p = results[system].p_value
        assert ours.value == pytest.approx(results["base"].score - results[system].score, abs=1e-9)
        assert ours.p_value == pytest.approx(p, abs=monte_carlo_error(p, 2000))
        seen.append(p)
    assert max(seen) > 0.3 and min(seen) < 0.01  # the corpus covers the range of p


def test_bootstrap_agrees_by_sacrebleus_definition() -> None:
    results, statistics = sacrebleu_result("bs", 1000)
    for system in OTHERS:
        ours = paired_bootstrap(
            statistics["base"],
            statistics[system],
            bleu,
            n_resamples=1000,
            seed=1,
            null="sacrebleu",
        )
        p = results[system].p_value
        assert ours.p_value == pytest.approx(p, abs=monte_carlo_error(p, 1000))
        two_sided = paired_bootstrap(
            statistics["base"], statistics[system], bleu, n_resamples=1000, seed=1
        )
        # sacreBLEU drops the sign first and so counts one tail: never more than the two-sided p.
        assert two_sided.p_value is not None and ours.p_value is not None
        assert two_sided.p_value >= ours.p_value


def test_the_interval_is_as_wide_as_sacrebleus() -> None:
    results, statistics = sacrebleu_result("bs", 1000)
    for system, rows in statistics.items():
        ours = bootstrap(rows, bleu, n_resamples=1000, seed=1)
        assert ours.low is not None and ours.high is not None
        assert (ours.high - ours.low) / 2 == pytest.approx(results[system].ci, rel=0.15)
