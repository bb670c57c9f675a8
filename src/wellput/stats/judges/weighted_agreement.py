"""Artstein & Poesio's beta: weighted agreement on labels or sets of labels. A *coder* is a judge who
gives labels.

Beta (Artstein & Poesio 2005, "Kappa³ = alpha (or beta)") is 1 − observed / expected disagreement.
As in Cohen's kappa, the expected disagreement is that of values drawn from each coder's own
distribution; for two coders and the nominal distance, beta equals Cohen's kappa. Like Krippendorff's
alpha, beta weights disagreements by a distance: `nominal` (0 or 1), `jaccard` (1 − the share of the
union of two sets that is common) or `masi` (Passonneau 2006: as Jaccard, but the common share counts
fully for equal sets, 2/3 for a set within the other, 1/3 for sets that overlap).

A value is a label or a set of labels; for Jaccard and MASI, a label counts as a set of one label. The
empty set is a value, at distance 0 from itself and 1 from all others. None or NaN is no value.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wellput.core.errors import InputError
from wellput.core.estimates import NAN, Estimate, ratios, undefined
from wellput.core.metric import Floats
from wellput.stats.judges.ratings import SquaredDisagreements, as_ratings

Distance = Literal["nominal", "jaccard", "masi"]
Values = Sequence[Sequence[Hashable | Set[Hashable] | None]]
"""The values of each coder (rows) for each unit (columns)."""


def beta(values: Values, *, distance: Distance = "nominal") -> Estimate:
    """Beta of all coders (rows) over all units (columns).

    The observed and the expected disagreement are means over the pairs of coders. Where values are
    missing, a pair uses only the units that both coded, for the coders' distributions as well, and is
    weighted by the number of these units.
    """
    disagreements = _disagreements(values, distance)
    coded = int((~np.isnan(disagreements.by_unit)).sum())
    if not disagreements.pairs:
        return undefined("no unit was coded by two coders", n=0)
    if not disagreements.expected:
        return undefined("all values are the same", n=coded)
    value = 1 - disagreements.observed / disagreements.expected
    return Estimate(value, method=f"Artstein & Poesio's beta, {distance} distance", n=coded)


def interval_beta(ratings: ArrayLike, *, fewest: int = 1) -> Estimate:
    """Beta of numbers (judges × units, NaN = missing) with the distance (a − b)²; for two judges it is
    Cohen's kappa with quadratic weights.

    Pairs of judges who share fewer than `fewest` units are left out: one or two units do not show how
    much two judges would disagree by chance, and beta is near 0 there even if they agree.
    """
    pairs = SquaredDisagreements.of(as_ratings(ratings), fewest=fewest)
    n = int(pairs.n.sum())
    if not n:
        return undefined(f"no two judges share {max(fewest, 1)} units", n=0)
    if not pairs.expected.any():
        return undefined("all ratings are the same", n=n)
    value = 1 - float(pairs.observed.sum() / pairs.expected.sum())
    return Estimate(value, method="Artstein & Poesio's beta, interval distance", n=n)


def beta_by_item(
    values: Values, items: Sequence[Hashable] | None = None, *, distance: Distance = "nominal"
) -> dict[Hashable, float]:
    """Beta for each item: 1 − (its observed disagreement) / (the expected disagreement of all items).

    `items` names the item of each unit (such as the sentence that a node belongs to); by default each
    unit is an item, named by its place. An item's observed disagreement is the mean over its units that
    two coders coded, NaN where there is none. The mean over items of equal size is beta.
    """
    disagreements = _disagreements(values, distance)
    names = range(len(disagreements.by_unit)) if items is None else items
    if len(names) != len(disagreements.by_unit):
        raise InputError(
            f"There are {len(disagreements.by_unit)} units, but items for {len(names)}."
        )
    members: dict[Hashable, list[float]] = {name: [] for name in names}
    for name, disagreement in zip(names, disagreements.by_unit, strict=True):
        if not np.isnan(disagreement):
            members[name].append(float(disagreement))
    return {
        name: 1 - float(np.mean(of_item)) / disagreements.expected
        if of_item and disagreements.expected
        else NAN
        for name, of_item in members.items()
    }


def distances(values: Sequence[Hashable], distance: Distance) -> Floats:
    """The distances of all pairs of values, each between 0 and 1.

    >>> distances([frozenset("ab"), frozenset("abcd"), "a"], "masi").round(3)
    array([[0.   , 0.667, 0.667],
           [0.667, 0.   , 0.833],
           [0.667, 0.833, 0.   ]])
    """
    if distance not in get_args(Distance):
        raise InputError(f"distance={distance!r} is none of {', '.join(get_args(Distance))}.")
    if distance == "nominal":
        places = {value: place for place, value in enumerate(dict.fromkeys(values))}
        codes = np.array([places[value] for value in values], dtype=np.int64)
        return np.asarray(codes[:, None] != codes, dtype=np.float64)
    sets = [value if isinstance(value, Set) else {value} for value in values]
    labels = {label: place for place, label in enumerate(dict.fromkeys(x for s in sets for x in s))}
    member = np.zeros((len(sets), len(labels)))
    for row, labels_of_row in enumerate(sets):
        member[row, [labels[label] for label in labels_of_row]] = 1
    sizes = member.sum(axis=1)
    common = member @ member.T
    union = sizes[:, None] + sizes - common
    share = np.divide(common, union, out=np.ones(union.shape), where=union > 0)
    if distance == "masi":
        within = common == np.minimum(sizes[:, None], sizes)
        share = share * np.where(common == union, 1.0, np.where(within, 2 / 3, 1 / 3))
    return np.asarray(1 - share, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Disagreements:
    """`by_unit` has each unit's mean distance over the pairs of coders who coded it, NaN where there is
    none; `observed` and `expected` are the disagreements of all units; `pairs` counts the pairs of
    values that were compared."""

    by_unit: Floats
    observed: float
    expected: float
    pairs: int


def _disagreements(values: Values, distance: Distance) -> _Disagreements:
    """The observed and the expected disagreement of all pairs of coders."""
    codes, domain = _encoded(values)
    value_distances = distances(domain, distance)
    units = codes.shape[1]
    sums, counts = np.zeros(units), np.zeros(units, dtype=np.int64)
    expected = 0.0
    for first, second in combinations(codes, 2):
        is_shared = (first >= 0) & (second >= 0)
        n = int(is_shared.sum())
        if n:
            a, b = first[is_shared], second[is_shared]
            sums[is_shared] += value_distances[a, b]
            counts += is_shared
            p, q = (np.bincount(row, minlength=len(domain)) / n for row in (a, b))
            expected += n * float(p @ value_distances @ q)
    pairs = int(counts.sum())
    return _Disagreements(
        by_unit=ratios(sums, counts),
        observed=float(sums.sum()) / pairs if pairs else NAN,
        expected=expected / pairs if pairs else NAN,
        pairs=pairs,
    )


def _encoded(values: Values) -> tuple[NDArray[np.int64], list[Hashable]]:
    """The values as places in a list of the different values, −1 where there is none; and this list."""
    if len({len(row) for row in values}) > 1:
        raise InputError(
            "Every coder needs a value, or None, for every unit; there are rows of "
            f"{', '.join(str(len(row)) for row in values)} values."
        )
    places: dict[Hashable, int] = {}
    codes = np.full((len(values), len(values[0]) if len(values) else 0), -1, dtype=np.int64)
    for coder, row in enumerate(values):
        for unit, value in enumerate(row):
            if value is None or (isinstance(value, float) and np.isnan(value)):
                continue
            label = frozenset(value) if isinstance(value, Set) else value
            codes[coder, unit] = places.setdefault(label, len(places))
    return codes, list(places)
