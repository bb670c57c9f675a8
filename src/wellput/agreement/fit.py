"""`fit`: a new metric, fitted to people's judgments.

A regression explains the judgments by predictors, which are metrics or their components. The metric
that is derived from it must make sense for a new output. So predictors for which no value is known to
be perfect (such as a length) are dropped, the model is fitted again without them, and its scores are
divided by its score for a perfect output, which then scores 1. This is how Bangalore, Rambow &
Whittaker (2000) made their equations 4 and 5. The metric's card, a JSON object, says whose judgments it
was fitted to, and how well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from wellput import __version__
from wellput.agreement.cross_validation import CrossValidation, cross_validated
from wellput.agreement.models import (
    JudgedCell,
    JudgedRows,
    ModelSummary,
    judged_rows,
    left_out_sentences,
    models_of,
)
from wellput.agreement.panel import Panel
from wellput.agreement.probe_results import BlindSpots
from wellput.core.clusters import Clusters
from wellput.core.errors import InputError
from wellput.core.estimates import Estimate, Generalize, ScoreTable, ratios
from wellput.core.metric import Floats, Metric
from wellput.core.result import Result
from wellput.core.work import OnPhase, ignore_phase
from wellput.io.files import PathLike
from wellput.metrics.fitted import FittedModel, Predictor, split_predictor
from wellput.stats.clustered_regression import ClusteredCoefficients, clustered_coefficients
from wellput.stats.regression import Regression, ols, ridge
from wellput.stats.stepwise_regression import SelectionStep
from wellput.stats.stepwise_regression import stepwise as choose_stepwise


def panel_provenance(panel: Panel) -> dict[str, Any]:
    """The entries of the metric's card about the judges. A panel has the ratings of one question."""
    rated = ~np.isnan(panel.ratings).all(axis=(1, 2))
    return {
        "normalization": panel.normalization,
        "judges": int(rated.sum()),
        "judgments": int((~np.isnan(panel.ratings)).sum()),
        "excluded": [
            {key: value for key, value in asdict(exclusion).items() if value is not None}
            for exclusion in panel.excluded
        ],
    }


def card_figures(model: Regression, inference: ClusteredCoefficients | None) -> dict[str, Any]:
    """A regression's figures for JSON. Standard errors, intervals and p-values are taken from
    `inference`; without it they are NaN or None."""
    k = len(model.names)
    errors = np.full(k, np.nan) if inference is None else inference.errors
    t = ratios(model.coefficients, errors)
    nothing = Estimate(float("nan"))
    estimates = (nothing,) * k if inference is None else inference.coefficients
    constant = nothing if inference is None else inference.intercept
    return {
        "coefficients": [
            {
                "predictor": name,
                "coefficient": float(model.coefficients[place]),
                "standard_error": float(errors[place]),
                "low": estimates[place].low,
                "high": estimates[place].high,
                "t": float(t[place]),
                "p_value": estimates[place].p_value,
                "variance_inflation": float(model.variance_inflation[place]),
            }
            for place, name in enumerate(model.names)
        ],
        "constant": {
            "coefficient": model.intercept,
            "standard_error": float("nan") if inference is None else inference.intercept_error,
            "low": constant.low,
            "high": constant.high,
        },
        "r_squared": model.r_squared,
        "adjusted_r_squared": model.adjusted_r_squared,
        "f": model.f,
        "p_value": float("nan") if inference is None else inference.p_value,
        "aic": model.aic,
        "penalty": model.penalty or None,
    }


FitMethod = Literal["ols", "ridge"]
Criterion = Literal["aic", "p"]

MAX_STUDENTIZED_RESIDUAL = 3.0
"""A row whose studentized residual (the residual divided by its standard error) is farther from 0 than
this is reported as an outlier."""

MAX_COOKS_DISTANCE = 1.0
"""A row with a larger Cook's distance, which says how much this row alone changes the model, is also
reported (Cook & Weisberg 1982)."""


