"""Judges among themselves: the ceiling for any metric."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from wellput.agreement.panel import Exclusion, Panel, normalized
from wellput.agreement.result import JudgeSummary
from wellput.core.metric import Floats
from wellput.stats.judges import (
    judges_against_rest,
    pair_correlations,
    pairwise_correlations,
    split_half,
)
from wellput.stats.kappa import pairwise_kappas
from wellput.stats.krippendorff import krippendorff_alpha
from wellput.stats.weighted_agreement import beta

SHARED = 0.5
"""With fewer than this share of all possible ratings, judges are a crowd rather than a panel."""

CATEGORIES = 20
"""More different ratings than this are a scale, not categories: no κ and β then."""


def summarize_judges(raw: Panel, normalized: Panel, *, seed: int) -> JudgeSummary:
    """Correlations on the normalized ratings; κ, α and β on the ratings as given.

    κ is the mean of Cohen's over pairs of judges, α Krippendorff's for interval data, β Artstein &
    Poesio's with nominal distance.
    """
    n = len(raw.judges)
    if n < 2:
        return JudgeSummary(
            raw.question, n, raw.units.shape[1], None, None, None, None, None,
            note="one judge has nobody to agree with",
        )  # fmt: skip
    pairs = pairwise_correlations(normalized.units)
    is_categorical = len(np.unique(raw.units[~np.isnan(raw.units)])) <= CATEGORIES
    rest = judges_against_rest(normalized.units)
    return JudgeSummary(
        question=raw.question,
        n_judges=n,
        n_trials=raw.units.shape[1],
        pairwise={"mean": pairs.mean, "min": pairs.min, "max": pairs.max, "sd": pairs.sd},
        split_half=split_half(normalized.units, split=_split(normalized), seed=seed).value,
        kappa=pairwise_kappas(raw.units).mean if is_categorical else None,
        alpha=krippendorff_alpha(raw.units, level="interval").value,
        beta=beta(_categories(raw.units)).value if is_categorical else None,
        against_rest={
            judge: entry.correlation.value for judge, entry in zip(raw.judges, rest, strict=True)
        },
        note="" if is_categorical else "ratings on a scale: no κ or β",
    )


def _categories(ratings: Floats) -> list[list[float | None]]:
    """Ratings as categories, None for a missing one."""
    return [[None if np.isnan(value) else float(value) for value in row] for row in ratings]


def _split(panel: Panel) -> Literal["judges", "units"]:
    """How to split the ratings: the panel, or each trial's own where few judges share a trial."""
    return "judges" if (~np.isnan(panel.units)).mean() >= SHARED else "units"


def outlying_judges(panel: Panel, *, below: float) -> list[Exclusion]:
    """The judges whose correlation with the mean of the others is lower than `below`.

    On a common scale, or the mean of the others would be that of whoever uses the widest one.
    """
    units = normalized(panel, "z").units
    return [
        Exclusion(
            panel.question,
            f"correlates {entry.correlation.value:.2f} with the other judges, below {below:g}",
            judge=judge,
        )
        for judge, entry in zip(panel.judges, judges_against_rest(units), strict=True)
        if entry.correlation.value < below
    ]


def question_correlations(panels: Mapping[str, Panel]) -> list[dict[str, Any]]:
    """Correlations between questions over the mean ratings of the trials that both asked about."""
    names = list(panels)
    rows = np.stack([panels[name].means.ravel() for name in names])
    return [
        {
            "questions": [names[pair.first], names[pair.second]],
            "coefficient": "pearson",
            "value": pair.estimate.value,
            "n": pair.estimate.n,
        }
        for pair in pair_correlations(rows)
    ]


def ceiling(summary: JudgeSummary) -> float | None:
    """The highest correlation with the judges' mean that their own noise allows: the root of its
    reliability.

    The correlation between two single judges is no ceiling: their mean is steadier than either, and a
    metric can agree with it better than they do with each other.
    """
    if summary.split_half is None or not summary.split_half > 0:
        return None
    return math.sqrt(summary.split_half)
