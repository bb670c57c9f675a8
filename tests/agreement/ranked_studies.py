"""Judgments to rank: studies that lme4 analyzed, and simulated ones."""

from __future__ import annotations

import numpy as np

from tests.stats.mixed_studies import golden_columns
from wellput import Judgment

LETTERS = "ABCDE"


def golden_judgments(study: str, value: str = "value") -> list[Judgment]:
    columns = golden_columns(study)
    return [
        Judgment(
            f"J{judge:.0f}",
            f"i{item:.0f}",
            LETTERS[int(system) - 1],
            "quality",
            float(rating),
            {"document": f"d{document:.0f}"},
        )
        for judge, item, document, system, rating in zip(
            *(columns[name] for name in ("judge", "item", "document", "system", value)), strict=True
        )
    ]


def simulated(seed: int, *, gap: float = 2.0, judges: int = 5, items: int = 12) -> list[Judgment]:
    """Ratings of three systems, A best, with severe judges and hard items."""
    rng = np.random.default_rng(seed)
    severity, hardness = rng.normal(0, 3, judges), rng.normal(0, 3, items)
    return [
        Judgment(
            f"J{judge}",
            f"i{item}",
            LETTERS[system],
            "quality",
            float(50 - gap * system + severity[judge] + hardness[item] + rng.normal(0, 1)),
        )
        for judge in range(judges)
        for item in range(items)
        for system in range(3)
    ]
