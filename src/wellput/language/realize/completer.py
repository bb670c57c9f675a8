"""The `Completer`: inflects lemmas and adds the words that a tree leaves out, before the words are
ordered.

The learned realizer contains a completer. The models `fergus`, `fergus+` and `lr` (left-right, the
baseline) only order words; a `CompletingModel` is such a model with a completer before it. That
completer is a file in the folder that `wellput train fergus` makes, or the learned realizer's.
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
    known_label_text,
    train_inserter,
    with_insertions,
)
from wellput.language.realize.label_chooser import ChooserTraining, Forest, Label, LabelChooser

NO_LABEL = Label(UNKNOWN_LABEL, UNKNOWN_LABEL)
# Tags of verbs that need a subject.
FINITE_TAGS = ("VBZ", "VBD")
LabelKind = Literal["words", "labels"]
"""`labels` for trees whose words have parts of speech and relations; `words` for trees without these,
whose labels a chooser must choose."""


@dataclass(frozen=True)
class PreparedTree:
    """A tree of inflected words, each node with the most frequent form first, and for each node its
    possible forms with their shares."""

    tree: InputTree
    forms: Sequence[tuple[WordForm, ...]]


@dataclass(frozen=True, eq=False)
class Completer(StoredModel):
    """Inflects lemmas with the `inflector` and adds the kinds of words in `insert` (punctuation,
    function words) with the `inserter`. A label is a part of speech with a relation; `chooser` chooses
    the labels of trees without them. In the file the chooser is stored as a part of the inserter (its
    labeler)."""

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
        """The trees with their lemmas inflected (a node has all its forms) and the kinds of words in
        `insert` added, for another model to order."""
        completed: dict[int, InputTree] = {}
        for kind, places in by_label_kind(trees).items():
            prepared = self.prepared([trees[place] for place in places], kind, threads)
            completed |= {place: one.tree for place, one in zip(places, prepared, strict=True)}
        return [completed[place] for place in range(len(trees))]

    def prepared(
        self, trees: Sequence[InputTree], kind: LabelKind, threads: int
    ) -> list[PreparedTree]:
        """The trees with their lemmas inflected and words added. All of them must have labels, or
        none; `kind` says which."""
        inflected = [self._inflected(tree) for tree in trees]
        if not self.insert or not inflected:
            return inflected
        return self._with_insertions(inflected, kind, threads)

    def labels(
        self, trees: Sequence[InputTree], kind: LabelKind, threads: int
    ) -> list[Sequence[Label]]:
        """The labels of each tree's words: those of the input, or chosen ones. Where the input has
        only the part of speech or only the relation of a word, this part is kept."""
        input_labels = [[label_of(node) for node in tree.nodes] for tree in trees]
        if kind == "labels":
            return list(input_labels)
        known = [label for labels in input_labels for label in labels]
        if all(label == NO_LABEL for label in known):
            known = []
        return self.chooser.choose(forest_of(trees, kind), given=known, threads=threads)

    def with_sure_labels(self, trees: Sequence[InputTree], threads: int = 1) -> list[InputTree]:
        """The trees, with chosen labels added where these are sure enough to order the words by: in
        trees with relations, and in trees of only a verb and a subject that the chooser
        takes for an object (see `with_subject`). Other trees stay as they are."""
        labeled = list(trees)
        places = [
            place
            for place, tree in enumerate(trees)
            if not is_fully_labeled(tree) and (has_relations(tree) or has_few_parts(tree))
        ]
        candidates = [trees[place] for place in places]
        chosen = self.labels(candidates, "words", threads) if candidates else []
        for place, tree, labels in zip(places, candidates, chosen, strict=True):
            sure_labels = labels if has_relations(tree) else with_subject(labels, tree)
            if sure_labels is not None:
                labeled[place] = with_labels(tree, sure_labels)
        return labeled

    def _inflected(self, tree: InputTree) -> PreparedTree:
        """The tree with all forms of each lemma; nodes without lemmas keep their forms."""
        forms = [
            self.inflector.forms(node)
            if node.lemma != UNKNOWN_LABEL
            else tuple(WordForm(form) for form in node.forms)
            for node in tree.nodes
        ]
        nodes = tuple(
            replace(node, forms=tuple(alternative.form for alternative in alternatives))
            for node, alternatives in zip(tree.nodes, forms, strict=True)
        )
        return PreparedTree(InputTree(nodes, tree.heads), forms)

    def _with_insertions(
        self, inflected: Sequence[PreparedTree], kind: LabelKind, threads: int
    ) -> list[PreparedTree]:
        """The trees with the words added that the inserter finds missing."""
        trees = [prepared.tree for prepared in inflected]
        missing_by_tree = self.inserter.missing_words(forest_of(trees, kind), threads=threads)
        labels = self.labels(trees, kind, threads)
        completed = []
        for prepared, tree_labels, missing in zip(inflected, labels, missing_by_tree, strict=True):
            relations = [label.relation for label in tree_labels]
            lacks_words = self.inserter.lacks_function_words(prepared.tree, relations)
            kinds = self.insert if lacks_words else self.insert - {"function"}
            tree = with_insertions(prepared.tree, relations, missing, kinds)
            # Added words change the numbers of the nodes, so forms are found again by their nodes.
            known_forms = {
                (node, form.form): form
                for node, forms in zip(prepared.tree.nodes, prepared.forms, strict=True)
                for form in forms
            }
            forms = [
                tuple(known_forms.get((node, form), WordForm(form)) for form in node.forms)
                for node in tree.nodes
            ]
            completed.append(PreparedTree(tree, forms))
        return completed


@dataclass(frozen=True, eq=False)
class CompletingModel:
    """A model that completes trees before it realizes them: `completer` inflects and adds words, and
    `ordering` puts the words in order and chooses one of several forms of a word."""

    ordering: RealizationModel
    completer: Completer

    @property
    def name(self) -> str:
        return self.ordering.name

    def realize(
        self, trees: Sequence[InputTree], *, n_best: int = 1, threads: int = 1
    ) -> list[Realized]:
        """Realizes the completed trees; the returned trees have the words that were added."""
        completed = self.completer.completed(trees, threads=threads)
        return self.ordering.realize(completed, n_best=n_best, threads=threads)


def train_completer(
    trees: Sequence[Tree], inserting: ChooserTraining, labeling: ChooserTraining
) -> Completer:
    """A completer learned from treebank trees in which ordinary words are in lower case at the
    beginning of the sentence too. No forms are learned from trees without lemmas, nor where
    lemminflect is not installed."""
    inserter = train_inserter(trees, inserting, labeling)
    inflector = learn_inflections(trees) if has_dictionary() else Inflector({})
    return Completer(inserter, inflector, inserter.labeler)


def by_label_kind(trees: Sequence[InputTree]) -> dict[LabelKind, list[int]]:
    """The places (from 0) of the trees with labels for all words, and of the other trees."""
    places: dict[LabelKind, list[int]] = {"words": [], "labels": []}
    for place, tree in enumerate(trees):
        places["labels" if is_fully_labeled(tree) else "words"].append(place)
    return places


def is_fully_labeled(tree: InputTree) -> bool:
    """Whether every node has a relation and a part of speech; otherwise the chooser of labels is used
    for the whole tree."""
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
    """The labels of a tree that has only a verb in *-s* or in the past and one object, with this object
    relabeled as the subject; None for other trees.

    The chooser of labels takes some subjects for objects (*barks a dog*), because it does not know that
    such a sentence needs a subject. Other verb forms may have no subject (*thank you*).
    """
    parts = [place for place in tree.daughters[0] if labels[place].relation != PUNCTUATION_RELATION]
    if labels[0].category not in FINITE_TAGS or len(parts) != 1:
        return None
    noun = labels[parts[0]]
    if noun.relation != "obj":
        return None
    subject = Label(noun.category, "nsubj")
    return [subject if place == parts[0] else label for place, label in enumerate(labels)]


def with_labels(tree: InputTree, labels: Sequence[Label]) -> InputTree:
    """The tree where every node without a part of speech or a relation gets its label from `labels`."""
    nodes = [
        node
        if known_category(node) != UNKNOWN_LABEL != node.relation
        else replace(node, xpos=label.category, relation=label.relation)
        for node, label in zip(tree.nodes, labels, strict=True)
    ]
    return InputTree(tuple(nodes), tree.heads)


def forest_of(trees: Sequence[InputTree], kind: LabelKind) -> Forest:
    """The trees as input of the chooser of labels; for the kind `labels` with their labels."""
    return Forest(
        [[node.form for node in tree.nodes] for tree in trees],
        np.array([head + 1 for tree in trees for head in tree.heads], np.int32),
        [[known_label_text(node) for node in tree.nodes] for tree in trees]
        if kind == "labels"
        else (),
    )
