"""A small order network with random weights, and the network in plain NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.language.realize.label_chooser import Label
from wellput.language.realize.order_network import (
    LABEL_KINDS,
    LABEL_SOURCES,
    N_ENDINGS,
    SHAPES,
    OrderNetwork,
    OrderVocabulary,
    TunedWeights,
    rounded_rows,
)
from wellput.language.realize.wording import WordingChooser

Floats = NDArray[np.float64]
VECTOR, STATE, HEADS, INNER, LAYERS, DECODER, QUERY = 4, 8, 2, 6, 2, 5, 3
VOCABULARY = OrderVocabulary(
    ("<unk>", "<s>", "</s>", "<num>", "<name>", "c", "##at", "##t", "the", "s", "?"),
    ("cat", "the"),
    ("DT", "NN", "VBD"),
    ("det", "nsubj", "obl"),
)


def small_network(seed: int = 1) -> OrderNetwork:
    rng = np.random.default_rng(seed)
    parts: dict[str, NDArray[Any]] = {}

    def put(name: str, rows: int, columns: int, *, has_bias: bool = False) -> None:
        # Not larger: rounded vectors would differ too much from plain ones.
        values = rng.normal(0, 1 / math.sqrt(columns), (rows, columns))
        bias = rng.normal(size=rows) if has_bias else None
        parts.update(rounded_rows(name, values, most=127, bias=bias))

    def put_normalization(name: str) -> None:
        parts[f"{name}.gain"] = rng.normal(1, 0.2, STATE).astype(np.float32)
        parts[f"{name}.bias"] = rng.normal(0, 0.2, STATE).astype(np.float32)

    words, categories = len(VOCABULARY.words) + 1, len(VOCABULARY.categories) + 1
    relations = len(VOCABULARY.relations) + 1
    sizes = (words, N_ENDINGS, len(SHAPES) * len(LABEL_SOURCES), categories, relations, relations)
    put("pieces", len(VOCABULARY.pieces), VECTOR)
    put("from_pieces", STATE, VECTOR)
    for number, size in enumerate((*sizes, 7, 7, 7)):
        put(f"table{number}", size, STATE)
    for number in range(LAYERS):
        name = f"layer{number}"
        put_normalization(f"{name}.before")
        put_normalization(f"{name}.between")
        put(f"{name}.attention", 3 * STATE, STATE, has_bias=True)
        put(f"{name}.joined", STATE, STATE, has_bias=True)
        put(f"{name}.inner", INNER, STATE, has_bias=True)
        put(f"{name}.outer", STATE, INNER, has_bias=True)
        parts[f"{name}.places"] = rng.normal(size=HEADS * 10).astype(np.float32)
    put_normalization("last")
    put("as_head", STATE, STATE, has_bias=True)
    put("context", DECODER, STATE, has_bias=True)
    put("query", QUERY, DECODER, has_bias=True)
    put("items", 3 * DECODER + 3 * QUERY, STATE)
    put("ends", DECODER + 2 * QUERY, STATE)
    parts["starts"] = rng.normal(size=2 * DECODER + QUERY).astype(np.float32)
    tuned = {kind: TunedWeights(1.0, 0.2) for kind in LABEL_KINDS}
    return OrderNetwork(VOCABULARY, parts, LAYERS, HEADS, tuned, WordingChooser({}))


class PlainNetwork:
    """The same network without rounding vectors. Trees stand in the right order; heads count from 1."""

    def __init__(self, network: OrderNetwork) -> None:
        self.network = network
        self.parts = network.parts

    def log_prob(
        self, forms: Sequence[str], labels: Sequence[Label], heads: Sequence[int]
    ) -> float:
        """Of the given order: the sum over all treelets and steps."""
        x = self.read(forms, labels, heads)
        n = len(heads)
        daughters = [[d for d in range(n) if heads[d] == h + 1] for h in range(n)]
        order = [heads.index(0)]
        for word in order:
            order += daughters[word]
        first, last = list(range(n)), list(range(n))
        total = 0.0
        for head in reversed(order):
            if not daughters[head]:
                continue
            items = sorted([head, *daughters[head]])
            total += self._treelet(x, head, items, first, last)
            first[head], last[head] = first[items[0]], last[items[-1]]
        return total

    def _treelet(
        self, x: Floats, head: int, items: Sequence[int], first: Sequence[int], last: Sequence[int]
    ) -> float:
        own = {
            item: self._times("items", self._times("as_head", x[item]) if item == head else x[item])
            for item in items
        }
        ends = {word: self._times("ends", x[word]) for word in range(len(x))}
        d, q = DECODER, QUERY
        starts = self.parts["starts"].astype(float)
        total, left = 0.0, list(items)
        for step, item in enumerate(items):
            state = self._times("context", x[head]) + sum(
                own[p][2 * d : 3 * d] for p in items[:step]
            )
            before = items[step - 1] if step else None
            state = state + (
                starts[:d] if before is None else own[before][:d] + ends[last[before]][:d]
            )
            state = state + (starts[d : 2 * d] if step < 2 else own[items[step - 2]][d : 2 * d])
            query = self._times("query", np.maximum(state, 0))
            query = query + sum(own[other][3 * d + q : 3 * d + 2 * q] for other in left)
            query = query + (
                starts[2 * d :]
                if before is None
                else own[before][3 * d : 3 * d + q] + ends[last[before]][d : d + q]
            )
            scores = {
                other: float(query @ (own[other][3 * d + 2 * q :] + ends[first[other]][d + q :]))
                for other in left
            }
            total += scores[item] - float(np.logaddexp.reduce(list(scores.values())))
            left.remove(item)
        return total

    def read(self, forms: Sequence[str], labels: Sequence[Label], heads: Sequence[int]) -> Floats:
        vocabulary = self.network.vocabulary
        n = len(forms)
        mothers = [head - 1 for head in heads]
        below = [self._below(mothers, word) for word in range(n)]
        x = np.zeros((n, STATE))
        for word in range(n):
            number, ending, shape, *pieces = vocabulary.of_form(forms[word])
            rows = [self._rows("pieces")[piece] for piece in pieces if piece >= 0]
            label = labels[word]
            depth, up = 0, word
            while mothers[up] >= 0:
                depth, up = depth + 1, mothers[up]
            numbers = (
                number, ending, shape, vocabulary.category(label.category),
                vocabulary.relation(label.relation), vocabulary.base_relation(label.relation),
                _class(mothers.count(word)), _class(below[word]), min(depth, 6),
            )  # fmt: skip
            x[word] = self._times("from_pieces", np.mean(rows, axis=0))
            x[word] += sum(self._rows(f"table{t}")[row] for t, row in enumerate(numbers))
        for layer in range(self.network.layers):
            x = self._layer(f"layer{layer}", x, mothers)
        return self._normal("last", x)

    def _layer(self, name: str, x: Floats, mothers: Sequence[int]) -> Floats:
        n, width = len(x), STATE // HEADS
        own = self._times(f"{name}.attention", self._normal(f"{name}.before", x))
        bias = self.parts[f"{name}.places"].reshape(HEADS, 10)
        seen = np.zeros_like(x)
        for head in range(HEADS):
            part = slice(head * width, (head + 1) * width)
            asked, keys, values = (own[:, k * STATE : (k + 1) * STATE][:, part] for k in range(3))
            scores = asked @ keys.T
            for i in range(n):
                scores[i] += [bias[head, _place(mothers, i, j)] for j in range(n)]
            shares = np.exp(scores - scores.max(1, keepdims=True))
            seen[:, part] = shares / shares.sum(1, keepdims=True) @ values
        x = x + self._times(f"{name}.joined", seen)
        inner = np.maximum(self._times(f"{name}.inner", self._normal(f"{name}.between", x)), 0)
        return x + self._times(f"{name}.outer", inner)

    def _rows(self, name: str) -> Floats:
        scales = self.parts[f"{name}.scales"].astype(float)
        return np.asarray(self.parts[f"{name}.steps"] * scales[:, None])

    def _times(self, name: str, vectors: Floats) -> Floats:
        found = vectors @ self._rows(name).T
        return np.asarray(found + self.parts.get(f"{name}.bias", 0.0))

    def _normal(self, name: str, x: Floats) -> Floats:
        centered = x - x.mean(1, keepdims=True)
        normal = centered / np.sqrt((centered**2).mean(1, keepdims=True) + 1e-5)
        return np.asarray(normal * self.parts[f"{name}.gain"] + self.parts[f"{name}.bias"])

    def _below(self, mothers: Sequence[int], word: int) -> int:
        return 1 + sum(self._below(mothers, d) for d, m in enumerate(mothers) if m == word)


def _class(number: int) -> int:
    return number if number <= 3 else 4 if number <= 5 else 5 if number <= 9 else 6


def _place(mothers: Sequence[int], i: int, j: int) -> int:
    """Itself, mother, daughter, sister, grandmother, granddaughter, aunt, niece, root, other."""

    def up(word: int, steps: int) -> int:
        for _ in range(steps):
            word = mothers[word] if word >= 0 else -1
        return word

    claims = (
        i == j, up(i, 1) == j, up(j, 1) == i, up(i, 1) == up(j, 1) >= 0, up(i, 2) == j,
        up(j, 2) == i, up(i, 2) == up(j, 1) >= 0, up(j, 2) == up(i, 1) >= 0, mothers[j] < 0, True,
    )  # fmt: skip
    return claims.index(True)


def is_close(found: float, wanted: float) -> bool:
    """Up to the rounding of vectors."""
    return math.isclose(found, wanted, rel_tol=5e-3, abs_tol=2e-2)
