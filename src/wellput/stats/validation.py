"""How a fitted model does on rows it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.regression import EXACT, Regression, is_constant

Fit = Callable[[Floats, Floats], Callable[[Floats], Floats]]
"""Fits rows (y, x) and returns what predicts from other rows of x; InputError where it cannot."""


def leave_one_out(model: Regression, y: Floats) -> Floats:
    """Each row's prediction by the fit without it, from the leverages. `y` are the rows of the fit.

    Exact for least squares, and for ridge with the penalty held. NaN where the fit without the row is
    not possible, because it alone decides a coefficient.
    """
    apart = np.where(model.leverages < 1 - EXACT, 1 - model.leverages, np.nan)
    return np.asarray(y - model.residuals / apart, dtype=np.float64)


def prediction_r(y: Floats, predictions: Floats) -> tuple[float, int]:
    """Pearson's r of predictions with what they predict, and the number of rows that have one.

    NaN where there are fewer than three, or either is constant.
    """
    there = np.isfinite(y) & np.isfinite(predictions)
    n = int(there.sum())
    if n < 3 or is_constant(y[there]) or is_constant(predictions[there]):
        return float("nan"), n
    return float(np.corrcoef(y[there], predictions[there])[0, 1]), n


def out_of_fold(
    y: Floats,
    x: Floats,
    fit: Fit,
    groups: Sequence[Hashable],
    *,
    folds: int | None = None,
    seed: int = 12345,
) -> Floats:
    """Each row's prediction by a model fitted without any row of its group.

    `groups` labels the rows: by item, so that no sentence is both learned from and predicted; by
    system, so that the system is new. With `folds` the groups are dealt into that many folds at random,
    otherwise each group is a fold of its own. NaN where the fit was not possible.
    """
    names = list(dict.fromkeys(groups))
    if len(names) < 2:
        raise InputError("Cross-validation needs rows of at least two groups.")
    if folds is not None and folds < 2:
        raise InputError(f"Cross-validation needs at least two folds, not {folds}.")
    place = {name: number for number, name in enumerate(names)}
    fold_of = np.arange(len(names))
    if folds is not None and folds < len(names):
        fold_of = np.random.default_rng(seed).permutation(len(names)) % folds
    row_fold = fold_of[[place[group] for group in groups]]
    predictions = np.full(len(y), np.nan)
    for fold in np.unique(row_fold):
        held = row_fold == fold
        try:
            predict = fit(y[~held], x[~held])
        except InputError:
            continue
        predictions[held] = predict(x[held])
    return predictions
