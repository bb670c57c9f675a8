"""Statistics of finished partitions on disk, so that a run that was stopped need not begin anew.

A folder has a file for each partition: its block statistics, and the fingerprint of the data and the
metrics they were computed from. Nothing is taken from it unless the fingerprint of what is there now is
the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError, OutputError
from wellput.engine.blocks import BlockColumn, BlockStatistics, SystemBlock, Unreferenced
from wellput.io.model_files import ModelFile, load_model_file, packed_strings, save_model_file
from wellput.io.output import refuse_url

KIND = "finished partition 2"
"""Counted up when what is in the file changes: another kind of file is as good as none."""


class FinishedPartitions:
    """The folder; it is made where it is not there, its parents are not."""

    def __init__(self, folder: str | Path) -> None:
        refuse_url(folder)
        self._folder = Path(folder)
        if not self._folder.parent.is_dir():
            raise OutputError(
                f"Cannot make the folder {folder}: the folder {self._folder.parent} does not exist. "
                "Make it first."
            )
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(f"Cannot make the folder {folder}: {error.strerror}.") from None

    def fingerprint(self, name: str, key: str) -> str | None:
        """That of the partition of this name when a job with this key finished it; None if none did."""
        file = self._load(name, key)
        return None if file is None else str(file.card["fingerprint"])

    def load(self, name: str, key: str) -> list[BlockStatistics]:
        file = self._load(name, key)
        assert file is not None, name
        arrays = iter([file.arrays[str(i)] for i in range(file.card["arrays"])])
        ids = iter(file.strings("ids")) if "ids.ends" in file.arrays else iter(())
        return [_block(card, arrays, ids) for card in file.card["blocks"]]

    def save(
        self, name: str, key: str, fingerprint: str, blocks: Sequence[BlockStatistics]
    ) -> None:
        arrays: list[NDArray[Any]] = []
        cards = [_card(block, arrays) for block in blocks]
        card = {"partition": name, "fingerprint": fingerprint, "blocks": cards}
        named = {str(i): array for i, array in enumerate(arrays)}
        ids = [identifier for block in blocks for identifier in block.ids]
        if ids:
            named |= packed_strings("ids", ids)
        save_model_file(self._path(name, key), KIND, {**card, "arrays": len(arrays)}, named)

    def _load(self, name: str, key: str) -> ModelFile | None:
        """The file of a partition; one that is not there or is damaged is as good as none."""
        try:
            return load_model_file(self._path(name, key), KIND)
        except InputError:
            return None

    def _path(self, name: str, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(f'{name} {key}'.encode()).hexdigest()[:24]}.wpm"


def _card(block: BlockStatistics, arrays: list[NDArray[Any]]) -> dict[str, Any]:
    """A block as JSON, which keeps every digit of a sum; its arrays are appended to `arrays`. Systems
    and metrics are lists: an object's keys are sorted when it is written, the arrays are not."""
    arrays.append(block.id_hashes)
    systems: list[dict[str, Any]] = []
    for name, system in block.systems.items():
        has_rows = system.places is not None
        if system.places is not None and system.referenced_places is not None:
            arrays += [system.places, system.referenced_places]
            arrays += [column.rows for column in system.columns.values() if column.rows is not None]
        card = {
            "system": name,
            "count": system.count,
            "references": [system.fewest_references, system.most_references],
            "columns": [[m, c.sums.tolist(), c.undefined] for m, c in system.columns.items()],
            "has_rows": has_rows,
            "left_out": system.left_out,
        }
        systems.append(card)
    return {
        "items": block.items,
        "ids": len(block.ids),
        "systems": systems,
        "unreferenced": [block.unreferenced.n, list(block.unreferenced.first)],
    }


def _block(
    card: dict[str, Any], arrays: Iterator[NDArray[Any]], ids: Iterator[str]
) -> BlockStatistics:
    """What `_card` was made from, the arrays taken in the order in which it gave them."""
    hashes = np.array(next(arrays))
    systems: dict[str, SystemBlock] = {}
    for system in card["systems"]:
        places, referenced = (
            (np.array(next(arrays)), np.array(next(arrays))) if system["has_rows"] else (None, None)
        )
        columns = {
            metric: BlockColumn(
                np.array(sums), undefined, np.array(next(arrays)) if system["has_rows"] else None
            )
            for metric, sums, undefined in system["columns"]
        }
        fewest, most = system["references"]
        systems[system["system"]] = SystemBlock(
            system["count"], fewest, most, columns, places, system["left_out"], referenced
        )
    n, first = card["unreferenced"]
    return BlockStatistics(
        card["items"],
        systems,
        [next(ids) for _ in range(card["ids"])],
        hashes,
        Unreferenced(n, tuple(first)),
    )
