"""What a further fragment costs: the probability of continuing after a tree, tuned on sentences.

A sentence of a treebank should come out as one fragment, two sentences after each other as two. The
two pull in opposite directions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.tree import Tree
from wellput.language.head_driven import HeadDrivenParser
from wellput.language.parsers import Parser

DEFAULT_CONTINUING = 0.01
TRIED = tuple(float(10.0**-power) for power in np.arange(0.3, 6.0, 0.1))
# The share of sentences that must stay whole: somewhat over the bar of 90 in 100. With fewer, no more
# of two glued ones come out as two.
WHOLE = 0.91
MOST_TUNED = 400


def tuned_continuing(
    arrays: Mapping[str, NDArray[Any]], guesser: Parser, dev: Sequence[Tree]
) -> float:
    """The greatest of the tried values that leaves enough single sentences whole; the least where
    none does."""
    sentences = [[word.form for word in tree.words] for tree in dev[:: len(dev) // MOST_TUNED + 1]]
    guesses = guesser.parse(sentences)
    for continuing in TRIED:
        parser = HeadDrivenParser(arrays, guesser, continuing=continuing)
        parsed = parser.parse(sentences, guesses=guesses)
        if np.mean([found.fragments == 1 for found in parsed]) >= WHOLE:
            return continuing
    return TRIED[-1]


def glued(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """Every sentence but the last with the next one after it."""
    return [[*first, *second] for first, second in pairwise(sentences)]
