"""Small corpora for tests of n-gram models, and sums over everything a model may say next."""

from __future__ import annotations

import random

from wellput.language.models.ngrams import NgramModel


def skewed(n: int, seed: int = 1) -> list[str]:
    """Sentences whose words are as unequally frequent as in real text."""
    rng = random.Random(seed)
    words = [f"w{i}" for i in range(200)]
    weights = [1 / (i + 1) for i in range(200)]
    return [" ".join(rng.choices(words, weights, k=rng.randint(1, 12))) for _ in range(n)]


def next_probs(model: NgramModel, context: str) -> dict[str, float]:
    """The probability of every word after a sentence's beginning, by word."""
    at = len(context.split())
    probs = {
        word: 10 ** model.word_scores(f"{context} {word}")[at].log_prob
        for word in ["<unk>", *model.words[3:]]
    }
    return {**probs, "</s>": 10 ** model.word_scores(context)[-1].log_prob}
