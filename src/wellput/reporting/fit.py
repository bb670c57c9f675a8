"""The tables of `wellput fit`, which fits a metric to people's ratings by a linear regression on the
scores of other metrics (its predictors): the models, the metric's coefficients, and how well it
predicts ratings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from wellput.agreement.cross_validation import BestSingle, LeftOutGroup
from wellput.agreement.fit import Fit
from wellput.agreement.models import left_out_sentences
from wellput.agreement.rankings.plain_ranking import SIGNIFICANT_P
from wellput.core.errors import counted
from wellput.core.estimates import GENERALIZE_WORDS, Generalize, holds_for
from wellput.reporting.table import Report, Table, interval_text, number, p_text, p_with_relation

CSV_COLUMNS = (
    "predictor", "coefficient", "standard_error", "low", "high", "t", "p_value",
    "variance_inflation",
)  # fmt: skip
MAX_OUTLIERS_SHOWN = 10
MAX_EXCLUSIONS_SHOWN = 5
UNSEEN_UNITS: dict[LeftOutGroup, str] = {
    "sentence": "sentences",
    "item": "items",
    "system": "systems",
    "both": "systems and items",
}
"""What a row of the cross-validation leaves out, in words. A "sentence" is one judged output: that of
one system for one item."""
HOLDS_FOR: dict[LeftOutGroup, str] = {
    "sentence": "",
    "item": GENERALIZE_WORDS["items"],
    "system": GENERALIZE_WORDS["systems"],
    "both": GENERALIZE_WORDS["both"],
}
"""What the interval of a row of the cross-validation holds for."""
GROUP_OF: dict[Generalize, LeftOutGroup] = {"items": "item", "systems": "system", "both": "both"}
"""The group that is left out to show how well the metric generalizes, for each value of
`generalize`."""


def fit_report(result: Fit) -> Report:
    """The models, the metric and its outliers; CSV has the coefficients of the metric."""
    tables = [model_table(result), *_step_table(result), metric_table(result), unseen_table(result)]
    return Report(
        [*tables, *_outlier_table(result)],
        result.values(),
        CSV_COLUMNS,
        result.records(),
    )


def model_table(result: Fit) -> Table:
    """R² and p of each combination of predictors, all fitted to the same judged outputs."""
    return Table(
        columns=["predictors", "R²", "adjusted R²", "F", "p", "AIC"],
        rows=[
            [
                " + ".join(model.predictors),
                number(model.r_squared, 3),
                number(model.adjusted_r_squared, 3),
                number(model.f, 2),
                p_text(model.p_value),
                number(model.aic, 1),
            ]
            for model in result.models
        ],
        title=f"Models of {result.question}",
        notes=[
            *_counts(result),
            *result.notes,
            *(
                f"{' + '.join(model.predictors)}: {model.note}"
                for model in result.models
                if model.note
            ),
            *_generality(result),
        ],
    )


def metric_table(result: Fit) -> Table:
    """The metric's predictors and figures."""
    card, model = result.model.card, result.model
    rows = [_coefficient_row(entry) for entry in card["coefficients"]]
    rows.append(_coefficient_row({"predictor": "(constant)", **card["constant"]}))
    # `derived` is the regression that the metric is derived from.
    title = f"The metric: {result.question} from {', '.join(result.derived.names)}"
    notes = [
        f"R² = {number(card['r_squared'], 3)}, adjusted {number(card['adjusted_r_squared'], 3)}; "
        f"F = {number(card['f'], 2)}; AIC = {number(card['aic'], 1)}."
        if card["method"] == "ols"
        else f"R² = {number(card['r_squared'], 3)}; ridge penalty {card['penalty']:.4g}.",
        *_generality(result),
        *_f_note(result),
        *_choice_note(result),
        *_scale_notes(result),
        *(f"Warning: {warning}." for warning in result.warnings),
        *_blind_spots_note(result),
        f"Hash of the metric: {model.hash}.",
    ]
    return Table(
        columns=["predictor", "coefficient", "standard error", "95% interval", "p"],
        rows=rows,
        title=title,
        notes=notes,
    )


def _blind_spots_note(result: Fit) -> list[str]:
    """Which errors the metric does not notice in the example of `wellput demo`."""
    spots = result.blind_spots
    if spots is None:
        return []
    return [
        f"What it misses, in {counted(spots.texts, 'text')} of the example of wellput demo, each "
        f"changed in one place (wellput probe): {spots.summary}"
    ]


def _coefficient_row(entry: Mapping[str, Any]) -> list[str]:
    return [
        entry["predictor"],
        number(entry["coefficient"], 4),
        number(entry["standard_error"], 4),
        interval_text(entry["low"], entry["high"], 4),
        p_text(entry["p_value"]) if "p_value" in entry else "",
    ]


def _step_table(result: Fit) -> list[Table]:
    if not result.steps:
        return []
    rows = [[step.change, ", ".join(step.names), number(step.aic, 1)] for step in result.steps]
    return [Table(["step", "predictors", "AIC"], rows, title="The choice of predictors")]


def _outlier_table(result: Fit) -> list[Table]:
    if not result.outliers:
        return []
    rows = [
        [
            f"{outlier.system}, item {outlier.item}",
            number(outlier.judged, 3),
            number(outlier.predicted, 3),
            number(outlier.studentized, 2),
            number(outlier.cooks_distance, 2),
        ]
        for outlier in result.outliers[:MAX_OUTLIERS_SHOWN]
    ]
    hidden = len(result.outliers) - len(rows)
    return [
        Table(
            ["outlier", "judged", "predicted", "studentized", "Cook's distance"],
            rows,
            title="Outliers (they were kept)",
            notes=[f"{hidden} more are in the JSON."] if hidden else [],
        )
    ]


