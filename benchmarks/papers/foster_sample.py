"""A sentence with the counts of Foster's (2008) sample, Tables 1 and 2: 23 nodes, 11 of them words.

The words are our own. The original has six displays of seven motions; of the majority's two nods one
lies on the original's nod with raised brows, of the weighted strategy's three displays one is exactly
right and one is a nod on that same node; nothing of the rules' is right. As the text says, only the
original's lean and the weighted strategy's turn are on inner nodes.
"""

from __future__ import annotations

from typing import Any

from wellput.core.evalset import EvalSet, Item

WORDS = ["though", "it", "is", "in", "a", "plain", "box", "the", "tea", "comes", "from-Assam"]

SCHEDULES: dict[str, dict[str, list[str]]] = {
    "original": {
        "w1": ["nd=d"],
        "w3": ["nd=d"],
        "w6": ["nd=d"],
        "w7": ["nd=d"],
        "w11": ["nd=d", "bw=u"],
        "n4": ["ln=l"],
    },
    "rule": {"w5": ["ln=l", "bw=d"], "w9": ["tn=r", "bw=u"]},
    "majority": {"w2": ["nd=d"], "w11": ["nd=d"]},
    "weighted": {"w1": ["nd=d"], "w11": ["nd=d"], "n9": ["tn=r"]},
}

# System: precision, recall, node accuracy, tokens, types, TTR as printed; F as the text defines it.
PRINTED = {
    "original": (1, 1, 1, 1, 6, 3, 0.5),
    "rule": (0, 0, 0, 0.65, 2, 2, 1),
    "majority": (0.50, 0.14, 0.22, 0.70, 2, 1, 0.5),
    "weighted": (0.67, 0.29, 0.40, 0.74, 3, 2, 0.67),
}
METRICS = ("precision", "recall", "f", "accuracy", "tokens", "types", "ttr")


def derivation() -> dict[str, Any]:
    """Twelve inner nodes: each of ten has a word and the next below it, the last two one word."""
    node: dict[str, Any] = {
        "id": "n11",
        "children": [{"id": "n12", "children": [{"id": "w11", "word": WORDS[10]}]}],
    }
    for place in range(10, 0, -1):
        word = {"id": f"w{place}", "word": WORDS[place - 1]}
        node = {"id": f"n{place}", "children": [word, node]}
    return node


def sample() -> EvalSet:
    return EvalSet([Item("1", SCHEDULES, derivation=derivation())])
