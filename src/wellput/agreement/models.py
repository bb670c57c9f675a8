"""The table of models: how well each predictor and some combinations explain the judgments.

As Table 3 of Bangalore, Rambow & Whittaker (2000): every predictor by itself, the best of them with
each of the others, and all together, on the same rows. The p-values take rows for independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wellput.agreement.predictors import Rows, judged_rows
from wellput.core.errors import InputError
from wellput.core.table import ScoreTable
from wellput.stats.regression import ols


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """One regression. The figures are NaN where it is not possible, and `note` says why."""

    predictors: tuple[str, ...]
    n: int
    r_squared: float = float("nan")
    adjusted_r_squared: float = float("nan")
    f: float = float("nan")
    p_value: float = float("nan")
    aic: float = float("nan")
    note: str = ""


def model_table(
    tables: Mapping[str, ScoreTable], human: ScoreTable, predictors: Sequence[str]
) -> list[ModelSummary]:
    """The models of judged sentences by these predictors; see `judged_rows` for the arguments."""
    return models_of(judged_rows(tables, human, predictors))


def models_of(rows: Rows) -> list[ModelSummary]:
    """Single predictors, pairs with the best, all."""
    singles = [_summary(rows, [name]) for name in rows.names]
    possible = [model for model in singles if not model.note]
    if len(rows.names) == 1 or not possible:
        return singles
    (best,) = max(possible, key=lambda model: model.r_squared).predictors
    pairs = [_summary(rows, [best, name]) for name in rows.names if name != best]
    return [*singles, *pairs, *([_summary(rows, rows.names)] if len(rows.names) > 2 else [])]


def _summary(rows: Rows, names: Sequence[str]) -> ModelSummary:
    try:
        model = ols(rows.y, rows.x[:, rows.places(names)], names)
    except InputError as error:
        return ModelSummary(tuple(names), len(rows.y), note=str(error))
    return ModelSummary(
        predictors=tuple(names),
        n=model.n,
        r_squared=model.r_squared,
        adjusted_r_squared=model.adjusted_r_squared,
        f=model.f,
        p_value=model.f_p_value,
        aic=model.aic,
    )
