"""`ProxiedLabels`: people's labels of some outputs and a proxy's scores of all outputs, as arrays.

A label is a judgment by a person. A proxy is a judge's answers, a metric's scores, or a combination of
several metrics that is fitted to the labels. The combination is fitted without the items that it is
used for: items are divided into folds, and the scores of a fold come from a fit to the other folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from wellput.agreement.machines.judged_trials import OutputValues
from wellput.agreement.panel import SHARE_WON_BY_A
from wellput.core.clusters import Places, places_of
from wellput.core.errors import InputError
from wellput.core.estimates import (
    CONSTANT_SPREAD_SHARE,
    largest_size,
    present_means,
    ratios,
)
from wellput.core.judgment import Judgment, Preference
from wellput.core.metric import Floats
from wellput.stats.judges.ratings import pearson
from wellput.stats.prediction_powered import ProxyLabels

PROXY_FOLDS = 10
"""The number of folds of a proxy that is fitted to the labels."""
MIN_LABELS_OF_COPY = 10
"""With fewer labels than this, a proxy may agree with them exactly by chance."""
RIDGE = 1.0
"""The penalty of the ridge regression of a fitted proxy. It counts as much as one row whose predictors
are one standard deviation from their mean."""


@dataclass(frozen=True, eq=False)
class ProxiedLabels:
    """`labels` are those of people, `proxies` the scores of the proxy. Both have shape (systems,
    items) for ratings. For choices it is (pairs of systems, items), and the values are the shares won
    by the first system of a pair. Values are NaN where there is no label or score. `clusters` has a
    number for each item's document, or for the item if it has no document. `pairs` has the places of
    the two systems of each pair; None for ratings. `weights` are the inverse probabilities with which
    items were chosen for labels; None if these are equal. `strata` has the number of each item's
    stratum (a group of items that is estimated separately), `strata_names` the names of all strata."""

    systems: tuple[str, ...]
    items: tuple[str, ...]
    labels: Floats
    proxies: Floats
    clusters: Places
    pairs: tuple[tuple[int, int], ...] | None = None
    weights: Floats | None = None
    strata: Places | None = None
    strata_names: tuple[str, ...] = ()
    stretch: float = 1.0
    """The factor by which a metric's scores were multiplied, so that their standard deviation is that
    of the labels."""
    scale: tuple[float, float] = (-np.inf, np.inf)
    """The lowest and the highest label. No mean lies outside this range."""

    @property
    def are_choices(self) -> bool:
        """Whether the labels are pairwise choices."""
        return self.pairs is not None

    @property
    def is_labeled(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Which items have a label of any system."""
        return np.asarray((~np.isnan(self.labels)).any(axis=0))

    @property
    def n_without_proxy(self) -> int:
        """The number of labels of outputs without a score of the proxy. They are not used."""
        return int((~np.isnan(self.labels) & np.isnan(self.proxies)).sum())

    @property
    def is_proxy_a_copy(self) -> bool:
        """Whether the proxy correlates perfectly with the labels, so that it may have been made from
        them."""
        has_both = ~np.isnan(self.labels) & ~np.isnan(self.proxies)
        if has_both.sum() < MIN_LABELS_OF_COPY:
            return False
        # 1, except for rounding.
        return pearson(self.labels[has_both], self.proxies[has_both]) > 1 - 1e-9

    def of_system(self, system: int) -> list[ProxyLabels]:
        """The labels and scores of a system, one entry for each stratum."""
        if self.pairs is None:
            return self._by_stratum(self.labels[system], self.proxies[system])
        labels, proxies = [], []
        for row, (a, b) in enumerate(self.pairs):
            if system in (a, b):
                is_first = system == a
                labels.append(self.labels[row] if is_first else 1 - self.labels[row])
                proxies.append(self.proxies[row] if is_first else 1 - self.proxies[row])
        if not labels:
            return []
        return self._by_stratum(np.concatenate(labels), np.concatenate(proxies), times=len(labels))

    def of_pair(self, a: int, b: int) -> list[ProxyLabels]:
        """The differences of two systems on the items that both have; for choices, the share won by the
        first minus the share won by the second. Empty if the two were never compared."""
        if self.pairs is None:
            differences = _without_rounding(self.labels[a] - self.labels[b], self.labels)
            return self._by_stratum(differences, self.proxies[a] - self.proxies[b])
        for row, pair in enumerate(self.pairs):
            if set(pair) == {a, b}:
                sign = 1.0 if pair == (a, b) else -1.0
                return self._by_stratum(
                    sign * (2 * self.labels[row] - 1), sign * (2 * self.proxies[row] - 1)
                )
        return []

    def _by_stratum(self, labels: Floats, proxies: Floats, *, times: int = 1) -> list[ProxyLabels]:
        """The units that have a score of the proxy, one entry for each stratum. `times` says how often
        the items are repeated in the arrays."""
        clusters = np.tile(self.clusters, times)
        weights = None if self.weights is None else np.tile(self.weights, times)
        strata = np.zeros(len(labels), np.intp)
        if self.strata is not None:
            strata = np.tile(self.strata, times)
        has_proxy = ~np.isnan(proxies)
        return [
            ProxyLabels(
                labels[used],
                proxies[used],
                np.unique(clusters[used], return_inverse=True)[1],
                None if weights is None else weights[used],
                self.strata_names[stratum] if self.strata_names else "",
            )
            for stratum in np.unique(strata[has_proxy])
            for used in [has_proxy & (strata == stratum)]
        ]


