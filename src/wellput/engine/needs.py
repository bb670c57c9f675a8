"""What a metric needs of the items, and the refusal that names those that lack it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wellput.core.displays import ORIGINAL
from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.core.metric import Metric, Need

LACKING: Mapping[Need, tuple[str, str]] = {
    "references": ("a reference", "Give --ref FILE, or references in the evalset."),
    "tree": (
        "a tree for one of its references",
        "Give --trees FILE.conllu or --trees auto, or trees in the evalset.",
    ),
    "derivation": ("a derivation", "Put a derivation into each item of the evalset."),
    "original": (
        "displays to compare with",
        f"Give them as the outputs of a system named {ORIGINAL}.",
    ),
    "source": ("a source", "Put a source into each item of the evalset."),
    "logged": ("a score in a log", "Score a log of inspect_ai or promptfoo (.json)."),
}


def check_needs(metric: Metric, batch: Batch) -> None:
    """Refuses a batch that lacks what the metric needs, naming the items."""
    kinds = set(map(type, batch.outputs))
    if "derivation" not in metric.needs and not kinds <= {str}:
        raise InputError(
            f"{metric.name} scores text, but the outputs of {batch.system} are display schedules."
        )
    if "derivation" in metric.needs and str in kinds:
        raise InputError(
            f"{metric.name} scores display schedules, but outputs of {batch.system} are text."
        )
    has: dict[Need, Sequence[bool]] = {}
    if "references" in metric.needs:
        has["references"] = list(map(bool, batch.references))
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
                f"{metric.name} needs {what} for every item; {len(lacking)} of {len(rows)} "
                f"that {batch.system} has an output for lack it:",
                lacking,
                advice,
            )
