"""Inputs written as JSON: `{"word": "estimate", "children": [{"word": "There"}, ...]}`.

In place of `word` a node may have `words`, a list to choose from, or `synset`, a WordNet synset such as
`car.n.01` whose members are the choice. `relation`, `upos`, `xpos`, `lemma` and `feats` are known to
the kinds of input that have them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from wellput.core.errors import InputError
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.language.realize.inputs import (
    MAX_NODES,
    UNKNOWN,
    InputKind,
    InputTree,
    Node,
    input_tree,
)

LABELS = ("relation", "upos", "xpos")
KEYS = {"word", "words", "synset", "children", "lemma", "feats", "id", *LABELS}

Members = Callable[[str], Sequence[str]]


def read_inputs(path: PathLike, members: Members, *, kind: InputKind) -> Iterator[InputTree]:
    """The trees of a file: an object a line (JSONL), or one object or list of objects (JSON)."""
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
    value: object, members: Members | None = None, *, kind: InputKind = "words"
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
        if unknown := sorted(map(str, item.keys() - KEYS)):
            raise InputError(f"a node has no key {', '.join(unknown)}; it has {_keys()}")
        nodes.append(_node(item, members, kind))
        heads.append(head)
        children = item.get("children", [])
        if not isinstance(children, list | tuple):
            raise InputError(f"children must be a list of nodes, not {_shown(children)}")
        waiting += [(child, len(nodes) - 1) for child in children]
        if len(nodes) + len(waiting) > MAX_NODES:
            # An object that contains itself, which only a program can build, ends here too.
            raise InputError(f"the tree has more than {MAX_NODES:,} nodes, or contains itself")
    return input_tree(nodes, heads)


def _node(item: Mapping[str, Any], members: Members | None, kind: InputKind) -> Node:
    given = [key for key in ("word", "words", "synset") if key in item]
    labels = {key: _text(item, key) for key in LABELS} if kind != "words" else {}
    if kind == "lemmas":
        lemma = _text(item, "lemma")
        return Node((lemma,), **labels, lemma=lemma, feats=_text(item, "feats"))
    if len(given) != 1:
        raise InputError(f"a node has one of word, words and synset; this one is {_shown(item)}")
    match given[0]:
        case "word":
            forms: Sequence[object] = [item["word"]]
        case "words":
            forms = item["words"] if isinstance(item["words"], list | tuple) else [None]
        case _:
            if members is None:
                raise InputError("a synset needs a WordNet to look it up in")
            forms = members(_text(item, "synset"))
    texts = tuple(form for form in forms if isinstance(form, str) and form.strip())
    if not texts or len(texts) != len(forms):
        raise InputError(f"{given[0]} must be text that is not blank, not {_shown(item)}")
    if any("\n" in text for text in texts):
        raise InputError(f"{given[0]} must be on one line, not {_shown(item)}")
    return Node(tuple(dict.fromkeys(texts)), **labels)


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key, UNKNOWN)
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
        raise InputError(f"{name}, line {line}: this is no JSON ({error}).") from None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _keys() -> str:
    return ", ".join(["word (or words, or synset)", "children", *LABELS, "lemma", "feats", "id"])
