"""Checks the JSON-like record of an item and turns it into an `Item`.

JSONL, CSV, TSV and Parquet all use this, so that they accept the same data with the same messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from wellput.core.errors import InputError, Problems, counted
from wellput.core.evalset import NO_REFERENCES, NO_TAGS, NO_TREES, Item, Output
from wellput.core.tree import Tree

Trees = tuple[Tree | None, ...]

KEYS_BY_SYSTEM = ("references_by_system", "trees_by_system")
"""The keys for references and trees that only one system has."""
ITEM_KEYS = (
    *("id", "source", "context", "references", "tree", "trees", "outputs", "derivation"),
    *KEYS_BY_SYSTEM,
    *("document", "tags"),
)
KNOWN_KEYS = frozenset(ITEM_KEYS)
KEY_SYNONYMS = {
    other: key
    for key, others in {
        "id": "item item_id",
        "source": "src input",
        "references": "ref refs target targets",
        "outputs": "hyp hyps hypothesis hypotheses mt prediction predictions systems",
    }.items()
    for other in others.split()
}
"""Keys of other tools, each with its key here. Misspelled keys are found by similarity instead."""


class RecordReader:
    """Turns records into items and adds what is wrong to `problems`.

    `unit` is what a record's number counts: "line" or "row". Trees are parsed if `parse_trees` is true,
    or if a reference is known only from its tree. `are_named`: the user said which keys are used, so
    other keys are not reported as misspelled.
    """

    def __init__(
        self,
        problems: Problems,
        *,
        unit: str = "line",
        parse_trees: bool = True,
        are_named: bool = False,
    ) -> None:
        self._are_named = are_named
        self._problems = problems
        self._unit = unit
        self._parse_trees = parse_trees

    def item(self, number: int, record: object) -> Item | None:
        """The item of a record, or None if it has a problem."""
        problems_before = self._problems.total
        if not isinstance(record, dict):
            self._problems.add(
                f"{self._unit} {number}", f"an object is needed, not {_kind(record)}"
            )
            return None
        identifier = record.get("id")
        where = f"{self._unit} {number}"
        if type(identifier) is int:
            identifier = str(identifier)
        if isinstance(identifier, str) and identifier:
            where = f"{where} (item {identifier})"
        elif "id" in record:
            self._problems.add(
                where, f"the id must be a text or a whole number, not {_kind(identifier)}"
            )
        elif "id" not in map(intended_key, record):
            self._problems.add(where, 'no "id"; every item needs one')

        def complain(what: str) -> None:
            self._problems.add(where, what)

        if not self._are_named and not KNOWN_KEYS.issuperset(record):
            self._refuse_misspelled(record, complain)
        item = self._item(identifier, record, complain)
        return item if self._problems.total == problems_before else None

    def _item(
        self, identifier: Any, record: dict[str, Any], complain: Callable[[str], None]
    ) -> Item:
        """The item of a record; `complain` is called with each problem."""
        derivation = record.get("derivation")
        has_object = False
        outputs: dict[str, Output] = {}
        for system, output in _mapping(record, "outputs", complain).items():
            if isinstance(output, str):
                outputs[system] = output
            elif isinstance(output, list):
                outputs[system] = _samples(output, system, complain)
            elif isinstance(output, dict):
                outputs[system] = output
                has_object = True
            elif output is not None:
                complain(f"the output of {system} must be a text, not {_kind(output)}")
        if has_object or derivation is not None:
            from wellput.core.output_kinds import check_objects

            check_objects(derivation, outputs, complain)
        references, trees = self._references(record, complain)
        by_system: Mapping[str, tuple[str, ...]] = NO_REFERENCES
        trees_by_system: Mapping[str, Trees] = NO_TREES
        if any(key in record for key in KEYS_BY_SYSTEM):
            by_system, trees_by_system = self._by_system(record, references, complain)
        return Item(
            identifier,
            outputs,
            references,
            trees,
            _text(record, "source", complain),
            _text(record, "context", complain),
            derivation,
            by_system,
            trees_by_system,
            document=_name(record.get("document"), "document", complain),
            tags=_tags(record, complain) if "tags" in record else NO_TAGS,
        )

    def _references(
        self, record: dict[str, Any], complain: Callable[[str], None]
    ) -> tuple[tuple[str, ...], Trees]:
        """The references that all systems share, and their trees."""
        trees = record.get("trees")
        if (short := record.get("tree")) is not None:
            if trees is not None:
                complain('both "tree" and "trees"; "tree" is short for the first of "trees"')
            trees = [short]
        texts = _texts(record.get("references"), "references", complain)
        if trees is None:
            return texts or (), ()
        return self._with_trees(texts, trees, "trees", complain)

    def _by_system(
        self, record: dict[str, Any], shared: tuple[str, ...], complain: Callable[[str], None]
    ) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, Trees]]:
        """The references and the trees of systems that have their own; `shared` are the references of
        all other systems."""
        references: dict[str, tuple[str, ...]] = {}
        trees: dict[str, Trees] = {}
        for system, texts in _mapping(record, "references_by_system", complain).items():
            checked = _texts(texts, f"references_by_system of {system}", complain)
            if checked is not None:
                references[system] = checked
        for system, tree_texts in _mapping(record, "trees_by_system", complain).items():
            if tree_texts is not None:
                system_references = references.get(system, shared)
                name = f"trees_by_system of {system}"
                _, trees[system] = self._with_trees(system_references, tree_texts, name, complain)
        return references, trees

    def _with_trees(
        self, texts: tuple[str, ...] | None, trees: Any, name: str, complain: Callable[[str], None]
    ) -> tuple[tuple[str, ...], Trees]:
        """The references and their parsed trees, two lists of equal length (no trees if they are not
        parsed). `texts` are the references, `trees` CoNLL-U texts or None."""
        if not isinstance(trees, list) or not all(t is None or isinstance(t, str) for t in trees):
            complain(f"{name} must be a list of CoNLL-U texts or nulls")
            return texts or (), ()
        if texts is not None and len(trees) > len(texts):
            entries = counted(len(trees), "entry", "entries")
            complain(f"{name} has {entries} for {counted(len(texts), 'reference')}")
            return texts, ()
        if texts is not None and not self._parse_trees:
            return texts, ()
        parsed = [self._tree(text, f"{name}[{i}]", complain) for i, text in enumerate(trees)]
        if texts is None:
            if None in trees:
                complain(f"{name}[{trees.index(None)}] is null, and there is no reference for it")
            return tuple(tree.text for tree in parsed if tree is not None), tuple(parsed)
        for i, (text, tree) in enumerate(zip(texts, parsed, strict=False)):
            if tree is not None and (mismatch := tree.mismatch(text)):
                complain(f"{name}[{i}] {mismatch}")
        return texts, (*parsed, *[None] * (len(texts) - len(parsed)))

    def _tree(self, text: str | None, name: str, complain: Callable[[str], None]) -> Tree | None:
        """The tree in a text; None without a text, and for a wrong tree, after calling `complain`."""
        if text is None:
            return None
        from wellput.io.trees import parse_tree

        try:
            return parse_tree(text)
        except InputError as error:
            for line in str(error).split("\n"):
                if not line.endswith(":"):  # the headline above the problems
                    complain(f"{name}, {line.strip()}")
            return None

    def _refuse_misspelled(self, record: dict[str, Any], complain: Callable[[str], None]) -> None:
        for key in record:
            intended = intended_key(key)
            if intended != key and intended and intended not in record:
                complain(f'unknown key "{key}". Did you mean "{intended}"?')


@lru_cache(1000)
def intended_key(key: str) -> str:
    """The known key that is probably intended: `key` itself if it is known, "" if no known key is
    similar.

    >>> intended_key("Hypotheses"), intended_key("reference"), intended_key("note")
    ('outputs', 'references', '')
    """
    similar = get_close_matches(key.lower(), ITEM_KEYS, n=1, cutoff=0.85)
    return KEY_SYNONYMS.get(key.lower(), similar[0] if similar else "")


def _text(record: dict[str, Any], key: str, complain: Callable[[str], None]) -> str | None:
    value = record.get(key)
    if value is None or isinstance(value, str):
        return value
    complain(f"{key} must be a text, not {_kind(value)}")
    return None


def _samples(texts: list[Any], system: str, complain: Callable[[str], None]) -> Output:
    """The output for a list of samples: a tuple of texts, or the text if there is only one sample."""
    if not texts:
        complain(f"the output of {system} is an empty list; leave it out if there is no output")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            complain(f"sample {i} of {system} must be a text, not {_kind(text)}")
    return texts[0] if len(texts) == 1 else tuple(texts)


def _name(value: Any, what: str, complain: Callable[[str], None]) -> str | None:
    """The name of a document, or the value of a tag, as text: it may be a text, a whole number, true or
    false. Null and the empty text are missing."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int):
        return str(value)
    complain(f"{what} must be a text, not {_kind(value)}")
    return None


