"""How well a fit does on held-out outputs, and whether it beats the best single predictor.

The outputs of a fold are *held out* (also called left out or unseen): the model that scores them was
fitted without them. Every fold repeats all steps of the fit (stepwise choice of predictors, dropping of
predictors for which no value is known to be perfect). The best single predictor is also chosen again in
every fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from wellput.agreement.models import JudgedRows
from wellput.core.errors import counted
from wellput.core.estimates import CONSTANT_SPREAD_SHARE, is_constant
from wellput.core.metric import Floats
from wellput.stats.regression import Regression
from wellput.stats.validation import HeldOut, RegressionColumns, Unseen, held_out, leave_one_out_r

LeftOutGroup: TypeAlias = Literal["sentence", "item", "system", "both"]
"""What is held out together with an output: nothing else ("sentence", the output alone), all outputs
for its item, all outputs of its system, or both."""

MAX_FOLDS = 10
"""Items are divided into at most this many folds. Each system is one fold; but where systems and items
are held out together, systems are also divided into at most this many folds."""


@dataclass(frozen=True, slots=True)
class BestSingle:
    """The single predictor that does best on the outputs that the model was fitted to. `r` is its
    Pearson correlation on held-out outputs, and `gain` how much higher the fitted model's r is, with
    interval and p-value. There are several `predictors` where folds chose different ones."""

    predictors: tuple[str, ...]
    r: float
    gain: float
    low: float | None
    high: float | None
    p_value: float | None


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """Pearson's r between judgments and scores of held-out outputs. r is NaN where undefined; `note`
    says why, or gives a caveat. The interval holds for other items, other systems, or both, as
    `left_out` says. It is None where there are too few units, or where only the output is held out."""

    left_out: LeftOutGroup
    r: float
    n: int
    folds: int
    note: str = ""
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    single: BestSingle | None = None


def cross_validated(
    rows: JudgedRows,
    model: Regression,
    fit: Callable[[Floats, Floats], Regression],
    *,
    chosen_by: str | None,
    seed: int,
    on_progress: Callable[[int], None],
) -> tuple[CrossValidation, ...]:
    """One result for each kind of held-out group. `model` was fitted to all rows; `fit` makes a model
    from the judgments and predictors of some of the rows. Where single outputs are held out, the
    predictors and the penalty of `model` are used."""

    def learn(y: Floats, x: Floats) -> RegressionColumns:
        on_progress(1)
        return _columns_and_penalties(rows, fit(y, x), x)

    r, n = leave_one_out_r(rows.y, rows.x, _columns_and_penalties(rows, model, rows.x))
    note = f"with the predictors chosen by {chosen_by} on all the data" if chosen_by else ""
    results = [CrossValidation("sentence", r, n, len(rows.y), note)]
    groups: tuple[Unseen, ...] = ("item", "system", "both")
    for unseen in groups:
        single_units = _single_units(rows, unseen)
        if single_units:
            note = f"there is only one {' and one '.join(single_units)}"
            results.append(CrossValidation(unseen, float("nan"), 0, 0, note))
            continue
        model_result = _held_out(rows, unseen, learn, seed)
        result = _cross_validation(model_result, len(rows.y))
        results.append(
            _beside_best_single(result, rows, model_result, seed)
            if len(model.names) > 1
            else result
        )
    return tuple(results)


def _cross_validation(model_result: HeldOut, n: int) -> CrossValidation:
    """The result for one kind of held-out group; `n` is the number of rows."""
    estimate = model_result.estimate
    notes = (
        [f"{counted(n - model_result.n, 'row')} could not be predicted"]
        if model_result.n < n
        else []
    )
    if estimate.low is None and estimate.method != "two-way jackknife":
        notes.append(f"no interval: {estimate.method}")  # then `method` says why there is none
    return CrossValidation(
        left_out=model_result.unseen,
        r=model_result.r,
        n=model_result.n,
        folds=model_result.folds,
        note="; ".join(notes),
        low=estimate.low,
        high=estimate.high,
        p_value=estimate.p_value,
    )


def _held_out(
    rows: JudgedRows,
    unseen: Unseen,
    learn: Callable[[Floats, Floats], RegressionColumns],
    seed: int,
) -> HeldOut:
    """The predictions for held-out rows. The models that make them were not trained on the row's item,
    its system or both (`unseen`)."""
    return held_out(
        rows.y,
        rows.x,
        systems=rows.systems,
        items=rows.units,
        learn=learn,
        unseen=unseen,
        folds=MAX_FOLDS,
        seed=seed,
    )


def _beside_best_single(
    result: CrossValidation, rows: JudgedRows, model_result: HeldOut, seed: int
) -> CrossValidation:
    """The result with the comparison of the model and the best single predictor added."""
    best_predictors: dict[str, None] = {}

    def learn(y: Floats, x: Floats) -> RegressionColumns:
        explained = np.array([_explained(y - y.mean(), column) for column in x.T])
        # The first of the best: the order of the rows changes sums by rounding.
        best = int(np.argmax(explained >= explained.max() - CONSTANT_SPREAD_SHARE * float(y @ y)))
        best_predictors[rows.names[best]] = None
        return RegressionColumns([best], np.zeros(1))

    single_result = _held_out(rows, model_result.unseen, learn, seed)
    if (np.isfinite(single_result.scores) != np.isfinite(model_result.scores)).any():
        note = "not compared with the best single predictor, which predicts other rows"
        return replace(result, note="; ".join(filter(None, (result.note, note))))
    gain = model_result.minus(single_result)
    single = BestSingle(
        tuple(best_predictors), single_result.r, gain.value, gain.low, gain.high, gain.p_value
    )
    return replace(result, single=single)


def _explained(centered: Floats, column: Floats) -> float:
    """The part of the sum of squares of the judgments that the predictor `column` explains; −1 if the
    column is constant. `centered` has the judgments minus their mean."""
    if is_constant(column):
        return -1.0
    deviations = column - column.mean()
    return float(np.square(deviations @ centered) / (deviations @ deviations))


def _columns_and_penalties(rows: JudgedRows, model: Regression, x: Floats) -> RegressionColumns:
    """The columns of the model's predictors, and the ridge penalty of each. `model.penalty` is for
    standardized predictors, so it is multiplied by the predictor's variance."""
    places = rows.places(model.names)
    return RegressionColumns(places, model.penalty * x[:, places].var(axis=0))


def _single_units(rows: JudgedRows, unseen: Unseen) -> Sequence[str]:
    """Of "item" and "system", those that must be held out but of which there is only one."""
    labels_by_unit = {"item": rows.units, "system": rows.systems}
    return [
        name
        for name, labels in labels_by_unit.items()
        if unseen in (name, "both") and len(set(labels)) < 2
    ]
