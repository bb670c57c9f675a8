"""`Judgment` and `Preference`: one judge's answer to one question about one trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

PairwiseChoice: TypeAlias = Literal["a", "b", "tie"]
PAIRWISE_CHOICES: tuple[PairwiseChoice, ...] = get_args(PairwiseChoice)


@dataclass(frozen=True, slots=True)
class Judgment:
    """A judge's rating of one system's output for one item; higher is better.

    `extra` holds the further columns of the file.
    """

    judge: str
    item: str
    system: str
    question: str
    value: float
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Preference:
    """A judge's choice between two systems' outputs for one item."""

    judge: str
    item: str
    system_a: str
    system_b: str
    question: str
    choice: PairwiseChoice
    extra: Mapping[str, str] = field(default_factory=dict)
