"""Regressions that explain judgments by metrics: their data, and a table of models.

`JudgedRows` has the data. A row is one judged output, that of a system for an item (a cell). The value
to explain, y, is the mean rating by people. A predictor, a column of x, is the segment score of a
metric (`sta`) or a component of it (`ssa.substitutions`).

The table of models is like Table 3 of Bangalore, Rambow & Whittaker (2000): every predictor by itself,
the best of them with each of the others, and all together, on the same rows. R², F and AIC are defined
as in the paper. The p-values do not come from F, because the F test assumes independent rows. They
hold for other systems and other items (other documents, if items have documents), or for what
`generalize` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import Clusters
from wellput.core.errors import InputError, counted, did_you_mean
from wellput.core.estimates import Generalize, ScoreTable
from wellput.core.metric import Floats
from wellput.metrics.fitted import split_predictor
from wellput.stats.clustered_regression import clustered_coefficients
from wellput.stats.regression import ols

NO_OUTPUT, NO_REFERENCE = "no output", "no reference"
MAX_NAMED_CELLS = 5
JudgedCell: TypeAlias = tuple[str, str]
"""A system and an item."""


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """The data of a regression: `y` has a rating for each row, `x` is rows × predictors (`names`).
    `perfect` has each predictor's value for a perfect output, None if it has no perfect value.
    `left_out` counts the judged cells without a row, by reason, and `left_out_cells` lists them in the
    order of items. `units` has each row's unit of inference: its item, or its cluster, such as a
    document."""

    names: tuple[str, ...]
    y: Floats
    x: Floats
    systems: tuple[str, ...]
    items: tuple[str, ...]
    perfect: tuple[float | None, ...]
    left_out: Mapping[str, int]
    units: tuple[str, ...]
    clusters: Clusters | None = None
    left_out_cells: Mapping[str, Sequence[JudgedCell]] = field(default_factory=dict)

    def places(self, names: Sequence[str]) -> list[int]:
        """The columns of x that have these predictors."""
        return [self.names.index(name) for name in names]


def judged_rows(
    tables: Mapping[str, ScoreTable],
    human: ScoreTable,
    predictors: Sequence[str],
    *,
    has_output: NDArray[np.bool_] | None = None,
) -> JudgedRows:
    """The judged cells for which all predictors are defined, so that all models see the same rows.

    `tables` are by the metric's name; all tables must have the systems and items of `human`, the mean
    ratings. If a cell is missing in a table, the reason is that there is no output or, where
    `has_output` (systems × items) is true, no reference.
    """
    if not predictors:
        raise InputError("No predictor was given. Examples are sta, ssa.substitutions and length.")
    if len(set(predictors)) < len(predictors):
        repeated = sorted({name for name in predictors if list(predictors).count(name) > 1})
        raise InputError(f"Predictors must differ; {', '.join(repeated)} is given twice.")
    tables_by_metric = {
        metric: _table(tables, metric) for metric, _ in map(split_predictor, predictors)
    }
    for table in tables_by_metric.values():
        if (table.systems, table.items) != (human.systems, human.items):
            raise InputError(
                f"{table.scorer} and the judgments have different systems or items; "
                "both must come from the same evalset."
            )
    columns = {name: _values(tables_by_metric, name) for name in predictors}
    judged = human.present & np.isfinite(human.scores)
    scored = np.logical_and.reduce([table.present for table in tables_by_metric.values()])
    has_output = np.zeros_like(scored) if has_output is None else has_output
    left_out = {
        NO_OUTPUT: judged & ~scored & ~has_output,
        NO_REFERENCE: judged & ~scored & has_output,
    }
    complete = judged & scored
    for name, values in columns.items():
        undefined = complete & ~np.isfinite(values)
        left_out[f"{name} is undefined"] = undefined
        complete &= ~undefined
    systems_at, items_at = np.nonzero(complete)
    clusters = next(iter(tables_by_metric.values())).clusters
    items = tuple(human.items[place] for place in items_at)
    return JudgedRows(
        names=tuple(predictors),
        y=human.scores[complete],
        x=np.column_stack([values[complete] for values in columns.values()]),
        systems=tuple(human.systems[place] for place in systems_at),
        items=items,
        perfect=tuple(_perfect(tables_by_metric, name) for name in predictors),
        left_out={reason: int(cells.sum()) for reason, cells in left_out.items() if cells.any()},
        left_out_cells={
            reason: [
                (human.systems[s], human.items[i])
                for i, s in zip(*np.nonzero(cells.T), strict=True)
            ]
            for reason, cells in left_out.items()
            if cells.any()
        },
        units=items if clusters is None else tuple(map(str, clusters.codes[items_at].tolist())),
        clusters=clusters,
    )


def left_out_sentences(left_out_cells: Mapping[str, Sequence[JudgedCell]]) -> list[str]:
    """For each reason a sentence: how many judged outputs have no row, why, and which.

    >>> left_out_sentences({"sta is undefined": [("B", "7")]})
    ['Left out: 1 judged output, as sta is undefined: item 7 of B.']
    """
    return [_left_out_sentence(reason, cells) for reason, cells in left_out_cells.items()]


def _left_out_sentence(reason: str, cells: Sequence[JudgedCell]) -> str:
    """A sentence on the judged outputs that were left out for this reason."""
    if reason == NO_REFERENCE:
        places = list(dict.fromkeys(item for _, item in cells))
        whose = "its item has" if len(cells) == 1 else "their items have"
        why, unit = f"{whose} no reference", "item" if len(places) == 1 else "items"
        named_cells = f"{unit} {', '.join(places[:MAX_NAMED_CELLS])}"
    else:
        places = [f"item {item} of {system}" for system, item in cells]
        why = "the evalset has no such output" if reason == NO_OUTPUT else reason
        named_cells = ", ".join(places[:MAX_NAMED_CELLS])
    n_more = len(places) - MAX_NAMED_CELLS
    more = f" and {n_more:,} more" if n_more > 0 else ""
    return f"Left out: {counted(len(cells), 'judged output')}, as {why}: {named_cells}{more}."


def _table(tables: Mapping[str, ScoreTable], metric: str) -> ScoreTable:
    if metric not in tables:
        raise InputError(
            f"No scores of {metric!r}.{did_you_mean(metric, list(tables))} "
            f"There are scores of {', '.join(tables) or 'no metric'}."
        )
    return tables[metric]


def _values(tables: Mapping[str, ScoreTable], predictor: str) -> Floats:
    """The values of a predictor for systems × items: a metric's scores, or one of its components."""
    metric, component = split_predictor(predictor)
    table = tables[metric]
    if component is None:
        return table.scores
    components = table.components(table.statistics)
    if component not in components:
        component_names = [f"{metric}.{name}" for name in components]
        raise InputError(
            f"{metric} has no component {component!r}.{did_you_mean(predictor, component_names)} "
            f"It has {', '.join(components) or 'none'}."
        )
    return np.where(table.present, components[component], np.nan)


