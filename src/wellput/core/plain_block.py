"""`PlainBlock`: a block (`evalset.BLOCK_ITEMS` items) whose items have only texts and names, kept as
columns.

Like any block, it is a sequence of `Item`, but it makes an item only when the item is asked for. A
batch has columns, too, so a batch can be made from a block without making items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from wellput.core.evalset import NO_TAGS, ORIGINAL, Batch, Item


@dataclass(frozen=True)
class PlainBlock(Sequence[Item]):
    """Columns of equal length; None is a missing output. `documents` and `tags` are None if no item has
    any."""

    ids: list[str]
    outputs: Mapping[str, list[str | None]]
    references: list[tuple[str, ...]]
    sources: list[str | None]
    contexts: list[str | None]
    documents: list[str | None] | None = None
    tags: list[Mapping[str, str]] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | list[Item]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        outputs = {
            system: text
            for system, column in self.outputs.items()
            if (text := column[place]) is not None
        }
        return Item(
            self.ids[place],
            outputs,
            self.references[place],
            source=self.sources[place],
            context=self.contexts[place],
            document=None if self.documents is None else self.documents[place],
            tags=NO_TAGS if self.tags is None else self.tags[place],
        )

    def batch(self, system: str, *, threads: int = 1) -> Batch:
        """The batch that `Batch.of` would make: the rows for which `system` has an output."""
        column = self.outputs.get(system, [])
        # The outputs of the system `original`, which people made.
        originals = self.outputs.get(ORIGINAL, [None] * len(self))
        ids, references, sources = self.ids, self.references, self.sources
        if None in column:
            # Columns are selected without making items, which would have the outputs of all systems.
            places = [place for place, text in enumerate(column) if text is not None]
            column, originals = [column[p] for p in places], [originals[p] for p in places]
            ids, references = [ids[p] for p in places], [references[p] for p in places]
            sources = [sources[p] for p in places]
        n = len(column)  # 0 if the block has no output of the system; then all columns are empty
        return Batch(
            system=system,
            ids=ids if n else [],
            outputs=column,  # type: ignore[arg-type]  # none of them is None
            references=references if n else [],
            trees=[()] * n,
            sources=sources if n else [],
            derivations=[None] * n,
            threads=threads,
            originals=originals if n else [],
        )


def batch_of(system: str, block: Sequence[Item], *, threads: int = 1) -> Batch:
    """The rows of a block for which `system` has an output."""
    if isinstance(block, PlainBlock):
        return block.batch(system, threads=threads)
    return Batch.of(system, block, threads=threads)


def ids_of(block: Sequence[Item]) -> list[str]:
    return block.ids if isinstance(block, PlainBlock) else [item.id for item in block]
