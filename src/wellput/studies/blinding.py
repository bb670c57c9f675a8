"""Rankings without the names of the systems, for an owner who wants to watch a study and stay blind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wellput.agreement.rankings.fitted_ranking import FittedRanking
from wellput.agreement.rankings.plain_ranking import Ranking, SystemDifference
from wellput.studies.designs.base import OWN_SCALES_NOTE

BLINDING_STREAM = 7
"""The random stream of the code names: random numbers for one use have their own stream."""


def code_names(systems: Sequence[str], seed: int) -> dict[str, str]:
    """A code name ("System 1") for each system. The numbers are in random order, which depends on the
    seed of the study only."""
    order = np.random.default_rng([seed, BLINDING_STREAM]).permutation(len(systems))
    return {system: f"System {place + 1}" for system, place in zip(systems, order, strict=True)}


def blinded(rankings: Sequence[Ranking], names: Mapping[str, str]) -> tuple[Ranking, ...]:
    """The rankings with the code names of `names` (by system). Notes that may name systems are left
    out."""
    return tuple(_renamed(ranking, names) for ranking in rankings)


def _renamed(ranking: Ranking, names: Mapping[str, str]) -> Ranking:
    changes: dict[str, Any] = {
        "systems": tuple(replace(row, system=names[row.system]) for row in ranking.systems),
        "differences": tuple(_difference(difference, names) for difference in ranking.differences),
        "notes": tuple(note for note in ranking.notes if note == OWN_SCALES_NOTE),
    }
    if isinstance(ranking, FittedRanking):
        changes |= {
            "latent": {names.get(name, name): v for name, v in ranking.latent.items()},
            "latent_bounds": {names.get(n, n): v for n, v in ranking.latent_bounds.items()},
            "against": None if ranking.against is None else names[ranking.against],
        }
    return replace(ranking, **changes)


def _difference(difference: SystemDifference, names: Mapping[str, str]) -> SystemDifference:
    first, second = difference.systems
    return replace(difference, systems=(names[first], names[second]))
