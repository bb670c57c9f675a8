"""People's labels of some outputs beside a proxy's scores of all: `ProxiedLabels`, as arrays.

A proxy is a judge's answers, a metric's scores, or several metrics that are fitted to the labels. A
fitted proxy never sees the item that it is used for: folds of items are predicted from the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from wellput.agreement.machines.judged_trials import SHARE_OF_CHOICE, OutputValues
from wellput.core.clusters import Places, places_of
from wellput.core.errors import InputError
from wellput.core.estimates import present_means, ratios
from wellput.core.judgment import Judgment, Preference
from wellput.core.metric import Floats
from wellput.stats.judges.ratings import pearson
from wellput.stats.prediction_powered import ProxyLabels

PROXY_FOLDS = 10
MIN_LABELS_OF_COPY = 10
"""With fewer labels a proxy may follow them exactly by chance."""
RIDGE = 1.0
"""The penalty of a fitted proxy, in squared standard deviations of one row."""


@dataclass(frozen=True, eq=False)
class ProxiedLabels:
    """Labels and proxies of units: (systems, items) for ratings; (pairs, items) for choices, where both
    are the share won by the first system of a pair. NaN where there is none. `weights` are the inverse
    probabilities with which items were labeled; None for equal ones. `strata` has the place of each
    item's stratum."""

    systems: tuple[str, ...]
    items: tuple[str, ...]
    labels: Floats
    proxies: Floats
    clusters: Places
    pairs: tuple[tuple[int, int], ...] | None = None
    weights: Floats | None = None
    strata: Places | None = None
    stretch: float = 1.0
    """What a metric's scores were multiplied by."""
    scale: tuple[float, float] = (-np.inf, np.inf)
    """The lowest and the highest answer that was given: no mean lies outside."""

    @property
    def are_choices(self) -> bool:
        return self.pairs is not None

    @property
    def is_labeled(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Which items have a label of any system."""
        return np.asarray((~np.isnan(self.labels)).any(axis=0))

    @property
    def n_without_proxy(self) -> int:
        """Labels of outputs that the proxy has no score for; they are not used."""
        return int((~np.isnan(self.labels) & np.isnan(self.proxies)).sum())

    @property
    def is_proxy_a_copy(self) -> bool:
        """Whether the proxy follows the labels without any error, so that it may have been made from
        them."""
        known = ~np.isnan(self.labels) & ~np.isnan(self.proxies)
        if known.sum() < MIN_LABELS_OF_COPY:
            return False
        return pearson(self.labels[known], self.proxies[known]) > 1 - 1e-9

    def of_system(self, system: int) -> list[ProxyLabels]:
        """A system's units, one entry for each stratum."""
        if self.pairs is None:
            return self._series(self.labels[system], self.proxies[system])
        labels, proxies = [], []
        for row, (a, b) in enumerate(self.pairs):
            if system in (a, b):
                is_first = system == a
                labels.append(self.labels[row] if is_first else 1 - self.labels[row])
                proxies.append(self.proxies[row] if is_first else 1 - self.proxies[row])
        if not labels:
            return []
        return self._series(np.concatenate(labels), np.concatenate(proxies), times=len(labels))

    def of_pair(self, a: int, b: int) -> list[ProxyLabels]:
        """The difference of two systems on items that both have; for choices the share of the first
        less that of the second. Empty where they were never compared."""
        if self.pairs is None:
            return self._series(self.labels[a] - self.labels[b], self.proxies[a] - self.proxies[b])
        for row, pair in enumerate(self.pairs):
            if set(pair) == {a, b}:
                sign = 1.0 if pair == (a, b) else -1.0
                return self._series(
                    sign * (2 * self.labels[row] - 1), sign * (2 * self.proxies[row] - 1)
                )
        return []

    def _series(self, labels: Floats, proxies: Floats, *, times: int = 1) -> list[ProxyLabels]:
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
    """From ratings. A judge's answers are used as they are; a metric's scores are brought to the spread
    of the labels, and several metrics are fitted to them."""
    labels = _means(
        [(one.system, one.item, one.number) for one in people], systems=systems, items=items
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
        scale=(min(one.number for one in people), max(one.number for one in people)),
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
    """From choices. The proxy is a judge's choices, the output with the better score, or several
    metrics that are fitted to the choices."""
    at = {name: place for place, name in enumerate(systems)}
    asked = {tuple(sorted((at[one.system_a], at[one.system_b]))) for one in people}
    pairs = tuple(pair for pair in combinations(range(len(systems)), 2) if pair in asked)
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
    names = [f"{a} {b}" for a, b in pairs]
    at = {name: place for place, name in enumerate(systems)}
    entries = []
    for one in choices:
        a, b, share = at[one.system_a], at[one.system_b], SHARE_OF_CHOICE[one.choice]
        name = f"{a} {b}" if a < b else f"{b} {a}"
        if name in names:
            entries.append((name, one.item, share if a < b else 1 - share))
    return _means(entries, systems=names, items=items)


def _means(
    entries: Sequence[tuple[str, str, float]], *, systems: Sequence[str], items: Sequence[str]
) -> Floats:
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


def _clusters(items: Sequence[str], documents: Mapping[str, str] | None) -> Places:
    known = documents or {}
    return places_of(
        [f"document {known[item]}" if item in known else f"item {item}" for item in items]
    )


def _stretch(labels: Floats, proxy: Floats) -> float:
    """The spread of the labels over that of the proxy, on the labeled outputs."""
    known = ~np.isnan(labels) & ~np.isnan(proxy)
    if known.sum() < 2:
        return 1.0
    spread = float(proxy[known].std())
    wanted = float(labels[known].std())
    return wanted / spread if spread > 0 and wanted > 0 else 1.0


def _fitted(labels: Floats, tables: Sequence[Floats], clusters: Places) -> Floats:
    """Several metrics as one prediction of the labels by ridge regression. An output of a labeled
    cluster is predicted by the fit of the other folds, all others by the mean of all fits."""
    x = np.stack(tables, axis=-1)
    known = ~np.isnan(labels) & ~np.isnan(x).any(axis=-1)
    labeled = np.unique(np.broadcast_to(clusters, labels.shape)[known])
    if len(labeled) < 2 * PROXY_FOLDS:
        raise InputError(
            f"Several metrics are fitted to the labels, which needs {2 * PROXY_FOLDS} labeled items "
            f"that all of them have a score for; there are {len(labeled)}. Give one metric as proxy=."
        )
    rows = x[known]
    center, scale = rows.mean(axis=0), rows.std(axis=0)
    x = (x - center) / np.where(scale > 0, scale, 1.0)
    fold_of = {int(cluster): place % PROXY_FOLDS for place, cluster in enumerate(labeled)}
    folds = np.array([fold_of.get(int(cluster), -1) for cluster in clusters])
    fold_table = np.broadcast_to(folds, labels.shape)
    fits = []
    for fold in range(PROXY_FOLDS):
        seen = known & (fold_table != fold)
        fits.append(_ridge(x[seen], labels[seen]))
    predictions = np.stack([intercept + x @ slopes for intercept, slopes in fits])
    found: Floats = predictions.mean(axis=0)
    for fold in range(PROXY_FOLDS):
        found = np.where(fold_table == fold, predictions[fold], found)
    return found


def _ridge(x: Floats, y: Floats) -> tuple[float, Floats]:
    center = x.mean(axis=0)
    inner = (x - center).T @ (x - center) + RIDGE * np.eye(x.shape[1])
    slopes = np.linalg.solve(inner, (x - center).T @ (y - y.mean()))
    return float(y.mean() - center @ slopes), np.asarray(slopes)


def proxy_means(given: ProxiedLabels) -> Floats:
    """What the proxy alone says of each system, over all items."""
    if given.pairs is None:
        return present_means(given.proxies, axis=1) / given.stretch
    found = np.full(len(given.systems), np.nan)
    for system in range(len(given.systems)):
        parts = given.of_system(system)
        if parts:
            found[system] = np.concatenate([part.proxies for part in parts]).mean()
    return found
