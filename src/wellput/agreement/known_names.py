"""Judgments must name the systems and items of their evalset: which there are, and the refusal of
others that says what to type."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from wellput.core.counted import counted
from wellput.core.errors import InputError, did_you_mean
from wellput.core.judgment import Judgment, Preference
from wellput.core.plain_block import PlainBlock, ids_of
from wellput.core.progress import OnProgress, unheard
from wellput.core.source import EvalSource

Answer = Judgment | Preference
WHY = "not in the evalset"


@dataclass(frozen=True)
class KnownNames:
    """The systems and items of an evalset. `items` need only hold those that are asked about."""

    systems: Collection[str]
    items: Collection[str]


def names_of(source: EvalSource, *, on_progress: OnProgress = unheard) -> KnownNames:
    """From one pass over the items, before anything is scored."""
    systems: dict[str, None] = {}
    items: set[str] = set()
    for block in source.blocks():
        items.update(ids_of(block))
        if isinstance(block, PlainBlock):
            systems |= dict.fromkeys(block.outputs)
        else:
            for item in block:
                systems |= dict.fromkeys(item.outputs)
        on_progress(len(block))
    return KnownNames(list(systems), items)


def systems_of(answer: Answer) -> tuple[str, ...]:
    """The systems that an answer is about: one, or two for a choice."""
    if isinstance(answer, Preference):
        return answer.system_a, answer.system_b
    return (answer.system,)


def refuse_unknown(answers: Iterable[Answer], known: KnownNames) -> None:
    """Raises InputError for systems and items that the evalset does not have, with what
    leaves their judgments out."""
    counts: dict[tuple[str, str], int] = {}
    for answer in answers:
        unknown = [("system", name) for name in systems_of(answer) if name not in known.systems]
        if answer.item not in known.items:
            unknown.append(("item", answer.item))
        for key in unknown:
            counts[key] = counts.get(key, 0) + 1
    if not counts:
        return
    systems: Sequence[str] = list(known.systems)
    raise InputError.collect(
        "The judgments name systems or items that the evalset does not have:",
        [
            f"{kind} {name!r} ({counted(n, 'judgment')})."
            f"{did_you_mean(name, systems) if kind == 'system' else ''} "
            f"Leave out: exclude={f'{kind}={name}: {WHY}'!r}"
            for (kind, name), n in counts.items()
        ],
        "Write names alike in both files, or leave these judgments out as said above.",
    )
