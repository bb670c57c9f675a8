"""`InputTree`: the input of a realizer, a dependency tree whose words have no order.

A node's *mother* is the node that it depends on; its *daughters* depend on it. Nodes are numbered
top-down from the root, which is 0; daughters are sorted by their words and labels and by what is below
them. So two inputs that differ only in the order of their nodes are equal, and a realizer cannot
depend on that order. Trees come from `core.tree.Tree` (CoNLL-U) by `unordered`, or from JSON by
`parse_input`: `{"word": "estimate", "children": [{"word": "There"}, ...]}`. In place of `word` a node
may have `words`, a list to choose from, or `synset`, a WordNet synset such as `car.n.01`, to choose
one of its words. A node may also have `relation`, `upos`, `xpos`, `lemma` and `feats`, which are read
if the kind of input uses them.

A `Realization` is a sentence made from a tree, and a `RealizationModel` makes it. A model is one way of
putting the words of a tree in order: FERGUS, FERGUS with weights, the baseline LR, or the learned
realizer (`--model` names them). It sees trees without order and without the capitals of first words,
which `realizer.py` takes off. A *system*, which generates the outputs of an evaluation set, is a
`Realizer` with such a model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.language.realize.lattice import Lattice

InputKind = Literal["words", "labels", "lemmas"]
MAX_NODES = 10_000
UNKNOWN_LABEL = "_"


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """A word to put in order: its form, or several forms among which the realizer chooses, and its
    labels; `_` stands for an unknown label."""

    forms: tuple[str, ...]
    relation: str = UNKNOWN_LABEL
    upos: str = UNKNOWN_LABEL
    xpos: str = UNKNOWN_LABEL
    lemma: str = UNKNOWN_LABEL
    feats: str = UNKNOWN_LABEL

    @property
    def form(self) -> str:
        return self.forms[0]


@dataclass(frozen=True)
class InputTree:
    """The nodes of a tree, mothers before their daughters. `heads[i]` is the number of node i's
    mother, -1 at the root."""

    nodes: tuple[Node, ...]
    heads: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def daughters(self) -> tuple[tuple[int, ...], ...]:
        """For each node, the numbers of its daughters."""
        daughters: list[list[int]] = [[] for _ in self.nodes]
        for node, head in enumerate(self.heads):
            if head >= 0:
                daughters[head].append(node)
        return tuple(map(tuple, daughters))


def unordered(tree: Tree, *, kind: InputKind = "words") -> InputTree:
    """A tree without its order, with the columns of a kind of input: `words` has only the inflected
    words, `labels` also relations and parts of speech, `lemmas` all columns but the inflected
    words."""
    nodes = []
    for word in tree.words:
        known = {"relation": word.relation, "upos": word.upos, "xpos": word.xpos}
        match kind:
            case "words":
                nodes.append(Node((word.form,)))
            case "labels":
                nodes.append(Node((word.form,), **known))
            case "lemmas":
                nodes.append(Node((word.lemma,), **known, lemma=word.lemma, feats=word.feats))
    return input_tree(nodes, [word.head - 1 for word in tree.words])


def check_lemmas(tree: Tree) -> None:
    """Raises InputError if a word of the tree has no lemma."""
    if bare := [word.form for word in tree.words if word.lemma == UNKNOWN_LABEL != word.form]:
        raise InputError(
            f"There is no lemma of {', '.join(map(repr, bare[:3]))}. input='lemmas' needs the lemma of "
            "each word; for Penn trees, wellput convert --lemmas fills them in."
        )


def input_tree(nodes: Sequence[Node], heads: Sequence[int]) -> InputTree:
    """The tree of these nodes, which may come in any order. `heads` has the place (from 0) of each
    node's mother, -1 for the root."""
    _check_tree(nodes, heads)
    order = _canonical_order(nodes, heads)
    places = {node: place for place, node in enumerate(order)}
    places[-1] = -1  # the head of the root
    return InputTree(
        tuple(nodes[node] for node in order), tuple(places[heads[node]] for node in order)
    )


