"""What a metric needs of the items, and the refusal that names those that lack it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wellput.core.errors import InputError
from wellput.core.evalset import ORIGINAL, Batch, Item
from wellput.core.metric import Metric, Need
from wellput.core.plain_block import PlainBlock, batch_of
from wellput.core.source import EvalSource

LACKING: Mapping[Need, tuple[str, str]] = {
    "references": (
        "a reference",
        "Give a file of references (ref='FILE'), or put them into the evalset.",
    ),
    "tree": (
        "a tree for one of its references",
        "Give a file of trees, put them into the evalset, or have them made (trees='auto').",
    ),
    "derivation": ("a derivation", "Put a derivation into each item of the evalset."),
    "original": (
        "displays to compare with",
        f"Give them as the outputs of a system named {ORIGINAL}.",
    ),
    "source": ("a source", "Put a source into each item of the evalset."),
    "logged": ("a score in a log", "Score a log of inspect_ai or promptfoo (.json)."),
}


def check_outputs(metric: Metric, batch: Batch) -> None:
    """Refuses text where the metric scores displays, and displays where it scores text."""
    kinds = set(map(type, batch.outputs))
    if "derivation" not in metric.needs and not kinds <= {str}:
        raise InputError(
            f"{metric.name} scores text, but the outputs of {batch.system} are display schedules."
        )
    if "derivation" in metric.needs and str in kinds:
        raise InputError(
            f"{metric.name} scores display schedules, but outputs of {batch.system} are text."
        )


def refuse_source_without_references(
    metrics: Sequence[Metric], first: Sequence[Item], source: EvalSource
) -> None:
    """Raises InputError at once, not after hours, where a metric needs references and no item has any.
    The source is read again only where its first block has none."""
    wanting = [metric for metric in metrics if "references" in metric.needs]
    if not wanting or _has_references(first) or any(map(_has_references, source.blocks())):
        return
    for system in dict.fromkeys(system for item in first for system in item.outputs):
        for metric in wanting:
            check_outputs(metric, batch_of(system, first))
    what, advice = LACKING["references"]
    raise InputError(f"{wanting[0].name} needs {what}; no item has one. {advice}")


def _has_references(block: Sequence[Item]) -> bool:
    if isinstance(block, PlainBlock):
        return any(block.references)
    return any(item.references or any(item.references_by_system.values()) for item in block)


def refuse_no_references(metric: Metric, system: str, n_outputs: int) -> None:
    """Raises InputError for a metric that has nothing to compare a system's outputs with."""
    what, advice = LACKING["references"]
    items = "the one item" if n_outputs == 1 else f"none of the {n_outputs:,} items"
    has = "has none" if n_outputs == 1 else "has one"
    raise InputError(
        f"{metric.name} needs {what}; {items} that {system} has an output for {has}. {advice}"
    )


def check_needs(metric: Metric, batch: Batch) -> None:
    """Refuses a batch that lacks what the metric needs, naming the items. References are not looked
    for: items without them are left out before."""
    has: dict[Need, Sequence[bool]] = {}
    if "tree" in metric.needs:
        has["tree"] = [any(tree is not None for tree in row) for row in batch.trees]
    if "derivation" in metric.needs:
        has["derivation"] = [derivation is not None for derivation in batch.derivations]
    if "original" in metric.needs:
        has["original"] = [isinstance(original, Mapping) for original in batch.originals]
    if "source" in metric.needs:
        has["source"] = [source is not None for source in batch.sources]
    if "logged" in metric.needs:
        has["logged"] = [bool(batch.logged)] * len(batch)
    for need, rows in has.items():
        if not all(rows):
            lacking = [f"item {i}" for i, there in zip(batch.ids, rows, strict=True) if not there]
            what, advice = LACKING[need]
            raise InputError.collect(
                f"{metric.name} needs {what} for every item; {len(lacking):,} of {len(rows):,} "
                f"that {batch.system} has an output for {'lacks' if len(lacking) == 1 else 'lack'} it:",
                lacking,
                advice,
            )
