"""Simulated studies, systems × items, of two equally good metrics and of people, in ten worlds.

Every score is the sum of what belongs to its system, to its item and to the output alone; a metric's parts
correlate with people's by one number, its quality.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from wellput.core.metric import Floats

Kind = Literal["normal", "ties", "skewed", "heavy", "unbalanced", "documents", "nested"]


@dataclass(frozen=True)
class StudyWorld:
    """`by_system` and `by_item` are the shares of a score's variance that systems and items have; `about`
    says on the page what is special."""

    title: str
    about: str
    by_system: float
    by_item: float
    kind: Kind = "normal"

    def draw(
        self, n_systems: int, n_items: int, quality: float, rng: np.random.Generator
    ) -> tuple[Floats, Floats, Floats]:
        """Two metrics of the same quality, and people."""
        parts = (
            (self.by_system, (n_systems, 1)),
            (self.by_item, (1, n_items)),
            (1 - self.by_system - self.by_item, (n_systems, n_items)),
        )
        people = np.zeros((n_systems, n_items))
        metrics = [np.zeros((n_systems, n_items)) for _ in range(2)]
        for share, shape in parts:
            true = self._part(shape, rng)
            people = people + np.sqrt(share) * true
            for place in range(2):
                own = self._part(shape, rng)
                part = quality * true + np.sqrt(1 - quality**2) * own
                metrics[place] = metrics[place] + np.sqrt(share) * part
        return self._as_given(metrics, people, rng)

    def _part(self, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        """Random values with variance 1."""
        if self.kind == "skewed":
            return np.asarray((rng.chisquare(2, size=shape) - 2) / 2)
        if self.kind == "heavy":
            return np.asarray(rng.standard_t(5, size=shape) / np.sqrt(5 / 3))
        if self.kind == "documents" and shape[1] > 1:
            # Items of one document, five each, share half of what an item has.
            documents = rng.normal(size=(shape[0], -(-shape[1] // 5)))
            of_items = np.repeat(documents, 5, axis=1)[:, : shape[1]]
            return np.asarray(np.sqrt(0.5) * (of_items + rng.normal(size=shape)))
        return rng.normal(size=shape)

    def _as_given(
        self, metrics: list[Floats], people: Floats, rng: np.random.Generator
    ) -> tuple[Floats, Floats, Floats]:
        x, y = metrics
        if self.kind == "ties":
            people = np.clip(np.round(1.2 * people + 3), 1, 5)
            x, y = np.round(2 * x) / 2, np.round(2 * y) / 2
        if self.kind == "unbalanced":
            missing = np.linspace(0.1, 0.7, len(people))[:, None]
            people = np.where(rng.random(people.shape) < missing, np.nan, people)
        if self.kind == "nested":
            # Each system was rated by one judge of its own, stern or mild.
            people = people + 0.4 * rng.normal(size=(len(people), 1))
        return x, y, people


STUDY_WORLDS = (
    StudyWorld("every output by itself", "scores of different outputs are independent", 0.0, 0.0),
    StudyWorld(
        "systems and items differ",
        "a tenth of the variance of a score comes from the system, and three tenths from the item",
        0.1,
        0.3,
    ),
    StudyWorld(
        "errors shared within a system",
        "half of the variance comes from the system, so a metric likes or dislikes a system as a whole",
        0.5,
        0.2,
    ),
    StudyWorld(
        "errors shared within an item", "eight tenths of the variance come from the item", 0.02, 0.8
    ),
    StudyWorld(
        "ties: ratings from 1 to 5",
        "people rate in whole numbers, and scores of metrics are multiples of 1/2",
        0.1,
        0.3,
        "ties",
    ),
    StudyWorld(
        "skewed",
        "scores have a χ² distribution with 2 degrees of freedom: few are high",
        0.2,
        0.2,
        "skewed",
    ),
    StudyWorld(
        "heavy tails",
        "scores have Student's t distribution with 5 degrees of freedom",
        0.2,
        0.2,
        "heavy",
    ),
    StudyWorld(
        "unbalanced: 10 to 70% missing",
        "of the first system 10% of the outputs are not rated, of the last 70%",
        0.2,
        0.2,
        "unbalanced",
    ),
    StudyWorld(
        "nested: a judge for each system",
        "each system is rated by one judge, who is stern or mild",
        0.1,
        0.3,
        "nested",
    ),
    StudyWorld(
        "documents of five items",
        "items come in documents of five, and the items of one document are alike",
        0.1,
        0.3,
        "documents",
    ),
)
