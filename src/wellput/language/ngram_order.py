"""A model's words numbered anew, the most probable first.

A model trained here has them nearly so, one read from an ARPA file in the file's order, often the
alphabet's. The model is the same; its compact form is a fifth smaller, for the words that follow or
come before are then mostly small numbers.
"""

from __future__ import annotations

import numpy as np

from wellput import _native
from wellput.language.ngram_shape import Nodes, lengths, parents
from wellput.language.ngrams import NgramModel

SPECIAL = 3
"""`<unk>`, `<s>` and `</s>` keep their numbers."""


def by_frequency(model: NgramModel) -> NgramModel:
    log_probs = model.levels[0][2]
    chosen = SPECIAL + np.argsort(-log_probs[SPECIAL:], kind="stable")
    old: Nodes = np.concatenate([np.arange(SPECIAL), chosen])
    new = np.empty_like(old)
    new[old] = np.arange(len(old))
    levels = []
    # By node: its words from last to first, which is the order of the trie.
    paths = np.arange(len(old))[:, None]
    for depth, (words, begins, logs, weights) in enumerate(model.levels):
        if depth:
            paths = np.column_stack([paths[parents(model)[depth]], words.astype(np.int64)])
        order = np.lexsort(new[paths].T[::-1])
        if depth:
            words = new[words][order].astype(words.dtype)
        if depth + 1 < model.order:
            begins = _starts(lengths(begins)[order]).astype(begins.dtype)
            weights = weights[order]
        levels.append((words, begins, logs[order], weights))
    offsets, text, _ = model.vocabulary
    own = np.split(text, offsets[1:-1].astype(np.int64))
    new_text = np.concatenate([own[word] for word in old])
    new_offsets = _starts(lengths(offsets)[old]).astype(offsets.dtype)
    slots = _native.word_slots(new_offsets, new_text)
    return NgramModel((new_offsets, new_text, slots), tuple(levels))


def _starts(counts: Nodes) -> Nodes:
    return np.concatenate([[0], np.cumsum(counts)])