def _check_tree(nodes: Sequence[Node], heads: Sequence[int]) -> None:
    """Raises InputError with everything that is wrong with the nodes and their heads (places from 0;
    −1 for the root)."""
    if not nodes:
        raise InputError("The tree is empty: there is nothing to realize.")
    if len(nodes) > MAX_NODES:
        raise InputError(f"The tree has {len(nodes):,} nodes; at most {MAX_NODES:,} are realized.")
    problems = []
    for place, node in enumerate(nodes, start=1):
        if not node.forms or not all(isinstance(form, str) for form in node.forms):
            problems.append(f"node {place}: the word must be text, not {node.forms!r}")
        elif any(not form or form.isspace() for form in node.forms):
            problems.append(f"node {place}: the word is blank")
    for place, head in enumerate(heads, start=1):
        if not -1 <= head < len(nodes):
            problems.append(f"node {place}: its head is {head + 1}; there are {len(nodes)} nodes")
    roots = [place for place, head in enumerate(heads, start=1) if head == -1]
    if len(roots) != 1:
        listed = f": nodes {', '.join(map(str, roots))}" if roots else ""
        problems.append(f"a tree has one root, this one has {len(roots)}{listed}")
    if not problems and (loop := _unreachable(heads)):
        problems.append(f"the heads form a circle; nodes {', '.join(map(str, loop))} hang on it")
    if problems:
        raise InputError.collect("The input is not a tree of words:", problems)


def _unreachable(heads: Sequence[int]) -> list[int]:
    """The numbers (from 1) of the nodes that no path leads to from the root."""
    reached = set(_top_down(heads))
    return [node + 1 for node in range(len(heads)) if node not in reached]


def _top_down(heads: Sequence[int]) -> list[int]:
    daughters: dict[int, list[int]] = {}
    for node, head in enumerate(heads):
        daughters.setdefault(head, []).append(node)
    order = list(daughters.get(-1, []))
    for node in order:
        order += daughters.get(node, [])
    return order


def _canonical_order(nodes: Sequence[Node], heads: Sequence[int]) -> list[int]:
    """The places of the nodes top-down, with daughters sorted by their subtrees.

    Subtrees are compared by their height, then by their top nodes, then by the ranks of the daughters'
    subtrees. Equal subtrees get equal ranks; it makes no difference which of them comes first.
    """
    order = _top_down(heads)
    daughters: list[list[int]] = [[] for _ in nodes]
    heights = [0] * len(nodes)
    for node in reversed(order):
        if (head := heads[node]) >= 0:
            daughters[head].append(node)
            heights[head] = max(heights[head], heights[node] + 1)
    by_height: list[list[int]] = [[] for _ in range(max(heights) + 1)]
    for node, height in enumerate(heights):
        by_height[height].append(node)
    ranks = [0] * len(nodes)
    rank = 0
    for level in by_height:
        keys = {node: (nodes[node], sorted(ranks[d] for d in daughters[node])) for node in level}
        level.sort(key=keys.__getitem__)
        for previous, node in zip([-1, *level], level, strict=False):
            rank += previous < 0 or keys[previous] != keys[node]
            ranks[node] = rank
    result = [order[0]]
    for node in result:
        result += sorted(daughters[node], key=ranks.__getitem__)
    return result


LABEL_KEYS = ("relation", "upos", "xpos")
NODE_KEYS = {"word", "words", "synset", "children", "lemma", "feats", "id", *LABEL_KEYS}
"""A node may have an `id`, which is not used."""

SynsetMembers = Callable[[str], Sequence[str]]


def read_inputs(path: PathLike, members: SynsetMembers, *, kind: InputKind) -> Iterator[InputTree]:
    """The trees of a file: one object on each line (JSONL), or one object or a list of objects (JSON).
    `members` gives the words of a synset."""
    file = InputFile(path)
    check_readable(file)
    is_empty = True
    for place, value in _values(file):
        is_empty = False
        try:
            yield parse_input(value, members, kind=kind)
        except InputError as error:
            raise InputError(f"{file.name}, {place}: {error}") from None
    if is_empty:
        raise InputError(f"{file.name} has no trees.")


def parse_input(
    value: object, members: SynsetMembers | None = None, *, kind: InputKind = "words"
) -> InputTree:
    """The tree of a JSON object; `members` gives the words of a synset.

    >>> tree = parse_input({"word": "sat", "children": [{"word": "cat"}]})
    >>> [node.form for node in tree.nodes]
    ['sat', 'cat']
    """
    nodes: list[Node] = []
    heads: list[int] = []
    waiting = [(value, -1)]
    while waiting:
        item, head = waiting.pop()
        if not isinstance(item, Mapping):
            raise InputError(f'a node is an object such as {{"word": "cat"}}, not {_shown(item)}')
        if unknown := sorted(map(str, item.keys() - NODE_KEYS)):
            raise InputError(f"a node has no key {', '.join(unknown)}; it has {_keys()}")
        nodes.append(_node(item, members, kind))
        heads.append(head)
        children = item.get("children", [])
        if not isinstance(children, list | tuple):
            raise InputError(f"children must be a list of nodes, not {_shown(children)}")
        waiting += [(child, len(nodes) - 1) for child in children]
        if len(nodes) + len(waiting) > MAX_NODES:
            # This also ends the loop for an object that contains itself, which only a program can
            # build.
            raise InputError(f"the tree has more than {MAX_NODES:,} nodes, or contains itself")
    return input_tree(nodes, heads)


