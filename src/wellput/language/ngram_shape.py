"""How the n-grams of a model hang together, as numbers of nodes (native/ngram_trie.h).

A node's parent is its n-gram without the first word: what the model backs off to. Its context is the
n-gram without the last word: the model backs off from there. Lists are by length; those of single
words are empty, for they have neither.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.language.ngrams import NgramModel

Nodes: TypeAlias = NDArray[np.int64]


def parents(model: NgramModel) -> list[Nodes]:
    """By length, the parent of every node."""
    nodes = [np.empty(0, np.int64)]
    for _, begins, _, _ in model.levels[:-1]:
        nodes.append(np.repeat(np.arange(len(begins) - 1), lengths(begins)))
    return nodes


def lengths(begins: NDArray[np.unsignedinteger[Any]]) -> Nodes:
    """How many things lie between each beginning and the next."""
    ends = begins.astype(np.int64)
    return ends[1:] - ends[:-1]


def contexts(model: NgramModel) -> list[Nodes]:
    """By length, the context of every node; every context must be in the model."""
    nodes = [np.empty(0, np.int64)]
    for depth, above in enumerate(parents(model)[1:], 1):
        words = model.levels[depth][0].astype(np.int64)
        nodes.append(words if depth == 1 else find(model, depth - 1, nodes[-1][above], words))
    return nodes


def find(model: NgramModel, depth: int, above: Nodes, words: Nodes) -> Nodes:
    """The children of nodes `above` by their words, which must exist; numbers at `depth`."""
    begins = model.levels[depth - 1][1]
    own = np.repeat(np.arange(len(begins) - 1), lengths(begins))
    keys = own << 32 | model.levels[depth][0].astype(np.int64)
    return np.searchsorted(keys, above << 32 | words)


def backoffs(probs: Floats, shorter: Floats, contexts: Nodes, n_contexts: int) -> Floats:
    """The weights (not logarithms) with which each context's probabilities sum to one.

    `probs` are those of the n-grams of one length, `shorter` what they would be after their contexts
    without the first word. Contexts without n-grams have the weight one.
    """
    left = 1 - np.bincount(contexts, probs, n_contexts)
    left_shorter = 1 - np.bincount(contexts, shorter, n_contexts)
    weights = np.ones(n_contexts)
    # Where a context has all words there is nothing to back off to, only rounding errors.
    np.divide(left, left_shorter, out=weights, where=(left > TINY) & (left_shorter > TINY))
    return weights


TINY = 1e-9
