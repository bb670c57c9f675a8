"""What `wellput fit` shows: the table of models, the metric's coefficients, and what to think of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from wellput.agreement.fit import CrossValidation, Fit
from wellput.core.counted import counted
from wellput.reporting.table import Report, Table, number, p_text

CSV_COLUMNS = (
    "predictor", "coefficient", "standard_error", "t", "p_value", "variance_inflation",
)  # fmt: skip
SHOWN_OUTLIERS = 10
UNSEEN = {"sentence": "sentences", "item": "items", "system": "systems"}


def fit_report(result: Fit) -> Report:
    """The models, the metric and its outliers; CSV has the coefficients of the metric."""
    tables = [model_table(result), *_step_table(result), metric_table(result)]
    return Report(
        [*tables, *_outlier_table(result)],
        result.values(),
        CSV_COLUMNS,
        result.records(),
    )


def model_table(result: Fit) -> Table:
    """R² and p of each combination of predictors, on the same rows."""
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
            *(
                f"{' + '.join(model.predictors)}: {model.note}"
                for model in result.models
                if model.note
            ),
        ],
    )


def metric_table(result: Fit) -> Table:
    """The metric's predictors and figures."""
    card, model = result.model.card, result.model
    rows = [_coefficient_row(entry) for entry in card["coefficients"]]
    rows.append(_coefficient_row({"predictor": "(constant)", **card["constant"]}))
    title = f"The metric: {result.question} from {', '.join(result.derived.names)}"
    notes = [
        f"R² = {number(card['r_squared'], 3)}, adjusted {number(card['adjusted_r_squared'], 3)}; "
        f"F = {number(card['f'], 2)}, p {_relation(card['p_value'])}; "
        f"AIC = {number(card['aic'], 1)}."
        if card["method"] == "ols"
        else f"R² = {number(card['r_squared'], 3)}; ridge penalty {card['penalty']:.4g}.",
        *(_unseen(one) for one in result.cross_validation),
        *_verdict(result),
        *_scale_notes(result),
        *(f"Warning: {warning}." for warning in result.warnings),
        f"Hash of the metric: {model.hash}.",
    ]
    return Table(
        columns=["predictor", "coefficient", "standard error", "t", "p"],
        rows=rows,
        title=title,
        notes=notes,
    )


def _coefficient_row(entry: Mapping[str, Any]) -> list[str]:
    return [
        entry["predictor"],
        number(entry["coefficient"], 4),
        number(entry["standard_error"], 4),
        number(entry["t"], 2) if "t" in entry else "",
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
            f"{one.system}, item {one.item}",
            number(one.judged, 3),
            number(one.predicted, 3),
            number(one.studentized, 2),
            number(one.cooks_distance, 2),
        ]
        for one in result.outliers[:SHOWN_OUTLIERS]
    ]
    hidden = len(result.outliers) - len(rows)
    return [
        Table(
            ["outlier", "judged", "predicted", "studentized", "Cook's distance"],
            rows,
            title="Outliers, which were kept",
            notes=[f"And {hidden} more (--format json lists all)."] if hidden else [],
        )
    ]


def _counts(result: Fit) -> list[str]:
    """What the rows are, and what was left out: fewer rows must not go unnoticed."""
    card = result.model.card
    lines = [
        f"{counted(card['n'], 'judged output')} of {counted(card['systems'], 'system')} for "
        f"{counted(card['items'], 'item')}"
        + (f", {counted(card['judges'], 'judge')}" if "judges" in card else "")
        + (f", normalization {card['normalization']}" if "normalization" in card else "")
        + "."
    ]
    lines += [
        f"Left out: {n:,} because {_clause(reason)}." for reason, n in result.left_out.items()
    ]
    lines += [
        f"Excluded {_excluded(one)} ({counted(one['n'], 'judgment')}): {one['reason']}."
        for one in card.get("excluded", [])
    ]
    return lines


def _clause(reason: str) -> str:
    return f"there is {reason}" if reason.startswith("no ") else reason


def _excluded(exclusion: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} {exclusion[key]}" for key in ("judge", "system", "item") if key in exclusion
    )


def _unseen(one: CrossValidation) -> str:
    note = f" ({one.note})" if one.note else ""
    if math.isnan(one.r):
        return f"r on unseen {UNSEEN[one.left_out]}: undefined{note}."
    return f"r on unseen {UNSEEN[one.left_out]}: {number(one.r, 3)}, {one.folds:,} folds{note}."


def _verdict(result: Fit) -> list[str]:
    """Whether the metric is worth having beside the best of its predictors."""
    singles = [model for model in result.models if len(model.predictors) == 1 and not model.note]
    unseen = next((one.r for one in result.cross_validation if one.left_out == "item"), math.nan)
    if len(result.derived.names) < 2 or not singles or math.isnan(unseen):
        return []
    best = max(singles, key=lambda model: model.r_squared)
    r = math.sqrt(best.r_squared)
    claim = "more" if unseen > r else "not more"
    return [
        f"{best.predictors[0]} alone correlates {number(r, 3)} with the judgments: on unseen items the "
        f"metric explains {claim} than that."
    ]


def _scale_notes(result: Fit) -> list[str]:
    lines: list[str] = []
    if result.dropped:
        lines.append(
            f"No value of {', '.join(result.dropped)} is perfect: fitted again without "
            f"{'it' if len(result.dropped) == 1 else 'them'}."
        )
    if result.model.scale != 1.0:
        lines.append(f"Divided by {result.model.scale:.4f}, so that a perfect sentence scores 1.")
    return lines


def _relation(p_value: float) -> str:
    text = p_text(p_value)
    return f"= {text}" if text[0].isdigit() else text
