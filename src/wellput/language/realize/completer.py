"""The `Completer`: inflects lemmas and adds the words that a tree leaves out, before it is ordered.

The learned realizer has one, and so do the models that `wellput train fergus` makes. A
`CompletingModel` puts one before fergus or lr, which only order words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from wellput.core.tree import Tree
from wellput.io.files import PathLike
from wellput.io.model_files import StoredModel
from wellput.language.realize.inflector import (
    Inflector,
    WordForm,
    has_dictionary,
    learn_inflections,
)
from wellput.language.realize.inputs import (
    UNKNOWN_LABEL,
    InputTree,
    Node,
    RealizationModel,
    Realized,
)
from wellput.language.realize.inserter import (
    PUNCTUATION_RELATION,
    Inserter,
    Insertion,
    known_category,
    known_of,
    train_inserter,
    with_insertions,
)
from wellput.language.realize.label_chooser import ChooserTraining, Forest, Label, LabelChooser

NO_LABEL = Label(UNKNOWN_LABEL, UNKNOWN_LABEL)
FINITE_TAGS = ("VBZ", "VBD")
LabelKind = Literal["words", "labels"]
"""Whether labels are chosen, from the words, or given."""


@dataclass(frozen=True)
class PreparedTree:
    """A tree of words in their most frequent forms, and for each node all its forms."""

    tree: InputTree
    forms: Sequence[tuple[WordForm, ...]]


@dataclass(frozen=True, eq=False)
class Completer(StoredModel):
    """`insert` says which words to add; `chooser` labels the words of trees without labels. The file
    has the inserter, whose labeler becomes the chooser, and the inflector."""

    kind: ClassVar[str] = "completer"
    noun: ClassVar[str] = "completer"

    inserter: Inserter
    inflector: Inflector
    chooser: LabelChooser
    insert: frozenset[Insertion] = frozenset()
    card: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, path: PathLike) -> Completer:
        with cls.reading(path) as file:
            inserter = Inserter.of_file(file, "inserter")
            inflector = Inflector.of_file(file, "inflector")
            return cls(inserter, inflector, inserter.labeler, card=file.card)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {**self.inserter.arrays("inserter"), **self.inflector.arrays("inflector")}

    def completed(self, trees: Sequence[InputTree], *, threads: int = 1) -> list[InputTree]:
        """The trees for another model to order: lemmas are inflected (a node has all its forms), and
        what `insert` names is added."""
        found: dict[int, InputTree] = {}
        for kind, places in by_label_kind(trees).items():
            own = self.prepared([trees[place] for place in places], kind, threads)
            found |= {place: one.tree for place, one in zip(places, own, strict=True)}
        return [found[place] for place in range(len(trees))]

    def prepared(
        self, trees: Sequence[InputTree], kind: LabelKind, threads: int
    ) -> list[PreparedTree]:
        """Trees that all have labels, or none, with their lemmas inflected and words added."""
        own = [self._inflected(tree) for tree in trees]
        return self._with_insertions(own, kind, threads) if self.insert and own else own

    def labels(
        self, trees: Sequence[InputTree], kind: LabelKind, threads: int
    ) -> list[Sequence[Label]]:
        """The given or chosen labels of each tree's words. What is given of a label is kept."""
        given = [[label_of(node) for node in tree.nodes] for tree in trees]
        if kind == "labels":
            return list(given)
        known = [label for own in given for label in own]
        if all(label == NO_LABEL for label in known):
            known = []
        return self.chooser.choose(forest_of(trees, kind), given=known, threads=threads)

    def with_sure_labels(self, trees: Sequence[InputTree], threads: int = 1) -> list[InputTree]:
        """Trees that can be ordered by their labels get them all: those whose relations are given, and
        sentences of a verb and its subject. The others stay."""
        found = list(trees)
        places = [
            place
            for place, tree in enumerate(trees)
            if not is_fully_labeled(tree) and (has_relations(tree) or has_few_parts(tree))
        ]
        own = [trees[place] for place in places]
        for place, tree, labels in zip(
            places, own, self.labels(own, "words", threads) if own else [], strict=True
        ):
            sure = labels if has_relations(tree) else with_subject(labels, tree)
            if sure is not None:
                found[place] = with_labels(tree, sure)
        return found

    def _inflected(self, tree: InputTree) -> PreparedTree:
        forms = [
            self.inflector.forms(node)
            if node.lemma != UNKNOWN_LABEL
            else tuple(WordForm(form) for form in node.forms)
            for node in tree.nodes
        ]
        nodes = tuple(
            replace(node, forms=tuple(own.form for own in alternatives))
            for node, alternatives in zip(tree.nodes, forms, strict=True)
        )
        return PreparedTree(InputTree(nodes, tree.heads), forms)

    def _with_insertions(
        self, own: Sequence[PreparedTree], kind: LabelKind, threads: int
    ) -> list[PreparedTree]:
        trees = [prepared.tree for prepared in own]
        bundles = self.inserter.bundles(forest_of(trees, kind), threads=threads)
        labels = self.labels(trees, kind, threads)
        fuller = []
        for prepared, known, missing in zip(own, labels, bundles, strict=True):
            relations = [label.relation for label in known]
            is_bare = self.inserter.is_bare(prepared.tree, relations)
            kinds = self.insert if is_bare else self.insert - {"function"}
            tree = with_insertions(prepared.tree, relations, missing, kinds)
            shares = {
                (node, form.form): form
                for node, forms in zip(prepared.tree.nodes, prepared.forms, strict=True)
                for form in forms
            }
            forms = [
                tuple(shares.get((node, form), WordForm(form)) for form in node.forms)
                for node in tree.nodes
            ]
            fuller.append(PreparedTree(tree, forms))
        return fuller


