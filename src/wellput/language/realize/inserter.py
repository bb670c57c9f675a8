"""The `Inserter`: punctuation and function words for trees that leave them out.

A word's missing daughters are a bundle, such as `the` with `of`. A chooser of labels
(`label_chooser.py`), trained on treebank trees from which such words were pruned, says how probable
each bundle is. The probability of a missing word is the sum over the bundles that have it. Words that
are probable enough are added.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from wellput.core.tree import Tree, Word
from wellput.io.model_files import ModelFile
from wellput.language.realize.inputs import UNKNOWN_LABEL, InputTree, Node, input_tree
from wellput.language.realize.label_chooser import (
    ChooserTraining,
    Forest,
    Label,
    LabelChooser,
    train_chooser,
)
from wellput.language.trees.supertags import category_of

Insertion = Literal["punctuation", "function"]
INSERTION_NAMES: tuple[str, ...] = get_args(Insertion)
PUNCTUATION_RELATION = "punct"
FUNCTION_CATEGORIES = frozenset(["DET", "ADP", "AUX", "CCONJ", "SCONJ", "PART", UNKNOWN_LABEL])
FUNCTION_RELATIONS = frozenset(["det", "case", "mark", "aux", "cop", "cc"])

MIN_PROBABILITY = 0.2
"""The most probable word of a relation is added from this probability on. Chosen for F1 on EWT dev. The
limit that is best for F1 is half of the F1 that it reaches (Lipton, Elkan & Naryanaswamy 2014)."""
MIN_PROBABILITY_OF_FURTHER = 0.5
"""Further words of the same relation (`has been`) are added from this probability on. It is higher,
because they may also be alternatives (`the`, `a`)."""


@dataclass(frozen=True, order=True)
class MissingWord:
    """A word that was pruned, or that is to be inserted."""

    form: str
    upos: str
    xpos: str
    relation: str


@dataclass(frozen=True)
class PrunedTree:
    """A tree without some of its words, and the lost daughters of each word that stayed."""

    tree: Tree
    lost: tuple[tuple[MissingWord, ...], ...]


def pruned_tree(tree: Tree, kinds: Collection[Insertion]) -> PrunedTree:
    """Takes punctuation or function words without daughters out of a tree; its root stays."""
    mothers = {word.head for word in tree.words}
    stays = [
        number in mothers or not word.head or insertion_of(word) not in kinds
        for number, word in enumerate(tree.words, start=1)
    ]
    numbers = np.cumsum(stays).tolist()
    lost: list[list[MissingWord]] = [[] for _ in tree.words]
    for word, stayed in zip(tree.words, stays, strict=True):
        if not stayed:
            missing = MissingWord(word.form, word.upos, word.xpos, word.relation)
            lost[word.head - 1].append(missing)
    words = tuple(
        Word(word.form, numbers[word.head - 1] if word.head else 0, *_columns(word))
        for word, stayed in zip(tree.words, stays, strict=True)
        if stayed
    )
    kept = [tuple(sorted(own)) for own, stayed in zip(lost, stays, strict=True) if stayed]
    return PrunedTree(Tree(words), tuple(kept))


def insertion_of(word: Word) -> Insertion | None:
    """The kind of insertion that would add this word, by its relation and, if known, its part of
    speech."""
    relation = word.relation.partition(":")[0]
    if relation == PUNCTUATION_RELATION:
        return "punctuation"
    is_function = relation in FUNCTION_RELATIONS and word.upos in FUNCTION_CATEGORIES
    return "function" if is_function else None


def _columns(word: Word) -> tuple[str, str, str, str, str]:
    return word.lemma, word.upos, word.xpos, word.feats, word.relation


@dataclass(frozen=True, eq=False)
class Inserter:
    """A chooser whose labels are bundles, written as JSON: function words in place of the category,
    punctuation in place of the relation. It takes trees with parts of speech and relations; `labeler`
    labels trees that have none."""

    chooser: LabelChooser
    labeler: LabelChooser
    min_probability: float = MIN_PROBABILITY

    def bundles(self, forest: Forest, *, threads: int = 1) -> list[list[tuple[MissingWord, ...]]]:
        """The missing daughters of each word of each tree."""
        if not forest.known:
            labels = self.labeler.choose(forest, threads=threads)
            forest = replace(forest, known=[list(map(known_label, tree)) for tree in labels])
        words = [_numbered(bundle) for bundle in self._words]
        found = []
        rows = self.chooser.probabilities(forest, threads=threads)
        for numbers, shares in zip(*(row.tolist() for row in rows), strict=True):
            probabilities: dict[tuple[MissingWord, int], float] = {}
            for number, share in zip(numbers, shares, strict=True):
                for word in words[number]:
                    probabilities[word] = probabilities.get(word, 0.0) + share
            found.append(self._probable(probabilities))
        return [list(tree) for tree in forest.by_tree(found)]

    def _probable(
        self, probabilities: Mapping[tuple[MissingWord, int], float]
    ) -> tuple[MissingWord, ...]:
        chosen: list[MissingWord] = []
        relations: set[str] = set()
        further = max(self.min_probability, MIN_PROBABILITY_OF_FURTHER)
        for (word, _), share in sorted(probabilities.items(), key=lambda one: (-one[1], one[0])):
            if share >= (further if word.relation in relations else self.min_probability):
                chosen.append(word)
            relations.add(word.relation)
        return tuple(sorted(chosen))

    def is_bare(self, tree: InputTree, relations: Sequence[str]) -> bool:
        """Whether a tree has at most one function word, by its words' known or chosen relations. The
        inserter learned from bare trees; in a fuller tree it would add words that are there."""
        own = [
            node
            for node, daughters, relation in zip(tree.nodes, tree.daughters, relations, strict=True)
            if not daughters
            and node.form in self._forms
            and insertion_of(Word(node.form, 0, relation=relation)) == "function"
        ]
        return len(own) <= 1

    @cached_property
    def _forms(self) -> frozenset[str]:
        return frozenset(word.form for bundle in self._words for word in bundle)

    @cached_property
    def _words(self) -> list[tuple[MissingWord, ...]]:
        """The words of each bundle."""
        return [(*_decoded(b.category), *_decoded(b.relation)) for b in self.chooser.labels]

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        return {**self.chooser.arrays(name), **self.labeler.arrays(f"{name}.labeler")}

    @classmethod
    def of_file(cls, file: ModelFile, name: str) -> Inserter:
        found = cls(LabelChooser.of_file(file, name), LabelChooser.of_file(file, f"{name}.labeler"))
        # Made here, not at the first use: they refuse what is damaged.
        _ = found._words, found.chooser.kernel, found.labeler.kernel
        return found


def with_insertions(
    tree: InputTree,
    relations: Sequence[str],
    bundles: Sequence[Sequence[MissingWord]],
    kinds: Collection[Insertion],
) -> InputTree:
    """The tree with the words added; they have labels only if the tree's words have. `relations` are
    the known or chosen ones of its words. Punctuation is added only to a tree that has none, a
    function word only where its mother has no daughter of that relation."""
    nodes, heads = list(tree.nodes), list(tree.heads)
    is_labeled = any(node.relation != UNKNOWN_LABEL for node in tree.nodes)
    is_punctuated = PUNCTUATION_RELATION in relations
    for place, bundle in enumerate(bundles):
        there = {relations[daughter] for daughter in tree.daughters[place]}
        for word in bundle:
            kind: Insertion = "punctuation" if word.relation == PUNCTUATION_RELATION else "function"
            is_there = is_punctuated if kind == "punctuation" else word.relation in there
            if kind not in kinds or is_there:
                continue
            labels = (word.relation, word.upos, word.xpos) if is_labeled else ()
            nodes.append(Node((word.form,), *labels))
            heads.append(place)
    return input_tree(nodes, heads)


def train_inserter(
    trees: Sequence[Tree], settings: ChooserTraining, labeling: ChooserTraining
) -> Inserter:
    """From treebank trees whose ordinary first words are in lower case."""
    pruned = [pruned_tree(tree, ("punctuation", "function")) for tree in trees]
    words = [word for one in pruned for word in one.tree.words]
    unlabeled = Forest.of_trees([one.tree for one in pruned])
    known = [[known_of(word) for word in one.tree.words] for one in pruned]
    lost = [own for one in pruned for own in one.lost]
    bundles = Counter(map(_bundle, lost))
    counts = Counter(word for own in lost for word in own)
    missing = [_bundle(_common_part(own, bundles, counts, settings.min_count)) for own in lost]
    labels = [Label(category_of(word), word.relation) for word in words]
    return Inserter(
        train_chooser(replace(unlabeled, known=known), missing, settings),
        train_chooser(unlabeled, labels, labeling),
    )


def known_of(word: Word | Node) -> str:
    """The known label of a word, written for the chooser."""
    category = category_of(word) if isinstance(word, Word) else known_category(word)
    return known_label(Label(category, word.relation))


def known_label(label: Label) -> str:
    return f"{label.category} {label.relation}"


def known_category(node: Node) -> str:
    return node.xpos if node.xpos != UNKNOWN_LABEL else node.upos


def _common_part(
    lost: Sequence[MissingWord],
    bundles: Mapping[Label, int],
    words: Mapping[MissingWord, int],
    min_count: int,
) -> Sequence[MissingWord]:
    """The lost words. While their bundle is too rare, the rarest word is left out of it."""
    while lost and bundles.get(_bundle(lost), 0) < min_count:
        rarest = min(lost, key=lambda word: (words[word], word))
        lost = [word for word in lost if word is not rarest]
    return lost


def _bundle(lost: Sequence[MissingWord]) -> Label:
    punctuation = [word for word in lost if word.relation == PUNCTUATION_RELATION]
    function = [word for word in lost if word.relation != PUNCTUATION_RELATION]
    return Label(_encoded(function), _encoded(punctuation))


def _encoded(words: Sequence[MissingWord]) -> str:
    rows = [[word.form, word.upos, word.xpos, word.relation] for word in words]
    return json.dumps(rows, ensure_ascii=False)


def _decoded(text: str) -> tuple[MissingWord, ...]:
    """Raises ValueError or TypeError for what `_encoded` did not write."""
    rows = json.loads(text)
    if not all(isinstance(part, str) for row in rows for part in row):
        raise TypeError("a bundle is no list of words")
    return tuple(MissingWord(*row) for row in rows)


def _numbered(words: Sequence[MissingWord]) -> list[tuple[MissingWord, int]]:
    """The words of a bundle; of equal ones, such as two commas, the second has number 1."""
    seen: Counter[MissingWord] = Counter()
    numbered = []
    for word in words:
        numbered.append((word, seen[word]))
        seen[word] += 1
    return numbered
