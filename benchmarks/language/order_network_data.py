"""Sentences for training the order network, as arrays: what each word is, and the right order of each
head and its daughters.

Trees of EWT get their labels in two ways: the right ones, and those of choosers that did not see the tree.
In some of them the punctuation hangs elsewhere. Trees of other texts come from the shipped parser.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import gutenberg, speeches
from benchmarks.language.english_text import sentences
from wellput.core.tree import Tree, Word
from wellput.language.models.sentence_parsing import SentenceParser
from wellput.language.models.word_network import WordNetwork
from wellput.language.realize.label_chooser import Label
from wellput.language.realize.order_network import OrderVocabulary
from wellput.language.shipped import NETWORK_FILE, shipped
from wellput.language.trees.supertags import category_of

Ints = NDArray[np.int64]

MIN_WORD_COUNT = 5
MOST_WORDS, MOST_ITEMS = 80, 24
LEAST_WORDS = 4
LABEL_COLUMNS = 3
"""Category, relation, relation without subtype."""
N_COUNTS, N_SIZES, N_DEPTHS = 7, 7, 7
N_PLACES = 10
"""Kinds of places that two words can have to each other in a tree."""


def vocabulary(trees: Sequence[Tree]) -> OrderVocabulary:
    """From trees of EWT whose ordinary first words are in lower case, with the pieces of the shipped
    network of words."""
    forms = Counter(word.form for tree in trees for word in tree.words)
    words = [form for form, count in forms.items() if count >= MIN_WORD_COUNT]
    categories = {c for tree in trees for w in tree.words for c in (w.xpos, w.upos)}
    relations = {w.relation for tree in trees for w in tree.words}
    relations |= {relation.partition(":")[0] for relation in relations}
    pieces = WordNetwork.load(shipped(NETWORK_FILE)).pieces
    return OrderVocabulary(
        pieces, tuple(sorted(words)), tuple(sorted(categories)), tuple(sorted(relations))
    )


@dataclass(frozen=True, eq=False)
class Structure:
    """A tree of words in their right order. `counts` has for each word the classes of its number of
    daughters, of the size of what depends on it, and of its depth. The treelets' items stand in a row
    in their right order: the item's word, the first and the last word of what belongs to it. `heads`
    has the head of each treelet."""

    counts: Ints
    places: NDArray[np.int8]
    sizes: Ints
    heads: Ints
    items: Ints


@dataclass(frozen=True, eq=False)
class Sentence:
    """`labels` has rows of (category, relation, base relation) for each word: the right ones, those
    with universal categories, and the chosen ones. `structures` are the tree as it is, and with its
    punctuation elsewhere."""

    forms: Ints
    labels: tuple[Ints, Ints, Ints]
    structures: tuple[Structure, ...]


def sentence_of(
    tree: Tree,
    chosen: Sequence[Label],
    vocab: OrderVocabulary,
    rng: np.random.Generator,
    variants: int,
) -> Sentence:
    def numbered(pairs: Sequence[tuple[str, str]]) -> Ints:
        return np.array(
            [(vocab.category(c), vocab.relation(r), vocab.base_relation(r)) for c, r in pairs],
            np.int64,
        )

    words = tree.words
    return Sentence(
        vocab.of_forms([word.form for word in words]).astype(np.int64),
        (
            numbered([(category_of(word), word.relation) for word in words]),
            numbered([(word.upos, word.relation) for word in words]),
            numbered([(label.category, label.relation) for label in chosen]),
        ),
        (
            structure_of(tree),
            *(structure_of(rehung(tree, rng)) for _ in range(variants)),
        ),
    )


def size_class(number: int) -> int:
    return number if number <= 3 else 4 if number <= 5 else 5 if number <= 9 else 6


def structure_of(tree: Tree) -> Structure:
    mothers = [word.head - 1 for word in tree.words]
    n = len(mothers)
    daughters: list[list[int]] = [[] for _ in range(n)]
    for word, mother in enumerate(mothers):
        if mother >= 0:
            daughters[mother].append(word)
    downwards = [mothers.index(-1)]
    for word in downwards:
        downwards += daughters[word]
    depths, sizes, first, last = [0] * n, [1] * n, list(range(n)), list(range(n))
    for word in downwards[1:]:
        depths[word] = depths[mothers[word]] + 1
    treelet_sizes, heads, rows = [], [], []
    for word in reversed(downwards):
        if not daughters[word]:
            continue
        items = sorted([word, *daughters[word]])
        ends = [(item, first[item], last[item]) for item in items]
        if len(items) <= MOST_ITEMS:
            treelet_sizes.append(len(items))
            heads.append(word)
            rows += ends
        first[word], last[word] = ends[0][1], ends[-1][2]
        sizes[word] += sum(sizes[daughter] for daughter in daughters[word])
    counts = [
        (size_class(len(daughters[word])), size_class(sizes[word]), min(depths[word], N_DEPTHS - 1))
        for word in range(n)
    ]
    return Structure(
        np.array(counts, np.int64),
        places_of(np.array(mothers)),
        np.array(treelet_sizes, np.int64),
        np.array(heads, np.int64),
        np.array(rows, np.int64).reshape(-1, 3),
    )


def places_of(mothers: NDArray[np.int64]) -> NDArray[np.int8]:
    """For each word and each other one: 0 itself, 1 its mother, 2 daughter, 3 sister, 4 grandmother,
    5 granddaughter, 6 aunt, 7 niece, 8 the root, 9 any other."""
    n = len(mothers)
    up = np.zeros((n, n), bool)
    inside = np.flatnonzero(mothers >= 0)
    up[inside, mothers[inside]] = True
    grand = np.zeros((n, n), bool)
    deep = inside[mothers[mothers[inside]] >= 0]
    grand[deep, mothers[mothers[deep]]] = True
    sisters = (mothers[:, None] == mothers[None, :]) & (mothers[:, None] >= 0)
    aunts = np.zeros((n, n), bool)
    aunts[inside] = sisters[mothers[inside]]
    found = np.full((n, n), N_PLACES - 1, np.int8)
    found[:, np.flatnonzero(mothers < 0)[0]] = 8
    for number, which in ((7, aunts.T), (6, aunts), (5, grand.T), (4, grand), (3, sisters)):
        found[which] = number
    found[up] = 1
    found[up.T] = 2
    np.fill_diagonal(found, 0)
    return found


def rehung(tree: Tree, rng: np.random.Generator) -> Tree:
    """The tree with its punctuation hung anew, without crossing arcs: all on their left or right
    neighbor, as high as possible, or each one at random."""
    style = int(rng.integers(4))
    words = list(tree.words)
    for place, word in enumerate(words):
        if word.relation != "punct" or any(other.head == place + 1 for other in words):
            continue
        chains = _possible_heads(words, place)
        if not chains:
            continue
        if style == 0:
            head = chains[0][0]
        elif style == 1:
            head = chains[-1][0]
        elif style == 2:
            head = chains[0][-1]
        else:
            both = list(dict.fromkeys([*chains[0], *chains[-1]]))
            head = both[int(rng.integers(len(both)))]
        words[place] = replace(word, head=head + 1)
    return replace(tree, words=tuple(words))


def _possible_heads(words: Sequence[Word], mark: int) -> list[list[int]]:
    """The words a mark can hang on: its neighbors on both sides and those above them, up to the one
    that is above both. Anything higher would cross an arc."""
    sides = [side for side in (mark - 1, mark + 1) if 0 <= side < len(words)]
    chains = [_ancestors(words, side) for side in sides]
    if len(chains) == 2:
        common = next(word for word in chains[0] if word in chains[1])
        chains = [chain[: chain.index(common) + 1] for chain in chains]
    kept = [
        [word for word in chain if word != mark and words[word].relation != "punct"]
        for chain in chains
    ]
    return [chain for chain in kept if chain]


def _ancestors(words: Sequence[Word], word: int) -> list[int]:
    """A word and all above it."""
    found = [word]
    while words[word].head:
        word = words[word].head - 1
        found.append(word)
    return found


def parsed_trees(most: int, rng: np.random.Generator) -> Iterator[Tree]:
    """Trees of sentences from Gutenberg's books and State of the Union speeches, by the shipped parser."""
    texts = [
        line
        for source in (
            (text.decode("utf-8", "replace") for _, text in gutenberg()),
            (text for _, text in speeches()),
        )
        for text in source
        for line in sentences(text)
        if 15 <= len(line) <= 220 and line[-1] in ".!?"
    ]
    parser = SentenceParser.load("english", is_weighed=False)
    drawn = rng.permutation(len(texts))
    for begin in range(0, len(drawn), 5000):
        trees = parser.trees([texts[place] for place in drawn[begin : begin + 5000]], threads=1)
        for tree in trees:
            if LEAST_WORDS <= len(tree.words) <= MOST_WORDS // 2:
                yield tree
                most -= 1
                if not most:
                    return


def first(trees: Iterator[Tree], most: int) -> list[Tree]:
    return list(islice(trees, most))