def _tags(record: dict[str, Any], complain: Callable[[str], None]) -> Mapping[str, str]:
    """The tags of a record, by name."""
    tags = record["tags"]
    if tags is None:
        return NO_TAGS
    if not isinstance(tags, dict):
        complain(f"tags must be an object of names and texts, not {_kind(tags)}")
        return NO_TAGS
    if "" in tags:
        complain("tags has a tag without a name")
    named = {tag: _name(value, f"the tag {tag}", complain) for tag, value in tags.items()}
    return {tag: value for tag, value in named.items() if value is not None}


def _texts(value: Any, name: str, complain: Callable[[str], None]) -> tuple[str, ...] | None:
    """The texts of a list; None for null and for anything else, about which this complains."""
    if value is None:
        return None
    if isinstance(value, str):
        complain(f'{name} must be a list of texts; put the one text in brackets: ["…"]')
        return None
    if not isinstance(value, list):
        complain(f"{name} must be a list of texts, not {_kind(value)}")
        return None
    for i, entry in enumerate(value):
        if not isinstance(entry, str):
            complain(f"{name}[{i}] must be a text, not {_kind(entry)}")
            return None
    return tuple(value)


def _mapping(
    record: dict[str, Any], key: str, complain: Callable[[str], None]
) -> Mapping[str, Any]:
    """The value of a key that must be an object whose keys are system names; empty if it is missing or
    wrong."""
    value = record.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        complain(f"{key} must be an object whose keys are system names, not {_kind(value)}")
        return {}
    if "" in value:
        complain(f"{key} has a system without a name")
    return value


def _kind(value: object) -> str:
    """What a JSON value is, in words.

    >>> _kind([1]), _kind(None)
    ('a list', 'null')
    """
    if value is None:
        return "null"
    if value == "":
        return "the empty text"
    names = {
        str: "a text", bool: "true or false", int: "a number", float: "a number", list: "a list",
        dict: "an object",
    }  # fmt: skip
    return names.get(type(value), type(value).__name__)
