"""How far judges give the spans that both marked the same severity.

Two judges' spans of a text are paired so that the paired spans share the most characters. α is
Krippendorff's, for names, over all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wellput.core.error_spans import ErrorSpan
from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.stats.clusters import ClusteredItems, clustered_interval
from wellput.stats.undefined_values import ratios, undefined


def overlapping_pairs(
    first: Sequence[ErrorSpan], second: Sequence[ErrorSpan]
) -> list[tuple[ErrorSpan, ErrorSpan]]:
    """The spans paired, without those that share no character with their partner.

    >>> a, b = ErrorSpan(0, 5, "minor"), ErrorSpan(3, 9, "major")
    >>> overlapping_pairs([a], [b, ErrorSpan(20, 30)]) == [(a, b)]
    True
    """
    own = [span for span in first if not span.is_missing]
    others = [span for span in second if not span.is_missing]
    if not own or not others:
        return []
    shared = np.array(
        [[max(0, min(a.end, b.end) - max(a.start, b.start)) for b in others] for a in own]
    )
    if not shared.any():
        return []
    from scipy.optimize import linear_sum_assignment  # imported late: SciPy takes long to load

    rows, columns = linear_sum_assignment(shared, maximize=True)
    return [
        (own[row], others[column])
        for row, column in zip(rows, columns, strict=True)
        if shared[row, column]
    ]


def coincidences(pairs: Sequence[tuple[str, str]], names: Sequence[str]) -> Floats:
    """How often two severities meet, both ways round, as a row: names × names."""
    counts = np.zeros((len(names), len(names)))
    at = {name: place for place, name in enumerate(names)}
    for one, other in pairs:
        counts[at[one], at[other]] += 1
        counts[at[other], at[one]] += 1
    return counts.ravel()


def nominal_alpha(rows: Floats) -> Floats:
    """Krippendorff's α from summed coincidences, (..., names²) -> (...); NaN where all are the same."""
    size = round(rows.shape[-1] ** 0.5)
    table = rows.reshape(*rows.shape[:-1], size, size)
    marginals = table.sum(axis=-1)
    n = marginals.sum(axis=-1)
    unlike = n - np.trace(table, axis1=-2, axis2=-1)
    by_chance = n**2 - (marginals**2).sum(axis=-1)
    return 1.0 - ratios(unlike * (n - 1), by_chance)


def same_share(rows: Floats) -> Floats:
    """The share of pairs with the same severity."""
    size = round(rows.shape[-1] ** 0.5)
    table = rows.reshape(*rows.shape[:-1], size, size)
    return ratios(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-1, -2)))


def severity_alpha(rows: Floats, clusters: ClusteredItems, *, confidence: float = 0.95) -> Estimate:
    """α from the coincidences of each item, with its interval for other clusters of items."""
    if not np.isfinite(nominal_alpha(rows.sum(axis=0))):
        return undefined("no two severities can be compared", n=len(rows))
    return clustered_interval(
        rows, nominal_alpha, clusters, confidence=confidence, bounds=(None, 1.0)
    )
