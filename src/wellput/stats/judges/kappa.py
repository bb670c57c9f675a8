"""Agreement on categories beyond chance: Cohen's kappa, Fleiss' kappa, and `Confusion`, which compares
yes-or-no decisions with people's verdicts.

Kappa is 1 − observed / expected disagreement. The expected disagreement is that of random ratings:
drawn from each judge's own distribution of ratings in Cohen's kappa (1960), and from the distribution
of all ratings in Fleiss' kappa (1971). Both are NaN, with the reason, where all ratings are the same
category: then no disagreement is expected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from wellput.core.errors import InputError
from wellput.core.estimates import NAN, Estimate, ratios, undefined
from wellput.core.metric import Floats
from wellput.core.options import checks_options
from wellput.stats.judges.ratings import (
    MIN_UNITS_TO_COMPARE,
    PairSummary,
    SquaredDisagreements,
    as_ratings,
    packed_by_unit,
    shared_values,
    sharing_pairs,
    summarize_pairs,
)

Weights = Literal["none", "linear", "quadratic"]


@checks_options
def cohen_kappa(first: ArrayLike, second: ArrayLike, *, weights: Weights = "none") -> Estimate:
    """Cohen's kappa of two judges over the units both rated (NaN = not rated).

    Weighted kappa (Cohen 1968) weights a disagreement by |a − b| or (a − b)², where a and b are the
    ratings. scikit-learn uses the places of a and b among the categories that occur. This gives the
    same kappa if these categories are evenly spaced; otherwise, only if scikit-learn gets all
    categories of an evenly spaced scale as `labels`.
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(
            f"Two judges must rate the same units; the arrays have shapes {x.shape} and {y.shape}."
        )
    is_shared = ~(np.isnan(x) | np.isnan(y))
    n = int(is_shared.sum())
    if not n:
        return undefined("no unit was rated by both judges", n=0)
    value = _kappa(x[is_shared], y[is_shared], weights)
    if np.isnan(value):
        return undefined("both judges gave every unit the same rating", n=n)
    name = "Cohen's kappa" if weights == "none" else f"Cohen's kappa, {weights} weights"
    return Estimate(value, method=name, n=n)


@checks_options
def pairwise_kappas(
    ratings: ArrayLike, *, weights: Weights = "none", fewest: int = MIN_UNITS_TO_COMPARE
) -> PairSummary:
    """Cohen's kappa over all pairs of judges who share at least `fewest` units, or a sample of these
    pairs (`stats.judges.ratings`)."""
    ratings = as_ratings(ratings)
    if weights == "quadratic":
        pairs = SquaredDisagreements.of(ratings, fewest=fewest)
        values = (1 - ratios(pairs.observed, pairs.expected)).tolist()
    else:
        values = [
            _kappa(x[is_shared], y[is_shared], weights)
            for shared in shared_values(ratings, sharing_pairs(ratings, fewest=fewest))
            for x, y, is_shared in zip(shared.x, shared.y, shared.both, strict=True)
        ]
    return summarize_pairs(values, len(ratings), fewest=fewest)


def _kappa(x: Floats, y: Floats, weights: Weights) -> float:
    """Cohen's kappa of two rows without NaN. It is computed without a table of categories × categories,
    because a 0–100 scale has 101 categories."""
    values, codes = np.unique(np.concatenate([x, y]), return_inverse=True)
    if len(values) == 1:
        return NAN
    n = len(x)
    if weights == "quadratic":
        observed = np.mean((x - y) ** 2)
        expected = x.var() + y.var() + (x.mean() - y.mean()) ** 2
        return float(1 - observed / expected)
    p = np.bincount(codes[:n], minlength=len(values)) / n
    q = np.bincount(codes[n:], minlength=len(values)) / n
    if weights == "none":
        return float(1 - np.mean(x != y) / (1 - p @ q))
    # E|X − Y| sums, over the gaps between values, gap × chance that X and Y lie on different sides.
    below_x, below_y = np.cumsum(p)[:-1], np.cumsum(q)[:-1]
    on_both_sides = below_x * (1 - below_y) + below_y * (1 - below_x)
    return float(1 - np.mean(np.abs(x - y)) / (on_both_sides @ np.diff(values)))


