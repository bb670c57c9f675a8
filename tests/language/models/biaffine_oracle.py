"""The biaffine parser's network in NumPy, one sentence and one word after the other.

Every number is a 32-bit float or a whole number, in the order of the kernel's operations: both must
give the same digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.language.models.test_word_network import small as small_network
from wellput.core.tree import Tree, Word
from wellput.language.models.biaffine_parser import (
    MATRICES,
    ROOT_RELATION,
    SIDES,
    VECTORS,
    BiaffineParser,
    InputCoder,
    ParsedWord,
    WholeMatrix,
)
from wellput.language.models.word_analysis import WordAnalysis
from wellput.language.models.word_network import Pieces, WordNetwork

Singles = NDArray[np.float32]
STEPS_PER_UNIT, MOST_STEPS = 2048, 32767
VOCABULARY = ["the", "cat", "happy", "."]
TAGS = ["DT", "NN", "."]
CATEGORIES = ["DET", "NOUN"]
RELATIONS = ["det", "nsubj", "root", "punct"]
SIZES = {"words": 3, "affixes": 4, "tags": 2, "read": 5}
STATE, ARC, LABEL, AFFIXES = 9, 5, 3, 17
TREE = Tree((Word("The", 2, lemma="the", upos="DET", xpos="DT", relation="det"),
             Word("cat", 0, lemma="cat", upos="NOUN", xpos="NN", relation="root")))  # fmt: skip


def small_parser(seed: int = 1, reader: WordNetwork | None = None) -> BiaffineParser:
    """A parser with random weights. Its sizes are odd, so that padding is tested too."""
    rng = np.random.default_rng(seed)
    reader = reader or small_network()
    read = reader.vectors.steps.shape[1] + reader.states.steps.shape[1]
    width = sum(SIZES.values())
    shapes = {
        "words": (len(VOCABULARY) + 1, SIZES["words"]),
        "affixes": (AFFIXES, SIZES["affixes"]),
        "tags": (len(TAGS) + 1, SIZES["tags"]),
        "read": (SIZES["read"], read),
        "parts": (2 * ARC + 2 * LABEL + len(TAGS) + len(CATEGORIES), 2 * STATE),
        "arcs": (ARC, ARC),
        "labels": (len(RELATIONS) * LABEL, LABEL),
        "head_labels": (len(RELATIONS), LABEL),
        "dependent_labels": (len(RELATIONS), LABEL),
    }
    for name in SIDES:
        shapes[f"{name}.inputs"] = (4 * STATE, width if name.endswith("1") else 2 * STATE)
        shapes[f"{name}.states"] = (4 * STATE, STATE)
    tables = {
        name: WholeMatrix.rounded(
            rng.normal(size=shapes[name]),
            None if name in VECTORS else rng.normal(size=shapes[name][0]),
        )
        for name in (*VECTORS, *MATRICES)
    }
    arc, label = (rng.normal(size=size).astype(np.float32) for size in (ARC, LABEL))
    analysis = WordAnalysis.learn([TREE])
    return BiaffineParser(
        VOCABULARY, TAGS, CATEGORIES, RELATIONS, tables, (arc, label), analysis, reader
    )


class Oracle:
    def __init__(self, parser: BiaffineParser) -> None:
        self.parser = parser
        self.reader = parser.reader
        self.coder = InputCoder(
            parser.vocabulary, len(parser.tables["affixes"].scales), Pieces(parser.reader.pieces)
        )

    def parse(self, forms: Sequence[str], tags: Sequence[str]) -> list[ParsedWord]:
        parser = self.parser
        parts = self._parts(forms, tags)
        arc, label = (len(root) for root in parser.roots)
        cuts = np.cumsum([arc, arc, label, label, len(parser.tags)])
        *vectors, xpos, upos = np.split(parts, cuts, axis=1)
        heads, dependents, label_heads, label_dependents = (
            _steps(np.where(own < 0, np.float32(0.125) * own, own)) for own in vectors
        )
        wanted = _steps(self._multiply("arcs", dependents))
        arc_root, label_root = (_steps(root) for root in parser.roots)
        scores = wanted @ np.vstack([arc_root, heads]).T
        found = best_projective(scores)
        root = parser.relations.index(ROOT_RELATION)
        relations = []
        for word, head in enumerate(found):
            own, other = label_dependents[word], [label_root, *label_heads][head]
            asked = _steps(self._multiply("labels", own[None])[0]).reshape(-1, label)
            sums = (asked @ other).astype(np.float32)
            all_scores = sums * np.float32(1 / STEPS_PER_UNIT**2)
            all_scores = all_scores + self._multiply("head_labels", other[None])[0]
            all_scores = all_scores + self._multiply("dependent_labels", own[None])[0]
            all_scores[root] = -np.inf
            relations.append(root if head == 0 else int(all_scores.argmax()))
        return [
            ParsedWord(
                head,
                parser.relations[relation],
                parser.tags[int(xpos[word].argmax())],
                parser.categories[int(upos[word].argmax())],
            )
            for word, (head, relation) in enumerate(zip(found, relations, strict=True))
        ]

    def _parts(self, forms: Sequence[str], tags: Sequence[str]) -> Singles:
        tables = self.parser.tables
        coded = self.coder.coded(forms)
        states = self._read(coded.pieces)
        read = []
        for first, last in coded.spans:
            mean = _sum(self.reader.vectors, coded.pieces[first : last + 1])
            mean = mean / np.float32(last - first + 1)
            read.append(np.concatenate([_steps(mean), _steps(states[last])]))
        found = self._multiply("read", np.array(read))
        numbers = {tag: number for number, tag in enumerate(self.parser.tags)}
        rows = [
            np.concatenate(
                [
                    _sum(tables["words"], [word]),
                    _sum(tables["affixes"], affixes),
                    _sum(tables["tags"], [numbers.get(tag, len(numbers))]),
                    own,
                ]
            )
            for word, affixes, tag, own in zip(coded.words, coded.affixes, tags, found, strict=True)
        ]
        x = np.array(rows, np.float32)
        for layer in (1, 2):
            there = self._lstm(f"forward{layer}", _steps(x))
            back = self._lstm(f"backward{layer}", _steps(x)[::-1])[::-1]
            x = np.hstack([there, back])
        return self._multiply("parts", _steps(x))

    def _read(self, pieces: Sequence[int]) -> Singles:
        reader, size = self.reader, len(self.reader.states.scales) // 3
        state = np.zeros(size, np.float32)
        states = []
        for piece in pieces:
            sums = reader.inputs.steps.astype(np.int64) @ reader.vectors.steps[piece]
            given = sums.astype(np.float32) * reader.inputs.scales * reader.vectors.scales[piece]
            given = given + reader.input_bias
            kept = _times(reader.states, _steps(state)) + reader.state_bias
            reset = _sigmoid(given[:size] + kept[:size])
            update = _sigmoid(given[size : 2 * size] + kept[size : 2 * size])
            new = _tanh(given[2 * size :] + reset * kept[2 * size :])
            state = new + update * (state - new)
            states.append(state)
        return np.array(states)

    def _lstm(self, side: str, steps: NDArray[np.int64]) -> Singles:
        size = len(self.parser.tables[f"{side}.states"].scales) // 4
        state = cell = np.zeros(size, np.float32)
        states = []
        for given in self._multiply(f"{side}.inputs", steps):
            kept = self._multiply(f"{side}.states", _steps(state)[None])[0]
            into, forget, new, out = np.split(given + kept, 4)
            cell = _sigmoid(forget) * cell + _sigmoid(into) * _tanh(new)
            state = _sigmoid(out) * _tanh(cell)
            states.append(state)
        return np.array(states)

    def _multiply(self, name: str, steps: NDArray[np.int64]) -> Singles:
        own = self.parser.tables[name]
        return np.array([_times(own, row) + own.bias for row in steps])


def best_projective(scores: NDArray[np.int64]) -> list[int]:
    """The heads of the best projective tree with one root, by trying all."""
    n = len(scores)
    trees = (heads for heads in product(range(n + 1), repeat=n) if is_projective(heads))
    return list(max(trees, key=lambda heads: sum(scores[i, head] for i, head in enumerate(heads))))


def is_projective(heads: Sequence[int]) -> bool:
    """Whether heads make a tree with one root whose arcs do not cross."""
    if sum(head == 0 for head in heads) != 1:
        return False
    for number in range(1, len(heads) + 1):
        seen = {number}
        while heads[number - 1]:
            number = heads[number - 1]
            if number in seen:
                return False
            seen.add(number)
    arcs = [tuple(sorted((head, number))) for number, head in enumerate(heads, start=1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def _times(matrix: Any, steps: NDArray[Any]) -> Singles:
    sums = matrix.steps.astype(np.int64) @ steps.astype(np.int64)
    return np.asarray(sums.astype(np.float32) * matrix.scales * np.float32(1 / STEPS_PER_UNIT))


def _sum(vectors: Any, rows: Sequence[int]) -> Singles:
    found = np.zeros(vectors.steps.shape[1], np.float32)
    for row in rows:
        found = found + vectors.steps[row].astype(np.float32) * vectors.scales[row]
    return found


def _steps(values: Singles) -> NDArray[np.int64]:
    scaled = np.clip(values * np.float32(STEPS_PER_UNIT), -MOST_STEPS, MOST_STEPS)
    return np.asarray(np.rint(scaled), np.int64)


def _tanh(values: Singles) -> Singles:
    x = np.clip(values, np.float32(-7.9), np.float32(7.9))
    y = x * x
    above, below = np.float32(-2.76076847742355e-16), np.float32(1.19825839466702e-06)
    found = np.full_like(y, above)
    for weight in (
        2.00018790482477e-13,
        -8.60467152213735e-11,
        5.12229709037114e-08,
        1.48572235717979e-05,
        6.37261928875436e-04,
        4.89352455891786e-03,
    ):
        found = found * y + np.float32(weight)
    under = np.full_like(y, below)
    for weight in (1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03):
        under = under * y + np.float32(weight)
    return np.asarray(x * found / under)


def _sigmoid(values: Singles) -> Singles:
    return np.asarray(_tanh(values * np.float32(0.5)) * np.float32(0.5) + np.float32(0.5))
