"""What the parser of English learns from (`parser_training.py`): sentences as the network sees them, in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.catalog import ATIS_TRAIN
from benchmarks.data import data_path, ewt
from wellput.core.tree import Tree
from wellput.io import read_trees
from wellput.language.models.biaffine_parser import InputCoder, plain_form
from wellput.language.models.parser_training import FOLD_EPOCHS, TAGGING_FOLDS
from wellput.language.models.tagger import Tagger
from wellput.language.models.word_network import STATE_STEPS, Pieces, WordNetwork
from wellput.language.shipped import NETWORK_FILE, TAGGER_FILE, shipped

MIN_WORD_COUNT = 3
AFFIXES = 4096
BATCH_WORDS = 1000
ATIS_SHARE = 0.15
VARIANT_SHARES = (0.79, 0.1, 0.06, 0.05)
"""How often a sentence is read as it is; in lower case without final punctuation; without final punctuation; in lower
case."""


@dataclass(frozen=True, eq=False)
class Example:
    """What the network sees of a sentence, and its tree."""

    words: NDArray[np.int64]
    affixes: NDArray[np.int64]
    tags: NDArray[np.int64]
    read: NDArray[np.float16]
    heads: NDArray[np.int64]
    labels: NDArray[np.int64]
    gold_tags: NDArray[np.int64]
    categories: NDArray[np.int64]


@dataclass(frozen=True)
class Inventory:
    vocabulary: list[str]
    tags: list[str]
    relations: list[str]
    categories: list[str]


def variants(tree: Tree) -> list[Tree]:
    """The tree as it is, and in the other three ways."""
    words = tree.words
    last = words[-1]
    has_mark = (
        len(words) > 2
        and last.upos == "PUNCT"
        and last.head != 0
        and all(word.head != len(words) for word in words)
    )
    bare = words[:-1] if has_mark else words
    return [
        Tree(words),
        Tree(tuple(replace(word, form=word.form.lower()) for word in bare)),
        Tree(bare),
        Tree(tuple(replace(word, form=word.form.lower()) for word in words)),
    ]


def forms_of(tree: Tree) -> list[str]:
    return [word.form for word in tree.words]


def jackknifed(groups: Sequence[Sequence[Tree]], seed: int) -> list[list[list[str]]]:
    """For each sentence the tags of each of its variants, by a tagger trained on other sentences."""
    found: list[list[list[str]]] = [[] for _ in groups]
    for fold in range(TAGGING_FOLDS):
        rest = [own[0] for place, own in enumerate(groups) if place % TAGGING_FOLDS != fold]
        tagger = Tagger.train(
            [(forms_of(tree), [word.xpos for word in tree.words]) for tree in rest],
            epochs=FOLD_EPOCHS,
            seed=seed,
        )
        places = range(fold, len(groups), TAGGING_FOLDS)
        for variant in range(len(groups[0])):
            tagged = tagger.tag([forms_of(groups[place][variant]) for place in places])
            for place, tags in zip(places, tagged, strict=True):
                found[place].append(tags)
    return found


class Reader:
    """The small language model: mean vector of a word's pieces, and the state after them."""

    def __init__(self, network: WordNetwork) -> None:
        def whole(matrix: Any) -> Tensor:
            return torch.tensor(matrix.numbers * matrix.scales[:, None])

        self.size = len(network.states.scales) // 3
        self.vectors = whole(network.vectors)
        self.gates = self.vectors @ whole(network.inputs).T + torch.tensor(network.input_bias)
        self.states = whole(network.states).T.contiguous()
        self.bias = torch.tensor(network.state_bias)

    def read(self, pieces: Sequence[Sequence[int]], spans: Sequence[Any]) -> list[NDArray[Any]]:
        order = sorted(range(len(pieces)), key=lambda place: len(pieces[place]))
        found: list[NDArray[Any]] = [np.empty(0)] * len(pieces)
        for begin in range(0, len(order), 256):
            block = order[begin : begin + 256]
            width = max(len(pieces[place]) for place in block)
            table = torch.zeros(len(block), width, dtype=torch.int64)
            for row, place in enumerate(block):
                table[row, : len(pieces[place])] = torch.tensor(pieces[place])
            with torch.no_grad():
                states, vectors = self._states(table), self.vectors[table]
            for row, place in enumerate(block):
                found[place] = np.array(
                    [
                        torch.cat([vectors[row, a : b + 1].mean(0), states[row, b]]).numpy()
                        for a, b in spans[place]
                    ],
                    np.float16,
                )
        return found

    def _states(self, table: Tensor) -> Tensor:
        size = self.size
        state = torch.zeros(len(table), size)
        rows = []
        for step in range(table.shape[1]):
            given = self.gates[table[:, step]]
            kept = torch.round(state * STATE_STEPS) / STATE_STEPS @ self.states + self.bias
            reset, update = torch.sigmoid(given + kept)[:, : 2 * size].split(size, 1)
            new = torch.tanh(given[:, 2 * size :] + reset * kept[:, 2 * size :])
            state = new + update * (state - new)
            rows.append(state)
        return torch.stack(rows, 1)