@dataclass(frozen=True, slots=True)
class Outlier:
    """A judged output that the model does not explain, or that changes the model much by itself."""

    system: str
    item: str
    judged: float
    predicted: float
    studentized: float
    cooks_distance: float


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Result):
    """A fitted metric and how it was made. `regression` has the given predictors (or those chosen
    stepwise), `derived` only the predictors of the metric; they are the same where nothing was
    dropped. `inference` has the intervals and p-values of the derived coefficients, and is None for a
    ridge regression. `steps` are the steps of the stepwise choice, `left_out` counts judged outputs
    that were not used, by reason. `notes` say which scores in files of scores were not used."""

    presented_by: ClassVar[str] = "wellput.reporting.fit:fit_report"

    question: str
    regression: Regression
    derived: Regression
    inference: ClusteredCoefficients | None
    model: FittedModel
    steps: tuple[SelectionStep, ...]
    dropped: tuple[str, ...]
    models: tuple[ModelSummary, ...]
    cross_validation: tuple[CrossValidation, ...]
    outliers: tuple[Outlier, ...]
    left_out: Mapping[str, int]
    warnings: tuple[str, ...]
    generalize: Generalize
    regression_figures: Mapping[str, Any]
    clusters: Clusters | None = None
    left_out_cells: Mapping[str, Sequence[JudgedCell]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    blind_spots: BlindSpots | None = None
    """What the metric misses; None if it was not probed."""

    def as_metric(self) -> Metric:
        """The metric, named after the question; `score` also takes the fit itself."""
        from wellput.metrics.fitted import FittedMetric

        return FittedMetric.of(self.model, f"fitted:{self.question}")

    def save(self, path: PathLike) -> None:
        """Writes the metric to a `.json` file; its path is the name of the metric."""
        from wellput.metrics.fitted import save_fitted

        save_fitted(self.model, path)

    def records(self) -> list[dict[str, Any]]:
        """One record for each predictor of the metric, the constant last."""
        card = self.model.card
        return [*card["coefficients"], {"predictor": "(constant)", **card["constant"]}]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput fit`: the metric's card, and how it was made."""
        return {
            **self.model.card,
            "hash": self.model.hash,
            "intercept": self.model.intercept,
            "scale": self.model.scale,
            "regression": self.regression_figures,
            "steps": [asdict(step) for step in self.steps],
            "models": [asdict(model) for model in self.models],
            "outliers": [asdict(outlier) for outlier in self.outliers],
            "left_out_outputs": {
                reason: [{"system": system, "item": item} for system, item in cells]
                for reason, cells in self.left_out_cells.items()
            },
            "notes": list(self.notes),
            "probe": None if self.blind_spots is None else self.blind_spots.values(),
        }


def fit_table(
    tables: Mapping[str, ScoreTable],
    human: ScoreTable,
    predictors: Sequence[str],
    *,
    method: FitMethod = "ols",
    stepwise: Criterion | None = None,
    rescale: bool = True,
    generalize: Generalize = "both",
    has_output: NDArray[np.bool_] | None = None,
    seed: int = 12345,
    provenance: Mapping[str, Any] | None = None,
    on_phase: OnPhase = ignore_phase,
) -> Fit:
    """Fits the mean ratings `human` by predictors from `tables`, which are by metric name.

    `rescale=False` keeps the raw regression: all predictors, on the scale of the judgments.
    Intervals and p-values of coefficients hold for the new systems and items that `generalize` names.
    Those of cross-validation hold for new units of the kind that was left out. `has_output` (systems ×
    items) says which outputs the evalset has.

    `provenance` goes into the metric's card: judges, normalization, exclusions, hashes of the data. No
    row is dropped because it is an outlier: exclude judgments before the fit, with a reason.
    """
    if method == "ridge" and stepwise is not None:
        raise InputError(
            "Ridge regression keeps all predictors: leave stepwise= out, or use method='ols'."
        )
    on_phase("fitting the model")
    rows = judged_rows(tables, human, predictors, has_output=has_output)
    if not len(rows.y):
        raise InputError.collect(
            f"No sentence has both a judgment of {human.scorer!r} and all predictors.",
            left_out_sentences(rows.left_out_cells),
        )
    derive = partial(_Derivation.of, rows, method=method, stepwise=stepwise, rescale=rescale)
    derivation = derive(rows.y, rows.x)
    regression, dropped, derived = derivation.regression, derivation.dropped, derivation.derived
    if not derived.names:
        raise InputError(
            f"{', '.join(dropped)} {'has' if len(dropped) == 1 else 'have'} no perfect value, so that "
            "no metric can be derived. Add a metric as a predictor, or keep the raw regression "
            "(no_rescale=True)."
        )
    cross_validation = cross_validated(
        rows,
        derived,
        lambda y, x: derive(y, x).derived,
        chosen_by=stepwise,
        seed=seed,
        on_progress=on_phase("cross-validating folds"),
    )
    inference = _inference(rows, derived, generalize)
    on_phase("comparing models")
    warnings = tuple(dict.fromkeys([*regression.warnings, *derived.warnings]))
    card = {
        "question": human.scorer,
        "n": derived.n,
        "left_out": dict(rows.left_out),
        "systems": len(set(rows.systems)),
        "items": len(set(rows.items)),
        **(provenance or {}),
        "method": method,
        "stepwise": stepwise,
        "dropped": list(dropped),
        "generalize": generalize,
        **({} if rows.clusters is None else {"cluster": rows.clusters.unit}),
        **card_figures(derived, inference),
        "cross_validation": [asdict(one) for one in cross_validation],
        "seed": seed,
        "metrics": {metric: tables[metric].signature for metric in _metrics(derived.names)},
        "warnings": list(warnings),
        "version": f"wellput-{__version__}",
    }
    return Fit(
        question=human.scorer,
        regression=regression,
        derived=derived,
        inference=inference,
        model=_fitted_model(rows, derived, rescale, card),
        steps=tuple(derivation.steps),
        dropped=dropped,
        models=tuple(models_of(rows, generalize)),
        cross_validation=cross_validation,
        outliers=_outliers(rows, derived),
        left_out=rows.left_out,
        left_out_cells=rows.left_out_cells,
        warnings=warnings,
        generalize=generalize,
        regression_figures=card_figures(regression, _inference(rows, regression, generalize)),
        clusters=rows.clusters,
    )


@dataclass(frozen=True, eq=False)
class _Derivation:
    """From rows to a metric: the regression on all predictors (or those chosen stepwise), the
    predictors dropped because no value of them is perfect, and the regression without these."""

    regression: Regression
    steps: Sequence[SelectionStep]
    dropped: tuple[str, ...]
    derived: Regression

    @classmethod
    def of(
        cls,
        rows: JudgedRows,
        y: Floats,
        x: Floats,
        *,
        method: FitMethod,
        stepwise: Criterion | None,
        rescale: bool,
    ) -> _Derivation:
        """From all of `rows`, or from a part of them: `y` has the judgments of this part, `x` the
        values of the predictors (rows × predictors)."""
        regression, steps = _regression(y, x, rows.names, method, stepwise)
        dropped = _without_perfect(rows, regression.names) if rescale else ()
        if not dropped:
            return cls(regression, steps, dropped, regression)
        remaining = [name for name in regression.names if name not in dropped]
        derived, _ = _regression(y, x[:, rows.places(remaining)], remaining, method, None)
        return cls(regression, steps, dropped, derived)


def _regression(
    y: Floats, x: Floats, names: Sequence[str], method: FitMethod, stepwise: Criterion | None
) -> tuple[Regression, list[SelectionStep]]:
    """The fitted regression, and the steps by which its predictors were chosen ([] without
    `stepwise`)."""
    if stepwise is not None:
        return choose_stepwise(y, x, names, by=stepwise)
    return (ridge if method == "ridge" else ols)(y, x, names), []


def _without_perfect(rows: JudgedRows, names: Sequence[str]) -> tuple[str, ...]:
    """The predictors among `names` that have no perfect value."""
    return tuple(name for name in names if rows.perfect[rows.names.index(name)] is None)


def _fitted_model(
    rows: JudgedRows, derived: Regression, rescale: bool, card: Mapping[str, Any]
) -> FittedModel:
    """The metric. If `rescale` is true, its scores are divided by the score of a perfect output."""
    predictors = tuple(
        Predictor(*split_predictor(name), float(coefficient), rows.perfect[rows.names.index(name)])
        for name, coefficient in zip(derived.names, derived.coefficients, strict=True)
    )
    unscaled = FittedModel(predictors, derived.intercept, 1.0, card)
    perfect_score = unscaled.perfect
    if not rescale or perfect_score is None:
        return unscaled
    # Compared with the spread of the judgments, so that rounding does not make 0 positive.
    if not perfect_score > 1e-9 * float(rows.y.std()):
        values = ", ".join(f"{predictor.name} = {predictor.perfect:g}" for predictor in predictors)
        raise InputError(
            f"The model gives a perfect sentence ({values}) {perfect_score:.4g}, which is not "
            "above 0 and cannot be rescaled to 1. Use other predictors, check that higher judgments "
            "are better, or keep the raw regression (no_rescale=True)."
        )
    return FittedModel(predictors, derived.intercept, perfect_score, card)


def _inference(
    rows: JudgedRows, model: Regression, generalize: Generalize
) -> ClusteredCoefficients | None:
    """Intervals and p-values of the model's coefficients. None for a ridge regression (it has a
    penalty) and for a model that fits the judgments exactly."""
    if model.penalty or model.is_exact:
        return None
    return clustered_coefficients(
        rows.y,
        rows.x[:, rows.places(model.names)],
        systems=rows.systems,
        items=rows.units,
        generalize=generalize,
    )


def _outliers(rows: JudgedRows, model: Regression) -> tuple[Outlier, ...]:
    """The rows that the model does not explain, those with the largest residuals first."""
    studentized, cooks = model.studentized, model.cooks_distances
    outlying_rows = np.flatnonzero(
        (np.abs(studentized) > MAX_STUDENTIZED_RESIDUAL) | (cooks > MAX_COOKS_DISTANCE)
    )
    outliers = [
        Outlier(
            rows.systems[row],
            rows.items[row],
            float(rows.y[row]),
            float(rows.y[row] - model.residuals[row]),
            float(studentized[row]),
            float(cooks[row]),
        )
        for row in outlying_rows
    ]
    return tuple(sorted(outliers, key=lambda outlier: -abs(outlier.studentized)))


def _metrics(predictors: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(split_predictor(name)[0] for name in predictors))