def rated_labels(
    people: Sequence[Judgment],
    proxies: Sequence[OutputValues],
    *,
    systems: Sequence[str],
    items: Sequence[str],
    documents: Mapping[str, str] | None,
    is_judge: bool,
) -> ProxiedLabels:
    """Labels that are ratings, with the scores of one or more proxies. A judge's answers are used as
    they are. A metric's scores are multiplied so that their standard deviation is that of the labels.
    Several metrics are combined by a fit to the labels."""
    labels = _means(
        [(rating.system, rating.item, rating.number) for rating in people],
        systems=systems,
        items=items,
    )
    tables = [_table(values, systems, items) for values in proxies]
    clusters = _clusters(items, documents)
    proxy = tables[0]
    if len(tables) > 1:
        proxy = _fitted(labels, tables, clusters)
    stretch = 1.0 if is_judge or len(tables) > 1 else _stretch(labels, proxy)
    return ProxiedLabels(
        tuple(systems),
        tuple(items),
        labels,
        proxy * stretch,
        clusters,
        stretch=stretch,
        scale=(min(rating.number for rating in people), max(rating.number for rating in people)),
    )


def chosen_labels(
    people: Sequence[Preference],
    proxies: Sequence[OutputValues],
    machine: Sequence[Preference] | None,
    *,
    systems: Sequence[str],
    items: Sequence[str],
    documents: Mapping[str, str] | None,
) -> ProxiedLabels:
    """Labels that are choices. The proxy is a judge's choices (`machine`), a metric that chooses the
    output with the better score, or a combination of several metrics that is fitted to the choices."""
    place_of = {name: place for place, name in enumerate(systems)}
    offered_pairs = {
        tuple(sorted((place_of[choice.system_a], place_of[choice.system_b]))) for choice in people
    }
    pairs = tuple(pair for pair in combinations(range(len(systems)), 2) if pair in offered_pairs)
    labels = _shares(people, pairs, systems, items)
    clusters = _clusters(items, documents)
    if machine is not None:
        proxy = _shares(machine, pairs, systems, items)
    else:
        tables = [_table(values, systems, items) for values in proxies]
        gaps = [np.array([table[a] - table[b] for a, b in pairs]) for table in tables]
        proxy = (np.sign(gaps[0]) + 1) / 2 if len(gaps) == 1 else _fitted(labels, gaps, clusters)
    return ProxiedLabels(
        tuple(systems), tuple(items), labels, proxy, clusters, pairs, scale=(0.0, 1.0)
    )


def _shares(
    choices: Sequence[Preference],
    pairs: Sequence[tuple[int, int]],
    systems: Sequence[str],
    items: Sequence[str],
) -> Floats:
    """The share won by the first system of each pair, pairs × items."""
    # For `_means`, each pair is given a name and takes the place of a system.
    names = [f"{a} {b}" for a, b in pairs]
    place_of = {name: place for place, name in enumerate(systems)}
    entries = []
    for choice in choices:
        a, b, share = (
            place_of[choice.system_a],
            place_of[choice.system_b],
            SHARE_WON_BY_A[choice.choice],
        )
        name = f"{a} {b}" if a < b else f"{b} {a}"
        if name in names:
            entries.append((name, choice.item, share if a < b else 1 - share))
    return _means(entries, systems=names, items=items)


