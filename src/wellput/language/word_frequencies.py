"""How probable words are taken alone, by an n-gram model's unigrams: what SLOR compares with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from wellput.core.metric import Floats
from wellput.language.ngrams import NgramModel

UNKNOWN = "<unk>"


def log_frequencies(model: NgramModel, sentences: Sequence[Sequence[str]]) -> tuple[Floats, Floats]:
    """By sentence the sum of its words' natural log probabilities, and the number of words.

    A word the model does not know has the probability of `<unk>`.
    """
    known = unigrams(model)
    unknown = known[UNKNOWN]
    sums = [math.fsum(known.get(word, unknown) for word in words) for words in sentences]
    return np.array(sums) * math.log(10), np.array([float(len(words)) for words in sentences])


@lru_cache(maxsize=4)
def unigrams(model: NgramModel) -> dict[str, float]:
    """Log10 probabilities by word."""
    return dict(zip(model.words, model.levels[0][2].tolist(), strict=True))
