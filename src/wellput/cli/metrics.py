"""`wellput metrics`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from wellput.cli.options import common_options, show, terminal_width
from wellput.cli.score import complete_metric
from wellput.core.errors import InputError
from wellput.core.metric import Metric
from wellput.engine.needs import LACKING
from wellput.metrics import registry
from wellput.reporting.table import Report, Table

COLUMNS = ("metric", "better", "needs", "options", "about", "paper")
NARROW = ("metric", "better", "needs", "about")
ASKED_FOR_WITH = {"perplexity": "perplexity:model=news.arpa"}
"""Metrics that cannot do without an option."""

WIDE = 200
"""Columns of text from which on a terminal shows options and papers too."""


@click.command(
    epilog="""\b
Examples:
  wellput metrics
  wellput metrics bleu
  wellput metrics --format markdown
"""
)
@click.argument("metric", required=False, shell_complete=complete_metric)
@common_options
def command(metric: str | None, format: str, output: str, seed: int, threads: int | None) -> None:
    """List every metric: which direction is better, what it needs, its options, its paper. Or show one
    METRIC: what it measures, its options with their defaults and values, and how to ask for it."""
    if metric is not None:
        show(metric_report(metric), format, output)
        return
    records = [describe(name) for name in registry.names()]
    width = terminal_width(output) if format == "table" else None
    is_narrow = width is not None and width < WIDE
    columns = NARROW if is_narrow else COLUMNS
    table = Table(
        columns,
        [[str(record[column]) for column in columns] for record in records],
        notes=["One metric with its options and paper: wellput metrics bleu"] if is_narrow else [],
        is_prose=True,
        caption="Metrics",
    )
    show(Report([table], {"metrics": records}, COLUMNS, records), format, output)


def describe(name: str) -> dict[str, Any]:
    """One metric's line: what it is and what it takes."""
    metric = registry.create(name)
    better = {True: "higher", False: "lower", None: "neither"}[metric.higher_is_better]
    return {
        "metric": name,
        "better": better,
        "needs": ", ".join(sorted(metric.needs)) or "nothing",
        "options": ", ".join(registry.option_texts(name)),
        "about": getattr(metric, "about", ""),
        "paper": getattr(metric, "paper", ""),
    }


def metric_report(spelled: str) -> Report:
    """All that there is to know of one metric before asking for it."""
    if spelled.lower().endswith(".json"):
        raise InputError(f"{spelled} is a fitted metric: the file itself says what it is made of.")
    meant = registry.full_name(spelled.partition(":")[0])
    name = meant.partition(":")[0]
    record = describe(name)
    defaults = dict(text.split("=", 1) for text in registry.option_texts(name))
    values = registry.option_values(name)
    examples = _examples(name, meant, defaults)
    metric = registry.create(name)
    rows = [
        ["measures", record["about"]],
        ["better", record["better"]],
        *_needs(metric),
        *([["paper", record["paper"]]] if record["paper"] else []),
    ]
    tables = [Table(["metric", name], rows, is_prose=True, caption=f"The metric {name}")]
    if values:
        options = [[option, defaults[option], values[option]] for option in values]
        headings = ["option", "default", "values"]
        tables.append(Table(headings, options, is_prose=True, caption=f"Options of {name}"))
    same = [f"{spelled} is {meant}."] if spelled != meant and ":" in meant else []
    notes = [*same, *(f"Example: {example}" for example in examples)]
    tables[-1] = replace(tables[-1], notes=notes)
    value = {**record, "defaults": defaults, "values": values, "examples": examples}
    return Report(tables, {"metrics": [value]}, COLUMNS, [record])


def _needs(metric: Metric) -> list[list[str]]:
    """What every item must have, and how to give it."""
    needed = [LACKING[need] for need in sorted(metric.needs)]
    told = [f"{what}. {advice}" for what, advice in needed] or ["nothing but outputs"]
    return [["needs" if place == 0 else "", text] for place, text in enumerate(told)]


def _examples(name: str, meant: str, defaults: Mapping[str, str]) -> list[str]:
    """Calls with files that a reader will know for their own, plain and with an option."""
    needs = registry.create(name).needs
    if "derivation" in needs:
        files = "corpus.jsonl"
    elif "logged" in needs:
        files = "log.json"
    else:
        files = f"{'--ref ref.txt ' * ('references' in needs)}--hyp A=a.txt"
    trees = " --trees auto" if "tree" in needs else ""
    specs = [ASKED_FOR_WITH.get(name, meant)]
    if name not in ASKED_FOR_WITH and defaults.get("lowercase") in ("true", "false"):
        other = "false" if defaults["lowercase"] == "true" else "true"
        specs.append(f"{name}:lowercase={other}")
    return [f"wellput score {files}{trees} -m {spec}" for spec in specs]