def _means(
    entries: Sequence[tuple[str, str, float]], *, systems: Sequence[str], items: Sequence[str]
) -> Floats:
    """Means of entries (system, item, value) as systems × items; NaN where there is no entry."""
    system_at = {name: place for place, name in enumerate(systems)}
    item_at = {name: place for place, name in enumerate(items)}
    sums, counts = (np.zeros((len(systems), len(items))) for _ in range(2))
    for system, item, value in entries:
        cell = system_at[system], item_at[item]
        sums[cell] += value
        counts[cell] += 1
    return ratios(sums, counts)


def _table(values: OutputValues, systems: Sequence[str], items: Sequence[str]) -> Floats:
    return np.array([[values.get((system, item), np.nan) for item in items] for system in systems])


def _without_rounding(differences: Floats, labels: Floats) -> Floats:
    """Differences of labels. If all are equal but for rounding, as 5 − 4.9 and 4 − 3.9 are, they become
    equal."""
    spread = float(np.nanmax(differences, initial=-np.inf) - np.nanmin(differences, initial=np.inf))
    if not 0 <= spread <= CONSTANT_SPREAD_SHARE * largest_size(labels):  # −∞ if there are none
        return differences
    return np.where(np.isnan(differences), np.nan, np.nanmean(differences))


def _clusters(items: Sequence[str], documents: Mapping[str, str] | None) -> Places:
    document_of = documents or {}
    return places_of(
        [
            f"document {document_of[item]}" if item in document_of else f"item {item}"
            for item in items
        ]
    )


def _stretch(labels: Floats, proxy: Floats) -> float:
    """The standard deviation of the labels divided by that of the proxy's scores, on the labeled
    outputs."""
    has_both = ~np.isnan(labels) & ~np.isnan(proxy)
    if has_both.sum() < 2:
        return 1.0
    proxy_sd = float(proxy[has_both].std())
    label_sd = float(labels[has_both].std())
    return label_sd / proxy_sd if proxy_sd > 0 and label_sd > 0 else 1.0


def _fitted(labels: Floats, tables: Sequence[Floats], clusters: Places) -> Floats:
    """Several metrics combined to one prediction of the labels by ridge regression. An output in a
    labeled cluster is predicted by the fit to the other folds, all other outputs by the mean of all
    fits."""
    x = np.stack(tables, axis=-1)
    is_complete = ~np.isnan(labels) & ~np.isnan(x).any(axis=-1)
    labeled_clusters = np.unique(np.broadcast_to(clusters, labels.shape)[is_complete])
    if len(labeled_clusters) < 2 * PROXY_FOLDS:
        raise InputError(
            f"Several metrics are fitted to the labels, which needs {2 * PROXY_FOLDS} labeled items "
            f"that all of them have a score for; there are {len(labeled_clusters)}. Give one metric as "
            "proxy=."
        )
    rows = x[is_complete]
    center, scale = rows.mean(axis=0), rows.std(axis=0)
    x = (x - center) / np.where(scale > 0, scale, 1.0)
    fold_of = {int(cluster): place % PROXY_FOLDS for place, cluster in enumerate(labeled_clusters)}
    folds = np.array([fold_of.get(int(cluster), -1) for cluster in clusters])
    fold_table = np.broadcast_to(folds, labels.shape)
    fits = []
    for fold in range(PROXY_FOLDS):
        is_training = is_complete & (fold_table != fold)
        fits.append(_ridge(x[is_training], labels[is_training]))
    predictions = np.stack([intercept + x @ slopes for intercept, slopes in fits])
    combined: Floats = predictions.mean(axis=0)
    for fold in range(PROXY_FOLDS):
        combined = np.where(fold_table == fold, predictions[fold], combined)
    return combined


def _ridge(x: Floats, y: Floats) -> tuple[float, Floats]:
    """The intercept and the slopes of a ridge regression."""
    center = x.mean(axis=0)
    inner = (x - center).T @ (x - center) + RIDGE * np.eye(x.shape[1])
    slopes = np.linalg.solve(inner, (x - center).T @ (y - y.mean()))
    return float(y.mean() - center @ slopes), np.asarray(slopes)


def proxy_means(proxied: ProxiedLabels) -> Floats:
    """The mean of the proxy's scores of each system over all items, without correction."""
    if proxied.pairs is None:
        return present_means(proxied.proxies, axis=1) / proxied.stretch
    means = np.full(len(proxied.systems), np.nan)
    for system in range(len(proxied.systems)):
        parts = proxied.of_system(system)
        if parts:
            means[system] = np.concatenate([part.proxies for part in parts]).mean()
    return means
