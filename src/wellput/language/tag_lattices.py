"""Which function tags each word may have: the lattice that the head-driven chart works on.

A discriminative parser guesses one tag for each word, a tagger over function tags gives others; both
together miss few right tags, with two to four tags a word. The chart's probabilities are
summed over these tags alone. What the two think of a tag weighs in when the best tree is chosen,
not in the probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput import _native

# Tuned on EWT dev: how many tags a word has at most, how much less probable than the best they may
# be (a natural log), and what share of a tag's weight is the parser's.
MOST_TAGS = 6
MARGIN = 7.0
PARSER_SHARE = 0.5
# Parser and tagger think of one sentence: that a verb begins another is always possible, with this
# weight at least.
ROOT_WEIGHT = 0.2


@dataclass(frozen=True, slots=True)
class Lattices:
    """The tags that each word of some sentences may have, as the kernel takes them."""

    sentences: NDArray[np.int64]
    words: NDArray[np.int32]
    starts: NDArray[np.int64]
    tags: NDArray[np.int32]
    weights: NDArray[np.float32]


def tag_lattices(
    tagger: _native.TaggerModel,
    sharpness: float,
    sentences: Sequence[Sequence[str]],
    words: Sequence[int],
    guessed: Sequence[int],
    roots: Sequence[int],
    *,
    threads: int = 1,
) -> Lattices:
    """`words`, `guessed` and `roots` have the number of each word, of the tag that was guessed for it
    and of the one it would have as a root, -1 for none, all sentences after each other."""
    tags, logs = tagger.candidates(sentences, MOST_TAGS, sharpness, threads)
    weights = (1 - PARSER_SHARE) * np.exp(logs)
    guesses = np.array(guessed, np.int32)[:, None]
    same = tags == guesses
    # A guess that the tagger did not think of takes the place of its last choice.
    absent = ~same.any(axis=1) & (guesses[:, 0] >= 0)
    tags[absent, -1], weights[absent, -1] = guesses[absent, 0], 0.0
    same[absent, -1] = True
    weights += PARSER_SHARE * same
    tags, weights = _with_roots(tags, weights, np.array(roots, np.int32)[:, None])
    kept = weights >= weights.max(axis=1, initial=0.0, keepdims=True) * np.exp(-MARGIN)
    return Lattices(
        np.cumsum([0, *map(len, sentences)], dtype=np.int64),
        np.array(words, np.int32),
        np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64),
        tags[kept],
        weights[kept].astype(np.float32),
    )


def _with_roots(
    tags: NDArray[np.int32], weights: NDArray[np.float64], roots: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """A further column for roots that are not among the tags yet."""
    own = np.where((tags == roots).any(axis=1, keepdims=True) | (roots < 0), 0.0, ROOT_WEIGHT)
    return np.hstack([tags, roots]), np.hstack([weights, own])
