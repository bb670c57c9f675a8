"""Sentences with derivations, as verbs are given them: a file, or items in memory."""

from __future__ import annotations

from wellput.core.evalset import EvalSet
from wellput.core.source import EvalSource
from wellput.io import read_evalset
from wellput.io.files import PathLike


def sentences_of(evalset: EvalSource | PathLike, *, trees: bool = False) -> EvalSet:
    """All of them, in memory. Trees of references are read where they are to be written again."""
    if isinstance(evalset, EvalSet):
        return evalset
    if isinstance(evalset, EvalSource):
        return EvalSet([item for block in evalset.blocks() for item in block])
    return read_evalset(evalset, trees=trees)
