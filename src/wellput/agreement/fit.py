"""`fit`: a metric of one's own, fitted to people's judgments.

The regression is what explains the judgments best; the metric derived from it must make sense for a
new sentence. So predictors for which no value is perfect (a length) are dropped and the model is
fitted again without them, then divided by its value for a perfect sentence, which scores 1: equations 4
and 5 of Bangalore, Rambow & Whittaker (2000) came about like this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from wellput import __version__
from wellput.agreement.card import figures
from wellput.agreement.models import ModelSummary, models_of
from wellput.agreement.predictors import Rows, judged_rows
from wellput.core.counted import counted
from wellput.core.errors import InputError
from wellput.core.fitted_model import FittedModel, Predictor, split_predictor
from wellput.core.metric import Floats, Metric
from wellput.core.progress import OnPhase, unheard_phase
from wellput.core.result import Result
from wellput.core.table import ScoreTable
from wellput.io.files import PathLike
from wellput.stats.model_choice import Step
from wellput.stats.model_choice import stepwise as choose
from wellput.stats.regression import Regression, ols, ridge
from wellput.stats.validation import leave_one_out, out_of_fold, prediction_r

FitMethod = Literal["ols", "ridge"]
Criterion = Literal["aic", "p"]
Group = Literal["sentence", "item", "system"]

FOLDS = 10
"""Items are dealt into this many folds; each system is a fold of its own."""

FAR = 3.0
"""A studentized residual beyond this is reported as an outlier."""

INFLUENTIAL = 1.0
"""So is a row with a Cook's distance above this (Cook & Weisberg 1982)."""


