"""Artstein & Poesio's beta: weighted agreement on labels or sets of labels.

Beta (Artstein & Poesio 2005, "Kappa³ = alpha (or beta)") is 1 − observed / expected disagreement.
Like Cohen's kappa, it expects disagreement by each coder's distribution of values; for two coders and
the nominal distance it equals Cohen's kappa. Like Krippendorff's alpha, it weights disagreements by a
distance: `nominal` (0 or 1), `jaccard` (1 − the share of the union that is common) or `masi`
(Passonneau 2006: the common share counts fully for equal sets, 2/3 for a set within the other, 1/3
for sets that overlap).

A value is a label or a set of labels; for Jaccard and MASI a label is a set of one. The empty set is a
value, at distance 0 from itself and 1 from all others. None or NaN is no value.
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
"""Coders × units."""


def beta(values: Values, *, distance: Distance = "nominal") -> Estimate:
    """Beta of all coders (rows) over all units (columns).

    Both disagreements are means over the pairs of coders, and beta is one minus their quotient.
    Where values are missing, a pair uses the units that both coded, for the coders' distributions as
    well, and is weighted by their number.
    """
    found = _disagreements(values, distance)
    coded = int((~np.isnan(found.by_unit)).sum())
    if not found.pairs:
        return undefined("no unit was coded by two coders", n=0)
    if not found.expected:
        return undefined("all values are the same", n=coded)
    value = 1 - found.observed / found.expected
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
    """One figure per item: 1 − the item's observed / the whole corpus's expected disagreement.

    `items` names the item of each unit (such as the sentence that a node belongs to); by default each
    unit is an item, named by its place. An item's observed disagreement is the mean over its units that
    two coders coded, NaN where there is none. The mean over items of equal size is beta.
    """
    found = _disagreements(values, distance)
    names = range(len(found.by_unit)) if items is None else items
    if len(names) != len(found.by_unit):
        raise InputError(f"There are {len(found.by_unit)} units, but items for {len(names)}.")
    members: dict[Hashable, list[float]] = {name: [] for name in names}
    for name, disagreement in zip(names, found.by_unit, strict=True):
        if not np.isnan(disagreement):
            members[name].append(float(disagreement))
    return {
        name: 1 - float(np.mean(each)) / found.expected if each and found.expected else NAN
        for name, each in members.items()
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
    for row, each in enumerate(sets):
        member[row, [labels[label] for label in each]] = 1
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
    """`by_unit` is each unit's mean over the pairs of coders who coded it, NaN where there is none."""

    by_unit: Floats
    observed: float
    expected: float
    pairs: int


def _disagreements(values: Values, distance: Distance) -> _Disagreements:
    codes, domain = _encoded(values)
    apart = distances(domain, distance)
    units = codes.shape[1]
    sums, counts = np.zeros(units), np.zeros(units, dtype=np.int64)
    expected = 0.0
    for first, second in combinations(codes, 2):
        both = (first >= 0) & (second >= 0)
        n = int(both.sum())
        if n:
            a, b = first[both], second[both]
            sums[both] += apart[a, b]
            counts += both
            p, q = (np.bincount(row, minlength=len(domain)) / n for row in (a, b))
            expected += n * float(p @ apart @ q)
    pairs = int(counts.sum())
    return _Disagreements(
        by_unit=ratios(sums, counts),
        observed=float(sums.sum()) / pairs if pairs else NAN,
        expected=expected / pairs if pairs else NAN,
        pairs=pairs,
    )


def _encoded(values: Values) -> tuple[NDArray[np.int64], list[Hashable]]:
    """The values as places in a list of the distinct ones, −1 where there is none."""
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
