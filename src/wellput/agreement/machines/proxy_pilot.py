"""`ProxyPilot`: how far a proxy's differences of two systems follow people's, in a pilot study."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from wellput.agreement.machines.proxied_labels import ProxiedLabels
from wellput.agreement.panel import AnyJudgment
from wellput.core.errors import InputError, counted
from wellput.core.estimates import Estimate
from wellput.core.judgment import Judgment
from wellput.core.metric import Floats
from wellput.stats.student import FISHER_Z, student_estimate

MIN_ITEMS = 10
"""Fewer items with labels of two systems give no correlation to plan with."""


@dataclass(frozen=True)
class ProxyPilot:
    """`correlation`, over items, of the proxy's difference of two systems with that of people's mean
    ratings, all pairs of systems together. `judges` is how many judges are behind a mean rating, on
    average; `n_scored` counts the items that the proxy has scores for."""

    correlation: Estimate
    judges: float
    n_items: int
    n_scored: int


def proxy_pilot_of(given: ProxiedLabels, labels: Sequence[AnyJudgment]) -> ProxyPilot:
    """Raises InputError where too few items have labels of two systems."""
    counts = Counter((one.system, one.item) for one in labels if isinstance(one, Judgment))
    pairs = list(combinations(range(len(given.systems)), 2))
    people = np.array([given.labels[a] - given.labels[b] for a, b in pairs])
    proxy = np.array([given.proxies[a] - given.proxies[b] for a, b in pairs])
    known = ~np.isnan(people) & ~np.isnan(proxy) if pairs else np.zeros((0, 0), dtype=bool)
    used = np.flatnonzero(known.any(axis=0)) if pairs else np.zeros(0, dtype=np.intp)
    if len(used) < MIN_ITEMS:
        raise InputError(
            f"proxy= needs a pilot with ratings of two systems on {counted(MIN_ITEMS, 'item')}; this "
            f"one has {len(used)} that the proxy has scores for."
        )
    people, proxy = people[:, used], proxy[:, used]
    places = np.arange(len(used))
    value = _pooled(people, proxy)
    without = np.array([_pooled(people[:, places != i], proxy[:, places != i]) for i in places])
    if not np.isfinite([value, *without]).all():
        raise InputError(
            "proxy= has no correlation with the pilot: its scores, or the ratings, are equal."
        )
    z = np.arctanh(np.clip(without, -0.999999, 0.999999))
    error = math.sqrt((len(z) - 1) / len(z) * float(((z - z.mean()) ** 2).sum()))
    return ProxyPilot(
        student_estimate(
            value, error, len(used) - 1, null=None, scale=FISHER_Z, method="jackknife over items"
        ),
        sum(counts.values()) / len(counts),
        len(used),
        int((~np.isnan(given.proxies)).any(axis=0).sum()),
    )


def _pooled(people: Floats, proxy: Floats) -> float:
    """The correlation within pairs of systems: each pair's differences less their mean."""
    known = ~np.isnan(people) & ~np.isnan(proxy)
    counts = np.maximum(known.sum(axis=1, keepdims=True), 1)
    y, f = (
        np.where(
            known, values - np.where(known, values, 0.0).sum(axis=1, keepdims=True) / counts, 0.0
        )
        for values in (people, proxy)
    )
    scale = math.sqrt(float((y**2).sum()) * float((f**2).sum()))
    return float((y * f).sum()) / scale if scale > 0 else math.nan
