"""A filter's decisions against people's verdicts: Kauchak & Barzilay's Table 8.

The evalset is one of decisions: its systems are `kept` and `refused`, an item under either (as
`wellput paraphrase --substitutions` writes it). A question with two answers is a verdict, the higher
one being yes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from wellput.agreement.panel import Panel
from wellput.stats.kappa import confusion

KEPT, REFUSED = "kept", "refused"
ANSWERS = ({0.0, 1.0}, {1.0, 2.0})


def decision_confusions(panels: Iterable[Panel]) -> Iterator[dict[str, Any]]:
    """One for each question that is a verdict on decisions; each judge's verdict is a case."""
    for panel in panels:
        rated = panel.ratings[~np.isnan(panel.ratings)]
        answers = next((a for a in ANSWERS if set(np.unique(rated)) <= a), None)
        if not set(panel.systems) <= {KEPT, REFUSED} or answers is None or not len(rated):
            continue
        decisions = np.repeat([s == KEPT for s in panel.systems], len(panel.items))
        ratings = panel.ratings.reshape(len(panel.judges), -1)
        verdicts = np.where(np.isnan(ratings), np.nan, ratings == max(answers))
        counts = confusion(decisions.astype(np.float64), verdicts)
        yield {
            "metric": KEPT,
            "question": panel.question,
            **asdict(counts),
            "accuracy": counts.accuracy,
            "kappa": counts.kappa,
            "n": counts.n,
        }
