"""The sentences that order networks are trained on, as arrays in a file:

    python -m benchmarks order-network-sentences -o sentences.npz [--written SENTENCES.txt.gz]

Trees of EWT get their labels in two ways: the right ones, and those of choosers that did not see the tree.
In some of them the punctuation hangs elsewhere. Trees of other texts come from the shipped parser.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import ewt, gutenberg, speeches
from benchmarks.language.english_text import sentences
from benchmarks.language.order_network_sizes import N_CLASSES, N_SHAPES
from wellput.core.tree import Tree, Word
from wellput.language.models.sentence_parsing import SentenceParser
from wellput.language.models.word_network import WordNetwork
from wellput.language.realize.label_chooser import Forest, Label, LabelChooser, jackknifed_labels
from wellput.language.realize.learned_realizer import LearnedRealizer
from wellput.language.realize.order_network import LABEL_SOURCES, N_ENDINGS, OrderVocabulary
from wellput.language.realize.parameters import Capitals, learn_capitals
from wellput.language.realize.training import CHOOSER_TRAINING
from wellput.language.shipped import LEARNED_REALIZER_FILE, NETWORK_FILE, shipped
from wellput.language.trees.supertags import category_of

MIN_WORD_COUNT = 5
MOST_WORDS = 80
LEAST_WORDS = 4
VECTOR = 96
VARIANTS = 3
"""Each tree is used this many times with its punctuation attached elsewhere."""
FOLDS = 5
GOLD_PART, PARSED_PART, DEV_PART = range(3)
TEXTS_A_TASK = 2500

Arrays = dict[str, NDArray[Any]]


def vocabulary(trees: Sequence[Tree]) -> OrderVocabulary:
    """From trees of EWT whose ordinary first words are in lower case, with the pieces of the shipped
    small language model."""
    forms = Counter(word.form for tree in trees for word in tree.words)
    words = [form for form, count in forms.items() if count >= MIN_WORD_COUNT]
    categories = {c for tree in trees for w in tree.words for c in (w.xpos, w.upos)}
    relations = {w.relation for tree in trees for w in tree.words}
    relations |= {relation.partition(":")[0] for relation in relations}
    pieces = WordNetwork.load(shipped(NETWORK_FILE)).pieces
    return OrderVocabulary(
        pieces, tuple(sorted(words)), tuple(sorted(categories)), tuple(sorted(relations))
    )


def rehung(tree: Tree, rng: np.random.Generator) -> Tree:
    """The tree with its punctuation attached again, without crossing arcs: all on their left or right
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


def texts_to_parse(written: Path | None, rng: np.random.Generator) -> list[str]:
    """Sentences of Gutenberg's books and State of the Union speeches, and those of a file, in random order."""
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
    if written:
        with gzip.open(written, "rt", encoding="utf-8") as file:
            texts += [line.strip() for line in file]
    return [texts[place] for place in rng.permutation(len(texts)).tolist()]