def fleiss_kappa(ratings: ArrayLike) -> Estimate:
    """Fleiss' kappa; each rating is a category.

    Every rated unit needs the same number of ratings, by any judges. Otherwise the result is NaN:
    Krippendorff's nominal alpha allows for missing ratings.
    """
    ratings = packed_by_unit(as_ratings(ratings))
    counts = (~np.isnan(ratings)).sum(axis=0)
    ratings, counts = ratings[:, counts > 0], counts[counts > 0]
    units = len(counts)
    if not units or counts.max() < 2:
        return undefined("no unit has two ratings", n=units)
    if counts.min() != counts.max():
        return undefined(
            f"units have from {counts.min()} to {counts.max()} ratings; Fleiss' kappa needs the same "
            "number of each, Krippendorff's alpha does not",
            n=units,
        )
    values, codes = np.unique(ratings, return_inverse=True)
    if len(values) == 1:
        return undefined("all ratings are the same", n=units)
    ratings_of_unit = int(counts[0])
    cells = np.arange(units) * len(values) + codes.reshape(ratings.shape)
    _, repeats = np.unique(cells, return_counts=True)
    agreeing = (repeats * (repeats - 1)).sum() / (units * ratings_of_unit * (ratings_of_unit - 1))
    shares = np.bincount(codes.ravel()) / ratings.size
    by_chance = shares @ shares
    return Estimate(
        float((agreeing - by_chance) / (1 - by_chance)), method="Fleiss' kappa", n=units
    )


@dataclass(frozen=True, slots=True)
class Confusion:
    """A yes-or-no decision against people's verdicts, which are taken as right; each verdict of a judge
    on a unit is one case.

    A ratio is NaN where its denominator is 0; `undefined` gives the reasons.
    """

    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int

    @property
    def n(self) -> int:
        return (
            self.true_positives + self.false_positives + self.false_negatives + self.true_negatives
        )

    @property
    def accuracy(self) -> float:
        return _ratio(self.true_positives + self.true_negatives, self.n)

    @property
    def precision(self) -> float:
        return _ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        return _ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; NaN where nothing is positive on either side."""
        wrong = self.false_positives + self.false_negatives
        return _ratio(2 * self.true_positives, 2 * self.true_positives + wrong)

    @property
    def kappa(self) -> float:
        """Cohen's kappa of the decision and the verdicts."""
        decided = self.true_positives + self.false_positives
        judged = self.true_positives + self.false_negatives
        by_chance = decided * judged + (self.n - decided) * (self.n - judged)
        right = self.true_positives + self.true_negatives
        return _ratio(right * self.n - by_chance, self.n**2 - by_chance)

    @property
    def undefined(self) -> dict[str, str]:
        """Why a figure is NaN, by its name."""
        reasons = {
            "accuracy": "there are no verdicts",
            "precision": "the decision is never yes",
            "recall": "the verdict is never yes",
            "f1": "neither decision nor verdict is ever yes",
            "kappa": "all decisions and verdicts are the same answer",
        }
        if not self.n:
            reasons = dict.fromkeys(reasons, reasons["accuracy"])
        return {name: why for name, why in reasons.items() if np.isnan(getattr(self, name))}


def confusion(decisions: ArrayLike, verdicts: ArrayLike) -> Confusion:
    """Counts decisions (one per unit) against verdicts (a row, or judges × units): 1 yes, 0 no, NaN
    none.

    Units without a decision and missing verdicts do not count. To count units rather than verdicts,
    give the majority's verdicts as one row.
    """
    decided = np.asarray(decisions, dtype=np.float64)
    judged = np.atleast_2d(np.asarray(verdicts, dtype=np.float64))
    if decided.ndim != 1 or judged.ndim != 2 or judged.shape[1] != len(decided):
        raise InputError(
            f"Each unit needs one decision; the decisions have shape {decided.shape}, the verdicts are "
            f"on {judged.shape[-1]} units."
        )
    for name, array in (("Decisions", decided), ("Verdicts", judged)):
        strange = np.unique(array[~np.isnan(array) & (array != 0) & (array != 1)])
        if len(strange):
            raise InputError.collect(
                f"{name} are 1 (yes), 0 (no) or NaN (none); there are",
                [f"{value:g}" for value in strange],
            )
    decided = np.broadcast_to(decided, judged.shape)
    return Confusion(
        true_positives=int(((decided == 1) & (judged == 1)).sum()),
        false_positives=int(((decided == 1) & (judged == 0)).sum()),
        false_negatives=int(((decided == 0) & (judged == 1)).sum()),
        true_negatives=int(((decided == 0) & (judged == 0)).sum()),
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else NAN
