"""`XtagGrammar`: the XTAG English grammar, read from the folder that users download.

The grammar (XTAG Research Group 2001, GPL) is not part of wellput. It is a tree-adjoining grammar:
each word is the *anchor* of an elementary tree, whose *substitution nodes* are for its arguments; a
tree with a *foot* is inserted into another tree. A *family* is the set of trees of one kind of verb or
predicate.

The trees lie in `grammar/*.trees`: a file for each family, whose name begins with T, and files for the
other trees. Each tree is two Lisp expressions: a header that begins with the tree's name, and the
nodes. The lexicon is `syntax/syntax-coded.flat`; `syntax/syndefaults.dat` has the entries for any word
of a category. The files are Latin-1; in names the bytes 2, 3 and 6 stand for α, β and ε. Here names
have the Greek letters: `αnx0Vnx1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from wellput.core.errors import InputError

GREEK_LETTERS = str.maketrans({"\x02": "α", "\x03": "β", "\x06": "ε"})
LISP_TOKEN = re.compile(r';[^\n]*|"((?:[^"\\]|\\.)*)"|([()])|([^\s()";]+)', re.DOTALL)
LEXICON_FIELD = re.compile(r"<<(\w+)>>([^<]*)")
# What stands for any word in the default entries.
DEFAULT_WORD = "%s"

NodeKind = Literal["inner", "anchor", "substitution", "foot", "word", "empty"]
KIND_OF_PROPERTY: dict[str, NodeKind] = {
    ":headp": "anchor",
    ":substp": "substitution",
    ":footp": "foot",
}
Expression: TypeAlias = "str | list[Expression]"


@dataclass(frozen=True)
class XtagNode:
    """A node of an elementary tree: `NP_0` has the label NP and the index 0. A node of kind `word` is a
    leaf whose word is fixed in the tree (*by* of the passive); an `empty` leaf has no word."""

    label: str
    index: str
    kind: NodeKind
    children: tuple[XtagNode, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.label}_{self.index}" if self.index else self.label

    def walk(self) -> Iterator[XtagNode]:
        """This node and all below it, from the left."""
        yield self
        for child in self.children:
            yield from child.walk()

    def __str__(self) -> str:
        mark = {"anchor": "◇", "substitution": "↓", "foot": "*"}.get(self.kind, "")
        below = f"({' '.join(map(str, self.children))})" if self.children else ""
        return f"{self.name}{mark}{below}"


@dataclass(frozen=True)
class ElementaryTree:
    """A tree with its name and its `group`, the name of its file without the suffix: its family, or
    `lex`, `punct` and the like."""

    name: str
    group: str
    root: XtagNode

    @cached_property
    def frontier(self) -> tuple[XtagNode, ...]:
        """The leaves where words and phrases stand, from the left: anchors, substitution nodes and the
        foot."""
        kinds = ("anchor", "substitution", "foot")
        return tuple(node for node in self.root.walk() if node.kind in kinds)


@dataclass(frozen=True)
class LexiconEntry:
    """One or more words, their categories, and the trees and families that they anchor together."""

    words: tuple[str, ...]
    categories: tuple[str, ...]
    trees: tuple[str, ...]
    families: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class XtagGrammar:
    """The trees by name, and the folder that the lexicon is read from. `defaults` are the entries for
    any word of a category; in the files their word is `%s`."""

    trees: dict[str, ElementaryTree]
    folder: Path

    @cached_property
    def families(self) -> dict[str, tuple[str, ...]]:
        """The names of each family's trees."""
        trees_by_family: dict[str, list[str]] = {}
        for tree in self.trees.values():
            if tree.group.startswith("T"):
                trees_by_family.setdefault(tree.group, []).append(tree.name)
        return {family: tuple(names) for family, names in trees_by_family.items()}

    @cached_property
    def lexicon(self) -> dict[str, tuple[LexiconEntry, ...]]:
        """The entries of each word, by its base form."""
        return _lexicon(self.folder / "syntax" / "syntax-coded.flat")

    @cached_property
    def defaults(self) -> tuple[LexiconEntry, ...]:
        return _lexicon(self.folder / "syntax" / "syndefaults.dat").get(DEFAULT_WORD, ())

    def trees_of(self, word: str, category: str) -> tuple[str, ...]:
        """The names of the trees that a word alone anchors as this category (N, V, A, Ad, …): those of
        its lexicon entries, or those of the default entries where it has none."""
        listed = [e for e in self.lexicon.get(word, ()) if e.categories == (category,)]
        entries = listed or [e for e in self.defaults if e.categories == (category,)]
        names: dict[str, None] = {}
        for entry in entries:
            names.update(dict.fromkeys(entry.trees))
            for family in entry.families:
                names.update(dict.fromkeys(self.families.get(family, ())))
        return tuple(names)


