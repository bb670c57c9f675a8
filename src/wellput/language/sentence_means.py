"""Features of texts from features of their sentences: what judges of single sentences need when an
output has several."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from wellput.core.metric import Floats
from wellput.text.english import sentences, treebank_words


def sentence_means(
    texts: Sequence[str],
    n_features: int,
    features_of: Callable[[list[str], list[tuple[str, ...]]], Floats],
) -> Floats:
    """(texts, features): the mean over a text's sentences; NaN for one without words.

    `features_of` gets each distinct sentence once, as text and as words, and gives a row for each.
    """
    split = [list(sentences(text)) for text in texts]
    words = {s: forms for own in split for s in own if (forms := treebank_words(s).forms)}
    means = np.full((len(texts), n_features), np.nan)
    if not words:
        return means
    rows = features_of(list(words), list(words.values()))
    numbers = {sentence: number for number, sentence in enumerate(words)}
    for place, own in enumerate(split):
        if kept := [numbers[sentence] for sentence in own if sentence in numbers]:
            means[place] = rows[kept].mean(axis=0)
    return means
