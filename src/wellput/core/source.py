"""`EvalSource`: items in order, held in memory or read from files. `Partition`: consecutive items of a
source that can be read separately, for example by another process."""

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
"""The number of blocks in a partition; the last partition of a source may have fewer."""


class Partition(Protocol):
    """Consecutive whole blocks (lists of `evalset.BLOCK_ITEMS` items) of a source. `io.record_files`
    has the partitions of files."""

    @property
    def name(self) -> str: ...

    def blocks(self) -> Iterator[Sequence[Item]]: ...

    def fingerprint(self) -> str:
        """A hash of the data."""
        ...


class EvalSource(ABC):
    """An `EvalSet` in memory, a file that may be larger than memory (`wellput.open_evalset`), or
    another source with added data, such as parsed trees. A subclass must define only `blocks`."""

    parser: str | None = None
    """The signature of the parser that made the trees of references; None if none was used."""

    are_ids_checked_by_partition: bool = True
    """Whether reading the partitions already refuses an id that is used twice. If not, the ids are
    compared after all partitions are read: see `refuse_repeated`."""

    are_samples_chosen: bool = False
    """Whether some outputs have only the samples that were judged (`agreement.judged_samples`)."""

    @property
    def advice(self) -> str:
        """Advice for the user if the items have no outputs; empty if there is none."""
        return ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the items that a reader of scores must know."""
        return ()

    @abstractmethod
    def blocks(self) -> Iterator[Sequence[Item]]:
        """The items in lists of `evalset.BLOCK_ITEMS`, the last one shorter; every call starts again.

        Reading a file may raise `InputError` as late as after the last block: use a result only when
        the iterator has ended.
        """

    def partitions(self, *, threads: int = 1) -> Iterator[Partition]:
        """The same items in partitions, in order. `threads` is the number of threads for the source's
        parser, if it has one."""
        blocks = self.blocks()
        first = 1
        while next_blocks := list(islice(blocks, BLOCKS_PER_PARTITION)):
            last = first + sum(map(len, next_blocks)) - 1
            yield HeldPartition(f"items {first:,} to {last:,}", next_blocks)
            first = last + 1

    def refuse_repeated(self, repeated_hashes: frozenset[int]) -> None:
        """Raises InputError if two items have the same id. `repeated_hashes` are the hashes of ids that
        occur more than once. Items with such a hash have the same id, or different ids that happen to
        have the same hash. Called only if `are_ids_checked_by_partition` is False."""
        raise NotImplementedError

    @property
    def unparsed(self) -> EvalSource:
        """This source without the trees that a parser made."""
        return self


@dataclass(frozen=True)
class HeldPartition:
    """A partition whose blocks are in memory, because only this process can read its source. It is sent
    to a worker with all its items."""

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
