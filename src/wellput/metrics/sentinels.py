"""Sentinels: metrics that know nothing about quality. A metric that does not beat them is useless.

They stand beside real metrics when these are compared with people's judgments. `random` shows how much
agreement comes by chance, `length-only` how much comes from the length of outputs alone.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.metrics.base import NOTHING, MeanMetric
from wellput.metrics.surface import Length


@dataclass(frozen=True)
class Random(MeanMetric):
    """A number in [0, 1) from a hash of seed, system and item id: the same on every machine.

    It does not depend on the output, nor on the other items or systems.
    """

    family: ClassVar[str] = "random"
    about: ClassVar[str] = "chance: a hash of seed, system and item id"
    needs: ClassVar[frozenset[Need]] = NOTHING

    seed: int = 0

    def signature(self) -> str:
        return f"hash_seed:{self.seed}"  # in a signature `seed` is the seed of the resampling

    def values(self, batch: Batch) -> Floats:
        # JSON marks its own end: no other (seed, system) gives the same bytes before the id.
        start = hashlib.blake2b(json.dumps([self.seed, batch.system]).encode(), digest_size=8)
        return np.array([_uniform(start, item) for item in batch.ids], dtype=np.float64)


def _uniform(start: hashlib.blake2b, item: str) -> float:
    digest = start.copy()
    digest.update(item.encode("utf-8", "surrogatepass"))
    # The 53 bits of a float's mantissa: rounding 64 could give 1.
    return (int.from_bytes(digest.digest(), "big") >> 11) / 2**53


@dataclass(frozen=True)
class LengthOnly(Length):
    """The number of tokens of an output, as if longer were better."""

    family: ClassVar[str] = "length-only"
    about: ClassVar[str] = "tokens per output, as if longer were better"

    @property
    def higher_is_better(self) -> bool | None:
        return True
