"""How a fitted model does on rows it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.regression import Regression

Fit = Callable[[Floats, Floats], Regression]


def leave_one_out(model: Regression, y: Floats) -> Floats:
    """Each row's prediction by the fit without it, from the leverages (exact for least squares)."""
    return np.asarray(y - model.residuals / (1 - model.leverages), dtype=np.float64)


def out_of_fold(
    y: Floats,
    x: Floats,
    fit: Fit,
    groups: Sequence[Hashable],
    *,
    folds: int | None = None,
    seed: int = 0,
) -> Floats:
    """Each row's prediction by a model fitted without any row of its group.

    `groups` labels the rows: by item, so that no sentence is both learned from and predicted; by
    system, so that the system is new. With `folds` the groups are dealt into that many folds at random,
    otherwise each group is a fold of its own. NaN where the fit was not possible.
    """
    names = list(dict.fromkeys(groups))
    if len(names) < 2:
        raise InputError("Cross-validation needs rows of at least two groups.")
    place = {name: number for number, name in enumerate(names)}
    fold_of = np.arange(len(names))
    if folds is not None and folds < len(names):
        fold_of = np.random.default_rng(seed).permutation(len(names)) % folds
    row_fold = fold_of[[place[group] for group in groups]]
    predictions = np.full(len(y), np.nan)
    for fold in np.unique(row_fold):
        held = row_fold == fold
        try:
            model = fit(y[~held], x[~held])
        except InputError:
            continue
        predictions[held] = model.predict(x[held])
    return predictions
