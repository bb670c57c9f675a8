"""The n-grams of a model as nodes of a trie (ngram_trie.h in native/): pruning and renumbering.

A node's parent is its n-gram without the first word: the model backs off to it. Its context is the
n-gram without the last word: the model backs off from there. Lists are by length; those of single
words are empty, because they have neither.

`pruned_model` leaves out n-grams that hardly change the model (Stolcke 1998, "Entropy-based pruning of
backoff language models"): those without which, after recomputing the context's back-off weight,
perplexity grows relatively by less than a threshold. Histories are weighted by their frequency in the
training text, because the lower-order probabilities of a Kneser-Ney model are not frequencies (Chelba
et al. 2010). An n-gram stays if a longer one that stays needs it as its context or parent, so the
model remains a trie. All words stay.

`by_frequency` renumbers the words, the most probable first. The model is the same, but its compact
form is a fifth smaller if it comes from an ARPA file, whose words are often in alphabetical order:
words in a row then mostly have small numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.metric import Floats
from wellput.language.models.ngrams import NgramModel

Nodes: TypeAlias = NDArray[np.int64]


def parents(model: NgramModel) -> list[Nodes]:
    """By length, the parent of every node."""
    nodes = [np.empty(0, np.int64)]
    for _, begins, _, _ in model.levels[:-1]:
        nodes.append(np.repeat(np.arange(len(begins) - 1), lengths(begins)))
    return nodes


def lengths(begins: NDArray[np.unsignedinteger[Any]]) -> Nodes:
    """The sizes of groups that stand in one row, from the places where they begin."""
    ends = begins.astype(np.int64)
    return ends[1:] - ends[:-1]


def node_contexts(model: NgramModel) -> list[Nodes]:
    """By length, the context of every node; every context must be in the model."""
    nodes = [np.empty(0, np.int64)]
    for depth, above in enumerate(parents(model)[1:], 1):
        words = model.levels[depth][0].astype(np.int64)
        nodes.append(words if depth == 1 else find(model, depth - 1, nodes[-1][above], words))
    return nodes


def find(model: NgramModel, depth: int, above: Nodes, words: Nodes) -> Nodes:
    """The numbers at `depth` of the children of nodes `above` with these words; they must exist."""
    begins = model.levels[depth - 1][1]
    own = np.repeat(np.arange(len(begins) - 1), lengths(begins))
    keys = own << 32 | model.levels[depth][0].astype(np.int64)
    return np.searchsorted(keys, above << 32 | words)


def backoffs(probs: Floats, shorter: Floats, contexts: Nodes, n_contexts: int) -> Floats:
    """The weights (not logarithms) with which each context's probabilities sum to one.

    `probs` are those of the n-grams of one length, `shorter` those of their parents. Contexts without
    n-grams have the weight one.
    """
    left = 1 - np.bincount(contexts, probs, n_contexts)
    left_shorter = 1 - np.bincount(contexts, shorter, n_contexts)
    weights = np.ones(n_contexts)
    # If all words follow a context, no probability is left to back off with, except rounding errors.
    np.divide(
        left,
        left_shorter,
        out=weights,
        where=(left > MIN_PROBABILITY) & (left_shorter > MIN_PROBABILITY),
    )
    return weights


MIN_PROBABILITY = 1e-9


Mask = NDArray[np.bool_]


def pruned_model(model: NgramModel, frequencies: Sequence[Floats], threshold: float) -> NgramModel:
    """The model without n-grams that matter less than `threshold`; probabilities sum to one again.

    `frequencies` are relative frequencies of the n-grams in text, by length, without the longest.
    """
    above, histories = parents(model), node_contexts(model)
    probs = [np.power(10.0, level[2].astype(np.float64)) for level in model.levels]
    weights = [np.zeros(0)] * model.order
    kept: list[Mask] = [np.ones(size, np.bool_) for size in model.sizes]
    needed = [np.zeros(size, np.bool_) for size in model.sizes]
    for depth in range(model.order - 1, 0, -1):
        shorter = probs[depth - 1][above[depth]]
        losses = _losses(probs[depth], shorter, histories[depth], frequencies[depth - 1])
        keep = kept[depth] = (np.expm1(losses) >= threshold) | needed[depth]
        needed[depth - 1][above[depth][keep]] = True
        needed[depth - 1][histories[depth][keep]] = True
        weights[depth - 1] = backoffs(
            probs[depth][keep], shorter[keep], histories[depth][keep], len(needed[depth - 1])
        )
    return _with_kept(model, kept, weights)


def _losses(probs: Floats, shorter: Floats, histories: Nodes, frequencies: Floats) -> Floats:
    """How much a word's entropy, in nats, grows if this one n-gram is left out."""
    n = len(frequencies)
    left = 1 - np.bincount(histories, probs, n)[histories]
    left_shorter = 1 - np.bincount(histories, shorter, n)[histories]
    left, left_shorter = (
        np.maximum(left, MIN_PROBABILITY),
        np.maximum(left_shorter, MIN_PROBABILITY),
    )
    weight = np.log((left + probs) / (left_shorter + shorter))
    own = probs * (np.log(shorter) + weight - np.log(probs))
    others = left * (weight - np.log(left / left_shorter))
    losses: Floats = -frequencies[histories] * (own + others)
    return losses


