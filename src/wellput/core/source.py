"""`EvalSource`: items in order, held in memory or read from files. `Partition`: a run of them that can
be read separately."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from wellput.core.evalset import Item

BLOCKS_PER_PARTITION = 16


class Partition(Protocol):
    """A run of whole blocks. `io.record_files` has the partitions of files."""

    @property
    def name(self) -> str: ...

    def blocks(self) -> Iterator[Sequence[Item]]: ...

    def fingerprint(self) -> str:
        """A hash of the data."""
        ...


class EvalSource(ABC):
    """An `EvalSet` in memory, a file that may be larger than memory (`wellput.open_evalset`), or
    another source with something added. A source of your own needs only `blocks`."""

    parser: str | None = None
    """The signature of the parser that made the trees of references; None if none was used."""

    are_ids_checked_by_partition: bool = True
    """False if ids must still be compared after all partitions are read: see `refuse_repeated`."""

    @property
    def advice(self) -> str:
        """What to do if the items have no outputs; empty if nothing is known."""
        return ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of scores must know of the items, in sentences."""
        return ()

    @abstractmethod
    def blocks(self) -> Iterator[Sequence[Item]]:
        """The items in lists of `evalset.BLOCK_ITEMS`, the last one shorter; every call starts again.

        Reading a file may raise `InputError` as late as after the last block: use a result only when
        the iterator has ended.
        """

    def partitions(self, *, threads: int = 1) -> Iterator[Partition]:
        """The same items in partitions, in order. `threads` is for a parser that reads a partition."""
        blocks = self.blocks()
        first = 1
        while held := list(islice(blocks, BLOCKS_PER_PARTITION)):
            last = first + sum(map(len, held)) - 1
            yield HeldPartition(f"items {first:,} to {last:,}", held)
            first = last + 1

    def refuse_repeated(self, repeated_hashes: frozenset[int]) -> None:
        """Raises InputError if two ids are the same. `repeated_hashes` are the hashes that
        several ids have: either the ids are the same, or only their hashes. Called only if
        `are_ids_checked_by_partition` is False."""
        raise NotImplementedError

    @property
    def unparsed(self) -> EvalSource:
        """The source without trees from a parser."""
        return self


@dataclass(frozen=True)
class HeldPartition:
    """Blocks in memory, of a source that only this process can read; it is sent to a worker whole."""

    name: str
    held: Sequence[Sequence[Item]]

    def blocks(self) -> Iterator[Sequence[Item]]:
        return iter(self.held)

    def fingerprint(self) -> str:
        items = (tuple(item) for block in self.held for item in block)
        digest = hashlib.sha256()
        for item in items:
            digest.update(repr(item).encode(errors="surrogatepass"))
        return digest.hexdigest()
