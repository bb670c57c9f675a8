"""The `Inserter`: punctuation and function words for trees that leave them out.

A word's daughters are the words that depend on it. Those that are missing make a *bundle*, such as
`the` and `of`. A chooser of labels (`label_chooser.py`) has the bundles as its labels and is trained
on treebank trees without punctuation and function words: it says how probable each bundle is. The
probability of a missing word is the sum over the bundles that have it. Words that are probable enough
are added.
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
"""The most probable missing word of a relation is added if it has at least this probability. Tuned on
the dev part of the treebank EWT."""
MIN_PROBABILITY_OF_FURTHER = 0.5
"""Further missing words of the same relation (`has been`) are added if they have at least this
probability. It is higher, because they may be alternatives to the first word (`the`, `a`)."""


@dataclass(frozen=True, order=True)
class MissingWord:
    """A word that was taken out of a treebank tree, or that is to be inserted."""

    form: str
    upos: str
    xpos: str
    relation: str


@dataclass(frozen=True)
class PrunedTree:
    """A tree without some of its words, and for each word that stayed, the daughters that it lost."""

    tree: Tree
    lost: tuple[tuple[MissingWord, ...], ...]


def pruned_tree(tree: Tree, kinds: Collection[Insertion]) -> PrunedTree:
    """Takes words of these kinds (punctuation, function words) out of a tree if they have no daughters
    and are not the root."""
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
    lost_of_stayed = [
        tuple(sorted(daughters)) for daughters, stayed in zip(lost, stays, strict=True) if stayed
    ]
    return PrunedTree(Tree(words), tuple(lost_of_stayed))


def insertion_of(word: Word) -> Insertion | None:
    """Whether a word is punctuation or a function word, by its relation and its part of speech if that
    is known; None for other words."""
    relation = word.relation.partition(":")[0]
    if relation == PUNCTUATION_RELATION:
        return "punctuation"
    is_function = relation in FUNCTION_RELATIONS and word.upos in FUNCTION_CATEGORIES
    return "function" if is_function else None


def _columns(word: Word) -> tuple[str, str, str, str, str]:
    """The word's columns in CoNLL-U, except its form and its head."""
    return word.lemma, word.upos, word.xpos, word.feats, word.relation


@dataclass(frozen=True, eq=False)
class Inserter:
    """Finds missing words with `chooser`, whose labels are bundles written as JSON: the function words
    of a bundle stand in place of the category, its punctuation in place of the relation. The chooser
    takes trees with parts of speech and relations; `labeler` adds these to trees that have none."""

    chooser: LabelChooser
    labeler: LabelChooser
    min_probability: float = MIN_PROBABILITY

    def missing_words(
        self, forest: Forest, *, threads: int = 1
    ) -> list[list[tuple[MissingWord, ...]]]:
        """The missing daughters of each word of each tree, those that are probable enough."""
        if not forest.known:
            labels = self.labeler.choose(forest, threads=threads)
            forest = replace(forest, known=[list(map(label_text, tree)) for tree in labels])
        # If a bundle has equal words, their numbers distinguish them.
        words_of_bundles = [_numbered(bundle) for bundle in self._bundles]
        missing = []
        best_bundles = self.chooser.probabilities(forest, threads=threads)
        # For each word of the forest: the numbers of its best bundles, and their probabilities.
        for numbers, shares in zip(*(array.tolist() for array in best_bundles), strict=True):
            probabilities: dict[tuple[MissingWord, int], float] = {}
            for number, share in zip(numbers, shares, strict=True):
                for word in words_of_bundles[number]:
                    probabilities[word] = probabilities.get(word, 0.0) + share
            missing.append(self._probable(probabilities))
        return [list(tree) for tree in forest.by_tree(missing)]

    def _probable(
        self, probabilities: Mapping[tuple[MissingWord, int], float]
    ) -> tuple[MissingWord, ...]:
        """The words whose probability is high enough to insert them."""
        chosen: list[MissingWord] = []
        relations: set[str] = set()
        min_of_further = max(self.min_probability, MIN_PROBABILITY_OF_FURTHER)
        ranked = sorted(probabilities.items(), key=lambda item: (-item[1], item[0]))
        for (word, _), probability in ranked:
            is_further = word.relation in relations
            if probability >= (min_of_further if is_further else self.min_probability):
                chosen.append(word)
            relations.add(word.relation)
        return tuple(sorted(chosen))

    def lacks_function_words(self, tree: InputTree, relations: Sequence[str]) -> bool:
        """Whether a tree has at most one function word, by the `relations` of its words. The inserter
        is trained on trees without function words; in a tree that has them it would add them again."""
        function_nodes = [
            node
            for node, daughters, relation in zip(tree.nodes, tree.daughters, relations, strict=True)
            if not daughters
            and node.form in self._insertable_forms
            and insertion_of(Word(node.form, 0, relation=relation)) == "function"
        ]
        return len(function_nodes) <= 1

    @cached_property
    def _insertable_forms(self) -> frozenset[str]:
        """The forms of all words that may be inserted."""
        return frozenset(word.form for bundle in self._bundles for word in bundle)

    @cached_property
    def _bundles(self) -> list[tuple[MissingWord, ...]]:
        """The words of each bundle, in the order of the chooser's labels."""
        return [(*_decoded(b.category), *_decoded(b.relation)) for b in self.chooser.labels]

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        return {**self.chooser.arrays(name), **self.labeler.arrays(f"{name}.labeler")}

    @classmethod
    def of_file(cls, file: ModelFile, name: str) -> Inserter:
        inserter = cls(
            LabelChooser.of_file(file, name), LabelChooser.of_file(file, f"{name}.labeler")
        )
        # These are made on loading, not at the first use, because they raise errors for damaged data.
        _ = inserter._bundles, inserter.chooser.kernel, inserter.labeler.kernel
        return inserter


