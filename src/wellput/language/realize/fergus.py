"""FERGUS (Bangalore, Rambow & Whittaker 2000), a realizer of unordered dependency trees in three steps.

`fergus` follows the paper. The *tree chooser*, a tree model, gives every node a supertag (a part of
speech that also says how the word attaches, see `trees/supertags.py`). The *unraveler* makes a lattice
of all word orders that the grammar allows for these supertags. The *LP chooser* (linear precedence)
takes the path that is most probable under an n-gram model. `fergus+` also has weights on the arcs of
the lattice. The baseline `lr` works without supertags: its lattice allows the sides on which pairs of
words mostly stood in training.

The grammar is `induced` from the treebank, or `xtag:DIR`, the XTAG grammar in a folder. The tree
chooser always chooses induced supertags; XTAG's elementary trees follow from these. Where an input has
parts of speech but no relations, the elementary trees follow from the parts of speech alone, which
allows more word orders. Such an input may have the heads of XTAG instead of those of Universal
Dependencies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from math import log
from operator import attrgetter
from typing import Any

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.core.tree import Tree, Word
from wellput.language.models.ngrams import NgramModel
from wellput.language.models.tree_model import ChoosingMethod, TreeModel, UnorderedTree
from wellput.language.realize.baselines import LeftRight
from wellput.language.realize.inputs import UNKNOWN_LABEL, InputTree, Realization, Realized
from wellput.language.realize.lattice import SEARCH_WIDTH, BestPaths, choose_paths
from wellput.language.realize.parameters import Phrase, PrecedenceModel, phrases_of
from wellput.language.realize.unraveler import Precedence, Unraveled, unravel
from wellput.language.trees.supertags import (
    InducedGrammar,
    OrderingGrammar,
    Supertag,
    attaching_relation,
    category_of,
)

XTAG_PREFIX = "xtag:"


@dataclass(frozen=True, eq=False)
class NamedGrammar:
    """A grammar with two functions: `translate` takes a tree and its induced supertags, and returns the
    grammar's own supertags; `shown` writes such a supertag as text."""

    grammar: OrderingGrammar[Any]
    translate: Callable[[InputTree, Sequence[Supertag]], Sequence[Any]]
    shown: Callable[[Any], str] = str


def induced_grammar() -> NamedGrammar:
    """The grammar that is induced from the treebank."""
    return NamedGrammar(InducedGrammar(), lambda _, supertags: supertags)


def grammar_named(name: str) -> NamedGrammar:
    """The grammar that a user named: `induced` or `xtag:DIR`."""
    if name == "induced":
        return induced_grammar()
    if not name.startswith(XTAG_PREFIX) or name == XTAG_PREFIX:
        raise InputError(
            f"There is no grammar {name!r}. Pass induced, or xtag: followed by a folder."
        )
    return _xtag(name.removeprefix(XTAG_PREFIX))


def _xtag(folder: str) -> NamedGrammar:
    """The XTAG grammar in a folder."""
    from wellput.language.trees.xtag import read_xtag
    from wellput.language.trees.xtag_mapping import xtag_supertags, xtag_supertags_of_tree
    from wellput.language.trees.xtag_places import XtagPlaces, XtagSupertag

    grammar = read_xtag(folder)

    def translate(tree: InputTree, supertags: Sequence[Supertag]) -> Sequence[XtagSupertag]:
        forms = [node.form for node in tree.nodes]
        heads = [head + 1 for head in tree.heads]
        if all(node.relation == UNKNOWN_LABEL != node.xpos for node in tree.nodes):
            tags = [node.xpos for node in tree.nodes]
            words = map(Word, forms, heads, repeat(UNKNOWN_LABEL), repeat(UNKNOWN_LABEL), tags)
            return xtag_supertags_of_tree(grammar, Tree(tuple(words)))
        return xtag_supertags(grammar, forms, heads, supertags)

    return NamedGrammar(XtagPlaces(grammar), translate, attrgetter("tree"))


# Roughly the number of English words that an n-gram model does not know.
ASSUMED_UNKNOWN_WORDS = 100_000
# The search width of the LP chooser for LR; FERGUS has `SEARCH_WIDTH`.
LEFT_RIGHT_WIDTH = 25


