"""Exact match: the share of outputs that are word for word what a reference says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.core.table import Bounds
from wellput.metrics.base import MeanMetric


@dataclass(frozen=True)
class Exact(MeanMetric):
    """1 where the output equals one of its references, else 0; the mean over segments.

    Runs of whitespace count as one space, at the ends as nothing. An empty output matches an empty
    reference.
    """

    family: ClassVar[str] = "exact"
    is_always_defined: ClassVar[bool] = True
    about: ClassVar[str] = "share of outputs equal to a reference"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    perfect: ClassVar[Mapping[str, float]] = {"score": 1.0}

    lowercase: bool = False

    def values(self, batch: Batch) -> Floats:
        matches = [
            self._normalized(output) in map(self._normalized, references)
            for output, references in zip(batch.texts, batch.references, strict=True)
        ]
        return np.array(matches, dtype=np.float64)

    def _normalized(self, text: str) -> str:
        return " ".join((text.lower() if self.lowercase else text).split())