def with_insertions(
    tree: InputTree,
    relations: Sequence[str],
    missing: Sequence[Sequence[MissingWord]],
    kinds: Collection[Insertion],
) -> InputTree:
    """The tree with the words of these `kinds` added from `missing`, the missing daughters of each
    node. `relations` are those of the tree's words, known or chosen. The added words have
    labels if the tree's words have. Punctuation is added only to a tree that has none, a function word
    only where its mother has no daughter with the same relation."""
    nodes, heads = list(tree.nodes), list(tree.heads)
    is_labeled = any(node.relation != UNKNOWN_LABEL for node in tree.nodes)
    is_punctuated = PUNCTUATION_RELATION in relations
    for place, words in enumerate(missing):
        relations_of_daughters = {relations[daughter] for daughter in tree.daughters[place]}
        for word in words:
            kind: Insertion = "punctuation" if word.relation == PUNCTUATION_RELATION else "function"
            has_function_word = word.relation in relations_of_daughters
            if kind not in kinds or (is_punctuated if kind == "punctuation" else has_function_word):
                continue
            labels = (word.relation, word.upos, word.xpos) if is_labeled else ()
            nodes.append(Node((word.form,), *labels))
            heads.append(place)
    return input_tree(nodes, heads)


def train_inserter(
    trees: Sequence[Tree], settings: ChooserTraining, labeling: ChooserTraining
) -> Inserter:
    """An inserter learned from treebank trees in which ordinary words are in lower case at the
    beginning of the sentence too. `settings` are for its chooser of bundles, `labeling` for its
    labeler."""
    pruned = [pruned_tree(tree, ("punctuation", "function")) for tree in trees]
    words = [word for pruned_one in pruned for word in pruned_one.tree.words]
    unlabeled = Forest.of_trees([pruned_one.tree for pruned_one in pruned])
    known = [[known_label_text(word) for word in pruned_one.tree.words] for pruned_one in pruned]
    lost = [daughters for pruned_one in pruned for daughters in pruned_one.lost]
    bundle_counts = Counter(map(_bundle, lost))
    word_counts = Counter(word for daughters in lost for word in daughters)
    bundles = [
        _bundle(_common_part(daughters, bundle_counts, word_counts, settings.min_count))
        for daughters in lost
    ]
    labels = [Label(category_of(word), word.relation) for word in words]
    return Inserter(
        train_chooser(replace(unlabeled, known=known), bundles, settings),
        train_chooser(unlabeled, labels, labeling),
    )


def known_label_text(word: Word | Node) -> str:
    """The known label of a word (part of speech and relation), written as text for the chooser."""
    category = category_of(word) if isinstance(word, Word) else known_category(word)
    return label_text(Label(category, word.relation))


def label_text(label: Label) -> str:
    return f"{label.category} {label.relation}"


def known_category(node: Node) -> str:
    return node.xpos if node.xpos != UNKNOWN_LABEL else node.upos


def _common_part(
    lost: Sequence[MissingWord],
    bundle_counts: Mapping[Label, int],
    word_counts: Mapping[MissingWord, int],
    min_count: int,
) -> Sequence[MissingWord]:
    """The lost words without the rarest ones: words are left out until the bundle of the remaining ones
    occurs at least `min_count` times."""
    while lost and bundle_counts.get(_bundle(lost), 0) < min_count:
        rarest = min(lost, key=lambda word: (word_counts[word], word))
        lost = [word for word in lost if word is not rarest]
    return lost


def _bundle(lost: Sequence[MissingWord]) -> Label:
    """A bundle of missing words, written as a label."""
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
    """The words of a bundle, each with the number of equal words before it: of two commas, the first
    has 0 and the second 1."""
    counts: Counter[MissingWord] = Counter()
    numbered = []
    for word in words:
        numbered.append((word, counts[word]))
        counts[word] += 1
    return numbered
