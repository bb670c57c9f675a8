"""Judgments must name the systems and items of their evalset: which there are, and the refusal of
others that says what to type."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest

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
    leaves their judgments out; where it has none of them, with examples of both."""
    systems: dict[str, int] = {}
    items: dict[str, int] = {}
    for answer in answers:
        for name in systems_of(answer):
            systems[name] = systems.get(name, 0) + 1
        items[answer.item] = items.get(answer.item, 0) + 1
    problems = _unknown("system", systems, known.systems) + _unknown("item", items, known.items)
    if problems:
        raise InputError.collect(
            "The judgments name systems or items that the evalset does not have:", problems
        )


def _unknown(kind: str, counts: Mapping[str, int], known: Collection[str]) -> list[str]:
    """A line for each unknown name; one for all of them where no name is known."""
    unknown = {name: n for name, n in counts.items() if name not in known}
    if len(unknown) == len(counts) > 1:
        return [
            f"none of the {len(counts)} {kind}s is in the evalset: the judgments have "
            f"{_examples(counts)}; the evalset has {_examples(known)}. Write them as in the evalset."
        ]
    names: Sequence[str] = list(known) if kind == "system" else ()
    return [
        f"{kind} {name!r} ({counted(n, 'judgment')}).{did_you_mean(name, names)} "
        f"Write it as in the evalset, or leave it out: exclude={f'{kind}={name}: {WHY}'!r}"
        for name, n in unknown.items()
    ]


def _examples(names: Collection[str]) -> str:
    """The two shortest, first in the alphabet: `'1', '2'`."""
    first = nsmallest(2, names, key=lambda name: (len(name), name))
    return ", ".join(map(repr, first)) or "none"
