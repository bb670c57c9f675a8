"""The tables of `wellput metrics`: a line per metric, or everything about one metric."""

from __future__ import annotations

from dataclasses import replace

from wellput.engine.blocks import NEED_ADVICE
from wellput.metrics import registry
from wellput.metrics.catalog import MetricDetails, MetricList
from wellput.reporting.table import Report, Table

CSV_COLUMNS = ("metric", "better", "needs", "options", "about", "paper")
NARROW_COLUMNS = ("metric", "better", "needs", "about")
MIN_WIDTH_FOR_ALL = 200
"""A terminal shows options and papers, too, if its lines have at least this many characters."""


def metrics_report(listed: MetricList, *, width: int | None = None) -> Report:
    """The table with all columns, or with those that fit a terminal of `width` characters; None is for
    no limit."""
    records = listed.records()
    if listed.details is not None:
        tables = _one_metric(records[0], listed.details)
        return Report(tables, listed.values(), CSV_COLUMNS, records)
    is_narrow = width is not None and width < MIN_WIDTH_FOR_ALL
    columns = NARROW_COLUMNS if is_narrow else CSV_COLUMNS
    table = Table(
        columns,
        [[record[column] for column in columns] for record in records],
        notes=["One metric with its options and paper: wellput metrics bleu"] if is_narrow else [],
        is_prose=True,
        caption="Metrics",
    )
    return Report([table], listed.values(), CSV_COLUMNS, records)


def _one_metric(record: dict[str, str], details: MetricDetails) -> list[Table]:
    name = record["metric"]
    rows = [
        ["measures", record["about"]],
        ["better", record["better"]],
        *_needs(name),
        *([["paper", record["paper"]]] if record["paper"] else []),
    ]
    tables = [Table(["metric", name], rows, is_prose=True, caption=f"The metric {name}")]
    if details.options:
        options = [
            [option, details.defaults[option], values] for option, values in details.options.items()
        ]
        headings = ["option", "default", "values"]
        tables.append(Table(headings, options, is_prose=True, caption=f"Options of {name}"))
    # A short name for a metric with options, such as chrF++ for chrf:word_order=2.
    is_abbreviation = details.given_name != details.full_name and ":" in details.full_name
    long_form = [f"{details.given_name} is {details.full_name}."] if is_abbreviation else []
    notes = [*long_form, *(f"Example: {example}" for example in details.examples)]
    tables[-1] = replace(tables[-1], notes=notes)
    return tables


def _needs(name: str) -> list[list[str]]:
    """What every item must have, and how to give it."""
    needed = [NEED_ADVICE[need] for need in sorted(registry.create(name).needs)]
    lines = [f"{need}. {advice}" for need, advice in needed] or ["nothing but outputs"]
    return [["needs" if place == 0 else "", line] for place, line in enumerate(lines)]
