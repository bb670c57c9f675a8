"""The table of models: how well each predictor and some combinations explain the judgments.

As Table 3 of Bangalore, Rambow & Whittaker (2000): every predictor by itself, the best of them with
each of the others, and all together, on the same rows. R², F and AIC are those of the paper. The
p-values are not those of F, which take rows for independent: they hold for other systems and other
items, or as asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wellput.agreement.predictors import Rows, judged_rows
from wellput.core.errors import InputError
from wellput.core.generalize import Generalize
from wellput.core.table import ScoreTable
from wellput.stats.clustered import clustered_coefficients
from wellput.stats.regression import ols


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """One regression. The figures are NaN where it is not possible, and `note` says why. p, that no
    predictor explains anything, is NaN also where there are too few systems or items for that."""

    predictors: tuple[str, ...]
    n: int
    r_squared: float = float("nan")
    adjusted_r_squared: float = float("nan")
    f: float = float("nan")
    p_value: float = float("nan")
    aic: float = float("nan")
    note: str = ""


def model_table(
    tables: Mapping[str, ScoreTable],
    human: ScoreTable,
    predictors: Sequence[str],
    *,
    generalize: Generalize = "both",
) -> list[ModelSummary]:
    """The models of judged sentences by these predictors; see `judged_rows` for the arguments."""
    return models_of(judged_rows(tables, human, predictors), generalize)


def models_of(rows: Rows, generalize: Generalize = "both") -> list[ModelSummary]:
    """Single predictors, pairs with the best, all."""
    singles = [_summary(rows, [name], generalize) for name in rows.names]
    possible = [model for model in singles if not model.note]
    if len(rows.names) == 1 or not possible:
        return singles
    (best,) = max(possible, key=lambda model: model.r_squared).predictors
    pairs = [_summary(rows, [best, name], generalize) for name in rows.names if name != best]
    if len(rows.names) == 2:
        return [*singles, *pairs]
    return [*singles, *pairs, _summary(rows, rows.names, generalize)]


def _summary(rows: Rows, names: Sequence[str], generalize: Generalize) -> ModelSummary:
    x = rows.x[:, rows.places(names)]
    try:
        model = ols(rows.y, x, names)
    except InputError as error:
        return ModelSummary(tuple(names), len(rows.y), note=str(error))
    p_value = float("nan")
    if not model.is_exact:
        p_value = clustered_coefficients(
            rows.y, x, systems=rows.systems, items=rows.items, generalize=generalize
        ).p_value
    return ModelSummary(
        predictors=tuple(names),
        n=model.n,
        r_squared=model.r_squared,
        adjusted_r_squared=model.adjusted_r_squared,
        f=model.f,
        p_value=p_value,
        aic=model.aic,
    )