def _node(item: Mapping[str, Any], members: SynsetMembers | None, kind: InputKind) -> Node:
    """A node of the JSON as the realizer takes it. `members` looks up the words of a WordNet
    synset."""
    word_keys = [key for key in ("word", "words", "synset") if key in item]
    labels = {key: _text(item, key) for key in LABEL_KEYS} if kind != "words" else {}
    if kind == "lemmas":
        if "lemma" not in item:
            raise InputError(
                f"input='lemmas' needs a lemma for each node; this one is {_shown(item)}"
            )
        lemma = _text(item, "lemma")
        return Node((lemma,), **labels, lemma=lemma, feats=_text(item, "feats"))
    if len(word_keys) != 1:
        raise InputError(f"a node has one of word, words and synset; this one is {_shown(item)}")
    match word_keys[0]:
        case "word":
            forms: Sequence[object] = [item["word"]]
        case "words":
            # [None] fails the check below.
            forms = item["words"] if isinstance(item["words"], list | tuple) else [None]
        case _:
            if members is None:
                raise InputError("a synset needs a WordNet to look it up in")
            forms = members(_text(item, "synset"))
    texts = tuple(form for form in forms if isinstance(form, str) and form.strip())
    if not texts or len(texts) != len(forms):
        raise InputError(f"{word_keys[0]} must be text that is not blank, not {_shown(item)}")
    if any("\n" in text for text in texts):
        raise InputError(f"{word_keys[0]} must be on one line, not {_shown(item)}")
    return Node(tuple(dict.fromkeys(texts)), **labels)


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key, UNKNOWN_LABEL)
    if not isinstance(value, str) or not value or "\n" in value:
        raise InputError(f"{key} must be text on one line, not {_shown(value)}")
    return value


def _values(file: InputFile) -> Iterator[tuple[str, object]]:
    if file.suffix == ".jsonl":
        for number, line in enumerate(file.lines(), start=1):
            if line.strip():
                yield f"line {number}", _parsed(line, file.name, number)
        return
    value = _parsed("\n".join(file.lines()), file.name, 1)
    for number, item in enumerate(value if isinstance(value, list) else [value], start=1):
        yield f"tree {number}", item


def _parsed(text: str, name: str, line: int) -> object:
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError(f"{name}, line {line}: nodes are nested too deeply.") from None
    except ValueError as error:
        raise InputError(f"{name}, line {line}: this is not JSON ({error}).") from None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _keys() -> str:
    return ", ".join(
        ["word (or words, or synset)", "children", *LABEL_KEYS, "lemma", "feats", "id"]
    )


@dataclass(frozen=True)
class Realization:
    """A sentence: its words, the numbers of the nodes that they stand for, the model's score (only to
    compare realizations of one tree; a natural logarithm for FERGUS and LR) and, where the model is
    FERGUS or LR, the sentence's log10 probability under the n-gram model."""

    words: tuple[str, ...]
    nodes: tuple[int, ...]
    score: float
    log_prob: float | None = None

    @property
    def text(self) -> str:
        """The words with one space between them."""
        return " ".join(self.words)


@dataclass(frozen=True)
class Realized:
    """A tree's realizations, best first. `is_exact` is False where the search left out some orders, so
    that a better one may exist. The nodes' supertags (as text) and the lattice are kept for
    display."""

    tree: InputTree
    best: tuple[Realization, ...]
    is_exact: bool
    supertags: tuple[str, ...] = ()
    lattice: Lattice | None = None


class RealizationModel(Protocol):
    """A model that realizes many trees at a time."""

    @property
    def name(self) -> str:
        """The name by which users choose it: `fergus`, `lr`, …"""

    def realize(
        self, trees: Sequence[InputTree], *, n_best: int = 1, threads: int = 1
    ) -> list[Realized]:
        """The realizations of each tree, at most `n_best`."""