@dataclass(frozen=True, eq=False)
class Fergus:
    """The models `fergus` and `fergus+`. `fergus+` has a `precedence` model, which weights the order of
    daughters; `lm_weight` is the weight of the n-gram model beside it. `method` is how supertags are
    chosen: all of a tree together or, as in the paper, top-down. `width` is that of the LP chooser."""

    name: str
    tree_model: TreeModel
    ngrams: NgramModel
    grammar: NamedGrammar
    precedence: PrecedenceModel | None = None
    lm_weight: float = 1.0
    method: ChoosingMethod = "exact"
    width: int = SEARCH_WIDTH

    def realize(
        self, trees: Sequence[InputTree], *, n_best: int = 1, threads: int = 1
    ) -> list[Realized]:
        supertags = self.choose_supertags(trees, threads=threads)
        return self.order(trees, supertags, n_best=n_best, threads=threads)

    def order(
        self,
        trees: Sequence[InputTree],
        supertags: Sequence[Sequence[Supertag]],
        *,
        n_best: int = 1,
        threads: int = 1,
    ) -> list[Realized]:
        """Runs the unraveler and the LP chooser on trees whose supertags are chosen."""
        translated = list(map(self.grammar.translate, trees, supertags))
        unraveled = [
            unravel(
                tree,
                grammar_supertags,
                self.grammar.grammar,
                precedence=self._precedence(tree, chosen),
                form_weight=self._form_weight,
            )
            for tree, grammar_supertags, chosen in zip(trees, translated, supertags, strict=True)
        ]
        choices = choose_paths(
            [unraveled_tree.lattice for unraveled_tree in unraveled],
            self.ngrams,
            lm_weight=self.lm_weight,
            n_best=n_best,
            width=self.width,
            threads=threads,
        )
        shown = [tuple(map(self.grammar.shown, tree_supertags)) for tree_supertags in translated]
        return _realized(trees, shown, unraveled, choices)

    def choose_supertags(
        self, trees: Sequence[InputTree], *, threads: int = 1
    ) -> list[tuple[Supertag, ...]]:
        """Runs the tree chooser: a supertag for every node of each tree."""
        choices = self.tree_model.choose(
            [unordered_tree(tree) for tree in trees], method=self.method, threads=threads
        )
        return [best_first[0].supertags for best_first in choices]

    def _form_weight(self, form: str) -> float:
        """The log weight of one of a node's several forms. The n-gram model gives all unknown words
        together the probability of `<unk>`, so an unknown form, which is only one of them, gets a
        negative weight."""
        is_known = not self.ngrams.word_scores(form)[0].is_unknown
        return 0.0 if is_known else -self.lm_weight * log(ASSUMED_UNKNOWN_WORDS)

    def _precedence(self, tree: InputTree, supertags: Sequence[Supertag]) -> Precedence | None:
        if self.precedence is None:
            return None
        return partial(_weights, self.precedence, phrases_of(tree, supertags))


@dataclass(frozen=True, eq=False)
class LeftRightModel:
    """The baseline LR; the n-gram model chooses among the orders that LR allows."""

    left_right: LeftRight
    ngrams: NgramModel
    width: int = LEFT_RIGHT_WIDTH
    name: str = "lr"

    def realize(
        self, trees: Sequence[InputTree], *, n_best: int = 1, threads: int = 1
    ) -> list[Realized]:
        unraveled = [
            unravel(tree, [node.form for node in tree.nodes], self.left_right) for tree in trees
        ]
        lattices = [unraveled_tree.lattice for unraveled_tree in unraveled]
        choices = choose_paths(
            lattices, self.ngrams, n_best=n_best, width=self.width, threads=threads
        )
        return _realized(trees, [()] * len(trees), unraveled, choices)


def unordered_tree(tree: InputTree) -> UnorderedTree:
    """The tree as input of a tree model, with its known parts of speech and relations."""
    forms = tuple(node.form for node in tree.nodes)
    heads = tuple(head + 1 for head in tree.heads)
    words = [
        Word(node.form, head, upos=node.upos, xpos=node.xpos, relation=node.relation)
        for node, head in zip(tree.nodes, heads, strict=True)
    ]
    categories = tuple(
        category_of(word) if (word.xpos, word.upos) != (UNKNOWN_LABEL, UNKNOWN_LABEL) else None
        for word in words
    )
    relations = tuple(
        attaching_relation(word) if word.relation != UNKNOWN_LABEL else None for word in words
    )
    return UnorderedTree(forms, heads, categories, relations)


def _weights(
    model: PrecedenceModel, phrases: Sequence[Phrase], _mother: int, daughters: Sequence[int]
) -> Floats:
    """The log weights of the order of each two daughters, as the unraveler takes them."""
    return model.weights([phrases[daughter] for daughter in daughters])


def _realized(
    trees: Sequence[InputTree],
    supertags: Sequence[tuple[str, ...]],
    unraveled: Sequence[Unraveled],
    choices: Sequence[BestPaths],
) -> list[Realized]:
    """The paths that the LP chooser found, as realizations of the trees."""
    realized = []
    for tree, tree_supertags, unraveled_tree, choice in zip(
        trees, supertags, unraveled, choices, strict=True
    ):
        words, nodes = unraveled_tree.lattice.words, unraveled_tree.nodes
        best = tuple(
            Realization(
                tuple(words[word] for word in path.words),
                tuple(nodes[word] for word in path.words),
                path.score,
                path.log_prob,
            )
            for path in choice.paths
        )
        is_exact = choice.is_exact and not unraveled_tree.is_restricted
        realized.append(Realized(tree, best, is_exact, tree_supertags, unraveled_tree.lattice))
    return realized
