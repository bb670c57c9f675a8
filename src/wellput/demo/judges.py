"""Judges who are simulated: they know what each system is worth, and nothing of what it wrote.

A rating on the scale from 1 to 7 is the system's worth, and noise: one output of a system is better
than another, one judge is stricter than another, and nobody rates the same thing twice alike.
"""

from __future__ import annotations

import numpy as np

from wellput.core.evalset import EvalSet
from wellput.core.judgment import Judgment

WORTH = {"careful": 6.0, "template": 5.0, "realizer": 4.5, "hasty": 3.0, "jumbled": 2.5, "lr": 2.0}
QUESTION = "quality (simulated)"
N_JUDGES = 6
LOWEST, HIGHEST = 1, 7
BETWEEN_OUTPUTS, BETWEEN_JUDGES, WITHIN_JUDGE = 0.6, 0.4, 0.8
"""Standard deviations."""
SEED = 7
"""The same judges whatever seed the resampling has."""


def simulated_judgments(evalset: EvalSet) -> list[Judgment]:
    """Every judge's rating of every output."""
    rng = np.random.default_rng(SEED)
    leniency = rng.normal(0, BETWEEN_JUDGES, N_JUDGES)
    judgments: list[Judgment] = []
    for item in evalset:
        for system in item.outputs:
            worth = WORTH[system] + rng.normal(0, BETWEEN_OUTPUTS)
            felt = worth + leniency + rng.normal(0, WITHIN_JUDGE, N_JUDGES)
            judgments += [
                Judgment(f"simulated {number}", item.id, system, QUESTION, value)
                for number, value in enumerate(np.clip(felt.round(), LOWEST, HIGHEST).tolist(), 1)
            ]
    return judgments