def read_xtag(folder: str | Path) -> XtagGrammar:
    """The grammar in a folder that has `grammar/*.trees` and `syntax/`."""
    files = sorted((Path(folder) / "grammar").glob("*.trees"))
    if not files:
        raise InputError(
            f"{folder} is not an XTAG grammar: it has no files grammar/*.trees. Give the folder from "
            "the grammar's archive that holds english.gram."
        )
    trees: dict[str, ElementaryTree] = {}
    for path in files:
        text = path.read_bytes().decode("latin-1")
        for tree in parse_trees(text, path.stem, str(path)):
            trees.setdefault(tree.name, tree)
    return XtagGrammar(trees, Path(folder))


def parse_trees(text: str, group: str, file_name: str = "The file") -> list[ElementaryTree]:
    """The trees of one file.

    >>> text = '("\\x03An" :COMMENTS "") (((("N" . "r"))) (((("A" . "")) :headp T)) '
    >>> print(parse_trees(text + '(((("N" . "f")) :footp T)))', "lex")[0].root)
    N_r(A◇ N_f*)
    """
    expressions = _expressions(text, file_name)
    if len(expressions) % 2:
        raise InputError(f"{file_name}: a tree lacks its header or its nodes.")
    trees = []
    for header, nodes in zip(expressions[::2], expressions[1::2], strict=True):
        if not isinstance(header, list) or not header or not isinstance(header[0], str):
            raise InputError(f"{file_name}: a tree's header must begin with its name.")
        name = header[0].translate(GREEK_LETTERS)
        try:
            trees.append(ElementaryTree(name, group, _node(nodes)))
        except (IndexError, TypeError, ValueError):
            raise InputError(f"{file_name}: the nodes of the tree {name} cannot be read.") from None
    return trees


def _expressions(text: str, file_name: str) -> list[Expression]:
    """The Lisp expressions of a text: lists as Python lists, strings and symbols as Python strings."""
    open_lists: list[list[Expression]] = [[]]
    for match in LISP_TOKEN.finditer(text):
        string, bracket, symbol = match.groups()
        if bracket == "(":
            open_lists.append([])
        elif bracket == ")":
            closed = open_lists.pop()
            if not open_lists:
                raise InputError(f"{file_name}: there is a closing bracket too many.")
            open_lists[-1].append(closed)
        elif string is not None or symbol is not None:
            open_lists[-1].append(string if string is not None else symbol)
    if len(open_lists) != 1:
        raise InputError(f"{file_name}: {len(open_lists) - 1} brackets are never closed.")
    return open_lists[0]


def _node(expression: Expression) -> XtagNode:
    """A node is ((((label . index)) property value ...) child ...)."""
    head, *below = _list(expression)
    labels, *properties = _list(head)
    label, _, index = _list(_list(labels)[0])
    if not isinstance(label, str) or not isinstance(index, str):
        raise TypeError(label)
    children = tuple(_node(child) for child in below)
    kind: NodeKind = "inner" if children else _kind_of_leaf(label)
    for name, value in zip(properties[::2], properties[1::2], strict=False):
        if isinstance(name, str) and name in KIND_OF_PROPERTY and value == "T":
            kind = KIND_OF_PROPERTY[name]
    return XtagNode(label.translate(GREEK_LETTERS), index, kind, children)


def _list(expression: Expression) -> list[Expression]:
    """The expression, if it is a list. Raises TypeError, which `parse_trees` reports, if it is not."""
    if isinstance(expression, str):
        raise TypeError(expression)
    return expression


def _kind_of_leaf(label: str) -> NodeKind:
    """The kind of a leaf without a mark: a word (the silent subject PRO counts as one), or empty (ε, or
    a category with nothing below it)."""
    is_word = label.islower() and label.isascii() and len(label) > 1
    return "word" if is_word or label == "PRO" else "empty"


def _lexicon(path: Path) -> dict[str, tuple[LexiconEntry, ...]]:
    """The entries of a lexicon file, by word."""
    if not path.is_file():
        raise InputError(f"{path} is missing: the XTAG grammar's lexicon is read from it.")
    entries_by_word: dict[str, list[LexiconEntry]] = {}
    for line in path.read_bytes().decode("latin-1").split("\n"):
        fields: dict[str, list[str]] = {}
        for name, value in LEXICON_FIELD.findall(line):
            fields.setdefault(name, []).append(value.strip())
        if "INDEX" not in fields:
            continue
        entry = LexiconEntry(
            tuple(fields.get("ENTRY", ())),
            tuple(fields.get("POS", ())),
            tuple(" ".join(fields.get("TREES", ())).translate(GREEK_LETTERS).split()),
            tuple(" ".join(fields.get("FAMILY", ())).split()),
        )
        entries_by_word.setdefault(fields["INDEX"][0], []).append(entry)
    return {word: tuple(entries) for word, entries in entries_by_word.items()}
