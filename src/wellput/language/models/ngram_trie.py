"""The n-grams of a model as nodes of a trie (ngram_trie.h in native/): pruning and renumbering.

The *parent* of a node is its n-gram without the first word: the model backs off to the parent where it
lacks the n-gram. The *context* is the n-gram without the last word; it has the back-off weight. A
node's *depth* is the length of its n-gram less one. Lists of nodes have an array for each n-gram
length; the array of single words is empty, because these have no parent and no context.

`pruned_model` leaves out n-grams that hardly change the model (Stolcke 1998, "Entropy-based pruning of
backoff language models"): those whose removal, after the context's back-off weight is recomputed,
raises the perplexity by a smaller share than a threshold. Contexts are weighted by their frequency in
the training text, because the lower-order probabilities of a Kneser-Ney model are not frequencies
(Chelba et al. 2010). An n-gram stays if it is the context or parent of a longer n-gram that stays, so
the model remains a trie. All single words stay.

`by_frequency` renumbers the words, the most probable first. The model is the same, but its compact
file is smaller, because most n-grams then have words with small numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.metric import Floats
from wellput.language.models.ngrams import (
    LEVEL_BEGINS,
    LEVEL_LOG_PROBS,
    LEVEL_WORDS,
    NgramModel,
)

Nodes: TypeAlias = NDArray[np.int64]


def parents(model: NgramModel) -> list[Nodes]:
    """For each n-gram length, the parent of every node."""
    nodes = [np.empty(0, np.int64)]
    for _, begins, _, _ in model.levels[:-1]:
        nodes.append(np.repeat(np.arange(len(begins) - 1), group_sizes(begins)))
    return nodes


def group_sizes(begins: NDArray[np.unsignedinteger[Any]]) -> Nodes:
    """The sizes of consecutive groups, from the places where they begin and the end of the last one."""
    ends = begins.astype(np.int64)
    return ends[1:] - ends[:-1]


def node_contexts(model: NgramModel) -> list[Nodes]:
    """For each n-gram length, the context of every node; every context must be in the model."""
    nodes = [np.empty(0, np.int64)]
    for depth, parent_nodes in enumerate(parents(model)[1:], 1):
        # The first words. For two words, the context is the first word, whose node has its number. The
        # context of longer n-grams is a child of their parent's context.
        words = model.levels[depth][LEVEL_WORDS].astype(np.int64)
        nodes.append(
            words if depth == 1 else find_children(model, depth - 1, nodes[-1][parent_nodes], words)
        )
    return nodes


def find_children(model: NgramModel, depth: int, parent_nodes: Nodes, words: Nodes) -> Nodes:
    """The numbers, among the nodes of `depth`, of the children of these parents that have these words
    as their first words; such children must exist."""
    begins = model.levels[depth - 1][LEVEL_BEGINS]
    parents_of_nodes = np.repeat(np.arange(len(begins) - 1), group_sizes(begins))
    keys = parents_of_nodes << 32 | model.levels[depth][LEVEL_WORDS].astype(np.int64)
    return np.searchsorted(keys, parent_nodes << 32 | words)


def backoffs(probs: Floats, shorter: Floats, contexts: Nodes, n_contexts: int) -> Floats:
    """The back-off weights (not logarithms) with which the probabilities in each context sum to one.

    `probs` has the probabilities of the n-grams of one length, `shorter` those of their parents, and
    `contexts` the numbers of their contexts. Contexts without n-grams have the weight one.
    """
    # The probability in each context that is left for words without an n-gram.
    left_over = 1 - np.bincount(contexts, probs, n_contexts)
    left_over_shorter = 1 - np.bincount(contexts, shorter, n_contexts)
    weights = np.ones(n_contexts)
    # If all words follow a context, no probability is left for backing off, except rounding
    # errors.
    np.divide(
        left_over,
        left_over_shorter,
        out=weights,
        where=(left_over > MIN_PROBABILITY) & (left_over_shorter > MIN_PROBABILITY),
    )
    return weights


# Smaller probabilities are taken for rounding errors.
MIN_PROBABILITY = 1e-9


Mask = NDArray[np.bool_]


def pruned_model(model: NgramModel, frequencies: Sequence[Floats], threshold: float) -> NgramModel:
    """The model without the n-grams whose removal raises perplexity by a smaller share than
    `threshold`; back-off weights are recomputed.

    `frequencies` are the relative frequencies of the n-grams in text, by length, without the longest.
    """
    parent_nodes, contexts = parents(model), node_contexts(model)
    probs = [np.power(10.0, level[LEVEL_LOG_PROBS].astype(np.float64)) for level in model.levels]
    weights = [np.zeros(0)] * model.order
    kept: list[Mask] = [np.ones(size, np.bool_) for size in model.sizes]
    needed = [np.zeros(size, np.bool_) for size in model.sizes]
    for depth in range(model.order - 1, 0, -1):
        shorter = probs[depth - 1][parent_nodes[depth]]
        losses = _losses(probs[depth], shorter, contexts[depth], frequencies[depth - 1])
        keep = kept[depth] = (np.expm1(losses) >= threshold) | needed[depth]
        needed[depth - 1][parent_nodes[depth][keep]] = True
        needed[depth - 1][contexts[depth][keep]] = True
        weights[depth - 1] = backoffs(
            probs[depth][keep], shorter[keep], contexts[depth][keep], len(needed[depth - 1])
        )
    return _with_kept(model, kept, weights)


def _losses(probs: Floats, shorter: Floats, contexts: Nodes, frequencies: Floats) -> Floats:
    """For each n-gram, how much the entropy of a word, in nats, grows if only this n-gram is left
    out."""
    n = len(frequencies)
    left_over = 1 - np.bincount(contexts, probs, n)[contexts]
    left_over_shorter = 1 - np.bincount(contexts, shorter, n)[contexts]
    left_over, left_over_shorter = (
        np.maximum(left_over, MIN_PROBABILITY),
        np.maximum(left_over_shorter, MIN_PROBABILITY),
    )
    # The log back-off weight of the context without the n-gram.
    weight = np.log((left_over + probs) / (left_over_shorter + shorter))
    loss_of_ngram = probs * (np.log(shorter) + weight - np.log(probs))
    loss_of_others = left_over * (weight - np.log(left_over / left_over_shorter))
    losses: Floats = -frequencies[contexts] * (loss_of_ngram + loss_of_others)
    return losses


def _with_kept(model: NgramModel, kept: Sequence[Mask], weights: Sequence[Floats]) -> NgramModel:
    """The model with only the kept nodes and with these back-off weights."""
    levels = []
    for depth, (words, begins, log_probs, _) in enumerate(model.levels):
        keep, is_last = kept[depth], depth + 1 == model.order
        if not is_last:
            # A node's kept children begin after all kept children of the nodes before it.
            before = np.concatenate([[0], np.cumsum(kept[depth + 1])])
            starts = before[begins[:-1].astype(np.int64)][keep]
            begins = np.append(starts, before[-1]).astype(np.uint32)
        logs = np.empty(0) if is_last else np.log10(weights[depth][keep])
        kept_words = words[keep] if depth else words
        levels.append((kept_words, begins, log_probs[keep], logs.astype(np.float32)))
    return NgramModel(model.vocabulary, tuple(levels))


N_SPECIAL_WORDS = 3
"""`<unk>`, `<s>` and `</s>` keep their numbers."""


def by_frequency(model: NgramModel) -> NgramModel:
    """The same model with the words numbered from the most to the least probable."""
    log_probs = model.levels[0][LEVEL_LOG_PROBS]
    by_probability = N_SPECIAL_WORDS + np.argsort(-log_probs[N_SPECIAL_WORDS:], kind="stable")
    # The old number of each new word, and the new number of each old word.
    old_numbers: Nodes = np.concatenate([np.arange(N_SPECIAL_WORDS), by_probability])
    new_numbers = np.empty_like(old_numbers)
    new_numbers[old_numbers] = np.arange(len(old_numbers))
    levels = []
    # For each node, its words from last to first, as in the trie.
    paths = np.arange(len(old_numbers))[:, None]
    for depth, (words, begins, logs, weights) in enumerate(model.levels):
        if depth:
            paths = np.column_stack([paths[parents(model)[depth]], words.astype(np.int64)])
        node_order = np.lexsort(new_numbers[paths].T[::-1])
        if depth:
            words = new_numbers[words][node_order].astype(words.dtype)
        if depth + 1 < model.order:
            begins = begins_of(group_sizes(begins)[node_order]).astype(begins.dtype)
            weights = weights[node_order]
        levels.append((words, begins, logs[node_order], weights))
    offsets, text, _ = model.vocabulary
    spellings = np.split(text, offsets[1:-1].astype(np.int64))
    new_text = np.concatenate([spellings[word] for word in old_numbers])
    new_offsets = begins_of(group_sizes(offsets)[old_numbers]).astype(offsets.dtype)
    slots = _native.word_slots(new_offsets, new_text)
    return NgramModel((new_offsets, new_text, slots), tuple(levels))


def begins_of(counts: NDArray[np.integer[Any]]) -> Nodes:
    """The places where consecutive groups of these sizes begin, and where the last group ends."""
    return np.concatenate([[0], np.cumsum(counts)])