def _with_kept(model: NgramModel, kept: Sequence[Mask], weights: Sequence[Floats]) -> NgramModel:
    levels = []
    for depth, (words, begins, log_probs, _) in enumerate(model.levels):
        keep, is_last = kept[depth], depth + 1 == model.order
        if not is_last:
            # A node's kept children begin after all kept children of the nodes before it.
            before = np.concatenate([[0], np.cumsum(kept[depth + 1])])
            starts = before[begins[:-1].astype(np.int64)][keep]
            begins = np.append(starts, before[-1]).astype(np.uint32)
        logs = np.empty(0) if is_last else np.log10(weights[depth][keep])
        shown = words[keep] if depth else words
        levels.append((shown, begins, log_probs[keep], logs.astype(np.float32)))
    return NgramModel(model.vocabulary, tuple(levels))


SPECIAL_WORDS = 3
"""`<unk>`, `<s>` and `</s>` keep their numbers."""


def by_frequency(model: NgramModel) -> NgramModel:
    log_probs = model.levels[0][2]
    chosen = SPECIAL_WORDS + np.argsort(-log_probs[SPECIAL_WORDS:], kind="stable")
    old: Nodes = np.concatenate([np.arange(SPECIAL_WORDS), chosen])
    new = np.empty_like(old)
    new[old] = np.arange(len(old))
    levels = []
    # By node, its words from last to first, as in the trie.
    paths = np.arange(len(old))[:, None]
    for depth, (words, begins, logs, weights) in enumerate(model.levels):
        if depth:
            paths = np.column_stack([paths[parents(model)[depth]], words.astype(np.int64)])
        order = np.lexsort(new[paths].T[::-1])
        if depth:
            words = new[words][order].astype(words.dtype)
        if depth + 1 < model.order:
            begins = begins_of(lengths(begins)[order]).astype(begins.dtype)
            weights = weights[order]
        levels.append((words, begins, logs[order], weights))
    offsets, text, _ = model.vocabulary
    own = np.split(text, offsets[1:-1].astype(np.int64))
    new_text = np.concatenate([own[word] for word in old])
    new_offsets = begins_of(lengths(offsets)[old]).astype(offsets.dtype)
    slots = _native.word_slots(new_offsets, new_text)
    return NgramModel((new_offsets, new_text, slots), tuple(levels))


def begins_of(counts: NDArray[np.integer[Any]]) -> Nodes:
    """The places where groups of these sizes begin in one row, and where the last group ends."""
    return np.concatenate([[0], np.cumsum(counts)])
