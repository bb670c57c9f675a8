"""`ParsedReferences`: a source whose references are parsed while they are read, so that they have
trees.

The process that reads a partition also parses its references; on a cluster this is a worker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.core.source import EvalSource, Partition
from wellput.core.tree import Tree
from wellput.core.work import OnPhase, ignore_phase
from wellput.language.models.language_check import (
    TREE_CONSEQUENCES,
    not_english_sentence,
    reasons_against,
)
from wellput.language.models.parsers import ENGLISH_PARSER
from wellput.language.models.sentence_parsing import SentenceParser

TEXTS_PER_CALL = 256
"""The number of texts in one call of the parser: enough for all threads, few enough to show
progress."""

MAX_CHECKED_REFERENCES = 1000
"""At most this many references, the first ones of a source, are checked for being English."""

MAX_KEPT_TREES = 1 << 17
"""The number of trees that are kept for references that occur again. The limit prevents that a large
file fills the memory."""


class Parse(Protocol):
    """A function from texts to their trees; the tree of an empty text has no words. It can be sent to
    another process."""

    def __call__(self, texts: Sequence[str], *, threads: int) -> Sequence[Tree]: ...


@dataclass(frozen=True)
class NamedParser:
    """The parser `english` or `spacy:NAME`; each process loads it when it parses for the first time."""

    name: str

    def __call__(self, texts: Sequence[str], *, threads: int) -> Sequence[Tree]:
        return _loaded(self.name).trees(texts, threads=threads)

    @property
    def signature(self) -> str:
        return _loaded(self.name).parser.signature


@cache
def _loaded(name: str) -> SentenceParser:
    # `is_weighed` would also load the head-driven parser, which gives probabilities of sentences.
    return SentenceParser.load(name, is_weighed=False)


class ParsedReferences(EvalSource):
    """The items of another source, with a tree for each reference. References that already have a
    tree keep it.

    `parser_signature` names the parser in the signatures of metrics that need trees.
    """

    def __init__(
        self,
        source: EvalSource,
        parse: Parse,
        parser_signature: str,
        *,
        threads: int = 1,
        on_phase: OnPhase = ignore_phase,
    ) -> None:
        self.source = source
        self.parse = parse
        self.parser = parser_signature
        self.are_ids_checked_by_partition = source.are_ids_checked_by_partition
        self._tree_adder = _TreeAdder(parse, threads, on_phase)

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about references that are not English, if the parser is wellput's English
        parser; empty if all are English."""
        if not isinstance(self.parse, NamedParser) or self.parse.name != ENGLISH_PARSER:
            return ()
        first_texts = self._first_texts(MAX_CHECKED_REFERENCES + 1)
        checked = first_texts[:MAX_CHECKED_REFERENCES]
        has_more = len(first_texts) > len(checked)
        sentence = not_english_sentence(
            reasons_against(checked),
            "parsed reference",
            TREE_CONSEQUENCES,
            total=len(checked),
        )
        if has_more:  # "3 of the first 1,000 parsed references are not English"
            sentence = sentence.replace(" of ", " of the first ", 1)
        return (sentence,) if sentence else ()

    def _first_texts(self, n: int) -> list[str]:
        """The first `n` references without a tree; fewer if an item cannot be read (scoring may skip
        such items)."""
        texts: list[str] = []
        try:
            for block in self.source.blocks():
                texts += (
                    text for item in block for text in _texts_without_tree(item) if text.strip()
                )
                if len(texts) >= n:
                    break
        except InputError:
            pass
        return texts[:n]

    def blocks(self) -> Iterator[Sequence[Item]]:
        return self._tree_adder.with_trees(self.source.blocks())

    def partitions(self, *, threads: int = 1) -> Iterator[Partition]:
        return (
            ParsedPartition(partition, self.parse, threads)
            for partition in self.source.partitions()
        )

    def refuse_repeated(self, repeated_hashes: frozenset[int]) -> None:
        self.source.refuse_repeated(repeated_hashes)

    @property
    def unparsed(self) -> EvalSource:
        return self.source


@dataclass(frozen=True)
class ParsedPartition:
    """A partition of another source (`unparsed`); the process that reads it parses its references."""

    unparsed: Partition
    parse: Parse
    threads: int

    @property
    def name(self) -> str:
        return self.unparsed.name

    def blocks(self) -> Iterator[Sequence[Item]]:
        return _TreeAdder(self.parse, self.threads).with_trees(self.unparsed.blocks())

    def fingerprint(self) -> str:
        return self.unparsed.fingerprint()


class _TreeAdder:
    """Adds trees to items. It keeps recent trees, so that few texts are parsed twice."""

    def __init__(self, parse: Parse, threads: int, on_phase: OnPhase = ignore_phase) -> None:
        self._parse = parse
        self._threads = threads
        self._on_phase = on_phase
        self._tree_of: dict[str, Tree] = {}

    def with_trees(self, blocks: Iterable[Sequence[Item]]) -> Iterator[Sequence[Item]]:
        """The blocks, with trees for all references."""
        for block in blocks:
            self._prepare(block)
            yield [self._item_with_trees(item) for item in block]

    def _prepare(self, block: Sequence[Item]) -> None:
        """Parses the texts of a block that have no tree yet."""
        if len(self._tree_of) > MAX_KEPT_TREES:
            self._tree_of.clear()
        texts_in_block = dict.fromkeys(text for item in block for text in _texts_without_tree(item))
        new_texts = [text for text in texts_in_block if text not in self._tree_of]
        on_progress = self._on_phase("parsing references", len(new_texts))
        for start in range(0, len(new_texts), TEXTS_PER_CALL):
            texts = new_texts[start : start + TEXTS_PER_CALL]
            self._tree_of.update(zip(texts, self._parse(texts, threads=self._threads), strict=True))
            on_progress(len(texts))

    def _item_with_trees(self, item: Item) -> Item:
        """The item with a tree for each reference."""
        by_system = {
            system: self._completed_trees(references, item.trees_for(system))
            for system, references in item.references_by_system.items()
        }
        return item._replace(
            trees=self._completed_trees(item.references, item.trees),
            trees_by_system={**item.trees_by_system, **by_system},
        )

    def _completed_trees(
        self, references: Sequence[str], trees: Sequence[Tree | None]
    ) -> tuple[Tree | None, ...]:
        """A tree for each reference: the one in `trees`, or the parser's if `trees` has none for it."""
        known_trees = [*trees, *[None] * (len(references) - len(trees))]
        return tuple(
            self._tree_of[text] if tree is None else tree
            for text, tree in zip(references, known_trees, strict=True)
        )


def _texts_without_tree(item: Item) -> Iterable[str]:
    """The item's references without a tree, also those of single systems."""
    lists = [(item.references, item.trees)]
    lists += [
        (references, item.trees_for(system))
        for system, references in item.references_by_system.items()
    ]
    for references, trees in lists:
        for place, text in enumerate(references):
            if place >= len(trees) or trees[place] is None:
                yield text