def _counts(result: Fit) -> list[str]:
    """How many judged outputs the models use, and which ones were left out for which reason."""
    card = result.model.card
    lines = [
        f"{counted(card['n'], 'judged output')} of {counted(card['systems'], 'system')} for "
        f"{counted(card['items'], 'item')}"
        + (f", {counted(card['judges'], 'judge')}" if "judges" in card else "")
        + (f", normalization {card['normalization']}" if "normalization" in card else "")
        + "."
    ]
    lines += left_out_sentences(result.left_out_cells)
    by_reason: dict[str, list[Mapping[str, Any]]] = {}
    for exclusion in card.get("excluded", []):
        by_reason.setdefault(exclusion["reason"], []).append(exclusion)
    lines += [
        f"Excluded {_all_excluded(exclusions)} "
        f"({counted(sum(exclusion['n'] for exclusion in exclusions), 'judgment')}): {reason}."
        for reason, exclusions in by_reason.items()
    ]
    return lines


def _all_excluded(exclusions: Sequence[Mapping[str, Any]]) -> str:
    n_hidden = len(exclusions) - MAX_EXCLUSIONS_SHOWN
    shown = ", ".join(map(_excluded, exclusions[:MAX_EXCLUSIONS_SHOWN]))
    return shown + (f" and {n_hidden:,} more" if n_hidden > 0 else "")


def _excluded(exclusion: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} {exclusion[key]}" for key in ("judge", "system", "item") if key in exclusion
    )


def unseen_table(result: Fit) -> Table:
    """The correlation r of predicted with real judgments. Each prediction is by a model that was
    fitted without this output, without its item, without its system, or without both."""
    return Table(
        columns=["unseen", "r", "95% interval", "p", "folds", "holds for"],
        rows=[
            [
                UNSEEN_UNITS[validation.left_out],
                number(validation.r, 3),
                interval_text(validation.low, validation.high, 3),
                p_text(validation.p_value),
                f"{validation.folds:,}",
                HOLDS_FOR[validation.left_out],
            ]
            for validation in result.cross_validation
        ],
        title="How well the metric predicts judgments it was not fitted to",
        notes=[
            *(
                f"Unseen {UNSEEN_UNITS[validation.left_out]}: {validation.note}."
                for validation in result.cross_validation
                if validation.note
            ),
            *_one_predictor(result),
            *_verdict(result),
        ],
    )


def _one_predictor(result: Fit) -> list[str]:
    if len(result.derived.names) > 1:
        return []
    return [
        "With one predictor, r is that of the predictor itself, whatever the metric is fitted to."
    ]


def _verdict(result: Fit) -> list[str]:
    """Whether the metric predicts better than the best single predictor."""
    group = GROUP_OF[result.generalize]
    validation = next(row for row in result.cross_validation if row.left_out == group)
    single = validation.single
    if single is None or math.isnan(validation.r) or math.isnan(single.r):
        return []
    return [
        f"Unseen {UNSEEN_UNITS[group]}: the best single predictor ({', '.join(single.predictors)}) "
        f"reaches r = {number(single.r, 3)}, the metric {number(validation.r, 3)}. "
        f"{_gain(single)}"
    ]


def _gain(single: BestSingle) -> str:
    """How much better than the best single predictor the metric predicts, and whether it may be
    chance."""
    gain = number(single.gain, 3, sign=True)
    if single.p_value is None:
        return f"It is unknown whether the difference ({gain}) is more than chance."
    figures = (
        f"{gain} {interval_text(single.low, single.high, 3)}, p {p_with_relation(single.p_value)}"
    )
    if single.p_value >= SIGNIFICANT_P:
        return f"No difference is shown ({figures})."
    return f"The metric predicts {'better' if single.gain > 0 else 'worse'} ({figures})."


def _generality(result: Fit) -> list[str]:
    """What intervals and p-values hold for, or why there are none."""
    if result.inference is None:
        return []
    if result.inference.reason:
        reason = result.inference.reason
        lacks_systems = "system" in reason and result.generalize != "items"
        advice = "; generalize='items' asks about other items" if lacks_systems else ""
        return [f"No interval and no p: {reason}{advice}."]
    return [
        *([] if result.clusters is None else [result.clusters.sentence]),
        holds_for(result.generalize, result.clusters),
    ]


def _f_note(result: Fit) -> list[str]:
    """A note that F and AIC assume independent outputs, if intervals do not."""
    has_inference = result.inference is not None and not result.inference.reason
    if result.model.card["method"] != "ols" or not has_inference:
        return []
    return ["F and AIC take all outputs for independent; intervals and p do not."]


def _choice_note(result: Fit) -> list[str]:
    """A note if predictors were chosen step by step, which makes p-values too small."""
    criterion = result.model.card["stepwise"]
    if criterion is None or result.inference is None or result.inference.reason:
        return []
    return [
        f"Intervals and p are too optimistic: they ignore that {criterion} chose the predictors."
    ]


def _scale_notes(result: Fit) -> list[str]:
    """How the metric was scaled so that a perfect sentence scores 1. `dropped` are the predictors
    without a best value, such as length: the metric was fitted again without them."""
    lines: list[str] = []
    if result.dropped:
        them = "it" if len(result.dropped) == 1 else "them"
        lines.append(
            f"No value of {', '.join(result.dropped)} is perfect: fitted again without {them} "
            f"(no_rescale=True keeps {them})."
        )
    if result.model.scale != 1.0:
        lines.append(f"Divided by {result.model.scale:.4f}, so that a perfect sentence scores 1.")
    return lines
