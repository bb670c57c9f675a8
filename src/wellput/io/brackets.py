"""Constituent trees in Penn Treebank brackets: `( (S (NP (DT the) (NN cat)) (VP (VBD sat))))`.

White space only separates; a file holds one tree after another. The empty label of the outermost
bracket is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wellput.core.errors import InputError
from wellput.core.tree import Constituent
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.problems import Problems

TOKEN = re.compile(r"[()]|[^\s()]+")


def read_constituents(path: PathLike) -> Iterator[Constituent]:
    """The trees of a file in order, one in memory at a time.

    Raises InputError after the last, with all that are wrong; after a wrong tree reading goes on at
    the next line that begins with a bracket.
    """
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    is_empty = True
    for tree in _trees(file.lines(), problems):
        is_empty = False
        if not problems:
            yield tree
    problems.raise_if_any()
    if is_empty:
        raise InputError(f"{file.name} holds no tree.")


def parse_constituent(text: str) -> Constituent:
    """The one tree of a text.

    >>> parse_constituent("(NP (DT the) (NN cat))").words
    ('the', 'cat')
    """
    problems = Problems("The bracketed tree")
    trees = list(_trees(iter(text.split("\n")), problems))
    problems.raise_if_any()
    if len(trees) != 1:
        raise InputError(f"One bracketed tree is needed here; this text holds {len(trees)}.")
    return trees[0]


def format_constituent(tree: Constituent) -> str:
    """The tree on one line, without a line end."""
    pieces: list[str] = []
    waiting: list[Constituent | str] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            pieces.append(node)
        elif node.word is not None:
            pieces.append(f"({node.label} {node.word})")
        else:
            pieces.append(f"({node.label}")
            waiting.append(")")
            for child in reversed(node.children):
                waiting += [child, " "]
    return "".join(pieces)


class _Open:
    """A bracket that is not closed yet."""

    def __init__(self) -> None:
        self.label: str | None = None
        self.word: str | None = None
        self.children: list[Constituent] = []


def _trees(lines: Iterator[str], problems: Problems) -> Iterator[Constituent]:
    stack: list[_Open] = []
    first = number = 0
    is_lost = False
    for number, line in enumerate(lines, start=1):
        if is_lost and not line.startswith("("):
            continue
        is_lost = False
        for token in TOKEN.findall(line):
            if token == "(" and not stack:
                first = number
            wrong, tree = _step(stack, token)
            if wrong:
                problems.add(f"line {number}", wrong)
                stack.clear()
                is_lost = True
                break
            if tree is not None:
                yield tree
    if stack:
        problems.add(f"line {first}", f"a tree begins here that is not closed by line {number}")


def _step(stack: list[_Open], token: str) -> tuple[str, Constituent | None]:
    """Takes one token in: what is wrong with it, and the tree that it completes."""
    if token == "(":
        if stack and stack[-1].word is not None:
            return f"a bracket after the word {stack[-1].word!r}", None
        stack.append(_Open())
        return "", None
    if not stack:
        return f"{token!r} outside of a tree", None
    node = stack[-1]
    if token != ")":
        if node.label is None and not node.children:
            node.label = token
        elif node.children or node.word is not None:
            return f"{token!r} where a bracket was expected", None
        else:
            node.word = token
        return "", None
    if node.word is None and not node.children:
        return f"the bracket of {node.label!r} holds no word and no bracket", None
    stack.pop()
    done = Constituent(node.label or "", tuple(node.children), node.word)
    if not stack:
        return "", done
    stack[-1].children.append(done)
    return "", None
