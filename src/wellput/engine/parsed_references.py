"""The noun `ParsedReferences`: items whose references get trees from a parser as they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from wellput.core.evalset import EvalSource, Item
from wellput.core.tree import Tree

MOST_KEPT = 1 << 17
"""Trees kept for references that come again; a file larger than memory must not fill it."""

Parse = Callable[[Sequence[str]], Sequence[Tree]]


class ParsedReferences:
    """The items of another source. A reference that has a tree keeps it.

    `parse` gives the trees of texts, one without words for an empty text; `signature` names the parser
    in the signatures of metrics that need trees.
    """

    def __init__(self, source: EvalSource, parse: Parse, signature: str) -> None:
        self._source = source
        self._parse = parse
        self._trees: dict[str, Tree] = {}
        self.signature = signature

    def blocks(self) -> Iterator[Sequence[Item]]:
        for block in self._source.blocks():
            self._prepare(block)
            yield [self._with_trees(item) for item in block]

    def _prepare(self, block: Sequence[Item]) -> None:
        """Parses the texts of a block that were not met before."""
        if len(self._trees) > MOST_KEPT:
            self._trees.clear()
        wanted = dict.fromkeys(text for item in block for text in _texts(item))
        new = [text for text in wanted if text not in self._trees]
        self._trees.update(zip(new, self._parse(new), strict=True))

    def _with_trees(self, item: Item) -> Item:
        by_system = {
            system: self._parallel(references, item.trees_for(system))
            for system, references in item.references_by_system.items()
        }
        return item._replace(
            trees=self._parallel(item.references, item.trees),
            trees_by_system={**item.trees_by_system, **by_system},
        )

    def _parallel(
        self, references: Sequence[str], trees: Sequence[Tree | None]
    ) -> tuple[Tree | None, ...]:
        given = [*trees, *[None] * (len(references) - len(trees))]
        return tuple(
            self._trees[text] if tree is None else tree
            for text, tree in zip(references, given, strict=True)
        )


def _texts(item: Item) -> Iterable[str]:
    """The references without a tree."""
    lists = [(item.references, item.trees)]
    lists += [(own, item.trees_for(name)) for name, own in item.references_by_system.items()]
    for references, trees in lists:
        for place, text in enumerate(references):
            if place >= len(trees) or trees[place] is None:
                yield text
