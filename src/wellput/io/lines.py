"""Line-aligned text files as items (`LineSource`): line n of every file belongs to item n."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from wellput.core.errors import InputError, Problems, counted
from wellput.core.evalset import BLOCK_ITEMS, Item
from wellput.core.source import EvalSource
from wellput.core.tree import Tree
from wellput.io.files import InputFile, PathLike, check_readable, refuse_input_twice
from wellput.io.trees import trees_in

T = TypeVar("T")


def open_lines(
    *,
    references: Sequence[PathLike],
    outputs: Mapping[str, PathLike],
    trees: PathLike | None = None,
    source: PathLike | None = None,
) -> LineSource:
    """Items from files with one text a line: one file for each set of references and each system.

    Ids are line numbers from "1". `trees` is a file of CoNLL-U with the trees of the first
    references, in the same order; without a file of references, the texts of the trees are the
    references.
    """
    if not outputs:
        raise InputError("Nothing to score: no system's output was given.")
    files_by_path = {str(path): InputFile(path) for path in (*references, *outputs.values())}
    refuse_input_twice([*references, *outputs.values(), trees, source])
    result = LineSource(
        references=[files_by_path[str(path)] for path in references],
        outputs={system: files_by_path[str(path)] for system, path in outputs.items()},
        trees=None if trees is None else InputFile(trees),
        source=None if source is None else InputFile(source),
    )
    check_readable(*result.files)
    return result


class LineSource(EvalSource):
    """The items of line-aligned files."""

    def __init__(
        self,
        *,
        references: Sequence[InputFile],
        outputs: Mapping[str, InputFile],
        trees: InputFile | None,
        source: InputFile | None,
    ) -> None:
        self._references = references
        self._outputs = outputs
        self._trees = trees
        self._source = source

    @property
    def files(self) -> list[InputFile]:
        optional = [file for file in (self._source, self._trees) if file is not None]
        return [*self._references, *self._outputs.values(), *optional]

    def blocks(self) -> Iterator[list[Item]]:
        """The items; raises InputError if the files are not equally long."""
        # By identity: a file that is given twice, as two systems for example, is read once.
        readers = {
            id(file): file.line_blocks(BLOCK_ITEMS)
            for file in self.files
            if file is not self._trees
        }
        trees = None if self._trees is None else _in_blocks(trees_in(self._trees))
        problems = Problems("" if self._trees is None else self._trees.name)
        first = 1
        while True:
            texts = {key: next(reader, []) for key, reader in readers.items()}
            block_trees = None if trees is None else next(trees, [])
            lengths = {len(lines) for lines in texts.values()}
            if block_trees is not None:
                lengths.add(len(block_trees))
            if len(lengths) > 1:
                raise self._length_error()
            if lengths == {0}:
                break
            items = self._items(first, texts, block_trees, problems)
            first += len(items)
            if not problems:
                yield items
        problems.raise_if_any(
            advice="Trees must be in the same order as the lines of the reference."
        )

    def _items(
        self,
        first: int,
        texts: Mapping[int, list[str]],
        trees: list[Tree] | None,
        problems: Problems,
    ) -> list[Item]:
        """The items of one block, whose first item has the number `first`; `texts` has the lines of
        each file by the id of the `InputFile`."""
        systems = tuple(self._outputs)
        output_columns = [texts[id(file)] for file in self._outputs.values()]
        n = len(output_columns[0])
        ids = map(str, range(first, first + n))
        if len(systems) == 1:
            outputs = [{systems[0]: text} for text in output_columns[0]]
        else:
            rows = zip(*output_columns, strict=True)
            outputs = [dict(zip(systems, row, strict=True)) for row in rows]
        if self._references:
            reference_columns = [texts[id(file)] for file in self._references]
            references = list(zip(*reference_columns, strict=True))
        else:
            references = [(tree.text,) for tree in trees] if trees is not None else [()] * n
        if trees is None and self._source is None:
            return list(map(Item, ids, outputs, references))
        sources = [None] * n if self._source is None else texts[id(self._source)]
        item_trees = (
            [()] * n if trees is None else self._aligned(first, references, trees, problems)
        )
        return list(map(Item, ids, outputs, references, item_trees, sources))

    def _aligned(
        self,
        first: int,
        references: Sequence[tuple[str, ...]],
        trees: Sequence[Tree],
        problems: Problems,
    ) -> list[tuple[Tree | None, ...]]:
        """The trees of each item, parallel to its references: the tree of the first reference, and None
        for the others. A tree that does not fit its reference is a problem."""
        for number, (row, tree) in enumerate(zip(references, trees, strict=True), start=first):
            if mismatch := tree.mismatch(row[0]):
                problems.add(f"tree {number}", mismatch)
        no_trees = (None,) * (len(references[0]) - 1)
        return [(tree, *no_trees) for tree in trees]

    def _length_error(self) -> InputError:
        """The error for files of different lengths, which names all lengths."""
        counts = [
            f"{file.name}: {counted(file.count_lines(), 'line')}"
            for file in self.files
            if file is not self._trees
        ]
        if self._trees is not None:
            counts.append(
                f"{self._trees.name}: {counted(sum(1 for _ in trees_in(self._trees)), 'tree')}"
            )
        return InputError.collect(
            "The files are not equally long; line n of each must belong to item n:",
            counts,
            "A text that contains a line break must be put on one line.",
        )


def _in_blocks(values: Iterator[T]) -> Iterator[list[T]]:
    while block := list(islice(values, BLOCK_ITEMS)):
        yield block