@dataclass(frozen=True, eq=False)
class CompletingModel:
    """`ordering` puts the words in order that `completer` has inflected and added, and chooses among
    several forms of a word."""

    ordering: RealizationModel
    completer: Completer

    @property
    def name(self) -> str:
        return self.ordering.name

    def realize(
        self, trees: Sequence[InputTree], *, n_best: int = 1, threads: int = 1
    ) -> list[Realized]:
        """The returned trees have the words that were added."""
        completed = self.completer.completed(trees, threads=threads)
        return self.ordering.realize(completed, n_best=n_best, threads=threads)


def train_completer(
    trees: Sequence[Tree], inserting: ChooserTraining, labeling: ChooserTraining
) -> Completer:
    """From treebank trees whose ordinary first words are in lower case. No forms are learned from trees
    without lemmas, nor where lemminflect is not installed."""
    inserter = train_inserter(trees, inserting, labeling)
    inflector = learn_inflections(trees) if has_dictionary() else Inflector({})
    return Completer(inserter, inflector, inserter.labeler)


def by_label_kind(trees: Sequence[InputTree]) -> dict[LabelKind, list[int]]:
    """The places of the trees without labels and of those with."""
    found: dict[LabelKind, list[int]] = {"words": [], "labels": []}
    for place, tree in enumerate(trees):
        found["labels" if is_fully_labeled(tree) else "words"].append(place)
    return found


def is_fully_labeled(tree: InputTree) -> bool:
    """Whether every node has a relation and a part of speech; if not, all labels are chosen."""
    return all(
        node.relation != UNKNOWN_LABEL and known_category(node) != UNKNOWN_LABEL
        for node in tree.nodes
    )


def label_of(node: Node) -> Label:
    return Label(known_category(node), node.relation)


def has_relations(tree: InputTree) -> bool:
    return all(node.relation != UNKNOWN_LABEL for node in tree.nodes)


def has_few_parts(tree: InputTree) -> bool:
    """Whether the root has one or two daughters: a subject and a full stop, for example."""
    return 1 <= len(tree.daughters[0]) <= 2


def with_subject(labels: Sequence[Label], tree: InputTree) -> Sequence[Label] | None:
    """The labels if the tree is a verb in *-s* or in the past with one object and nothing else, which
    becomes the subject; otherwise nothing. The chooser takes some subjects for objects (*barks a dog*),
    because it does not know that the subject would be missing then. EWT dev has only two such trees;
    both begin with the noun. (Other verbs may have no subject: *thank you*.)"""
    parts = [place for place in tree.daughters[0] if labels[place].relation != PUNCTUATION_RELATION]
    if labels[0].category not in FINITE_TAGS or len(parts) != 1:
        return None
    noun = labels[parts[0]]
    if noun.relation != "obj":
        return None
    subject = Label(noun.category, "nsubj")
    return [subject if place == parts[0] else label for place, label in enumerate(labels)]


def with_labels(tree: InputTree, labels: Sequence[Label]) -> InputTree:
    nodes = [
        node
        if known_category(node) != UNKNOWN_LABEL != node.relation
        else replace(node, xpos=label.category, relation=label.relation)
        for node, label in zip(tree.nodes, labels, strict=True)
    ]
    return InputTree(tuple(nodes), tree.heads)


def forest_of(trees: Sequence[InputTree], kind: LabelKind) -> Forest:
    return Forest(
        [[node.form for node in tree.nodes] for tree in trees],
        np.array([head + 1 for tree in trees for head in tree.heads], np.int32),
        [[known_of(node) for node in tree.nodes] for tree in trees] if kind == "labels" else (),
    )
