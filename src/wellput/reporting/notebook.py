"""Results in a notebook: their tables as HTML, their main figure as an Altair chart."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from wellput.agreement.fit import Fit
from wellput.agreement.probe_results import ProbeResult
from wellput.agreement.result import AgreementResult
from wellput.core.errors import InputError
from wellput.core.result import Result
from wellput.engine.result import ScoreResult
from wellput.reporting.html.charts import Chart, altair
from wellput.reporting.html.report_charts import (
    agreement_chart,
    forest_chart,
    preferences_chart,
    probe_chart,
)
from wellput.reporting.html.sections import agreement_rows, probe_rows, score_rows
from wellput.reporting.table import Table


def html_of(result: Result) -> str:
    """The tables of the terminal, with their notes beneath them."""
    return "\n".join(_table(table) for table in result.report().tables)


def chart_of(result: Result) -> Any:
    """The Altair chart of a result: scores with intervals; for agreement, a point per metric, the best
    metric first; a probe as a heat map; the models of a fit as bars of their R²."""
    alt = altair()
    if isinstance(result, ScoreResult):
        return alt.Chart.from_dict(_complete(forest_chart(score_rows(result))))
    if isinstance(result, AgreementResult):
        specs = [_complete(chart) for chart in _agreement_charts(result)]
        return alt.Chart.from_dict({"vconcat": specs})
    if isinstance(result, ProbeResult):
        return alt.Chart.from_dict(_complete(probe_chart(probe_rows(result))))
    if not isinstance(result, Fit):
        raise InputError(f"There is no chart of a {type(result).__name__}.")
    models = [
        {"model": " + ".join(model.predictors), "R²": model.r_squared, "p": model.p_value}
        for model in result.models
    ]
    return (
        alt.Chart(alt.Data(values=models), title=f"Models of {result.question}")
        .mark_bar()
        .encode(x="R²:Q", y=alt.Y("model:N", sort="-x", title=None), tooltip=["p:Q"])
    )


def _agreement_charts(result: AgreementResult) -> list[Chart]:
    """A chart for each question and coefficient, because a notebook has no menu to choose one; for
    choices, also a chart of the systems' win rates on each question."""
    charts: list[Chart] = []
    rows = agreement_rows(result)
    for question, coefficient in dict.fromkeys(
        (row["question"], row["coefficient"]) for row in rows
    ):
        chart_rows = [
            row for row in rows if (row["question"], row["coefficient"]) == (question, coefficient)
        ]
        charts.append(agreement_chart(chart_rows, [question]))
    for entry in result.preferences:
        system_rows = [{"question": entry["question"], **row} for row in entry["systems"]]
        charts.append(preferences_chart(system_rows, [entry["question"]]))
    return charts


def _complete(chart: Chart) -> dict[str, Any]:
    """The chart's specification with its rows in it. Where the reader of a page could choose a value,
    such as a metric, it has the first value."""
    choices = {name: values[0] for name, values in chart.choices.items()}
    # Only the outermost specification may have these two keys.
    spec = {key: part for key, part in chart.spec.items() if key not in ("$schema", "config")}
    return {**_filled_in(spec, choices, list(chart.rows)), "title": chart.title}


def _filled_in(value: Any, choices: dict[str, str], rows: list[Any]) -> Any:
    """A part of a specification with the rows in place of their name, and the choices in place of
    `$metric` and so on."""
    if value == {"name": "rows"}:
        return {"values": rows}
    if isinstance(value, str):
        for name, chosen in choices.items():
            value = value.replace(f"${name}", chosen)
        return value
    if isinstance(value, dict):
        return {key: _filled_in(entry, choices, rows) for key, entry in value.items()}
    if isinstance(value, list):
        return [_filled_in(entry, choices, rows) for entry in value]
    return value


def _table(table: Table) -> str:
    parts = [f"<p><strong>{escape(table.title)}</strong></p>"] if table.title else []
    if table.rows:
        head = _cells("th", table.columns, set())
        rows = (
            _cells("td", row, {j for best_row, j in table.best if best_row == i})
            for i, row in enumerate(table.rows)
        )
        parts.append(f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>")
    parts += [f"<p><small>{escape(note)}</small></p>" for note in table.all_notes]
    return "\n".join(parts)


def _cells(kind: str, cells: Sequence[str], bold: set[int]) -> str:
    texts = (f"<b>{escape(c)}</b>" if j in bold else escape(c) for j, c in enumerate(cells))
    return f"<tr>{''.join(f'<{kind}>{text}</{kind}>' for text in texts)}</tr>"