@dataclass(frozen=True, slots=True)
class Outlier:
    """A judged sentence that the model does not explain, or that moves the model by itself."""

    system: str
    item: str
    judged: float
    predicted: float
    studentized: float
    cooks_distance: float


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """Pearson's r between judgments and predictions by models that have not seen the sentence, its
    item, or its system. NaN where undefined; `note` says why, or what to bear in mind."""

    left_out: Group
    r: float
    n: int
    folds: int
    note: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Result):
    """What came of it. `regression` is on the predictors asked for (or chosen stepwise), `derived` the
    one that the metric is made of; they are the same where nothing had to be dropped."""

    presented_by: ClassVar[str] = "wellput.reporting.fit:fit_report"

    question: str
    regression: Regression
    derived: Regression
    model: FittedModel
    steps: tuple[Step, ...]
    dropped: tuple[str, ...]
    models: tuple[ModelSummary, ...]
    cross_validation: tuple[CrossValidation, ...]
    outliers: tuple[Outlier, ...]
    left_out: Mapping[str, int]
    warnings: tuple[str, ...]

    def as_metric(self) -> Metric:
        """The metric itself, named after the question; `score` takes the fit in its place, too."""
        from wellput.metrics.fitted import FittedMetric

        return FittedMetric.of(self.model, f"fitted:{self.question}")

    def save(self, path: PathLike) -> None:
        """Writes the metric to a `.json` file, which is a metric by its path."""
        from wellput.metrics.fitted import save

        save(self.model, path)

    def records(self) -> list[dict[str, Any]]:
        """A record for each predictor of the metric, the constant last."""
        card = self.model.card
        return [*card["coefficients"], {"predictor": "(constant)", **card["constant"]}]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput fit`: the metric's card, and what led to it."""
        return {
            **self.model.card,
            "hash": self.model.hash,
            "intercept": self.model.intercept,
            "scale": self.model.scale,
            "regression": figures(self.regression),
            "steps": [asdict(step) for step in self.steps],
            "models": [asdict(model) for model in self.models],
            "outliers": [asdict(outlier) for outlier in self.outliers],
        }


def fit_table(
    tables: Mapping[str, ScoreTable],
    human: ScoreTable,
    predictors: Sequence[str],
    *,
    method: FitMethod = "ols",
    stepwise: Criterion | None = None,
    rescale: bool = True,
    seed: int = 12345,
    provenance: Mapping[str, Any] | None = None,
    on_phase: OnPhase = unheard_phase,
) -> Fit:
    """Fits judgments (`human`, a panel's table) by predictors from metrics' tables, by metric name.

    `rescale=False` keeps the raw regression: all predictors, on the scale of the judgments.
    `provenance` goes into the metric's card: judges, normalization, exclusions, hashes of the data. No
    row is ever dropped for being an outlier; leave out judgments before, and say why.
    """
    if method == "ridge" and stepwise is not None:
        raise InputError("Ridge regression keeps all predictors: leave out stepwise, or take ols.")
    on_phase("fitting the model")
    rows = judged_rows(tables, human, predictors)
    if not len(rows.y):
        raise InputError(
            f"No sentence has both a judgment of {human.scorer!r} and all predictors"
            f"{_reasons(rows.left_out)}."
        )
    regression, steps = _regression(rows.y, rows.x, rows.names, method, stepwise)
    dropped = _without_perfect(rows, regression.names) if rescale else ()
    derived = regression
    if dropped:
        kept = [name for name in regression.names if name not in dropped]
        if not kept:
            raise InputError(
                f"No value of {', '.join(dropped)} is perfect, so no metric can be derived from it. "
                "Add a metric as a predictor, or keep the raw regression (--no-rescale)."
            )
        derived, _ = _regression(rows.y, rows.x[:, rows.places(kept)], kept, method, None)
    cross_validation = _cross_validated(
        rows, derived, method, stepwise, rescale, seed, on_phase("cross-validating folds")
    )
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
        **figures(derived),
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
        model=_model(rows, derived, rescale, card),
        steps=tuple(steps),
        dropped=dropped,
        models=tuple(models_of(rows)),
        cross_validation=cross_validation,
        outliers=_outliers(rows, derived),
        left_out=rows.left_out,
        warnings=warnings,
    )


def _regression(
    y: Floats, x: Floats, names: Sequence[str], method: FitMethod, stepwise: Criterion | None
) -> tuple[Regression, list[Step]]:
    if stepwise is not None:
        return choose(y, x, names, by=stepwise)
    return (ridge if method == "ridge" else ols)(y, x, names), []


def _without_perfect(rows: Rows, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if rows.perfect[rows.names.index(name)] is None)


def _model(rows: Rows, derived: Regression, rescale: bool, card: Mapping[str, Any]) -> FittedModel:
    predictors = tuple(
        Predictor(*split_predictor(name), float(coefficient), rows.perfect[rows.names.index(name)])
        for name, coefficient in zip(derived.names, derived.coefficients, strict=True)
    )
    raw = FittedModel(predictors, derived.intercept, 1.0, card)
    at_perfect = raw.perfect
    if not rescale or at_perfect is None:
        return raw
    # Compared with the spread of the judgments: 0 but for rounding is 0.
    if not at_perfect > 1e-9 * float(rows.y.std()):
        values = ", ".join(f"{predictor.name} = {predictor.perfect:g}" for predictor in predictors)
        raise InputError(
            f"The model gives a perfect sentence ({values}) {at_perfect:.4g}, which is not above 0 and "
            "cannot be rescaled to 1. Take other predictors, check that higher judgments are better, "
            "or keep the raw regression (--no-rescale)."
        )
    return FittedModel(predictors, derived.intercept, at_perfect, card)


def _cross_validated(
    rows: Rows,
    derived: Regression,
    method: FitMethod,
    stepwise: Criterion | None,
    rescale: bool,
    seed: int,
    on_progress: Callable[[int], None],
) -> tuple[CrossValidation, ...]:
    def learn(y: Floats, x: Floats) -> Callable[[Floats], Floats]:
        """All that was done to the whole data, done to a part of it."""
        model, _ = _regression(y, x, rows.names, method, stepwise)
        dropped = _without_perfect(rows, model.names) if rescale else ()
        kept = rows.places([name for name in model.names if name not in dropped])
        if dropped:
            names = [rows.names[place] for place in kept]
            model, _ = _regression(y, x[:, kept], names, method, None)
        on_progress(1)
        return lambda unseen: model.predict(unseen[:, kept])

    r, n = prediction_r(rows.y, leave_one_out(derived, rows.y))
    note = f"with the predictors chosen by {stepwise} on all the data" if stepwise else ""
    found = [CrossValidation("sentence", r, n, len(rows.y), note)]
    groups: dict[Group, Sequence[str]] = {"item": rows.items, "system": rows.systems}
    for group, labels in groups.items():
        different = len(set(labels))
        if different < 2:
            found.append(CrossValidation(group, float("nan"), 0, 0, f"there is only one {group}"))
            continue
        folds = min(different, FOLDS) if group == "item" else different
        r, n = prediction_r(
            rows.y, out_of_fold(rows.y, rows.x, learn, labels, folds=folds, seed=seed)
        )
        note = (
            "" if n == len(rows.y) else f"{counted(len(rows.y) - n, 'row')} could not be predicted"
        )
        found.append(CrossValidation(group, r, n, folds, note))
    return tuple(found)


def _outliers(rows: Rows, model: Regression) -> tuple[Outlier, ...]:
    """The farthest first."""
    studentized, cooks = model.studentized, model.cooks_distances
    far = np.flatnonzero((np.abs(studentized) > FAR) | (cooks > INFLUENTIAL))
    found = [
        Outlier(
            rows.systems[row],
            rows.items[row],
            float(rows.y[row]),
            float(rows.y[row] - model.residuals[row]),
            float(studentized[row]),
            float(cooks[row]),
        )
        for row in far
    ]
    return tuple(sorted(found, key=lambda one: -abs(one.studentized)))


def _metrics(predictors: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(split_predictor(name)[0] for name in predictors))


def _reasons(left_out: Mapping[str, int]) -> str:
    reasons = "; ".join(f"{reason}: {n}" for reason, n in left_out.items())
    return f" ({reasons})" if reasons else ""