def examples(
    trees: Sequence[Tree],
    tags: Sequence[Sequence[str]],
    inventory: Inventory,
    coder: InputCoder,
    reader: Reader,
) -> list[Example]:
    relations = {name: place for place, name in enumerate(inventory.relations)}
    tag_numbers = {name: place for place, name in enumerate(inventory.tags)}
    categories = {name: place for place, name in enumerate(inventory.categories)}
    coded = [coder.coded(forms_of(tree)) for tree in trees]
    read = reader.read([own.pieces for own in coded], [own.spans for own in coded])
    return [
        Example(
            np.array(own.words),
            np.array(own.affixes),
            np.array([tag_numbers.get(tag, 0) for tag in its_tags]),
            states,
            np.array([word.head for word in tree.words]),
            np.array([relations.get(word.relation, -100) for word in tree.words]),
            np.array([tag_numbers.get(word.xpos, -100) for word in tree.words]),
            np.array([categories.get(word.upos, -100) for word in tree.words]),
        )
        for tree, its_tags, own, states in zip(trees, tags, coded, read, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class Batch:
    words: Tensor
    affixes: Tensor
    tags: Tensor
    read: Tensor
    heads: Tensor
    labels: Tensor
    gold_tags: Tensor
    categories: Tensor
    lengths: Tensor
    is_word: Tensor
    flipped: Tensor


def batch_of(sentences: Sequence[Example]) -> Batch:
    lengths = torch.tensor([len(own.words) for own in sentences])
    width = int(lengths.max())

    def table(rows: Sequence[NDArray[Any]], filler: float, kind: Any) -> Tensor:
        out = np.full((len(rows), width, *rows[0].shape[1:]), filler, kind)
        for place, row in enumerate(rows):
            out[place, : len(row)] = row
        return torch.from_numpy(out)

    steps = torch.arange(width)
    is_word = steps < lengths[:, None]
    return Batch(
        table([own.words for own in sentences], 0, np.int64),
        table([own.affixes for own in sentences], 0, np.int64),
        table([own.tags for own in sentences], 0, np.int64),
        table([own.read for own in sentences], 0, np.float32),
        table([own.heads for own in sentences], -100, np.int64),
        table([own.labels for own in sentences], -100, np.int64),
        table([own.gold_tags for own in sentences], -100, np.int64),
        table([own.categories for own in sentences], -100, np.int64),
        lengths,
        is_word,
        torch.where(is_word, lengths[:, None] - 1 - steps, steps),
    )


def batches(sentences: Sequence[Example], rng: np.random.Generator) -> Iterator[Batch]:
    """Sentences of similar length together, in random order."""
    lengths = np.array([len(own.words) for own in sentences])
    order = np.argsort(lengths * (1 + 0.15 * rng.random(len(sentences))), kind="stable")
    cuts, begin = [], 0
    while begin < len(order):
        end, words = begin, 0
        while end < len(order) and words < BATCH_WORDS:
            words += int(lengths[order[end]])
            end += 1
        cuts.append(order[begin:end])
        begin = end
    for place in rng.permutation(len(cuts)):
        yield batch_of([sentences[row] for row in cuts[place]])


@dataclass(frozen=True, eq=False)
class Material:
    """EWT train, each sentence in all its variants; ATIS train; EWT dev."""

    inventory: Inventory
    groups: list[tuple[Example, ...]]
    others: list[Example]
    dev: list[Example]

    @property
    def read_size(self) -> int:
        """The size of what the small language model gives."""
        return int(self.dev[0].read.shape[1])

    def drawn(self, rng: np.random.Generator) -> list[Example]:
        """The sentences of one pass."""
        drawn = rng.choice(len(VARIANT_SHARES), len(self.groups), p=VARIANT_SHARES)
        own = [group[which] for group, which in zip(self.groups, drawn, strict=True)]
        extra = rng.permutation(len(self.others))[: int(ATIS_SHARE * len(self.others))]
        return own + [self.others[place] for place in extra]


def prepared(seed: int) -> Material:
    trees = [tree for tree in ewt("train") if tree.words]
    words = [word for tree in trees for word in tree.words]
    counts = Counter(plain_form(word.form) for word in words)
    inventory = Inventory(
        sorted(form for form, count in counts.items() if count >= MIN_WORD_COUNT),
        sorted({word.xpos for word in words}),
        sorted({word.relation for word in words}),
        sorted({word.upos for word in words}),
    )
    network = WordNetwork.load(shipped(NETWORK_FILE))
    coder = InputCoder(inventory.vocabulary, AFFIXES, Pieces(network.pieces))
    reader = Reader(network)
    tagger = Tagger.load(shipped(TAGGER_FILE))

    def coded(some: Sequence[Tree], tags: Sequence[Sequence[str]]) -> list[Example]:
        return examples(some, tags, inventory, coder, reader)

    def tagged(some: Sequence[Tree]) -> list[Example]:
        return coded(some, tagger.tag([forms_of(tree) for tree in some]))

    groups = [variants(tree) for tree in trees]
    tags = jackknifed(groups, seed)
    by_variant = [
        coded([own[which] for own in groups], [own[which] for own in tags])
        for which in range(len(VARIANT_SHARES))
    ]
    atis = list(read_trees(data_path(ATIS_TRAIN)))
    return Material(
        inventory, list(zip(*by_variant, strict=True)), tagged(atis), tagged(ewt("dev"))
    )
