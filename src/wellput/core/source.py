"""The nouns `EvalSource`, items in order from wherever they are, and `Partition`, a run of them that
can be read by itself."""

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
    """A run of whole blocks. `io.record_files` has those of files."""

    @property
    def name(self) -> str: ...

    def blocks(self) -> Iterator[Sequence[Item]]: ...

    def fingerprint(self) -> str:
        """A hash of the data."""
        ...


class EvalSource(ABC):
    """An `EvalSet` in memory, a file that may be larger than memory (`wellput.open_evalset`), or
    another source with something added. Whoever writes one of their own gives `blocks`; the rest
    follows."""

    parser: str | None = None
    """The signature of the parser that trees of references come from; None where none was asked."""

    are_ids_checked_by_partition: bool = True
    """Whether nothing is left to compare once all partitions were read: see `refuse_repeated`."""

    @abstractmethod
    def blocks(self) -> Iterator[Sequence[Item]]:
        """The items in lists of `evalset.BLOCK`, the last one shorter; every call starts anew.

        Reading a file raises `InputError` at the latest after the last block: a result is good only
        when the iterator has ended.
        """

    def partitions(self, *, threads: int = 1) -> Iterator[Partition]:
        """The same items in runs, in order. `threads` are those of a parser that reads one."""
        blocks = self.blocks()
        first = 1
        while held := list(islice(blocks, BLOCKS_PER_PARTITION)):
            last = first + sum(map(len, held)) - 1
            yield HeldPartition(f"items {first:,} to {last:,}", held)
            first = last + 1

    def refuse_repeated(self, suspects: frozenset[int]) -> None:
        """Raises InputError where two ids among those with these hashes are the same. Asked only where
        ids are not checked by partition."""
        raise NotImplementedError

    @property
    def unparsed(self) -> EvalSource:
        """The source without trees from a parser."""
        return self


@dataclass(frozen=True)
class HeldPartition:
    """Blocks of a source that only this process can read, to be sent along."""

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