def _perfect(tables: Mapping[str, ScoreTable], predictor: str) -> float | None:
    metric, component = split_predictor(predictor)
    return tables[metric].perfect.get("score" if component is None else component)


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """One regression. The figures are NaN where it cannot be computed, and `note` says why. `p_value`
    tests whether the predictors together explain anything; it is also NaN where there are too few
    systems or items."""

    predictors: tuple[str, ...]
    n: int
    r_squared: float = float("nan")
    adjusted_r_squared: float = float("nan")
    f: float = float("nan")
    p_value: float = float("nan")
    aic: float = float("nan")
    note: str = ""


def fitted_models(
    tables: Mapping[str, ScoreTable],
    human: ScoreTable,
    predictors: Sequence[str],
    *,
    generalize: Generalize = "both",
) -> list[ModelSummary]:
    """The table of models with these predictors; see `judged_rows` for the arguments."""
    return models_of(judged_rows(tables, human, predictors), generalize)


def models_of(rows: JudgedRows, generalize: Generalize = "both") -> list[ModelSummary]:
    """The models with each single predictor, with the best predictor and each other one, and with
    all."""
    singles = [_summary(rows, [name], generalize) for name in rows.names]
    possible = [model for model in singles if not model.note]
    if len(rows.names) == 1 or not possible:
        return singles
    (best,) = max(possible, key=lambda model: model.r_squared).predictors
    pairs = [_summary(rows, [best, name], generalize) for name in rows.names if name != best]
    if len(rows.names) == 2:
        return [*singles, *pairs]
    return [*singles, *pairs, _summary(rows, rows.names, generalize)]


def _summary(rows: JudgedRows, names: Sequence[str], generalize: Generalize) -> ModelSummary:
    """The regression with these predictors; a note instead if it cannot be computed."""
    x = rows.x[:, rows.places(names)]
    try:
        model = ols(rows.y, x, names)
    except InputError as error:
        return ModelSummary(tuple(names), len(rows.y), note=str(error))
    p_value = float("nan")
    if not model.is_exact:
        p_value = clustered_coefficients(
            rows.y, x, systems=rows.systems, items=rows.units, generalize=generalize
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
