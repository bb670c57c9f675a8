"""Which strata `estimate` estimates alone, and which together as one.

A stratum is a group of items, such as those with one value of a tag. Strata with too few labels are
joined. A proxy is a metric or a judge that scores all outputs, of which people label some:
`ProxiedLabels` has people's labels and the proxy's scores of all outputs, `ProxyLabels` those of one
system (or pair of systems) in one stratum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wellput.agreement.machines.proxied_labels import ProxiedLabels
from wellput.agreement.rankings.plain_ranking import listed
from wellput.stats.prediction_powered import MIN_LABELS, ProxyLabels

MAX_NAMES_SHOWN = 4


def n_labeled_clusters(part: ProxyLabels) -> int:
    """The number of clusters (items or documents) with labels."""
    return len(np.unique(part.clusters[part.is_labeled]))


def small_strata_joined(strata: Sequence[ProxyLabels]) -> list[ProxyLabels]:
    """The strata to estimate, with those that have too few labels joined."""
    return [
        group[0] if len(group) == 1 else _concatenated(group) for group in grouped_strata(strata)
    ]


def grouped_strata(strata: Sequence[ProxyLabels]) -> list[list[ProxyLabels]]:
    """The strata in groups, each of which is estimated as one. Strata with too few labels are in one
    group; if the whole group still has too few, a stratum with enough labels is added to it."""
    with_enough_labels = [[part] for part in strata if n_labeled_clusters(part) >= MIN_LABELS]
    with_few_labels = [part for part in strata if n_labeled_clusters(part) < MIN_LABELS]
    if not with_few_labels:
        return with_enough_labels
    if sum(map(n_labeled_clusters, with_few_labels)) < MIN_LABELS and with_enough_labels:
        with_few_labels += with_enough_labels.pop()
    return [*with_enough_labels, with_few_labels]


def _concatenated(strata: Sequence[ProxyLabels]) -> ProxyLabels:
    """Several strata as one."""
    starts = np.cumsum([0, *(int(part.clusters.max(initial=-1)) + 1 for part in strata)])
    clusters = [part.clusters + start for part, start in zip(strata, starts, strict=False)]
    weights = [part.weights for part in strata if part.weights is not None]
    return ProxyLabels(
        np.concatenate([part.labels for part in strata]),
        np.concatenate([part.proxies for part in strata]),
        np.concatenate(clusters),
        np.concatenate(weights) if len(weights) == len(strata) else None,
    )


def joined_note(proxied: ProxiedLabels, tag: str, *, clustered_by: str) -> list[str]:
    """A sentence on the strata that were estimated as one, if there are any. Strata are the values of a
    tag; the stratum with the empty name has the items without the tag. `clustered_by` is the unit in
    which labels are counted: item, document or a tag. Different systems may have labels of different
    items, so that strata were joined for some systems only; then the sentence names these systems."""
    systems_by_group: dict[tuple[str, ...], list[str]] = {}
    n_systems = 0
    for place, system in enumerate(proxied.systems):
        strata = proxied.of_system(place)
        if not any(part.is_labeled.any() for part in strata):
            continue
        n_systems += 1
        for group in grouped_strata(strata):
            names = sorted((part.stratum for part in group), key=lambda name: (not name, name))
            if len(names) > 1:
                systems_by_group.setdefault(tuple(names), []).append(system)
    if not systems_by_group:
        return []
    groups = [
        _first_names([name or f"the items without {tag}" for name in names])
        + (f" (of {_first_names(systems)})" if len(systems) < n_systems else "")
        for names, systems in systems_by_group.items()
    ]
    is_tag = clustered_by not in ("item", "document")
    units = f"values of {clustered_by}" if is_tag else f"{clustered_by}s"
    groups_in_words = "; ".join(groups[:MAX_NAMES_SHOWN])
    return [
        f"Values of {tag} that were estimated as one, because some have labels of fewer than "
        f"{MIN_LABELS} {units}: {groups_in_words}{'; …' if len(groups) > MAX_NAMES_SHOWN else ''}. For "
        f"the difference of two systems, only {units} with labels of both are counted."
    ]


def _first_names(names: Sequence[str]) -> str:
    """The first few names, and the number of the others: `a, b, c, d and 2 more`."""
    n_hidden = len(names) - MAX_NAMES_SHOWN
    return listed([*names[:MAX_NAMES_SHOWN], *([f"{n_hidden:,} more"] if n_hidden > 0 else [])])
