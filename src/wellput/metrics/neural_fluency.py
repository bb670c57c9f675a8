"""`fluency:neural=FOLDER`: fluency together with a neural language model's length-penalized log
probability (PenLP of Lau et al. 2020, as `perplexity:measure=penalized` has it).

Each is put on one scale by its mean and spread over 320 sentences that we made: sentences of EWT's
development part, half of them with 1, 2, 3 or 5 mistakes of `language.degrade.errors`, under SmolLM2
with 135 million weights. No ratings of people were used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from wellput.core.metric import Floats
from wellput.metrics.base import ratio
from wellput.metrics.perplexity import causal_model

NEURAL_SHARE = 0.6
EXPONENT = 0.8
PENLP_MEAN, PENLP_SPREAD = -32.8, 8.56
FLUENCY_MEAN, FLUENCY_SPREAD = 0.618, 0.141
LOW_SUM, STEEPNESS = -0.62, 0.672
"""The curve gives 0.7 to the median real sentence of these, and 0.5 to one that is worse than 98 in
100."""


def with_network(
    fluency: Floats,
    texts: Sequence[str],
    path: str,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Floats:
    """Fluency scores and the network's, as one score from 0 to 1; NaN where there is no fluency."""
    return joined_scores(fluency, penalized(texts, path, on_progress))


def penalized(
    texts: Sequence[str], path: str, on_progress: Callable[[int], None] = lambda _: None
) -> Floats:
    """PenLP of each text; NaN for one without words."""
    sums, pieces = causal_model(path, "auto").log_probs(texts, on_progress=on_progress)
    return ratio(np.where(pieces > 0, sums, np.nan), ((5 + pieces) / 6) ** EXPONENT)


def joined_scores(fluency: Floats, penlp: Floats) -> Floats:
    """
    >>> round(float(joined_scores(np.array([0.618]), np.array([-32.8]))[0]), 3)  # both at their means
    0.603
    """
    network = (penlp - PENLP_MEAN) / PENLP_SPREAD
    own = (fluency - FLUENCY_MEAN) / FLUENCY_SPREAD
    sums = NEURAL_SHARE * network + (1 - NEURAL_SHARE) * own
    return np.asarray(1 / (1 + np.exp(-np.clip(STEEPNESS * (sums - LOW_SUM), -500, 500))))
