"""Which items and systems of an evalset a study shows: all of them, or a part, which is the same for
every judge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wellput.core.errors import InputError, counted, did_you_mean
from wellput.core.evalset import EvalSet, Item
from wellput.io.files import InputFile, PathLike, check_readable


def shown_items(
    evalset: EvalSet,
    *,
    items: int | PathLike | Sequence[str] | None,
    systems: Sequence[str],
    seed: int,
) -> EvalSet:
    """The items with the outputs of these systems (default: all).

    `items` is a number of items to draw among those that have an output of every shown system, a
    file with an id on each line, or a list of ids. Drawn items keep the order of the evalset.
    """
    _refuse_unknown(systems, evalset.systems, "system")
    shown_systems = systems or evalset.systems
    all_items = [_with_systems(item, systems) for item in evalset]
    if items is None:
        return EvalSet([item for item in all_items if item.outputs])
    if isinstance(items, str) and items.isdecimal():
        items = int(items)
    if isinstance(items, int):
        return EvalSet(_drawn(all_items, shown_systems, items, seed))
    ids = _ids(items) if isinstance(items, PathLike) else list(items)
    _refuse_unknown(ids, [item.id for item in all_items], "item")
    return EvalSet([item for item in all_items if item.id in set(ids)])


def _with_systems(item: Item, systems: Sequence[str]) -> Item:
    if not systems:
        return item
    outputs = {system: item.outputs[system] for system in systems if system in item.outputs}
    return item._replace(outputs=outputs)


def _drawn(items: Sequence[Item], systems: Sequence[str], n: int, seed: int) -> list[Item]:
    """`n` items, drawn at random among those that have an output of every system."""
    complete = [item for item in items if set(systems) <= set(item.outputs)]
    if not 1 <= n <= len(complete):
        raise InputError(
            f"items={n}: {counted(len(complete), 'item')} of this evalset "
            f"{'has' if len(complete) == 1 else 'have'} outputs of all of {', '.join(systems)}."
        )
    drawn = np.random.default_rng(seed).choice(len(complete), n, replace=False)
    return [complete[place] for place in sorted(drawn.tolist())]


def _ids(path: PathLike) -> list[str]:
    """The ids in a file with one on each line."""
    file = InputFile(Path(path))
    check_readable(file)
    lines = b"".join(file.chunks()).decode("utf-8-sig", "replace").splitlines()
    names = [line.strip() for line in lines if line.strip()]
    if not names:
        raise InputError(f"{path} names no item: it needs the id of an item on each line.")
    return names


def _refuse_unknown(given: Sequence[str], known: Sequence[str], kind: str) -> None:
    """Raises InputError with all names that are not known. `kind` is "item" or "system"."""
    unknown = [name for name in given if name not in set(known)]
    if unknown:
        raise InputError.collect(
            f"This evalset has no such {kind}:",
            [f"{name}.{did_you_mean(name, known)}" for name in unknown],
        )