def parsed_trees(texts: Sequence[str]) -> list[Tree]:
    """By the shipped parser."""
    parser = SentenceParser.load("english", is_weighed=False)
    trees = parser.trees(texts, threads=1)
    return [tree for tree in trees if LEAST_WORDS <= len(tree.words) <= MOST_WORDS // 2]


def piece_vectors() -> NDArray[np.float32]:
    """The main directions of the vectors of the shipped small language model."""
    matrix = WordNetwork.load(shipped(NETWORK_FILE)).vectors
    vectors = matrix.steps * matrix.scales[:, None].astype(np.float64)
    _, _, directions = np.linalg.svd(vectors - vectors.mean(0), full_matrices=False)
    found = (vectors - vectors.mean(0)) @ directions[:VECTOR].T
    return np.asarray(found / found.std(), np.float32)


def genre_of(tree: Tree) -> str:
    """The first part of the sentence's name, such as `weblog`."""
    for comment in tree.comments:
        if comment.startswith("sent_id"):
            return comment.partition("=")[2].strip().partition("-")[0]
    return ""


@dataclass(frozen=True, eq=False)
class Numbering:
    """How trees become arrays. `chooser` labels the trees that it was not trained on."""

    capitals: Capitals
    vocabulary: OrderVocabulary
    chooser: LabelChooser

    def arrays(
        self, part: int, trees: Sequence[Tree], chosen: Sequence[Sequence[Label]] = ()
    ) -> Arrays:
        lowered = [self.capitals.lowered_tree(tree) for tree in trees]
        labels = chosen or self.chooser.choose(Forest.of_trees(lowered))
        pairs = [
            (tree, own)
            for tree, own in zip(lowered, labels, strict=True)
            if 2 <= len(tree.words) <= MOST_WORDS
        ]
        rng = np.random.default_rng(part)
        forms: dict[str, int] = {}
        words = [
            forms.setdefault(word.form, len(forms)) for tree, _ in pairs for word in tree.words
        ]
        heads = [head for tree, _ in pairs for head in _heads(tree)]
        hung = [
            heads
            if part == PARSED_PART
            else [head for tree, _ in pairs for head in _heads(rehung(tree, rng))]
            for _ in range(VARIANTS)
        ]
        numbers = [
            self._numbers(word, label)
            for tree, own in pairs
            for word, label in zip(tree.words, own, strict=True)
        ]
        return {
            "forms": self.vocabulary.of_forms(list(forms)).astype(np.int16),
            "words": np.array(words, np.int32),
            "heads": np.array(heads, np.int8),
            "hung": np.array(hung, np.int8),
            "labels": np.array(numbers, np.uint8),
            "lengths": np.array([len(tree.words) for tree, _ in pairs], np.int16),
            "parts": np.full(len(pairs), part, np.int8),
        }

    def _numbers(self, word: Word, chosen: Label) -> tuple[int, ...]:
        vocab = self.vocabulary
        return (
            vocab.category(category_of(word)),
            vocab.category(word.upos),
            vocab.relation(word.relation),
            vocab.base_relation(word.relation),
            vocab.category(chosen.category),
            vocab.relation(chosen.relation),
            vocab.base_relation(chosen.relation),
        )

    def parsed_arrays(self, texts: Sequence[str]) -> Arrays:
        return self.arrays(PARSED_PART, parsed_trees(texts))

    def sizes(self) -> Arrays:
        """What the network's tables need."""
        vocab = self.vocabulary
        rows = (
            len(vocab.words) + 1,
            N_ENDINGS,
            N_SHAPES * len(LABEL_SOURCES),
            len(vocab.categories) + 1,
            len(vocab.relations) + 1,
            len(vocab.relations) + 1,
            *3 * [N_CLASSES],
        )
        return {"table_rows": np.array(rows), "vectors": piece_vectors()}


def joined(parts: Sequence[Arrays]) -> Arrays:
    forms = np.cumsum([0, *(len(own["forms"]) for own in parts)])
    names = ("forms", "heads", "hung", "labels", "lengths", "parts")
    arrays = {
        name: np.concatenate([own[name] for own in parts], axis=-1 if name == "hung" else 0)
        for name in names
    }
    return {
        **arrays,
        "words": np.concatenate([own["words"] + at for own, at in zip(parts, forms, strict=False)]),
    }


def _heads(tree: Tree) -> list[int]:
    return [word.head - 1 for word in tree.words]


def ewt_arrays(
    train: Sequence[Tree], numbering: Numbering, jackknifed: Sequence[Label]
) -> list[Arrays]:
    """The arrays of the training trees and of EWT dev."""
    chosen = Forest.of_trees(train).by_tree(jackknifed)
    return [numbering.arrays(GOLD_PART, train, chosen), numbering.arrays(DEV_PART, ewt("dev"))]


def chosen_labels(lowered: Sequence[Tree]) -> list[Label]:
    """Labels of all words of the trees, by choosers that did not see them."""
    right = [Label(category_of(word), word.relation) for tree in lowered for word in tree.words]
    return jackknifed_labels(Forest.of_trees(lowered), right, CHOOSER_TRAINING, folds=FOLDS)


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("-o", "--output", type=Path, required=True)
    arguments.add_argument("--written", type=Path, help="a file of network-sentences, to parse too")
    arguments.add_argument("--parsed", type=int, default=10**6, help="the most sentences to parse")
    arguments.add_argument(
        "--jackknifed", type=Path, help="chosen labels of EWT train, if kept (JSON)"
    )
    arguments.add_argument("--processes", type=int, default=1)
    given = arguments.parse_args()
    train = ewt("train")
    capitals = learn_capitals(train)
    lowered = [capitals.lowered_tree(tree) for tree in train]
    realizer = LearnedRealizer.load(shipped(LEARNED_REALIZER_FILE), None)
    # A copy, because a chooser that was used cannot go to other processes.
    numbering = Numbering(capitals, vocabulary(lowered), replace(realizer.chooser))
    if given.jackknifed and given.jackknifed.exists():
        jackknifed = [Label(*pair) for pair in json.loads(given.jackknifed.read_text())]
    else:
        jackknifed = chosen_labels(lowered)
        if given.jackknifed:
            given.jackknifed.write_text(
                json.dumps([[own.category, own.relation] for own in jackknifed])
            )
    texts = texts_to_parse(given.written, np.random.default_rng(0))[: given.parsed]
    cuts = [texts[begin : begin + TEXTS_A_TASK] for begin in range(0, len(texts), TEXTS_A_TASK)]
    with ProcessPoolExecutor(given.processes) as pool:
        parsed = list(pool.map(numbering.parsed_arrays, cuts))
    arrays = {**joined([*ewt_arrays(lowered, numbering, jackknifed), *parsed]), **numbering.sizes()}
    np.savez(given.output, **arrays)  # type: ignore[arg-type, unused-ignore]
    print(f"{np.bincount(arrays['parts'])} sentences, {len(arrays['words']):,} words", flush=True)


if __name__ == "__main__":
    main()
