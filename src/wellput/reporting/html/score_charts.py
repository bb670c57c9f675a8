"""Charts of scores: systems under metrics, length, metrics among themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wellput.reporting.html.charts import (
    BLUE,
    CLAIMS,
    VERMILION,
    Chart,
    Condition,
    altair,
    scatter_note,
    scatter_spec,
)


def forest_chart(rows: Sequence[Mapping[str, Any]]) -> Chart:
    """Systems × metrics with their intervals, one panel a metric. Rows: system, metric, score, low,
    high, claim; systems are drawn in the order in which rows name them."""
    alt = altair()
    systems = list(dict.fromkeys(row["system"] for row in rows))
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    claims = [claim for claim in CLAIMS if any(row["claim"] == claim for row in rows)]
    color = alt.Color(
        "claim:N",
        scale=alt.Scale(domain=claims, range=[CLAIMS[claim][0] for claim in claims]),
        legend=alt.Legend(title=_compared_with(rows), orient="top"),
    )
    base = alt.Chart().encode(y=alt.Y("system:N", sort=systems, title=None), color=color)
    scale = alt.Scale(zero=False, padding=8)
    rule = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4)),
        x2="high:Q",
    )
    point = base.mark_point(size=70, filled=True, opacity=1).encode(
        x=alt.X("score:Q", title=None, scale=scale),
        shape=alt.Shape(
            "claim:N",
            scale=alt.Scale(domain=claims, range=[CLAIMS[claim][1] for claim in claims]),
        ),
        tooltip=["system:N", "metric:N", "score:Q", "low:Q", "high:Q", "delta:Q", "p:N"],
    )
    layered = alt.layer(rule, point, data=alt.NamedData("rows"))
    sized = layered.properties(width=290, height={"step": 24})
    spec = (
        sized.facet(
            facet=alt.Facet(
                "metric:N", sort=metrics, title=None, header=alt.Header(labelFontSize=13)
            ),
            columns=3,
        )
        .resolve_scale(x="independent")
        .to_dict(validate=False)
    )
    has_intervals = any(row["low"] is not None for row in rows)
    notes: dict[Condition, str] = {"always": "Whiskers: 95% intervals."} if has_intervals else {}
    return Chart("scores", "Scores with their intervals", spec, rows, notes)


def length_chart(
    metrics: Sequence[str], systems: Sequence[str], lines: Sequence[Mapping[str, Any]]
) -> Chart:
    """Score against the output's length in words."""
    spec = scatter_spec(
        "length", "words of the output", "score", "$metric", systems, with_reason=False
    )
    return Chart(
        "length",
        "Score against length",
        spec,
        "lengths",
        notes={
            "always": scatter_note(systems),
            "lines": "The dashed line is the least-squares line: a metric that rises or falls with "
            "length alone can be gamed by it.",
        },
        choices={"metric": list(metrics)},
        lines=lines,
    )


def correlations_chart(rows: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> Chart:
    """Metric against metric over outputs."""
    alt = altair()
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X(
            "other:N", sort=list(metrics), title=None, axis=alt.Axis(orient="top", labelAngle=-40)
        ),
        y=alt.Y("metric:N", sort=list(metrics), title=None),
    )
    colors = alt.Scale(domain=[-1, 0, 1], range=[VERMILION, "#f4f4f4", BLUE])
    cells = base.mark_rect(cornerRadius=2).encode(
        color=alt.Color("r:Q", scale=colors, legend=alt.Legend(title="r")),
        tooltip=["metric:N", "other:N", "r:Q", "n:Q"],
    )
    ink = alt.condition("abs(datum.r) > 0.6", alt.value("#fff"), alt.value("#222"))
    words = base.mark_text(fontSize=11).encode(text=alt.Text("r:Q", format=".2f"), color=ink)
    spec = (
        (cells + words).properties(width={"step": 46}, height={"step": 30}).to_dict(validate=False)
    )
    return Chart(
        "correlations",
        "Metrics among themselves",
        spec,
        rows,
        notes={
            "always": "Pearson’s r of segment scores (metrics where lower is better are negated). "
            "Metrics that correlate near 1 say the same thing twice."
        },
    )


def _compared_with(rows: Sequence[Mapping[str, Any]]) -> str:
    baselines = {row["system"] for row in rows if row["claim"] == "baseline"}
    return f"against {baselines.pop()}, the baseline" if len(baselines) == 1 else ""
