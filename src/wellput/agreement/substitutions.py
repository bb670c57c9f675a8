"""How often the substitutions of paraphrase methods are right, according to each judge (Kauchak &
Barzilay 2006, Tables 7 and 8).

Each item is a substitution that one method or several proposed; its tags say which of them would make
it: `{"wordnet": "kept", "contextwn": "refused"}`. Judges do not see the tags.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from wellput.agreement.panel import Panel
from wellput.agreement.preferences import KEPT, REFUSED, YES_NO_SCALES
from wellput.core.evalset import Item
from wellput.core.metric import Floats
from wellput.stats.judges.kappa import cohen_kappa, confusion, pairwise_kappas

Decisions = Mapping[str, Mapping[str, bool]]
"""Method → item → whether the method makes the substitution."""


def decisions_of(items: Iterable[Item]) -> Decisions:
    """The decisions that stand in the tags of the items."""
    found: dict[str, dict[str, bool]] = {}
    for item in items:
        for method, decision in item.tags.items():
            if decision in (KEPT, REFUSED):
                found.setdefault(method, {})[item.id] = decision == KEPT
    return found


def verdict_rows(panels: Iterable[Panel], decisions: Decisions) -> Iterator[dict[str, Any]]:
    """A row for each question that is a verdict, each method and each judge. `accuracy` is the share
    of right ones among the substitutions that the method makes. `kappa` is that of all judges about
    them: Cohen's for two judges, the mean over pairs for more."""
    for panel in panels:
        rated = panel.ratings[~np.isnan(panel.ratings)]
        answers = next((a for a in YES_NO_SCALES if set(np.unique(rated)) <= a), None)
        if not set(panel.systems) <= {KEPT, REFUSED} or answers is None or not len(rated):
            continue
        by_item = _rated_once(panel)
        verdicts = np.where(np.isnan(by_item), np.nan, by_item == max(answers))
        for method, decided in decisions.items():
            made = np.array([float(decided.get(item, np.nan)) for item in panel.items])
            kappa = _kappa(verdicts[:, made == 1])
            for judge, own in zip(panel.judges, verdicts, strict=True):
                counts = confusion(made, own)
                yield {
                    "method": method,
                    "question": panel.question,
                    "judge": judge,
                    "accuracy": counts.precision,
                    "n": counts.true_positives + counts.false_positives,
                    "kappa": kappa,
                    "kept_right": counts.true_positives,
                    "kept_wrong": counts.false_positives,
                    "refused_right": counts.false_negatives,
                    "refused_wrong": counts.true_negatives,
                }


def _rated_once(panel: Panel) -> Floats:
    """Judges × items; every item is under one system."""
    known = ~np.isnan(panel.ratings)
    return np.where(known.any(axis=1), np.nan_to_num(panel.ratings).sum(axis=1), np.nan)


def _kappa(verdicts: Floats) -> float | None:
    judging: Sequence[Floats] = [row for row in verdicts if not np.isnan(row).all()]
    if len(judging) < 2:
        return None
    if len(judging) == 2:
        return cohen_kappa(*judging).value
    return pairwise_kappas(np.array(judging)).mean
