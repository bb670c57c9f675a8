"""The systems that are asked for by method and size, `sequence-4` or `pos`, and what makes their
sentences."""

from __future__ import annotations

from collections.abc import Sequence

from wellput.core.errors import InputError, did_you_mean
from wellput.language.degrade.errors import ErrorGenerator
from wellput.language.degrade.generate import (
    METHODS,
    Degrader,
    GrammarGenerator,
    TemplateGenerator,
)
from wellput.language.degrade.sequences import Boundary, SequenceGenerator
from wellput.language.degrade.sources import Source
from wellput.trees.grammar import Grammar


def systems_of(methods: Sequence[str], sizes: Sequence[int]) -> dict[str, int]:
    """The systems with the size of their sequences, 0 where they have none.

    >>> systems_of(["sequence", "pos"], [1, 4])
    {'sequence-1': 1, 'sequence-4': 4, 'pos': 0}
    """
    for name in methods:
        if name not in METHODS:
            raise InputError(
                f"No method {name!r}.{did_you_mean(name, METHODS)} There are {', '.join(METHODS)}."
            )
    if not methods:
        raise InputError(f"No method was given. There are {', '.join(METHODS)}.")
    if sizes and "sequence" not in methods:
        raise InputError("size= is for the method sequence.")
    found: dict[str, int] = {}
    for name in methods:
        if name == "sequence":
            found |= {f"sequence-{size}": size for size in sizes or [1]}
        else:
            found[name] = 0
    return found


def degrader_of(
    system: str,
    source: Source,
    grammar: Grammar | None,
    *,
    size: int,
    length: int,
    boundary: Boundary,
) -> Degrader:
    """What makes the sentences of a system; the grammar of `cfg` is the source's own unless given."""
    if size:
        return SequenceGenerator(source.corpus(), size=size, length=length, boundary=boundary)
    if system == "errors":
        return ErrorGenerator(source.corpus(), length=length)
    if system == "cfg":
        return GrammarGenerator(source.corpus("pos"), grammar or source.grammar(), length=length)
    tags = source.corpus("pos" if system == "pos" else "supertag")
    return TemplateGenerator(tags, length=length, threads=source.threads)
